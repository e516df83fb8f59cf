//! Rematerialisation: what of the code outside of loops runs again so that less is held.
//!
//! A value that is read again long after it was made can be made again just before: the same instructions on the same
//! values, so the same bits. What is an array in memory is seen from a placed Program, because a nest keeps nothing of
//! what it computes for itself. From there on it is arithmetic (`optimal::rematerialise`): orders of runs, each with its
//! work and about its bytes. `place` then says exactly.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Function, Inst, Lowering, Op, Program, Value};
use crate::plan::analysis::work::{Priced, SimdTarget};
use crate::plan::decision::Rematerialised;
use crate::plan::memory::{Placed, Storage};
use crate::plan::search::cut::{Fate, Search};
use crate::plan::search::facts::{Fates, Residual, readers};
use retrograd_schedule::optimal::chain::{Chain, First, Table};
use retrograd_schedule::optimal::closure::{Closure, Maker};
use retrograd_schedule::optimal::rematerialise::{Code, Item, Order, Run};

/// Stages of a chain at most; units of its memory; limits of it that are tried.
const STAGES: usize = 40;
const UNITS: usize = 160;
const CHAIN_LIMITS: usize = 16;

/// Items at most whose values are cut; values at most that are searched, and nodes of a search.
const ITEMS_CUT: usize = 1500;
const VALUES_SEARCHED: usize = 24;
const NODES: usize = 1000;

/// Limits that a search is made for.
const LIMITS: u64 = 8;

/// The main function as code that can run again.
pub(in crate::plan) struct Straight<'p> {
    program: &'p Program,
    priced: Priced<'p>,
    code: Code,
    /// The instruction of each item.
    insts: Vec<usize>,
    /// Instructions that an item computes for itself: views, and what a nest does not store.
    folded: Vec<Vec<usize>>,
    /// What is known of each value.
    values: Vec<Known>,
    /// The instruction that makes each value of the Program.
    definitions: Vec<Option<usize>>,
    /// Where the most is held.
    turn: usize,
}

/// A value of the main function.
struct Known {
    value: Value,
    fate: Option<Fate>,
    /// Whether it could be made again, whatever the user decided.
    movable: bool,
}

impl<'p> Straight<'p> {
    pub(in crate::plan) fn new(
        program: &'p Program,
        vectors: SimdTarget,
        placed: &Placed,
        fates: Fates<'_>,
    ) -> Straight<'p> {
        let main = program.main();
        let (definitions, priced) = (definitions(main), vectors.priced(program, main));
        let mut seen = Seen { main, definitions: &definitions, numbers: BTreeMap::new(), folded: BTreeSet::new() };
        let (mut code, mut values, mut insts, mut folds) = (Code::default(), vec![], vec![], vec![]);
        for (k, inst) in main.insts.iter().enumerate() {
            let is_row = matches!(&inst.op, Op::Def(def, _) if !def.lowering.has_effect());
            let are_arrays = inst.results.iter().all(|v| main.ty(*v).rank() > 0);
            if is_row && are_arrays && inst.results.iter().all(|v| bytes_stored(placed, *v) == 0) {
                seen.folded.insert(k);
                continue;
            }
            let fate = if is_row { fates(&inst.origin()) } else { None };
            let movable = is_row && are_arrays && !shares_factors(inst);
            let (folded, args) = seen.through(&inst.args);
            let mut results = vec![];
            for value in &inst.results {
                seen.numbers.insert(*value, values.len());
                results.push(values.len());
                code.bytes.push(bytes_stored(placed, *value));
                values.push(Known { value: *value, fate, movable });
            }
            let work =
                folded.iter().chain([&k]).map(|k| priced.inst(&main.insts[*k])).fold(0, u64::saturating_add).max(1);
            code.items.push(Item { work, args, results, again: movable });
            insts.push(k);
            folds.push(folded);
        }
        code.ends = seen.through(&main.results).1;
        // Where the most is held does not depend on what the user wants to keep.
        let turn = code.turn();
        for item in &mut code.items {
            item.again &= item.results.iter().all(|v| values[*v].fate != Some(Fate::Keep));
        }
        Straight { program, priced, turn, code, insts, folded: folds, values, definitions }
    }

    /// What is held from before the turn to after it, and could be made again.
    pub(in crate::plan) fn residuals(&self) -> Vec<Residual> {
        let main = self.program.main();
        let mut crossing = vec![false; self.values.len()];
        self.code.items[self.turn..]
            .iter()
            .flat_map(|item| &item.args)
            .for_each(|v| crossing[*v] = self.values[*v].movable);
        self.code.items[self.turn..].iter().flat_map(|item| &item.results).for_each(|v| crossing[*v] = false);
        let residual = |k: usize| {
            let value = self.values[k].value;
            let inst = self.definitions[value.0 as usize].expect("items make their results");
            Residual {
                value,
                origin: main.insts[inst].origin(),
                ty: main.ty(value).clone(),
                read_at: readers(&main.insts[inst..], value),
            }
        };
        (0..self.values.len()).filter(|k| crossing[*k] && self.code.bytes[*k] > 0).map(residual).collect()
    }

    /// So many ways to run it at most, from the least work to the fewest bytes; the first as it stands if nothing else
    /// is decided beforehand.
    pub(in crate::plan) fn ways(&self, search: Search, most: usize) -> Vec<Rematerialised> {
        let crossing = self.crossing();
        if (0..self.values.len()).all(|v| !crossing[v] || self.code.bytes[v] == 0) {
            return vec![Rematerialised::default()];
        }
        let mut orders: Vec<Order> = vec![];
        let forced = self.is_forced();
        if !forced {
            orders.push(self.code.in_turn());
            orders.extend(self.staged());
            orders.extend(self.searched());
        }
        orders.extend(self.cut(search));
        let mut found: Vec<(u64, u64, Order)> =
            orders.into_iter().map(|order| (self.code.work(&order), self.code.peak(&order), order)).collect();
        found.sort();
        // Whoever does more work takes fewer bytes, or is of no use.
        let mut front: Vec<(u64, u64, Order)> = vec![];
        for way in found {
            if front.last().is_none_or(|last| way.1 < last.1) {
                front.push(way);
            }
        }
        // Whoever leaves the least gap goes first.
        while front.len() > most {
            let gap = |k: &usize| front[k - 1].1 as f64 / front[k + 1].1.max(1) as f64;
            let narrowest = (1..front.len() - 1).min_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(1);
            front.remove(narrowest);
        }
        front.into_iter().map(|(_, _, order)| self.again(&order)).collect()
    }

    /// Whether the user wants something to run again.
    fn is_forced(&self) -> bool {
        self.values.iter().any(|known| known.fate == Some(Fate::Recompute))
    }

    /// The way of the least work.
    pub(in crate::plan) fn least(&self, search: Search) -> Rematerialised {
        if self.is_forced() {
            self.ways(search, 2).into_iter().next().unwrap_or_default()
        } else {
            Rematerialised::default()
        }
    }

    /// What a minimum cut keeps at the turn; the rest is made again once.
    fn cut(&self, search: Search) -> Vec<Order> {
        if self.turn == 0 || self.code.items.len() > ITEMS_CUT {
            return vec![];
        }
        let before = &self.code.items[..self.turn];
        let values: Vec<usize> = before.iter().flat_map(|item| item.results.iter().copied()).collect();
        let held = self.crossing();
        let fixed: BTreeSet<usize> =
            before.iter().filter(|item| !item.again).flat_map(|item| item.results.iter().copied()).collect();
        let number = |v: &usize| values.binary_search(v).ok().filter(|_| !fixed.contains(v));
        let maker = |item: &Item| Maker {
            work: item.work,
            args: item.args.iter().filter_map(number).collect(),
            results: item.results.iter().filter_map(number).collect(),
        };
        let closure = Closure {
            bytes: values.iter().map(|v| self.code.bytes[*v]).collect(),
            needed: values.iter().map(|v| held[*v] && !fixed.contains(v)).collect(),
            makers: before.iter().filter(|item| item.again).map(maker).collect(),
            fates: values.iter().map(|v| self.values[*v].fate.filter(|_| held[*v])).collect(),
        };
        let mut saved = closure.hull();
        if let (Search::Integer, Some(first), Some(last)) = (search, saved.first(), saved.last()) {
            let (most, least) = (closure.bytes_of(first), closure.bytes_of(last));
            saved.extend((1..LIMITS).filter_map(|k| closure.within(least + (most - least) * k / LIMITS)));
        }
        let kept = |saved: Vec<bool>| {
            let mut kept = vec![false; self.values.len()];
            values.iter().zip(saved).for_each(|(v, saved)| kept[*v] = saved);
            self.code.once(self.turn, &kept)
        };
        saved.into_iter().map(kept).collect()
    }

    /// Values that are made before the turn, can be made again, and are read after it.
    fn crossing(&self) -> Vec<bool> {
        let mut made = vec![false; self.values.len()];
        self.code.items[..self.turn]
            .iter()
            .filter(|item| item.again)
            .flat_map(|item| &item.results)
            .for_each(|v| made[*v] = true);
        let mut crossing = vec![false; self.values.len()];
        self.code.items[self.turn..].iter().flat_map(|item| &item.args).for_each(|v| crossing[*v] = made[*v]);
        crossing
    }

    /// The least work at several limits, where code is short.
    fn searched(&self) -> Vec<Order> {
        if self.values.len() > VALUES_SEARCHED {
            return vec![];
        }
        let most = self.code.peak(&self.code.in_turn());
        let all = (1..=LIMITS).map(|k| most - most * k / (LIMITS + 1));
        all.map_while(|limit| self.code.search(limit, NODES)).collect()
    }

    /// The code as a chain of stages, at all limits where its work differs.
    fn staged(&self) -> Vec<Order> {
        let Some(stages) = Stages::new(&self.code, self.turn) else { return vec![] };
        let chain = stages.chain();
        let table = chain.table(UNITS);
        let last = stages.count() - 1;
        let mut limits: Vec<usize> = vec![];
        let mut before = None;
        for units in 0..=UNITS {
            let work = table.work(0, last, units);
            if work.is_some() && work != before {
                limits.push(units);
            }
            before = work;
        }
        let count = limits.len();
        let chosen: BTreeSet<usize> =
            (0..CHAIN_LIMITS).map(|k| k * count.saturating_sub(1) / (CHAIN_LIMITS - 1)).collect();
        chosen.into_iter().filter_map(|k| limits.get(k)).map(|units| stages.order(&table, *units)).collect()
    }

    /// An order of items as instructions that run again.
    fn again(&self, order: &[usize]) -> Rematerialised {
        let mut emission = Emission {
            straight: self,
            made: vec![None; self.program.main().insts.len()],
            clock: 0,
            fence: 0,
            waiting: vec![],
        };
        let mut again = Rematerialised::default();
        let (mut next, mut place) = (0, 0);
        for item in order {
            let inst = self.insts[*item];
            if *item < next {
                emission.again(*item);
                continue;
            }
            next = item + 1;
            let first = self.folded[*item].iter().copied().find(|k| *k >= place).unwrap_or(inst);
            emission.renew(*item, first);
            if !emission.waiting.is_empty() {
                let waiting = std::mem::take(&mut emission.waiting);
                let work = |k: &usize| self.priced.inst(&self.program.main().insts[*k]);
                again.work = again.work.saturating_add(waiting.iter().map(work).fold(0, u64::saturating_add));
                let made = waiting.iter().flat_map(|inst| &self.program.main().insts[*inst].results);
                made.for_each(|value| *again.made.entry(*value).or_default() += 1);
                again.before.insert(first, waiting);
            }
            (place..=inst).for_each(|k| emission.make(k));
            place = inst + 1;
        }
        again
    }
}

/// The instruction that makes each value of a function.
fn definitions(function: &Function) -> Vec<Option<usize>> {
    let mut definitions = vec![None; function.types.len()];
    for (k, inst) in function.insts.iter().enumerate() {
        inst.results.iter().for_each(|v| definitions[v.0 as usize] = Some(k));
    }
    definitions
}

/// Numbers of values so far, and what has none because whoever reads it computes it.
struct Seen<'s, 'p> {
    main: &'p Function,
    definitions: &'s [Option<usize>],
    numbers: BTreeMap<Value, usize>,
    folded: BTreeSet<usize>,
}

impl Seen<'_, '_> {
    /// What has to be computed of these values by whoever reads them, and the values that this takes, by number.
    fn through(&self, values: &[Value]) -> (Vec<usize>, Vec<usize>) {
        let (mut folded, mut from) = (BTreeSet::new(), BTreeSet::new());
        let mut open = values.to_vec();
        while let Some(value) = open.pop() {
            from.extend(self.numbers.get(&value));
            let inst = self.definitions[value.0 as usize].filter(|inst| self.folded.contains(inst));
            if let Some(inst) = inst.filter(|inst| folded.insert(*inst)) {
                open.extend(&self.main.insts[inst].args);
            }
        }
        (folded.into_iter().collect(), from.into_iter().collect())
    }
}

/// Instructions in the order in which they are told to run.
struct Emission<'s, 'p> {
    straight: &'s Straight<'p>,
    /// When each instruction ran last.
    made: Vec<Option<usize>>,
    clock: usize,
    /// When something last ran again: what was not stored before is gone.
    fence: usize,
    /// What runs again before the next instruction.
    waiting: Vec<usize>,
}

impl Emission<'_, '_> {
    fn make(&mut self, inst: usize) {
        self.clock += 1;
        self.made[inst] = Some(self.clock);
    }

    fn again(&mut self, item: usize) {
        self.close();
        let straight = self.straight;
        for inst in straight.folded[item].iter().copied().chain([straight.insts[item]]) {
            self.waiting.push(inst);
            self.make(inst);
        }
    }

    /// What an item computes for itself is computed again, as far as it was made before what it reads, or before the
    /// fence.
    fn renew(&mut self, item: usize, first: usize) {
        let folded = self.straight.folded[item].iter().copied().filter(|inst| *inst < first);
        if folded.clone().all(|inst| self.fresh(inst)) {
            return;
        }
        self.close();
        for inst in folded {
            if !self.fresh(inst) {
                self.waiting.push(inst);
                self.make(inst);
            }
        }
    }

    /// What comes first of what runs again is behind a fence.
    fn close(&mut self) {
        if self.waiting.is_empty() {
            self.fence = self.clock;
        }
    }

    fn fresh(&self, inst: usize) -> bool {
        let main = self.straight.program.main();
        let Some(made) = self.made[inst] else { return false };
        let makers = main.insts[inst].args.iter().filter_map(|v| self.straight.definitions[v.0 as usize]);
        let newer = makers.into_iter().any(|arg| self.made[arg].is_some_and(|at| at > made));
        let view = matches!(&main.insts[inst].op, Op::Def(def, _) if matches!(def.lowering, Lowering::View(_) | Lowering::Constant));
        !newer && (view || made > self.fence)
    }
}

/// Bytes of arena memory that a value of the main function has.
fn bytes_stored(placed: &Placed, value: Value) -> u64 {
    let Some(placed_as) = placed.main.get(value.0 as usize).copied().flatten() else { return 0 };
    let own = placed.access(placed_as).root == placed_as;
    match placed.home(placed_as) {
        Storage::Buffer(_) | Storage::Pointer(_) if own => placed.ty(placed_as).bytes() as u64,
        Storage::Buffer(_)
        | Storage::Pointer(_)
        | Storage::None
        | Storage::Register
        | Storage::Input(_)
        | Storage::Literal(_) => 0,
    }
}

/// Whether an instruction shares the factors of a matrix with others: they are kept beside it.
pub(in crate::plan) fn shares_factors(inst: &Inst) -> bool {
    matches!(&inst.op, Op::Def(def, _) if matches!(def.lowering, Lowering::Factored(..)))
}

/// Code before the turn in stages, and what of it the code after the turn reads.
struct Stages<'c> {
    code: &'c Code,
    turn: usize,
    makers: Vec<Option<usize>>,
    /// Whether a value is made before the turn and can be made again.
    movable: Vec<bool>,
    /// The last item before the turn that reads each value, and whether one after it does.
    read_before: Vec<Option<usize>>,
    read_after: Vec<bool>,
    /// Where stages begin, and the turn.
    starts: Vec<usize>,
    /// For each of them the item after the turn from which on nothing is read of what is made from there on.
    until: Vec<usize>,
}

impl<'c> Stages<'c> {
    /// None where there is nothing to choose.
    fn new(code: &'c Code, turn: usize) -> Option<Stages<'c>> {
        let makers = code.makers();
        let movable =
            makers.iter().map(|maker| maker.is_some_and(|maker| maker < turn && code.items[maker].again)).collect();
        let (mut read_before, mut read_after) = (vec![None; makers.len()], vec![false; makers.len()]);
        for (k, item) in code.items.iter().enumerate() {
            for arg in &item.args {
                if k < turn {
                    read_before[*arg] = Some(k);
                } else {
                    read_after[*arg] = true;
                }
            }
        }
        let mut stages = Stages { code, turn, makers, movable, read_before, read_after, starts: vec![], until: vec![] };
        stages.starts = stages.narrow();
        stages.until = stages.starts.iter().map(|start| stages.until(*start)).collect();
        (stages.count() > 1).then_some(stages)
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Values that a restart at an item needs.
    fn restart(&self, item: usize) -> BTreeSet<usize> {
        let needed = |v: &usize| {
            self.makers[*v].is_some_and(|maker| maker < item) && self.read_before[*v].is_some_and(|read| read >= item)
        };
        (0..self.makers.len()).filter(|v| self.movable[*v] && needed(v)).collect()
    }

    /// Values of a stage that are read after the turn.
    fn record(&self, stage: usize) -> BTreeSet<usize> {
        let items = self.starts[stage]..self.starts[stage + 1];
        let inside = |v: &usize| self.makers[*v].is_some_and(|maker| items.contains(&maker));
        (0..self.makers.len()).filter(|v| self.movable[*v] && self.read_after[*v] && inside(v)).collect()
    }

    fn until(&self, start: usize) -> usize {
        let reads = |item: &usize| {
            self.code.items[*item].args.iter().any(|v| self.movable[*v] && self.makers[*v] >= Some(start))
        };
        if start == 0 {
            self.code.items.len()
        } else {
            (self.turn..self.code.items.len()).rev().find(reads).map_or(self.turn, |item| item + 1)
        }
    }

    /// Places before the turn where the fewest bytes are held, from one value that is read after it to the next.
    fn narrow(&self) -> Vec<usize> {
        let mut change = vec![0i128; self.turn + 2];
        for value in (0..self.makers.len()).filter(|v| self.movable[*v]) {
            if let (Some(maker), Some(read)) = (self.makers[value], self.read_before[value]) {
                change[maker + 1] += i128::from(self.code.bytes[value]);
                change[read + 1] -= i128::from(self.code.bytes[value]);
            }
        }
        let mut held = 0;
        let bytes: Vec<i128> = change
            .iter()
            .map(|change| {
                held += change;
                held
            })
            .collect();
        let recorded = |item: usize| {
            self.code.items[item]
                .results
                .iter()
                .any(|v| self.movable[*v] && self.read_after[*v] && self.code.bytes[*v] > 0)
        };
        let mut starts = vec![0];
        let mut best: Option<usize> = None;
        for item in 0..self.turn {
            if best.is_none_or(|best| bytes[item] < bytes[best]) && item > 0 {
                best = Some(item);
            }
            if recorded(item) {
                starts.extend(best.filter(|best| starts.last() < Some(best)));
                best = None;
            }
        }
        // Too many are thinned evenly.
        if starts.len() > STAGES {
            starts = (0..STAGES).map(|k| starts[k * starts.len() / STAGES]).collect();
        }
        starts.push(self.turn);
        starts
    }

    fn bytes(&self, values: impl IntoIterator<Item = usize>) -> u64 {
        values.into_iter().map(|v| self.code.bytes[v]).sum()
    }

    /// Bytes of a unit.
    fn unit(&self) -> u64 {
        self.code.peak(&self.code.in_turn()).div_ceil(UNITS as u64).max(1)
    }

    /// The stages as a chain.
    fn chain(&self) -> Chain {
        let (count, unit) = (self.count(), self.unit());
        let units = |bytes: u64| bytes.div_ceil(unit) as usize;
        let restarts: Vec<BTreeSet<usize>> = self.starts.iter().map(|start| self.restart(*start)).collect();
        let more = |s: usize, t: usize| self.bytes(restarts[t].difference(&restarts[s]).copied());
        // What else is held while each item runs, of what does not belong to the stages.
        let others = Code {
            bytes: self
                .code
                .bytes
                .iter()
                .zip(&self.movable)
                .map(|(bytes, movable)| if *movable { 0 } else { *bytes })
                .collect(),
            ..self.code.clone()
        };
        let besides = others.profile(&others.in_turn());
        let most = |items: std::ops::Range<usize>| items.map(|item| besides[item]).max().unwrap_or(0);
        let record = |s: usize| {
            let kept: BTreeSet<usize> = self.record(s).union(&restarts[s + 1]).copied().collect();
            self.bytes(kept.difference(&restarts[s]).copied())
        };
        let steps = |s: usize, t: usize| (s..t).map(|j| more(s, j) + more(s, j + 1)).max().unwrap_or(0);
        let square = |of: &dyn Fn(usize, usize) -> u64| {
            (0..count).map(|s| (0..count).map(|t| units(of(s, t))).collect()).collect()
        };
        Chain {
            work: (0..count)
                .map(|s| self.code.work(&(self.starts[s]..self.starts[s + 1]).collect::<Vec<_>>()))
                .collect(),
            record: (0..count).map(|s| units(record(s))).collect(),
            recording: (0..count).map(|s| units(record(s))).collect(),
            reversing: (0..count).map(|s| units(record(s) + most(self.until[s + 1]..self.until[s]))).collect(),
            waiting: (0..count).map(|t| units(besides.get(self.until[t + 1]).copied().unwrap_or(0))).collect(),
            hold: square(&more),
            going: square(&steps),
        }
    }

    /// The order of the least work in so many units.
    fn order(&self, table: &Table<'_>, units: usize) -> Order {
        let mut reversal =
            Reversal { stages: self, table, run: Run::new(self.code), held: vec![0; self.makers.len()], next: 0 };
        reversal.range(0, self.count() - 1, units);
        let Reversal { mut run, next, .. } = reversal;
        (next..self.code.items.len()).for_each(|item| run.first(item));
        run.order
    }
}

/// A table's order under construction.
struct Reversal<'s, 'c> {
    stages: &'s Stages<'c>,
    table: &'s Table<'s>,
    run: Run<'c>,
    /// How often each value is held.
    held: Vec<usize>,
    /// The next item that runs for the first time.
    next: usize,
}

impl Reversal<'_, '_> {
    /// Reverses stages s..=t; what a restart at s needs is at hand and held.
    fn range(&mut self, s: usize, t: usize, units: usize) {
        let (stages, chain_first) =
            (self.stages, self.table.first(s, t, units).expect("feasible ranges are made of feasible ones"));
        match chain_first {
            First::Record => {
                let kept: Vec<usize> = stages.record(s).union(&stages.restart(stages.starts[s + 1])).copied().collect();
                self.forward(s, s + 1, &kept);
                if s < t {
                    self.range(s + 1, t, units - self.table.record(s));
                }
                self.back(s);
                self.release(&kept);
            }
            First::Hold(next) => {
                let kept: Vec<usize> = stages.restart(stages.starts[next]).into_iter().collect();
                self.forward(s, next, &kept);
                self.range(next, t, units - self.table.hold(s, next));
                self.release(&kept);
                self.range(s, next - 1, units);
            }
        }
    }

    /// Runs stages s..t, and holds what is to be kept of them.
    fn forward(&mut self, s: usize, t: usize, kept: &[usize]) {
        let end = self.stages.starts[t];
        while self.next < end {
            debug_assert!(self.next >= self.stages.starts[s], "stages run for the first time in their order");
            self.run.first(self.next);
            self.next += 1;
        }
        self.run.fetch(kept);
        kept.iter().for_each(|v| self.held[*v] += 1);
        self.forget();
    }

    /// Runs what is left after the turn of what reads this stage or later ones.
    fn back(&mut self, s: usize) {
        while self.next < self.stages.until[s] {
            self.run.first(self.next);
            self.next += 1;
        }
    }

    fn release(&mut self, kept: &[usize]) {
        kept.iter().for_each(|v| self.held[*v] -= 1);
        self.forget();
    }

    fn forget(&mut self) {
        let (held, movable) = (&self.held, &self.stages.movable);
        self.run.forget(&|value| !movable[value] || held[value] > 0);
    }
}
