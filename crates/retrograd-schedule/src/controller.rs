//! The controller: what to do next, with its whole state in a few words of the caller's memory.

use super::recipe::slot_bytes;
use super::{Action, Run, Schedule, Sweep, binomial, blocks, online};

/// Which function continues: `RECIPE`, `REVOLVE`, `ONLINE` or `BLOCKS`.
pub(crate) const KIND: usize = 0;

/// Kind: a recipe, in a table of its own.
const RECIPE: i64 = 1;
/// Kind: held states by binomial splits, no records.
const REVOLVE: i64 = 2;
/// Kind: held states of a loop that may end at any step.
pub(crate) const ONLINE: i64 = 3;
/// Kind: Revolve over blocks of steps.
pub(crate) const BLOCKS: i64 = 4;

/// Words that a controller of this schedule needs.
pub(crate) fn words(schedule: &Schedule) -> usize {
    match schedule {
        Schedule::Nothing => 0,
        Schedule::Recipe(recipe) => FRAMES + FRAME * recipe.depth() as usize,
        Schedule::Revolve { slots, .. } => STACK.saturating_add(usize::try_from(*slots).unwrap_or(usize::MAX)),
        Schedule::Online { slots, .. } => online::words(*slots),
        Schedule::Blocks(blocks) => blocks.words(),
    }
}

/// Prepares `words` for a loop of `n` steps, or of any number for a schedule that waits for it; [`next`] then needs
/// nothing but these words and the schedule's table.
///
/// [`Schedule::words`] words are enough for every `n`. With more slots than steps, the words of a schedule with `n`
/// slots are enough.
///
/// # Panics
/// If the words are too few, the schedule has no slot, or a recipe is for another number of steps or another sweep.
pub fn start(words: &mut [i64], schedule: &Schedule, sweep: Sweep, n: u64) {
    match schedule {
        Schedule::Nothing => panic!("a loop of which nothing is kept needs no controller"),
        Schedule::Recipe(recipe) => {
            assert!(recipe.steps == n && recipe.sweep == sweep, "a recipe for {} steps, not {n}", recipe.steps);
            start_recipe(words, &recipe.table());
        }
        Schedule::Revolve { slots, state_bytes } => start_revolve(words, *slots, *state_bytes, sweep, n),
        Schedule::Online { slots, state_bytes } => online::start_online(words, *slots, *state_bytes),
        Schedule::Blocks(_) => blocks::start_blocks(words, &schedule.table(), sweep, n),
    }
}

/// The next action of a controller that [`start`] prepared, given the table of its schedule. After [`Action::Done`] it
/// stays done.
///
/// The derivative of `x_{k+1} = a_k x_k²` at `x_3`, holding a single state:
///
/// ```
/// use retrograd_schedule::{next, start, Action, Schedule, Sweep};
/// let (a, x0) = ([2.0, 3.0, 5.0], 0.5);
/// let schedule = Schedule::Revolve { slots: 1, state_bytes: 8 };
/// let mut words = vec![0; schedule.words()];
/// start(&mut words, &schedule, Sweep::Joint, 3);
/// let (mut x, mut ct) = (x0, 1.0);
/// loop {
///     match next(&mut words, &schedule.table()) {
///         Action::Advance { from, to } => (from..to).for_each(|k| x = a[k as usize] * x * x),
///         Action::Restore { at: None, step: 0 } => x = x0,
///         Action::Youturn { step } => ct *= 2.0 * a[step as usize] * x,
///         Action::Done => break,
///         other => unreachable!("{other:?} needs a second slot, a record or a pair"),
///     }
/// }
/// // x_3 = a_2 a_1² a_0⁴ x_0⁸
/// assert_eq!(ct, 8.0 * 5.0 * 9.0 * 16.0 * 0.5_f64.powi(7));
/// ```
///
/// # Panics
/// If [`start`] did not prepare the words.
pub fn next(words: &mut [i64], table: &[i64]) -> Action {
    match words[KIND] {
        RECIPE => next_of_recipe(words, table),
        REVOLVE => next_of_revolve(words),
        ONLINE => online::next_of_online(words),
        BLOCKS => blocks::next_of_blocks(words),
        kind => panic!("no controller was started in these words: kind {kind}"),
    }
}

/// The part that is next, or whose range was just entered.
const PART: usize = 1;
/// The first step of its range; its state is in the working buffer.
const STEP: usize = 2;
/// Bytes of the pool in use below it.
const AT: usize = 3;
/// 1 if the state is held at `AT`.
const HELD: usize = 4;
/// What is going on: `ENTER`, `ADVANCE` or `RETURN`.
const PHASE: usize = 5;
/// Frames in use.
const DEPTH: usize = 6;
/// Frames of parts that are under way: part, first step, bytes below, and for held states the number of the newest.
const FRAMES: usize = 7;
const FRAME: usize = 4;

/// The part in `PART` begins.
const ENTER: i64 = 0;
/// The newest frame holds a state: its steps are executed, up to the next held state or the rest.
const ADVANCE: i64 = 1;
/// A part is over: the newest frame continues.
const RETURN: i64 = 2;

/// Kinds of parts in a table.
pub(crate) const TURNBACK: i64 = 0;
pub(crate) const END_OF_SWEEP: i64 = 1;
pub(crate) const TAPE: i64 = 2;
pub(crate) const HOLD: i64 = 3;
pub(crate) const SPILL: i64 = 4;

/// Words of a part in a table.
const PART_WORDS: usize = 5;

/// Prepares `words` for a recipe, given its table.
///
/// # Panics
/// If the words are too few even for a recipe without parts.
pub fn start_recipe(words: &mut [i64], table: &[i64]) {
    assert!(words.len() >= FRAMES, "a controller needs {FRAMES} words at least, not {}", words.len());
    let phase = if table[1] < 0 { RETURN } else { ENTER };
    words[..FRAMES].copy_from_slice(&[RECIPE, table[1], 0, 0, 0, phase, 0]);
}

/// A part of a table: kind and four numbers.
fn part(table: &[i64], number: i64) -> [i64; PART_WORDS] {
    let first = 3 + table[2] as usize + PART_WORDS * number as usize;
    std::array::from_fn(|k| table[first + k])
}

fn next_of_recipe(words: &mut [i64], table: &[i64]) -> Action {
    match words[PHASE] {
        ENTER => enter(words, table),
        ADVANCE => advance(words, table),
        _ => come_back(words, table),
    }
}

fn enter(words: &mut [i64], table: &[i64]) -> Action {
    let (number, step, at) = (words[PART], words[STEP], words[AT]);
    let [kind, count, size, right, _] = part(table, number);
    match kind {
        TURNBACK => {
            words[PHASE] = RETURN;
            Action::Youturn { step: step as u64 }
        }
        END_OF_SWEEP => {
            words[PHASE] = RETURN;
            Action::Turn
        }
        TAPE => {
            push(words, [number, step, at, 0]);
            words[PHASE] = if right < 0 { RETURN } else { ENTER };
            let after = at + count * table[3 + size as usize];
            words[PART..=HELD].copy_from_slice(&[right, step + count, after, 0]);
            Action::Tape { from: step as u64, to: (step + count) as u64, at: at as u64, choice: size as u64 }
        }
        SPILL => {
            if step > 0 && words[HELD] == 0 {
                words[HELD] = 1;
                return Action::Spill { at: at as u64, step: step as u64 };
            }
            push(words, [number, step, at, 0]);
            let after = at + if step > 0 { slot_bytes(table[0] as u64) as i64 } else { 0 };
            words[PART..=HELD].copy_from_slice(&[right, step + size, place_of(table, right, after), 0]);
            Action::Advance { from: step as u64, to: (step + size) as u64 }
        }
        _ => {
            if step > 0 && words[HELD] == 0 {
                words[HELD] = 1;
                return Action::Snapshot { at: at as u64, step: step as u64 };
            }
            push(words, [number, step, at, 0]);
            words[PHASE] = ADVANCE;
            advance(words, table)
        }
    }
}

/// Executes the steps after the newest held state of the newest frame; then holds the next, or enters the rest.
fn advance(words: &mut [i64], table: &[i64]) -> Action {
    let [number, step, at, level] = *top(words);
    let [_, times, advance, right, _] = part(table, number);
    let from = step + level * advance;
    if words[STEP] == from {
        words[STEP] = from + advance;
        if level + 1 == times {
            words[PART] = right;
            words[AT] = held_at(table, step, at, times);
            words[HELD] = 0;
            words[PHASE] = ENTER;
        }
        return Action::Advance { from: from as u64, to: (from + advance) as u64 };
    }
    top(words)[3] = level + 1;
    Action::Snapshot { at: held_at(table, step, at, level + 1) as u64, step: (from + advance) as u64 }
}

/// Where a part begins that comes after a state on the disk, which ends at `after`: there, or in the pool, which is
/// empty.
fn place_of(table: &[i64], number: i64, after: i64) -> i64 {
    if part(table, number)[0] == SPILL { after } else { 0 }
}

/// Where the held state of this number is; `x_0` takes nothing.
fn held_at(table: &[i64], step: i64, at: i64, level: i64) -> i64 {
    at + (level - i64::from(step == 0)) * table[0]
}

fn come_back(words: &mut [i64], table: &[i64]) -> Action {
    if words[DEPTH] == 0 {
        return Action::Done;
    }
    let [number, step, at, level] = *top(words);
    let [kind, count, size, _, left] = part(table, number);
    if kind == TAPE {
        words[DEPTH] -= 1;
        return Action::Reverse { from: step as u64, to: (step + count) as u64, at: at as u64, choice: size as u64 };
    }
    if kind == SPILL {
        words[DEPTH] -= 1;
        // On the disk it stays as long as a part needs it there.
        let stays = i64::from(step > 0 && part(table, left)[0] == SPILL);
        words[PART..=PHASE].copy_from_slice(&[left, step, place_of(table, left, at), stays, ENTER]);
        return if step > 0 {
            Action::Fetch { at: at as u64, step: step as u64 }
        } else {
            Action::Restore { at: None, step: 0 }
        };
    }
    // The newest held state: its steps are next, and the frame goes with the last.
    if level == 0 {
        words[DEPTH] -= 1;
    } else {
        top(words)[3] = level - 1;
    }
    let from = step + level * size;
    let place = (from > 0).then(|| held_at(table, step, at, level));
    words[PART..=PHASE].copy_from_slice(&[left, from, place.unwrap_or(at), i64::from(from > 0), ENTER]);
    Action::Restore { at: place.map(|at| at as u64), step: from as u64 }
}

fn push(words: &mut [i64], frame: [i64; FRAME]) {
    words[DEPTH] += 1;
    *top(words) = frame;
}

/// The newest frame.
fn top(words: &mut [i64]) -> &mut [i64; FRAME] {
    let first = FRAMES + FRAME * (words[DEPTH] as usize - 1);
    words[first..].first_chunk_mut().expect("a recipe says how deep it is")
}

/// The slots.
const SIZE: usize = 1;
/// 1 as long as `Turn` lies ahead.
const TURN: usize = 2;
/// The step from whose state the working buffer would go on, or `LOST`.
const WORKING: usize = 3;
/// The steps from here on are reversed.
const END: usize = 4;
/// The newest slot in use.
const TOP: usize = 5;
/// Bytes of a state.
const STATE: usize = 6;
/// 1 if the driver can do a [`Run`]: it writes that after [`start_revolve`].
pub const RUNS: usize = 7;
/// The lowest of the slots that a [`Run`] goes down again, or `NONE`.
const BOTTOM: usize = 8;
/// The repetition number that was found last, near which the next one is.
const REPETITIONS: usize = 9;
/// The step of slot 0, of slot 1, … up to `TOP`.
pub const STACK: usize = 10;

/// No run is under way.
const NONE: i64 = -1;

/// The working buffer holds nothing of use.
const LOST: i64 = -1;

/// Prepares `words` for Revolve.
///
/// # Panics
/// As [`start`].
pub fn start_revolve(words: &mut [i64], slots: u64, state_bytes: u64, sweep: Sweep, n: u64) {
    // No run gets to the end of so many.
    let last = i64::try_from(n).unwrap_or(i64::MAX).min(i64::MAX - 1);
    assert!(slots >= 1, "x_0 is always held, so there is at least one slot");
    // More slots than steps change nothing.
    let slots = i64::try_from(slots).unwrap_or(i64::MAX).min(last.max(1));
    let turn = match sweep {
        Sweep::Split => 1,
        Sweep::Joint => 0,
        Sweep::Online => panic!("Revolve knows the number of steps when it starts"),
    };
    let needed = slots.saturating_add(STACK as i64);
    assert!(words.len() as i64 >= needed, "a controller with {slots} slots needs {needed} words, not {}", words.len());
    // The rest of the program is one more step after the loop: it is the one that is turned first.
    words[..=STACK].copy_from_slice(&[REVOLVE, slots, turn, 0, last + turn, 0, state_bytes as i64, 0, NONE, 1, 0]);
}

/// Griewank and Walther 2000, with the recursion unrolled: the slots are a stack, the newest on top, and
///
/// ```text
/// reverse(s, t, c):                 x_s is in the working buffer, the steps s..t are to be reversed, c slots are free
///     if t - s = 1: turn step s back; return
///     store x_s
///     while t - s > 1:
///         m = first_advance(t - s, c); advance s to s + m
///         reverse(s + m, t, c - 1)
///         t = s + m; restore x_s
///     free the slot; turn step s back
/// ```
///
/// Where no step need be advanced more than twice, or there is no slot but that of `x_s`, the rest is one [`Run`] or
/// two, if the driver can do them.
pub(crate) fn next_of_revolve(words: &mut [i64]) -> Action {
    let (working, end, top) = (words[WORKING], words[END], words[TOP]);
    let stored = words[STACK + top as usize];
    if end == 0 {
        Action::Done
    } else if working == LOST && words[BOTTOM] != NONE {
        descend(words)
    } else if working == LOST {
        words[WORKING] = stored;
        Action::Restore { at: place(words, top), step: count(stored) }
    } else if end - working == 1 {
        words[WORKING] = LOST;
        words[END] = working;
        if stored == working && top > 0 {
            words[TOP] = top - 1;
        }
        if words[TURN] == 1 {
            words[TURN] = 0;
            Action::Turn
        } else {
            Action::Youturn { step: count(working) }
        }
    } else if stored == working {
        from_held(words)
    } else {
        let at = place(words, top + 1).expect("a slot above the first");
        words[TOP] = top + 1;
        words[STACK + top as usize + 1] = working;
        Action::Snapshot { at, step: count(working) }
    }
}

/// Where a slot is; `x_0` has none.
fn place(words: &[i64], slot: i64) -> Option<u64> {
    (slot > 0).then(|| count((slot - 1) * words[STATE]))
}

/// What comes after the newest held state, which is in the working buffer: two steps or more.
fn from_held(words: &mut [i64]) -> Action {
    let (working, end, top) = (words[WORKING], words[END], words[TOP]);
    let (steps, free) = (end - working, words[SIZE] - top);
    if words[RUNS] == 1 {
        // beta(c, 2) >= n: every part is one of c + 1 steps at most.
        if (i128::from(free) + 1) * (i128::from(free) + 2) / 2 >= i128::from(steps) {
            return ascend(words);
        }
        if free == 1 && words[TURN] == 0 {
            let at = place(words, top);
            words[WORKING] = LOST;
            words[END] = working;
            words[TOP] = (top - 1).max(0);
            return Action::Run(Run::Replay { from: count(working), to: count(end), at });
        }
    }
    let (advance, repetitions) = binomial::first_advance_near(count(steps), count(free), count(words[REPETITIONS]));
    words[REPETITIONS] = repetitions as i64;
    let to = working + advance as i64;
    words[WORKING] = to;
    Action::Advance { from: count(working), to: count(to) }
}

/// All advances up to the last step before the end, which is turned back next: with r <= 2, [`binomial::first_advance`]
/// is 1 up to 2c steps, n - 2c + 1 below 3c, and c + 1 from there on.
fn ascend(words: &mut [i64]) -> Action {
    let (working, end, first) = (words[WORKING], words[END], words[TOP]);
    let (mut step, mut top) = (working, first);
    loop {
        let (steps, free) = (end - step, words[SIZE] - top);
        step += if steps <= 2 * free { 1 } else { (steps - 2 * free + 1).min(free + 1) };
        if end - step == 1 {
            break;
        }
        top += 1;
        words[STACK + top as usize] = step;
    }
    (words[WORKING], words[TOP], words[BOTTOM]) = (step, top, first);
    Action::Run(Run::Ascend { from: count(working), to: count(step), first: count(first), last: count(top) })
}

/// All steps from that of the lowest slot on are reversed.
fn descend(words: &mut [i64]) -> Action {
    let (end, first, last) = (words[END], words[BOTTOM], words[TOP]);
    words[END] = words[STACK + first as usize];
    (words[TOP], words[BOTTOM]) = ((first - 1).max(0), NONE);
    Action::Run(Run::Descend { to: count(end), first: count(first), last: count(last) })
}

/// A word that is a number of steps, slots or bytes.
fn count(word: i64) -> u64 {
    debug_assert!(word >= 0, "the words count steps, slots and bytes");
    word as u64
}
