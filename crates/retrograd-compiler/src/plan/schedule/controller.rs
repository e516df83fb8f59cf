//! The controller: what to do next, with its whole state in a few words of the caller's memory.
//!
//! Both kinds of schedule share the words. `END` falls from the number of steps to 0, and `WORKING` follows the working buffer.

use super::{Action, Schedule, Sweep, binomial};

/// Which function continues: `SEGMENTS` or `REVOLVE`.
const KIND: usize = 0;
/// The period, or the slots.
const SIZE: usize = 1;
/// 1 as long as `Turn` lies ahead.
const TURN: usize = 2;
/// The step from whose state the working buffer would go on, or `LOST`.
const WORKING: usize = 3;
/// The steps from here on are reversed.
const END: usize = 4;
/// The newest slot in use.
const TOP: usize = 5;
/// Segments: 1 as long as the segment that ends at `END` is on the tape.
const TAPED: usize = 6;
/// Revolve: the step of slot 0, of slot 1, … up to `TOP`.
const STACK: usize = 7;

/// Kind: held states at fixed distances, everything between two of them on the tape.
const SEGMENTS: i64 = 1;
/// Kind: held states by binomial splits, no tape.
const REVOLVE: i64 = 2;

/// The working buffer holds nothing of use.
const LOST: i64 = -1;

/// Words that a controller of this schedule needs: `STACK` and, for Revolve, one per slot.
pub(super) fn words(schedule: &Schedule) -> usize {
    match schedule {
        Schedule::KeepAll | Schedule::Periodic { .. } => STACK,
        Schedule::Revolve { slots } => STACK.saturating_add(usize::try_from(*slots).unwrap_or(usize::MAX)),
    }
}

/// Prepares `words` for a loop of `n` steps; [`next`] then needs nothing but these words.
///
/// [`Schedule::words`] words are enough for every `n`. With more slots than steps, the words of a schedule with `n` slots are enough.
///
/// # Panics
/// If the words are too few, the schedule has a period or a number of slots of 0, or `n` is `i64::MAX` or more.
pub fn start(words: &mut [i64], schedule: Schedule, sweep: Sweep, n: u64) {
    let last = i64::try_from(n).ok().filter(|n| *n < i64::MAX).expect("a loop has fewer than i64::MAX steps");
    // A period or a number of slots beyond the number of steps changes nothing.
    let at_most_steps = |size: u64| i64::try_from(size).unwrap_or(i64::MAX).min(last.max(1));
    let (kind, size) = match schedule {
        Schedule::KeepAll => (SEGMENTS, last.max(1)),
        Schedule::Periodic { period } => {
            assert!(period >= 1, "a period has at least one step");
            (SEGMENTS, at_most_steps(period))
        }
        Schedule::Revolve { slots } => {
            assert!(slots >= 1, "x_0 is always held, so there is at least one slot");
            (REVOLVE, at_most_steps(slots))
        }
    };
    let turn = match sweep {
        Sweep::Paired => 1,
        Sweep::Alone => 0,
    };
    let needed = if kind == REVOLVE { size.saturating_add(STACK as i64) } else { STACK as i64 };
    assert!(words.len() as i64 >= needed, "a controller of \"{schedule}\" for {n} steps needs {needed} words, not {}", words.len());
    words[KIND] = kind;
    words[SIZE] = size;
    words[TURN] = turn;
    words[WORKING] = 0;
    // To Revolve, the rest of the program is one more step after the loop: it is the one that is turned first.
    words[END] = if kind == REVOLVE { last + turn } else { last };
    words[TOP] = 0;
    words[TAPED] = 0;
    if kind == REVOLVE {
        words[STACK] = 0;
    }
}

/// The next action of a controller that [`start`] prepared. After [`Action::Done`] it stays done.
///
/// The derivative of `x_{k+1} = a_k x_k²` at `x_3`, holding a single state:
///
/// ```
/// use retrograd_compiler::plan::schedule::{next, start, Action, Schedule, Sweep};
/// let (a, x0) = ([2.0, 3.0, 5.0], 0.5);
/// let schedule = Schedule::Revolve { slots: 1 };
/// let mut words = vec![0; schedule.words()];
/// start(&mut words, schedule, Sweep::Alone, 3);
/// let (mut x, mut ct) = (x0, 1.0);
/// loop {
///     match next(&mut words) {
///         Action::Advance { from, to } => (from..to).for_each(|k| x = a[k as usize] * x * x),
///         Action::Restore { slot: 0, step: 0 } => x = x0,
///         Action::Turnback { step } => ct *= 2.0 * a[step as usize] * x,
///         Action::Done => break,
///         other => unreachable!("{other:?} needs a second slot, a tape or a pair"),
///     }
/// }
/// // x_3 = a_2 a_1² a_0⁴ x_0⁸
/// assert_eq!(ct, 8.0 * 5.0 * 9.0 * 16.0 * 0.5_f64.powi(7));
/// ```
///
/// # Panics
/// If [`start`] did not prepare the words.
pub fn next(words: &mut [i64]) -> Action {
    match words[KIND] {
        SEGMENTS => next_of_segments(words),
        REVOLVE => next_of_revolve(words),
        kind => panic!("no controller was started in these words: kind {kind}"),
    }
}

/// Keep all (one segment) and periodic: the sweep snapshots the start of every segment but the last, which it tapes; then segment by
/// segment from the last: reverse, restore the one before, tape it.
fn next_of_segments(words: &mut [i64]) -> Action {
    let (period, working, end) = (words[SIZE], words[WORKING], words[END]);
    if end == 0 || words[TAPED] == 1 {
        if words[TURN] == 1 {
            words[TURN] = 0;
            return Action::Turn;
        }
        if end == 0 {
            return Action::Done;
        }
    }
    // The segment that ends at `end` starts at the largest multiple of the period below it.
    let segment = (end - 1) / period;
    let from = segment * period;
    if words[TAPED] == 1 {
        words[TAPED] = 0;
        words[END] = from;
        words[WORKING] = LOST;
        Action::Reverse { from: count(from), to: count(end), row: 0 }
    } else if working == LOST {
        words[WORKING] = from;
        Action::Restore { slot: count(segment), step: count(from) }
    } else if working == from {
        words[TAPED] = 1;
        words[WORKING] = end;
        Action::Tape { from: count(from), to: count(end), row: 0 }
    } else if words[TOP] < working / period {
        words[TOP] = working / period;
        Action::Snapshot { slot: count(words[TOP]), step: count(working) }
    } else {
        words[WORKING] = working + period;
        Action::Advance { from: count(working), to: count(working + period) }
    }
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
fn next_of_revolve(words: &mut [i64]) -> Action {
    let (slots, working, end, top) = (words[SIZE], words[WORKING], words[END], words[TOP]);
    let stored = words[STACK + top as usize];
    if end == 0 {
        Action::Done
    } else if working == LOST {
        words[WORKING] = stored;
        Action::Restore { slot: count(top), step: count(stored) }
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
            Action::Turnback { step: count(working) }
        }
    } else if stored == working {
        let to = working + binomial::first_advance(count(end - working), count(slots - top)) as i64;
        words[WORKING] = to;
        Action::Advance { from: count(working), to: count(to) }
    } else {
        words[TOP] = top + 1;
        words[STACK + top as usize + 1] = working;
        Action::Snapshot { slot: count(top + 1), step: count(working) }
    }
}

/// A word that is a number of steps, slots or segments.
fn count(word: i64) -> u64 {
    debug_assert!(word >= 0, "the words count steps, slots and segments");
    word as u64
}
