//! The minimum cut of a network, by Dinic's algorithm.

use std::collections::VecDeque;

/// More than any cut costs.
pub const UNCUT: u128 = u128::MAX / 4;

/// Places joined by channels; the first is the source, the second the sink.
///
/// ```
/// use retrograd_schedule::optimal::flow::{Network, SINK, SOURCE};
/// let mut network = Network::default();
/// let middle = network.place();
/// network.channel(SOURCE, middle, 5);
/// network.channel(middle, SINK, 3);
/// assert_eq!(network.source_side(), [true, false, true]);
/// ```
#[derive(Clone, Debug)]
pub struct Network {
    /// Where each channel leads, and what it still carries; channel `k ^ 1` is its opposite.
    channels: Vec<(usize, u128)>,
    from: Vec<Vec<usize>>,
}

/// Where everything comes from.
pub const SOURCE: usize = 0;
/// Where everything goes.
pub const SINK: usize = 1;

impl Default for Network {
    fn default() -> Network {
        Network { channels: vec![], from: vec![vec![], vec![]] }
    }
}

impl Network {
    /// A new place.
    pub fn place(&mut self) -> usize {
        self.from.push(vec![]);
        self.from.len() - 1
    }

    /// A channel that costs this much to cut.
    pub fn channel(&mut self, from: usize, to: usize, cost: u128) {
        self.from[from].push(self.channels.len());
        self.from[to].push(self.channels.len() + 1);
        self.channels.extend([(to, cost), (from, 0)]);
    }

    /// The places on the source's side of a minimum cut, as few as possible.
    pub fn source_side(mut self) -> Vec<bool> {
        loop {
            let levels = self.levels();
            if levels[SINK].is_none() {
                return levels.iter().map(Option::is_some).collect();
            }
            let mut next = vec![0; self.from.len()];
            while self.push(&levels, &mut next) {}
        }
    }

    /// Distance of every place from the source by channels that carry more.
    fn levels(&self) -> Vec<Option<usize>> {
        let mut levels = vec![None; self.from.len()];
        levels[SOURCE] = Some(0);
        let mut queue = VecDeque::from([SOURCE]);
        while let Some(place) = queue.pop_front() {
            for channel in &self.from[place] {
                let (to, left) = self.channels[*channel];
                if left > 0 && levels[to].is_none() {
                    levels[to] = levels[place].map(|level: usize| level + 1);
                    queue.push_back(to);
                }
            }
        }
        levels
    }

    /// Sends as much as one shortest way carries; whether there was one.
    fn push(&mut self, levels: &[Option<usize>], next: &mut [usize]) -> bool {
        let mut way: Vec<usize> = vec![];
        loop {
            let place = way.last().map_or(SOURCE, |channel| self.channels[*channel].0);
            if place == SINK {
                let least = way.iter().map(|channel| self.channels[*channel].1).min().unwrap_or(0);
                for channel in way {
                    self.channels[channel].1 -= least;
                    self.channels[channel ^ 1].1 += least;
                }
                return true;
            }
            let leads = |channel: &usize| {
                let (to, left) = self.channels[*channel];
                left > 0 && levels[to] == levels[place].map(|level| level + 1)
            };
            match self.from[place][next[place]..].iter().position(leads) {
                Some(skipped) => {
                    next[place] += skipped;
                    way.push(self.from[place][next[place]]);
                }
                None => {
                    next[place] = self.from[place].len();
                    let Some(dead) = way.pop() else { return false };
                    let before = self.channels[dead ^ 1].0;
                    next[before] += 1;
                }
            }
        }
    }
}
