//! Sums of shifted windows: writes to windows of one array, one after the other, become one nest over what all windows
//! share.
//!
//! The adjoint of a stencil adds one array to five windows of another, each a sweep over memory. A cell in all windows
//! gets the same terms in the same order when one sweep adds them in registers; around it are strips that fewer windows
//! reach, each a sum of its own. So no bit of any cell changes. A term that is cheap is computed for each window anew
//! instead of being stored first.
//!
//! Terms of a nonlinear stencil read the array that they are added to. Then the sum is made in another place, of which
//! every cell is written, so that all terms find the array as it was; in a loop the two places take turns. Sums that
//! share terms are made together.

use std::collections::{BTreeMap, BTreeSet};

use super::group::{Raw, reads, results};
use super::tree::{Access, OpItem, Placed, Val};
use crate::ir::{Attrs, DType, Pos, Type, Write};
use crate::ops;

/// Fewest cells of a window that are worth a look.
const CELLS_LEAST: usize = 64;

/// Fewest cells of the nest for each strip around it, since every strip is code of its own.
const CELLS_A_STRIP: usize = 32;

/// Most writes of one nest: each reads memory of its own.
const LINKS_MOST: usize = 32;

/// Most work, in additions, of a term that is computed more than once, for each window anew.
const WORK_MOST: u32 = 3;

/// Most sums that are made together.
const RUNS_MOST: usize = 8;

/// The code of a block with its chains of writes to shifted windows as sums; `ends` are used after it.
pub(super) fn merge(placed: &mut Placed, mut raws: Vec<Raw>, ends: &[Val]) -> Vec<Raw> {
    if !raws.iter().any(|raw| matches!(raw, Raw::Write { .. })) {
        return raws;
    }
    let mut made = BTreeSet::new();
    loop {
        let uses = Uses::new(placed, &raws, ends);
        // The last chain first: where it ends, those before it find the memory that it overwrites still as it was.
        let mut before = uses.runs(placed, &raws, &made);
        let Some(run) = before.pop() else { return raws };
        let merge = uses.ways(placed, &raws, &run, &before);
        made.extend(run.links.iter().map(|link| link.value));
        if let Some(merge) = merge {
            raws = merge.apply(placed, raws, &mut made);
        }
    }
}

/// A box of cells.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cells {
    start: Vec<usize>,
    extent: Vec<usize>,
}

impl Cells {
    /// The cells of a window of an array, if it is a box.
    fn of(window: &Access, shape: &[usize], array: &Type) -> Option<Cells> {
        let strides = array.strides();
        let steps_by_one = |axis: usize| shape[axis] == 1 || window.strides[axis] == strides[axis] as i64;
        if !window.dynamic.is_empty() || shape.len() != array.rank() || !(0..shape.len()).all(steps_by_one) {
            return None;
        }
        let mut offset = usize::try_from(window.offset).ok()?;
        let mut start = vec![];
        for stride in strides {
            start.push(offset / stride.max(1));
            offset %= stride.max(1);
        }
        let fits = (0..shape.len()).all(|axis| start[axis] + shape[axis] <= array.shape[axis]);
        fits.then(|| Cells { start, extent: shape.to_vec() })
    }

    /// All cells of an array.
    fn all(array: &Type) -> Cells {
        Cells { start: vec![0; array.rank()], extent: array.shape.clone() }
    }

    fn count(&self) -> usize {
        self.extent.iter().product()
    }

    fn end(&self, axis: usize) -> usize {
        self.start[axis] + self.extent[axis]
    }

    fn shared(&self, other: &Cells) -> Cells {
        let start: Vec<usize> = self.start.iter().zip(&other.start).map(|(a, b)| *a.max(b)).collect();
        let extent =
            (0..start.len()).map(|axis| self.end(axis).min(other.end(axis)).saturating_sub(start[axis])).collect();
        Cells { start, extent }
    }

    /// The smallest box around others.
    fn hull<'c>(mut boxes: impl Iterator<Item = &'c Cells>) -> Cells {
        let first = boxes.next().expect("there are boxes").clone();
        boxes.fold(first, |hull, one| {
            let axes = 0..hull.start.len();
            let start: Vec<usize> = axes.clone().map(|axis| hull.start[axis].min(one.start[axis])).collect();
            let extent = axes.map(|axis| hull.end(axis).max(one.end(axis)) - start[axis]).collect();
            Cells { start, extent }
        })
    }

    /// The same box with another range along an axis.
    fn along(&self, axis: usize, start: usize, end: usize) -> Cells {
        let mut cells = self.clone();
        (cells.start[axis], cells.extent[axis]) = (start, end - start);
        cells
    }

    /// What is around an inner box, as boxes; those along the first axes are the longest.
    fn around(&self, inner: &Cells) -> Vec<Cells> {
        let (mut rest, mut strips) = (self.clone(), vec![]);
        for axis in 0..self.start.len() {
            strips.push(rest.along(axis, rest.start[axis], inner.start[axis]));
            strips.push(rest.along(axis, inner.end(axis), rest.end(axis)));
            rest = rest.along(axis, inner.start[axis], inner.end(axis));
        }
        strips.retain(|strip| strip.count() > 0);
        strips
    }
}

/// A write to a window that is a box.
#[derive(Clone, Debug)]
struct Link {
    at: usize,
    value: Val,
    base: Val,
    source: Val,
    how: Write,
    cells: Cells,
}

impl Link {
    fn new(placed: &Placed, at: usize, raw: &Raw) -> Option<Link> {
        let Raw::Write { value, base, source, window, index: None, how: how @ (Write::Set | Write::Add) } = raw else {
            return None;
        };
        let cells = Cells::of(window, &placed.ty(*source).shape, placed.ty(*value))?;
        (cells.count() >= CELLS_LEAST).then_some(Link {
            at,
            value: *value,
            base: *base,
            source: *source,
            how: *how,
            cells,
        })
    }
}

/// Writes that become one nest, and what all of them reach.
#[derive(Clone, Debug)]
struct Run {
    links: Vec<Link>,
    shared: Cells,
}

impl Run {
    fn base(&self) -> Val {
        self.links[0].base
    }

    fn last(&self) -> &Link {
        self.links.last().expect("a run has links")
    }

    /// The run with one more write, if most of it is shared and it does not read what the run overwrites.
    fn with(&self, link: &Link, placed: &Placed) -> Option<Run> {
        let shared = self.shared.shared(&link.cells);
        if shared.count() == 0 {
            return None;
        }
        let links = [&self.links[..], std::slice::from_ref(link)].concat();
        let mostly = links.iter().all(|link| 2 * shared.count() >= link.cells.count());
        let apart = placed.access(link.source).root != self.base();
        let run = Run { links, shared };
        let worth =
            run.links.len() <= LINKS_MOST && run.shared.count() >= CELLS_LEAST.max(CELLS_A_STRIP * run.strips().len());
        (worth && mostly && apart).then_some(run)
    }

    /// What its windows have beyond the cells that all of them share, as runs of the windows that reach there.
    fn strips(&self) -> Vec<Run> {
        let all = Cells::hull(self.links.iter().map(|link| &link.cells));
        all.around(&self.shared).iter().flat_map(|region| self.within(region)).collect()
    }

    /// The cells of a region that windows reach, in boxes, with the windows that reach all of each; every cell is in
    /// one of them, or in one for each of its windows, in their order.
    fn within(&self, region: &Cells) -> Vec<Run> {
        let reaching: Vec<(Link, Cells)> = self
            .links
            .iter()
            .map(|link| (link.clone(), link.cells.shared(region)))
            .filter(|(_, cells)| cells.count() > 0)
            .collect();
        let Some(shared) = reaching.iter().map(|(_, cells)| cells.clone()).reduce(|a, b| a.shared(&b)) else {
            return vec![];
        };
        if shared.count() == 0 {
            return reaching.into_iter().map(|(link, shared)| Run { links: vec![link], shared }).collect();
        }
        let all = Cells::hull(reaching.iter().map(|(_, cells)| cells));
        let run = Run { links: reaching.into_iter().map(|(link, _)| link).collect(), shared };
        let around: Vec<Run> = all.around(&run.shared).iter().flat_map(|region| run.within(region)).collect();
        [vec![run], around].concat()
    }
}

/// Who makes and who reads each value of a block.
struct Uses {
    /// The code that makes a value.
    maker: BTreeMap<Val, usize>,
    /// How often a value is read, directly or through views.
    times: BTreeMap<Val, usize>,
}

/// Where a sum is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Onto {
    /// Over the array that it goes on from.
    Base,
    /// In another place, of which every cell is written.
    Apart,
}

/// Runs that become sums, all at one place of the block.
struct Merge {
    runs: Vec<Run>,
    onto: Onto,
    /// Rows that are computed anew for each window, by result.
    anew: BTreeMap<Val, OpItem>,
    /// The first place in the block where everything is there.
    place: usize,
}

impl Uses {
    fn new(placed: &Placed, raws: &[Raw], ends: &[Val]) -> Uses {
        let mut uses = Uses { maker: BTreeMap::new(), times: BTreeMap::new() };
        for (k, raw) in raws.iter().enumerate() {
            uses.maker.extend(results(raw).into_iter().map(|value| (value, k)));
            reads(raw, &mut |value| *uses.times.entry(placed.access(value).root).or_insert(0) += 1);
        }
        for end in ends {
            // One more reader than any chain has.
            *uses.times.entry(placed.access(*end).root).or_insert(0) += 1;
        }
        uses
    }

    fn times(&self, value: Val) -> usize {
        self.times.get(&value).copied().unwrap_or(0)
    }

    /// Chains of two and more writes of which each is read by the next alone, in the order of their last ones.
    fn runs(&self, placed: &Placed, raws: &[Raw], made: &BTreeSet<Val>) -> Vec<Run> {
        let mut open: BTreeMap<Val, Run> = BTreeMap::new();
        let mut runs = vec![];
        for (k, raw) in raws.iter().enumerate() {
            let Some(link) = Link::new(placed, k, raw).filter(|link| !made.contains(&link.value)) else { continue };
            let before = if self.times(link.base) == 1 { open.remove(&link.base) } else { None };
            let run = match before.as_ref().and_then(|run| run.with(&link, placed)) {
                Some(run) => run,
                None => {
                    runs.extend(before);
                    Run { links: vec![link.clone()], shared: link.cells.clone() }
                }
            };
            // A first write that reads what it overwrites stays alone.
            if placed.access(link.source).root != run.base() {
                open.insert(link.value, run);
            }
        }
        runs.extend(open.into_values());
        runs.retain(|run| run.links.len() > 1);
        runs.sort_by_key(|run| run.links.last().map(|link| link.at));
        runs
    }

    /// How a run is merged: over its base or apart from it with terms that are computed anew, or over it with terms
    /// that are read. None where no way finds what it reads as it was.
    fn ways(&self, placed: &Placed, raws: &[Raw], run: &Run, before: &[Run]) -> Option<Merge> {
        let alone = |run: &Run| {
            self.placed_at(placed, vec![run.clone()], Onto::Base, self.anew(placed, raws, std::slice::from_ref(run)))
        };
        let over = alone(run);
        if !self.overwritten(placed, raws, &over) {
            return Some(over);
        }
        let apart = |runs: &[Run]| {
            let anew = self.anew(placed, raws, runs);
            Some(self.placed_at(placed, runs.to_vec(), Onto::Apart, anew))
                .filter(|merge| !self.overwritten(placed, raws, merge))
        };
        let mut runs = vec![run.clone()];
        let mut together = apart(&runs);
        for other in before.iter().rev().take(RUNS_MOST - 1) {
            if self.overwritten(placed, raws, &alone(other)) {
                let more = [std::slice::from_ref(other), &runs].concat();
                let merge = apart(&more);
                // What overwrites what another reads can be made together with it.
                if merge.is_some() || together.is_none() {
                    (runs, together) = (more, merge);
                }
            }
        }
        let read = || Some(self.placed_at(placed, vec![run.clone()], Onto::Base, BTreeMap::new()));
        together
            .filter(|merge| !merge.anew.is_empty())
            .or_else(|| read().filter(|merge| !self.overwritten(placed, raws, merge)))
    }

    fn placed_at(&self, placed: &Placed, runs: Vec<Run>, onto: Onto, anew: BTreeMap<Val, OpItem>) -> Merge {
        let made = |value: &Val| {
            let access = placed.access(*value);
            let roots = [access.root].into_iter().chain(access.dynamic.iter().map(|(start, _)| *start));
            roots.filter(|root| !anew.contains_key(root)).filter_map(|root| self.maker.get(&root).copied()).max()
        };
        let links = runs.iter().flat_map(|run| &run.links);
        let read = links.map(|link| &link.source).chain(anew.values().flat_map(|item| &item.args));
        let first = runs.iter().map(|run| run.links[0].at).max();
        let place = read.filter_map(made).chain(first).max().unwrap_or(0);
        Merge { runs, onto, anew, place }
    }

    /// Rows that only these runs read, from their sources down, as long as they are computed once or cheap.
    fn anew(&self, placed: &Placed, raws: &[Raw], runs: &[Run]) -> BTreeMap<Val, OpItem> {
        let mut anew = BTreeMap::new();
        // How often each value is read by what is computed anew, how often it is then computed, and the work that is
        // done more than once from the sum down to it.
        let mut read: BTreeMap<Val, (usize, u32, u32)> = BTreeMap::new();
        let tell = |value: Val, copies: u32, work: u32, read: &mut BTreeMap<Val, (usize, u32, u32)>| {
            if is_whole(placed, value) {
                let entry = read.entry(placed.access(value).root).or_insert((0, 0, 0));
                *entry = (entry.0 + 1, entry.1.saturating_add(copies), entry.2.max(work));
            }
        };
        runs.iter().flat_map(|run| &run.links).for_each(|link| tell(link.source, 1, 0, &mut read));
        let last = runs.iter().map(|run| run.last().at).max().unwrap_or(0);
        for raw in raws[..last].iter().rev() {
            let Raw::Op(item) = raw else { continue };
            let Some((times, copies, work)) = read.get(&item.result).copied() else { continue };
            let work = if copies > 1 { work + item.def.cost } else { 0 };
            let can_move = item.def.lowering.is_elementwise() && !placed.can_fault(item);
            let alike = item.args.iter().all(|arg| placed.ty(*arg).shape == placed.ty(item.result).shape);
            if can_move
                && alike
                && !placed.is_scalar(item.result)
                && times == self.times(item.result)
                && work <= WORK_MOST
            {
                item.args.iter().for_each(|arg| tell(*arg, copies, work, &mut read));
                anew.insert(item.result, item.clone());
            }
        }
        anew
    }

    /// Whether something that is read later now is overwritten before, or made here, or belongs to the array that is
    /// summed up in place.
    fn overwritten(&self, placed: &Placed, raws: &[Raw], merge: &Merge) -> bool {
        let links = || merge.runs.iter().flat_map(|run| &run.links);
        let rows = merge.anew.keys().map(|value| self.maker[value]);
        let first = rows.chain(merge.runs.iter().map(|run| run.links[0].at)).min().unwrap_or(0);
        let read = links().map(|link| &link.source).chain(merge.anew.values().flat_map(|item| &item.args));
        let roots: BTreeSet<Val> =
            read.map(|value| placed.access(*value).root).filter(|root| !merge.anew.contains_key(root)).collect();
        let takes = |k: usize| match &raws[k] {
            Raw::Write { base, .. } => roots.contains(base),
            Raw::Node(node) => {
                let mut takes = false;
                node.reads(&mut |value| {
                    takes |= !placed.is_scalar(value) && roots.contains(&placed.access(value).root)
                });
                takes
            }
            Raw::Op(_) | Raw::Copy { .. } => false,
        };
        let gone: BTreeSet<usize> = links().map(|link| link.at).collect();
        let base = merge.onto == Onto::Base && merge.runs.iter().any(|run| roots.contains(&run.base()));
        let made = links().any(|link| roots.contains(&link.value));
        base || made || self.waits(placed, raws, merge) || (first..merge.place).any(|k| !gone.contains(&k) && takes(k))
    }

    /// Whether something before the place of the sums reads one of them.
    fn waits(&self, placed: &Placed, raws: &[Raw], merge: &Merge) -> bool {
        let last: BTreeSet<Val> = merge.runs.iter().map(|run| run.last().value).collect();
        let first = merge.runs.iter().map(|run| run.last().at).min().unwrap_or(0);
        let mut waits = false;
        for raw in raws.iter().take(merge.place + 1).skip(first) {
            reads(raw, &mut |value| waits |= last.contains(&placed.access(value).root));
        }
        waits
    }
}

impl Merge {
    /// The code with its runs as nests and strips.
    fn apply(&self, placed: &mut Placed, raws: Vec<Raw>, made: &mut BTreeSet<Val>) -> Vec<Raw> {
        let mut sums =
            Sums { placed, anew: &self.anew, raws: vec![], known: BTreeMap::new(), value: self.runs[0].base() };
        // All nests before all strips, so that they can be one.
        let values: Vec<Val> = self.runs.iter().map(|run| sums.start(run)).collect();
        for (run, value) in self.runs.iter().zip(values) {
            sums.finish(run, value, self.onto);
        }
        let mut sum = sums.raws;
        made.extend(sum.iter().flat_map(results));
        made.extend(self.runs.iter().flat_map(|run| run.links.iter().map(|link| link.value)));
        let links = self.runs.iter().flat_map(|run| run.links.iter().map(|link| link.value));
        let gone: BTreeSet<Val> = links.chain(self.anew.keys().copied()).collect();
        let mut merged = Vec::with_capacity(raws.len() + sum.len());
        for (k, raw) in raws.into_iter().enumerate() {
            if !results(&raw).iter().any(|value| gone.contains(value)) {
                merged.push(raw);
            }
            if k == self.place {
                merged.append(&mut sum);
            }
        }
        merged
    }
}

/// Whether a value is all of its root, element by element.
fn is_whole(placed: &Placed, value: Val) -> bool {
    let access = placed.access(value);
    access.root == value
        || *access == Access::whole(access.root, placed.ty(value))
            && placed.ty(access.root).shape == placed.ty(value).shape
}

/// A box inside another one, from its start.
fn moved(cells: &Cells, within: &Cells) -> Cells {
    let start = cells.start.iter().zip(&within.start).map(|(start, from)| start - from).collect();
    Cells { start, extent: cells.extent.clone() }
}

/// The code of sums under construction.
struct Sums<'p> {
    placed: &'p mut Placed,
    anew: &'p BTreeMap<Val, OpItem>,
    raws: Vec<Raw>,
    /// Boxes of terms that are there.
    known: BTreeMap<(Val, Cells), Val>,
    /// The array so far.
    value: Val,
}

impl Sums<'_> {
    /// The nest of a run, and what it makes of the array.
    fn start(&mut self, run: &Run) -> Val {
        self.value = run.base();
        let source = self.shared(run);
        self.write(source, &run.shared, Write::Set);
        self.value
    }

    /// The strips around the nest of a run.
    fn finish(&mut self, run: &Run, value: Val, onto: Onto) {
        self.value = value;
        if onto == Onto::Apart {
            for strip in Cells::all(self.placed.ty(value)).around(&run.shared) {
                let before = self.part(run.base(), &strip);
                self.write(before, &strip, Write::Set);
            }
        }
        for strip in run.strips() {
            // Each strip is a nest of its own and shares nothing with others.
            self.known.clear();
            let source = self.shared(&strip);
            self.write(source, &strip.shared, Write::Set);
        }
        // The last write gives the value that everybody knows.
        let (made, last) = (self.value, run.last().value);
        for raw in &mut self.raws {
            if let Raw::Write { value, window, .. } = raw
                && *value == made
            {
                (*value, window.root) = (last, last);
            }
        }
        if onto == Onto::Apart {
            self.placed.rewritten.insert(if value == made { last } else { value }, last);
        }
    }

    /// What the cells that all windows share become.
    fn shared(&mut self, run: &Run) -> Val {
        let mut sum = None;
        for link in &run.links {
            let term = self.term(link.source, &moved(&run.shared, &link.cells));
            sum = Some(match link.how {
                Write::Set => term,
                Write::Add => {
                    let before = sum.unwrap_or_else(|| self.part(self.value, &run.shared));
                    self.row(
                        OpItem {
                            def: &ops::ADD,
                            attrs: Attrs::none(),
                            args: vec![before, term],
                            result: term,
                            pos: Pos::default(),
                        },
                        &run.shared,
                    )
                }
                Write::Mul | Write::Max | Write::Min => panic!("a link sets or adds"),
            });
        }
        sum.expect("a run has links")
    }

    /// A box of a term: a view of it, or computed there.
    fn term(&mut self, value: Val, cells: &Cells) -> Val {
        let root = self.placed.access(value).root;
        let computed = self.anew.get(&root);
        let key = (if computed.is_some() { root } else { value }, cells.clone());
        if let Some(term) = self.known.get(&key) {
            return *term;
        }
        let term = match computed {
            None => self.part(value, cells),
            Some(item) => {
                let args = item.args.iter().map(|arg| self.term(*arg, cells)).collect();
                self.row(OpItem { args, ..item.clone() }, cells)
            }
        };
        self.known.insert(key, term);
        term
    }

    /// A view of a box of a value.
    fn part(&mut self, value: Val, cells: &Cells) -> Val {
        let dtype = self.placed.ty(value).dtype;
        let mut access = self.placed.access(value).clone();
        access.offset +=
            cells.start.iter().zip(&access.strides).map(|(start, stride)| *start as i64 * stride).sum::<i64>();
        let part = self.placed.define(Type::new(dtype, cells.extent.clone()));
        self.placed.access[part.0 as usize] = access;
        part
    }

    /// A row over a box.
    fn row(&mut self, item: OpItem, cells: &Cells) -> Val {
        let dtype: DType = self.placed.ty(item.result).dtype;
        let result = self.placed.define(Type::new(dtype, cells.extent.clone()));
        self.raws.push(Raw::Op(OpItem { result, ..item }));
        result
    }

    fn write(&mut self, source: Val, cells: &Cells, how: Write) {
        let ty = self.placed.ty(self.value).clone();
        let value = self.placed.define(ty.clone());
        let mut window = Access::whole(value, &ty);
        window.offset = cells.start.iter().zip(&window.strides).map(|(start, stride)| *start as i64 * stride).sum();
        self.raws.push(Raw::Write { value, base: self.value, source, window, index: None, how });
        self.value = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of the inner size of a cube, one cell apart from the middle along each axis, and in the middle.
    fn star(n: usize, rank: usize) -> Run {
        let shifts = (0..rank).flat_map(|axis| [0, 2].map(|start| (axis, start))).chain([(0, 1)]);
        let links: Vec<Link> = shifts
            .enumerate()
            .map(|(at, (axis, start))| {
                let mut cells = Cells { start: vec![1; rank], extent: vec![n - 2; rank] };
                cells.start[axis] = start;
                Link { at, value: Val(at as u32), base: Val(99), source: Val(98), how: Write::Add, cells }
            })
            .collect();
        let shared = links.iter().map(|link| link.cells.clone()).reduce(|a, b| a.shared(&b)).expect("there are links");
        Run { links, shared }
    }

    /// The cells of a box, by their number in a cube.
    fn numbers(cells: &Cells, n: usize) -> Vec<usize> {
        let mut numbers = vec![0];
        for axis in 0..cells.start.len() {
            numbers = numbers
                .iter()
                .flat_map(|number| (cells.start[axis]..cells.end(axis)).map(move |k| number * n + k))
                .collect();
        }
        numbers
    }

    #[test]
    fn every_cell_around_a_nest_is_written_once_with_all_its_terms() {
        for (n, rank) in [(9, 1), (9, 2), (9, 3), (5, 3)] {
            let run = star(n, rank);
            let mut terms: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for strip in run.strips().iter().chain([&run]) {
                for cell in numbers(&strip.shared, n) {
                    let before = terms.insert(cell, strip.links.iter().map(|link| link.at).collect());
                    assert_eq!(before, None, "cell {cell} of {n}^{rank} is written twice");
                }
            }
            let mut expected: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for link in &run.links {
                numbers(&link.cells, n).into_iter().for_each(|cell| expected.entry(cell).or_default().push(link.at));
            }
            assert_eq!(terms, expected);
        }
    }
}
