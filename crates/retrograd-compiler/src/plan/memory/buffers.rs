//! Buffer assignment: finds memory for every array, in place wherever the old value is dead, straight into streams and tapes,
//! double-buffered where a step reads neighbours of what it writes. Liveness of values says what may be overwritten,
//! aliases of what branches forward say what may not.

use std::collections::{BTreeMap, BTreeSet};

use super::double_buffer::{Window, double_buffered, window_of};
use super::group::reads_beside;
use super::outline;
use super::tree::{
    Block, Branch, Buffer, BufferId, Carried, Drive, Emitted, Frame, FrameId, Loop, Nest, NestOutput, Node, Onto,
    Placed, PointerId, RowPlace, RowTime, Step, StepEnd, Storage, TrajectoryId, Val, While,
};
use crate::plan::analysis::grain::Grain;
use retrograd_schedule::Sweep;

/// Gives every array its storage and every buffer its live range.
pub(super) fn assign(placed: &mut Placed) {
    let mut body = std::mem::take(&mut placed.body);
    let ends = placed.outputs.clone();
    let mut assign = Assign {
        placed,
        clock: 0,
        owners: vec![],
        open: vec![],
        frame: None,
        behind: BTreeMap::new(),
        aliased: BTreeSet::new(),
        backs: BTreeSet::new(),
    };
    assign.block(&mut body, &ends, Owned::default(), &mut Targets::default());
    placed.body = body;
}

struct Assign<'p> {
    placed: &'p mut Placed,
    clock: u32,
    /// Depth of the block that owns each buffer.
    owners: Vec<usize>,
    /// Buffers used inside the node that is open at each depth: they live until it ends.
    open: Vec<Vec<BufferId>>,
    /// The frame of the map that is spread around here.
    frame: Option<FrameId>,
    /// May-alias sets: what a branch forwards by its address, by its result; one of these is its memory.
    behind: BTreeMap<Val, Vec<Val>>,
    /// What was forwarded so from outside of a branch: nobody may write there.
    aliased: BTreeSet<Val>,
    /// Back buffers of carries.
    backs: BTreeSet<PointerId>,
}

/// Values whose memory a block may overwrite once they are dead.
type Owned = BTreeSet<Val>;

/// Where a step would like its results.
#[derive(Default)]
struct Targets {
    /// By new value of a carry, or what becomes that in the same memory: the old value and where it is.
    carries: BTreeMap<Val, Target>,
    /// By old value of a carry: its back buffer.
    back_buffers: BTreeMap<Val, (BufferId, PointerId)>,
    /// By emitted row: its place.
    rows: BTreeMap<Val, PointerId>,
    /// By end of a side of a branch that both sides make: memory for both.
    ends: BTreeMap<Val, BufferId>,
    /// By result of a branch that is a double-buffered carry, before its window is written or after: what sides forward as
    /// this, and the new value.
    turned: BTreeMap<Val, [Val; 2]>,
}

/// The memory of the carry that a value replaces.
#[derive(Clone, Copy)]
struct Target {
    param: Val,
    /// The old value, or what a branch makes of it, of which a window is written.
    base: Val,
    main: PointerId,
    /// As of [`Carried`].
    turns: bool,
}

/// What a nest reads in memory.
struct NestReads {
    /// Roots of its operands, in the order in which they are read.
    roots: Vec<Val>,
    /// Those that it reads only at the element that it is at, and writes no window of.
    pointwise: BTreeSet<Val>,
}

impl NestReads {
    fn new(placed: &Placed, nest: &Nest) -> NestReads {
        let members: BTreeSet<Val> =
            nest.rows.iter().map(|item| item.result).chain(nest.views.iter().copied()).collect();
        let (mut roots, mut elsewhere) = (vec![], BTreeSet::new());
        let mut seen = BTreeSet::new();
        for value in nest.operands() {
            let root = placed.access(value).root;
            if seen.insert(root) {
                roots.push(root);
            }
            if !members.contains(&value) && !placed.reads_here(value, &nest.shape) {
                elsewhere.insert(root);
            }
        }
        for root in &nest.outputs {
            if let NestOutput::Write { base, .. } = root {
                elsewhere.insert(*base);
            }
        }
        let pointwise = seen.into_iter().filter(|root| !elsewhere.contains(root)).collect();
        NestReads { roots, pointwise }
    }
}

/// When each value is read last in a block; after the block for its ends.
struct Liveness {
    /// By value: its last reader, and how often that reads it.
    last: Vec<(Val, usize, usize)>,
}

const AFTER: usize = usize::MAX;

impl Liveness {
    fn new(placed: &Placed, block: &Block, ends: &[Val]) -> Liveness {
        let mut last: Vec<(Val, usize, usize)> = vec![];
        for (k, node) in block.nodes.iter().enumerate() {
            node.reads(&mut |value| last.push((placed.access(value).root, k, 1)));
        }
        last.extend(ends.iter().map(|value| (placed.access(*value).root, AFTER, 1)));
        last.sort_unstable();
        // The last reader of each value takes the place of those before it.
        last.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                *kept = (later.0, later.1, if later.1 == kept.1 { kept.2 + 1 } else { 1 });
            }
            same
        });
        Liveness { last }
    }

    /// The last reader of a value, and how often that reads it.
    fn of(&self, value: Val) -> Option<(usize, usize)> {
        let at = self.last.binary_search_by_key(&value, |(value, ..)| *value).ok()?;
        Some((self.last[at].1, self.last[at].2))
    }

    fn dies_at(&self, value: Val, k: usize) -> bool {
        self.of(value).is_some_and(|(last, _)| last == k)
    }

    fn dead_before(&self, value: Val, k: usize) -> bool {
        self.of(value).is_none_or(|(last, _)| last < k)
    }

    fn read_once(&self, value: Val) -> bool {
        self.of(value).is_some_and(|(_, times)| times == 1)
    }
}

impl Assign<'_> {
    fn depth(&self) -> usize {
        self.open.len()
    }

    fn buffer(&mut self, bytes: u64) -> BufferId {
        self.buffer_at(bytes, self.depth())
    }

    fn buffer_at(&mut self, bytes: u64, owner: usize) -> BufferId {
        let id = BufferId(self.placed.buffers.len() as u32);
        self.placed.buffers.push(Buffer {
            bytes,
            start: self.clock,
            end: self.clock,
            offset: 0,
            frame: self.frame,
            output: None,
        });
        self.owners.push(owner);
        self.use_buffer(id);
        id
    }

    fn use_buffer(&mut self, id: BufferId) {
        let owner = self.owners[id.0 as usize];
        let buffer = &mut self.placed.buffers[id.0 as usize];
        buffer.start = buffer.start.min(self.clock);
        if owner < self.depth() {
            self.open[owner].push(id);
        } else {
            let buffer = &mut self.placed.buffers[id.0 as usize];
            buffer.end = buffer.end.max(self.clock);
        }
    }

    /// The memory that a value lives in is used now.
    fn touch(&mut self, value: Val) {
        let root = self.placed.access(value).root;
        if let Storage::Buffer(id) = self.placed.home(root) {
            self.use_buffer(id);
        }
        for end in self.behind.get(&root).cloned().unwrap_or_default() {
            self.touch(end);
        }
    }

    fn bytes(&self, value: Val) -> u64 {
        self.placed.ty(value).bytes() as u64
    }

    fn set_home(&mut self, value: Val, home: Storage) {
        self.placed.storage[value.0 as usize] = home;
        self.touch(value);
    }

    /// Memory for a block; what it ends with lives to its end.
    fn block(&mut self, block: &mut Block, ends: &[Val], mut owned: Owned, targets: &mut Targets) {
        let uses = Liveness::new(self.placed, block, ends);
        block.parts = outline::cut(self.placed, block, ends);
        if let Some(parts) = &mut block.parts {
            parts.frame = self.buffer(parts.bytes);
        }
        for (k, node) in block.nodes.iter_mut().enumerate() {
            self.clock += 1;
            let mut read = vec![];
            node.reads(&mut |value| read.push(value));
            read.into_iter().for_each(|value| self.touch(value));
            self.node(node, k, &uses, &mut owned, targets, block.parts.is_some());
        }
        self.clock += 1;
        ends.iter().for_each(|end| self.touch(*end));
        block.parts.iter().for_each(|parts| self.use_buffer(parts.frame));
    }

    /// `is_cut` where the code around it becomes several functions, which share no addresses.
    fn node(
        &mut self,
        node: &mut Node,
        k: usize,
        uses: &Liveness,
        owned: &mut Owned,
        targets: &mut Targets,
        is_cut: bool,
    ) {
        match node {
            Node::Scalar(_) | Node::Load { .. } | Node::Clamp { .. } | Node::Probe { .. } => {}
            Node::Reduce { result, .. } | Node::Scan { result, .. } => self.fresh(*result, k, uses, owned, targets),
            Node::Dot { result, onto, .. } => self.onto(*result, onto, k, uses, owned, targets),
            Node::Nest(nest) => self.nest(nest, k, uses, owned, targets),
            Node::Call(call) => {
                self.onto(call.result, &mut call.onto, k, uses, owned, targets);
                call.scratch.iter().for_each(|value| self.scratch(*value));
            }
            Node::If(branch) => self.branch(branch, k, uses, owned, targets, is_cut),
            Node::For(node) => self.plain_loop(node, k, uses, owned),
            Node::While(node) => self.while_loop(node, k, uses, owned),
            Node::Sweep(drive) => self.sweep(drive, k, uses, owned),
            Node::Reversal(drive) => self.reversal(drive, k, uses, owned),
        }
    }

    /// Opens a node: what it uses from outside lives until it closes.
    fn enter(&mut self) {
        self.open.push(vec![]);
    }

    fn leave(&mut self) {
        self.clock += 1;
        for id in self.open.pop().expect("a node is open") {
            self.use_buffer(id);
        }
    }

    /// Memory that only one node uses.
    fn scratch(&mut self, value: Val) {
        let buffer = self.buffer(self.bytes(value));
        self.set_home(value, Storage::Buffer(buffer));
    }

    /// Memory for a result that shares none with its arguments: that of the carry it replaces, if dead, or else the
    /// carry's back buffer; a row; or a buffer of its own.
    fn fresh(&mut self, value: Val, k: usize, uses: &Liveness, owned: &mut Owned, targets: &mut Targets) {
        if self.placed.is_scalar(value) {
            return;
        }
        // What is the start of an array goes where that is wanted.
        let whole = self.placed.rewritten.get(&value).copied().unwrap_or(value);
        if let Some(target) = targets.carries.get(&whole).copied() {
            let home = if owned.contains(&target.param) && uses.dead_before(target.param, k) {
                owned.remove(&target.param);
                target.main
            } else {
                self.back(target.param, targets)
            };
            self.set_home(value, Storage::Pointer(home));
            owned.insert(value);
        } else if let Some(row) = targets.rows.get(&whole) {
            self.set_home(value, Storage::Pointer(*row));
            if whole != value {
                owned.insert(value);
            }
        } else {
            let buffer = targets.ends.get(&whole).copied().unwrap_or_else(|| self.buffer(self.bytes(value)));
            self.set_home(value, Storage::Buffer(buffer));
            owned.insert(value);
        }
    }

    /// Memory for a result that goes on from an array: that of the array, where it dies here and is read only as this.
    fn onto(
        &mut self,
        value: Val,
        onto: &mut Option<Onto>,
        k: usize,
        uses: &Liveness,
        owned: &mut Owned,
        targets: &mut Targets,
    ) {
        match onto {
            Some(Onto { base, .. }) if owned.contains(base) && uses.dies_at(*base, k) && uses.read_once(*base) => {
                let home = self.placed.home(*base);
                owned.remove(base);
                self.set_home(value, home);
                owned.insert(value);
            }
            Some(Onto { copies, .. }) => {
                *copies = true;
                self.fresh(value, k, uses, owned, targets);
            }
            None => self.fresh(value, k, uses, owned, targets),
        }
    }

    /// The second place of a carry; it lives as long as the construct, which is the open node of the block outside.
    fn back(&mut self, param: Val, targets: &mut Targets) -> PointerId {
        if let Some((_, back)) = targets.back_buffers.get(&param) {
            return *back;
        }
        let (buffer, back) = (self.buffer_at(self.bytes(param), self.depth() - 1), self.placed.pointer());
        targets.back_buffers.insert(param, (buffer, back));
        self.backs.insert(back);
        back
    }

    fn nest(&mut self, nest: &mut Nest, k: usize, uses: &Liveness, owned: &mut Owned, targets: &mut Targets) {
        let reads = NestReads::new(self.placed, nest);
        let beside = |output: &NestOutput| match output {
            NestOutput::Write { value, base, window, .. } => {
                reads_beside(self.placed, nest, *base, window).then_some(*value)
            }
            NestOutput::Store { .. } | NestOutput::Accumulate { .. } | NestOutput::Reduce { .. } => None,
        };
        let beside: Vec<Val> = nest.outputs.iter().filter_map(beside).collect();
        for output in &mut nest.outputs {
            match output {
                NestOutput::Reduce { .. } => {}
                NestOutput::Accumulate { value, rows, .. } => {
                    self.fresh(*value, k, uses, owned, targets);
                    rows.iter().for_each(|rows| self.scratch(*rows));
                }
                NestOutput::Write { value, base, copies, .. } => {
                    let turns = targets.carries.get(value).is_some_and(|target| target.turns && target.base == *base);
                    let free =
                        (turns && !self.aliased.contains(base) || owned.contains(base)) && uses.dies_at(*base, k);
                    if free && !beside.contains(value) {
                        let home = self.placed.home(*base);
                        owned.remove(base);
                        self.set_home(*value, home);
                        owned.insert(*value);
                    } else {
                        *copies = !turns && !self.placed.rewritten.contains_key(value);
                        self.fresh(*value, k, uses, owned, targets);
                    }
                }
                NestOutput::Store { value, .. } => match self.reusable(*value, &reads, k, uses, owned, targets) {
                    Some(old) => {
                        owned.remove(&old);
                        self.set_home(*value, self.placed.home(old));
                        owned.insert(*value);
                    }
                    None => self.fresh(*value, k, uses, owned, targets),
                },
            }
        }
    }

    /// The value whose memory a nest may write over: the carry that is replaced, or an argument that dies here and is
    /// read only at the element that is written.
    fn reusable(
        &self,
        value: Val,
        nest: &NestReads,
        k: usize,
        uses: &Liveness,
        owned: &Owned,
        targets: &Targets,
    ) -> Option<Val> {
        let dies_here = |v: Val| {
            owned.contains(&v)
                && uses.dies_at(v, k)
                && nest.pointwise.contains(&v)
                && self.bytes(v) == self.bytes(value)
        };
        if let Some(target) = targets.carries.get(&value) {
            return dies_here(target.param).then_some(target.param);
        }
        if targets.rows.contains_key(&value) {
            return None;
        }
        let pinned = |v: Val| targets.carries.values().any(|target| target.param == v);
        nest.roots.iter().copied().find(|v| !pinned(*v) && dies_here(*v))
    }

    /// Memory for the results of a branch: that of what dies here, where both sides leave it there; none where a side
    /// passes on what is there: its address is enough; or else memory that both sides write to.
    fn branch(
        &mut self,
        branch: &mut Branch,
        k: usize,
        uses: &Liveness,
        owned: &mut Owned,
        targets: &mut Targets,
        is_cut: bool,
    ) {
        let mut donated: Owned = owned.iter().copied().filter(|v| uses.dies_at(*v, k)).collect();
        // The back buffer of a carry, and a carry with one, is overwritten in the end, so that nothing else that the branch
        // gives may be made in its memory.
        let gives_one = branch.results.iter().filter(|result| !self.placed.is_scalar(**result)).count() == 1;
        donated
            .retain(|v| gives_one || !matches!(self.placed.home(*v), Storage::Pointer(p) if self.backs.contains(&p)));
        for [passed, _] in branch.results.iter().filter_map(|result| targets.turned.get(result)) {
            owned.remove(passed);
            if gives_one {
                donated.insert(*passed);
            } else {
                donated.remove(passed);
            }
        }
        let made =
            [0, 1].map(|side| branch.blocks[side].nodes.iter().flat_map(Node::results).collect::<BTreeSet<Val>>());
        let passes = |side: usize, end: Val| !made[side].contains(&end);
        let arrays = |results: &[Val], placed: &Placed| {
            (0..results.len()).filter(|j| !placed.is_scalar(results[*j])).collect::<Vec<_>>()
        };
        let arrays = arrays(&branch.results, self.placed);
        let mut shared: BTreeMap<usize, BufferId> = BTreeMap::new();
        for j in arrays.iter().filter(|j| !targets.turned.contains_key(&branch.results[**j])) {
            if [0, 1].iter().all(|side| {
                !passes(*side, branch.ends[*side][*j]) || self.placed.idle.contains(&branch.ends[*side][*j])
            }) {
                shared.insert(*j, self.later(self.bytes(branch.results[*j])));
            }
        }
        self.enter();
        let joins = [0, 1].map(|side| {
            let mut targets = Targets::default();
            for (j, buffer) in &shared {
                targets.ends.entry(branch.ends[side][*j]).or_insert(*buffer);
            }
            self.block(&mut branch.blocks[side], &branch.ends[side], donated.clone(), &mut targets);
            self.clock
        });
        self.leave();
        owned.retain(|v| !donated.contains(v));
        let mut taken: Vec<Storage> = self.turned(branch, targets);
        for j in arrays {
            if targets.turned.contains_key(&branch.results[j]) {
                continue;
            }
            let (result, ends) = (branch.results[j], [0, 1].map(|side| branch.ends[side][j]));
            let homes = ends.map(|end| self.placed.home(end));
            let outer = donated.iter().any(|v| self.placed.home(*v) == homes[0]);
            let free = |home: &Storage| !taken.contains(home);
            let home = if homes[0] == homes[1] && outer && free(&homes[0]) {
                shared.get(&j).into_iter().for_each(|unused| self.placed.buffers[unused.0 as usize].bytes = 0);
                homes[0]
            } else if !is_cut && !shared.contains_key(&j) && homes.iter().all(free) {
                branch.chosen.push(result);
                ends.iter().for_each(|end| self.lend(*end, owned));
                self.behind.insert(result, ends.to_vec());
                taken.extend(homes.into_iter().filter(|home| *home != Storage::None));
                let address = self.placed.pointer();
                self.set_home(result, Storage::Pointer(address));
                continue;
            } else {
                // What was not made there is written at the end of either side, while others of its ends still live.
                let buffer = shared.get(&j).copied().unwrap_or_else(|| self.later(self.bytes(result)));
                let start = &mut self.placed.buffers[buffer.0 as usize].start;
                *start = joins[0].min(*start);
                Storage::Buffer(buffer)
            };
            taken.push(home);
            self.set_home(result, home);
            owned.insert(result);
        }
    }

    /// Results of a branch that are double-buffered carries stay where the carry is; a side that changes one leaves it in both
    /// places. Returns those where they are.
    fn turned(&mut self, branch: &mut Branch, targets: &mut Targets) -> Vec<Storage> {
        let mut taken = vec![];
        for (j, result) in branch.results.iter().enumerate() {
            let Some([passed, next]) = targets.turned.get(result).copied() else { continue };
            let target = targets.carries[&next];
            let places = [target.main, self.back(target.param, targets)];
            let home = self.placed.home(passed);
            let other = places.into_iter().find(|place| Storage::Pointer(*place) != home).expect("two places");
            for (both_buffers, ends) in branch.both_buffers.iter_mut().zip(&branch.ends) {
                both_buffers.extend((ends[j] != passed).then_some((ends[j], other)));
            }
            self.set_home(*result, home);
            taken.push(home);
        }
        taken
    }

    /// Memory that is in use from when it is first used on.
    fn later(&mut self, bytes: u64) -> BufferId {
        let id = BufferId(self.placed.buffers.len() as u32);
        self.placed.buffers.push(Buffer { bytes, start: u32::MAX, end: 0, offset: 0, frame: self.frame, output: None });
        self.owners.push(self.depth());
        id
    }

    /// What is forwarded by its address belongs to nobody who could overwrite it, and lives in the block where it goes.
    fn lend(&mut self, value: Val, owned: &mut Owned) {
        owned.remove(&value);
        self.aliased.insert(value);
        if let Storage::Buffer(id) = self.placed.home(value) {
            let owner = &mut self.owners[id.0 as usize];
            *owner = self.open.len().min(*owner);
        }
        for end in self.behind.get(&value).cloned().unwrap_or_default() {
            self.lend(end, owned);
        }
    }

    /// Memory of carries that start from these values; a start value that dies here, and is read only as this, gives
    /// its own.
    fn carried(&mut self, inits: &[Val], k: usize, uses: &Liveness, owned: &mut Owned) -> Vec<Carried> {
        inits.iter().map(|init| self.carry(*init, k, uses, owned)).collect()
    }

    fn carry(&mut self, init: Val, k: usize, uses: &Liveness, owned: &mut Owned) -> Carried {
        if self.placed.is_scalar(init) {
            return Carried::Register;
        }
        let donated = owned.contains(&init) && uses.dies_at(init, k) && uses.read_once(init);
        let place = if donated { self.placed.home(init) } else { Storage::Buffer(self.buffer(self.bytes(init))) };
        if donated {
            owned.remove(&init);
        }
        Carried::Memory { place, main: self.placed.pointer(), back: None, turns: false, changes: false, donated }
    }

    fn results(&mut self, results: &[Val], carried: &[Carried], owned: &mut Owned) {
        for (value, carried) in results.iter().zip(carried) {
            if let Carried::Memory { place, .. } = carried {
                self.set_home(*value, *place);
                owned.insert(*value);
            }
        }
    }

    fn emitted(&mut self, emitted: &[Emitted], owned: &mut Owned) {
        for stream in emitted {
            let buffer = self.buffer(self.bytes(stream.value));
            self.set_home(stream.value, Storage::Buffer(buffer));
            owned.insert(stream.value);
        }
    }

    fn plain_loop(&mut self, node: &mut Loop, k: usize, uses: &Liveness, owned: &mut Owned) {
        let start = self.clock;
        self.emitted(&node.emitted, owned);
        node.carried = self.carried(&node.inits, k, uses, owned);
        double_buffered(self.placed, &mut node.carried, &[&node.step]);
        // Threads do not share the steps of a map inside of one that they share.
        let around = self.frame;
        node.frame = if around.is_none() { self.frame(node) } else { None };
        self.enter();
        self.frame = around.or(node.frame);
        self.step(&mut node.step, &mut node.carried, &[], &[]);
        self.frame = around;
        self.leave();
        self.hold(start, &node.carried, &node.emitted);
        if let Some(frame) = node.frame {
            self.use_buffer(self.placed.frames[frame.0 as usize].buffer);
        }
        self.results(&node.results, &node.carried, owned);
    }

    /// Memory for the steps of a loop, where it is a map that is worth several threads: no step reads what another
    /// writes, and none shows anything.
    fn frame(&mut self, node: &Loop) -> Option<FrameId> {
        let Grain { threads, work_per_launch, .. } = self.placed.grain;
        let (steps, threads) = (node.steps?, threads as u64);
        let shows = node.step.block.nodes.iter().any(Node::has_effect);
        if !node.inits.is_empty() || shows || threads.min(steps) < 2 || node.work(self.placed) < work_per_launch {
            return None;
        }
        let chunk = steps.div_ceil(threads);
        let frame = Frame { buffer: self.buffer(0), bytes: 0, chunk, chunks: steps.div_ceil(chunk) };
        self.placed.frames.push(frame);
        Some(FrameId(self.placed.frames.len() as u32 - 1))
    }

    /// The condition reads the carries where they are, before a step may overwrite them.
    fn while_loop(&mut self, node: &mut While, k: usize, uses: &Liveness, owned: &mut Owned) {
        let start = self.clock;
        let memory = node.held.as_ref().map_or(vec![], |(id, _)| self.trajectory(*id));
        node.carried = self.carried(&node.inits, k, uses, owned);
        double_buffered(self.placed, &mut node.carried, &[&node.step]);
        self.enter();
        self.bind(&node.step, &node.carried);
        self.block(&mut node.cond, &[node.holds], Owned::default(), &mut Targets::default());
        self.step(&mut node.step, &mut node.carried, &[], &memory);
        self.leave();
        self.hold(start, &node.carried, &[]);
        self.results(&node.results, &node.carried, owned);
    }

    fn sweep(&mut self, drive: &mut Drive, k: usize, uses: &Liveness, owned: &mut Owned) {
        let start = self.clock;
        let memory = self.trajectory(drive.trajectory);
        self.emitted(&drive.emitted, owned);
        drive.carried = self.carried(&drive.inits, k, uses, owned);
        double_buffered(
            self.placed,
            &mut drive.carried,
            &drive.advance.iter().chain(drive.tape.iter().flatten()).collect::<Vec<_>>(),
        );
        self.enter();
        for step in [&mut drive.advance].into_iter().chain(&mut drive.tape).flatten() {
            self.step(step, &mut drive.carried, &[], &memory);
        }
        self.leave();
        self.hold(start, &drive.carried, &drive.emitted);
        self.results(&drive.results, &drive.carried, owned);
    }

    fn reversal(&mut self, drive: &mut Drive, k: usize, uses: &Liveness, owned: &mut Owned) {
        let start = self.clock;
        let memory = match self.placed.trajectories[drive.trajectory.0 as usize].sweep {
            Sweep::Joint => self.trajectory(drive.trajectory),
            Sweep::Split | Sweep::Online => self.placed.trajectories[drive.trajectory.0 as usize].memory(),
        };
        self.emitted(&drive.emitted, owned);
        drive.carried = self.carried(&drive.inits, k, uses, owned);
        let replays = drive.advance.is_some() || drive.youturn.is_some() || drive.tape.iter().any(Option::is_some);
        drive.working = drive.starts.iter().filter(|_| replays).map(|start| self.working(*start)).collect();
        double_buffered(
            self.placed,
            &mut drive.working,
            &drive.advance.iter().chain(drive.tape.iter().flatten()).collect::<Vec<_>>(),
        );
        double_buffered(
            self.placed,
            &mut drive.carried,
            &drive.youturn.iter().chain(drive.reverse.iter().flatten()).collect::<Vec<_>>(),
        );
        self.enter();
        // The start state can be restored until the last step is reversed.
        drive.starts.iter().for_each(|start| self.touch(*start));
        for step in [&mut drive.advance].into_iter().chain(&mut drive.tape).flatten() {
            self.step(step, &mut drive.working, &[], &memory);
        }
        for step in [&mut drive.youturn].into_iter().chain(&mut drive.reverse).flatten() {
            self.step(step, &mut drive.carried, &drive.working, &memory);
        }
        self.leave();
        memory.iter().for_each(|id| self.use_buffer(*id));
        self.hold(start, &drive.carried, &drive.emitted);
        self.hold(start, &drive.working, &[]);
        self.results(&drive.results, &drive.carried, owned);
    }

    /// Memory of a construct lives from its start to its end, whichever of its steps first needed it: steps run in any
    /// order.
    fn hold(&mut self, start: u32, carried: &[Carried], emitted: &[Emitted]) {
        for carry in carried {
            let Carried::Memory { place, back, .. } = carry else { continue };
            if let Storage::Buffer(id) = place {
                self.use_buffer(*id);
            }
            if let Some((id, _)) = back {
                self.placed.buffers[id.0 as usize].start = start;
                self.use_buffer(*id);
            }
        }
        emitted.iter().for_each(|stream| self.touch(stream.value));
    }

    fn working(&mut self, start: Val) -> Carried {
        if self.placed.is_scalar(start) {
            return Carried::Register;
        }
        let place = Storage::Buffer(self.buffer(self.bytes(start)));
        Carried::Memory { place, main: self.placed.pointer(), back: None, turns: false, changes: false, donated: false }
    }

    /// Controller and pool of a schedule.
    fn trajectory(&mut self, id: TrajectoryId) -> Vec<BufferId> {
        let id = id.0 as usize;
        let (words, bytes) = (
            (self.placed.trajectories[id].schedule.words() as u64).saturating_mul(8),
            self.placed.trajectories[id].pool_bytes,
        );
        let (words, pool) = (self.buffer(words), self.buffer(bytes));
        let trajectory = &mut self.placed.trajectories[id];
        (trajectory.words, trajectory.pool) = (words, pool);
        trajectory.memory()
    }

    /// Array carries of a step are where their construct has them.
    fn bind(&mut self, step: &Step, carried: &[Carried]) {
        for ((param, _), carry) in step.carries.iter().zip(carried) {
            if let Carried::Memory { main, .. } = carry {
                self.placed.storage[param.0 as usize] = Storage::Pointer(*main);
            }
        }
    }

    /// One step of a loop with the memory of its carries; `states` is where the working states are.
    fn step(&mut self, step: &mut Step, carried: &mut [Carried], states: &[Carried], memory: &[BufferId]) {
        self.clock += 1;
        memory.iter().for_each(|id| self.use_buffer(*id));
        let mut targets = Targets::default();
        let mut owned = Owned::new();
        self.bind(step, carried);
        for ((param, next), carry) in step.carries.iter().zip(carried.iter()) {
            let Carried::Memory { main, back, turns, .. } = carry else { continue };
            // Of a double-buffered carry the old value is the rest of the next but one.
            if !turns {
                owned.insert(*param);
            }
            let window = window_of(self.placed, step, (*param, *next)).filter(|_| *turns);
            let base = window.as_ref().map_or(*param, |window| window.base);
            targets.carries.entry(*next).or_insert(Target { param: *param, base, main: *main, turns: *turns });
            targets.back_buffers.extend(back.map(|back| (*param, back)));
            let own = targets.carries[next].param == *param;
            let Some(Window { base, value, .. }) = window.filter(|_| own) else { continue };
            targets.turned.extend((base != *param).then_some((base, [*param, *next])));
            targets.turned.extend((value != *next).then_some((*next, [value, *next])));
        }
        self.rows(step, states);
        for write in &mut step.emits {
            if let RowPlace::Stream(stream) = write.to {
                self.touch(stream);
            }
            let made_here = !step.carries.iter().any(|(param, _)| *param == write.value)
                && !step.rows.iter().any(|row| row.value == write.value);
            write.when = if made_here { RowTime::After } else { RowTime::Before };
            if made_here && !targets.carries.contains_key(&write.value) && !self.placed.is_scalar(write.value) {
                targets.rows.entry(write.value).or_insert(write.pointer);
            }
        }
        let next = step.carries.iter().map(|(_, next)| *next);
        let ends: Vec<Val> = next
            .chain(step.emits.iter().filter(|write| write.when == RowTime::After).map(|write| write.value))
            .collect();
        passed_on(self.placed, &step.block, &ends, &mut targets);
        self.block(&mut step.block, &ends, owned, &mut targets);
        for write in &mut step.emits {
            if write.when == RowTime::After && self.placed.home(write.value) == Storage::Pointer(write.pointer) {
                write.when = RowTime::Direct;
            }
        }
        step.ends = step
            .carries
            .iter()
            .zip(carried)
            .map(|((param, next), carry)| self.step_end(*param, *next, carry, &mut targets))
            .collect();
    }

    /// Rows that a step reads: arrays by address, scalars are loaded.
    fn rows(&mut self, step: &mut Step, states: &[Carried]) {
        for row in &mut step.rows {
            if let RowPlace::Stream(stream) = row.from {
                self.touch(stream);
            }
            if self.placed.is_scalar(row.value) {
                continue;
            }
            let pointer = match row.from {
                RowPlace::Stream(_) | RowPlace::Tape(_) => {
                    let pointer = self.placed.pointer();
                    row.pointer = Some(pointer);
                    pointer
                }
                RowPlace::State(k) => {
                    let Carried::Memory { main, .. } = states[k] else { panic!("array states live in memory") };
                    main
                }
            };
            self.placed.storage[row.value.0 as usize] = Storage::Pointer(pointer);
        }
    }

    fn step_end(&mut self, param: Val, next: Val, carry: &mut Carried, targets: &mut Targets) -> StepEnd {
        let Carried::Memory { main, back, .. } = carry else { return StepEnd::Move };
        let end = match self.placed.home(next) {
            Storage::Pointer(home) if home == *main => StepEnd::InPlace,
            Storage::Pointer(home) if targets.back_buffers.get(&param).is_some_and(|(_, pointer)| *pointer == home) => {
                StepEnd::Exchange
            }
            Storage::None
            | Storage::Register
            | Storage::Input(_)
            | Storage::Literal(_)
            | Storage::Buffer(_)
            | Storage::Pointer(_) => {
                self.back(param, targets);
                StepEnd::Copy
            }
        };
        *back = targets.back_buffers.get(&param).copied();
        end
    }
}

/// What becomes the new value of a carry in the same memory would like to be where that is wanted: what is written to,
/// and one that a branch forwards. It dies there, and no other branch forwards it, so that it is changed in place.
fn passed_on(placed: &Placed, block: &Block, ends: &[Val], targets: &mut Targets) {
    let made: BTreeSet<Val> = block.nodes.iter().flat_map(Node::results).collect();
    let mut read_later: BTreeSet<Val> = ends.iter().copied().collect();
    let passed = |node: &Node| if let Node::If(branch) = node { branch.ends.concat() } else { vec![] };
    let times = |value: Val| block.nodes.iter().flat_map(passed).filter(|end| *end == value).count();
    for node in block.nodes.iter().rev() {
        let steps: Vec<(Val, Val)> = match node {
            Node::If(branch) => {
                let first = |j: usize| {
                    branch.ends.iter().map(|ends| ends[j]).find(|end| made.contains(end) && times(*end) == 1)
                };
                branch.results.iter().enumerate().filter_map(|(j, after)| Some((first(j)?, *after))).collect()
            }
            Node::Nest(nest) => {
                let written = nest.outputs.iter().map(|output| match output {
                    NestOutput::Write { base, value, window, .. } => {
                        (!reads_beside(placed, nest, *base, window)).then_some((*base, *value))
                    }
                    NestOutput::Store { .. } | NestOutput::Accumulate { .. } | NestOutput::Reduce { .. } => None,
                });
                written.flatten().filter(|(base, _)| times(*base) == 0).collect()
            }
            Node::Scalar(_) | Node::Load { .. } | Node::Clamp { .. } | Node::Probe { .. } => vec![],
            Node::Reduce { .. } | Node::Scan { .. } | Node::Dot { .. } | Node::Call(_) => vec![],
            Node::For(_) | Node::While(_) | Node::Sweep(_) | Node::Reversal(_) => vec![],
        };
        for (before, after) in steps {
            let free =
                made.contains(&before) && !read_later.contains(&before) && !targets.carries.contains_key(&before);
            if let Some(target) = targets.carries.get(&after).copied().filter(|_| free) {
                targets.carries.insert(before, target);
            }
        }
        node.reads(&mut |value| _ = read_later.insert(placed.access(value).root));
    }
}

impl super::tree::Trajectory {
    /// All its buffers.
    pub(super) fn memory(&self) -> Vec<BufferId> {
        vec![self.words, self.pool]
    }
}
