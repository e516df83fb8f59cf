//! Double buffering: steps that write a window of a carry write it to the back buffer, where the rest is the same, and
//! exchange the two.

use super::tree::{Carried, NestOutput, Node, Placed, Step, Val};
use crate::ir::Write;

/// Decides which carries are double-buffered with one window: those of which every kind of step writes the same one.
pub(super) fn double_buffered(placed: &Placed, carried: &mut [Carried], steps: &[&Step]) {
    for (k, carry) in carried.iter_mut().enumerate() {
        let Carried::Memory { turns, changes, .. } = carry else { continue };
        let windows: Option<Vec<Window<'_>>> =
            steps.iter().map(|step| window_of(placed, step, step.carries[k])).collect();
        let Some(windows) = windows else { continue };
        *turns = !windows.is_empty() && windows.iter().all(|window| window.place == windows[0].place);
        *changes = steps.iter().zip(&windows).any(|(step, window)| (window.base, window.value) != step.carries[k]);
    }
}

/// The window that a step writes of a carry.
pub(super) struct Window<'s> {
    /// Shape, strides and offset.
    place: (&'s [usize], &'s [i64], i64),
    /// What it is written to: the old value, or what a branch makes of that.
    pub(super) base: Val,
    /// What that gives: the new value, or what a branch makes it of.
    pub(super) value: Val,
}

/// The window that a step writes of a carry, where that is all it does to it, or all but what branches change before it
/// and after.
pub(super) fn window_of<'s>(placed: &Placed, step: &'s Step, (param, next): (Val, Val)) -> Option<Window<'s>> {
    let nodes = &step.block.nodes;
    let nests = nodes.iter().filter_map(|node| if let Node::Nest(nest) = node { Some(nest) } else { None });
    let before = |base: Val| base == param || is_changed(placed, step, (param, base), &[param]);
    let after = |base: Val, value: Val| value == next || is_changed(placed, step, (value, next), &[param, base, value]);
    nests.flat_map(|nest| nest.outputs.iter().map(|root| (nest.shape.as_slice(), root))).find_map(|(shape, root)| {
        match root {
            NestOutput::Write { value, base, window, index: None, how: Write::Set, .. }
                if window.dynamic.is_empty() =>
            {
                let place = (shape, window.strides.as_slice(), window.offset);
                (before(*base) && after(*base, *value)).then_some(Window { place, base: *base, value: *value })
            }
            NestOutput::Write { .. }
            | NestOutput::Store { .. }
            | NestOutput::Accumulate { .. }
            | NestOutput::Reduce { .. } => None,
        }
    })
}

/// Whether a value is `to` after a branch that passes it on or changes it, alone of all that the branch gives, and none
/// of `over` is read after that, nor forwarded by another branch before: a change of one place of a carry may overwrite
/// the other.
fn is_changed(placed: &Placed, step: &Step, (from, to): (Val, Val), over: &[Val]) -> bool {
    let nodes = &step.block.nodes;
    let Some(at) = nodes.iter().position(|node| node.results().contains(&to)) else { return false };
    let Node::If(branch) = &nodes[at] else { return false };
    let Some(result) = branch.results.iter().position(|result| *result == to) else { return false };
    let passes = |j: usize| branch.ends.iter().any(|ends| ends[j] == from);
    let alone = (0..branch.results.len()).all(|j| passes(j) == (j == result));
    // The old value of the carry is the first of them: it is emitted before the step, not after.
    let ends = step.carries.iter().map(|(_, next)| *next).filter(|next| over.contains(next));
    let emitted = step.emits.iter().map(|write| write.value).filter(|value| over[1..].contains(value));
    let aliased = nodes[..at].iter().any(|node| aliases(node, over));
    let mut read = aliased || ends.chain(emitted).next().is_some();
    for node in &nodes[at + 1..] {
        node.reads(&mut |value| read |= over.contains(&placed.access(value).root));
    }
    alone && !read
}

/// Whether a branch forwards one of these, and not as another of them.
fn aliases(node: &Node, values: &[Val]) -> bool {
    let Node::If(branch) = node else { return false };
    let passes = |j: usize| branch.ends.iter().any(|ends| values.contains(&ends[j]));
    branch.results.iter().enumerate().any(|(j, result)| passes(j) && !values.contains(result))
}
