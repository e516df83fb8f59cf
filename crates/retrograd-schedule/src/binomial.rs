//! Binomial checkpointing in closed form.
//!
//! Griewank and Walther, *Algorithm 799: revolve*, ACM TOMS 26(1), 2000; the minimum is Griewank's (*Achieving
//! logarithmic growth of temporal and spatial complexity in reverse automatic differentiation*, 1992). As there, the
//! slots count `x_0`, the working buffer is no slot, and an *advance* executes one step and records nothing. Deviation:
//! numbers are exact for every `u64`.

/// `beta(s, r) = (s + r)! / (s! r!)`: the longest loop that `s` slots reverse with no step advanced more than `r`
/// times.
///
/// Values of `2^121` or more may be given as `u128::MAX` instead.
///
/// ```
/// use retrograd_schedule::binomial::beta;
/// assert_eq!(beta(3, 2), 10);
/// ```
pub fn beta(slots: u64, repetitions: u64) -> u128 {
    let (few, many) = (slots.min(repetitions), slots.max(repetitions));
    // A controller asks in every turn, and divisions of u128 take long.
    let mut narrow: u64 = 1;
    for k in 1..=few {
        match many.checked_add(k).and_then(|factor| narrow.checked_mul(factor)) {
            Some(product) => narrow = product / k,
            None => return wide_beta(narrow, k, few, many),
        }
    }
    u128::from(narrow)
}

/// `beta(many, few)`, given `beta(many, from - 1)`.
fn wide_beta(before: u64, from: u64, few: u64, many: u64) -> u128 {
    let (mut value, many) = (u128::from(before), u128::from(many));
    for k in u128::from(from)..=u128::from(few) {
        // value = beta(many, k - 1), and k * beta(many, k) = (many + k) * beta(many, k - 1), so the division is exact.
        // As k <= many, value at least doubles each time: k <= 128, however large the arguments, and a product
        // beyond u128 means that beta(many, k) >= 2^128 / k >= 2^121.
        match value.checked_mul(many + k) {
            Some(product) => value = product / k,
            None => return u128::MAX,
        }
    }
    value
}

/// The repetition number: the least `r` with `steps <= beta(slots, r)`. Time `O(min(slots, r) log r)`.
///
/// ```
/// use retrograd_schedule::binomial::repetitions;
/// assert_eq!(repetitions(10, 3), 2);
/// assert_eq!(repetitions(11, 3), 3);
/// ```
///
/// # Panics
/// Without a slot.
pub fn repetitions(steps: u64, slots: u64) -> u64 {
    assert!(slots >= 1, "x_0 is always held, so there is at least one slot");
    let steps = u128::from(steps);
    if steps <= 1 {
        return 0;
    }
    // Invariant: beta(slots, low) < steps <= beta(slots, high), the right half from the end of the first loop.
    let (mut low, mut high) = (0, 1);
    while beta(slots, high) < steps {
        (low, high) = (high, high.saturating_mul(2));
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if beta(slots, middle) < steps {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The fewest advances that reverse `steps` steps: `r n - beta(c + 1, r - 1)`. The `n` recorded executions come on top.
///
/// ```
/// use retrograd_schedule::binomial::advances;
/// assert_eq!(advances(10, 1), 45);
/// assert_eq!(advances(10, 3), 15);
/// ```
///
/// # Panics
/// Without a slot.
pub fn advances(steps: u64, slots: u64) -> u128 {
    if steps <= 1 {
        return 0;
    }
    let slots = useful(slots, steps);
    let r = repetitions(steps, slots);
    u128::from(r) * u128::from(steps) - beta(slots + 1, r - 1)
}

/// How often the schedule of [`first_advance`] stores a state, `x_0` included: `max(n - beta(c, r - 1), beta(c - 1, r -
/// 1))`, the fewest of any schedule with the fewest advances.
///
/// ```
/// use retrograd_schedule::binomial::stores;
/// assert_eq!(stores(10, 1), 1);
/// assert_eq!(stores(10, 3), 6);
/// ```
///
/// # Panics
/// Without a slot.
pub fn stores(steps: u64, slots: u64) -> u64 {
    if steps <= 1 {
        return 0;
    }
    let slots = useful(slots, steps);
    let r = repetitions(steps, slots);
    // Not in the paper in this form; the tests hold it against the reference table, the driven schedule and the
    // recurrence.
    (steps - below_steps(slots, r - 1)).max(below_steps(slots - 1, r - 1))
}

/// How far to advance from a stored state when `steps` steps from there are to be reversed and `slots` slots, that of
/// the state included, may be used.
///
/// Of all advances that lead to the fewest executions this is the choice of Griewank and Walther 2000, which also
/// stores the fewest states.
///
/// ```
/// use retrograd_schedule::binomial::first_advance;
/// assert_eq!(first_advance(10, 1), 9);
/// assert_eq!(first_advance(10, 3), 4);
/// ```
///
/// # Panics
/// Without a slot, or with fewer than two steps: a single step is reversed where it stands.
pub fn first_advance(steps: u64, slots: u64) -> u64 {
    first_advance_near(steps, slots, 1).0
}

/// The same for a controller, which asks again and again: given a guess of the repetition number, with the right one. A
/// guess that is near makes it fast and changes nothing else.
///
/// # Panics
/// As [`first_advance`].
pub fn first_advance_near(steps: u64, slots: u64, guess: u64) -> (u64, u64) {
    assert!(steps >= 2, "a single step is reversed where it stands");
    let slots = useful(slots, steps);
    if slots == 1 {
        return (steps - 1, guess);
    }
    if slots == steps - 1 {
        return (1, guess);
    }
    // Here steps > slots + 1 = beta(slots, 1), so r >= 2.
    let (r, [all, one, two, less]) = near(steps, slots, guess.max(1)).unwrap_or_else(|| {
        let r = repetitions(steps, slots);
        let beta = |fewer: u64, repetitions: u64| below_steps(slots - fewer, repetitions);
        (r, [beta(0, r - 1), beta(1, r - 1), beta(2, r - 1), beta(0, r - 2)])
    });
    let advance = if steps - all <= two {
        less
    } else if steps - all < one + two {
        steps - one - two
    } else {
        all
    };
    (advance, r)
}

/// The repetition number `r`, by going up or down from a guess, with `beta(c, r-1)`, `beta(c-1, r-1)`, `beta(c-2, r-1)`
/// and `beta(c, r-2)`, each from the one before; none where a product is beyond u64.
fn near(steps: u64, slots: u64, guess: u64) -> Option<(u64, [u64; 4])> {
    let ratio = |value: u64, times: u64, by: u64| Some(value.checked_mul(times)? / by);
    let mut r = guess;
    // beta(c, r), and with r - 1.
    let mut value = u64::try_from(beta(slots, r)).ok()?;
    let mut below = ratio(value, r, slots.checked_add(r)?)?;
    while value < steps {
        r += 1;
        below = value;
        value = ratio(value, slots.checked_add(r)?, r)?;
    }
    while below >= steps {
        r -= 1;
        value = below;
        below = ratio(value, r, slots + r)?;
    }
    let one = ratio(below, slots, slots + r - 1)?;
    let two = ratio(one, slots - 1, slots + r - 2)?;
    Some((r, [below, one, two, ratio(below, r - 1, slots + r - 1)?]))
}

/// About how many ranges of steps the recursion ends in where it ends as soon as no step is advanced more than twice,
/// or one slot is left: exactly `beta(c - 1, r - 2)` for `beta(c, r)` steps.
///
/// ```
/// use retrograd_schedule::binomial::{beta, leaves};
/// assert_eq!(leaves(beta(3, 2) as u64, 3), 1);
/// assert_eq!(leaves(beta(3, 4) as u64, 3), 6);
/// ```
///
/// # Panics
/// Without a slot.
pub fn leaves(steps: u64, slots: u64) -> u64 {
    if steps <= 1 {
        return steps;
    }
    let slots = useful(slots, steps);
    let r = repetitions(steps, slots);
    if r <= 2 {
        return 1;
    }
    (beta(slots - 1, r - 2) as f64 / beta(slots, r) as f64 * steps as f64).ceil() as u64
}

/// More than `steps - 1` slots are never useful: the last state is consumed where it stands.
fn useful(slots: u64, steps: u64) -> u64 {
    assert!(slots >= 1, "x_0 is always held, so there is at least one slot");
    slots.min(steps - 1)
}

/// `beta` below the repetition number, where it is less than the number of steps.
fn below_steps(slots: u64, repetitions: u64) -> u64 {
    u64::try_from(beta(slots, repetitions)).expect("beta(c, r - 1) < n")
}
