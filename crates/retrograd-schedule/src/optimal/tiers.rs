//! A second tier of memory that is slow to write and to read.
//!
//! Herrmann and Pallez 2020 (*H-Revolve*): a state on disk leaves all of the fast memory free, so the tiers add up.
//! With `x_0` on disk already, `n` steps and `d` slots of the disk cost
//!
//! ```text
//! P(n, d) = min( C(n),  i f + O(n-i, d-1) + read + P(i, d)   for 0 < i < n )
//! O(n, d) = min( C(n),  write + P(n, d) ),   O(n, 0) = C(n)
//! ```
//!
//! where `C` is the optimum in fast memory joint. Deviation: `C` is anyone's, so that it may mix states and records.
//! With a slot for every step this is *Disk-Revolve* (Aupy, Herrmann, Hovland, Robert 2016), without its rule that a
//! state is read once. In the middle of a program, where the first sweep ends before the reversal begins, `O` and `P`
//! of the sweep have the optimum `Q` of such a loop instead of `C`, and `i = n` is a choice too. The start of a loop is
//! at hand: it is neither written nor read, and takes no slot.

/// A slow tier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disk {
    /// States that it holds; none is no limit.
    pub slots: Option<usize>,
    /// Work of writing one.
    pub write: f64,
    /// Work of reading one.
    pub read: f64,
}

/// What is done in fast memory joint, by number of steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Fast {
    /// Work from a state that is only in the working buffer.
    pub later: Vec<f64>,
    /// Work from the start of the loop.
    pub first: Vec<f64>,
}

/// Where a range of steps starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// At `x_0`, which is at hand.
    Start,
    /// At a state that is only in the working buffer.
    Working,
    /// At a state that is on disk, too.
    Disk,
}

/// The least work for every number of steps and of slots.
///
/// ```
/// use retrograd_schedule::optimal::tiers::{Disk, Fast, Origin, Tiers};
/// // One slot in fast memory: n (n - 1) / 2 advances.
/// let work: Vec<f64> = (0..=10).map(|n| (n * (n - 1) / 2) as f64).collect();
/// let fast = Fast { later: work.clone(), first: work };
/// let tiers = Tiers::new(fast, None, 1.0, 0.0, Disk { slots: Some(1), write: 2.0, read: 2.0 });
/// assert_eq!(tiers.work(Origin::Working, 10, 1), 27.0);
/// ```
#[derive(Clone, Debug)]
pub struct Tiers {
    joint: Layers,
    /// Of a loop in the middle of a program.
    sweep: Option<Layers>,
    /// Work of a step, and of what comes before the first of them from the start on.
    advance: f64,
    lead: f64,
    disk: Disk,
}

#[derive(Clone, Debug)]
struct Layers {
    fast: Fast,
    /// By slots, then by steps: from a state on disk, and from one that is not.
    stored: Vec<Vec<f64>>,
    fresh: Vec<Vec<f64>>,
    /// By steps, from the start, with all slots.
    first: Vec<f64>,
}

impl Tiers {
    /// Fills the tables from the work in fast memory, of a loop joint and in the middle of a program; time `O(count² ·
    /// slots)`, or `O(count²)` without a limit. A range from the start has `lead` work before its steps.
    pub fn new(fast: Fast, sweep: Option<Fast>, advance: f64, lead: f64, disk: Disk) -> Tiers {
        let mut tiers = Tiers { joint: Layers::new(fast), sweep: None, advance, lead, disk };
        let last = disk.slots.unwrap_or(1);
        for slots in 1..=last {
            tiers.fill(slots);
        }
        tiers.joint.first = tiers.starts(&tiers.joint, None, last);
        if let Some(fast) = sweep {
            let mut layers = Layers::new(fast);
            for slots in 1..=last {
                tiers.fill_sweep(&mut layers, slots);
            }
            layers.first = tiers.starts(&layers, Some(&tiers.joint), last);
            tiers.sweep = Some(layers);
        }
        tiers
    }

    /// The least work of a loop joint, with so many slots.
    pub fn work(&self, origin: Origin, steps: usize, slots: usize) -> f64 {
        self.joint.row(origin, self.layer(slots))[steps]
    }

    /// The least work of a loop in the middle of a program, from its start; infinite where there is none.
    pub fn work_of_sweep(&self, steps: usize) -> f64 {
        self.sweep.as_ref().map_or(f64::INFINITY, |sweep| sweep.first[steps])
    }

    /// How many steps are advanced from a state on disk, or at hand, before the next one goes there; none where fast
    /// memory is best.
    pub fn split(&self, of_sweep: bool, origin: Origin, steps: usize, slots: usize) -> Option<usize> {
        let layers = if of_sweep { self.sweep.as_ref().expect("the tables have a sweep") } else { &self.joint };
        let layer = self.layer(slots);
        if layers.row(origin, layer)[steps] >= layers.fast_row(origin)[steps] || layer == 0 {
            return None;
        }
        let rest = &layers.fresh[self.slots_after(origin, layer)];
        let left = self.joint.row(if origin == Origin::Start { Origin::Start } else { Origin::Disk }, layer);
        // What is written and read is the same for every split.
        let work = |i: usize| i as f64 * self.advance + rest[steps - i] + left[i];
        self.splits(of_sweep, origin, steps).min_by(|a, b| work(*a).total_cmp(&work(*b)))
    }

    /// Slots that are left for the steps after the next state.
    pub fn slots_after(&self, origin: Origin, slots: usize) -> usize {
        if origin == Origin::Start || self.disk.slots.is_none() { slots } else { slots - 1 }
    }

    fn splits(&self, of_sweep: bool, origin: Origin, steps: usize) -> std::ops::Range<usize> {
        let first = usize::from(origin != Origin::Start || self.lead == 0.0);
        first..if of_sweep { steps + 1 } else { steps }
    }

    fn layer(&self, slots: usize) -> usize {
        if self.disk.slots.is_none() { 1 } else { slots }
    }

    fn fill(&mut self, slots: usize) {
        let (fast, disk) = (&self.joint.fast, self.disk);
        let (mut stored, mut fresh): (Vec<f64>, Vec<f64>) = (vec![], vec![]);
        for (n, joint) in fast.later.iter().enumerate() {
            let fewer = if disk.slots.is_none() { &fresh } else { &self.joint.fresh[slots - 1] };
            let split = |i: usize| i as f64 * self.advance + fewer[n - i] + disk.read + stored[i];
            let best = (1..n).map(split).fold(*joint, f64::min);
            stored.push(best);
            fresh.push(joint.min(disk.write + best));
        }
        self.joint.stored.push(stored);
        self.joint.fresh.push(fresh);
    }

    fn fill_sweep(&self, layers: &mut Layers, slots: usize) {
        let disk = self.disk;
        let left = &self.joint.stored[slots];
        let (mut stored, mut fresh): (Vec<f64>, Vec<f64>) = (vec![], vec![]);
        for (n, joint) in layers.fast.later.iter().enumerate() {
            let fewer = if disk.slots.is_none() { &fresh } else { &layers.fresh[slots - 1] };
            let split = |i: usize| i as f64 * self.advance + fewer[n - i] + disk.read + left[i];
            let best = (1..=n).map(split).fold(*joint, f64::min);
            stored.push(best);
            fresh.push(joint.min(disk.write + best));
        }
        layers.stored.push(stored);
        layers.fresh.push(fresh);
    }

    /// From the start; where `left` is none, its own.
    fn starts(&self, layers: &Layers, left: Option<&Layers>, slots: usize) -> Vec<f64> {
        let mut first: Vec<f64> = vec![];
        for (n, joint) in layers.fast.first.iter().enumerate() {
            let reversed = left.map_or(&first, |left| &left.first);
            let split = |i: usize| self.lead + i as f64 * self.advance + layers.fresh[slots][n - i] + reversed[i];
            let splits = self.splits(left.is_some(), Origin::Start, n);
            let best = splits.map(split).fold(*joint, f64::min);
            first.push(best);
        }
        first
    }
}

impl Layers {
    /// Without a slot.
    fn new(fast: Fast) -> Layers {
        Layers { stored: vec![fast.later.clone()], fresh: vec![fast.later.clone()], first: vec![], fast }
    }

    fn row(&self, origin: Origin, layer: usize) -> &[f64] {
        match origin {
            Origin::Start => &self.first,
            Origin::Working => &self.fresh[layer],
            Origin::Disk => &self.stored[layer],
        }
    }

    fn fast_row(&self, origin: Origin) -> &[f64] {
        match origin {
            Origin::Start => &self.fast.first,
            Origin::Working | Origin::Disk => &self.fast.later,
        }
    }
}
