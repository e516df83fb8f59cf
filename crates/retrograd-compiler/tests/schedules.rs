//! Schedules against the reference numbers in `testdata/schedules`, an abstract loop, and a search over all possible programs.

use retrograd_compiler::plan::schedule::{Action, Counts, Schedule, Sweep, binomial, counts, forward_steps, next, slots, start, tape_rows};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

const REVOLVE: &str = include_str!("../../../testdata/schedules/revolve.csv");
const REVOLVE_LARGE: &str = include_str!("../../../testdata/schedules/revolve_large.csv");
const REVOLVE_SPLITS: &str = include_str!("../../../testdata/schedules/revolve_splits.csv");
const REVOLVE_SCHEDULES: &str = include_str!("../../../testdata/schedules/revolve_schedules.txt");
const REVOLVE_WRITES: &str = include_str!("../../../testdata/schedules/revolve_writes.csv");
const SQRT_TWO_LEVEL: &str = include_str!("../../../testdata/schedules/sqrt_two_level.csv");
const TWO_PHASE: &str = include_str!("../../../testdata/schedules/two_phase.csv");

const SWEEPS: [Sweep; 2] = [Sweep::Paired, Sweep::Alone];

#[test]
fn closed_form_equals_the_table_of_fewest_advances() {
    for table in [REVOLVE, REVOLVE_LARGE] {
        for [n, c, r, advances, total] in rows::<u128, 5>(table) {
            let [n, c, r] = [n, c, r].map(|number| u64::try_from(number).expect("only executions are beyond u64"));
            assert_eq!(binomial::repetitions(n, c), r, "n = {n}, c = {c}");
            assert_eq!(binomial::advances(n, c), advances, "n = {n}, c = {c}");
            assert_eq!(forward_steps(Schedule::Revolve { slots: c }, Sweep::Alone, n), total, "n = {n}, c = {c}");
        }
    }
}

#[test]
fn first_advance_is_optimal() {
    for [n, c, least, greatest] in rows(REVOLVE_SPLITS) {
        let advance = binomial::first_advance(n, c);
        assert!((least..=greatest).contains(&advance), "n = {n}, c = {c}: {advance} is not in {least}..={greatest}");
    }
}

#[test]
fn revolve_does_what_griewank_and_walther_do() {
    for line in REVOLVE_SCHEDULES.lines().skip(1) {
        let mut cells = line.splitn(3, ',');
        let mut number = || cells.next().and_then(|cell| cell.parse::<u64>().ok()).expect("a number");
        let (n, slots) = (number(), number());
        // Slots are freed by being written again, and x_0 needs no store.
        let expected = cells.next().expect("actions").split(' ').filter(|word| !word.starts_with('D') && *word != "S0");
        let (actions, _) = run(Schedule::Revolve { slots }, Sweep::Alone, n);
        let actual: Vec<String> = actions.iter().map(in_table).collect();
        assert_eq!(actual, expected.collect::<Vec<_>>(), "n = {n}, c = {slots}");
    }
}

#[test]
fn revolve_stores_the_fewest_states() {
    for [n, c, stores, fewest, restores] in rows(REVOLVE_WRITES) {
        assert_eq!(stores, fewest);
        assert_eq!(binomial::stores(n, c), stores, "n = {n}, c = {c}");
        let (_, counts) = run(Schedule::Revolve { slots: c }, Sweep::Alone, n);
        assert_eq!((counts.snapshots, counts.restores), (stores.saturating_sub(1), restores), "n = {n}, c = {c}");
    }
}

#[test]
fn paired_revolve_is_optimal_for_a_loop_in_the_middle_of_a_program() {
    let mut compared = 0;
    for line in TWO_PHASE.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [state, record, held, reversal, n, total] = cells[..] else { panic!("six columns: {line}") };
        // States of one byte, no records, and nothing more for the reversal than what is held.
        if state != "1" || !record.is_empty() || held != reversal || total.is_empty() {
            continue;
        }
        let [slots, n, total] = [held, n, total].map(|cell| cell.parse().expect("a number"));
        let (_, counts) = run(Schedule::Revolve { slots }, Sweep::Paired, n);
        assert_eq!(counts.advances + u128::from(counts.turnbacks), u128::from(total), "n = {n}, c = {slots}");
        compared += 1;
    }
    assert_eq!(compared, 8 * 11, "1 to 8 slots, 11 loops each");
}

#[test]
fn periodic_equals_the_table_of_periods() {
    for [n, period, held, taped_at_most, _, total] in rows(SQRT_TWO_LEVEL) {
        let schedule = Schedule::Periodic { period };
        for sweep in SWEEPS {
            let (_, counts) = run(schedule, sweep, n);
            assert_eq!(counts.advances + u128::from(counts.taped), u128::from(total), "{schedule}, n = {n}");
            assert_eq!(tape_rows(schedule, n), taped_at_most, "{schedule}, n = {n}");
            // The table holds the start of the last segment too, which is taped at once here.
            assert_eq!(slots(schedule, sweep, n), (held - 1).max(1), "{schedule}, n = {n}");
        }
    }
}

#[test]
fn every_short_loop_is_reversed_within_what_is_predicted() {
    for n in 0..=80 {
        for sweep in SWEEPS {
            run(Schedule::KeepAll, sweep, n);
            for period in (1..=10).chain([n.max(1), n + 1, u64::MAX]) {
                run(Schedule::Periodic { period }, sweep, n);
            }
            for slots in (1..=10).chain([n.max(1), n + 1]) {
                run(Schedule::Revolve { slots }, sweep, n);
            }
        }
    }
}

#[test]
fn driven_revolve_executes_what_the_table_says() {
    for [n, c, _, advances, total] in rows(REVOLVE) {
        let (_, alone) = run(Schedule::Revolve { slots: c }, Sweep::Alone, n);
        assert_eq!(alone.advances, u128::from(advances), "n = {n}, c = {c}");
        assert_eq!(alone.advances + u128::from(alone.turnbacks), u128::from(total), "n = {n}, c = {c}");
        // In a pair the rest of the program is one more step.
        let (_, paired) = run(Schedule::Revolve { slots: c }, Sweep::Paired, n - 1);
        assert_eq!(paired.advances + u128::from(paired.turnbacks), u128::from(total - 1), "n = {n}, c = {c}");
    }
}

#[test]
fn no_program_whatever_beats_revolve() {
    for n in 1..=7 {
        for slots in 1..=4 {
            for sweep in SWEEPS {
                let schedule = Schedule::Revolve { slots };
                let (_, counts) = run(schedule, sweep, n);
                let executions = counts.advances + u128::from(counts.turnbacks);
                assert_eq!((executions, counts.snapshots), search::cheapest(n, slots, sweep), "{schedule}, {sweep:?}, n = {n}");
            }
        }
    }
}

#[test]
fn loops_of_no_steps_only_turn() {
    for schedule in [Schedule::KeepAll, Schedule::Periodic { period: 3 }, Schedule::Revolve { slots: 3 }] {
        assert_eq!(run(schedule, Sweep::Paired, 0).0, [Action::Turn]);
        assert_eq!(run(schedule, Sweep::Alone, 0).0, []);
    }
}

#[test]
fn keep_all_tapes_once() {
    use Action::{Reverse, Tape, Turn};
    let (tape, reverse) = (Tape { from: 0, to: 5, row: 0 }, Reverse { from: 0, to: 5, row: 0 });
    assert_eq!(run(Schedule::KeepAll, Sweep::Paired, 5).0, [tape, Turn, reverse]);
    assert_eq!(run(Schedule::KeepAll, Sweep::Alone, 5).0, [tape, reverse]);
}

#[test]
fn periodic_tapes_the_last_segment_at_once_and_the_others_when_they_are_reversed() {
    use Action::{Advance, Restore, Reverse, Snapshot, Tape, Turn};
    let expected = [
        Advance { from: 0, to: 3 },
        Snapshot { slot: 1, step: 3 },
        Advance { from: 3, to: 6 },
        Tape { from: 6, to: 8, row: 0 },
        Turn,
        Reverse { from: 6, to: 8, row: 0 },
        Restore { slot: 1, step: 3 },
        Tape { from: 3, to: 6, row: 0 },
        Reverse { from: 3, to: 6, row: 0 },
        Restore { slot: 0, step: 0 },
        Tape { from: 0, to: 3, row: 0 },
        Reverse { from: 0, to: 3, row: 0 },
    ];
    assert_eq!(run(Schedule::Periodic { period: 3 }, Sweep::Paired, 8).0, expected);
}

#[test]
fn paired_revolve_turns_where_the_next_step_would_be() {
    use Action::{Advance, Restore, Snapshot, Turn, Turnback};
    let expected = [
        Advance { from: 0, to: 1 },
        Snapshot { slot: 1, step: 1 },
        Advance { from: 1, to: 3 },
        Turn,
        Restore { slot: 1, step: 1 },
        Advance { from: 1, to: 2 },
        Turnback { step: 2 },
        Restore { slot: 1, step: 1 },
        Turnback { step: 1 },
        Restore { slot: 0, step: 0 },
        Turnback { step: 0 },
    ];
    assert_eq!(run(Schedule::Revolve { slots: 2 }, Sweep::Paired, 3).0, expected);
}

#[test]
fn schedules_print_in_words() {
    assert_eq!(Schedule::KeepAll.to_string(), "keep all");
    assert_eq!(Schedule::Periodic { period: 1 }.to_string(), "every step");
    assert_eq!(Schedule::Periodic { period: 32 }.to_string(), "every 32 steps");
    assert_eq!(Schedule::Revolve { slots: 1 }.to_string(), "revolve with 1 slot");
    assert_eq!(Schedule::Revolve { slots: 18 }.to_string(), "revolve with 18 slots");
}

#[test]
fn long_loops_run_without_overflow() {
    let longest = i64::MAX as u64 - 1;
    for n in [1_000_000_000, 1_000_000_000_000, longest] {
        for sweep in SWEEPS {
            run(Schedule::KeepAll, sweep, n);
            for period in [n / 2, n - 1, n, n + 1, u64::MAX] {
                run(Schedule::Periodic { period }, sweep, n);
            }
            for size in [1, 2, 3, 7, 18, 100, 1000, 10_000] {
                Run::new(Schedule::Periodic { period: size }, sweep, n).steps(100_000);
                Run::new(Schedule::Revolve { slots: size }, sweep, n).steps(100_000);
            }
        }
    }
}

#[test]
fn closed_forms_hold_at_the_ends_of_u64() {
    let n = u64::MAX;
    assert_eq!(binomial::advances(n, 1), u128::from(n) * u128::from(n - 1) / 2);
    assert_eq!(binomial::advances(n, n), u128::from(n) - 1);
    assert_eq!(binomial::first_advance(n, 1), n - 1);
    assert_eq!(binomial::first_advance(n, n), 1);
    assert_eq!(binomial::beta(n, n), u128::MAX);
    for slots in [2, 3, 5, 8, 13, 40, 1000, 1_000_000_000] {
        for r in 1..=60 {
            // One step more than beta(c, r) needs one repetition more, which is also what that step costs.
            if let Ok(n) = u64::try_from(binomial::beta(slots, r).saturating_add(1)) {
                assert_eq!((binomial::repetitions(n - 1, slots), binomial::repetitions(n, slots)), (r, r + 1));
                assert_eq!(binomial::advances(n, slots) - binomial::advances(n - 1, slots), u128::from(r) + 1);
            }
        }
    }
}

#[test]
fn closed_forms_follow_the_recurrence_far_beyond_what_can_be_driven() {
    for n in [1_000, 123_456, 1_000_000_000, 999_999_999_999] {
        for c in [2, 3, 4, 7, 18, 40, 300] {
            let m = binomial::first_advance(n, c);
            let advances = u128::from(m) + binomial::advances(m, c) + binomial::advances(n - m, c - 1);
            assert_eq!(binomial::advances(n, c), advances, "n = {n}, c = {c}");
            // x_0 is stored, and stored once, also if m = 1.
            let stores = binomial::stores(m, c).max(1) + binomial::stores(n - m, c - 1);
            assert_eq!(binomial::stores(n, c), stores, "n = {n}, c = {c}");
        }
    }
}

#[test]
#[should_panic(expected = "needs 25 words, not 24")]
fn too_few_words_are_refused() {
    start(&mut [0; 24], Schedule::Revolve { slots: 18 }, Sweep::Paired, 1000);
}

#[test]
#[should_panic(expected = "no controller was started")]
fn words_must_be_started() {
    next(&mut [0; 24]);
}

/// The rows of a table of numbers, without its heading.
fn rows<Number: FromStr, const COLUMNS: usize>(table: &str) -> impl Iterator<Item = [Number; COLUMNS]> {
    assert!(table.lines().count() > 1);
    table.lines().skip(1).map(|line| {
        let numbers: Vec<Number> = line.split(',').map(|cell| cell.parse().ok().expect("a number")).collect();
        numbers.try_into().ok().expect("the number of columns")
    })
}

/// An action as `revolve_schedules.txt` writes it.
fn in_table(action: &Action) -> String {
    match action {
        Action::Advance { from, to } => format!("A{from}-{to}"),
        Action::Snapshot { step, .. } => format!("S{step}"),
        Action::Restore { step, .. } => format!("R{step}"),
        Action::Turnback { step } => format!("U{step}"),
        Action::Tape { .. } | Action::Reverse { .. } | Action::Turn | Action::Done => panic!("not in a Revolve alone: {action:?}"),
    }
}

/// Drives a schedule to its end on an abstract loop, checks every action and all predictions, and returns the actions before `Done`.
fn run(schedule: Schedule, sweep: Sweep, n: u64) -> (Vec<Action>, Counts) {
    let mut run = Run::new(schedule, sweep, n);
    let mut actions = Vec::new();
    loop {
        let action = run.step();
        if action == Action::Done {
            break;
        }
        actions.push(action);
    }
    assert_eq!(run.step(), Action::Done, "done stays done");
    run.check_end();
    (actions, run.counts)
}

/// Words on either side of the controller's that it must not touch.
const GUARDS: usize = 3;
const GUARD: i64 = 0x5afe;

/// An abstract loop: the number of a state stands for the state.
struct Run {
    schedule: Schedule,
    sweep: Sweep,
    n: u64,
    words: Vec<i64>,
    /// The state in the working buffer, if it is one.
    working: Option<u64>,
    slots: BTreeMap<u64, u64>,
    slots_peak: u64,
    /// Steps on the tape, and the row of the first.
    tape: Option<(u64, u64, u64)>,
    rows_peak: u64,
    /// Steps from here on are reversed.
    end: u64,
    turn_ahead: bool,
    counts: Counts,
}

/// Where a check fails.
#[derive(Clone, Copy)]
struct Place(Schedule, Sweep, u64, Action);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:?}, n = {}: {:?}", self.0, self.1, self.2, self.3)
    }
}

impl Run {
    fn new(schedule: Schedule, sweep: Sweep, n: u64) -> Run {
        let length = schedule.words();
        let mut words = vec![GUARD; length + 2 * GUARDS];
        start(&mut words[GUARDS..GUARDS + length], schedule, sweep, n);
        Run {
            schedule,
            sweep,
            n,
            words,
            working: Some(0),
            slots: BTreeMap::from([(0, 0)]),
            slots_peak: 1,
            tape: None,
            rows_peak: 0,
            end: n,
            turn_ahead: sweep == Sweep::Paired,
            counts: Counts::default(),
        }
    }

    fn steps(&mut self, actions: usize) {
        for _ in 0..actions {
            self.step();
        }
    }

    fn step(&mut self) -> Action {
        let length = self.schedule.words();
        let action = next(&mut self.words[GUARDS..GUARDS + length]);
        let place = Place(self.schedule, self.sweep, self.n, action);
        let mut guards = self.words[..GUARDS].iter().chain(&self.words[GUARDS + length..]);
        assert!(guards.all(|word| *word == GUARD), "{place} writes outside its words");
        match action {
            Action::Advance { from, to } => {
                self.forward(from, to, place);
                self.counts.advances += u128::from(to - from);
            }
            Action::Tape { from, to, row } => {
                self.forward(from, to, place);
                assert_eq!(self.tape.replace((from, to, row)), None, "{place} overwrites the tape");
                self.rows_peak = self.rows_peak.max(row + (to - from));
                self.counts.taped += to - from;
            }
            Action::Reverse { from, to, row } => {
                assert_eq!(self.tape.take(), Some((from, to, row)), "{place} reads what is not on the tape");
                self.reverse(from, to, place);
            }
            Action::Turnback { step } => {
                assert_eq!(self.working, Some(step), "{place}");
                self.reverse(step, step + 1, place);
                self.counts.turnbacks += 1;
            }
            Action::Snapshot { slot, step } => self.snapshot(slot, step, place),
            Action::Restore { slot, step } => self.restore(slot, step, place),
            Action::Turn => self.turn(place),
            Action::Done => {}
        }
        action
    }

    fn forward(&mut self, from: u64, to: u64, place: Place) {
        assert!(from < to && to <= self.end, "{place} executes what is reversed");
        assert_eq!(self.working, Some(from), "{place}");
        self.working = Some(to);
    }

    fn reverse(&mut self, from: u64, to: u64, place: Place) {
        assert!(!self.turn_ahead, "{place} comes before the turn");
        assert!(from < to && to == self.end, "{place} is out of order");
        self.end = from;
        self.working = None;
    }

    fn snapshot(&mut self, slot: u64, step: u64, place: Place) {
        assert_eq!(self.working, Some(step), "{place}");
        assert!(slot >= 1 && slot < slots(self.schedule, self.sweep, self.n), "{place} has no such slot to write");
        self.slots.insert(slot, step);
        self.slots_peak = self.slots_peak.max(slot + 1);
        self.counts.snapshots += 1;
    }

    fn restore(&mut self, slot: u64, step: u64, place: Place) {
        assert!(!self.turn_ahead, "{place} is no part of a first sweep");
        assert_eq!(self.slots.get(&slot), Some(&step), "{place}");
        self.working = Some(step);
        self.counts.restores += 1;
    }

    fn turn(&mut self, place: Place) {
        assert!(self.turn_ahead, "{place} has nothing to turn");
        // Without a restore the steps only go on from 0, so that each was executed once.
        assert_eq!(self.working, Some(self.n), "{place}");
        assert_eq!(self.counts.advances + u128::from(self.counts.taped), u128::from(self.n), "{place}");
        self.turn_ahead = false;
        self.working = None;
    }

    fn check_end(&self) {
        let Run { schedule, sweep, n, .. } = *self;
        let place = Place(schedule, sweep, n, Action::Done);
        assert_eq!(self.end, 0, "{place}");
        assert!(!self.turn_ahead, "{place}");
        assert_eq!(self.counts, counts(schedule, sweep, n), "{place}");
        assert_eq!(self.rows_peak, tape_rows(schedule, n), "{place}");
        assert_eq!(self.slots_peak, slots(schedule, sweep, n), "{place}");
        let executions = self.counts.advances + u128::from(self.counts.taped) + u128::from(self.counts.turnbacks);
        assert_eq!(executions, forward_steps(schedule, sweep, n), "{place}");
    }
}

/// The cheapest program by Dijkstra's search over all states of the machine, with no assumption on its structure.
mod search {
    use super::Sweep;
    use std::cmp::Reverse;
    use std::collections::{BTreeSet, BinaryHeap};

    /// Executions first, then snapshots.
    type Cost = (u128, u64);

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    struct Machine {
        working: Option<u64>,
        /// Bit k: x_k is held. Bit 0 always is.
        held: u64,
        end: u64,
        turn_ahead: bool,
    }

    /// The fewest executions, and the fewest snapshots among programs with so few.
    pub(crate) fn cheapest(n: u64, slots: u64, sweep: Sweep) -> Cost {
        let first = Machine { working: Some(0), held: 1, end: n, turn_ahead: sweep == Sweep::Paired };
        let mut queue = BinaryHeap::from([Reverse(((0, 0), first))]);
        let mut seen = BTreeSet::new();
        while let Some(Reverse(((executions, snapshots), machine))) = queue.pop() {
            if machine.end == 0 && !machine.turn_ahead {
                return (executions, snapshots);
            }
            if seen.insert(machine) {
                for (cost, after) in successors(machine, n, slots) {
                    queue.push(Reverse(((executions + cost.0, snapshots + cost.1), after)));
                }
            }
        }
        unreachable!("one slot is enough to reverse any loop")
    }

    fn successors(machine: Machine, n: u64, slots: u64) -> Vec<(Cost, Machine)> {
        let Machine { working, held, end, turn_ahead } = machine;
        let mut all = Vec::new();
        for k in (0..n).filter(|k| held & (1 << k) != 0) {
            all.push(((0, 0), Machine { working: Some(k), ..machine }));
            if k > 0 {
                all.push(((0, 0), Machine { held: held & !(1 << k), ..machine }));
            }
        }
        let Some(k) = working else { return all };
        if k < n {
            all.push(((1, 0), Machine { working: Some(k + 1), ..machine }));
            if u64::from(held.count_ones()) < slots {
                all.push(((0, 1), Machine { held: held | (1 << k), ..machine }));
            }
        }
        if turn_ahead && k == n {
            all.push(((0, 0), Machine { working: None, turn_ahead: false, ..machine }));
        }
        if !turn_ahead && k + 1 == end {
            all.push(((1, 0), Machine { working: None, end: k, ..machine }));
        }
        all
    }
}
