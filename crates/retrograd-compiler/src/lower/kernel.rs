//! The loop IR: what every back end lowers.
//!
//! A [`Kernel`] is one native routine. It computes on registers (typed scalars and pointers) and memory. Scalar loops
//! carry values in registers, which are mutable variables: a loop simply assigns them. Vector loops ([`Stmt::ForVec`])
//! are explicit and data-parallel: registers assigned in their body are lanes. The width of a vector is not in the IR:
//! a back end picks it. Arithmetic is never changed here or below: no contraction, no reassociation; [`Scalar`] says
//! what each op means.

use crate::ir::{DType, Reduction, Scalar};
pub use crate::plan::memory::{Order, Probe};

/// A register: a mutable variable of fixed type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// The type of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegType {
    /// A number or truth value.
    Scalar(DType),
    /// An address.
    Pointer,
}

/// One native routine `fn(arena, inputs, outputs, fault)`; it also knows where to look whether to stop.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Types of all registers, by number.
    pub regs: Vec<RegType>,
    /// What it does.
    pub body: Vec<Stmt>,
    /// What [`Stmt::Part`] runs, by number.
    pub parts: Vec<Part>,
    /// Bytes of the arena.
    pub arena_bytes: usize,
    /// Bytes of outputs that it makes in the caller's memory; others are in the arena until they are copied, at the
    /// end.
    pub output_bytes: u64,
    /// Bytes on the disk.
    pub spill_bytes: u64,
    /// Literal arrays that the code reads, by number; they belong to the code, not to the arena.
    pub literals: Vec<crate::ir::Array>,
    /// What [`Stmt::Call`] calls, by number.
    pub calls: Vec<RoutineCall>,
    /// What is shown by [`Stmt::Probe`], by number.
    pub probes: Vec<Probe>,
    /// How many outermost loops say how far they are ([`Reached`]).
    pub loops: u32,
}

/// Code that is a function of its own.
#[derive(Clone, Debug)]
pub struct Part {
    /// Registers that hold, when it begins, what they hold where it is run. Whatever else it reads it has assigned
    /// before, and what it assigns is its own.
    pub params: Vec<Reg>,
    /// Of a part that is spread: i64 registers that hold its range, the first index and one past the last.
    pub range: Option<[Reg; 2]>,
    /// What it does.
    pub body: Vec<Stmt>,
}

/// A routine with all of a call that is the same in every run.
#[derive(Clone, Debug)]
pub struct RoutineCall {
    /// The function.
    pub routine: crate::ir::Routine,
    /// Its attributes.
    pub attrs: crate::ir::Attrs,
    /// Types of its arguments.
    pub args: Vec<crate::ir::Type>,
    /// Type of its result.
    pub result: crate::ir::Type,
    /// Types of its scratch arrays.
    pub scratch: Vec<crate::ir::Type>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stmt {
    /// `dst = value` for a literal; bits of the register's type, sign-extended (f32 in the low half).
    Literal {
        /// Where it goes.
        dst: Reg,
        /// The bits.
        bits: u64,
    },
    /// `dst = op(args)`; in a vector loop, per lane.
    Let {
        /// Where it goes.
        dst: Reg,
        /// What is computed.
        op: Scalar,
        /// From what; a register assigned outside a vector loop is the same for all its lanes.
        args: Vec<Reg>,
    },
    /// `dst = src`, of the same type (pointers too).
    Move {
        /// Where it goes.
        dst: Reg,
        /// From where.
        src: Reg,
    },
    /// Exchanges two registers of the same type (the front and the back buffer of an array carry).
    Swap(Reg, Reg),
    /// `dst = address of a buffer`.
    Pointer {
        /// Where it goes.
        dst: Reg,
        /// What it points to.
        to: Place,
    },
    /// `dst = address` computed from another pointer.
    Offset {
        /// Where it goes.
        dst: Reg,
        /// The address.
        address: Address,
    },
    /// `dst = *address`.
    Load {
        /// Where it goes; its type says how many bytes.
        dst: Reg,
        /// From where.
        from: Address,
    },
    /// `*address = src`.
    Store {
        /// To where.
        to: Address,
        /// What; its type says how many bytes.
        src: Reg,
    },
    /// Copies bytes between places that do not overlap, or are equal.
    Copy {
        /// To where.
        to: Address,
        /// From where.
        from: Address,
        /// How many bytes.
        bytes: u64,
    },
    /// Sets bytes to zero.
    Zero {
        /// Where.
        to: Address,
        /// How many bytes.
        bytes: u64,
    },
    /// `for index in from..to` upwards, or from `to − 1` down to `from`; no trips when `to <= from`. `index` is i64.
    For {
        /// The index; only the loop assigns it.
        index: Reg,
        /// First index.
        from: Reg,
        /// One past the last index. Read once, before the loop.
        to: Reg,
        /// Upwards or downwards.
        order: Order,
        /// One step.
        body: Vec<Stmt>,
    },
    /// A data-parallel loop over `0..count`: steps may run in any order and in lanes, except that reductions have their
    /// fixed order. The body holds only `Literal`, `Let`, `Move`, `Load` and `Store`; it assigns each register
    /// once; no step reads what another writes. Its last statement may be `OrderedScatter`.
    ForVec {
        /// The index (i64), a lane value.
        index: Reg,
        /// How many steps.
        count: u64,
        /// One step.
        body: Vec<Stmt>,
        /// Reductions over all steps.
        folds: Vec<Fold>,
    },
    /// A branch.
    If {
        /// A bool register.
        cond: Reg,
        /// Runs when it holds.
        then_body: Vec<Stmt>,
        /// Runs otherwise.
        else_body: Vec<Stmt>,
    },
    /// Runs its body until [`Stmt::Leave`].
    Loop {
        /// The body.
        body: Vec<Stmt>,
    },
    /// Leaves the innermost [`Stmt::Loop`].
    Leave,
    /// Starts a schedule controller in arena memory: `schedule::start(words, schedule, sweep, n)`.
    Start {
        /// Where its words are.
        words: Address,
        /// The schedule.
        schedule: retrograd_schedule::Schedule,
        /// With or without a shared first sweep.
        sweep: retrograd_schedule::Sweep,
        /// The number of steps.
        count: Reg,
        /// Where the schedule's table is, if it has one.
        table: Option<Reg>,
    },
    /// Asks a controller for its next action, as five i64 registers: kind (see [`ActionCode`]), from, to, place in the
    /// pool, choice.
    Next {
        /// Where its words are.
        words: Address,
        /// The schedule that it was started with.
        schedule: retrograd_schedule::Schedule,
        /// Where the schedule's table is, if it has one.
        table: Option<Reg>,
        /// Kind, from (or step), to, place in bytes (or −1 for the start value), choice.
        dst: [Reg; 5],
    },
    /// Writes bytes to the disk, with their sum after them; ends the routine here, with outputs undefined, where that
    /// fails.
    Spill {
        /// Where to.
        to: OnDisk,
        /// From where.
        from: Address,
        /// How many bytes.
        bytes: u64,
    },
    /// Reads bytes that [`Stmt::Spill`] wrote; ends the routine where that fails, or their sum is another.
    Fetch {
        /// To where.
        to: Address,
        /// Where from.
        from: OnDisk,
        /// How many bytes.
        bytes: u64,
    },
    /// Calls a routine over memory; result and scratch overlap nothing, every array lies in one run.
    Call {
        /// Number of the call.
        call: u32,
        /// Its arguments.
        args: Vec<Address>,
        /// Its result.
        result: Address,
        /// Its scratch arrays.
        scratch: Vec<Address>,
    },
    /// Runs the part of this number.
    Part(u32),
    /// Runs a part with a range over all of `0..count`, chunk by chunk, in any order and at the same time, or all of it
    /// as one range: no chunk reads what another writes, and none probes. Of faults the one of the lowest index is
    /// recorded; a chunk that faults or is stopped ends the routine.
    ParallelFor {
        /// Number of the part.
        part: u32,
        /// How many indices.
        count: u64,
        /// Indices of a chunk; the last may have fewer.
        chunk: u64,
    },
    /// Ends the routine here, with outputs undefined, if its caller wants it to stop.
    Poll {
        /// How far the run is, for a caller who wants to know; `None` where steps are run again.
        reached: Option<Reached>,
    },
    /// Shows a value, with the steps of the loops around it, to whoever observes the run.
    Probe {
        /// Number of the probe.
        site: u32,
        /// The value.
        seen: Seen,
        /// i64 registers: the indices of the loops, the outermost first.
        steps: Vec<Reg>,
    },
    /// Records a fault and ends the run, or the chunk of a [`Stmt::ParallelFor`], when the condition holds.
    Fault {
        /// A bool register.
        cond: Reg,
        /// Number of the fault site (the Executable maps it to kind and position).
        site: u32,
    },
    /// Writes of a vector loop whose steps may meet: those of the first step in their order, then those of the second,
    /// and so on. Nothing else in the loop touches their memory.
    OrderedScatter(Vec<OrderedWrite>),
}

/// A register or part that a statement names, and what it does with it.
#[derive(Debug)]
pub enum Mention<'s> {
    /// Takes what a register holds.
    Reads(&'s mut Reg),
    /// Gives a register another value.
    Assigns(&'s mut Reg),
    /// Takes what a register holds, and then gives it another value.
    Changes(&'s mut Reg),
    /// Runs a part, which reads its parameters.
    Runs(u32),
}

impl Stmt {
    /// Shows all that a statement and those inside it mention, in the order of a run.
    pub fn each_mention(&mut self, visit: &mut dyn FnMut(Mention<'_>)) {
        use Mention::{Assigns, Changes, Reads, Runs};
        match self {
            Stmt::Literal { dst, .. } | Stmt::Pointer { dst, .. } => visit(Assigns(dst)),
            Stmt::Let { dst, args, .. } => {
                args.iter_mut().for_each(|arg| visit(Reads(arg)));
                visit(Assigns(dst));
            }
            Stmt::Move { dst, src } => {
                visit(Reads(src));
                visit(Assigns(dst));
            }
            Stmt::Swap(a, b) => [a, b].into_iter().for_each(|reg| visit(Changes(reg))),
            Stmt::Offset { dst, address } | Stmt::Load { dst, from: address } => {
                address.each_mention(visit);
                visit(Assigns(dst));
            }
            Stmt::Store { to, src } => {
                to.each_mention(visit);
                visit(Reads(src));
            }
            Stmt::OrderedScatter(turns) => turns.iter_mut().for_each(|turn| {
                turn.to.each_mention(visit);
                visit(Reads(&mut turn.src));
            }),
            Stmt::Copy { to, from, .. } => [to, from].into_iter().for_each(|address| address.each_mention(visit)),
            Stmt::Zero { to, .. } => to.each_mention(visit),
            Stmt::For { index, from, to, body, .. } => {
                [from, to].into_iter().for_each(|reg| visit(Reads(reg)));
                visit(Assigns(index));
                body.iter_mut().for_each(|stmt| stmt.each_mention(visit));
            }
            Stmt::ForVec { index, body, folds, .. } => {
                visit(Assigns(index));
                body.iter_mut().for_each(|stmt| stmt.each_mention(visit));
                folds.iter_mut().for_each(|fold| visit(Reads(&mut fold.src)));
                folds.iter_mut().for_each(|fold| visit(Assigns(&mut fold.dst)));
            }
            Stmt::If { cond, then_body, else_body } => {
                visit(Reads(cond));
                then_body.iter_mut().chain(else_body).for_each(|stmt| stmt.each_mention(visit));
            }
            Stmt::Loop { body } => body.iter_mut().for_each(|stmt| stmt.each_mention(visit)),
            Stmt::Start { words, count, table, .. } => {
                words.each_mention(visit);
                [count].into_iter().chain(table).for_each(|reg| visit(Reads(reg)));
            }
            Stmt::Next { words, table, dst, .. } => {
                words.each_mention(visit);
                table.iter_mut().for_each(|reg| visit(Reads(reg)));
                dst.iter_mut().for_each(|reg| visit(Assigns(reg)));
            }
            Stmt::Call { args, result, scratch, .. } => {
                args.iter_mut().chain([result]).chain(scratch).for_each(|address| address.each_mention(visit));
            }
            Stmt::Spill { to: disk, from: memory, .. } | Stmt::Fetch { to: memory, from: disk, .. } => {
                [&mut disk.place, &mut disk.step].into_iter().for_each(|reg| visit(Reads(reg)));
                memory.each_mention(visit);
            }
            Stmt::Probe { seen, steps, .. } => {
                match seen {
                    Seen::Register(reg) => visit(Reads(reg)),
                    Seen::Memory(address) => address.each_mention(visit),
                }
                steps.iter_mut().for_each(|reg| visit(Reads(reg)));
            }
            Stmt::Fault { cond, .. } => visit(Reads(cond)),
            Stmt::Poll { reached } => {
                reached
                    .iter_mut()
                    .flat_map(|reached| [&mut reached.step].into_iter().chain(&mut reached.steps))
                    .for_each(|reg| visit(Reads(reg)));
            }
            Stmt::Part(part) | Stmt::ParallelFor { part, .. } => visit(Runs(*part)),
            Stmt::Leave => {}
        }
    }

    /// The statements inside it.
    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::For { body, .. } | Stmt::ForVec { body, .. } | Stmt::Loop { body } => vec![body],
            Stmt::If { then_body, else_body, .. } => vec![then_body, else_body],
            Stmt::Literal { .. }
            | Stmt::Let { .. }
            | Stmt::Move { .. }
            | Stmt::Swap(..)
            | Stmt::Pointer { .. }
            | Stmt::Offset { .. }
            | Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::Copy { .. }
            | Stmt::Zero { .. }
            | Stmt::Leave
            | Stmt::Start { .. }
            | Stmt::Next { .. }
            | Stmt::Spill { .. }
            | Stmt::Fetch { .. }
            | Stmt::Call { .. }
            | Stmt::Part(_)
            | Stmt::ParallelFor { .. }
            | Stmt::Poll { .. }
            | Stmt::Probe { .. }
            | Stmt::Fault { .. }
            | Stmt::OrderedScatter(_) => vec![],
        }
    }
}

impl Address {
    fn each_mention(&mut self, visit: &mut dyn FnMut(Mention<'_>)) {
        visit(Mention::Reads(&mut self.base));
        self.terms.iter_mut().for_each(|(reg, _)| visit(Mention::Reads(reg)));
    }
}

/// Where a state is on the disk, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OnDisk {
    /// Its place, in bytes from `first`.
    pub place: Reg,
    /// What places count from.
    pub first: u64,
    /// The step before which it is the state: part of its sum, because a place is used again.
    pub step: Reg,
}

/// `*to = op(*to, src)`, or `*to = src` where there is no op.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderedWrite {
    /// To where.
    pub to: Address,
    /// How it is combined with what is there.
    pub op: Option<Scalar>,
    /// What, a number.
    pub src: Reg,
}

/// How far an outermost loop is. The registers are read only when somebody asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reached {
    /// Number of the loop among those of the kernel, in the order in which they run.
    pub number: u32,
    /// Upwards or downwards.
    pub order: Order,
    /// An i64 register: the step.
    pub step: Reg,
    /// An i64 register: how many steps there are; `None` where only the end of the loop will tell.
    pub steps: Option<Reg>,
}

/// Where a value is that a probe sees.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    /// A scalar.
    Register(Reg),
    /// A contiguous array.
    Memory(Address),
}

/// What a pointer can point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// An offset in the arena.
    Arena(u64),
    /// An input of the caller.
    Input(u32),
    /// An output of the caller; holds anything at the beginning.
    Output(u32),
    /// A literal of the code.
    Literal(u32),
}

/// `base + Σ index·stride + offset`, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// A pointer register.
    pub base: Reg,
    /// i64 registers and their strides in bytes. In a vector loop the stride of the loop's index says how lanes lie:
    /// the element size is contiguous, 0 or absence is one element for all lanes, anything else lane by lane.
    pub terms: Vec<(Reg, i64)>,
    /// Constant offset.
    pub offset: i64,
}

/// The reduction of a lane value over all steps of a vector loop, in the fixed blocked order of `ops::sum`: chunks of
/// [`crate::ops::SUM_CHUNK`] steps; in a chunk [`crate::ops::SUM_LANES`] partial results from the unit, step k going to
/// partial k mod lanes; partials are combined pairwise (halves: l with l + lanes/2, then quarters, …); chunks are
/// combined in order, starting from the unit. What is the same in any order ([`Reduction::is_commutative`]) is taken in any.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fold {
    /// Gets the result after the loop; assigned by the loop. Its type is that of `src`.
    pub dst: Reg,
    /// The lane value, a number of the same type.
    pub src: Reg,
    /// How values are combined.
    pub how: Reduction,
}

/// Kinds of actions as machine code sees them; operands follow the order of [`Stmt::Next`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum ActionCode {
    /// Run steps from..to, recording nothing.
    Advance = 0,
    /// Copy the working state (before step `from`) to its place.
    Snapshot = 1,
    /// Copy from its place to the working state, which is then the state before step `from`.
    Restore = 2,
    /// Run steps from..to, recording them one after the other from the place on, by the choice.
    Tape = 3,
    /// Reverse steps from..to from their records.
    Reverse = 4,
    /// Reverse step `from` from the working state.
    Youturn = 5,
    /// The first sweep is over.
    Turn = 6,
    /// All steps are reversed.
    Done = 7,
    /// Write the working state (before step `from`) to the disk.
    Spill = 8,
    /// Read the state before step `from` from the disk.
    Fetch = 9,
    /// Run steps from..to; on the way the states of the slots after the first are copied, up to the last: the place and
    /// the choice.
    Ascend = 10,
    /// Reverse the steps below `to` from the slots up to the last, down to the first.
    Descend = 11,
    /// Reverse steps from..to, each by running those before it from the state at its place.
    Replay = 12,
}
