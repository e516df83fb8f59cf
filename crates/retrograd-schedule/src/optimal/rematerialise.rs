//! Straight-line code in so many bytes: what runs again, and when.
//!
//! Every item runs for the first time in its turn; between two of them earlier ones may run again. What is at hand is
//! what ran last; a value is held from there to the last read before its maker runs again. So an order of runs says
//! all, and its bytes follow. Short code is searched for the least work (Dijkstra over what is held, as the exhaustive
//! tables were made). Longer code is kept by cheapest cuts (`closure.rs`), or taken as a chain of stages between places
//! where little is held (`chain.rs`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Straight-line code.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Bytes of each value.
    pub bytes: Vec<u64>,
    /// What makes values, in order; what nothing makes is there from the start and costs nothing.
    pub items: Vec<Item>,
    /// Values that are in use after the last item.
    pub ends: Vec<usize>,
}

/// What makes values of values.
#[derive(Clone, Debug, Default)]
pub struct Item {
    /// Its work.
    pub work: u64,
    /// Values that it reads.
    pub args: Vec<usize>,
    /// Values that it makes.
    pub results: Vec<usize>,
    /// Whether it may run again.
    pub again: bool,
}

/// Items in the order in which they run.
pub type Order = Vec<usize>;

impl Code {
    /// Everything once.
    pub fn in_turn(&self) -> Order {
        (0..self.items.len()).collect()
    }

    /// The most bytes that are held at a time: while an item runs, what it reads and what it makes too.
    ///
    /// ```
    /// use retrograd_schedule::optimal::rematerialise::{Code, Item};
    /// let item = |args: &[usize], result: usize| Item { work: 1, args: args.to_vec(), results: vec![result], again: true };
    /// // The last item reads what the first and the second make.
    /// let code = Code { bytes: vec![8, 4, 1], items: vec![item(&[], 0), item(&[], 1), item(&[0, 1], 2)], ends: vec![2] };
    /// assert_eq!(code.peak(&code.in_turn()), 13);
    /// assert_eq!(code.work(&[0, 1, 0, 2]), 4);
    /// ```
    pub fn peak(&self, order: &[usize]) -> u64 {
        self.profile(order).into_iter().max().unwrap_or(0)
    }

    /// Bytes that are held while each run lasts.
    pub fn profile(&self, order: &[usize]) -> Vec<u64> {
        let mut live = vec![false; self.bytes.len()];
        let mut held = 0;
        let take = |live: &mut [bool], held: &mut u64, value: usize| {
            if !std::mem::replace(&mut live[value], true) {
                *held += self.bytes[value];
            }
        };
        let made: BTreeSet<usize> = self.items.iter().flat_map(|item| item.results.iter().copied()).collect();
        self.ends.iter().filter(|v| made.contains(v)).for_each(|v| take(&mut live, &mut held, *v));
        let mut profile = vec![0; order.len()];
        for (k, item) in order.iter().enumerate().rev() {
            let item = &self.items[*item];
            item.results
                .iter()
                .chain(item.args.iter().filter(|v| made.contains(v)))
                .for_each(|v| take(&mut live, &mut held, *v));
            profile[k] = held;
            for value in &item.results {
                live[*value] = false;
                held -= self.bytes[*value];
            }
        }
        profile
    }

    /// Work of an order.
    pub fn work(&self, order: &[usize]) -> u64 {
        order.iter().map(|item| self.items[*item].work).fold(0, u64::saturating_add)
    }

    /// The item that makes each value.
    pub fn makers(&self) -> Vec<Option<usize>> {
        let mut makers = vec![None; self.bytes.len()];
        for (k, item) in self.items.iter().enumerate() {
            item.results.iter().for_each(|v| makers[*v] = Some(k));
        }
        makers
    }

    /// Where the most bytes that could be made again are between their making and a read: an item before which they are
    /// all held.
    pub fn turn(&self) -> usize {
        let makers = self.makers();
        let mut change = vec![0i128; self.items.len() + 1];
        let mut last = vec![0; self.bytes.len()];
        for (k, item) in self.items.iter().enumerate() {
            item.args.iter().for_each(|v| last[*v] = k);
        }
        for (value, maker) in makers.iter().enumerate() {
            if let Some(maker) = maker.filter(|maker| self.items[*maker].again && last[value] > *maker) {
                change[maker + 1] += i128::from(self.bytes[value]);
                change[last[value] + 1] -= i128::from(self.bytes[value]);
            }
        }
        let (mut held, mut most) = (0, (0, 0));
        for (k, change) in change.iter().enumerate() {
            held += change;
            most = most.max((held, k));
        }
        most.1
    }

    /// Everything up to an item in turn; what is not kept then runs again once, just before it is read.
    pub fn once(&self, turn: usize, kept: &[bool]) -> Order {
        let mut run = Run::new(self);
        (0..turn).for_each(|item| run.first(item));
        run.forget(&|value| kept[value]);
        (turn..self.items.len()).for_each(|item| run.first(item));
        run.order
    }

    /// The order of the least work in so many bytes; none where there is none, or where the search would take more
    /// nodes.
    pub fn search(&self, limit: u64, nodes: usize) -> Option<Order> {
        if self.bytes.len() > 64 || self.items.is_empty() {
            return None;
        }
        Search::new(self, limit).run(nodes)
    }
}

/// An order under construction.
pub struct Run<'c> {
    code: &'c Code,
    makers: Vec<Option<usize>>,
    /// What is at hand.
    have: Vec<bool>,
    /// The runs so far.
    pub order: Order,
}

impl<'c> Run<'c> {
    /// Nothing has run.
    pub fn new(code: &'c Code) -> Run<'c> {
        let makers = code.makers();
        let have = makers.iter().map(Option::is_none).collect();
        Run { code, makers, have, order: vec![] }
    }

    /// Runs an item, and again before it what it reads and is not at hand.
    pub fn first(&mut self, item: usize) {
        self.fetch(&self.code.items[item].args);
        self.push(item);
    }

    /// Has these values at hand.
    pub fn fetch(&mut self, values: &[usize]) {
        let mut missing: BTreeSet<usize> = BTreeSet::new();
        let mut open = values.to_vec();
        while let Some(value) = open.pop() {
            let maker = self.makers[value].filter(|_| !self.have[value]);
            if let Some(maker) = maker.filter(|maker| missing.insert(*maker)) {
                open.extend(&self.code.items[maker].args);
            }
        }
        missing.into_iter().for_each(|item| self.push(item));
    }

    /// No longer has at hand what can be made again, unless it is held.
    pub fn forget(&mut self, held: &dyn Fn(usize) -> bool) {
        for (value, maker) in self.makers.iter().enumerate() {
            if maker.is_some_and(|maker| self.code.items[maker].again) && !held(value) {
                self.have[value] = false;
            }
        }
    }

    fn push(&mut self, item: usize) {
        self.order.push(item);
        self.code.items[item].results.iter().for_each(|v| self.have[*v] = true);
    }
}

/// How many items had their turn, and what is held, by bits.
type State = (usize, u64);

/// A search over all that can be held.
struct Search<'c> {
    code: &'c Code,
    limit: u64,
    args: Vec<u64>,
    results: Vec<u64>,
    /// What may still be read, by the number of items that had their turn.
    useful: Vec<u64>,
    /// What may be dropped while it is of use: it can be made again.
    again: u64,
}

impl<'c> Search<'c> {
    fn new(code: &'c Code, limit: u64) -> Search<'c> {
        let made = bits(code.items.iter().flat_map(|item| &item.results));
        let args: Vec<u64> = code.items.iter().map(|item| bits(&item.args) & made).collect();
        let results: Vec<u64> = code.items.iter().map(|item| bits(&item.results)).collect();
        let ends = bits(&code.ends) & made;
        let useful = |turn: usize| {
            let mut useful = args[turn..].iter().fold(ends, |all, args| all | args);
            for item in (0..turn).rev().filter(|item| code.items[*item].again) {
                useful |= if results[item] & useful != 0 { args[item] } else { 0 };
            }
            useful
        };
        let useful = (0..=code.items.len()).map(useful).collect();
        let again = bits(code.items.iter().filter(|item| item.again).flat_map(|item| &item.results));
        Search { code, limit, args, results, useful, again }
    }

    fn run(&self, nodes: usize) -> Option<Order> {
        let mut from: BTreeMap<State, (u64, State, Option<usize>)> = BTreeMap::new();
        let mut open = BinaryHeap::from([Reverse((0u64, Reverse(0usize), 0u64))]);
        from.insert((0, 0), (0, (0, 0), None));
        let mut visited = 0;
        while let Some(Reverse((work, Reverse(turn), held))) = open.pop() {
            let state = (turn, held);
            if from[&state].0 < work {
                continue;
            }
            if turn == self.code.items.len() {
                return Some(way(&from, state));
            }
            visited += 1;
            if visited > nodes {
                return None;
            }
            self.moves(state, &mut |next, more, item| {
                let known = from.get(&next).is_some_and(|(least, ..)| *least <= work + more);
                if !known {
                    from.insert(next, (work + more, state, item));
                    open.push(Reverse((work + more, Reverse(next.0), next.1)));
                }
            });
        }
        None
    }

    fn moves(&self, (turn, held): State, tell: &mut dyn FnMut(State, u64, Option<usize>)) {
        let mut blocked = false;
        let mut fits = |item: usize| {
            let ready = self.args[item] & !held == 0;
            let fits = self.bytes(held | self.results[item]) <= self.limit;
            blocked |= ready && !fits;
            ready && fits
        };
        if fits(turn) {
            // The work of first turns is the same for all.
            tell((turn + 1, (held | self.results[turn]) & self.useful[turn + 1]), 0, Some(turn));
        }
        for item in (0..turn).filter(|item| self.code.items[*item].again) {
            let wanted = self.results[item] & !held & self.useful[turn] != 0;
            if wanted && fits(item) {
                tell((turn, held | self.results[item]), self.code.items[item].work, Some(item));
            }
        }
        // To drop something can wait until something does not fit.
        let mut left = if blocked { held & self.again } else { 0 };
        while left != 0 {
            let value = left & left.wrapping_neg();
            tell((turn, held & !value), 0, None);
            left &= !value;
        }
    }

    fn bytes(&self, held: u64) -> u64 {
        (0..self.code.bytes.len()).filter(|v| held >> v & 1 == 1).map(|v| self.code.bytes[v]).sum()
    }
}

/// The runs that led to a state.
fn way(from: &BTreeMap<State, (u64, State, Option<usize>)>, mut state: State) -> Order {
    let mut order = vec![];
    while state != (0, 0) || from[&state].2.is_some() {
        let (_, before, item) = from[&state];
        order.extend(item);
        state = before;
    }
    order.reverse();
    order
}

fn bits<'v>(values: impl IntoIterator<Item = &'v usize>) -> u64 {
    values.into_iter().fold(0, |bits, value| bits | 1 << value)
}
