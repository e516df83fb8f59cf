//! A chain of stages whose reversal follows: which outputs are held, and which stages recorded.
//!
//! Stages s..=t, each with sizes of its own, as in Beaumont, Eyraud-Dubois, Herrmann, Joly and Shilova 2019 ("rotor"),
//! section 4: the first stage is recorded, or a stage further on is reached without records and its input held. Optimal
//! among schedules that hold what they hold until it is used up; with sizes that differ, others are rarely better by a
//! few per cent.

use super::NEVER;

/// A chain, in units of memory.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    /// Work of each stage, forwards.
    pub work: Vec<u64>,
    /// Units that the record of a stage takes, its output included.
    pub record: Vec<usize>,
    /// Units that must be there to record a stage; that of the last stage of a range comes on top of `waiting`.
    pub recording: Vec<usize>,
    /// Units that must be there to reverse a stage that is followed by others, and one that is reversed at once.
    pub reversing: Vec<usize>,
    /// Units that wait for the reversal of each stage while those before it run again.
    pub waiting: Vec<usize>,
    /// Units of holding the input of stage t while stages s.. wait, by s and t.
    pub hold: Vec<Vec<usize>>,
    /// Units that must be there to go from stage s to stage t, by s and t.
    pub going: Vec<Vec<usize>>,
}

/// What is done first with a range of stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The first stage is recorded.
    Record,
    /// The input of this stage is held, and what is from there on comes first.
    Hold(usize),
}

/// The least work of every range of stages and every number of units.
#[derive(Clone, Debug)]
pub struct Table<'c> {
    chain: &'c Chain,
    units: usize,
    work: Vec<u64>,
}

impl Chain {
    /// Fills the table.
    ///
    /// ```
    /// use retrograd_schedule::optimal::chain::{Chain, First};
    /// // Two stages of one unit each; to hold or to record takes a unit.
    /// let (ones, none) = (vec![vec![1; 2]; 2], vec![0; 2]);
    /// let chain = Chain {
    ///     work: vec![5, 5], record: vec![1; 2], recording: vec![1, 0], reversing: vec![1, 0], waiting: none, hold: ones.clone(), going: ones,
    /// };
    /// let table = chain.table(1);
    /// assert_eq!((table.work(0, 1, 1), table.first(0, 1, 1)), (Some(10), Some(First::Record)));
    /// assert_eq!(table.work(0, 1, 0), None);
    /// ```
    pub fn table(&self, units: usize) -> Table<'_> {
        let count = self.work.len();
        let mut table = Table { chain: self, units, work: vec![NEVER; count * count * (units + 1)] };
        for length in 1..=count {
            for first in 0..=count - length {
                for left in 0..=units {
                    let place = table.place(first, first + length - 1, left);
                    table.work[place] = table.least(first, first + length - 1, left).map_or(NEVER, |(work, _)| work);
                }
            }
        }
        table
    }
}

impl Table<'_> {
    /// The least work of stages s..=t.
    pub fn work(&self, s: usize, t: usize, units: usize) -> Option<u64> {
        Some(self.work[self.place(s, t, units)]).filter(|work| *work < NEVER)
    }

    /// How the least work begins.
    pub fn first(&self, s: usize, t: usize, units: usize) -> Option<First> {
        self.least(s, t, units).map(|(_, first)| first)
    }

    /// Units that the record of a stage takes.
    pub fn record(&self, s: usize) -> usize {
        self.chain.record[s]
    }

    /// Units of holding the input of stage t while stages s.. wait.
    pub fn hold(&self, s: usize, t: usize) -> usize {
        self.chain.hold[s][t]
    }

    fn place(&self, s: usize, t: usize, units: usize) -> usize {
        (s * self.chain.work.len() + t) * (self.units + 1) + units
    }

    fn least(&self, s: usize, t: usize, units: usize) -> Option<(u64, First)> {
        let chain = self.chain;
        let mut best: Option<(u64, First)> = None;
        let mut offer = |work: u64, first: First| {
            if work < NEVER && best.is_none_or(|(least, _)| work < least) {
                best = Some((work, first));
            }
        };
        let recordable = units >= (chain.waiting[t] + chain.recording[s]).max(chain.reversing[s]);
        if s == t && recordable {
            offer(chain.work[s], First::Record);
        }
        if s < t && recordable && units >= chain.record[s] {
            offer(
                chain.work[s].saturating_add(self.work[self.place(s + 1, t, units - chain.record[s])]),
                First::Record,
            );
        }
        let mut advance = 0u64;
        for next in s + 1..=t {
            advance += chain.work[next - 1];
            let hold = chain.hold[s][next];
            if units >= hold && units >= chain.waiting[t] + chain.going[s][next] {
                let (later, before) =
                    (self.work[self.place(next, t, units - hold)], self.work[self.place(s, next - 1, units)]);
                offer(advance.saturating_add(later).saturating_add(before), First::Hold(next));
            }
        }
        best
    }
}
