//! What to save of straight-line code so that the rest can be computed again: bytes against work.
//!
//! A value is saved, or computed again once from values that are. For a price of a byte the best choice is a minimum
//! cut of a network (Picard 1976: a closure problem), and the prices from nothing to everything leave the convex hull.
//! Between its points the integer program is solved by branch and bound over the same cuts, whose Lagrangian bound
//! equals that of its linear relaxation. Limited by a number of cuts, never by a clock.

use super::flow::{Network, SINK, SOURCE, UNCUT};

/// Straight-line code, as far as it can be computed again.
#[derive(Clone, Debug, Default)]
pub struct Closure {
    /// Bytes of each value.
    pub bytes: Vec<u64>,
    /// Whether a value must be had in the end.
    pub needed: Vec<bool>,
    /// What computes values; those that nothing computes must be saved where they are used.
    pub makers: Vec<Maker>,
    /// What is decided beforehand about each value.
    pub fates: Vec<Option<Fate>>,
}

/// An instruction.
#[derive(Clone, Debug, Default)]
pub struct Maker {
    /// Its work.
    pub work: u64,
    /// Values that it reads.
    pub args: Vec<usize>,
    /// Values that it computes.
    pub results: Vec<usize>,
}

/// What becomes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is kept.
    Keep,
    /// It is computed again.
    Recompute,
}

/// The cost of what is forbidden, far below that of what is impossible.
const FORBIDDEN: u128 = 1 << 100;

/// Weighs more than all that is counted.
const DEAR: u128 = 1 << 40;

/// Points of the hull at most.
const POINTS: usize = 4;

/// Branches at most, with a few cuts each.
const BRANCHES: usize = 200;

impl Closure {
    /// Choices of values to save, on the convex hull from the least work to the fewest bytes.
    pub fn hull(&self) -> Vec<Vec<bool>> {
        let mut hull = vec![self.priced(1, DEAR), self.priced(DEAR, 1)];
        // Between two neighbours the price at which they are equal finds a better one, if there is one.
        let mut k = 0;
        while k + 1 < hull.len() && hull.len() < POINTS {
            let (price, weight) = self.price_between(&hull[k], &hull[k + 1]);
            let between = self.priced(price, weight);
            let value =
                |saved: &[bool]| price * u128::from(self.bytes_of(saved)) + weight * u128::from(self.work_of(saved));
            if value(&between) < value(&hull[k]) {
                hull.insert(k + 1, between);
            } else {
                k += 1;
            }
        }
        hull.dedup();
        hull
    }

    /// The choice of the least work in so many bytes; none where nothing fits.
    ///
    /// ```
    /// use retrograd_schedule::optimal::closure::{Closure, Maker};
    /// // Two values, of which the second is computed from the first.
    /// let makers = vec![
    ///     Maker { work: 5, args: vec![], results: vec![0] },
    ///     Maker { work: 3, args: vec![0], results: vec![1] },
    /// ];
    /// let code = Closure { bytes: vec![8, 8], needed: vec![true, true], makers, fates: vec![None, None] };
    /// assert_eq!(code.within(8), Some(vec![true, false]));
    /// assert_eq!(code.work_of(&[true, false]), 3);
    /// ```
    pub fn within(&self, limit: u64) -> Option<Vec<bool>> {
        let mut best: Option<(u64, Vec<bool>)> = None;
        let mut open = vec![self.clone()];
        for _ in 0..BRANCHES {
            let Some(branch) = open.pop() else { break };
            let (bound, found, split) = branch.relaxed(limit);
            for saved in found {
                let work = branch.work_of(&saved);
                if best.as_ref().is_none_or(|(least, _)| work < *least) {
                    best = Some((work, saved));
                }
            }
            if let Some(value) = split.filter(|_| best.as_ref().is_none_or(|(least, _)| bound < *least)) {
                for fate in [Fate::Recompute, Fate::Keep] {
                    let mut next = branch.clone();
                    next.fates[value] = Some(fate);
                    open.push(next);
                }
            }
        }
        best.map(|(_, saved)| saved)
    }

    /// No choice in so many bytes does less work than this, to within rounding: the Lagrangian bound.
    pub fn bound(&self, limit: u64) -> u64 {
        self.relaxed(limit).0
    }

    /// A bound, the choices that were found to fit, and a value to branch on where the bound may not be met.
    fn relaxed(&self, limit: u64) -> (u64, Vec<Vec<bool>>, Option<usize>) {
        let (mut many, mut few) = (self.priced(1, DEAR), self.priced(DEAR, 1));
        let fits = |saved: &[bool]| self.bytes_of(saved) <= limit && self.allowed(saved);
        if fits(&many) {
            return (self.work_of(&many), vec![many], None);
        }
        if !fits(&few) {
            return (u64::MAX, vec![], None);
        }
        let mut found = vec![few.clone()];
        // The two ends of the hull's edge over the limit: the bound is the edge's height there.
        loop {
            let (price, weight) = self.price_between(&many, &few);
            let between = self.priced(price, weight);
            let value =
                |saved: &[bool]| price * u128::from(self.bytes_of(saved)) + weight * u128::from(self.work_of(saved));
            if value(&between) >= value(&many) || weight == 0 {
                let height = value(&few).saturating_sub(price * u128::from(limit));
                let bound = height.div_ceil(weight.max(1));
                let differs = (0..self.bytes.len()).find(|v| many[*v] != few[*v] && self.fates[*v].is_none());
                return (u64::try_from(bound).unwrap_or(u64::MAX), found, differs);
            }
            if fits(&between) {
                found.push(between.clone());
                few = between;
            } else {
                many = between;
            }
        }
    }

    /// Whether what is decided beforehand is kept to.
    fn allowed(&self, saved: &[bool]) -> bool {
        self.fates.iter().zip(saved).all(|(fate, saved)| !(*fate == Some(Fate::Recompute) && *saved))
    }

    /// The price of a byte, as a fraction, at which two choices cost the same.
    fn price_between(&self, many: &[bool], few: &[bool]) -> (u128, u128) {
        let more = self.work_of(few).saturating_sub(self.work_of(many));
        let bytes = self.bytes_of(many).saturating_sub(self.bytes_of(few));
        (u128::from(more), u128::from(bytes))
    }

    /// The choice of the least `price · bytes + weight · work`.
    fn priced(&self, price: u128, weight: u128) -> Vec<bool> {
        let mut network = Network::default();
        let places: Vec<[usize; 2]> = self.bytes.iter().map(|_| [network.place(), network.place()]).collect();
        let mut made = vec![false; self.bytes.len()];
        for maker in &self.makers {
            let place = network.place();
            network.channel(SOURCE, place, weight * u128::from(maker.work));
            for result in &maker.results {
                made[*result] = true;
                // What is to be kept is not computed again.
                let forced = self.fates[*result] == Some(Fate::Keep);
                network.channel(if forced { SOURCE } else { place }, places[*result][0], UNCUT);
            }
            maker.args.iter().for_each(|arg| network.channel(places[*arg][1], place, UNCUT));
        }
        for (value, [before, after]) in places.iter().enumerate() {
            let save = match self.fates[value] {
                Some(Fate::Recompute) if made[value] => FORBIDDEN,
                Some(Fate::Keep | Fate::Recompute) | None => price * u128::from(self.bytes[value]),
            };
            network.channel(*before, *after, save);
            if !made[value] {
                network.channel(SOURCE, *before, UNCUT);
            }
            if self.needed[value] {
                network.channel(*after, SINK, UNCUT);
            }
        }
        let side = network.source_side();
        let mut saved: Vec<bool> = places.iter().map(|[before, after]| side[*before] && !side[*after]).collect();
        let read = self.read_from(&saved);
        saved.iter_mut().zip(read).for_each(|(saved, read)| *saved &= read);
        saved
    }

    /// What is read when everything needed is had from what is saved.
    fn read_from(&self, saved: &[bool]) -> Vec<bool> {
        let mut read = self.needed.clone();
        for maker in self.makers.iter().rev() {
            if maker.results.iter().any(|v| read[*v] && !saved[*v]) {
                maker.args.iter().for_each(|v| read[*v] = true);
            }
        }
        read
    }

    /// Bytes of what is saved.
    pub fn bytes_of(&self, saved: &[bool]) -> u64 {
        self.bytes.iter().zip(saved).filter(|(_, saved)| **saved).map(|(bytes, _)| bytes).sum()
    }

    /// Work of computing the rest.
    pub fn work_of(&self, saved: &[bool]) -> u64 {
        let read = self.read_from(saved);
        let again = |maker: &&Maker| maker.results.iter().any(|v| read[*v] && !saved[*v]);
        self.makers.iter().filter(again).map(|maker| maker.work).sum()
    }
}
