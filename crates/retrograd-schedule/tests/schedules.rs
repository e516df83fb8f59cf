//! Schedules against the reference numbers in `testdata/schedules`, an abstract loop, and a search over all possible
//! programs.

use retrograd_schedule::optimal::{Choice, JointReversal, Place as Start, SplitReversal, Steps};
use retrograd_schedule::{Action, Blocks, Counts, RUNS, Recipe, Schedule, Sweep, binomial, counts, next, start};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::str::FromStr;

const REVOLVE: &str = include_str!("../../../testdata/schedules/revolve.csv");
const REVOLVE_LARGE: &str = include_str!("../../../testdata/schedules/revolve_large.csv");
const REVOLVE_SPLITS: &str = include_str!("../../../testdata/schedules/revolve_splits.csv");
const REVOLVE_SCHEDULES: &str = include_str!("../../../testdata/schedules/revolve_schedules.txt");
const REVOLVE_WRITES: &str = include_str!("../../../testdata/schedules/revolve_writes.csv");
const SQRT_TWO_LEVEL: &str = include_str!("../../../testdata/schedules/sqrt_two_level.csv");
const TWO_PHASE: &str = include_str!("../../../testdata/schedules/two_phase.csv");

const SWEEPS: [Sweep; 2] = [Sweep::Split, Sweep::Joint];

/// Bytes of a state and of a record, so that what lies where it should not is seen.
const STATE: u64 = 3;
const RECORD: u64 = 5;

fn revolve(slots: u64) -> Schedule {
    Schedule::Revolve { slots, state_bytes: STATE }
}

fn blocks(steps: u64, slots: u64) -> Schedule {
    Schedule::Blocks(Blocks { steps, record_bytes: RECORD, slots, state_bytes: STATE })
}

fn keep_all(sweep: Sweep, n: u64) -> Schedule {
    Schedule::of(Recipe::keep_all(n, sweep, STATE, RECORD))
}

fn periodic(period: u64, sweep: Sweep, n: u64) -> Schedule {
    Schedule::of(Recipe::periodic(period, n, sweep, STATE, RECORD))
}

#[test]
fn closed_form_equals_the_table_of_fewest_advances() {
    for table in [REVOLVE, REVOLVE_LARGE] {
        for [n, c, r, advances, total] in rows::<u128, 5>(table) {
            let [n, c, r] = [n, c, r].map(|number| u64::try_from(number).expect("only executions are beyond u64"));
            assert_eq!(binomial::repetitions(n, c), r, "n = {n}, c = {c}");
            assert_eq!(binomial::advances(n, c), advances, "n = {n}, c = {c}");
            assert_eq!(counts(&revolve(c), Sweep::Joint, n).forward_steps(), total, "n = {n}, c = {c}");
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
        let (actions, _) = run(&revolve(slots), Sweep::Joint, n);
        let actual: Vec<String> = actions.iter().map(in_table).collect();
        assert_eq!(actual, expected.collect::<Vec<_>>(), "n = {n}, c = {slots}");
    }
}

#[test]
fn revolve_stores_the_fewest_states() {
    for [n, c, stores, fewest, restores] in rows(REVOLVE_WRITES) {
        assert_eq!(stores, fewest);
        assert_eq!(binomial::stores(n, c), stores, "n = {n}, c = {c}");
        let (_, counts) = run(&revolve(c), Sweep::Joint, n);
        assert_eq!(
            (counts.snapshots, counts.restores),
            (u128::from(stores.saturating_sub(1)), u128::from(restores)),
            "n = {n}, c = {c}"
        );
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
        let (_, counts) = run(&revolve(slots), Sweep::Split, n);
        assert_eq!(counts.forward_steps(), u128::from(total), "n = {n}, c = {slots}");
        compared += 1;
    }
    assert_eq!(compared, 8 * 11, "1 to 8 slots, 11 loops each");
}

#[test]
fn periodic_equals_the_table_of_periods() {
    for [n, period, held, taped_at_most, _, total] in rows(SQRT_TWO_LEVEL) {
        for sweep in SWEEPS {
            let schedule = periodic(period, sweep, n);
            let (_, counts) = run(&schedule, sweep, n);
            assert_eq!(counts.forward_steps(), u128::from(total), "{schedule}, n = {n}");
            // The table holds the start of the last segment too, which is taped at once here; and x_0, which takes
            // nothing.
            let copies = u64::saturating_sub(held, 2);
            // A segment is recorded over its own start.
            assert!(schedule.pool_bytes(sweep, None) <= copies * STATE + taped_at_most * RECORD, "{schedule}, n = {n}");
        }
    }
}

#[test]
fn every_short_loop_is_reversed_within_what_is_predicted() {
    for n in 0..=80 {
        for sweep in SWEEPS {
            run(&keep_all(sweep, n), sweep, n);
            for period in (1..=10).chain([n.max(1), n + 1, u64::MAX]) {
                run(&periodic(period, sweep, n), sweep, n);
            }
            for slots in (1..=10).chain([n.max(1), n + 1]) {
                run(&revolve(slots), sweep, n);
                for steps in [1, 2, 3, 7, 64, n + 1] {
                    run(&blocks(steps, slots), sweep, n);
                }
            }
        }
    }
}

#[test]
fn revolve_over_blocks_runs_as_many_blocks_as_the_table_says() {
    for [n, c, _, advances, _] in rows::<u64, 5>(REVOLVE) {
        for steps in [1, 5] {
            let (actions, joint) = run(&blocks(steps, c), Sweep::Joint, n * steps);
            assert_eq!(joint.advances, u128::from(steps * advances), "{n} blocks of {steps} steps, c = {c}");
            assert_eq!(joint.taped, u128::from(steps * n), "{n} blocks of {steps} steps, c = {c}");
            // As often as Revolve, and once more for each block: it is recorded and reversed.
            let (single, _) = run(&revolve(c), Sweep::Joint, n);
            assert_eq!(actions.len() as u64, single.len() as u64 + n, "{n} blocks of {steps} steps, c = {c}");
        }
    }
}

#[test]
fn driven_revolve_executes_what_the_table_says() {
    for [n, c, _, advances, total] in rows(REVOLVE) {
        let (_, joint) = run(&revolve(c), Sweep::Joint, n);
        assert_eq!(joint.advances, u128::from(advances), "n = {n}, c = {c}");
        assert_eq!(joint.forward_steps(), u128::from(total), "n = {n}, c = {c}");
        // In a pair the rest of the program is one more step.
        let (_, split_reversal) = run(&revolve(c), Sweep::Split, n - 1);
        assert_eq!(split_reversal.forward_steps(), u128::from(total - 1), "n = {n}, c = {c}");
    }
}

#[test]
fn no_program_whatever_beats_revolve() {
    for n in 1..=7 {
        for slots in 1..=4 {
            for sweep in SWEEPS {
                let schedule = revolve(slots);
                let (_, counts) = run(&schedule, sweep, n);
                assert_eq!(
                    (counts.forward_steps(), counts.snapshots as u64),
                    search::cheapest(n, slots, sweep),
                    "{schedule}, {sweep:?}, n = {n}"
                );
            }
        }
    }
}

#[test]
fn loops_of_no_steps_only_turn() {
    for schedule in [keep_all, |sweep, n| periodic(3, sweep, n), |_, _| revolve(3)] {
        assert_eq!(run(&schedule(Sweep::Split, 0), Sweep::Split, 0).0, [Action::Turn]);
        assert_eq!(run(&schedule(Sweep::Joint, 0), Sweep::Joint, 0).0, []);
    }
}

#[test]
fn keep_all_tapes_once() {
    use Action::{Reverse, Tape, Turn};
    let (tape, reverse) = (Tape { from: 0, to: 5, at: 0, choice: 0 }, Reverse { from: 0, to: 5, at: 0, choice: 0 });
    assert_eq!(run(&keep_all(Sweep::Split, 5), Sweep::Split, 5).0, [tape, Turn, reverse]);
    assert_eq!(run(&keep_all(Sweep::Joint, 5), Sweep::Joint, 5).0, [tape, reverse]);
}

#[test]
fn periodic_tapes_the_last_segment_at_once_and_the_others_when_they_are_reversed() {
    use Action::{Advance, Restore, Reverse, Snapshot, Tape, Turn};
    let expected = [
        Advance { from: 0, to: 3 },
        Snapshot { at: 0, step: 3 },
        Advance { from: 3, to: 6 },
        Tape { from: 6, to: 8, at: STATE, choice: 0 },
        Turn,
        Reverse { from: 6, to: 8, at: STATE, choice: 0 },
        Restore { at: Some(0), step: 3 },
        Tape { from: 3, to: 6, at: 0, choice: 0 },
        Reverse { from: 3, to: 6, at: 0, choice: 0 },
        Restore { at: None, step: 0 },
        Tape { from: 0, to: 3, at: 0, choice: 0 },
        Reverse { from: 0, to: 3, at: 0, choice: 0 },
    ];
    assert_eq!(run(&periodic(3, Sweep::Split, 8), Sweep::Split, 8).0, expected);
}

#[test]
fn paired_revolve_turns_where_the_next_step_would_be() {
    use Action::{Advance, Restore, Snapshot, Turn, Youturn};
    let expected = [
        Advance { from: 0, to: 1 },
        Snapshot { at: 0, step: 1 },
        Advance { from: 1, to: 3 },
        Turn,
        Restore { at: Some(0), step: 1 },
        Advance { from: 1, to: 2 },
        Youturn { step: 2 },
        Restore { at: Some(0), step: 1 },
        Youturn { step: 1 },
        Restore { at: None, step: 0 },
        Youturn { step: 0 },
    ];
    assert_eq!(run(&revolve(2), Sweep::Split, 3).0, expected);
}

/// The work of a loop as it is driven.
fn work(steps: &Steps, actions: &[Action]) -> u64 {
    let choice = |choice: &u64| &steps.choices[*choice as usize];
    let of = |action: &Action| match action {
        Action::Advance { from, to } => (to - from) * steps.advance,
        Action::Tape { from, to, choice: k, .. } => (to - from) * choice(k).forward,
        Action::Reverse { from, to, choice: k, .. } => (to - from) * choice(k).reverse[0],
        Action::Youturn { .. } => steps.turn[0],
        Action::Restore { .. } => steps.hold,
        Action::Snapshot { .. } | Action::Spill { .. } | Action::Fetch { .. } | Action::Turn | Action::Done => 0,
        Action::Run(run) => panic!("{run:?} is many actions"),
    };
    actions.iter().map(of).sum()
}

#[test]
fn a_recipe_does_what_its_table_promises() {
    for (state, hold, records) in
        [(1, 0, vec![]), (1, 0, vec![(1, 0)]), (2, 1, vec![(3, 0), (5, -1)]), (3, 2, vec![(2, 1), (1, 3)])]
    {
        let choice =
            |(units, dear): &(usize, i64)| Choice { units: *units, forward: 2, reverse: vec![(4 + dear) as u64] };
        let choices: Vec<Choice> = records.iter().map(choice).collect();
        let steps = Steps { start: 0, state, advance: 2, hold, turn: vec![7], choices };
        let record_bytes: Vec<u64> = steps.choices.iter().map(|choice| choice.units as u64).collect();
        let joint = JointReversal::new(&steps, 40, 20);
        let split_reversal = SplitReversal::new(&joint, 40, 20, 0);
        for n in 1..=40 {
            for units in 0..=20 {
                let tables = [
                    (
                        Recipe::joint(&joint, n, units, state as u64, record_bytes.clone()),
                        joint.work(Start::First, n as usize, units),
                    ),
                    (
                        Recipe::split_reversal(&joint, &split_reversal, n, units, state as u64, record_bytes.clone()),
                        split_reversal.work(Start::First, n as usize, units),
                    ),
                ];
                for (recipe, promised) in tables {
                    let sweep = recipe.sweep;
                    let schedule = Schedule::of(recipe);
                    assert!(schedule.pool_bytes(sweep, None) <= units as u64);
                    let (actions, _) = run(&schedule, sweep, n);
                    assert_eq!(Some(work(&steps, &actions)), promised, "{steps:?}, n = {n}, {units} units, {sweep:?}");
                }
            }
        }
    }
}

#[test]
fn schedules_print_in_words() {
    assert_eq!(keep_all(Sweep::Split, 9).to_string(), "keep all");
    assert_eq!(periodic(1, Sweep::Split, 9).to_string(), "every step");
    assert_eq!(periodic(4, Sweep::Split, 9).to_string(), "every 4 steps");
    assert_eq!(revolve(1).to_string(), "replay from the start");
    assert_eq!(revolve(18).to_string(), "revolve with 18 slots");
    assert_eq!(blocks(64, 1).to_string(), "replay from the start, 64 steps recorded at a time");
    let words = "revolve with 18 slots over blocks of 64 steps, which are recorded when they are reversed";
    assert_eq!(blocks(64, 18).to_string(), words);
}

#[test]
fn long_loops_run_without_overflow() {
    // The records of a recipe lie in memory, so that no loop with one is as long as a number can be.
    for n in [1_000_000_000, 1_000_000_000_000] {
        for sweep in SWEEPS {
            run(&keep_all(sweep, n), sweep, n);
            for period in [n / 2, n - 1, n, n + 1, u64::MAX] {
                run(&periodic(period, sweep, n), sweep, n);
            }
            for size in [1, 2, 3, 7, 18, 100, 1000, 10_000] {
                Run::new(&periodic(size, sweep, n), sweep, n).steps(100_000);
            }
        }
    }
    for n in [1_000_000_000, 1_000_000_000_000, i64::MAX as u64 - 1] {
        for (sweep, slots) in
            SWEEPS.into_iter().flat_map(|sweep| [1, 2, 3, 7, 18, 100, 1000, 10_000].map(|slots| (sweep, slots)))
        {
            Run::new(&revolve(slots), sweep, n).steps(100_000);
            Run::new(&blocks(100, slots), sweep, n).steps(100_000);
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
#[should_panic(expected = "needs 28 words, not 27")]
fn too_few_words_are_refused() {
    start(&mut [0; 27], &revolve(18), Sweep::Split, 1000);
}

#[test]
#[should_panic(expected = "no controller was started")]
fn words_must_be_started() {
    next(&mut [0; 24], &[]);
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
        Action::Youturn { step } => format!("U{step}"),
        Action::Tape { .. }
        | Action::Reverse { .. }
        | Action::Spill { .. }
        | Action::Fetch { .. }
        | Action::Turn
        | Action::Done
        | Action::Run(_) => {
            panic!("not in a Revolve joint: {action:?}")
        }
    }
}

/// Drives a schedule to its end on an abstract loop, checks every action and all predictions, and returns the actions
/// before `Done`.
fn run(schedule: &Schedule, sweep: Sweep, n: u64) -> (Vec<Action>, Counts) {
    let single = to_the_end(Run::new(schedule, sweep, n));
    // Many actions at once are the same actions.
    if matches!(schedule, Schedule::Revolve { .. }) {
        assert_eq!(single, to_the_end(Run::new(schedule, sweep, n).in_runs()), "{schedule}, {sweep:?}, n = {n}");
    }
    single
}

fn to_the_end(mut run: Run<'_>) -> (Vec<Action>, Counts) {
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

/// What lies in the pool: a state, or the records of a range of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    State(u64),
    Records { from: u64, to: u64, choice: u64 },
}

/// An abstract loop: the number of a state stands for the state.
struct Run<'s> {
    schedule: &'s Schedule,
    table: Vec<i64>,
    sweep: Sweep,
    n: u64,
    words: Vec<i64>,
    /// The state in the working buffer, if it is one.
    working: Option<u64>,
    /// By place: how many bytes, and what.
    pool: BTreeMap<u64, (u64, Item)>,
    pool_peak: u64,
    /// Steps from here on are reversed.
    end: u64,
    turn_ahead: bool,
    counts: Counts,
    /// Single actions of a run that are still to be done.
    ahead: VecDeque<Action>,
}

/// Where a check fails.
struct Place<'s>(&'s Schedule, Sweep, u64, Action);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:?}, n = {}: {:?}", self.0, self.1, self.2, self.3)
    }
}

impl<'s> Run<'s> {
    fn new(schedule: &'s Schedule, sweep: Sweep, n: u64) -> Run<'s> {
        let length = schedule.words();
        let mut words = vec![GUARD; length + 2 * GUARDS];
        start(&mut words[GUARDS..GUARDS + length], schedule, sweep, n);
        Run {
            schedule,
            table: schedule.table(),
            sweep,
            n,
            words,
            working: Some(0),
            pool: BTreeMap::new(),
            pool_peak: 0,
            end: n,
            turn_ahead: sweep == Sweep::Split,
            counts: Counts::default(),
            ahead: VecDeque::new(),
        }
    }

    /// Asks for many actions at once where that can be had.
    fn in_runs(mut self) -> Run<'s> {
        self.words[GUARDS + RUNS] = 1;
        self
    }

    fn steps(&mut self, actions: usize) {
        for _ in 0..actions {
            self.step();
        }
    }

    fn step(&mut self) -> Action {
        let length = self.schedule.words();
        let action =
            self.ahead.pop_front().unwrap_or_else(|| next(&mut self.words[GUARDS..GUARDS + length], &self.table));
        if let Action::Run(run) = action {
            self.ahead = run.actions(&self.words[GUARDS..GUARDS + length], self.state_bytes()).into();
            return self.step();
        }
        let place = &Place(self.schedule, self.sweep, self.n, action);
        let mut guards = self.words[..GUARDS].iter().chain(&self.words[GUARDS + length..]);
        assert!(guards.all(|word| *word == GUARD), "{place} writes outside its words");
        match action {
            Action::Advance { from, to } => {
                self.forward(from, to, place);
                self.counts.advances += u128::from(to - from);
            }
            Action::Tape { from, to, at, choice } => {
                self.forward(from, to, place);
                self.write(at, (to - from) * self.record_bytes(choice), Item::Records { from, to, choice });
                self.counts.taped += u128::from(to - from);
            }
            Action::Reverse { from, to, at, choice } => {
                let found = self.pool.remove(&at).map(|(_, item)| item);
                assert_eq!(found, Some(Item::Records { from, to, choice }), "{place} reads what is not recorded");
                self.reverse(from, to, place);
            }
            Action::Youturn { step } => {
                assert_eq!(self.working, Some(step), "{place}");
                self.reverse(step, step + 1, place);
                self.counts.youturns += 1;
            }
            Action::Snapshot { at, step } => {
                assert_eq!(self.working, Some(step), "{place}");
                assert!(step > 0, "{place} copies what is held for nothing");
                self.write(at, self.state_bytes(), Item::State(step));
                self.counts.snapshots += 1;
            }
            Action::Restore { at, step } => self.restore(at, step, place),
            Action::Spill { .. } | Action::Fetch { .. } => panic!("{place} has no disk"),
            Action::Turn => self.turn(place),
            Action::Done => {}
            Action::Run(_) => unreachable!("runs are done one action at a time"),
        }
        action
    }

    fn state_bytes(&self) -> u64 {
        match self.schedule {
            Schedule::Recipe(recipe) => recipe.state_bytes,
            Schedule::Revolve { state_bytes, .. } | Schedule::Blocks(Blocks { state_bytes, .. }) => *state_bytes,
            Schedule::Nothing | Schedule::Online { .. } => panic!("nothing is held, or while it runs"),
        }
    }

    fn record_bytes(&self, choice: u64) -> u64 {
        match self.schedule {
            Schedule::Recipe(recipe) => recipe.record_bytes[choice as usize],
            Schedule::Blocks(blocks) => blocks.record_bytes,
            Schedule::Nothing | Schedule::Revolve { .. } | Schedule::Online { .. } => panic!("nothing is recorded"),
        }
    }

    /// Puts something into the pool; what lay there is gone.
    fn write(&mut self, at: u64, bytes: u64, item: Item) {
        let overlaps = |(place, (size, _)): (&u64, &(u64, Item))| (*place + *size > at).then_some(*place);
        while let Some(place) = self.pool.range(..at + bytes).next_back().and_then(overlaps) {
            self.pool.remove(&place);
        }
        self.pool.insert(at, (bytes, item));
        self.pool_peak = self.pool_peak.max(at + bytes);
    }

    fn forward(&mut self, from: u64, to: u64, place: &Place<'_>) {
        assert!(from < to && to <= self.end, "{place} executes what is reversed");
        assert_eq!(self.working, Some(from), "{place}");
        self.working = Some(to);
    }

    fn reverse(&mut self, from: u64, to: u64, place: &Place<'_>) {
        assert!(!self.turn_ahead, "{place} comes before the turn");
        assert!(from < to && to == self.end, "{place} is out of order");
        self.end = from;
        self.working = None;
    }

    fn restore(&mut self, at: Option<u64>, step: u64, place: &Place<'_>) {
        assert!(!self.turn_ahead, "{place} is no part of a first sweep");
        match at {
            None => assert_eq!(step, 0, "{place}"),
            Some(at) => assert_eq!(self.pool.get(&at).map(|(_, item)| *item), Some(Item::State(step)), "{place}"),
        }
        self.working = Some(step);
        self.counts.restores += 1;
    }

    fn turn(&mut self, place: &Place<'_>) {
        assert!(self.turn_ahead, "{place} has nothing to turn");
        // Without a restore the steps only go on from 0, so that each was executed once.
        assert_eq!(self.working, Some(self.n), "{place}");
        assert_eq!(self.counts.advances + self.counts.taped, u128::from(self.n), "{place}");
        self.turn_ahead = false;
        self.working = None;
    }

    fn check_end(&self) {
        let place = Place(self.schedule, self.sweep, self.n, Action::Done);
        assert_eq!(self.end, 0, "{place}");
        assert!(!self.turn_ahead, "{place}");
        assert_eq!(self.counts, counts(self.schedule, self.sweep, self.n), "{place}");
        assert_eq!(self.pool_peak, self.schedule.pool_bytes(self.sweep, Some(self.n)), "{place}");
        let spare = matches!(self.schedule, Schedule::Recipe(_)) && self.words[self.words.len() - GUARDS - 1] == GUARD;
        assert!(!spare, "{place} has words to spare");
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
        let first = Machine { working: Some(0), held: 1, end: n, turn_ahead: sweep == Sweep::Split };
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
