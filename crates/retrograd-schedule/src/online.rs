//! A loop of unknown length: which states to hold while it runs, with all bookkeeping in a few words of the caller's
//! memory.
//!
//! Stumm and Walther 2010 (*New algorithms for optimal online checkpointing*), algorithm I, as long as it is optimal:
//! up to `(c+1)(c+2)/2 - 1` steps. From there on each new state takes the place of the one without which the reversal
//! of the steps so far is cheapest, if that is cheaper than to drop the new one (Hinze and Sternberg 2005, with exact
//! costs). The reversal is binomial from every held state on: state number `k` of `c` leaves `c - k` slots. At most 5 %
//! above the optimum of hindsight from 4 slots on.
//!
//! While the loop runs, the controller asks for states to be held and for steps up to the next one. When the loop ends,
//! the driver writes how many steps there were to [`TRIPS`]; from there on the actions are those of the reversal.

use super::{Action, binomial};

// The first word says which controller this is.

/// How many steps there were; [`RUNNING`] as long as the loop runs. The driver writes it.
pub const TRIPS: usize = 1;
/// Slots.
const SLOTS: usize = 2;
/// Bytes of a state.
const STATE: usize = 3;
/// Held states.
const HELD: usize = 4;
/// The step from whose state the working buffer would go on, or `LOST`.
const WORKING: usize = 5;
/// The step whose state is held next, or `NEVER`; after the turn, the steps from here on are reversed.
const AHEAD: usize = 6;
/// The slot that it goes to; after the turn, `TURNED`.
const SLOT: usize = 7;
/// Stumm and Walther's next slot; after the turn, the number from which on a state goes to the slot of its number.
const NEXT: usize = 8;
/// The last slot of this round.
const LAST: usize = 9;
/// The step at which the round ends.
const PERIOD: usize = 10;
/// 1 if the next state is held.
const SAVE: usize = 11;
/// The steps of the held states in ascending order, then the slot of each.
const STEPS: usize = 12;

/// The loop has not ended.
pub const RUNNING: i64 = -1;
/// The working buffer holds nothing of use.
const LOST: i64 = -1;
/// In `SLOT`: the reversal is under way.
const TURNED: i64 = -1;
/// No loop has so many steps.
const NEVER: i64 = i64::MAX;

/// Words of a loop with so many slots.
pub fn words(slots: u64) -> usize {
    STEPS.saturating_add(usize::try_from(slots).unwrap_or(usize::MAX).saturating_mul(2))
}

/// Prepares the words. Slot 0 is `x_0`, which is held for nothing; the others lie one after the other.
///
/// # Panics
/// Without a slot, or where the words are too few.
pub fn start_online(memory: &mut [i64], slots: u64, state_bytes: u64) {
    assert!(slots >= 1 && memory.len() >= words(slots), "x_0 is always held, and words are enough");
    let slots = slots as i64;
    let control = [super::controller::ONLINE, RUNNING, slots, state_bytes as i64, 0, 0, 0, 0, 0, slots, slots, 1];
    memory[..STEPS].copy_from_slice(&control);
    // x_0 is held where it is.
    stumm_walther(memory, 0);
    hold(memory, 0, 0);
    look_ahead(memory, 1);
}

/// The next action. While the loop runs they are `Snapshot` and `Advance`, the latter ending earlier if the loop does;
/// after that those of the reversal. After [`Action::Done`] it stays done.
///
/// ```
/// use retrograd_schedule::{Action, next, online};
/// let mut words = vec![0; online::words(2)];
/// online::start_online(&mut words, 2, 8);
/// assert_eq!(next(&mut words, &[]), Action::Advance { from: 0, to: 1 });
/// assert_eq!(next(&mut words, &[]), Action::Snapshot { at: 0, step: 1 });
/// assert_eq!(next(&mut words, &[]), Action::Advance { from: 1, to: 3 });
/// // The loop has ended after its second step.
/// words[online::TRIPS] = 2;
/// assert_eq!(next(&mut words, &[]), Action::Restore { at: Some(0), step: 1 });
/// assert_eq!(next(&mut words, &[]), Action::Youturn { step: 1 });
/// ```
pub(crate) fn next_of_online(memory: &mut [i64]) -> Action {
    if memory[SLOT] == TURNED {
        return reversal(memory);
    }
    if memory[TRIPS] != RUNNING {
        turn(memory);
        return reversal(memory);
    }
    let (working, ahead, slot) = (memory[WORKING], memory[AHEAD], memory[SLOT]);
    if working < ahead {
        memory[WORKING] = ahead;
        return Action::Advance { from: working as u64, to: ahead as u64 };
    }
    hold(memory, working, slot);
    look_ahead(memory, working + 1);
    Action::Snapshot { at: ((slot - 1) * memory[STATE]) as u64, step: working as u64 }
}

/// The held states, as step and slot, in ascending order.
pub fn held(memory: &[i64]) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
    let (count, slots) = (memory[HELD] as usize, memory[SLOTS] as usize);
    (0..count).map(move |k| (memory[STEPS + k] as u64, slot_of(memory, slots, k) as u64))
}

/// The slot of state number `k`. A slot is used again only when all of them are used: those of the states that are held
/// at the turn are the first ones, and beyond them number and slot are the same, so that nobody writes down what may be
/// thousands of unused slots.
fn slot_of(memory: &[i64], slots: usize, k: usize) -> i64 {
    if memory[SLOT] == TURNED && k as i64 >= memory[NEXT] { k as i64 } else { memory[STEPS + slots + k] }
}

/// Forward executions in all if the loop ends after `steps`, itself included.
pub fn forward_steps(memory: &[i64], steps: u64) -> u128 {
    u128::from(steps) + (0..memory[HELD] as usize).map(|k| kept(memory, k, steps)).sum::<u128>()
}

/// The loop has ended, and the reversal begins; the working buffer is lost meanwhile.
fn turn(memory: &mut [i64]) {
    (memory[AHEAD], memory[WORKING], memory[SLOT], memory[NEXT]) = (memory[TRIPS], LOST, TURNED, memory[HELD]);
}

fn reversal(memory: &mut [i64]) -> Action {
    let (slots, working, end) = (memory[SLOTS] as usize, memory[WORKING], memory[AHEAD]);
    if end == 0 {
        return Action::Done;
    }
    let top = memory[HELD] as usize - 1;
    let stored = memory[STEPS + top];
    let place = |number: usize| {
        let slot = slot_of(memory, slots, number);
        (slot > 0).then(|| ((slot - 1) * memory[STATE]) as u64)
    };
    if working == LOST {
        let at = place(top);
        memory[WORKING] = stored;
        Action::Restore { at, step: stored as u64 }
    } else if end - working == 1 {
        (memory[WORKING], memory[AHEAD]) = (LOST, working);
        if stored == working && top > 0 {
            memory[HELD] -= 1;
        }
        Action::Youturn { step: working as u64 }
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

/// Finds the next state that is held, of `step` and those after it.
fn look_ahead(memory: &mut [i64], step: i64) {
    let slots = memory[SLOTS];
    let optimal = i128::from(slots + 1) * i128::from(slots + 2) / 2 - 1;
    let mut step = step;
    while i128::from(step) < optimal {
        if let Some(slot) = stumm_walther(memory, step) {
            (memory[AHEAD], memory[SLOT]) = (step, slot);
            return;
        }
        step += 1;
    }
    (memory[AHEAD], memory[SLOT]) = greedy(memory, step).unwrap_or((NEVER, 0));
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

/// The first state from `step` on that is worth more than a held one, and the slot of the one without which the steps
/// so far are reversed cheapest.
///
/// Let the newest held state be `L` steps back. With the steps so far reversed as they are, the last segment has one
/// slot; if an older state goes, that segment has two, and whatever else changes does not depend on `L`: of those
/// states one is the best for every `L`. If the newest goes, its segment and the one before become one. What either
/// gains is once positive for good, because a segment of one slot grows the fastest; so the first step is found by
/// doubling and halving.
fn greedy(memory: &[i64], step: i64) -> Option<(i64, i64)> {
    let (slots, count) = (memory[SLOTS] as u64, memory[HELD] as usize);
    let newest = count - 1;
    let older = dispensable(memory);
    let (end, joined) = (memory[STEPS + newest], (newest > 0).then(|| length(memory, newest - 1, 0)));
    let left = slots - newest as u64;
    // What each gains where the new state is that many steps after the newest held one.
    let gain_older =
        |steps: u64| older.map(|(gain, _)| gain + cost(steps + 1, left) - cost(steps, left + 1) - cost(1, left));
    let gain_newest = |steps: u64| {
        joined.map(|joined| {
            cost(joined, left + 1) + cost(steps + 1, left) - cost(joined + steps, left + 1) - cost(1, left)
        })
    };
    let gain = |steps: u64| gain_older(steps).max(gain_newest(steps)).unwrap_or(-1);
    let nearest = (step - end) as u64;
    let (mut low, mut high) = (nearest, nearest);
    while gain(high) <= 0 {
        if high > 1 << 40 || (older.is_none() && joined.is_none()) {
            return None;
        }
        (low, high) = (high, high * 2 + 1);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if gain(middle) <= 0 { low = middle } else { high = middle }
    }
    let steps = if gain(low) > 0 { low } else { high };
    let number = match older {
        Some((_, number)) if gain_older(steps) >= gain_newest(steps) => number,
        Some(_) | None => newest,
    };
    Some((end + steps as i64, memory[STEPS + slots as usize + number]))
}

/// Of the held states between the first and the newest, the one without which the steps up to the newest are reversed
/// cheapest, if each segment after it has one slot more; and what that saves.
fn dispensable(memory: &[i64]) -> Option<(i128, usize)> {
    let (slots, newest) = (memory[SLOTS] as u64, memory[HELD] as usize - 1);
    let mut best: Option<(i128, usize)> = None;
    let mut saved = 0;
    for k in (1..newest).rev() {
        let (before, after) = (length(memory, k - 1, 0), length(memory, k, 0));
        let limit = slots - k as u64;
        let joined = cost(before, limit + 1) + cost(after, limit) - cost(before + after, limit + 1) + saved;
        if best.is_none_or(|(most, _)| joined >= most) {
            best = Some((joined, k));
        }
        saved += cost(after, limit) - cost(after, limit + 1);
    }
    best
}

/// Steps from a held state to the next, or to the end.
fn length(memory: &[i64], k: usize, end: u64) -> u64 {
    let next = if k + 1 < memory[HELD] as usize { memory[STEPS + k + 1] as u64 } else { end };
    next - memory[STEPS + k] as u64
}

fn kept(memory: &[i64], k: usize, end: u64) -> u128 {
    segment(length(memory, k, end), memory[SLOTS] as u64 - k as u64)
}

/// Executions that reverse so many steps after the loop: each once more, and what the slots do not spare.
fn segment(steps: u64, slots: u64) -> u128 {
    u128::from(steps) + binomial::advances(steps, slots)
}

/// The same, to be added and subtracted.
fn cost(steps: u64, slots: u64) -> i128 {
    i128::try_from(segment(steps, slots)).unwrap_or(i128::MAX / 8)
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
