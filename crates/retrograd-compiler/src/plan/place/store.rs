//! Finds memory for every array: in place wherever the old value is dead, straight into streams and tapes, by turns in
//! two places where a step reads neighbours of what it writes.

use std::collections::{BTreeMap, BTreeSet};

use super::group::reads_beside;
use super::parts::{self, Grain};
use super::tree::{
    Block, Branch, Carried, Drive, Emitted, Frame, FrameId, Home, Loop, Nest, Node, Onto, Placed, PointerId, Root,
    RowPlace, RowTime, Step, StepEnd, Store, StoreId, TrajectoryId, Val, While,
};
use super::turns::{Window, by_turns, window_of};
use crate::plan::schedule::Sweep;

/// Gives every array its home and every store its lifetime.
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
        lent: BTreeSet::new(),
    };
    assign.block(&mut body, &ends, Owned::default(), &mut Targets::default());
    placed.body = body;
}

struct Assign<'p> {
    placed: &'p mut Placed,
    clock: u32,
    /// Depth of the block that owns each store.
    owners: Vec<usize>,
    /// Stores used inside the node that is open at each depth: they live until it ends.
    open: Vec<Vec<StoreId>>,
    /// The frame of the map that is spread around here.
    frame: Option<FrameId>,
    /// What a branch passes on by its address, by its result: one of these is its memory.
    behind: BTreeMap<Val, Vec<Val>>,
    /// What was passed on so from outside of a branch: nobody may write there.
    lent: BTreeSet<Val>,
}

/// Values whose memory a block may overwrite once they are dead.
type Owned = BTreeSet<Val>;

/// Where a step would like its results.
#[derive(Default)]
struct Targets {
    /// By new value of a carry, or what becomes that in the same memory: the old value and where it is.
    carries: BTreeMap<Val, Target>,
    /// By old value of a carry: its second place.
    twins: BTreeMap<Val, (StoreId, PointerId)>,
    /// By emitted row: its place.
    rows: BTreeMap<Val, PointerId>,
    /// By end of a side of a branch that both sides make: memory for both.
    ends: BTreeMap<Val, StoreId>,
    /// By result of a branch that is a carry by turns, before its window is written or after: what sides pass on as
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
        for root in &nest.roots {
            if let Root::Write { base, .. } = root {
                elsewhere.insert(*base);
            }
        }
        let pointwise = seen.into_iter().filter(|root| !elsewhere.contains(root)).collect();
        NestReads { roots, pointwise }
    }
}

/// When each value is read last in a block; after the block for its ends.
struct LastUse {
    /// By value: its last reader, and how often that reads it.
    last: Vec<(Val, usize, usize)>,
}

const AFTER: usize = usize::MAX;

impl LastUse {
    fn new(placed: &Placed, block: &Block, ends: &[Val]) -> LastUse {
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
        LastUse { last }
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

    fn store(&mut self, bytes: u64) -> StoreId {
        self.store_at(bytes, self.depth())
    }

    fn store_at(&mut self, bytes: u64, owner: usize) -> StoreId {
        let id = StoreId(self.placed.stores.len() as u32);
        self.placed.stores.push(Store {
            bytes,
            start: self.clock,
            end: self.clock,
            offset: 0,
            frame: self.frame,
            output: None,
        });
        self.owners.push(owner);
        self.use_store(id);
        id
    }

    fn use_store(&mut self, id: StoreId) {
        let owner = self.owners[id.0 as usize];
        let store = &mut self.placed.stores[id.0 as usize];
        store.start = store.start.min(self.clock);
        if owner < self.depth() {
            self.open[owner].push(id);
        } else {
            let store = &mut self.placed.stores[id.0 as usize];
            store.end = store.end.max(self.clock);
        }
    }

    /// The memory that a value lives in is used now.
    fn touch(&mut self, value: Val) {
        let root = self.placed.access(value).root;
        if let Home::Store(id) = self.placed.home(root) {
            self.use_store(id);
        }
        for end in self.behind.get(&root).cloned().unwrap_or_default() {
            self.touch(end);
        }
    }

    fn bytes(&self, value: Val) -> u64 {
        self.placed.ty(value).bytes() as u64
    }

    fn set_home(&mut self, value: Val, home: Home) {
        self.placed.homes[value.0 as usize] = home;
        self.touch(value);
    }

    /// Memory for a block; what it ends with lives to its end.
    fn block(&mut self, block: &mut Block, ends: &[Val], mut owned: Owned, targets: &mut Targets) {
        let uses = LastUse::new(self.placed, block, ends);
        block.parts = parts::cut(self.placed, block, ends);
        if let Some(parts) = &mut block.parts {
            parts.frame = self.store(parts.bytes);
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
        block.parts.iter().for_each(|parts| self.use_store(parts.frame));
    }

    /// `is_cut` where the code around it becomes several functions, which share no addresses.
    fn node(
        &mut self,
        node: &mut Node,
        k: usize,
        uses: &LastUse,
        owned: &mut Owned,
        targets: &mut Targets,
        is_cut: bool,
    ) {
        match node {
            Node::Scalar(_) | Node::Load { .. } | Node::Clamp { .. } | Node::Probe { .. } => {}
            Node::Reduce { result, .. } | Node::Line { result, .. } => self.fresh(*result, k, uses, owned, targets),
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
            self.use_store(id);
        }
    }

    /// Memory that only one node uses.
    fn scratch(&mut self, value: Val) {
        let store = self.store(self.bytes(value));
        self.set_home(value, Home::Store(store));
    }

    /// Memory for a result that shares none with its arguments: that of the carry it replaces, if dead, or else the
    /// carry's second place; a row; or a store of its own.
    fn fresh(&mut self, value: Val, k: usize, uses: &LastUse, owned: &mut Owned, targets: &mut Targets) {
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
                self.twin(target.param, targets)
            };
            self.set_home(value, Home::Pointer(home));
            owned.insert(value);
        } else if let Some(row) = targets.rows.get(&whole) {
            self.set_home(value, Home::Pointer(*row));
            if whole != value {
                owned.insert(value);
            }
        } else {
            let store = targets.ends.get(&whole).copied().unwrap_or_else(|| self.store(self.bytes(value)));
            self.set_home(value, Home::Store(store));
            owned.insert(value);
        }
    }

    /// Memory for a result that goes on from an array: that of the array, where it dies here and is read only as this.
    fn onto(
        &mut self,
        value: Val,
        onto: &mut Option<Onto>,
        k: usize,
        uses: &LastUse,
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
    fn twin(&mut self, param: Val, targets: &mut Targets) -> PointerId {
        if let Some((_, twin)) = targets.twins.get(&param) {
            return *twin;
        }
        let (store, twin) = (self.store_at(self.bytes(param), self.depth() - 1), self.placed.pointer());
        targets.twins.insert(param, (store, twin));
        twin
    }

    fn nest(&mut self, nest: &mut Nest, k: usize, uses: &LastUse, owned: &mut Owned, targets: &mut Targets) {
        let reads = NestReads::new(self.placed, nest);
        let beside = |root: &Root| match root {
            Root::Write { value, base, window, .. } => reads_beside(self.placed, nest, *base, window).then_some(*value),
            Root::Store { .. } | Root::Accumulate { .. } | Root::Reduce { .. } => None,
        };
        let beside: Vec<Val> = nest.roots.iter().filter_map(beside).collect();
        for root in &mut nest.roots {
            match root {
                Root::Reduce { .. } => {}
                Root::Accumulate { value, rows, .. } => {
                    self.fresh(*value, k, uses, owned, targets);
                    rows.iter().for_each(|rows| self.scratch(*rows));
                }
                Root::Write { value, base, copies, .. } => {
                    let turns = targets.carries.get(value).is_some_and(|target| target.turns && target.base == *base);
                    let free = (turns && !self.lent.contains(base) || owned.contains(base)) && uses.dies_at(*base, k);
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
                Root::Store { value, .. } => match self.reusable(*value, &reads, k, uses, owned, targets) {
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

    /// The value whose memory a nest may store over: the carry that is replaced, or an argument that dies here and is
    /// read only at the element that is written.
    fn reusable(
        &self,
        value: Val,
        nest: &NestReads,
        k: usize,
        uses: &LastUse,
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
        uses: &LastUse,
        owned: &mut Owned,
        targets: &mut Targets,
        is_cut: bool,
    ) {
        let mut donated: Owned = owned.iter().copied().filter(|v| uses.dies_at(*v, k)).collect();
        // A carry by turns is overwritten in the end, so that nothing else that the branch gives may be made in its
        // memory.
        for [passed, _] in branch.results.iter().filter_map(|result| targets.turned.get(result)) {
            owned.remove(passed);
            if branch.results.iter().filter(|result| !self.placed.is_scalar(**result)).count() == 1 {
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
        let mut shared: BTreeMap<usize, StoreId> = BTreeMap::new();
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
            for (j, store) in &shared {
                targets.ends.entry(branch.ends[side][*j]).or_insert(*store);
            }
            self.block(&mut branch.blocks[side], &branch.ends[side], donated.clone(), &mut targets);
            self.clock
        });
        self.leave();
        owned.retain(|v| !donated.contains(v));
        let mut taken: Vec<Home> = self.turned(branch, targets);
        for j in arrays {
            if targets.turned.contains_key(&branch.results[j]) {
                continue;
            }
            let (result, ends) = (branch.results[j], [0, 1].map(|side| branch.ends[side][j]));
            let homes = ends.map(|end| self.placed.home(end));
            let outer = donated.iter().any(|v| self.placed.home(*v) == homes[0]);
            let free = |home: &Home| !taken.contains(home);
            let home = if homes[0] == homes[1] && outer && free(&homes[0]) {
                shared.get(&j).into_iter().for_each(|unused| self.placed.stores[unused.0 as usize].bytes = 0);
                homes[0]
            } else if !is_cut && !shared.contains_key(&j) && homes.iter().all(free) {
                branch.chosen.push(result);
                ends.iter().for_each(|end| self.lend(*end, owned));
                self.behind.insert(result, ends.to_vec());
                taken.extend(homes.into_iter().filter(|home| *home != Home::None));
                let address = self.placed.pointer();
                self.set_home(result, Home::Pointer(address));
                continue;
            } else {
                // What was not made there is written at the end of either side, while others of its ends still live.
                let store = shared.get(&j).copied().unwrap_or_else(|| self.later(self.bytes(result)));
                let start = &mut self.placed.stores[store.0 as usize].start;
                *start = joins[0].min(*start);
                Home::Store(store)
            };
            taken.push(home);
            self.set_home(result, home);
            owned.insert(result);
        }
    }

    /// Results of a branch that are carries by turns stay where the carry is; a side that changes one leaves it in both
    /// places. Returns those where they are.
    fn turned(&mut self, branch: &mut Branch, targets: &mut Targets) -> Vec<Home> {
        let mut taken = vec![];
        for (j, result) in branch.results.iter().enumerate() {
            let Some([passed, next]) = targets.turned.get(result).copied() else { continue };
            let target = targets.carries[&next];
            let places = [target.main, self.twin(target.param, targets)];
            let home = self.placed.home(passed);
            let other = places.into_iter().find(|place| Home::Pointer(*place) != home).expect("two places");
            for (doubled, ends) in branch.doubled.iter_mut().zip(&branch.ends) {
                doubled.extend((ends[j] != passed).then_some((ends[j], other)));
            }
            self.set_home(*result, home);
            taken.push(home);
        }
        taken
    }

    /// Memory that is in use from when it is first used on.
    fn later(&mut self, bytes: u64) -> StoreId {
        let id = StoreId(self.placed.stores.len() as u32);
        self.placed.stores.push(Store { bytes, start: u32::MAX, end: 0, offset: 0, frame: self.frame, output: None });
        self.owners.push(self.depth());
        id
    }

    /// What is passed on by its address belongs to nobody who could overwrite it, and lives in the block where it goes.
    fn lend(&mut self, value: Val, owned: &mut Owned) {
        owned.remove(&value);
        self.lent.insert(value);
        if let Home::Store(id) = self.placed.home(value) {
            let owner = &mut self.owners[id.0 as usize];
            *owner = self.open.len().min(*owner);
        }
        for end in self.behind.get(&value).cloned().unwrap_or_default() {
            self.lend(end, owned);
        }
    }

    /// Memory of carries that start from these values; a start value that dies here, and is read only as this, gives
    /// its own.
    fn carried(&mut self, inits: &[Val], k: usize, uses: &LastUse, owned: &mut Owned) -> Vec<Carried> {
        inits.iter().map(|init| self.carry(*init, k, uses, owned)).collect()
    }

    fn carry(&mut self, init: Val, k: usize, uses: &LastUse, owned: &mut Owned) -> Carried {
        if self.placed.is_scalar(init) {
            return Carried::Register;
        }
        let donated = owned.contains(&init) && uses.dies_at(init, k) && uses.read_once(init);
        let place = if donated { self.placed.home(init) } else { Home::Store(self.store(self.bytes(init))) };
        if donated {
            owned.remove(&init);
        }
        Carried::Memory { place, main: self.placed.pointer(), twin: None, turns: false, changes: false, donated }
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
            let store = self.store(self.bytes(stream.value));
            self.set_home(stream.value, Home::Store(store));
            owned.insert(stream.value);
        }
    }

    fn plain_loop(&mut self, node: &mut Loop, k: usize, uses: &LastUse, owned: &mut Owned) {
        let start = self.clock;
        self.emitted(&node.emitted, owned);
        node.carried = self.carried(&node.inits, k, uses, owned);
        by_turns(self.placed, &mut node.carried, &[&node.step]);
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
            self.use_store(self.placed.frames[frame.0 as usize].store);
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
        let frame = Frame { store: self.store(0), bytes: 0, chunk, chunks: steps.div_ceil(chunk) };
        self.placed.frames.push(frame);
        Some(FrameId(self.placed.frames.len() as u32 - 1))
    }

    /// The condition reads the carries where they are, before a step may overwrite them.
    fn while_loop(&mut self, node: &mut While, k: usize, uses: &LastUse, owned: &mut Owned) {
        let start = self.clock;
        let memory = node.held.as_ref().map_or(vec![], |(id, _)| self.trajectory(*id));
        node.carried = self.carried(&node.inits, k, uses, owned);
        by_turns(self.placed, &mut node.carried, &[&node.step]);
        self.enter();
        self.bind(&node.step, &node.carried);
        self.block(&mut node.cond, &[node.holds], Owned::default(), &mut Targets::default());
        self.step(&mut node.step, &mut node.carried, &[], &memory);
        self.leave();
        self.hold(start, &node.carried, &[]);
        self.results(&node.results, &node.carried, owned);
    }

    fn sweep(&mut self, drive: &mut Drive, k: usize, uses: &LastUse, owned: &mut Owned) {
        let start = self.clock;
        let memory = self.trajectory(drive.trajectory);
        self.emitted(&drive.emitted, owned);
        drive.carried = self.carried(&drive.inits, k, uses, owned);
        by_turns(
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

    fn reversal(&mut self, drive: &mut Drive, k: usize, uses: &LastUse, owned: &mut Owned) {
        let start = self.clock;
        let memory = match self.placed.trajectories[drive.trajectory.0 as usize].sweep {
            Sweep::Alone => self.trajectory(drive.trajectory),
            Sweep::Paired | Sweep::Online => self.placed.trajectories[drive.trajectory.0 as usize].memory(),
        };
        self.emitted(&drive.emitted, owned);
        drive.carried = self.carried(&drive.inits, k, uses, owned);
        let replays = drive.advance.is_some() || drive.turnback.is_some() || drive.tape.iter().any(Option::is_some);
        drive.working = drive.starts.iter().filter(|_| replays).map(|start| self.working(*start)).collect();
        by_turns(
            self.placed,
            &mut drive.working,
            &drive.advance.iter().chain(drive.tape.iter().flatten()).collect::<Vec<_>>(),
        );
        by_turns(
            self.placed,
            &mut drive.carried,
            &drive.turnback.iter().chain(drive.reverse.iter().flatten()).collect::<Vec<_>>(),
        );
        self.enter();
        // The start state can be restored until the last step is reversed.
        drive.starts.iter().for_each(|start| self.touch(*start));
        for step in [&mut drive.advance].into_iter().chain(&mut drive.tape).flatten() {
            self.step(step, &mut drive.working, &[], &memory);
        }
        for step in [&mut drive.turnback].into_iter().chain(&mut drive.reverse).flatten() {
            self.step(step, &mut drive.carried, &drive.working, &memory);
        }
        self.leave();
        memory.iter().for_each(|id| self.use_store(*id));
        self.hold(start, &drive.carried, &drive.emitted);
        self.hold(start, &drive.working, &[]);
        self.results(&drive.results, &drive.carried, owned);
    }

    /// Memory of a construct lives from its start to its end, whichever of its steps first needed it: steps run in any
    /// order.
    fn hold(&mut self, start: u32, carried: &[Carried], emitted: &[Emitted]) {
        for carry in carried {
            let Carried::Memory { place, twin, .. } = carry else { continue };
            if let Home::Store(id) = place {
                self.use_store(*id);
            }
            if let Some((id, _)) = twin {
                self.placed.stores[id.0 as usize].start = start;
                self.use_store(*id);
            }
        }
        emitted.iter().for_each(|stream| self.touch(stream.value));
    }

    fn working(&mut self, start: Val) -> Carried {
        if self.placed.is_scalar(start) {
            return Carried::Register;
        }
        let place = Home::Store(self.store(self.bytes(start)));
        Carried::Memory { place, main: self.placed.pointer(), twin: None, turns: false, changes: false, donated: false }
    }

    /// Controller and pool of a schedule.
    fn trajectory(&mut self, id: TrajectoryId) -> Vec<StoreId> {
        let id = id.0 as usize;
        let (words, bytes) = (
            (self.placed.trajectories[id].schedule.words() as u64).saturating_mul(8),
            self.placed.trajectories[id].pool_bytes,
        );
        let (words, pool) = (self.store(words), self.store(bytes));
        let trajectory = &mut self.placed.trajectories[id];
        (trajectory.words, trajectory.pool) = (words, pool);
        trajectory.memory()
    }

    /// Array carries of a step are where their construct has them.
    fn bind(&mut self, step: &Step, carried: &[Carried]) {
        for ((param, _), carry) in step.carries.iter().zip(carried) {
            if let Carried::Memory { main, .. } = carry {
                self.placed.homes[param.0 as usize] = Home::Pointer(*main);
            }
        }
    }

    /// One step of a loop with the memory of its carries; `states` is where the working states are.
    fn step(&mut self, step: &mut Step, carried: &mut [Carried], states: &[Carried], memory: &[StoreId]) {
        self.clock += 1;
        memory.iter().for_each(|id| self.use_store(*id));
        let mut targets = Targets::default();
        let mut owned = Owned::new();
        self.bind(step, carried);
        for ((param, next), carry) in step.carries.iter().zip(carried.iter()) {
            let Carried::Memory { main, twin, turns, .. } = carry else { continue };
            // Of a carry by turns the old value is the rest of the next but one.
            if !turns {
                owned.insert(*param);
            }
            let window = window_of(self.placed, step, (*param, *next)).filter(|_| *turns);
            let base = window.as_ref().map_or(*param, |window| window.base);
            targets.carries.entry(*next).or_insert(Target { param: *param, base, main: *main, turns: *turns });
            targets.twins.extend(twin.map(|twin| (*param, twin)));
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
            if write.when == RowTime::After && self.placed.home(write.value) == Home::Pointer(write.pointer) {
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
            self.placed.homes[row.value.0 as usize] = Home::Pointer(pointer);
        }
    }

    fn step_end(&mut self, param: Val, next: Val, carry: &mut Carried, targets: &mut Targets) -> StepEnd {
        let Carried::Memory { main, twin, .. } = carry else { return StepEnd::Move };
        let end = match self.placed.home(next) {
            Home::Pointer(home) if home == *main => StepEnd::InPlace,
            Home::Pointer(home) if targets.twins.get(&param).is_some_and(|(_, pointer)| *pointer == home) => {
                StepEnd::Exchange
            }
            Home::None | Home::Register | Home::Input(_) | Home::Literal(_) | Home::Store(_) | Home::Pointer(_) => {
                self.twin(param, targets);
                StepEnd::Copy
            }
        };
        *twin = targets.twins.get(&param).copied();
        end
    }
}

/// What becomes the new value of a carry in the same memory would like to be where that is wanted: what is written to,
/// and one that a branch passes on. It dies there, and no other branch passes it on, so that it is changed in place.
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
                let written = nest.roots.iter().map(|root| match root {
                    Root::Write { base, value, window, .. } => {
                        (!reads_beside(placed, nest, *base, window)).then_some((*base, *value))
                    }
                    Root::Store { .. } | Root::Accumulate { .. } | Root::Reduce { .. } => None,
                });
                written.flatten().filter(|(base, _)| times(*base) == 0).collect()
            }
            Node::Scalar(_) | Node::Load { .. } | Node::Clamp { .. } | Node::Probe { .. } => vec![],
            Node::Reduce { .. } | Node::Line { .. } | Node::Dot { .. } | Node::Call(_) => vec![],
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
    /// All its stores.
    pub(super) fn memory(&self) -> Vec<StoreId> {
        vec![self.words, self.pool]
    }
}
