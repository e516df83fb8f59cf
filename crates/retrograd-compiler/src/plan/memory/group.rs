//! Loop fusion: gathers straight-line code into loop nests. Elementwise code over one domain is one nest, with everything that
//! leaves it.
//!
//! The block is scheduled from its front, looking ahead a bounded distance for code that can join the nest under
//! construction. A nest never reads what it writes, except element by element.

use std::collections::{BTreeSet, VecDeque};

use super::tree::{Access, Block, Index, Nest, NestOutput, Node, OpItem, Placed, Val};
use super::{layout, shifted};
use crate::ir::{Attrs, By, DType, Lowering, Reduction, Write};
use crate::ops::{DotAxes, sum_axes};
use crate::plan::analysis::grain::{Grain, is_short, is_small, long_axes};

/// How far the schedule looks ahead for code that joins a nest.
const LOOK_AHEAD: usize = 128;

/// Most rows of a nest, one for each component: a back end takes more than twice as long for twice as long a loop.
const NEST_ROWS: usize = 1024;

/// Code of a block before it is gathered.
#[derive(Clone, Debug)]
pub(super) enum Raw {
    /// A row that is not a view or a write.
    Op(OpItem),
    /// A view computed into memory.
    Copy {
        /// The copy.
        result: Val,
        /// The view.
        source: Val,
    },
    /// A window written.
    Write {
        /// The array afterwards.
        value: Val,
        /// The array before.
        base: Val,
        /// What is written.
        source: Val,
        /// Where.
        window: Access,
        /// The index for each element, if the window is not one.
        index: Option<Index>,
        /// How elements are written.
        how: Write,
    },
    /// Anything that stands alone.
    Node(Node),
}

/// Gathers a block; `ends` are used after it. Nothing passes a fence, a number of raw code: what runs again to be held
/// for a short time would else run early. Of the step of a loop the last are its carries, before and after.
pub(super) fn group(
    placed: &mut Placed,
    mut raws: Vec<Raw>,
    fences: &[usize],
    ends: &[Val],
    carries: &[(Val, Val)],
) -> Block {
    let mut sections: Vec<Vec<Raw>> = fences.iter().rev().map(|fence| raws.split_off(*fence)).collect();
    sections.push(raws);
    let mut nodes = vec![];
    while let Some(raws) = sections.pop() {
        let mut later: Vec<Val> = ends.to_vec();
        for raw in sections.iter().flatten() {
            reads(raw, &mut |value| later.extend([value, placed.access(value).root]));
        }
        let raws = shifted::merge(placed, raws, &later);
        let turns = turns(placed, &raws, carries);
        let pending = Pending::new(&raws);
        let mut group = Group { placed, nodes: vec![], pending, turns, ends, open: None };
        group.schedule(raws);
        nodes.append(&mut group.nodes);
    }
    store_roots(placed, &mut nodes, ends);
    Block { nodes, parts: None }
}

pub(super) struct Group<'p> {
    pub(super) placed: &'p mut Placed,
    nodes: Vec<Node>,
    /// Values of this block that are not computed yet; those of the open nest included.
    pending: Pending,
    /// New values of arrays that may be written while the old one is read: they get another place.
    turns: BTreeSet<Val>,
    /// What is used after the block.
    ends: &'p [Val],
    open: Option<Open>,
}

/// Values of a block that are not computed yet.
struct Pending {
    /// All that the block makes, in order, and which of them are not there yet.
    made: Vec<(Val, bool)>,
}

impl Pending {
    fn new(raws: &[Raw]) -> Pending {
        let mut made: Vec<(Val, bool)> = raws.iter().flat_map(results).map(|value| (value, true)).collect();
        made.sort_unstable();
        Pending { made }
    }

    fn place(&self, value: &Val) -> Option<usize> {
        self.made.binary_search_by_key(value, |(value, _)| *value).ok()
    }

    fn contains(&self, value: &Val) -> bool {
        self.place(value).is_some_and(|at| self.made[at].1)
    }

    fn remove(&mut self, value: &Val) {
        if let Some(at) = self.place(value) {
            self.made[at].1 = false;
        }
    }
}

/// The nest under construction.
struct Open {
    nest: Nest,
    members: BTreeSet<Val>,
    /// Axes of its shape before those that can be components.
    long: usize,
    /// Whether they are.
    in_components: bool,
    /// Rows, one for each component.
    length: usize,
}

impl Open {
    fn new(shape: &[usize], long: usize) -> Open {
        let nest = Nest { shape: shape.to_vec(), rows: vec![], views: vec![], outer: vec![], outputs: vec![] };
        Open { nest, members: BTreeSet::new(), long, in_components: false, length: 0 }
    }

    /// The domain where what is small is components.
    fn domain(&self) -> &[usize] {
        &self.nest.shape[..self.long]
    }

    /// Whether code over this shape is over the domain and some components, and the nest holds only what can be.
    fn splits(&self, shape: &[usize]) -> bool {
        let stores = self
            .nest
            .outputs
            .iter()
            .all(|output| matches!(output, NestOutput::Store { .. } | NestOutput::Accumulate { .. }));
        let picks = self.nest.rows.iter().any(|item| matches!(item.def.lowering, Lowering::Pick(_)));
        stores && !picks && shape.starts_with(self.domain()) && is_small(&shape[self.long..])
    }

    fn reduces(&self) -> bool {
        self.nest.outputs.iter().any(|output| matches!(output, NestOutput::Reduce { .. }))
    }
}

impl Group<'_> {
    fn schedule(&mut self, raws: Vec<Raw>) {
        let mut raws: VecDeque<Raw> = raws.into();
        while !raws.is_empty() {
            match self.next(&raws) {
                Some(k) => {
                    let raw = raws.remove(k).expect("within the queue");
                    self.take(raw);
                }
                None => {
                    assert!(self.open.is_some(), "SSA: some code is always ready");
                    self.close();
                }
            }
        }
        self.close();
    }

    /// What comes next of the code that is ready: the first, or, of code that opens nests, the one of the smallest, so
    /// that a larger one finds what it reads of it.
    fn next(&self, raws: &VecDeque<Raw>) -> Option<usize> {
        let mut ready = (0..raws.len().min(LOOK_AHEAD)).filter(|k| self.fits(raws, *k));
        let first = ready.next()?;
        let opening = [first].into_iter().chain(ready).filter(|k| self.opens(&raws[*k]).is_some());
        if self.opens(&raws[first]).is_some() { opening.min_by_key(|k| self.opens(&raws[*k])) } else { Some(first) }
    }

    /// Elements of the nest that a row would open; none for a literal that it may read.
    fn opens(&self, raw: &Raw) -> Option<usize> {
        match raw {
            Raw::Op(item) if self.open.is_none() && item.def.lowering == Lowering::Constant => Some(0),
            Raw::Op(item) if self.open.is_none() && !self.placed.is_scalar(item.result) => {
                let elementwise = matches!(
                    item.def.lowering,
                    Lowering::Map(_) | Lowering::Convert | Lowering::Iota | Lowering::Pick(_)
                );
                let reduces = matches!(item.def.lowering, Lowering::Reduce(_)) && self.reduces_components(item);
                (elementwise || reduces)
                    .then(|| self.placed.ty(item.args.first().map_or(item.result, |arg| *arg)).elements())
            }
            Raw::Op(_) | Raw::Copy { .. } | Raw::Write { .. } | Raw::Node(_) => None,
        }
    }

    /// Whether a value can be read by a node of its own.
    fn available(&self, value: Val) -> bool {
        let access = self.placed.access(value);
        !self.pending.contains(&access.root) && access.dynamic.iter().all(|(start, _)| !self.pending.contains(start))
    }

    fn is_member(&self, value: Val) -> bool {
        self.open.as_ref().is_some_and(|open| open.members.contains(&value))
    }

    /// Whether code can be taken now: it joins the open nest, or stands before it.
    fn fits(&self, raws: &VecDeque<Raw>, k: usize) -> bool {
        self.keeps_order(raws, k) && self.keeps_order_of_nest(&raws[k]) && self.joins_or_precedes(raws, k)
    }

    /// Whether no check passes what can fault, nor is passed by it: the first failure of a run is that of the Program.
    /// Other faults pass each other, as all code does that computes.
    fn keeps_order(&self, raws: &VecDeque<Raw>, k: usize) -> bool {
        if self.placed.failures.is_empty() || !self.can_fault(&raws[k]) {
            return true;
        }
        let is_check = self.checks(&raws[k]);
        !raws.range(..k).any(|raw| self.checks(raw) || is_check && self.can_fault(raw))
    }

    /// The same for the open nest, which code that does not join it precedes. A nest has one check, and no other fault
    /// beside it: its elements are looked at in any order.
    fn keeps_order_of_nest(&self, raw: &Raw) -> bool {
        let Some(open) = self.open.as_ref().filter(|_| !self.placed.failures.is_empty() && self.can_fault(raw)) else {
            return true;
        };
        let mut faulty = open.nest.rows.iter().filter(|item| self.placed.can_fault(item));
        let indexed = open.nest.outputs.iter().any(|output| matches!(output, NestOutput::Write { index: Some(_), .. }));
        match self.checks(raw) {
            true => !indexed && faulty.next().is_none(),
            false => !faulty.any(|item| self.placed.failures.contains_key(&item.result)),
        }
    }

    /// Whether raw code can end the run by a check.
    fn checks(&self, raw: &Raw) -> bool {
        match raw {
            Raw::Op(item) => self.placed.failures.contains_key(&item.result),
            Raw::Node(node) => node.any_row(&mut |item| self.placed.failures.contains_key(&item.result)),
            Raw::Copy { .. } | Raw::Write { .. } => false,
        }
    }

    /// Whether raw code can end the run, or may never end.
    fn can_fault(&self, raw: &Raw) -> bool {
        match raw {
            Raw::Op(item) => self.placed.can_fault(item),
            Raw::Write { index, .. } => index.is_some(),
            Raw::Node(Node::Clamp { .. } | Node::Probe { .. }) => true,
            Raw::Node(Node::If(_) | Node::For(_) | Node::While(_) | Node::Sweep(_) | Node::Reversal(_)) => true,
            Raw::Copy { .. } | Raw::Node(Node::Scalar(_) | Node::Load { .. } | Node::Nest(_)) => false,
            Raw::Node(Node::Call(call)) => call.routine.by != By::Code,
            Raw::Node(Node::Reduce { .. } | Node::Dot { .. } | Node::Scan { .. }) => false,
        }
    }

    fn joins_or_precedes(&self, raws: &VecDeque<Raw>, k: usize) -> bool {
        match &raws[k] {
            Raw::Op(item) => self.row_fits(item),
            Raw::Copy { result, source } => {
                let shape = &self.placed.ty(*result).shape;
                self.joins(shape, &[*source]) || self.joins_components(shape, &[*source])
            }
            Raw::Write { value, base, source, window, index, .. } => {
                let args: Vec<Val> = [*source].into_iter().chain(index.iter().map(|index| index.given)).collect();
                let dynamic = window.dynamic.iter().all(|(start, _)| !self.pending.contains(start));
                let joins = || self.available(*base) && self.joins(&self.placed.ty(*source).shape, &args);
                let overwrites = !self.turns.contains(value);
                let conflict = |open: &Open| {
                    open.reduces()
                        || open.nest.accumulated().next().is_some()
                        || overwrites && reads_beside(self.placed, &open.nest, *base, window)
                };
                // Whoever reads the old value, and can, goes first: then it dies here and is overwritten in place.
                let goes_first = |j: usize| {
                    j != k
                        && self.reads(&raws[j], *base)
                        && (j < k || self.is_ready(&raws[j]) && self.keeps_order(raws, j))
                };
                let stays = !self.placed.rewritten.contains_key(value);
                let earlier = || stays && (0..raws.len().min(LOOK_AHEAD)).any(goes_first);
                // The dearest question comes last.
                dynamic && joins() && !self.open.as_ref().is_some_and(conflict) && !earlier()
            }
            Raw::Node(node) => {
                let mut ready = true;
                node.reads(&mut |value| ready &= self.available(value) || self.is_inner(value));
                let alone = matches!(node, Node::Load { .. } | Node::Clamp { .. }) || self.open.is_none();
                // Effects happen in the order in which they are written.
                let shows = |raw: &Raw| matches!(raw, Raw::Node(node) if node.has_effect());
                let nothing = self.placed.probes.is_empty() && !self.placed.calls_host;
                let in_order = nothing || !shows(&raws[k]) || !raws.range(..k).any(shows);
                ready && alone && in_order
            }
        }
    }

    /// Whether all that raw code reads is computed.
    fn is_ready(&self, raw: &Raw) -> bool {
        let mut ready = true;
        let mut look = |value: Val| ready &= self.available(value);
        match raw {
            Raw::Op(item) => item.args.iter().for_each(|v| look(*v)),
            Raw::Copy { source, .. } => look(*source),
            // Of two writes to one array neither waits for the other.
            Raw::Write { .. } => return false,
            Raw::Node(node) => node.reads(&mut look),
        }
        ready
    }

    /// Values defined inside a nested block are never pending here.
    fn is_inner(&self, value: Val) -> bool {
        !self.pending.contains(&self.placed.access(value).root)
    }

    fn row_fits(&self, item: &OpItem) -> bool {
        let all_available = || item.args.iter().all(|v| self.available(*v));
        match item.def.lowering {
            Lowering::Map(_) | Lowering::Convert | Lowering::Iota | Lowering::Constant
                if self.placed.is_scalar(item.result) =>
            {
                all_available()
            }
            Lowering::Map(_) | Lowering::Convert | Lowering::Iota | Lowering::Constant | Lowering::Pick(_) => {
                // Steps that divide run one by one, and those of a reduction in lanes.
                let divides = self.placed.divisions.contains_key(&item.result);
                let fails = self.placed.failures.contains_key(&item.result);
                let reduces = self.open.as_ref().is_some_and(Open::reduces);
                let accumulates = self.open.as_ref().is_some_and(|open| open.nest.accumulated().next().is_some());
                let (shape, picks) =
                    (&self.placed.ty(item.result).shape, matches!(item.def.lowering, Lowering::Pick(_)));
                // Where the order of the steps changes, none may fault.
                !(divides && reduces || accumulates && (divides || picks || fails))
                    && (self.joins(shape, &item.args) || !picks && self.joins_components(shape, &item.args))
            }
            Lowering::Reduce(_) if self.placed.is_scalar(item.result) => {
                let source = item.args[0];
                let shape = &self.placed.ty(source).shape;
                let flat = match &self.open {
                    Some(open) => {
                        !open.in_components
                            && self.nest_is_flat(&open.nest)
                            && (self.is_member(source) || self.is_flat(source, shape))
                    }
                    None => true,
                };
                flat && self.joins(shape, &[source])
            }
            Lowering::Reduce(_) if self.open.is_some() => {
                let fits = self.reduces_components(item) || self.accumulates(item);
                fits && self.joins_components(&self.placed.ty(item.args[0]).shape, &item.args)
            }
            Lowering::Reduce(_) | Lowering::Dot | Lowering::Scan(_) => self.open.is_none() && all_available(),
            Lowering::View(_) | Lowering::Write(_) | Lowering::Scatter(..) => {
                panic!("views and writes are raw code of their own")
            }
            Lowering::Composed(_)
            | Lowering::Routine(_)
            | Lowering::Factored(..)
            | Lowering::Probe
            | Lowering::Check
            | Lowering::Missing => {
                panic!("only rows with loops of their own are placed")
            }
        }
    }

    /// Whether elementwise code over this domain can join the open nest, or open one.
    fn joins(&self, shape: &[usize], args: &[Val]) -> bool {
        let readable = |v: &Val| self.is_member(*v) || self.available(*v);
        match &self.open {
            None => args.iter().all(|v| self.available(*v)),
            Some(open) => {
                // An index along an axis is not flat: code without arguments may be one.
                let flat = !open.reduces()
                    || !args.is_empty() && args.iter().all(|v| self.is_member(*v) || self.is_flat(*v, shape));
                let short = open.nest.rows.len() < NEST_ROWS && !open.in_components;
                short
                    && open.nest.shape == shape
                    && flat
                    && args.iter().all(readable)
                    && args.iter().all(|v| self.harmless(open, *v))
            }
        }
    }

    /// Whether code over this domain or components of it can join the open nest, of which it reads something.
    fn joins_components(&self, shape: &[usize], args: &[Val]) -> bool {
        let Some(open) = &self.open else { return false };
        let related = args.iter().any(|v| open.members.contains(&self.placed.access(*v).root));
        let readable = |v: &Val| self.is_member(*v) || self.available(*v) || self.is_within(open, *v);
        related && open.length < NEST_ROWS && open.splits(shape) && args.iter().all(readable)
    }

    /// Whether a value is a view of one of the open nest, each element of components of that element.
    fn is_within(&self, open: &Open, value: Val) -> bool {
        open.members.contains(&self.placed.access(value).root) && self.placed.reads_here(value, open.domain())
    }

    /// Whether a reduction is over components alone: of the open nest, or of the one that it would open.
    fn reduces_components(&self, item: &OpItem) -> bool {
        let shape = &self.placed.ty(item.args[0]).shape;
        let long = self.open.as_ref().map_or_else(|| long_axes(shape, self.placed.grain), |open| open.long);
        long < shape.len() && item.attrs.sizes("axes").iter().all(|axis| *axis >= long)
    }

    /// Whether a reduction is over axes of the open nest, in ascending order, and what it reduces is not worth threads.
    fn accumulates(&self, item: &OpItem) -> bool {
        let Some(open) = &self.open else { return false };
        let (axes, rank) = (item.attrs.sizes("axes"), self.placed.ty(item.args[0]).rank());
        let (_, ascending, blocked) = sum_axes(rank, &axes);
        let faults = open.nest.rows.iter().any(|item| self.placed.can_fault(item));
        let Grain { threads, work_per_launch, .. } = self.placed.grain;
        let alone = threads == 1 || open.nest.work(self.placed) < work_per_launch;
        let numbers = self.placed.ty(item.result).dtype != DType::Bool;
        numbers && blocked.is_empty() && ascending.iter().all(|axis| *axis < open.long) && !faults && alone
    }

    /// The axes that all sums of a nest are over, where lanes can be along another: what is in memory of the whole
    /// domain is gone through in its order.
    fn outer(&self, open: &Open) -> Option<Vec<usize>> {
        let axes = open.nest.accumulated().next()?;
        let lanes = (0..open.long).rev().find(|axis| !axes.contains(axis))?;
        let inner: Vec<usize> = axes.iter().copied().filter(|axis| *axis > lanes).collect();
        let along = |v: Val| {
            let strides = &self.placed.access(v).strides;
            strides[lanes] == 0 || inner.iter().all(|axis| strides[*axis] == 0)
        };
        let mut read = open.nest.operands().filter(|v| !open.members.contains(&self.placed.access(*v).root));
        let in_order = inner.is_empty() || read.all(along) && !self.ends.iter().any(|v| open.members.contains(v));
        (in_order && open.nest.accumulated().all(|others| others == axes)).then(|| axes.to_vec())
    }

    /// The reduction of a value of the open nest over axes of its domain.
    fn accumulate(&mut self, item: &OpItem, how: Reduction) {
        let axes = item.attrs.sizes("axes");
        let (kept, axes, _) = sum_axes(self.placed.ty(item.args[0]).rank(), &axes);
        let mut window =
            Access { strides: vec![0; kept.len() + axes.len()], ..self.placed.access(item.result).clone() };
        for (axis, stride) in kept.iter().zip(&self.placed.access(item.result).strides) {
            window.strides[*axis] = *stride;
        }
        let open = self.open.as_mut().expect("a reduction joins what computes its operand");
        open.in_components |= open.long < open.nest.shape.len();
        open.nest.outputs.push(NestOutput::Accumulate {
            value: item.result,
            source: item.args[0],
            window,
            axes,
            rows: None,
            how,
        });
    }

    /// Whether reading a value in the open nest does not meet a window that it writes.
    fn harmless(&self, open: &Open, value: Val) -> bool {
        let access = self.placed.access(value);
        open.nest.outputs.iter().all(|output| match output {
            NestOutput::Write { value, base, window, .. } => {
                *base != access.root || same_place(access, window) || self.turns.contains(value)
            }
            NestOutput::Store { .. } | NestOutput::Accumulate { .. } | NestOutput::Reduce { .. } => true,
        })
    }

    /// Whether raw code reads a value, directly or through a view.
    fn reads(&self, raw: &Raw, root: Val) -> bool {
        let mut found = false;
        reads(raw, &mut |value| found |= self.placed.access(value).root == root);
        found
    }

    /// Whether a view of this shape is one run of equal strides, so that a single loop walks it.
    fn is_flat(&self, value: Val, shape: &[usize]) -> bool {
        collapses(self.placed.access(value), shape, &(0..shape.len()).collect::<Vec<_>>())
    }

    fn nest_is_flat(&self, nest: &Nest) -> bool {
        let iota = nest.shape.len() > 1 && nest.rows.iter().any(|item| item.def.lowering == Lowering::Iota);
        let divides = nest.rows.iter().any(|item| self.placed.divisions.contains_key(&item.result));
        let members: BTreeSet<Val> = nest.rows.iter().map(|item| item.result).collect();
        let windows =
            nest.outputs.iter().all(|root| !matches!(root, NestOutput::Write { .. } | NestOutput::Accumulate { .. }));
        !iota && !divides && windows && nest.operands().all(|v| members.contains(&v) || self.is_flat(v, &nest.shape))
    }

    fn open(&mut self, shape: &[usize]) -> &mut Open {
        let long = long_axes(shape, self.placed.grain);
        self.open.get_or_insert_with(|| Open::new(shape, long))
    }

    /// The open nest for code over this shape, which is of components where it cannot join otherwise.
    fn open_for(&mut self, shape: &[usize], args: &[Val]) -> &mut Open {
        let joins = self.joins(shape, args);
        let open = self.open(shape);
        open.in_components |= !joins;
        open
    }

    fn take(&mut self, raw: Raw) {
        match raw {
            Raw::Op(item) => self.take_row(item),
            Raw::Copy { result, source } => {
                let shape = self.placed.ty(result).shape.clone();
                self.open_for(&shape, &[source]).nest.outputs.push(NestOutput::Store { value: result, source });
            }
            Raw::Write { value, base, source, window, index, how } => {
                let source = if self.turns.contains(&value) { source } else { self.apart(source, base, &window) };
                let index = index.map(|index| Index { given: self.apart(index.given, base, &window), ..index });
                let shape = self.placed.ty(source).shape.clone();
                self.open(&shape).nest.outputs.push(NestOutput::Write {
                    value,
                    base,
                    source,
                    window,
                    index,
                    how,
                    copies: false,
                });
            }
            Raw::Node(node) => {
                node.results().iter().for_each(|v| self.pending.remove(v));
                self.nodes.push(node);
            }
        }
    }

    fn take_row(&mut self, item: OpItem) {
        let scalar = self.placed.is_scalar(item.result);
        match item.def.lowering {
            Lowering::Reduce(how) if scalar => {
                let source = if self.open.is_none() { self.flat_copy(item.args[0]) } else { item.args[0] };
                let shape = self.placed.ty(source).shape.clone();
                self.open(&shape).nest.outputs.push(NestOutput::Reduce { value: item.result, source, how });
            }
            Lowering::Reduce(_) if self.reduces_components(&item) => {
                let shape = self.placed.ty(item.args[0]).shape.clone();
                self.open(&shape).in_components = true;
                self.push_row(item);
            }
            Lowering::Reduce(how) if self.accumulates(&item) => self.accumulate(&item, how),
            Lowering::Reduce(how) => {
                let axes = item.attrs.sizes("axes");
                let (_, _, blocked) = sum_axes(self.placed.ty(item.args[0]).rank(), &axes);
                let operand = self.collapsed(item.args[0], &blocked);
                self.alone(Node::Reduce { result: item.result, operand, axes, how }, item.result);
            }
            Lowering::Dot => {
                let contraction = self.contraction(&item);
                self.alone(contraction, item.result);
            }
            Lowering::Scan(scan) => {
                let axis = item.attrs.sizes("axis")[0];
                self.alone(Node::Scan { result: item.result, operands: item.args, axis, scan }, item.result);
            }
            Lowering::Map(_) | Lowering::Convert | Lowering::Iota | Lowering::Constant if scalar => {
                let result = item.result;
                self.alone(Node::Scalar(item), result);
            }
            Lowering::Map(_) | Lowering::Convert | Lowering::Iota | Lowering::Constant | Lowering::Pick(_) => {
                let shape = self.placed.ty(item.result).shape.clone();
                self.open_for(&shape, &item.args);
                self.push_row(item);
            }
            Lowering::View(_) | Lowering::Write(_) | Lowering::Scatter(..) => {
                panic!("views and writes are raw code of their own")
            }
            Lowering::Composed(_)
            | Lowering::Routine(_)
            | Lowering::Factored(..)
            | Lowering::Probe
            | Lowering::Check
            | Lowering::Missing => {
                panic!("only rows with loops of their own are placed")
            }
        }
    }

    fn push_row(&mut self, item: OpItem) {
        let open = self.open.as_mut().expect("a row has opened its nest");
        open.length += self.placed.components(item.result, open.long);
        open.members.insert(item.result);
        open.nest.rows.push(item);
    }

    fn alone(&mut self, node: Node, result: Val) {
        self.pending.remove(&result);
        self.nodes.push(node);
    }

    /// A copy of a view in memory of its own, computed right away.
    pub(super) fn copy(&mut self, source: Val) -> Val {
        let ty = self.placed.ty(source).clone();
        let value = self.placed.define(ty.clone());
        self.nodes.push(Node::Nest(Nest {
            shape: ty.shape,
            rows: vec![],
            views: vec![],
            outer: vec![],
            outputs: vec![NestOutput::Store { value, source }],
        }));
        value
    }

    /// A source, or indices, that do not overlap the window in another place: `a[1:] = a[:-1]` reads all before it
    /// writes.
    fn apart(&mut self, source: Val, base: Val, window: &Access) -> Val {
        let access = self.placed.access(source);
        if access.root == base && !same_place(access, window) { self.copy(source) } else { source }
    }

    fn flat_copy(&mut self, source: Val) -> Val {
        let shape = self.placed.ty(source).shape.clone();
        if self.is_flat(source, &shape) { source } else { self.copy(source) }
    }

    /// Whether one loop can walk these axes: they lie in one run, or it is one number all over.
    fn walks(&self, operand: Val, shape: &[usize], axes: &[usize]) -> bool {
        collapses(self.placed.access(operand), shape, axes)
    }

    /// An operand whose axes can be walked by one loop.
    fn collapsed(&mut self, operand: Val, axes: &[usize]) -> Val {
        let shape = self.placed.ty(operand).shape.clone();
        if self.walks(operand, &shape, axes) { operand } else { self.copy(operand) }
    }

    /// Operands whose contracted axes can be walked by one loop: those that cannot are copied with these axes last.
    pub(super) fn dot_operands(&mut self, item: &OpItem) -> ([Val; 2], Attrs) {
        let types = [self.placed.ty(item.args[0]).clone(), self.placed.ty(item.args[1]).clone()];
        let axes = DotAxes::new(&item.attrs, types[0].rank(), types[1].rank());
        let mut sides = [(axes.lhs_contract, axes.lhs_batch), (axes.rhs_contract, axes.rhs_batch)];
        let mut operands = [item.args[0], item.args[1]];
        for (k, (contract, batch)) in sides.iter_mut().enumerate() {
            if self.walks(operands[k], &types[k].shape, contract) {
                continue;
            }
            let order: Vec<usize> =
                (0..types[k].rank()).filter(|axis| !contract.contains(axis)).chain(contract.iter().copied()).collect();
            let shape: Vec<usize> = order.iter().map(|axis| types[k].shape[*axis]).collect();
            let view = self.placed.define(crate::ir::Type::new(types[k].dtype, shape));
            let mut access = self.placed.access(operands[k]).clone();
            access.strides = order.iter().map(|axis| access.strides[*axis]).collect();
            self.placed.access[view.0 as usize] = access;
            operands[k] = self.copy(view);
            for axis in contract.iter_mut().chain(batch.iter_mut()) {
                *axis = order.iter().position(|other| other == axis).expect("every axis has a place");
            }
        }
        let [(lhs_contract, lhs_batch), (rhs_contract, rhs_batch)] = sides;
        (operands, DotAxes::attrs(&lhs_contract, &rhs_contract, &lhs_batch, &rhs_batch))
    }

    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let within = |v: &Val| !open.members.contains(v) && open.members.contains(&self.placed.access(*v).root);
        let views: Vec<Val> = open.nest.operands().filter(within).collect();
        // What is a view of a member is read from its registers: it is in memory only when the nest is done.
        if open.in_components || !views.is_empty() || self.is_better_in_components(&open) {
            open.nest.shape.truncate(open.long);
            open.nest.views = views;
        }
        open.nest.outer = self.outer(&open).unwrap_or_default();
        for value in open.members.iter().chain(open.nest.outputs.iter().map(NestOutput::value)) {
            self.pending.remove(value);
        }
        let [before, after] = layout::along_lanes(self.placed, &mut open.nest);
        self.nodes.extend(before.into_iter().chain([Node::Nest(open.nest)]).chain(after));
    }

    /// Whether the innermost loop of a nest would be one along a few components, because something that is read does
    /// not lie in one run with the axis before them.
    fn is_better_in_components(&self, open: &Open) -> bool {
        let shape = &open.nest.shape;
        if open.long == shape.len() || !open.splits(shape) || !is_short(&shape[open.long..]) {
            return false;
        }
        let inner: Vec<usize> = (open.long - 1..shape.len()).collect();
        !open.nest.operands().all(|v| open.members.contains(&v) || collapses(self.placed.access(v), shape, &inner))
    }
}

/// Whether a nest reads `base` anywhere but at the element of the window that is written.
pub(super) fn reads_beside(placed: &Placed, nest: &Nest, base: Val, window: &Access) -> bool {
    nest.operands().any(|v| {
        let access = placed.access(v);
        access.root == base && !same_place(access, window)
    })
}

/// Values that get another place than what they are made of. New values of carries that are the old ones but for a
/// window, which is most of them: double-buffered, the rest of both buffers is the same, and a step writes the window
/// alone. And arrays of which nothing stays.
fn turns(placed: &Placed, raws: &[Raw], carries: &[(Val, Val)]) -> BTreeSet<Val> {
    let carries: Vec<(Val, Val)> = carries.iter().flat_map(|carry| across_branches(raws, *carry)).collect();
    let turned = raws.iter().filter_map(|raw| match raw {
        Raw::Write { value, base, source, window, index: None, how: Write::Set } if window.dynamic.is_empty() => {
            let most = 2 * placed.ty(*source).elements() >= placed.ty(*base).elements();
            (most && carries.contains(&(*base, *value)) || placed.rewritten.contains_key(value)).then_some(*value)
        }
        Raw::Op(_) | Raw::Copy { .. } | Raw::Write { .. } | Raw::Node(_) => None,
    });
    turned.collect()
}

/// A carry before and after, also where a branch passes it on before its window is written, or after.
fn across_branches(raws: &[Raw], (param, next): (Val, Val)) -> Vec<(Val, Val)> {
    let (mut before, mut after) = (vec![param], vec![next]);
    for raw in raws {
        let Raw::Node(Node::If(branch)) = raw else { continue };
        for (j, result) in branch.results.iter().enumerate() {
            let ends = branch.ends.iter().map(|ends| ends[j]);
            before.extend(ends.clone().any(|end| end == param).then_some(*result));
            after.extend(ends.filter(|_| *result == next));
        }
    }
    before.iter().flat_map(|before| after.iter().map(|after| (*before, *after))).collect()
}

/// Whether an access is the window: the same elements of the same memory at the same indices.
fn same_place(access: &Access, window: &Access) -> bool {
    access.strides == window.strides && access.offset == window.offset && access.dynamic == window.dynamic
}

/// Whether consecutive axes of a view can be walked by one loop of one stride.
pub(crate) fn collapses(access: &Access, shape: &[usize], axes: &[usize]) -> bool {
    let long: Vec<usize> = axes.iter().copied().filter(|axis| shape[*axis] != 1).collect();
    long.windows(2).all(|pair| access.strides[pair[0]] == access.strides[pair[1]] * shape[pair[1]] as i64)
}

/// Tells all that raw code reads; of what is reached at run-time places, not where.
pub(super) fn reads(raw: &Raw, tell: &mut impl FnMut(Val)) {
    match raw {
        Raw::Op(item) => item.args.iter().for_each(|v| tell(*v)),
        Raw::Copy { source, .. } => tell(*source),
        Raw::Write { base, source, index, .. } => {
            tell(*base);
            tell(*source);
            index.iter().for_each(|index| tell(index.given));
        }
        Raw::Node(node) => node.reads(tell),
    }
}

/// What a raw defines.
pub(super) fn results(raw: &Raw) -> Vec<Val> {
    match raw {
        Raw::Op(item) => vec![item.result],
        Raw::Copy { result, .. } => vec![*result],
        Raw::Write { value, .. } => vec![*value],
        Raw::Node(node) => node.results(),
    }
}

/// Members of nests that are read elsewhere get memory.
fn store_roots(placed: &Placed, nodes: &mut [Node], ends: &[Val]) {
    if !nodes.iter().any(|node| matches!(node, Node::Nest(_))) {
        return;
    }
    let mut needed: BTreeSet<Val> = ends.iter().copied().collect();
    for node in nodes.iter() {
        node.reads(&mut |value| {
            needed.insert(placed.access(value).root);
        });
    }
    for node in nodes {
        let Node::Nest(nest) = node else { continue };
        let stores = nest.rows.iter().map(|item| item.result).filter(|v| needed.contains(v));
        let stores: Vec<NestOutput> = stores.map(|value| NestOutput::Store { value, source: value }).collect();
        nest.outputs.extend(stores);
    }
}
