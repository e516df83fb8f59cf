//! The fastest way to reverse one loop in so many bytes.
//!
//! A loop that is short for its memory is left to the recurrences, whose time grows with the square of its length. A
//! long one has closed forms: Revolve where little fits, and where much fits, held states with the records of one
//! segment at a time. Whatever is the fastest is taken; all of them are exact about their bytes.

use crate::plan::analysis::counts::UNKNOWN_STEPS;
use crate::plan::analysis::work::{ACTION, INTERRUPTION};
use crate::plan::decision::{Cut, LoopDecision, Spill, Way};
use crate::plan::search::facts::{ChoiceFacts, LoopFacts};
use retrograd_schedule::binomial::leaves;
use retrograd_schedule::optimal::{Choice, JointReversal, Place, SplitReversal, Steps};
use retrograd_schedule::{Blocks, Recipe, Schedule, Sweep, Uses, counts, slots};

/// A cell of a table with few splits takes about as long as so many splits.
pub(in crate::plan) const QUICK: u64 = 20;

/// A loop of more steps has closed forms only: a recipe can have as many parts as its loop has steps.
const LONGEST: u64 = 20_000;

/// A loop of so many steps is left to the recurrences even where there is no limit: its last step counts.
const SHORT: u64 = 64;

/// Slots of a loop whose length is known only at run time, when there is no budget, at least: up to 170,000 steps run
/// at most three times again.
pub(in crate::plan) const SLOTS_WITHOUT_BUDGET: u64 = 100;

/// What such a loop takes at most for the states and records of all steps that it is taken to have: nobody knows
/// whether they are there.
pub(in crate::plan) const BYTES_WITHOUT_BUDGET: u64 = 256 << 20;

/// Slots fewer than those that fit that are tried.
const FEWER_SLOTS: u64 = 8;

/// Slots of a loop of unknown length.
const MOST_SLOTS: u64 = 1 << 20;

/// Slots of a loop of unknown length and short steps.
const MOST_SLOTS_OF_SHORT_STEPS: u64 = 512;

/// A decision with what it takes.
#[derive(Clone, Debug)]
pub(in crate::plan) struct Fitted {
    pub(in crate::plan) decision: LoopDecision,
    /// Bytes of pool and controller.
    pub(in crate::plan) bytes: u64,
    /// Work of one execution besides the program's own loop.
    pub(in crate::plan) work: u128,
    /// Splits that were tried to find it.
    pub(in crate::plan) tried: u64,
}

impl Fitted {
    /// Kinds of steps forwards and backwards that become code.
    pub(in crate::plan) fn kinds(&self) -> [usize; 2] {
        let used = |flags: &[bool]| flags.iter().filter(|used| **used).count();
        let kinds = |uses: Uses| {
            [used(&uses.tape) + usize::from(uses.advance), used(&uses.reverse) + usize::from(uses.youturn)]
        };
        let all = self.decision.ways.iter().flat_map(|way| way.schedule.uses()).map(kinds);
        all.fold([0, 0], |sum, kinds| [sum[0] + kinds[0], sum[1] + kinds[1]])
    }
}

/// A loop with the work of what is inside its steps.
#[derive(Clone, Copy, Debug)]
pub(in crate::plan) struct Inside<'f> {
    pub(in crate::plan) facts: &'f LoopFacts,
    /// Work of unwinds inside a step forwards.
    pub(in crate::plan) forward: u64,
    /// Work of unwinds inside a step backwards.
    pub(in crate::plan) backward: u64,
    /// Cells that a table may take time for: steps squared times units.
    pub(in crate::plan) cells: u64,
    /// Kinds of steps forwards and backwards that may become code.
    pub(in crate::plan) most_kinds: [usize; 2],
    /// Room on the disk.
    pub(in crate::plan) spill: Option<Spill>,
}

/// A sweep, and what can be recorded with it.
pub(in crate::plan) struct Records<'f> {
    pub(in crate::plan) sweep: Sweep,
    pub(in crate::plan) choices: Vec<&'f ChoiceFacts>,
    pub(in crate::plan) count: u64,
}

impl Records<'_> {
    /// Bytes of a state and of every kind of record.
    pub(in crate::plan) fn sizes(&self, state_bytes: u64) -> impl Iterator<Item = u64> + Clone {
        self.choices.iter().map(|choice| choice.bytes.max(1)).chain([state_bytes.max(1)])
    }
}

impl<'f> Inside<'f> {
    /// The fastest decision in so many bytes; `None` is no limit. The one of the fewest bytes, where nothing fits.
    pub(in crate::plan) fn fit(self, bytes: Option<u64>) -> Fitted {
        self.met(|sweep| self.fastest(sweep, bytes))
    }

    /// A way for every sweep that the loop is met with; bytes are those of the larger, work is that of the usual one.
    pub(in crate::plan) fn met(self, way: impl Fn(Sweep) -> Fitted) -> Fitted {
        let mut all = self.facts.sweeps.iter().map(|sweep| way(*sweep));
        let mut fitted = all.next().expect("a loop is met somewhere");
        for other in all {
            fitted.bytes = fitted.bytes.max(other.bytes);
            fitted.tried = fitted.tried.saturating_add(other.tried);
            let new = other
                .decision
                .ways
                .into_iter()
                .filter(|way| fitted.decision.way(way.sweep).is_none())
                .collect::<Vec<_>>();
            fitted.decision.ways.extend(new);
        }
        fitted
    }

    fn fastest(self, sweep: Sweep, bytes: Option<u64>) -> Fitted {
        let facts = self.facts;
        if facts.keeps_nothing() {
            return self.nothing();
        }
        let Some(count) = facts.count else { return self.open(sweep, bytes) };
        let mut found = vec![];
        for way in self.records(sweep, count) {
            found.push(self.held(way.sweep, bytes));
            found.extend(bytes.and_then(|bytes| self.blocks(way.sweep, bytes, MOST_SLOTS)));
            found.extend((0..way.choices.len()).filter_map(|choice| self.segments(&way, choice, bytes)));
            found.extend((1..way.choices.len()).filter_map(|choice| self.two_choices(&way, choice, bytes)));
            found.extend(self.table(&way, bytes));
            found.extend(self.over_tiers(&way, bytes));
        }
        let tried = found.iter().map(|fitted| fitted.tried).fold(0, u64::saturating_add);
        // Held states alone are one kind of step backwards, and at most two forwards.
        found.retain(|fitted| fitted.kinds().iter().zip(self.most_kinds).all(|(kinds, most)| *kinds <= most));
        // Of a long loop without a limit every step is treated alike. What spares a part of its last one by a kind of
        // step of its own is less than that, and no decision: less memory would be less work.
        if bytes.is_some() && count > SHORT && self.spill.is_none() {
            let least = self.fastest(sweep, None).work;
            if found.iter().any(|fitted| fitted.work >= least) {
                found.retain(|fitted| fitted.work >= least);
            }
        }
        let fits = |fitted: &&Fitted| bytes.is_none_or(|bytes| fitted.bytes <= bytes);
        let best = found.iter().filter(fits).min_by_key(|fitted| (fitted.work, fitted.bytes));
        // Every kind of step is code of its own: of a sweep that is not the usual one, whose work does not count, a per
        // cent is not worth that.
        let close = |fitted: &&Fitted| {
            sweep != facts.sweeps[0] && best.is_some_and(|best| fitted.work <= best.work + best.work / 64)
        };
        let simple = found
            .iter()
            .filter(fits)
            .filter(close)
            .min_by_key(|fitted| (fitted.kinds().iter().sum::<usize>(), fitted.work, fitted.bytes));
        let taken = simple
            .or(best)
            .or(found.iter().min_by_key(|fitted| fitted.bytes))
            .expect("every loop can be replayed from its start");
        Fitted { tried, ..taken.clone() }
    }

    /// A loop whose length is known only at run time.
    fn open(self, sweep: Sweep, bytes: Option<u64>) -> Fitted {
        let held = self.held(sweep, bytes);
        let blocks = match sweep {
            // Without a limit, more states than those of the steps that it is taken to have would be held for nothing.
            Sweep::Split | Sweep::Joint => match bytes {
                Some(bytes) => self.blocks(sweep, bytes, MOST_SLOTS),
                None => self.blocks(sweep, held.bytes.max(BYTES_WITHOUT_BUDGET), UNKNOWN_STEPS),
            },
            Sweep::Online => None,
        };
        blocks.filter(|blocks| blocks.work < held.work).unwrap_or(held)
    }

    /// Where not every choice can be recorded in the program's own loop, to stand alone may be better.
    pub(in crate::plan) fn records(self, sweep: Sweep, count: u64) -> Vec<Records<'f>> {
        let choices = |keep: fn(&ChoiceFacts) -> bool| {
            self.facts.choices.iter().filter(|choice| keep(choice)).collect::<Vec<_>>()
        };
        let joint = Records { sweep: Sweep::Joint, choices: choices(|_| true), count };
        match sweep {
            // Where nobody knows the count, nothing is recorded.
            Sweep::Joint | Sweep::Online => vec![joint],
            Sweep::Split => {
                let split = Records { sweep: Sweep::Split, choices: choices(|choice| choice.in_sweep), count };
                if split.choices.len() == joint.choices.len() { vec![split] } else { vec![split, joint] }
            }
        }
    }

    /// Steps are reversed from what is at hand.
    pub(in crate::plan) fn nothing(self) -> Fitted {
        let choice =
            self.facts.choices.iter().find(|choice| choice.cut.kept.is_empty()).expect("some choice keeps nothing");
        let way = Way { schedule: Schedule::Nothing, sweep: Sweep::Joint, cuts: vec![choice.cut.clone()] };
        let count = self.facts.count.unwrap_or(UNKNOWN_STEPS);
        Fitted {
            decision: LoopDecision { ways: vec![way] },
            bytes: 0,
            work: u128::from(count) * u128::from(choice.cost_reverse + self.backward),
            tried: 0,
        }
    }

    /// As many held states as fit.
    pub(in crate::plan) fn revolve(self, sweep: Sweep, bytes: Option<u64>) -> Fitted {
        self.slots(sweep, self.most_slots(sweep, bytes))
    }

    /// As many held states as fit, or a few less: where the driver does leaves itself, what is held interrupts it.
    fn held(self, sweep: Sweep, bytes: Option<u64>) -> Fitted {
        let most = self.most_slots(sweep, bytes);
        let few = (most.saturating_sub(FEWER_SLOTS).max(1)..=most)
            .chain(self.drives_leaves(sweep).then(|| eighths(most)).into_iter().flatten());
        let fewer = few.map(|slots| self.slots(sweep, slots));
        fewer.min_by_key(|fitted| (fitted.work, fitted.bytes)).expect("there is a slot")
    }

    fn most_slots(self, sweep: Sweep, bytes: Option<u64>) -> u64 {
        let state_bytes = self.facts.state_bytes;
        // The first slot is the start value; each further one costs a state and words of the controller.
        let words = |slots: u64| held_states(sweep, slots, state_bytes).words() as u64 * 8;
        let more = state_bytes + words(2) - words(1);
        let fit = |bytes: u64| 1 + bytes.saturating_sub(words(1)) / more;
        let fit = bytes.map_or_else(|| fit(BYTES_WITHOUT_BUDGET).clamp(SLOTS_WITHOUT_BUDGET, UNKNOWN_STEPS), fit);
        let most = match (self.facts.count, sweep) {
            (Some(count), _) if bytes.is_none() => count.max(1),
            (Some(_), _) => fit,
            // The controller looks through its slots: that should take no longer than a step.
            (None, Sweep::Online) => fit.min(self.advance().max(MOST_SLOTS_OF_SHORT_STEPS)),
            (None, Sweep::Split | Sweep::Joint) => fit.min(MOST_SLOTS),
        };
        most.max(1)
    }

    /// So many held states, that of the start included.
    pub(in crate::plan) fn slots(self, sweep: Sweep, most: u64) -> Fitted {
        if self.facts.keeps_nothing() {
            return self.nothing();
        }
        let (state_bytes, count) = (self.facts.state_bytes, self.facts.count.unwrap_or(UNKNOWN_STEPS));
        let used = self.facts.count.map_or(most, |count| slots(most, sweep, count));
        // Where nobody knows the count, it takes hardly more than if it were known.
        let known = if sweep == Sweep::Online { Sweep::Split } else { sweep };
        let counts = counts(&Schedule::Revolve { slots: used, state_bytes }, known, count);
        // For each leaf that a driver does itself it asks some five times, and what is held in between interrupts its
        // steps.
        let (asked, interrupted) = if self.drives_leaves(sweep) {
            (5 * u128::from(leaves(count, used)), counts.snapshots)
        } else {
            (counts.youturns + 2 * counts.restores, 0)
        };
        let turn = self.facts.cost_turnback + self.backward;
        let steps =
            sum([(counts.advances, self.advance()), (counts.youturns, turn), (counts.restores, self.facts.cost_hold)]);
        let work = steps.saturating_add(sum([(asked, ACTION), (interrupted, INTERRUPTION), (0, 0)]));
        self.fitted(held_states(sweep, used, state_bytes), sweep, vec![], work - self.own(sweep, count))
    }

    /// States held between blocks of so many steps at most, where nobody knows how many there are, and the records of
    /// one block: the best length of a block, by the best choice.
    fn blocks(self, sweep: Sweep, bytes: u64, held: u64) -> Option<Fitted> {
        let count = self.facts.count.unwrap_or(UNKNOWN_STEPS);
        // The work grows slowly beside its least: lengths a third to a half apart are enough.
        let lengths = (1..u64::BITS - 1).flat_map(|k| [1 << k, 3 << (k - 1)]).take_while(|steps| *steps < count);
        let all = lengths.flat_map(|steps| {
            self.facts.choices.iter().filter_map(move |choice| self.of_length(sweep, choice, steps, bytes, held))
        });
        all.min_by_key(|fitted| (fitted.work, fitted.bytes))
    }

    /// Blocks of so many steps, and as many held states as fit beside their records.
    fn of_length(self, sweep: Sweep, choice: &ChoiceFacts, steps: u64, bytes: u64, held: u64) -> Option<Fitted> {
        let (state_bytes, count) = (self.facts.state_bytes, self.facts.count.unwrap_or(UNKNOWN_STEPS));
        let schedule = |slots: u64| Schedule::Blocks(Blocks { steps, record_bytes: choice.bytes, slots, state_bytes });
        // The first slot is the start value; each further one costs a state and a word of the controller.
        let records = steps.checked_mul(choice.bytes)?.checked_add(schedule(1).words() as u64 * 8)?;
        let most = 1 + bytes.checked_sub(records)? / (state_bytes + 8);
        let used = self
            .facts
            .count
            .map_or(most.min(MOST_SLOTS).min(held.div_ceil(steps)), |count| slots(most, sweep, count.div_ceil(steps)));
        let counts = counts(&schedule(used), sweep, count);
        let work = sum([
            (counts.advances, self.advance()),
            (counts.taped, self.recorded_once(choice)),
            // Besides its state, a block is asked for three times: it is run, recorded and reversed.
            (counts.restores, self.hold() + 3 * ACTION),
        ]);
        Some(self.fitted(schedule(used), sweep, vec![choice.cut.clone()], work - self.own(sweep, count)))
    }

    /// Every step is recorded, by one choice or by two: the least work that fits, or the fewest bytes.
    pub(in crate::plan) fn recorded(self, sweep: Sweep, count: u64, bytes: Option<u64>) -> Fitted {
        let one =
            self.facts.choices.iter().map(|choice| self.periodic(choice.sweep(sweep), choice, count.max(1), count));
        let ways = self.records(sweep, count);
        let two = ways
            .iter()
            .flat_map(|way| (1..way.choices.len()).filter_map(|choice| self.two_choices(way, choice, bytes)));
        let found: Vec<Fitted> = one.chain(two).collect();
        let fits = |fitted: &&Fitted| bytes.is_none_or(|bytes| fitted.bytes <= bytes);
        let best = found.iter().filter(fits).min_by_key(|fitted| (fitted.work, fitted.bytes));
        best.or(found.iter().min_by_key(|fitted| fitted.bytes)).expect("a loop has a choice").clone()
    }

    /// Every step is recorded by one choice.
    pub(in crate::plan) fn periodic(self, sweep: Sweep, choice: &ChoiceFacts, period: u64, count: u64) -> Fitted {
        let recipe = Recipe::periodic(period, count, sweep, self.facts.state_bytes, choice.bytes);
        let counts = recipe.counts();
        let work = sum([
            (counts.advances, self.advance()),
            (counts.taped, self.recorded_once(choice)),
            (counts.restores, self.hold()),
        ]);
        let cuts = vec![choice.cut.clone()];
        self.fitted(Schedule::of(recipe), sweep, cuts, work - self.own(sweep, count))
    }

    pub(in crate::plan) fn advance(self) -> u64 {
        self.facts.cost_forward + self.forward
    }

    pub(in crate::plan) fn turn(self) -> u64 {
        self.facts.cost_turnback + self.backward + ACTION
    }

    fn record(self, choice: &ChoiceFacts) -> u64 {
        choice.cost_forward + self.forward
    }

    fn reverse(self, choice: &ChoiceFacts) -> u64 {
        choice.cost_reverse + self.backward
    }

    /// A step is recorded and reversed from its record.
    pub(in crate::plan) fn recorded_once(self, choice: &ChoiceFacts) -> u64 {
        self.record(choice) + self.reverse(choice)
    }

    /// A state is written, read, and asked for twice.
    pub(in crate::plan) fn hold(self) -> u64 {
        2 * ACTION + self.facts.cost_hold
    }

    /// The least that it costs to turn a step back and to hold a state: where the driver does the leaves of Revolve
    /// itself, it asks for nothing in between.
    pub(in crate::plan) fn turn_and_hold(self, sweep: Sweep) -> [u64; 2] {
        match self.drives_leaves(sweep) {
            true => [self.facts.cost_turnback + self.backward, self.facts.cost_hold],
            false => [self.turn(), self.hold()],
        }
    }

    /// Whether the driver does the leaves of Revolve itself (`Trajectory::runs`).
    fn drives_leaves(self, sweep: Sweep) -> bool {
        let is_inner = self.facts.in_body.is_straight() && self.facts.in_bwd.is_straight();
        self.facts.of_numbers && sweep != Sweep::Online && is_inner
    }

    /// Work of the program's own loop, which is no work of its reversal.
    pub(in crate::plan) fn own(self, sweep: Sweep, count: u64) -> u128 {
        match sweep {
            Sweep::Split | Sweep::Online => u128::from(count) * u128::from(self.advance()),
            Sweep::Joint => 0,
        }
    }

    /// Work of a reversal in which every step runs as often as it must: up to the last state once, and backwards from a
    /// record or from a held state, which costs `turn` and `hold`. The last step of a loop that stands alone is
    /// turned back from where the loop ends.
    pub(in crate::plan) fn once(self, way: &Records<'f>, [turn, hold]: [u64; 2]) -> u128 {
        let recorded = way.choices.iter().map(|choice| self.recorded_once(choice)).min().unwrap_or(u64::MAX);
        let each = u128::from(recorded.min(self.advance() + turn + hold));
        let last = u128::from(recorded.min(turn));
        match way.sweep {
            Sweep::Split | Sweep::Online => {
                (each * u128::from(way.count)).saturating_sub(self.own(way.sweep, way.count))
            }
            Sweep::Joint => way.count.checked_sub(1).map_or(0, |others| each * u128::from(others) + last),
        }
    }

    fn fitted(self, schedule: Schedule, sweep: Sweep, cuts: Vec<Cut>, work: u128) -> Fitted {
        let bytes =
            schedule.pool_bytes(sweep, self.facts.count).saturating_add((schedule.words() as u64).saturating_mul(8));
        Fitted { decision: LoopDecision { ways: vec![Way { schedule, sweep, cuts }] }, bytes, work, tried: 0 }
    }

    pub(in crate::plan) fn recipe(self, way: &Records<'f>, recipe: Recipe, work: u128) -> Fitted {
        let cuts = way.choices.iter().map(|choice| choice.cut.clone()).collect();
        self.fitted(Schedule::of(recipe), way.sweep, cuts, work - self.own(way.sweep, way.count))
    }

    pub(in crate::plan) fn record_bytes(way: &Records<'f>) -> Vec<u64> {
        way.choices.iter().map(|choice| choice.bytes).collect()
    }

    /// Held states, and records of one segment at a time: segment k has what k - 1 held states leave, the last is
    /// recorded in the sweep. No step runs more than twice.
    fn segments(self, way: &Records<'f>, number: usize, bytes: Option<u64>) -> Option<Fitted> {
        let (choice, state) = (way.choices[number], self.facts.state_bytes);
        let record = choice.bytes.max(1);
        let mut limit = bytes.map_or(u64::MAX, |bytes| bytes.saturating_sub(8 * 11));
        for _ in 0..4 {
            let rows = |held: u64| limit.saturating_sub(held.saturating_mul(state)) / record;
            let mut lengths: Vec<u64> = vec![];
            let (mut covered, mut last) = (0u64, rows(0).min(way.count));
            while covered.saturating_add(last) < way.count {
                let held = lengths.len() as u64;
                let length = rows(held.saturating_sub(1)).min(way.count - covered);
                last = rows(held).min(way.count - covered - length);
                // More held states leave less and less for records.
                if length == 0 || lengths.len() > 20_000 || (last == 0 && covered + length < way.count) {
                    return None;
                }
                lengths.push(length);
                covered += length;
            }
            // What the sweep records is not run again: the segment before it is as short as the others allow.
            let most = rows((lengths.len() as u64).saturating_sub(1));
            if let Some(length) = lengths.last_mut() {
                let more = most.saturating_sub(last).min(*length - 1);
                (*length, covered, last) = (*length - more, covered - more, last + more);
            }
            if last == 0 && way.sweep == Sweep::Joint {
                return None;
            }
            let again =
                u128::from(covered) * u128::from(self.advance()) + lengths.len() as u128 * u128::from(self.hold());
            let once = u128::from(way.count) * u128::from(self.recorded_once(choice));
            let recipe = Recipe::segments(&lengths, last, way.sweep, state, Self::record_bytes(way), number as u32);
            let fitted = self.recipe(way, recipe, again + once);
            match bytes.and_then(|bytes| fitted.bytes.checked_sub(bytes)).filter(|over| *over > 0) {
                None => return Some(fitted),
                // Not all of the room is taken.
                Some(over) => {
                    limit = limit
                        .min(fitted.decision.usual().schedule.pool_bytes(way.sweep, Some(way.count)))
                        .saturating_sub(over)
                }
            }
        }
        None
    }

    /// Every step is recorded: as many as fit by the dearer choice before this one, the others by this one.
    fn two_choices(self, way: &Records<'f>, number: usize, bytes: Option<u64>) -> Option<Fitted> {
        let (large, small) = (way.choices[number - 1], way.choices[number]);
        let limit = bytes?.checked_sub(8 * 15)?;
        let spare = limit.checked_sub(way.count.checked_mul(small.bytes)?)?;
        let many = (spare / large.bytes.checked_sub(small.bytes).filter(|more| *more > 0)?).min(way.count);
        let work = |steps: u64, choice: &ChoiceFacts| u128::from(steps) * u128::from(self.recorded_once(choice));
        let few = way.count - many;
        let (first, second) = ((many, number as u32 - 1), (few, number as u32));
        let recipe = Recipe::two_choices(first, second, way.sweep, self.facts.state_bytes, Self::record_bytes(way));
        Some(self.recipe(way, recipe, work(many, large) + work(few, small)))
    }

    /// What the recurrences say, where they can be asked in time.
    fn table(self, way: &Records<'f>, bytes: Option<u64>) -> Option<Fitted> {
        // Without a limit the cheapest record of every step is best, or as good as that.
        if bytes.is_none() && way.count > SHORT {
            return None;
        }
        if way.count == 0 || way.count > LONGEST {
            return None;
        }
        let (unit, units) = match bytes {
            // Without a limit sizes do not matter: one unit for every step is enough, whatever is kept of it.
            None => (u64::MAX, way.count as usize),
            Some(bytes) => {
                let sizes = way.sizes(self.facts.state_bytes);
                let limit = bytes.min(way.count.saturating_mul(sizes.clone().max()?));
                // A few splits for every length are tried where there is no time for all.
                let unit = unit(sizes, limit, self.cells / (way.count.checked_mul(QUICK)?).max(1))?;
                (unit, (limit / unit) as usize)
            }
        };
        let steps = self.steps(way, unit, up)?;
        let count = way.count as usize;
        let all = way.count.saturating_mul(way.count).saturating_mul(units as u64 + 1) <= self.cells;
        let joint = if all {
            JointReversal::new(&steps.costs, count, units)
        } else {
            JointReversal::quick(&steps.costs, count, units)
        };
        let split = (way.sweep == Sweep::Split).then(|| SplitReversal::new(&joint, count, units, 0));
        // A sweep has a table of the same size.
        let tried = joint.tried().saturating_mul(1 + u64::from(split.is_some()));
        let mut units = units;
        loop {
            let (recipe, work) = self.extract(way, &joint, split.as_ref(), units)?;
            let work = (u128::from(work) << steps.shift).max(self.own(way.sweep, way.count));
            let found = Fitted { tried, ..self.recipe(way, recipe, work) };
            // Pool and controller share the bytes; how deep the controller is, the recipe says.
            match bytes.and_then(|bytes| found.bytes.checked_sub(bytes)).filter(|over| *over > 0) {
                None => return Some(found),
                Some(over) => {
                    // A little less may be less deep; of a long loop recipes take time.
                    let less = over.div_ceil(unit).min((way.count / SHORT).max(1));
                    units = units.checked_sub(less as usize)?;
                }
            }
        }
    }

    /// The recipe of the least work in so many units of tables.
    fn extract(
        self,
        way: &Records<'f>,
        joint: &JointReversal<'_>,
        split: Option<&SplitReversal<'_>>,
        units: usize,
    ) -> Option<(Recipe, u64)> {
        let (count, state, records) = (way.count as usize, self.facts.state_bytes, Self::record_bytes(way));
        Some(match split {
            None => {
                let work = joint.work(Place::First, count, units)?;
                (Recipe::joint(joint, way.count, units, state, records), work)
            }
            Some(split) => {
                let work = split.work(Place::First, count, units)?;
                (Recipe::split_reversal(joint, split, way.count, units, state, records), work)
            }
        })
    }

    /// The loop as the recurrences see it; work is shifted so that it fits, and rounded.
    pub(in crate::plan) fn steps(self, way: &Records<'f>, unit: u64, rounded: Rounded) -> Option<Shifted> {
        let dearest = [self.turn(), self.advance(), self.hold()]
            .into_iter()
            .chain(way.choices.iter().map(|c| self.record(c).max(self.reverse(c))));
        let most = (u128::from(dearest.max()?) * u128::from(way.count)).saturating_mul(u128::from(way.count));
        let shift = (128 - most.leading_zeros()).saturating_sub(58);
        let costs = Steps {
            start: 0,
            state: self.facts.state_bytes.max(1).div_ceil(unit) as usize,
            advance: rounded(self.advance(), shift),
            hold: rounded(self.hold(), shift),
            turn: vec![rounded(self.turn(), shift)],
            choices: way.choices.iter().map(|choice| self.choice(choice, unit, shift, rounded)).collect(),
        };
        Some(Shifted { costs, shift })
    }

    fn choice(self, choice: &ChoiceFacts, unit: u64, shift: u32, rounded: Rounded) -> Choice {
        Choice {
            units: choice.bytes.max(1).div_ceil(unit) as usize,
            forward: rounded(self.record(choice), shift),
            reverse: vec![rounded(self.reverse(choice), shift)],
        }
    }
}

/// How work is shifted: up in a plan, which does no more than it says, and down in a bound.
pub(in crate::plan) type Rounded = fn(u64, u32) -> u64;

pub(in crate::plan) fn up(work: u64, shift: u32) -> u64 {
    work.div_ceil(1 << shift)
}

pub(in crate::plan) fn down(work: u64, shift: u32) -> u64 {
    work >> shift
}

/// Held states alone, placed as well as what is known of the count allows.
fn held_states(sweep: Sweep, slots: u64, state_bytes: u64) -> Schedule {
    match sweep {
        Sweep::Split | Sweep::Joint => Schedule::Revolve { slots, state_bytes },
        Sweep::Online => Schedule::Online { slots, state_bytes },
    }
}

/// Numbers up to the most, eight from one power of two to the next.
fn eighths(most: u64) -> impl Iterator<Item = u64> {
    (1..8)
        .chain((0..56).flat_map(|power| (8..16).map(move |eighth| eighth << power)))
        .take_while(move |number| *number <= most)
}

pub(in crate::plan) struct Shifted {
    pub(in crate::plan) costs: Steps,
    pub(in crate::plan) shift: u32,
}

/// Parts of a size that are tried as a unit.
const PARTS: u64 = 32;

/// The units of memory that sizes of a loop are counted in: exact where tables of so many units allow it, else the part
/// of a size that loses the least by rounding; none where that is half of what there is, and little would fit.
pub(in crate::plan) fn unit(sizes: impl Iterator<Item = u64> + Clone, limit: u64, units: u64) -> Option<u64> {
    let exact = sizes.clone().fold(0, greatest_common_divisor);
    if limit / exact <= units {
        return (limit >= exact).then_some(exact);
    }
    // In thousandths: what is taken of a size, at its worst.
    let taken = |unit: u64| {
        sizes
            .clone()
            .map(|size| (u128::from(size.div_ceil(unit)) * u128::from(unit) * 1000 / u128::from(size)) as u64)
            .max()
    };
    let parts = sizes.clone().flat_map(|size| (1..=PARTS).map(move |parts| size.div_ceil(parts)));
    let fits = |unit: &u64| limit >= *unit && limit / unit <= units;
    let tried = parts.filter(fits).filter_map(|unit| Some((taken(unit)?, std::cmp::Reverse(unit))));
    let (taken, unit) = tried.min()?;
    (taken <= 1500).then_some(unit.0)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Work of actions, each so often; what no run could do in its time is all the same.
fn sum(actions: [(u128, u64); 3]) -> u128 {
    actions.into_iter().fold(0, |sum, (times, work)| sum.saturating_add(times.saturating_mul(u128::from(work))))
}
