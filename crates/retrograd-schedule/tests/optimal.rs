//! Recurrences against the reference numbers in `testdata/schedules`, and against a search over all possible programs.

use retrograd_schedule::optimal::closure::{Closure, Maker};
use retrograd_schedule::optimal::tiers::{Disk, Fast, Origin, Tiers};
use retrograd_schedule::optimal::{Choice, JointReversal, Place, SplitReversal, Steps};
use retrograd_schedule::{Action, binomial, next, online};
use std::collections::BTreeMap;

const MIXED_UNIT: &str = include_str!("../../../testdata/schedules/mixed_unit.csv");
const MIXED_BYTES: &str = include_str!("../../../testdata/schedules/mixed_bytes.csv");
const MIXED_BYTES_EXHAUSTIVE: &str = include_str!("../../../testdata/schedules/mixed_bytes_exhaustive.csv");
const TWO_PHASE: &str = include_str!("../../../testdata/schedules/two_phase.csv");
const LOOP_OPTIONS: &str = include_str!("../../../testdata/schedules/loop_options.txt");
const NESTED: &str = include_str!("../../../testdata/schedules/nested.csv");
const ONLINE: &str = include_str!("../../../testdata/schedules/online.csv");
const HREVOLVE: &str = include_str!("../../../testdata/schedules/hrevolve.csv");
const HREVOLVE_EXHAUSTIVE: &str = include_str!("../../../testdata/schedules/hrevolve_exhaustive.csv");
const DISK_REVOLVE: &str = include_str!("../../../testdata/schedules/disk_revolve.csv");
const CLOSURE: &str = include_str!("../../../testdata/schedules/closure.txt");
const MIXED_RAM_DISK: &str = include_str!("../../../testdata/schedules/mixed_ram_disk.csv");

/// Rows of a table as cells, without its heading.
fn rows<const COLUMNS: usize>(table: &'static str) -> Vec<[&'static str; COLUMNS]> {
    let split = |line: &'static str| line.split(',').collect::<Vec<_>>().try_into().expect("the number of columns");
    let rows: Vec<_> = table.lines().skip(1).map(split).collect();
    assert!(rows.len() > 50, "a table has rows");
    rows
}

fn number(cell: &str) -> usize {
    cell.parse().expect("a number")
}

/// An empty cell is what is impossible.
fn optional(cell: &str) -> Option<u64> {
    (!cell.is_empty()).then(|| cell.parse().expect("a number"))
}

/// Forward executions are counted: states of `state` units, records of `tape` units if there are any.
fn unit_costs(state: usize, tape: Option<usize>) -> Steps {
    let choices = tape.into_iter().map(|units| Choice { units, forward: 1, reverse: vec![0] }).collect();
    Steps { start: state, state, advance: 1, hold: 0, turn: vec![1], choices }
}

#[test]
fn states_and_records_of_one_size_equal_the_table() {
    let steps = unit_costs(1, Some(1));
    let table = JointReversal::new(&steps, 100, 40);
    for [n, units, total] in rows(MIXED_UNIT) {
        let found = table.work(Place::First, number(n), number(units));
        assert_eq!(found, optional(total), "n = {n}, {units} units");
    }
}

#[test]
fn states_and_records_of_any_size_equal_the_tables() {
    for table in [MIXED_BYTES, MIXED_BYTES_EXHAUSTIVE] {
        let mut sizes: BTreeMap<(&str, &str), Vec<[&str; 5]>> = BTreeMap::new();
        rows(table).into_iter().for_each(|row: [&str; 5]| sizes.entry((row[0], row[1])).or_default().push(row));
        for ((state, tape), rows) in sizes {
            let largest = |column: usize| rows.iter().map(|row| number(row[column])).max().unwrap_or(0);
            let steps = unit_costs(number(state), Some(number(tape)));
            let table = JointReversal::new(&steps, largest(3), largest(2));
            for [_, _, budget, n, total] in rows {
                let found = table.work(Place::Later, number(n), number(budget));
                assert_eq!(found, optional(total), "states of {state}, records of {tape}, {budget} units, n = {n}");
            }
        }
    }
}

#[test]
fn loops_in_the_middle_of_a_program_equal_the_table() {
    for [state, tape, saved, reversal, n, total] in rows(TWO_PHASE) {
        let steps = unit_costs(number(state), optional(tape).map(|units| units as usize));
        let (saved, reversal, n) = (number(saved), number(reversal), number(n));
        let joint = JointReversal::new(&steps, n, reversal);
        let found = SplitReversal::new(&joint, n, saved, reversal - saved).work(Place::Later, n, saved);
        assert_eq!(
            found,
            optional(total),
            "states of {state}, records of {tape}, {saved} and {reversal} units, n = {n}"
        );
    }
}

#[test]
fn loops_with_many_choices_equal_the_table() {
    let mut steps = unit_costs(1, None);
    let mut compared = 0;
    for line in LOOP_OPTIONS.lines() {
        if let Some(heading) = line.strip_prefix("loop ") {
            steps = read_steps(heading);
            continue;
        }
        let [n, units, work] = line.split(' ').collect::<Vec<_>>().try_into().expect("three columns");
        let table = JointReversal::new(&steps, number(n), number(units));
        let expected = (work != "-").then(|| work.parse().expect("a number"));
        assert_eq!(table.work(Place::Later, number(n), number(units)), expected, "{steps:?}: n = {n}, {units} units");
        compared += 1;
    }
    assert!(compared > 1000);
}

fn read_steps(heading: &str) -> Steps {
    let [sizes, choices, breaks, values] =
        heading.split(';').map(str::trim).collect::<Vec<_>>().try_into().expect("four parts");
    let numbers =
        |text: &str| text.split_whitespace().map(|word| word.parse::<u64>().expect("a number")).collect::<Vec<_>>();
    let [state, advance] = numbers(sizes).try_into().expect("two numbers");
    let (breaks, values) = (numbers(breaks), numbers(values));
    let turn = (0..=40).map(|free| values[breaks.iter().filter(|at| **at <= free).count()]).collect();
    let choice = |text: &str| {
        let [units, forward, reverse] = numbers(&text.replace(':', " ")).try_into().expect("three numbers");
        Choice { units: units as usize, forward, reverse: vec![reverse] }
    };
    let choices = choices.split_whitespace().map(choice).collect();
    Steps { start: state as usize, state: state as usize, advance, hold: 0, turn, choices }
}

#[test]
fn nests_share_memory_as_the_table_says() {
    for [outer_count, inner_count, outer_state, inner_state, tape, budget, total, flattened] in rows(NESTED) {
        let (outer_count, inner_count, budget) = (number(outer_count), number(inner_count), number(budget));
        let state = number(outer_state);
        let tape = optional(tape).map(|units| units as usize);
        let inner_steps = Steps { start: state, ..unit_costs(number(inner_state), tape) };
        let inner = JointReversal::new(&inner_steps, inner_count, budget);
        let never = u64::MAX / 8;
        let work = |free: usize| inner.work(Place::First, inner_count, free).unwrap_or(never);
        // What an inner sweep leaves behind is the record of an outer step: its reversal has what is free then.
        let choice = |units: usize| {
            let split_reversal = |free: usize| {
                SplitReversal::new(&inner, inner_count, units, free)
                    .work(Place::First, inner_count, units)
                    .unwrap_or(never)
            };
            Choice { units, forward: 0, reverse: (0..=budget - units).map(split_reversal).collect() }
        };
        let outer = Steps {
            start: state,
            state,
            advance: inner_count as u64,
            hold: 0,
            turn: (0..=budget).map(work).collect(),
            choices: (1..=budget).map(choice).collect(),
        };
        let found = JointReversal::new(&outer, outer_count, budget).work(Place::First, outer_count, budget);
        assert_eq!(found, optional(total), "{outer_count} times {inner_count} steps, {budget} units");
        // A nest is never better than the flattened loop.
        assert!(optional(flattened).is_some() || found.is_none());
        assert!(found.is_none_or(|found| optional(flattened).is_some_and(|flat| found >= flat)));
    }
}

#[test]
fn two_tiers_equal_the_tables() {
    let float = |cell: &str| cell.parse::<f64>().expect("a number");
    let revolve = |slots: usize| -> Vec<f64> {
        (0..=100).map(|n| if n <= 1 { 0.0 } else { binomial::advances(n, slots as u64) as f64 }).collect()
    };
    for table in [HREVOLVE, HREVOLVE_EXHAUSTIVE] {
        let mut known: BTreeMap<[&str; 4], Vec<f64>> = BTreeMap::new();
        for [n, memory, slots, write, read, work] in rows(table) {
            let costs = known.entry([memory, slots, write, read]).or_insert_with(|| {
                let disk = Disk { slots: Some(number(slots)), write: float(write), read: float(read) };
                with_disk(&revolve(number(memory)), 1.0, disk)
            });
            assert_eq!(
                costs[number(n)],
                float(work),
                "n = {n}, {memory} and {slots} slots, write {write}, read {read}"
            );
        }
    }
    let mut known: BTreeMap<[&str; 3], Vec<f64>> = BTreeMap::new();
    for [n, memory, write, read, work] in rows(DISK_REVOLVE) {
        let costs = known.entry([memory, write, read]).or_insert_with(|| {
            with_disk(&revolve(number(memory)), 1.0, Disk { slots: None, write: float(write), read: float(read) })
        });
        assert_eq!(costs[number(n)], float(work), "n = {n}, {memory} slots, write {write}, read {read}");
    }
}

/// The least work for every number of steps, with a disk under fast memory.
fn with_disk(memory: &[f64], advance: f64, disk: Disk) -> Vec<f64> {
    let fast = Fast { later: memory.to_vec(), first: memory.to_vec() };
    let tiers = Tiers::new(fast, None, advance, 0.0, disk);
    (0..memory.len()).map(|n| tiers.work(Origin::Working, n, disk.slots.unwrap_or(1))).collect()
}

#[test]
fn a_disk_under_states_and_records_equals_the_table() {
    let float = |cell: &str| cell.parse::<f64>().expect("a number");
    let mut known: BTreeMap<[&str; 6], Vec<f64>> = BTreeMap::new();
    for [state, tape, budget, slots, write, read, n, work] in rows(MIXED_RAM_DISK) {
        let costs = known.entry([state, tape, budget, slots, write, read]).or_insert_with(|| {
            let steps = unit_costs(number(state), Some(number(tape)));
            let table = JointReversal::new(&steps, 32, number(budget));
            let memory: Vec<f64> = (0..=32)
                .map(|n| table.work(Place::Later, n, number(budget)).map_or(f64::INFINITY, |work| work as f64))
                .collect();
            with_disk(&memory, 1.0, Disk { slots: Some(number(slots)), write: float(write), read: float(read) })
        });
        let expected = if work.is_empty() { f64::INFINITY } else { float(work) };
        assert_eq!(costs[number(n)], expected, "{state},{tape},{budget},{slots},{write},{read},{n}");
    }
}

#[test]
fn loops_of_unknown_length_hold_what_the_table_says() {
    for [n, slots, optimum, total, positions] in rows(ONLINE) {
        let (n, slots) = (number(n) as u64, number(slots) as u64);
        let mut words = vec![0; online::words(slots)];
        online::start_online(&mut words, slots, 1);
        let mut memory = vec![u64::MAX; slots as usize];
        memory[0] = 0;
        loop {
            match next(&mut words, &[]) {
                Action::Snapshot { at, step } => memory[at as usize + 1] = step,
                Action::Advance { to, .. } if to >= n => break,
                Action::Advance { .. } => {}
                action @ (Action::Restore { .. }
                | Action::Tape { .. }
                | Action::Reverse { .. }
                | Action::Youturn { .. }) => {
                    panic!("{action:?} is no part of a sweep")
                }
                action @ (Action::Spill { .. }
                | Action::Fetch { .. }
                | Action::Turn
                | Action::Done
                | Action::Run(_)) => {
                    panic!("{action:?} is no part of a sweep")
                }
            }
        }
        let held: Vec<(u64, u64)> = online::held(&words).collect();
        assert!(
            held.iter().all(|(step, slot)| memory[*slot as usize] == *step),
            "what is said to be held is in its slot"
        );
        assert_eq!(online::forward_steps(&words, n), total.parse().expect("a number"), "n = {n}, {slots} slots");
        assert!(optimum.parse::<u128>().expect("a number") <= online::forward_steps(&words, n));
        if !positions.is_empty() {
            let found: Vec<String> = held.iter().map(|(step, _)| step.to_string()).collect();
            assert_eq!(found.join(" "), positions, "n = {n}, {slots} slots");
        }
        let promised = online::forward_steps(&words, n);
        assert_eq!(u128::from(n) + reversed(&mut words, &mut memory, n), promised, "n = {n}, {slots} slots");
    }
}

/// Drives the reversal of a loop whose held states are in `memory`, by slot; how many executions that takes.
fn reversed(words: &mut [i64], memory: &mut [u64], n: u64) -> u128 {
    words[online::TRIPS] = n as i64;
    let (mut working, mut end, mut executions) = (None, n, 0);
    // States of one byte: slot 0 is the start, slot k is at k - 1.
    let slot = |at: Option<u64>| at.map_or(0, |at| at as usize + 1);
    loop {
        match next(words, &[]) {
            Action::Advance { from, to } => {
                assert!(working == Some(from) && from < to && to < end);
                working = Some(to);
                executions += u128::from(to - from);
            }
            Action::Snapshot { at, step } => {
                assert_eq!(working, Some(step));
                memory[slot(Some(at))] = step;
            }
            Action::Restore { at, step } => {
                assert_eq!(memory[slot(at)], step);
                working = Some(step);
            }
            Action::Youturn { step } => {
                assert!(working == Some(step) && step + 1 == end);
                (working, end) = (None, step);
                executions += 1;
            }
            Action::Done => {
                assert_eq!(end, 0);
                return executions;
            }
            action @ (Action::Tape { .. }
            | Action::Reverse { .. }
            | Action::Turn
            | Action::Spill { .. }
            | Action::Fetch { .. }
            | Action::Run(_)) => {
                panic!("{action:?} is no part of this")
            }
        }
    }
}

#[test]
fn what_to_save_of_straight_line_code_equals_the_table() {
    let mut code = Closure::default();
    let mut compared = 0;
    for line in CLOSURE.lines() {
        if let Some(values) = line.strip_prefix("code ") {
            let values: Vec<Vec<u64>> = values
                .split(';')
                .map(|value| value.split_whitespace().map(|word| word.parse().expect("a number")).collect())
                .collect();
            let maker = |(k, value): (usize, &Vec<u64>)| Maker {
                work: value[1],
                args: value[3..].iter().map(|arg| *arg as usize).collect(),
                results: vec![k],
            };
            code = Closure {
                bytes: values.iter().map(|value| value[0]).collect(),
                needed: values.iter().map(|value| value[2] == 1).collect(),
                makers: values.iter().enumerate().map(maker).collect(),
                fates: vec![None; values.len()],
            };
            continue;
        }
        let [limit, least, relaxed] =
            line.split(' ').map(|word| word.parse::<f64>().expect("a number")).collect::<Vec<_>>()[..]
        else {
            panic!("three columns: {line}")
        };
        let saved = code.within(limit as u64).expect("everything can be computed again");
        assert!(code.bytes_of(&saved) as f64 <= limit);
        assert_eq!(code.work_of(&saved) as f64, least, "{code:?}, {limit} bytes");
        let bound = code.bound(limit as u64) as f64;
        assert!(relaxed - 1e-3 <= bound && bound <= least, "{code:?}, {limit} bytes: {relaxed} <= {bound} <= {least}");
        compared += 1;
    }
    assert!(compared > 100);
}

#[test]
fn few_splits_are_as_good_as_all_without_records_and_nearly_so_with_them() {
    let states = unit_costs(1, None);
    let (all, few) = (JointReversal::new(&states, 300, 12), JointReversal::quick(&states, 300, 12));
    for (n, units) in (1..=300).flat_map(|n| (0..=12).map(move |units| (n, units))) {
        assert_eq!(few.work(Place::Later, n, units), all.work(Place::Later, n, units), "n = {n}, {units} units");
    }
    let mut random = numbers(7);
    let (mut worst, mut sum, mut cases) = (1.0_f64, 0.0, 0.0);
    for _ in 0..40 {
        let state = 1 + random(4) as usize;
        let mut choice =
            |dear: u64| Choice { units: 1 + random(6) as usize, forward: 10 + dear, reverse: vec![12 + 4 * dear] };
        let steps =
            Steps { start: 0, state, advance: 10, hold: 1, turn: vec![30], choices: vec![choice(0), choice(2)] };
        let (all, few) = (JointReversal::new(&steps, 150, 24), JointReversal::quick(&steps, 150, 24));
        let (all_paired, few_paired) = (SplitReversal::new(&all, 150, 24, 0), SplitReversal::new(&few, 150, 24, 0));
        for (n, units) in [(40, 8), (80, 12), (150, 6), (150, 12), (150, 24)] {
            let pairs = [
                (all.work(Place::First, n, units), few.work(Place::First, n, units)),
                (all_paired.work(Place::First, n, units), few_paired.work(Place::First, n, units)),
            ];
            for (best, found) in pairs {
                let ratio =
                    found.expect("x_0 is held for nothing") as f64 / best.expect("x_0 is held for nothing") as f64;
                assert!(ratio >= 1.0);
                (worst, sum, cases) = (worst.max(ratio), sum + ratio, cases + 1.0);
            }
        }
    }
    assert!(worst < 1.08 && sum / cases < 1.01, "worst {worst}, mean {}", sum / cases);
}

/// Numbers that look random.
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

#[test]
fn no_program_whatever_beats_the_recurrences() {
    for seed in 0..300 {
        let mut random = numbers(seed);
        let forward = 1 + random(4);
        let count = random(3);
        let choice =
            |_| Choice { units: 1 + random(4) as usize, forward: forward + random(2), reverse: vec![1 + random(5)] };
        let choices: Vec<Choice> = (0..count).map(choice).collect();
        let mut turn: Vec<u64> = (0..4).map(|_| forward + 2 + random(6)).collect();
        turn.sort_by_key(|work| std::cmp::Reverse(*work));
        // The search takes seconds for 7 steps and two choices, so few cases are so long.
        let (state, short) = (1 + random(3) as usize, 1 + random(5) as usize);
        let count = if seed % 100 == 0 { 7 } else { short };
        let start = if random(2) == 0 { 0 } else { state };
        let steps = Steps { start, state, advance: forward, hold: 0, turn, choices };
        let units = random(9) as usize;
        let joint = JointReversal::new(&steps, count, units);
        let place = if start == 0 { Place::First } else { Place::Later };
        assert_eq!(
            joint.work(place, count, units),
            search::cheapest(&steps, count, units, false),
            "{steps:?}, n = {count}, {units} units"
        );
        let split_reversal = SplitReversal::new(&joint, count, units, 0);
        assert_eq!(
            split_reversal.work(place, count, units),
            search::cheapest(&steps, count, units, true),
            "{steps:?}, n = {count}, {units} units"
        );
    }
}

/// The cheapest program by Dijkstra's search over all states of the machine, with no assumption on its structure.
mod search {
    use super::Steps;
    use std::cmp::Reverse;
    use std::collections::{BTreeSet, BinaryHeap};

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
    struct Machine {
        working: Option<usize>,
        /// Whether each state is held.
        held: Vec<bool>,
        /// The choice by which each step is recorded.
        taped: Vec<Option<usize>>,
        /// The steps from here on are reversed.
        end: usize,
        turn_ahead: bool,
    }

    /// The least work of all programs for so many units.
    pub(crate) fn cheapest(steps: &Steps, count: usize, units: usize, turn_ahead: bool) -> Option<u64> {
        let first =
            Machine { working: Some(0), held: vec![false; count], taped: vec![None; count], end: count, turn_ahead };
        let mut queue = BinaryHeap::from([Reverse((0, first))]);
        let mut seen = BTreeSet::new();
        while let Some(Reverse((work, machine))) = queue.pop() {
            if machine.end == 0 && !machine.turn_ahead {
                return Some(work);
            }
            if seen.insert(machine.clone()) {
                queue.extend(
                    successors(steps, units, &machine).into_iter().map(|(more, after)| Reverse((work + more, after))),
                );
            }
        }
        None
    }

    fn used(steps: &Steps, machine: &Machine) -> usize {
        let held = |k: usize| if k == 0 { steps.start } else { steps.state };
        let states: usize = (0..machine.held.len()).filter(|k| machine.held[*k]).map(held).sum();
        states + machine.taped.iter().flatten().map(|choice| steps.choices[*choice].units).sum::<usize>()
    }

    fn successors(steps: &Steps, units: usize, machine: &Machine) -> Vec<(u64, Machine)> {
        let mut all = vec![];
        let mut add = |work: u64, change: &dyn Fn(&mut Machine)| {
            let mut after = machine.clone();
            change(&mut after);
            if used(steps, &after) <= units {
                all.push((work, after));
            }
        };
        let count = machine.held.len();
        for k in 0..count {
            if machine.held[k] {
                add(0, &|after| after.working = Some(k));
                add(0, &|after| after.held[k] = false);
            }
            if machine.taped[k].is_some() {
                add(0, &|after| after.taped[k] = None);
            }
        }
        let free = units - used(steps, machine);
        if !machine.turn_ahead
            && let Some(last) = machine.end.checked_sub(1)
            && let Some(choice) = machine.taped[last]
        {
            add(steps.choices[choice].reversed(free), &|after| {
                (after.end, after.taped[last], after.working) = (last, None, None)
            });
        }
        let Some(k) = machine.working else { return all };
        if k < count {
            add(0, &|after| after.held[k] = true);
            add(steps.advance, &|after| after.working = Some(k + 1));
            for (number, choice) in steps.choices.iter().enumerate() {
                add(choice.forward, &|after| (after.working, after.taped[k]) = (Some(k + 1), Some(number)));
            }
        }
        if machine.turn_ahead && k == count {
            add(0, &|after| (after.working, after.turn_ahead) = (None, false));
        }
        if !machine.turn_ahead && k + 1 == machine.end {
            add(steps.turned(free), &|after| (after.working, after.end) = (None, k));
        }
        all
    }
}
