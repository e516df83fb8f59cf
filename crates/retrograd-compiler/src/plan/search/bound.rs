//! No plan in so many bytes does less work than this, with the records that its strategy chooses from.
//!
//! Every loop is given all the memory there is, controllers take nothing, sizes are rounded down, and where there are
//! records states are held and found again for nothing: what the recurrences then say is a bound for every schedule of
//! states and records, and so is what Revolve advances with as many states as there is room for the smallest of all. A
//! loop may be too long for the recurrences, never for Revolve.

use crate::plan::analysis::counts::UNKNOWN_STEPS;
use crate::plan::search::facts::{Facts, Region};
use crate::plan::search::fit::{Inside, Records, down};
use retrograd_schedule::optimal::{JointReversal, Place, SplitReversal};
use retrograd_schedule::{Schedule, Sweep, counts};

/// Cells that a table of one loop may take time for.
const CELLS: u64 = 30_000_000;

/// The bound for a Program, in picoseconds.
pub(in crate::plan) fn bound(facts: &Facts, bytes: u64) -> u128 {
    Bound { facts, bytes, cells: CELLS }.of_all()
}

/// A bound that takes no time, and may be lower: without recurrences.
pub(in crate::plan) fn quick_bound(facts: &Facts, bytes: u64) -> u128 {
    Bound { facts, bytes, cells: 0 }.of_all()
}

struct Bound<'f> {
    facts: &'f Facts,
    bytes: u64,
    /// Cells that a table of one loop may take time for.
    cells: u64,
}

impl Bound<'_> {
    fn of_all(&self) -> u128 {
        u128::from(self.facts.cost).saturating_add(self.region(&self.facts.root))
    }

    fn region(&self, region: &Region) -> u128 {
        match region {
            Region::Sequence(parts) => parts.iter().map(|part| self.region(part)).fold(0, u128::saturating_add),
            Region::Branches(parts) => parts.iter().map(|part| self.region(part)).fold(0, u128::max),
            Region::Repeat { times, body } => self.region(body).saturating_mul(u128::from(*times)),
            Region::Unwind(number) => self.unwind(*number),
        }
    }

    fn unwind(&self, number: usize) -> u128 {
        let facts = &self.facts.loops[number];
        let work = |region: &Region| u64::try_from(self.region(region)).unwrap_or(u64::MAX).min(1 << 50);
        let inside = Inside {
            facts,
            forward: work(&facts.in_body),
            backward: work(&facts.in_bwd),
            cells: self.cells,
            most_kinds: [usize::MAX; 2],
            spill: None,
        };
        if facts.keeps_nothing() {
            return inside.nothing().work;
        }
        // What the program's own loop cannot record, blocks of its reversal can.
        let by_all = |way: Records<'_>| Records { choices: facts.choices.iter().collect(), ..way };
        let ways = |sweep: &Sweep| match (facts.count, sweep) {
            // No schedule of a loop whose length is known at run time is better than if the length were known before.
            (_, Sweep::Joint | Sweep::Split) => {
                inside.records(*sweep, facts.count.unwrap_or(UNKNOWN_STEPS)).into_iter().map(by_all).collect()
            }
            (Some(count), Sweep::Online) => inside.records(*sweep, count),
            // Of a loop that holds states while it runs nothing is recorded.
            (None, Sweep::Online) => vec![Records { sweep: Sweep::Split, choices: vec![], count: UNKNOWN_STEPS }],
        };
        let least = |sweep: Sweep, way: Records<'_>| {
            let is_bounded = way.count > 0 && self.facts.spill.is_none();
            let (count, [turn, hold]) = (u128::from(way.count), inside.turn_and_hold(sweep));
            // A disk may be faster than memory is taken to be.
            let hold = if self.facts.spill.is_none() { hold } else { 0 };
            let relaxed = if is_bounded {
                self.counted(inside, &way, [turn, hold]).max(self.tabled(inside, &way, turn).unwrap_or(0))
            } else {
                0
            };
            let from_start = from_start([inside.advance(), hold].map(u128::from), count, count) * u128::from(hold);
            relaxed.max(inside.once(&way, [turn, hold]).saturating_sub(from_start))
        };
        let all = facts.sweeps.iter().flat_map(|sweep| ways(sweep).into_iter().map(|way| least(*sweep, way)));
        all.min().expect("a loop is met somewhere")
    }

    /// By the number of steps that run forwards. Whoever records a step could hold the state before it instead, in the
    /// room of the smallest of all, and turn it back later: so steps that are advanced and steps that are recorded
    /// are together as many as Revolve advances.
    fn counted(&self, inside: Inside<'_>, way: &Records<'_>, [turn, hold]: [u64; 2]) -> u128 {
        let fitting = || way.choices.iter().copied().filter(|choice| choice.bytes <= self.bytes);
        let smallest = fitting().map(|choice| choice.bytes).chain([inside.facts.state_bytes]).min().unwrap_or(0);
        // Of what takes no bytes, such as an array without elements, there can be any number.
        let held = self.bytes.checked_div(smallest).unwrap_or(u64::MAX);
        let (slots, count) = (held.saturating_add(1).min(way.count), u128::from(way.count));
        let counts = counts(&Schedule::Revolve { slots, state_bytes: smallest }, way.sweep, way.count);
        let [advance, turn, hold] = [inside.advance(), turn, hold].map(u128::from);
        let work = match fitting().map(|choice| inside.recorded_once(choice)).min() {
            // What turns a step back leaves no state behind, so that the next begins with a held one.
            None => {
                let held = count - u128::from(way.sweep == Sweep::Joint);
                let held = held.saturating_sub(from_start([advance, hold], counts.advances, count));
                counts.advances * advance + count * turn + held * hold
            }
            // With more recorded steps the work changes at one rate until none is advanced, and at another from there
            // on.
            Some(record) => {
                let with = |taped: u128| {
                    counts.advances.saturating_sub(taped) * advance
                        + taped * u128::from(record)
                        + (count - taped) * turn
                };
                with(0).min(with(counts.advances.min(count))).min(with(count))
            }
        };
        work.saturating_sub(inside.own(way.sweep, way.count))
    }

    /// By the recurrences, where they do not take too long.
    fn tabled(&self, inside: Inside<'_>, way: &Records<'_>, turn: u64) -> Option<u128> {
        let (state, count) = (inside.facts.state_bytes.max(1), way.count);
        let is_free = inside.facts.state_bytes == 0 || way.choices.iter().any(|choice| choice.bytes == 0);
        if is_free || way.choices.iter().all(|choice| choice.bytes > self.bytes) {
            return None;
        }
        let units = self.cells.checked_div(count.checked_mul(count)?)?.min(256);
        let unit = self.bytes.div_ceil(units.max(1)).max(1);
        if units == 0 || way.sizes(state).any(|size| size < unit) {
            return None;
        }
        let mut steps = inside.steps(way, unit, down)?;
        let units_of = |bytes: u64| (bytes.max(1) / unit) as usize;
        (steps.costs.state, steps.costs.hold, steps.costs.turn) = (units_of(state), 0, vec![down(turn, steps.shift)]);
        steps
            .costs
            .choices
            .iter_mut()
            .zip(&way.choices)
            .for_each(|(costs, choice)| costs.units = units_of(choice.bytes));
        let (count, units) = (count as usize, (self.bytes / unit) as usize);
        let joint = JointReversal::new(&steps.costs, count, units);
        let work = match way.sweep {
            Sweep::Split => SplitReversal::new(&joint, count, units, 0).work(Place::First, count, units),
            Sweep::Joint | Sweep::Online => joint.work(Place::First, count, units),
        }?;
        (u128::from(work) << steps.shift).checked_sub(inside.own(way.sweep, way.count))
    }
}

/// Most steps that it may pay to reach from the start and not from a held state, where so many are advanced anyway: the
/// k-th of them has at least k steps to advance.
fn from_start([advance, hold]: [u128; 2], advances: u128, count: u128) -> u128 {
    let worth = hold.checked_div(advance).unwrap_or(count);
    (2 * advances).isqrt().saturating_add(1).saturating_add(worth).min(count)
}

#[cfg(test)]
mod tests {
    use super::{Bound, CELLS, bound};
    use crate::ir::{FuncId, Pos, Value};
    use crate::plan::decision::Cut;
    use crate::plan::search::facts::{ChoiceFacts, Facts, LoopFacts, Region};
    use crate::plan::search::fit::Inside;
    use retrograd_schedule::Sweep;

    const REVOLVE: &str = include_str!("../../../../../testdata/schedules/revolve.csv");
    const MIXED_BYTES: &str = include_str!("../../../../../testdata/schedules/mixed_bytes.csv");
    const TWO_PHASE: &str = include_str!("../../../../../testdata/schedules/two_phase.csv");

    /// Work of a step: far more than that of all actions.
    const STEP: u64 = 1 << 30;

    fn rows<const COLUMNS: usize>(table: &str) -> Vec<[Option<u64>; COLUMNS]> {
        let cells = |line: &str| line.split(',').map(|cell| cell.parse().ok()).collect::<Vec<_>>();
        let rows: Vec<_> =
            table.lines().skip(1).map(|line| cells(line).try_into().expect("the number of columns")).collect();
        assert!(rows.len() > 50, "a table has rows");
        rows
    }

    /// A loop that counts forward executions: a step that is turned back is one, and its reversal is none.
    fn counting(count: u64, sweep: Sweep, state_bytes: u64, record: Option<u64>) -> Facts {
        let choice = |bytes: u64| {
            let cut = Cut { kept: vec![Value(0)] };
            ChoiceFacts { cut, bytes, cost_forward: STEP, cost_reverse: 0, in_sweep: true }
        };
        let facts = LoopFacts {
            bwd: FuncId(0),
            pos: Pos::unknown(),
            depth: 0,
            count: Some(count),
            sweeps: vec![sweep],
            state_bytes,
            of_numbers: false,
            residuals: vec![],
            choices: vec![choice(record.unwrap_or(1 << 40))],
            cost_forward: STEP,
            cost_turnback: STEP,
            cost_hold: 0,
            in_body: Region::default(),
            in_bwd: Region::default(),
        };
        Facts { loops: vec![facts], root: Region::Unwind(0), ..Facts::default() }
    }

    fn steps(facts: &Facts, bytes: u64) -> u64 {
        (bound(facts, bytes) / u128::from(STEP)) as u64
    }

    #[test]
    fn of_held_states_alone_it_is_the_optimum() {
        for [count, slots, _, _, total] in rows(REVOLVE) {
            // The first slot is that of the start, which is there anyway.
            let [count, slots, total] = [count, slots, total].map(|cell| cell.expect("no cell is empty"));
            assert_eq!(
                steps(&counting(count, Sweep::Joint, 8, None), 8 * (slots - 1)),
                total,
                "{count} steps, {slots} slots"
            );
        }
    }

    #[test]
    fn of_states_and_records_it_is_the_optimum() {
        let mut judged = 0;
        for [state, record, bytes, count, total] in rows(MIXED_BYTES) {
            let ([Some(state), Some(bytes), Some(count)], Some(total)) = ([state, bytes, count], total) else {
                continue;
            };
            let facts = counting(count, Sweep::Joint, state, record);
            // The table counts the state of the start where it is held, and here it is there anyway.
            assert!(steps(&facts, bytes) <= total, "{facts:?} in {bytes}: {total}");
            let less = bytes.checked_sub(state).map(|bytes| steps(&facts, bytes));
            assert!(less.is_none_or(|less| less >= total), "{facts:?} in {bytes}: {total}");
            judged += 1;
        }
        assert!(judged > 50);
    }

    #[test]
    fn of_a_loop_too_long_for_tables_it_is_what_revolve_advances() {
        for [state, record, bytes, count, total] in rows(MIXED_BYTES) {
            let ([Some(state), Some(bytes), Some(count)], Some(total)) = ([state, bytes, count], total) else {
                continue;
            };
            let facts = counting(count, Sweep::Joint, state, record);
            let inside = Inside {
                facts: &facts.loops[0],
                forward: 0,
                backward: 0,
                cells: CELLS,
                most_kinds: [usize::MAX; 2],
                spill: None,
            };
            let way = inside.records(Sweep::Joint, count).pop().expect("a way to stand joint");
            let found =
                Bound { facts: &facts, bytes, cells: CELLS }.counted(inside, &way, inside.turn_and_hold(way.sweep))
                    / u128::from(STEP);
            assert!(found <= u128::from(total), "{facts:?} in {bytes}: {found}, {total}");
        }
        // 100,000 steps and room for 1000 records, or 500 states: each of the steps that is not recorded at first runs
        // a second time.
        let long = counting(100_000, Sweep::Joint, 16, Some(8));
        assert_eq!(steps(&long, 8000), 2 * 100_000 - 1003);
        assert_eq!(steps(&long, 16 * 100_000), 100_000);
    }

    #[test]
    fn of_a_loop_in_the_middle_of_a_program_it_is_at_most_the_optimum() {
        let (mut judged, mut met) = (0, 0);
        for [state, record, _, bytes, count, total] in rows(TWO_PHASE) {
            let ([Some(state), Some(bytes), Some(count)], Some(total)) = ([state, bytes, count], total) else {
                continue;
            };
            // The program's own loop is no work of its reversal.
            let found = steps(&counting(count, Sweep::Split, state, record), bytes) + count;
            assert!(
                found <= total,
                "states of {state}, records of {record:?}, {count} steps in {bytes}: {found}, {total}"
            );
            (judged, met) = (judged + 1, met + u64::from(found == total));
        }
        assert!(judged > 50 && met > judged / 10, "{met} of {judged}");
    }

    #[test]
    fn of_branches_it_is_that_of_the_dearer() {
        let mut facts = counting(10, Sweep::Joint, 8, None);
        let one = bound(&facts, 16);
        facts.loops.push(LoopFacts { cost_turnback: 2 * STEP, ..facts.loops[0].clone() });
        facts.root = Region::Unwind(1);
        let dearer = bound(&facts, 16);
        facts.root = Region::Branches(vec![Region::Unwind(0), Region::Unwind(1)]);
        assert_eq!(bound(&facts, 16), dearer);
        facts.root = Region::Sequence(vec![Region::Unwind(0), Region::Unwind(1)]);
        assert_eq!(bound(&facts, 16), dearer + one);
    }
}
