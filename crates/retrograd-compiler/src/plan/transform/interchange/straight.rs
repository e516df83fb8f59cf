//! Code outside of loops over arrays with one long leading axis, run tile by tile: what it makes on its way stays in
//! cache, and is never in memory as a whole.

use std::collections::{BTreeMap, BTreeSet};

use super::collapse::Collapsed;
use super::group::{Members, goes_on, tiled};
use super::retile::{Part, Retile, Values};
use super::{Tiling, row_blocks, tile_of};
use crate::ir::{Builder, Function, Inst, Lowering, Op, Program, Type, Value};

/// Most elements of a tile.
const TILE_MOST: u64 = 4096;

/// The Program with one piece of its code in tiles, and the elements of a tile; none where there is none that is worth
/// it.
pub(super) fn next(program: &Program, tiling: &Tiling, cache_bytes: u64) -> Option<(Program, usize)> {
    // What is observed happens in order.
    if program.probes()[program.entry.0 as usize] {
        return None;
    }
    let function = program.main();
    let mut bytes: BTreeMap<usize, u64> = BTreeMap::new();
    for ty in function.insts.iter().flat_map(|inst| &inst.results).map(|v| function.ty(*v)) {
        if let Some(extent) = ty.shape.first() {
            *bytes.entry(*extent).or_default() += ty.bytes() as u64;
        }
    }
    let mut extents: Vec<(u64, usize)> = bytes.into_iter().map(|(extent, bytes)| (bytes, extent)).collect();
    extents.sort_unstable();
    let worth = extents.into_iter().rev().take_while(|(bytes, _)| *bytes >= tiling.bytes_made);
    let (by_chunks, by_rows): (Vec<Collapsed>, Vec<Collapsed>) =
        Collapsed::candidates(function, tiling.bytes_made).into_iter().partition(|rows| rows.unit() > 1);
    let in_rows = |rows: Collapsed| {
        let program = rows.apply(program);
        let (program, tile) = along(&program, program.main(), rows.extent(), tiling, cache_bytes)?;
        Some((program, tile * rows.unit()))
    };
    // What is only summed up is not left in memory, if that can be; then, as few axes as will do.
    let as_it_is = worth.filter_map(|(_, extent)| along(program, function, extent, tiling, cache_bytes));
    by_chunks.into_iter().filter_map(in_rows).chain(as_it_is).chain(by_rows.into_iter().filter_map(in_rows)).next()
}

/// The code along an axis of this extent in tiles.
fn along(
    program: &Program,
    function: &Function,
    extent: usize,
    tiling: &Tiling,
    cache_bytes: u64,
) -> Option<(Program, usize)> {
    let members = members(program, function, extent);
    let held = Held::new(function, &members, extent);
    let limit = cache_bytes.checked_sub(held.bytes_whole)?;
    if held.bytes_saved < tiling.bytes_made.max(held.bytes_emitted) || 2 * limit < cache_bytes {
        return None;
    }
    let wished = limit.saturating_mul(extent as u64) / held.bytes_tiled.max(1);
    let wished = usize::try_from(wished.min(TILE_MOST)).expect("a small number");
    // Collapsed are wide where a tile has few of them; few rows of an extent that has no other divisors are not worth a
    // step.
    let tile = tile_of(extent, wished).filter(|tile| 4 * tile >= wished.min(extent / 2))?;
    // The rows of one chunk of a sum go on adding to it.
    let tile = if row_blocks::rows(function, extent).is_some_and(|rows| rows.count() > extent) { 1 } else { tile };
    tiled(program, members, extent, tile).map(|program| (program, tile))
}

/// When a value is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Before the loop over tiles.
    Before,
    /// Before it, and in it too: equal rows that nothing of a tile is needed for.
    Anywhere,
    /// Tile by tile.
    Inside,
    /// After the loop.
    After,
}

/// All that can be one loop over tiles: what treats elements along the axis alike and needs nothing that the loop's own
/// sums lead to.
fn members(program: &Program, function: &Function, extent: usize) -> Members {
    let mut program = program.clone();
    // Any tile shows what qualifies; a shape of its own keeps it apart from the extent.
    let mut retile = Retile { program: &mut program, extent, tile: 1, known: BTreeMap::new() };
    let (b, mut values) = (Builder::new("try"), Values::new(function));
    let mut when = vec![When::Before; function.types.len()];
    let mut members = Members::default();
    let define = |b: &Builder, retile: &Retile<'_>, values: &mut Values, v: &Value| {
        let (ty, part) = (function.ty(*v), retile.part(function.ty(*v)));
        values.set(&[*v], &[b.param(retile.ty(ty, part))], &[part]);
    };
    function.params.iter().for_each(|v| define(&b, &retile, &mut values, v));
    for (k, inst) in function.insts.iter().enumerate() {
        let read = |wanted: When| inst.args.iter().any(|v| when[v.0 as usize] == wanted);
        let kind = match &inst.op {
            _ if read(When::After) => When::After,
            Op::Def(def, attrs) => {
                let types: Vec<&Type> = inst.args.iter().map(|v| function.ty(*v)).collect();
                let (_, parts) = values.get(&inst.args);
                let made = retile.inst(&b, function, inst, &mut values);
                let is_tiled = made.is_some() && values.get(&inst.results).1 != [Part::Whole];
                match (is_tiled, parts.iter().any(|part| *part != Part::Whole)) {
                    (true, true) => When::Inside,
                    (true, false) => When::Anywhere,
                    (false, true) if goes_on(def, attrs, &types, &parts) => {
                        members.sums.insert(k);
                        When::After
                    }
                    (false, _) if read(When::Inside) => When::After,
                    (false, _) => When::Before,
                }
            }
            Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) if read(When::Inside) => When::After,
            Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => When::Before,
        };
        match kind {
            When::Inside => drop(members.alike.insert(k)),
            When::Anywhere => drop(members.copied.insert(k)),
            When::Before | When::After => inst.results.iter().for_each(|v| define(&b, &retile, &mut values, v)),
        }
        inst.results.iter().for_each(|v| when[v.0 as usize] = kind);
    }
    members
}

/// Bytes of a loop over tiles.
struct Held {
    /// What would be in memory as a whole without it.
    bytes_saved: u64,
    /// What is in memory as a whole all the same, because it is read outside.
    bytes_emitted: u64,
    /// What tiles share: what they read and the sums.
    bytes_whole: u64,
    /// All that belongs to tiles, of all of them.
    bytes_tiled: u64,
}

impl Held {
    fn new(function: &Function, members: &Members, extent: usize) -> Held {
        let inside = |k: &usize| members.alike.contains(k) || members.sums.contains(k);
        let lowering = |inst: &Inst| if let Op::Def(def, _) = &inst.op { Some(def.lowering) } else { None };
        let is_view = |inst: &Inst| matches!(lowering(inst), Some(Lowering::View(_)));
        let fuses = |inst: &Inst| lowering(inst).is_some_and(|lowering| lowering.is_elementwise()) || is_view(inst);
        let (mut stored, mut read, mut emitted) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        emitted.extend(function.results.iter().copied());
        for (k, inst) in function.insts.iter().enumerate().rev() {
            if !inside(&k) {
                emitted.extend(inst.args.iter().copied());
                continue;
            }
            read.extend(inst.args.iter().copied());
            // A view is in memory where what it shows is.
            let shown = is_view(inst) && stored.contains(&inst.results[0]);
            if shown {
                stored.remove(&inst.results[0]);
            }
            if shown || !fuses(inst) {
                stored.extend(inst.args.iter().copied());
            }
            if !fuses(inst) && members.alike.contains(&k) {
                stored.insert(inst.results[0]);
            }
        }
        let made: BTreeSet<Value> = members.alike.iter().flat_map(|k| &function.insts[*k].results).copied().collect();
        let copied: BTreeSet<Value> =
            members.copied.iter().flat_map(|k| &function.insts[*k].results).copied().collect();
        let bytes =
            |values: &mut dyn Iterator<Item = &Value>| values.map(|v| function.ty(*v).bytes() as u64).sum::<u64>();
        let is_tiled = |v: &&Value| function.ty(**v).shape.first() == Some(&extent);
        let inputs: Vec<Value> = read.into_iter().filter(|v| !made.contains(v) && !copied.contains(v)).collect();
        let sums: Vec<Value> = members.sums.iter().map(|k| function.insts[*k].results[0]).collect();
        let bytes_saved = bytes(&mut stored.iter().filter(|v| made.contains(v) && !emitted.contains(v)));
        let bytes_emitted = bytes(&mut emitted.iter().filter(|v| made.contains(v)));
        Held {
            bytes_saved,
            bytes_emitted,
            bytes_whole: bytes(&mut inputs.iter().filter(|v| !is_tiled(v)).chain(&sums)),
            bytes_tiled: bytes_saved + bytes_emitted + bytes(&mut inputs.iter().filter(is_tiled)),
        }
    }
}
