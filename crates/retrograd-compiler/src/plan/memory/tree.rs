//! The placed Program: control flow with its schedules, straight-line code gathered into loop nests, memory for every
//! array.
//!
//! Values are numbered once for the whole tree ([`Val`]); bodies refer to outer values directly, since every occurrence
//! of a body has its own copy. Rank-0 values live in registers, arrays have a [`Storage`].

use std::collections::{BTreeMap, BTreeSet};

use super::outline::Parts;
use crate::ir::{
    Array, Attrs, By, DType, ErrorKind, FuncId, Lowering, OpDef, Pos, Reduction, Routine, Scalar, Scan, Type, Write,
};
use crate::plan::analysis::grain::Grain;
use retrograd_schedule::{Schedule, Sweep};

/// A value of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Val(pub u32);

/// A piece of arena memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// An address that is known when its construct starts, and may change while it runs (a pair of buffers that are
/// exchanged, a row of a stream).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PointerId(pub u32);

/// One schedule with its memory: shared by the sweep and the reversal of one loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrajectoryId(pub u32);

/// Memory for the steps of a map that run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(pub u32);

/// A Program in the order and the memory in which it runs.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// Types of all values, by number.
    pub types: Vec<Type>,
    /// How each value is reached.
    pub access: Vec<Access>,
    /// Where each value lives.
    pub storage: Vec<Storage>,
    /// Inputs of the caller.
    pub inputs: Vec<Val>,
    /// Outputs of the caller.
    pub outputs: Vec<Val>,
    /// What runs.
    pub body: Block,
    /// Values of the main function, by their numbers there; of one that is made again, the last.
    pub main: Vec<Option<Val>>,
    /// Schedules.
    pub trajectories: Vec<Trajectory>,
    /// Arena memory.
    pub buffers: Vec<Buffer>,
    /// Memory of maps that are spread over threads.
    pub frames: Vec<Frame>,
    /// Number of pointers.
    pub pointers: u32,
    /// Literal arrays.
    pub literals: Vec<Array>,
    /// Places where a run can fault.
    pub faults: Vec<Fault>,
    /// Whether functions of the host are called.
    pub calls_host: bool,
    /// Probes.
    pub probes: Vec<Probe>,
    /// Integer divisions by their result, with their fault.
    pub divisions: BTreeMap<Val, u32>,
    /// Truths that are faults, by value: checks that failed.
    pub failures: BTreeMap<Val, u32>,
    /// Elements picked by run-time indices, by their value.
    pub picks: BTreeMap<Val, Index>,
    /// Arrays of which a window was written, by what they are when all the rest is written too, before anybody reads
    /// them: nothing stays of what they were before.
    pub rewritten: BTreeMap<Val, Val>,
    /// Ends of sides of branches that nobody reads, nor makes.
    pub idle: BTreeSet<Val>,
    /// Bytes of the arena and of outputs that are made in the caller's memory.
    pub bytes: u64,
    /// Bytes of outputs that are made in the caller's memory.
    pub output_bytes: u64,
    /// Bytes on the disk.
    pub spill_bytes: u64,
    /// How code is divided.
    pub grain: Grain,
}

/// A place where a run can fault, and what the error says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The user's line.
    pub pos: Pos,
    /// What happened.
    pub message: String,
}

/// A probe: what it is called, where it stands, and what it sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Its name.
    pub name: String,
    /// The user's line, and the part of the program.
    pub pos: Pos,
    /// The type of what it sees.
    pub ty: Type,
}

/// Where a value lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Nowhere: it is computed inside a nest, or is only a view.
    None,
    /// A register.
    Register,
    /// The caller's memory.
    Input(u32),
    /// A literal of the code.
    Literal(u32),
    /// Arena memory at a fixed place.
    Buffer(BufferId),
    /// Memory at an address that its construct sets.
    Pointer(PointerId),
}

/// Arena memory, or that of an output, with its lifetime on the clock of the tree, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// How many bytes.
    pub bytes: u64,
    /// First moment it is in use.
    pub start: u32,
    /// Last moment it is in use.
    pub end: u32,
    /// Where in the arena, or in its frame.
    pub offset: u64,
    /// The frame that it is part of.
    pub frame: Option<FrameId>,
    /// The output in whose memory it is: then it has no place in the arena.
    pub output: Option<u32>,
}

/// What the steps of a map use and nobody else does, as often as steps run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// All of it.
    pub buffer: BufferId,
    /// Bytes for one step.
    pub bytes: u64,
    /// Consecutive steps that use the same memory one after the other.
    pub chunk: u64,
    /// How many chunks there are.
    pub chunks: u64,
}

/// An affine view of a root: element (k_0, k_1, …) is at `offset + Σ k·stride + Σ dynamic`, in elements of the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The value that lives in memory or a register.
    pub root: Val,
    /// Stride of every axis.
    pub strides: Vec<i64>,
    /// Constant part.
    pub offset: i64,
    /// Run-time parts: an i64 register and its stride.
    pub dynamic: Vec<(Val, i64)>,
}

/// A run-time index for each element of a nest. An access reaches its element by the `clamped` register among its
/// dynamic parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// The index as given: a value over the domain.
    pub given: Val,
    /// A register: the index brought into 0..=last.
    pub clamped: Val,
    /// Largest index that fits.
    pub last: i64,
    /// Number of the fault.
    pub site: u32,
    /// Axes of the domain along which two elements may have the same place.
    pub meets: Vec<usize>,
}

/// Nodes in order.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// Its parts, where it is too long for one function.
    pub parts: Option<Parts>,
}

/// One thing that happens.
#[derive(Clone, Debug)]
pub enum Node {
    /// Rank-0 arithmetic in registers.
    Scalar(OpItem),
    /// A rank-0 value read from memory.
    Load {
        /// The register.
        result: Val,
        /// From where.
        from: Access,
    },
    /// An index brought into 0..=last, with a fault where it was not.
    Clamp {
        /// The register.
        result: Val,
        /// The index as given.
        index: Val,
        /// Largest index that fits.
        last: i64,
        /// Number of the fault.
        site: u32,
    },
    /// A value is shown to whoever observes the run.
    Probe {
        /// Number of the probe.
        site: u32,
        /// What it sees.
        operand: Val,
        /// Indices of the loops around it.
        steps: Vec<Val>,
    },
    /// Elementwise code over one domain.
    Nest(Nest),
    /// A reduction over some axes.
    Reduce {
        /// The result.
        result: Val,
        /// What is reduced.
        operand: Val,
        /// Over which axes.
        axes: Vec<usize>,
        /// How elements are combined.
        how: Reduction,
    },
    /// A walk along an axis.
    Scan {
        /// The result.
        result: Val,
        /// What is walked.
        operands: Vec<Val>,
        /// Along which axis.
        axis: usize,
        /// What is carried.
        scan: Scan,
    },
    /// A contraction.
    Dot {
        /// The result.
        result: Val,
        /// Left and right.
        operands: [Val; 2],
        /// Axes by role.
        attrs: Attrs,
        /// What its sums start from, if not from 0.
        onto: Option<Onto>,
    },
    /// A routine of the op table.
    Call(Box<Call>),
    /// A branch.
    If(Box<Branch>),
    /// A loop that nothing unwinds, or whose unwind stands alone.
    For(Box<Loop>),
    /// A loop whose steps end with a condition.
    While(Box<While>),
    /// A loop that is the first sweep of a schedule.
    Sweep(Box<Drive>),
    /// The reversal of a schedule.
    Reversal(Box<Drive>),
}

/// A call of a routine.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub routine: Routine,
    /// Its attributes.
    pub attrs: Attrs,
    /// What it reads, each in one run of memory.
    pub args: Vec<Val>,
    /// What it writes, an array; a rank-0 result is its only element.
    pub result: Val,
    /// What it needs while it runs.
    pub scratch: Vec<Val>,
    /// What is in the memory of the result before.
    pub onto: Option<Onto>,
}

/// An array that a result goes on from: in its memory, where that is dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Onto {
    /// The array before.
    pub base: Val,
    /// Whether the result got memory of its own, so that `base` is copied first.
    pub copies: bool,
}

/// A row of the op table over placed values.
#[derive(Clone, Debug)]
pub struct OpItem {
    /// The op.
    pub def: &'static OpDef,
    /// Its attributes.
    pub attrs: Attrs,
    /// What it reads.
    pub args: Vec<Val>,
    /// What it defines.
    pub result: Val,
    /// The user's line.
    pub pos: Pos,
}

/// Elementwise code over one domain, with what leaves it. Axes of a value behind those of the domain are its components
/// at each element.
#[derive(Clone, Debug)]
pub struct Nest {
    /// Extents of the domain.
    pub shape: Vec<usize>,
    /// Code per element, in order; of reductions, those over components.
    pub rows: Vec<OpItem>,
    /// Views of what is computed here that are read here, each at the element where it is computed.
    pub views: Vec<Val>,
    /// Axes that are its outer loops, before the others: all sums are over these, and lanes are along another.
    pub outer: Vec<usize>,
    /// What leaves it.
    pub outputs: Vec<NestOutput>,
}

/// What leaves a nest.
#[derive(Clone, Debug)]
pub enum NestOutput {
    /// Every element of `source` goes to the memory of `value`.
    Store {
        /// What is in memory afterwards.
        value: Val,
        /// Computed in the nest, or a view.
        source: Val,
    },
    /// Every element of `source` is written into a window of `base`, giving `value`.
    Write {
        /// The array afterwards.
        value: Val,
        /// The array before.
        base: Val,
        /// Computed in the nest, or a view.
        source: Val,
        /// The window, as an access of `value` over the domain.
        window: Access,
        /// The index for each element, if the window is not one.
        index: Option<Index>,
        /// How elements are written.
        how: Write,
        /// Whether `value` got memory of its own, so that `base` is copied first.
        copies: bool,
    },
    /// The reduction of every component over some axes of the domain, ascending: each element is combined with what is
    /// in memory, which starts from the unit.
    Accumulate {
        /// What is in memory afterwards.
        value: Val,
        /// Computed in the nest.
        source: Val,
        /// Where each element of the source goes, as an access of `value` over the domain and the components.
        window: Access,
        /// Which axes.
        axes: Vec<usize>,
        /// Scratch for a sum along the lanes: of some rows of the nest, the elements of one vector loop, component by
        /// component. The rows are combined after it, beside each other.
        rows: Option<Val>,
        /// How elements are combined.
        how: Reduction,
    },
    /// The blocked reduction of the whole domain.
    Reduce {
        /// A register.
        value: Val,
        /// Computed in the nest, or a view.
        source: Val,
        /// How elements are combined.
        how: Reduction,
    },
}

/// `if` with both branches.
#[derive(Clone, Debug)]
pub struct Branch {
    /// A bool register.
    pub predicate: Val,
    /// Then and else.
    pub blocks: [Block; 2],
    /// Results of then and else.
    pub ends: [Vec<Val>; 2],
    /// Results of the whole.
    pub results: Vec<Val>,
    /// Those of them that are where the side has them that runs: at an address that it tells.
    pub chosen: Vec<Val>,
    /// What each side writes to the back buffer, too: of a double-buffered carry all that it changes is in both.
    pub both_buffers: [Vec<(Val, PointerId)>; 2],
}

impl Branch {
    /// Without code yet.
    pub(super) fn on(predicate: Val) -> Branch {
        let nothing = || [(); 2].map(|()| vec![]);
        Branch {
            predicate,
            blocks: Default::default(),
            ends: nothing(),
            results: vec![],
            chosen: vec![],
            both_buffers: Default::default(),
        }
    }
}

/// A counted loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// How many steps.
    pub count: Val,
    /// How many steps, where known before the run.
    pub steps: Option<u64>,
    /// Its frame, where it is a map whose steps threads share.
    pub frame: Option<FrameId>,
    /// Upwards or downwards.
    pub order: Order,
    /// Start values of the carries.
    pub inits: Vec<Val>,
    /// Final values of the carries.
    pub results: Vec<Val>,
    /// Emitted streams, and whether rows beyond the count must be cleared.
    pub emitted: Vec<Emitted>,
    /// Memory of the carries.
    pub carried: Vec<Carried>,
    /// One step.
    pub step: Step,
}

/// A loop that runs as long as a condition holds; the index of its step counts the trips.
#[derive(Clone, Debug)]
pub struct While {
    /// Start values of the carries.
    pub inits: Vec<Val>,
    /// Final values of the carries.
    pub results: Vec<Val>,
    /// How many steps there were.
    pub trips: Val,
    /// Memory of the carries.
    pub carried: Vec<Carried>,
    /// Computes, from the carries before a step, whether it runs.
    pub cond: Block,
    /// A bool register of `cond`.
    pub holds: Val,
    /// One step.
    pub step: Step,
    /// The schedule of which it is the first sweep, and which carries are states, by state.
    pub held: Option<(TrajectoryId, Vec<usize>)>,
}

/// Direction of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// Ascending.
    Up,
    /// Descending.
    Down,
}

/// A stream that a loop emits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// The whole stream.
    pub value: Val,
    /// Whether rows may stay unwritten.
    pub clear: bool,
}

/// Memory of one array carry: its value is where `main` points; a step that cannot work in place writes to `back` and
/// exchanges the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// A register.
    Register,
    /// A front and maybe a back buffer; outside the construct the value is at `place`.
    Memory {
        /// Where it is before and after the construct.
        place: Storage,
        /// Where the value is now.
        main: PointerId,
        /// The back buffer and where it is now, if some step needs it.
        back: Option<(BufferId, PointerId)>,
        /// Whether all steps write one and the same window of it: what is outside is the same in every state, and in
        /// the back buffer once the start value was copied there.
        turns: bool,
        /// Of a double-buffered carry, whether branches change the rest, too: then a state that is restored is no rest of
        /// another.
        changes: bool,
        /// Whether the start value is there already.
        donated: bool,
    },
}

/// One step of a loop.
#[derive(Clone, Debug)]
pub struct Step {
    /// The index, an i64 register.
    pub index: Val,
    /// Carries: the value before and after.
    pub carries: Vec<(Val, Val)>,
    /// How each carry's new value gets into place.
    pub ends: Vec<StepEnd>,
    /// Values read by index.
    pub rows: Vec<RowRead>,
    /// Values written by index.
    pub emits: Vec<RowWrite>,
    /// The code.
    pub block: Block,
}

/// How the new value of a carry gets into place at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepEnd {
    /// It is there.
    InPlace,
    /// It is in the back buffer: exchange.
    Exchange,
    /// It is elsewhere: copy it to the back buffer, then exchange.
    Copy,
    /// A register: move.
    Move,
}

/// A value that a step reads by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowRead {
    /// The row as the step sees it.
    pub value: Val,
    /// From where.
    pub from: RowPlace,
    /// Its address in this step, where it is an array.
    pub pointer: Option<PointerId>,
}

/// A value that a step writes by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowWrite {
    /// The row as the step makes it.
    pub value: Val,
    /// To where.
    pub to: RowPlace,
    /// The address in this step.
    pub pointer: PointerId,
    /// When it gets there.
    pub when: RowTime,
}

/// When a row that a step writes gets into its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowTime {
    /// Copied before the step: the value exists then.
    Before,
    /// Computed right there.
    Direct,
    /// Copied after the step.
    After,
}

/// Where rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPlace {
    /// In a stream, by index.
    Stream(Val),
    /// In the record of the step, kept value number k.
    Tape(usize),
    /// The working state number k of the reversal.
    State(usize),
}

/// A schedule and its memory.
#[derive(Clone, Debug)]
pub struct Trajectory {
    /// The bwd of its unwind, by which a decision names it.
    pub bwd: FuncId,
    /// How many steps.
    pub count: Val,
    /// How many steps, where known before the run.
    pub steps: Option<u64>,
    /// The schedule.
    pub schedule: Schedule,
    /// With or without a shared first sweep.
    pub sweep: Sweep,
    /// Whether the driver does many actions of Revolve at once: where a state is a few numbers, steps are shorter than
    /// to ask for each. They stand in its code several times, so that it does not where a step has a schedule
    /// inside: copies of copies would grow with the power of the depth.
    pub runs: bool,
    /// Types of the state.
    pub state: Vec<Type>,
    /// Types of the values in a record, by choice.
    pub records: Vec<Vec<Type>>,
    /// Bytes of the pool.
    pub pool_bytes: u64,
    /// The controller's memory.
    pub words: BufferId,
    /// The controller's table, a literal.
    pub table: Option<u32>,
    /// States and records.
    pub pool: BufferId,
    /// Where its states on the disk begin; none where it has none.
    pub spill_at: Option<u64>,
}

/// What a native driver runs: the steps that the actions of a schedule ask for.
#[derive(Clone, Debug)]
pub struct Drive {
    /// The schedule.
    pub trajectory: TrajectoryId,
    /// How many steps.
    pub count: Val,
    /// The start state, where the reversal restores it; empty where it never does.
    pub starts: Vec<Val>,
    /// Start values: of the loop's carries (sweep), or of adjoints and running cotangents (reversal).
    pub inits: Vec<Val>,
    /// Their final values.
    pub results: Vec<Val>,
    /// Their memory.
    pub carried: Vec<Carried>,
    /// Emitted streams.
    pub emitted: Vec<Emitted>,
    /// Sweep: which carries are states, by state. Reversal: empty.
    pub states: Vec<usize>,
    /// Reversal: memory of the working states. Sweep: empty.
    pub working: Vec<Carried>,
    /// Action Advance.
    pub advance: Option<Step>,
    /// Action Tape, by choice.
    pub tape: Vec<Option<Step>>,
    /// Action Reverse, by choice.
    pub reverse: Vec<Option<Step>>,
    /// Action Youturn.
    pub youturn: Option<Step>,
}

impl Drive {
    /// All its steps.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        [&self.advance, &self.youturn].into_iter().chain(&self.tape).chain(&self.reverse).flatten()
    }
}

impl Placed {
    /// The type of a value.
    pub fn ty(&self, value: Val) -> &Type {
        &self.types[value.0 as usize]
    }

    /// How a value is reached.
    pub fn access(&self, value: Val) -> &Access {
        &self.access[value.0 as usize]
    }

    /// Where a value lives.
    pub fn home(&self, value: Val) -> Storage {
        self.storage[value.0 as usize]
    }

    /// Whether a value is a register.
    pub fn is_scalar(&self, value: Val) -> bool {
        self.ty(value).rank() == 0
    }
}

impl Placed {
    /// Whether a row can fault: by its index, its divisor or as a check.
    pub fn can_fault(&self, item: &OpItem) -> bool {
        let tables = [&self.divisions, &self.failures];
        tables.iter().any(|table| table.contains_key(&item.result)) || self.picks.contains_key(&item.result)
    }
}

impl OpItem {
    /// The scalar op that an elementwise row computes.
    pub fn scalar(&self) -> Scalar {
        match self.def.lowering {
            Lowering::Map(scalar) => scalar,
            Lowering::Convert => Scalar::Convert(self.attrs.dtype("dtype")),
            Lowering::Iota
            | Lowering::Constant
            | Lowering::View(_)
            | Lowering::Write(_)
            | Lowering::Pick(_)
            | Lowering::Scatter(..)
            | Lowering::Reduce(_)
            | Lowering::Dot
            | Lowering::Scan(_)
            | Lowering::Composed(_)
            | Lowering::Routine(_)
            | Lowering::Factored(..)
            | Lowering::Probe
            | Lowering::Check
            | Lowering::Missing => {
                panic!("elementwise rows only: {}", self.def.name)
            }
        }
    }
}

impl Access {
    /// A whole contiguous value.
    pub fn whole(root: Val, ty: &Type) -> Access {
        Access { root, strides: ty.strides().iter().map(|s| *s as i64).collect(), offset: 0, dynamic: vec![] }
    }

    /// Whether the elements of this view of the given shape lie in row-major order without gaps, wherever it starts.
    pub fn is_contiguous(&self, shape: &[usize]) -> bool {
        let strides = Type::new(DType::F64, shape).strides();
        shape.iter().zip(self.strides.iter().zip(&strides)).all(|(extent, (a, b))| *extent == 1 || *a == *b as i64)
    }
}

impl Node {
    /// Values that exist after this node and not before; those inside its blocks are not told.
    pub fn results(&self) -> Vec<Val> {
        match self {
            Node::Scalar(item) => vec![item.result],
            Node::Probe { .. } => vec![],
            Node::Load { result, .. } | Node::Clamp { result, .. } => vec![*result],
            Node::Reduce { result, .. } | Node::Dot { result, .. } | Node::Scan { result, .. } => vec![*result],
            Node::Nest(nest) => nest.outputs.iter().map(|root| *root.value()).collect(),
            Node::Call(call) => vec![call.result],
            Node::If(branch) => branch.results.clone(),
            Node::For(node) => node.results.iter().copied().chain(node.emitted.iter().map(|e| e.value)).collect(),
            Node::While(node) => node.results.iter().copied().chain([node.trips]).collect(),
            Node::Sweep(drive) | Node::Reversal(drive) => {
                drive.results.iter().copied().chain(drive.emitted.iter().map(|e| e.value)).collect()
            }
        }
    }

    /// Whether it, or a block inside it, shows something, or calls the host.
    pub fn has_effect(&self) -> bool {
        let step = |step: &Step| step.block.nodes.iter().any(Node::has_effect);
        match self {
            Node::Probe { .. } => true,
            Node::Scalar(_) | Node::Load { .. } | Node::Clamp { .. } | Node::Nest(_) => false,
            Node::Reduce { .. } | Node::Dot { .. } | Node::Scan { .. } => false,
            Node::Call(call) => call.routine.by != By::Code,
            Node::If(branch) => branch.blocks.iter().flat_map(|block| &block.nodes).any(Node::has_effect),
            Node::For(node) => step(&node.step),
            Node::While(node) => step(&node.step) || node.cond.nodes.iter().any(Node::has_effect),
            Node::Sweep(drive) | Node::Reversal(drive) => {
                let alike = [&drive.advance, &drive.youturn].into_iter();
                alike.chain(&drive.tape).chain(&drive.reverse).flatten().any(step)
            }
        }
    }

    /// Whether it, or a block inside it, computes such a row.
    pub fn any_row(&self, found: &mut impl FnMut(&OpItem) -> bool) -> bool {
        let mut any = |nodes: &[Node]| nodes.iter().any(|node| node.any_row(&mut *found));
        match self {
            Node::Scalar(item) => found(item),
            Node::Nest(nest) => nest.rows.iter().any(found),
            Node::Probe { .. } | Node::Load { .. } | Node::Clamp { .. } => false,
            Node::Reduce { .. } | Node::Dot { .. } | Node::Scan { .. } | Node::Call(_) => false,
            Node::If(branch) => branch.blocks.iter().any(|block| any(&block.nodes)),
            Node::For(node) => any(&node.step.block.nodes),
            Node::While(node) => any(&node.cond.nodes) || any(&node.step.block.nodes),
            Node::Sweep(drive) | Node::Reversal(drive) => drive.steps().any(|step| any(&step.block.nodes)),
        }
    }

    /// Tells every value that this node or a block inside it reads. Values that are made and used inside are told too,
    /// except those that a nest makes and uses itself.
    pub fn reads(&self, tell: &mut impl FnMut(Val)) {
        match self {
            Node::Scalar(item) => item.args.iter().for_each(|v| tell(*v)),
            Node::Load { from, .. } => from.reads(tell),
            Node::Clamp { index, .. } => tell(*index),
            Node::Probe { operand, .. } => tell(*operand),
            Node::Reduce { operand, .. } => tell(*operand),
            Node::Scan { operands, .. } => operands.iter().for_each(|v| tell(*v)),
            Node::Dot { operands, onto, .. } => {
                operands.iter().chain(onto.iter().map(|onto| &onto.base)).for_each(|v| tell(*v))
            }
            Node::Nest(nest) => nest.reads(tell),
            Node::Call(call) => call.args.iter().chain(call.onto.iter().map(|onto| &onto.base)).for_each(|v| tell(*v)),
            Node::If(branch) => {
                tell(branch.predicate);
                branch.ends.iter().flatten().for_each(|v| tell(*v));
                branch.blocks.iter().flat_map(|block| &block.nodes).for_each(|node| node.reads(tell));
            }
            Node::For(node) => {
                tell(node.count);
                node.inits.iter().for_each(|v| tell(*v));
                node.step.reads(tell);
            }
            Node::While(node) => {
                node.inits.iter().for_each(|v| tell(*v));
                node.cond.nodes.iter().for_each(|node| node.reads(tell));
                tell(node.holds);
                node.step.reads(tell);
            }
            Node::Sweep(drive) | Node::Reversal(drive) => {
                tell(drive.count);
                drive.inits.iter().chain(&drive.starts).for_each(|v| tell(*v));
                drive.steps().for_each(|step| step.reads(tell));
            }
        }
    }
}

impl Step {
    fn reads(&self, tell: &mut impl FnMut(Val)) {
        self.carries.iter().for_each(|(_, next)| tell(*next));
        for row in &self.rows {
            if let RowPlace::Stream(stream) = row.from {
                tell(stream);
            }
        }
        self.emits.iter().for_each(|write| tell(write.value));
        self.block.nodes.iter().for_each(|node| node.reads(tell));
    }
}

impl Access {
    fn reads(&self, tell: &mut impl FnMut(Val)) {
        tell(self.root);
        self.dynamic.iter().for_each(|(start, _)| tell(*start));
    }
}
