//! A loop of unknown length: which states to hold while it runs, with all bookkeeping in a few words of the caller's memory.
//!
//! Stumm and Walther 2010 (*New algorithms for optimal online checkpointing*), algorithm I, as long as it is optimal: up to
//! `(c+1)(c+2)/2 - 1` steps. From there on each new state takes the place of the one without which the reversal of the steps so far is
//! cheapest, if that is cheaper than to drop the new one (Hinze and Sternberg 2005, with exact costs). The reversal is binomial from
//! every held state on: state number `k` of `c` leaves `c - k` slots. At most 5 % above the optimum of hindsight from 4 slots on.
//!
//! While the loop runs, [`place`] says before each step whether its state is held. When it has ended, [`turn`] is told how many steps
//! there were, and [`next`] names the actions of the reversal.

use super::{Action, binomial};

/// Slots.
const SLOTS: usize = 0;
/// The slot that is written next.
const NEXT: usize = 1;
/// The last slot of this round.
const LAST: usize = 2;
/// The step at which the round ends.
const PERIOD: usize = 3;
/// 1 if the next state is held.
const SAVE: usize = 4;
/// Held states.
const HELD: usize = 5;
/// Bytes of a state.
const STATE: usize = 6;
/// The steps of the held states in ascending order, then the slot of each; after the turn those of the unused slots follow.
const STEPS: usize = 7;

/// After the turn: the steps from here on are reversed.
const END: usize = NEXT;
/// After the turn: the step from whose state the working buffer would go on, or `LOST`.
const WORKING: usize = LAST;

/// The working buffer holds nothing of use.
const LOST: i64 = -1;

/// Words of a loop with so many slots.
pub fn words(slots: u64) -> usize {
    STEPS.saturating_add(usize::try_from(slots).unwrap_or(usize::MAX).saturating_mul(2))
}

/// Prepares the words. Slot 0 is `x_0`, which is held for nothing; the others lie one after the other.
///
/// # Panics
/// Without a slot, or where the words are too few.
pub fn start(memory: &mut [i64], slots: u64, state_bytes: u64) {
    assert!(slots >= 1 && memory.len() >= words(slots), "x_0 is always held, and words are enough");
    memory[..STEPS].copy_from_slice(&[slots as i64, 0, slots as i64, slots as i64, 1, 0, state_bytes as i64]);
}

/// Before step `step` is executed: the slot that its state goes to, if it is held. Steps come in order, from 0.
///
/// ```
/// use retrograd_compiler::plan::schedule::online;
/// let mut words = vec![0; online::words(2)];
/// online::start(&mut words, 2, 8);
/// let slots: Vec<_> = (0..5).map(|step| online::place(&mut words, step)).collect();
/// assert_eq!(slots, [Some(0), Some(1), None, Some(1), None]);
/// ```
pub fn place(memory: &mut [i64], step: u64) -> Option<u64> {
    let slots = memory[SLOTS] as u64;
    let slot = if u128::from(step) + 1 < u128::from(slots + 1) * u128::from(slots + 2) / 2 {
        stumm_walther(memory, step as i64)
    } else {
        greedy(memory, step)
    }?;
    hold(memory, step as i64, slot);
    Some(slot as u64)
}

/// The held states, as step and slot, in ascending order.
pub fn held(memory: &[i64]) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
    let (count, slots) = (memory[HELD] as usize, memory[SLOTS] as usize);
    (0..count).map(move |k| (memory[STEPS + k] as u64, memory[STEPS + slots + k] as u64))
}

/// The loop has ended after so many steps, and the reversal begins; the working buffer is lost meanwhile.
pub fn turn(memory: &mut [i64], steps: u64) {
    let (slots, count) = (memory[SLOTS] as usize, memory[HELD] as usize);
    let mut next = STEPS + slots + count;
    for slot in 0..slots as i64 {
        if !memory[STEPS + slots..next].contains(&slot) {
            memory[next] = slot;
            next += 1;
        }
    }
    (memory[END], memory[WORKING]) = (steps as i64, LOST);
}

/// The next action of the reversal, after [`turn`]. After [`Action::Done`] it stays done.
pub fn next(memory: &mut [i64]) -> Action {
    let (slots, working, end) = (memory[SLOTS] as usize, memory[WORKING], memory[END]);
    if end == 0 {
        return Action::Done;
    }
    let top = memory[HELD] as usize - 1;
    let stored = memory[STEPS + top];
    let place = |number: usize| {
        let slot = memory[STEPS + slots + number];
        (slot > 0).then(|| ((slot - 1) * memory[STATE]) as u64)
    };
    if working == LOST {
        let at = place(top);
        memory[WORKING] = stored;
        Action::Restore { at, step: stored as u64 }
    } else if end - working == 1 {
        (memory[WORKING], memory[END]) = (LOST, working);
        if stored == working && top > 0 {
            memory[HELD] -= 1;
        }
        Action::Turnback { step: working as u64 }
    } else if stored == working {
        let to = working + binomial::first_advance((end - working) as u64, (slots - top) as u64) as i64;
        memory[WORKING] = to;
        Action::Advance { from: working as u64, to: to as u64 }
    } else {
        let at = place(top + 1).expect("x_0 is the first of the held states");
        memory[STEPS + top + 1] = working;
        memory[HELD] += 1;
        Action::Snapshot { at, step: working as u64 }
    }
}

/// Forward executions in all if the loop ends after `steps`, itself included.
pub fn forward_steps(memory: &[i64], steps: u64) -> u128 {
    let slots = memory[SLOTS] as u64;
    u128::from(steps) + (0..memory[HELD] as usize).map(|k| segment(length(memory, k, steps), slots - k as u64)).sum::<u128>()
}

fn stumm_walther(memory: &mut [i64], step: i64) -> Option<i64> {
    let (slot, save) = (memory[NEXT], memory[SAVE] == 1);
    if save {
        memory[NEXT] = if slot + 1 > memory[LAST] { 1 } else { slot + 1 };
    }
    if step + 1 == memory[PERIOD] {
        memory[SAVE] = 0;
    }
    if step == memory[PERIOD] {
        memory[PERIOD] += memory[LAST];
        memory[LAST] -= 1;
        memory[NEXT] = memory[LAST];
        memory[SAVE] = i64::from(memory[LAST] > 0);
    }
    save.then_some(slot)
}

/// The slot of the state without which the steps up to this one are reversed cheapest; none if that is the new one.
fn greedy(memory: &[i64], step: u64) -> Option<i64> {
    let (slots, count) = (memory[SLOTS] as u64, memory[HELD] as usize);
    let (end, unchanged) = (step + 1, forward_steps(memory, step + 1));
    // Work up to each segment as it is, and from each on if a state before it goes: one slot more, up to the new state.
    let kept = |k: usize| segment(length(memory, k, end), slots - k as u64);
    let mut before: u128 = (0..count - 1).map(kept).sum();
    let moved = |k: usize| segment(length(memory, k, step), slots - k as u64 + 1);
    let mut after = segment(1, slots - (count as u64 - 1)) + u128::from(end);
    let mut best: Option<(u128, usize)> = None;
    for k in (1..count).rev() {
        let joined = length(memory, k - 1, step) + length(memory, k, step);
        before -= kept(k - 1);
        let work = before + segment(joined, slots - (k as u64 - 1)) + after;
        if work < unchanged && best.is_none_or(|(least, _)| work <= least) {
            best = Some((work, k));
        }
        after += moved(k);
    }
    best.map(|(_, k)| memory[STEPS + slots as usize + k])
}

/// Steps from a held state to the next, or to the end.
fn length(memory: &[i64], k: usize, end: u64) -> u64 {
    let next = if k + 1 < memory[HELD] as usize { memory[STEPS + k + 1] as u64 } else { end };
    next - memory[STEPS + k] as u64
}

/// Executions that reverse so many steps after the loop: each once more, and what the slots do not spare.
fn segment(steps: u64, slots: u64) -> u128 {
    u128::from(steps) + binomial::advances(steps, slots)
}

fn hold(memory: &mut [i64], step: i64, slot: i64) {
    let slots = memory[SLOTS] as usize;
    let count = memory[HELD] as usize;
    let old = (0..count).find(|k| memory[STEPS + slots + k] == slot);
    let (from, count) = old.map_or((count, count + 1), |k| (k, count));
    for list in [STEPS, STEPS + slots] {
        memory.copy_within(list + from + usize::from(old.is_some())..list + count, list + from);
    }
    memory[STEPS + count - 1] = step;
    memory[STEPS + slots + count - 1] = slot;
    memory[HELD] = count as i64;
}
