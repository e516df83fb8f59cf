//! Recipes over memory and disk: driven action by action they reverse every step, keep to their bytes on both, and do
//! the work that the recurrence says.

use std::collections::BTreeMap;

use retrograd_schedule::optimal::tiers::{Disk, Fast, Origin, Tiers};
use retrograd_schedule::optimal::{Choice, JointReversal, Place, SplitReversal, Steps};
use retrograd_schedule::{Action, Counts, Recipe, SUM_BYTES, Schedule, Sweep, Tiered, next, start};

const STATE: u64 = 16;
const RECORD: u64 = 24;

/// What lies in the pool or on the disk, by where it begins.
type Memory = BTreeMap<u64, (u64, What)>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    State(u64),
    Records(u64, u64),
}

/// Puts something somewhere; what lay there, or above, is gone.
fn put(memory: &mut Memory, at: u64, bytes: u64, what: What) -> u64 {
    memory.retain(|from, (bytes, _)| from + *bytes <= at);
    memory.insert(at, (bytes, what));
    at + bytes
}

/// Drives a recipe; what it did, and the bytes that it took in the pool and on the disk.
fn drive(recipe: &Recipe) -> (Counts, u64, u64) {
    let (sweep, n) = (recipe.sweep, recipe.steps);
    let schedule = Schedule::of(recipe.clone());
    let (mut words, table) = (vec![0; schedule.words()], schedule.table());
    start(&mut words, &schedule, sweep, n);
    let (mut pool, mut disk) = (Memory::new(), Memory::new());
    let (mut working, mut end, mut counts) = (Some(0), n, Counts::default());
    let (mut pool_bytes, mut disk_bytes, mut turned) = (0, 0, sweep == Sweep::Joint);
    loop {
        match next(&mut words, &table) {
            Action::Advance { from, to } => {
                assert!(working == Some(from) && from < to && to <= n);
                (working, counts.advances) = (Some(to), counts.advances + u128::from(to - from));
            }
            Action::Tape { from, to, at, choice } => {
                assert!(working == Some(from) && choice == 0);
                pool_bytes = pool_bytes.max(put(&mut pool, at, (to - from) * RECORD, What::Records(from, to)));
                (working, counts.taped) = (Some(to), counts.taped + u128::from(to - from));
            }
            Action::Reverse { from, to, at, .. } => {
                assert!(turned && end == to && pool.remove(&at).map(|(_, what)| what) == Some(What::Records(from, to)));
                (working, end) = (None, from);
            }
            Action::Youturn { step } => {
                assert!(turned && working == Some(step) && end == step + 1);
                (working, end, counts.youturns) = (None, step, counts.youturns + 1);
            }
            Action::Snapshot { at, step } => {
                assert_eq!(working, Some(step));
                pool_bytes = pool_bytes.max(put(&mut pool, at, STATE, What::State(step)));
                counts.snapshots += 1;
            }
            Action::Restore { at, step } => {
                assert!(at.map_or(step == 0, |at| pool[&at].1 == What::State(step)));
                (working, counts.restores) = (Some(step), counts.restores + 1);
            }
            Action::Spill { at, step } => {
                assert!(working == Some(step) && step > 0);
                // By way of the pool, which may be overwritten.
                pool.clear();
                pool_bytes = pool_bytes.max(STATE);
                disk_bytes = disk_bytes.max(put(&mut disk, at, STATE + SUM_BYTES, What::State(step)));
                counts.spills += 1;
            }
            Action::Fetch { at, step } => {
                assert_eq!(disk[&at].1, What::State(step));
                pool.clear();
                (working, counts.fetches) = (Some(step), counts.fetches + 1);
            }
            Action::Turn => {
                assert!(!turned && working == Some(n));
                (turned, working) = (true, None);
            }
            Action::Done => {
                assert_eq!(end, 0);
                return (counts, pool_bytes, disk_bytes);
            }
            Action::Run(run) => panic!("{run:?} was not asked for"),
        }
    }
}

/// Work as the recurrence counts it.
fn work(counts: &Counts, steps: &Steps, access: f64) -> f64 {
    let choice = &steps.choices[0];
    let fast = counts.advances as f64 * steps.advance as f64
        + counts.taped as f64 * (choice.forward + choice.reverse[0]) as f64
        + counts.youturns as f64 * steps.turn[0] as f64;
    fast + (counts.spills + counts.fetches) as f64 * access
}

#[test]
fn a_recipe_over_two_tiers_does_what_the_recurrence_says() {
    let choice = Choice { units: 3, forward: 5, reverse: vec![4] };
    let steps = Steps { start: 0, state: 2, advance: 4, hold: 0, turn: vec![9], choices: vec![choice] };
    let mut spilled = 0;
    for (count, units, access) in [(30, 4, 3.0), (30, 9, 7.0), (47, 6, 1.0), (50, 12, 30.0), (23, 2, 10.0)] {
        let joint = JointReversal::new(&steps, count, units);
        let split_reversal = SplitReversal::new(&joint, count, units, 0);
        for (sweep, grain, slots) in [
            (true, 1, None),
            (true, 1, Some(1)),
            (true, 4, Some(3)),
            (false, 1, None),
            (false, 1, Some(2)),
            (false, 5, Some(4)),
            (true, 7, None),
        ] {
            let (grains, lead) = (count / grain, count % grain);
            let row = |lead: usize, work: &dyn Fn(usize) -> Option<u64>| -> Vec<f64> {
                (0..=grains).map(|k| work(k * grain + lead).map_or(f64::INFINITY, |work| work as f64)).collect()
            };
            let fast = Fast {
                later: row(0, &|n| joint.work(Place::Later, n, units)),
                first: row(lead, &|n| joint.work(Place::First, n, units)),
            };
            let swept = Fast {
                later: row(0, &|n| split_reversal.work(Place::Later, n, units)),
                first: row(lead, &|n| split_reversal.work(Place::First, n, units)),
            };
            let disk = Disk { slots, write: access, read: access };
            let tiers = Tiers::new(fast, sweep.then_some(swept), 4.0 * grain as f64, 4.0 * lead as f64, disk);
            let tables = Tiered {
                joint: &joint,
                split_reversal: sweep.then_some(&split_reversal),
                tiers: &tiers,
                grain: grain as u64,
                units,
            };
            let recipe = tables.recipe(count as u64, slots.unwrap_or(1), STATE, vec![RECORD]);
            let (counts, pool_bytes, disk_bytes) = drive(&recipe);
            assert_eq!(counts, recipe.counts());
            assert_eq!((pool_bytes, disk_bytes), (recipe.pool_bytes(), recipe.spill_bytes()));
            assert!(
                pool_bytes <= units as u64 * 8
                    && slots.is_none_or(|slots| disk_bytes <= slots as u64 * (STATE + SUM_BYTES))
            );
            let least =
                if sweep { tiers.work_of_sweep(grains) } else { tiers.work(Origin::Start, grains, slots.unwrap_or(1)) };
            assert_eq!(
                work(&counts, &steps, access),
                least,
                "{count} steps, {units} units, {slots:?} slots, grain {grain}"
            );
            spilled += usize::from(disk_bytes > 0);
        }
    }
    assert!(spilled > 20, "only {spilled} of the recipes use the disk");
}
