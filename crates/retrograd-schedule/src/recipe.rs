//! A schedule that was worked out before the run: states and records mixed in any way, as a few shared parts.
//!
//! What is kept lies on one stack of bytes. A part says what is done with a range of steps whose first state is in the
//! working buffer: record some of them and go on, or hold the state, advance, do the rest and come back. Equal parts
//! are one part, so that a recipe is short where its schedule is long.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::{Counts, Sweep};
use crate::optimal::{JointReversal, Move, Place, SplitReversal};

/// A part of a recipe, by number; a part comes after those that it uses.
pub type PartId = u32;

/// What is done with a range of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Part {
    /// The only step is executed and reversed at once.
    Youturn,
    /// The range is empty: the first sweep ends here.
    End,
    /// Steps are recorded, then comes the rest, then they are reversed.
    Tape {
        /// How many.
        steps: u64,
        /// What is kept of each.
        choice: u32,
        /// The rest of the range; none where there is none.
        then: Option<PartId>,
    },
    /// The state is held and `advance` steps are executed, `times` in a row; then comes the rest; then, from the last
    /// held state to the first, the state is restored and the steps up to the next one are reversed.
    Hold {
        /// How often.
        times: u64,
        /// Steps from one held state to the next.
        advance: u64,
        /// The rest of the range.
        right: PartId,
        /// What is done with the steps of each held state.
        left: PartId,
    },
    /// The state goes to the disk and `advance` steps are executed; then comes the rest, with nothing in the pool; then
    /// the state comes back and the steps are reversed. It is no part of any other kind.
    Spill {
        /// Steps from here to the rest.
        advance: u64,
        /// The rest of the range.
        right: PartId,
        /// What is done with the steps.
        left: PartId,
    },
}

/// A schedule for one number of steps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Recipe {
    /// The number of steps.
    pub steps: u64,
    /// Whether it has a first sweep that ends before the reversal.
    pub sweep: Sweep,
    /// Bytes of a held state.
    pub state_bytes: u64,
    /// Bytes of a record, by choice.
    pub record_bytes: Vec<u64>,
    /// The parts.
    pub parts: Vec<Part>,
    /// What is done with all steps; none where there are none and no sweep.
    pub root: Option<PartId>,
}

/// How a range of steps begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// At `x_0`, which is held for nothing.
    Start,
    /// At a state that is only in the working buffer.
    Bare,
    /// At a state that is held.
    Held,
}

const ENTRIES: [Entry; 3] = [Entry::Start, Entry::Bare, Entry::Held];

/// Which actions occur.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Steps are executed without a record.
    pub advance: bool,
    /// States are copied into the pool.
    pub snapshot: bool,
    /// States are copied back.
    pub restore: bool,
    /// States are written to the disk.
    pub spill: bool,
    /// Steps are reversed where they stand.
    pub youturn: bool,
    /// Steps are recorded, by choice.
    pub tape: Vec<bool>,
    /// Steps are reversed from their records, by choice.
    pub reverse: Vec<bool>,
}

/// Parts under construction: equal ones are one.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) list: Vec<Part>,
    known: BTreeMap<Part, PartId>,
    /// Cells that are parts already.
    made: BTreeMap<Key, Option<PartId>>,
}

impl Parts {
    pub(crate) fn add(&mut self, part: Part) -> PartId {
        *self.known.entry(part).or_insert_with(|| {
            self.list.push(part);
            self.list.len() as PartId - 1
        })
    }

    /// The program of least work in a cell of the tables.
    pub(crate) fn of_cell(
        &mut self,
        joint: &JointReversal<'_>,
        split_reversal: Option<&SplitReversal<'_>>,
        root: Key,
    ) -> Option<PartId> {
        let mut open = vec![root];
        // Children first, without recursion: a recipe can be as deep as its loop is long.
        while let Some(key) = open.last().copied() {
            let draft = key.draft(joint, split_reversal);
            let missing: Vec<Key> = draft.uses().into_iter().filter(|child| !self.made.contains_key(child)).collect();
            if missing.is_empty() {
                let part = draft.part(&self.made).map(|part| self.add(part));
                self.made.insert(key, part);
                open.pop();
            } else {
                open.extend(missing);
            }
        }
        self.made[&root]
    }
}

impl Recipe {
    /// Every step is recorded.
    pub fn keep_all(steps: u64, sweep: Sweep, state_bytes: u64, record_bytes: u64) -> Recipe {
        Recipe::periodic(steps.max(1), steps, sweep, state_bytes, record_bytes)
    }

    /// The state before every `period`-th step is held; between two of them the steps are recorded when they are to be
    /// reversed. The last segment is recorded at once, so that its start needs no slot.
    ///
    /// # Panics
    /// With a period of 0.
    pub fn periodic(period: u64, steps: u64, sweep: Sweep, state_bytes: u64, record_bytes: u64) -> Recipe {
        assert!(period >= 1, "a period has at least one step");
        let mut parts = Parts::default();
        let end = (sweep == Sweep::Split).then(|| parts.add(Part::End));
        let before_last = steps.div_ceil(period).saturating_sub(1);
        let last = steps - before_last * period;
        let mut root = if last > 0 { Some(parts.add(Part::Tape { steps: last, choice: 0, then: end })) } else { end };
        if let (Some(right), true) = (root, before_last > 0) {
            let left = parts.add(Part::Tape { steps: period, choice: 0, then: None });
            root = Some(parts.add(Part::Hold { times: before_last, advance: period, right, left }));
        }
        Recipe { steps, sweep, state_bytes, record_bytes: vec![record_bytes], parts: parts.list, root }
    }

    /// States are held at fixed ends of segments, each of which is recorded when it is reversed; the last, of `last`
    /// steps, is recorded in the sweep. All by one choice.
    pub fn segments(
        segments: &[u64],
        last: u64,
        sweep: Sweep,
        state_bytes: u64,
        record_bytes: Vec<u64>,
        choice: u32,
    ) -> Recipe {
        let mut parts = Parts::default();
        let end = (sweep == Sweep::Split).then(|| parts.add(Part::End));
        let mut root = if last > 0 { Some(parts.add(Part::Tape { steps: last, choice, then: end })) } else { end };
        for advance in segments.iter().rev() {
            let left = parts.add(Part::Tape { steps: *advance, choice, then: None });
            let right = root.expect("an empty last segment is the end of a sweep");
            root = Some(parts.add(Part::Hold { times: 1, advance: *advance, right, left }));
        }
        let steps = segments.iter().sum::<u64>() + last;
        Recipe { steps, sweep, state_bytes, record_bytes, parts: parts.list, root }
    }

    /// Every step is recorded, the first ones by one choice, the others by another.
    pub fn two_choices(
        first: (u64, u32),
        second: (u64, u32),
        sweep: Sweep,
        state_bytes: u64,
        record_bytes: Vec<u64>,
    ) -> Recipe {
        let mut parts = Parts::default();
        let mut root = (sweep == Sweep::Split).then(|| parts.add(Part::End));
        for (steps, choice) in [second, first] {
            if steps > 0 {
                root = Some(parts.add(Part::Tape { steps, choice, then: root }));
            }
        }
        Recipe { steps: first.0 + second.0, sweep, state_bytes, record_bytes, parts: parts.list, root }
    }

    /// The program of least work in a table for a loop that is reversed at once.
    ///
    /// # Panics
    /// Where there is too little memory.
    pub fn joint(
        table: &JointReversal<'_>,
        steps: u64,
        units: usize,
        state_bytes: u64,
        record_bytes: Vec<u64>,
    ) -> Recipe {
        let root = Key { split_reversal: false, place: Place::First, steps: steps as usize, free: units };
        Recipe::of_tables(table, None, root, state_bytes, record_bytes)
    }

    /// The program of least work in a table for a loop in the middle of a program, whose reversal has no more than what
    /// survives.
    ///
    /// # Panics
    /// Where there is too little memory.
    pub fn split_reversal(
        joint: &JointReversal<'_>,
        split_reversal: &SplitReversal<'_>,
        steps: u64,
        units: usize,
        state_bytes: u64,
        record_bytes: Vec<u64>,
    ) -> Recipe {
        let root = Key { split_reversal: true, place: Place::First, steps: steps as usize, free: units };
        Recipe::of_tables(joint, Some(split_reversal), root, state_bytes, record_bytes)
    }

    fn of_tables(
        joint: &JointReversal<'_>,
        split_reversal: Option<&SplitReversal<'_>>,
        root: Key,
        state_bytes: u64,
        record_bytes: Vec<u64>,
    ) -> Recipe {
        let mut parts = Parts::default();
        let found = parts.of_cell(joint, split_reversal, root);
        let sweep = if root.split_reversal { Sweep::Split } else { Sweep::Joint };
        Recipe { steps: root.steps as u64, sweep, state_bytes, record_bytes, parts: parts.list, root: found }
    }

    /// Bytes of the pool at its fullest.
    pub fn pool_bytes(&self) -> u64 {
        let mut peaks: Vec<[u64; 2]> = vec![];
        for part in &self.parts {
            peaks.push([Entry::Start, Entry::Bare].map(|entry| self.peak(*part, entry, &peaks)));
        }
        // A state goes to the disk and comes back by way of the pool.
        let through = if self.spill_bytes() > 0 { self.state_bytes } else { 0 };
        self.root.map_or(0, |root| peaks[root as usize][0].max(through))
    }

    /// Bytes on the disk at their most.
    pub fn spill_bytes(&self) -> u64 {
        let mut peaks: Vec<[u64; 2]> = vec![];
        for part in &self.parts {
            let peak = |entry: Entry| match *part {
                Part::Youturn | Part::End | Part::Tape { .. } | Part::Hold { .. } => 0,
                Part::Spill { right, left, .. } => {
                    let own = if entry == Entry::Start { 0 } else { slot_bytes(self.state_bytes) };
                    let after = own.saturating_add(peaks[right as usize][1]);
                    after.max(peaks[left as usize][usize::from(entry != Entry::Start)])
                }
            };
            peaks.push([Entry::Start, Entry::Bare].map(peak));
        }
        self.root.map_or(0, |root| peaks[root as usize][0])
    }

    fn peak(&self, part: Part, entry: Entry, peaks: &[[u64; 2]]) -> u64 {
        let of = |part: PartId, entry: Entry| peaks[part as usize][usize::from(entry != Entry::Start)];
        match part {
            Part::Youturn | Part::End => 0,
            Part::Tape { steps, choice, then } => {
                let own = steps.saturating_mul(self.record_bytes[choice as usize]);
                own.saturating_add(then.map_or(0, |then| of(then, Entry::Bare)))
            }
            Part::Hold { times, right, left, .. } => {
                // The last held state is the highest when its steps are reversed.
                let held =
                    times.saturating_mul(self.state_bytes) - if entry == Entry::Start { self.state_bytes } else { 0 };
                let rest = held.saturating_add(of(right, Entry::Bare));
                let last = if times == 1 { 0 } else { (held - self.state_bytes).saturating_add(of(left, Entry::Bare)) };
                rest.max(last).max(of(left, entry))
            }
            Part::Spill { right, left, .. } => of(right, Entry::Bare).max(of(left, entry)),
        }
    }

    /// Frames of the controller's stack at its deepest.
    pub fn depth(&self) -> u64 {
        let mut depths: Vec<u64> = vec![];
        for part in &self.parts {
            let of = |part: PartId| depths[part as usize];
            depths.push(match *part {
                Part::Youturn | Part::End => 0,
                Part::Tape { then, .. } => 1 + then.map_or(0, of),
                Part::Hold { times, right, left, .. } => (1 + of(right)).max(of(left) + u64::from(times > 1)),
                Part::Spill { right, left, .. } => (1 + of(right)).max(of(left)),
            });
        }
        self.root.map_or(0, of_list(&depths))
    }

    /// What the controller will have done at the end.
    pub fn counts(&self) -> Counts {
        let mut all: Vec<[Counts; 3]> = vec![];
        for part in &self.parts {
            let of = |part: PartId, entry: Entry| all[part as usize][entry as usize];
            let counts = ENTRIES.map(|entry| match *part {
                Part::Youturn => Counts { youturns: 1, ..Counts::default() },
                Part::End => Counts::default(),
                Part::Tape { steps, then, .. } => {
                    let rest = then.map_or(Counts::default(), |then| of(then, Entry::Bare));
                    rest.plus(Counts { taped: u128::from(steps), ..Counts::default() }, 1)
                }
                Part::Hold { times, advance, right, left } => {
                    let own = Counts {
                        advances: u128::from(times) * u128::from(advance),
                        snapshots: u128::from(times) - u128::from(entry != Entry::Bare),
                        restores: u128::from(times),
                        ..Counts::default()
                    };
                    let first = if entry == Entry::Start { Entry::Start } else { Entry::Held };
                    let lefts = of(left, first).plus(of(left, Entry::Held), u128::from(times) - 1);
                    of(right, Entry::Bare).plus(own, 1).plus(lefts, 1)
                }
                Part::Spill { advance, right, left } => {
                    let own = Counts {
                        advances: u128::from(advance),
                        spills: u128::from(entry == Entry::Bare),
                        fetches: u128::from(entry != Entry::Start),
                        restores: u128::from(entry == Entry::Start),
                        ..Counts::default()
                    };
                    let first = match (entry, self.parts[left as usize]) {
                        (Entry::Start, _) => Entry::Start,
                        (Entry::Bare | Entry::Held, Part::Spill { .. }) => Entry::Held,
                        // What comes back from the disk is in the working buffer only.
                        (
                            Entry::Bare | Entry::Held,
                            Part::Youturn | Part::End | Part::Tape { .. } | Part::Hold { .. },
                        ) => Entry::Bare,
                    };
                    of(right, Entry::Bare).plus(own, 1).plus(of(left, first), 1)
                }
            });
            all.push(counts);
        }
        self.root.map_or(Counts::default(), |root| all[root as usize][Entry::Start as usize])
    }

    /// Actions of the first sweep, and of the reversal.
    pub fn uses(&self) -> [Uses; 2] {
        let choices = self.record_bytes.len();
        let none = || Uses { tape: vec![false; choices], reverse: vec![false; choices], ..Uses::default() };
        let (mut sweep, mut reversal) = (none(), none());
        let mut lefts = vec![];
        // What leads from the root to the end of the range is the sweep, if there is one.
        let mut spine = self.root;
        let mut first = true;
        while let Some(part) = spine {
            let forward = if self.sweep == Sweep::Split { &mut sweep } else { &mut reversal };
            spine = match self.parts[part as usize] {
                Part::End => None,
                Part::Youturn => {
                    forward.youturn = true;
                    None
                }
                Part::Tape { choice, then, .. } => {
                    forward.tape[choice as usize] = true;
                    reversal.reverse[choice as usize] = true;
                    then
                }
                Part::Hold { times, right, left, .. } => {
                    forward.advance = true;
                    forward.snapshot |= !first || times > 1;
                    reversal.restore = true;
                    lefts.push(left);
                    Some(right)
                }
                Part::Spill { right, left, .. } => {
                    forward.advance = true;
                    forward.spill |= !first;
                    (reversal.restore, reversal.spill) = (true, true);
                    lefts.push(left);
                    Some(right)
                }
            };
            first = false;
        }
        let mut seen = vec![false; self.parts.len()];
        while let Some(part) = lefts.pop() {
            if !std::mem::replace(&mut seen[part as usize], true) {
                lefts.extend(reversal.add(self.parts[part as usize]));
            }
        }
        [sweep, reversal]
    }

    /// The recipe as words that the controller reads: bytes of a state, root, number of choices, bytes of a record of
    /// each; then five words a part.
    pub fn table(&self) -> Vec<i64> {
        let id = |part: Option<PartId>| part.map_or(-1, i64::from);
        let mut words = vec![self.state_bytes as i64, id(self.root), self.record_bytes.len() as i64];
        words.extend(self.record_bytes.iter().map(|bytes| *bytes as i64));
        for part in &self.parts {
            words.extend(match *part {
                Part::Youturn => [super::controller::TURNBACK, 0, 0, -1, -1],
                Part::End => [super::controller::END_OF_SWEEP, 0, 0, -1, -1],
                Part::Tape { steps, choice, then } => {
                    [super::controller::TAPE, steps as i64, i64::from(choice), id(then), -1]
                }
                Part::Hold { times, advance, right, left } => {
                    [super::controller::HOLD, times as i64, advance as i64, i64::from(right), i64::from(left)]
                }
                Part::Spill { advance, right, left } => {
                    [super::controller::SPILL, 1, advance as i64, i64::from(right), i64::from(left)]
                }
            });
        }
        words
    }
}

/// Bytes of a state on the disk, with the sum by which it is known to be whole.
pub(crate) fn slot_bytes(state_bytes: u64) -> u64 {
    state_bytes + SUM_BYTES
}

/// Bytes of the sum after a state on the disk.
pub const SUM_BYTES: u64 = 8;

fn of_list(list: &[u64]) -> impl Fn(PartId) -> u64 + '_ {
    |part| list[part as usize]
}

impl Uses {
    /// What a part that is done in the reversal does, and the parts that it uses.
    fn add(&mut self, part: Part) -> Vec<PartId> {
        match part {
            Part::End => vec![],
            Part::Youturn => {
                self.youturn = true;
                vec![]
            }
            Part::Tape { choice, then, .. } => {
                self.tape[choice as usize] = true;
                self.reverse[choice as usize] = true;
                then.into_iter().collect()
            }
            Part::Hold { right, left, .. } => {
                (self.advance, self.snapshot, self.restore) = (true, true, true);
                vec![right, left]
            }
            Part::Spill { right, left, .. } => {
                (self.advance, self.spill, self.restore) = (true, true, true);
                vec![right, left]
            }
        }
    }
}

/// A cell of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) split_reversal: bool,
    pub(crate) place: Place,
    pub(crate) steps: usize,
    pub(crate) free: usize,
}

/// A part whose children are still cells.
enum Draft {
    Nothing,
    End,
    Youturn,
    Tape { steps: u64, choice: u32, then: Key },
    Hold { advance: u64, right: Key, left: Key },
}

impl Key {
    fn best(self, joint: &JointReversal<'_>, split_reversal: Option<&SplitReversal<'_>>) -> Move {
        match split_reversal.filter(|_| self.split_reversal) {
            Some(split_reversal) => split_reversal.best(self.place, self.steps, self.free),
            None => joint.best(self.place, self.steps, self.free),
        }
    }

    fn draft(self, joint: &JointReversal<'_>, split_reversal: Option<&SplitReversal<'_>>) -> Draft {
        if self.steps == 0 {
            return if self.split_reversal { Draft::End } else { Draft::Nothing };
        }
        match self.best(joint, split_reversal) {
            Move::Turn => Draft::Youturn,
            Move::Tape { choice } => {
                let units = joint.steps.choices[choice].units;
                let mut then = self;
                let mut steps = 0;
                // As many in a row as are recorded by this choice.
                loop {
                    steps += 1;
                    then = Key { place: Place::Later, steps: then.steps - 1, free: then.free - units, ..then };
                    if then.steps == 0 || then.best(joint, split_reversal) != (Move::Tape { choice }) {
                        return Draft::Tape { steps, choice: choice as u32, then };
                    }
                }
            }
            Move::Hold { advance } => {
                let free = self.free - joint.steps.held(self.place);
                let right = Key { place: Place::Later, steps: self.steps - advance, free, ..self };
                let left = Key { split_reversal: false, steps: advance, ..self };
                Draft::Hold { advance: advance as u64, right, left }
            }
        }
    }
}

impl Draft {
    fn uses(&self) -> Vec<Key> {
        match self {
            Draft::Nothing | Draft::End | Draft::Youturn => vec![],
            Draft::Tape { then, .. } => vec![*then],
            Draft::Hold { right, left, .. } => vec![*right, *left],
        }
    }

    fn part(&self, made: &BTreeMap<Key, Option<PartId>>) -> Option<Part> {
        match self {
            Draft::Nothing => None,
            Draft::End => Some(Part::End),
            Draft::Youturn => Some(Part::Youturn),
            Draft::Tape { steps, choice, then } => {
                Some(Part::Tape { steps: *steps, choice: *choice, then: made[then] })
            }
            Draft::Hold { advance, right, left } => {
                let some = |key: &Key| made[key].expect("the parts of a split have steps, or end a sweep");
                Some(Part::Hold { times: 1, advance: *advance, right: some(right), left: some(left) })
            }
        }
    }
}
