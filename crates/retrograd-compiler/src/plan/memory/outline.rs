//! Cuts long blocks into parts, each a function of its own: what a back end does for one function grows faster than its
//! length.
//!
//! A scalar that crosses from one part into another gets a slot of a frame in the arena; a slot is used again once its
//! scalar is dead. So the plan knows the bytes.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Block, BufferId, NestOutput, Node, Placed, Step, Val};

/// A block in parts, each a function of its own. A scalar that one part makes and another reads goes through a frame in
/// the arena.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The frame.
    pub frame: BufferId,
    /// Its bytes.
    pub bytes: u64,
    /// Scalars that are there before the block: they go into the frame first.
    pub entry: Vec<Slot>,
    /// The parts, in order.
    pub parts: Vec<Part>,
    /// Scalars that are read after the block.
    pub exit: Vec<Slot>,
}

/// Some consecutive nodes of a block.
#[derive(Clone, Debug)]
pub struct Part {
    /// Which nodes.
    pub nodes: std::ops::Range<usize>,
    /// What it takes from the frame, each just before the node that reads it first: a back end has few registers for
    /// much that waits.
    pub loads: Vec<(usize, Slot)>,
    /// What it puts into the frame, each just after the node that makes it.
    pub stores: Vec<(usize, Slot)>,
}

/// A scalar and its place in a frame, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The scalar.
    pub value: Val,
    /// Where it is.
    pub offset: u64,
}

/// Bytes of a slot.
const SLOT: u64 = 8;

/// The parts of a block whose `ends` are read after it, where it is long; its frame has no place yet.
pub(super) fn cut(placed: &Placed, block: &Block, ends: &[Val]) -> Option<Parts> {
    let statements = placed.grain.statements_per_part;
    let weigh = Weigh { placed, statements };
    let weights: Vec<usize> = block.nodes.iter().map(|node| weigh.node(node)).collect();
    if !weigh.is_long(weights.iter().sum()) {
        return None;
    }
    let mut parts: Vec<Part> = vec![];
    let (mut start, mut length) = (0, 0);
    for (k, weight) in weights.iter().enumerate() {
        if length > 0 && length + weight > statements {
            parts.push(Part { nodes: start..k, loads: vec![], stores: vec![] });
            (start, length) = (k, 0);
        }
        length += weight;
    }
    parts.push(Part { nodes: start..block.nodes.len(), loads: vec![], stores: vec![] });
    Some(Crossing::new(placed, block, ends, &parts).slots(parts))
}

/// What crosses between parts.
struct Crossing {
    /// Scalars that each part reads and does not make, each with the node that reads it first.
    reads: Vec<BTreeMap<Val, usize>>,
    /// The part and node that make each scalar, in order of the scalars; what is there before the block has none.
    made: Vec<(Val, usize, usize)>,
    /// The part that reads each scalar last, or the number of parts where it is read after them.
    last: BTreeMap<Val, usize>,
    exit: BTreeSet<Val>,
}

impl Crossing {
    fn new(placed: &Placed, block: &Block, ends: &[Val], parts: &[Part]) -> Crossing {
        let mut made = vec![];
        for (p, part) in parts.iter().enumerate() {
            for k in part.nodes.clone() {
                block.nodes[k].defines(placed, &mut |value| made.push((value, p, k)));
            }
        }
        made.sort_unstable();
        let mut crossing = Crossing { reads: vec![], made, last: BTreeMap::new(), exit: BTreeSet::new() };
        for (p, part) in parts.iter().enumerate() {
            let read = crossing.read_in(placed, block, p, part);
            crossing.last.extend(read.keys().map(|scalar| (*scalar, p)));
            crossing.reads.push(read);
        }
        for end in ends {
            scalars(placed, *end, &mut |scalar| {
                if crossing.maker(scalar).is_some() {
                    crossing.exit.insert(scalar);
                }
            });
        }
        crossing.last.extend(crossing.exit.iter().map(|scalar| (*scalar, parts.len())));
        crossing
    }

    /// The part and node that make a scalar.
    fn maker(&self, scalar: Val) -> Option<(usize, usize)> {
        let until = self.made.partition_point(|(value, ..)| *value <= scalar);
        let (value, part, node) = *self.made[..until].last()?;
        (value == scalar).then_some((part, node))
    }

    /// What a part takes from the frame, and before which node.
    fn read_in(&self, placed: &Placed, block: &Block, p: usize, part: &Part) -> BTreeMap<Val, usize> {
        let mut read = BTreeMap::new();
        for k in part.nodes.clone() {
            block.nodes[k].reads(&mut |value| {
                scalars(placed, value, &mut |scalar| {
                    if self.maker(scalar).is_none_or(|(maker, _)| maker != p) {
                        read.entry(scalar).or_insert(k);
                    }
                })
            });
        }
        read
    }

    /// The parts with their slots, each the lowest that is free.
    fn slots(self, mut parts: Vec<Part>) -> Parts {
        let (mut free, mut slots) = (BTreeSet::new(), 0);
        let mut take = |free: &mut BTreeSet<u64>| {
            free.pop_first().unwrap_or_else(|| {
                slots += 1;
                slots - 1
            })
        };
        let mut places: BTreeMap<Val, u64> = BTreeMap::new();
        let mut made_in: Vec<Vec<(usize, Val)>> = vec![vec![]; parts.len()];
        let mut entry = vec![];
        for scalar in self.last.keys() {
            match self.maker(*scalar) {
                Some((p, k)) => made_in[p].push((k, *scalar)),
                None => {
                    places.insert(*scalar, take(&mut free));
                    entry.push(*scalar);
                }
            }
        }
        let slot = |places: &BTreeMap<Val, u64>, value: &Val| Slot { value: *value, offset: places[value] * SLOT };
        let entry = entry.iter().map(|value| slot(&places, value)).collect();
        for (p, part) in parts.iter_mut().enumerate() {
            part.loads = self.reads[p].iter().map(|(value, k)| (*k, slot(&places, value))).collect();
            for (_, value) in &made_in[p] {
                places.insert(*value, take(&mut free));
            }
            part.stores = made_in[p].iter().map(|(k, value)| (*k, slot(&places, value))).collect();
            // What is read here last makes room for what is made in later parts: a part stores before it has loaded
            // everything.
            free.extend(self.reads[p].keys().filter(|value| self.last[value] == p).map(|value| places[value]));
            part.loads.sort_by_key(|(k, _)| *k);
            part.stores.sort_by_key(|(k, _)| *k);
        }
        let exit = self.exit.iter().map(|value| slot(&places, value)).collect();
        Parts { frame: BufferId(u32::MAX), bytes: slots * SLOT, entry, parts, exit }
    }
}

impl Node {
    /// Tells every value that exists in this node or after it, and not before.
    fn defines(&self, placed: &Placed, tell: &mut impl FnMut(Val)) {
        self.results().into_iter().for_each(&mut *tell);
        match self {
            Node::Scalar(_) | Node::Load { .. } | Node::Clamp { .. } | Node::Probe { .. } => {}
            Node::Reduce { .. } | Node::Dot { .. } | Node::Scan { .. } | Node::Call(_) => {}
            Node::Nest(nest) => {
                for item in &nest.rows {
                    tell(item.result);
                    placed.picks.get(&item.result).into_iter().for_each(|index| tell(index.clamped));
                }
                for output in &nest.outputs {
                    if let NestOutput::Write { index: Some(index), .. } = output {
                        tell(index.clamped);
                    }
                }
            }
            Node::If(branch) => branch.blocks.iter().for_each(|block| block.defines(placed, tell)),
            Node::For(node) => node.step.defines(placed, tell),
            Node::While(node) => {
                node.cond.defines(placed, tell);
                node.step.defines(placed, tell);
            }
            Node::Sweep(drive) | Node::Reversal(drive) => drive.steps().for_each(|step| step.defines(placed, tell)),
        }
    }
}

impl Block {
    fn defines(&self, placed: &Placed, tell: &mut impl FnMut(Val)) {
        self.nodes.iter().for_each(|node| node.defines(placed, tell));
    }
}

impl Step {
    fn defines(&self, placed: &Placed, tell: &mut impl FnMut(Val)) {
        tell(self.index);
        self.carries.iter().for_each(|(before, _)| tell(*before));
        self.rows.iter().for_each(|row| tell(row.value));
        self.block.defines(placed, tell);
    }
}

/// The registers that it takes to read a value.
fn scalars(placed: &Placed, value: Val, tell: &mut impl FnMut(Val)) {
    let access = placed.access(value);
    if placed.is_scalar(access.root) {
        tell(access.root);
    }
    access.dynamic.iter().for_each(|(start, _)| tell(*start));
}

/// Weighs code by the statements that it becomes, about, as seen by the function that it is in.
struct Weigh<'p> {
    placed: &'p Placed,
    statements: usize,
}

impl Weigh<'_> {
    fn is_long(&self, weight: usize) -> bool {
        weight / 2 >= self.statements
    }

    fn node(&self, node: &Node) -> usize {
        match node {
            Node::Scalar(_) | Node::Load { .. } => 1,
            Node::Clamp { .. } | Node::Probe { .. } => 8,
            Node::Call(_) => 16,
            Node::Reduce { .. } | Node::Dot { .. } | Node::Scan { .. } => 64,
            // A vector loop is written several times: for many lanes, for few and for one.
            Node::Nest(nest) => 16 + 6 * nest.statements(self.placed),
            Node::If(branch) => 4 + branch.blocks.iter().map(|block| self.block(block)).sum::<usize>(),
            Node::For(node) => 16 + self.step(&node.step),
            Node::While(node) => 16 + self.block(&node.cond) + self.step(&node.step),
            Node::Sweep(drive) | Node::Reversal(drive) => 64 + drive.steps().map(|step| self.step(step)).sum::<usize>(),
        }
    }

    /// A long block is in functions of its own.
    fn block(&self, block: &Block) -> usize {
        let weight = block.nodes.iter().map(|node| self.node(node)).sum::<usize>();
        if self.is_long(weight) { weight / self.statements } else { weight }
    }

    fn step(&self, step: &Step) -> usize {
        step.carries.len() + step.rows.len() + step.emits.len() + self.block(&step.block)
    }
}
