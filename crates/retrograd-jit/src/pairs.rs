//! Numbers that lie side by side and belong to one step: they are moved two at a time.
//!
//! The steps of a vector loop that read a row each, the coordinates of a point or an entry of a small matrix, read it
//! number by number, and each number of each lane would be a load of its own. Two numbers of a row are one load, and
//! two rows of two are exchanged in registers. What steps add to rows in turn is added two numbers at a time, too:
//! every place still gets its terms in the same order.

use retrograd_compiler::ir::DType;
use retrograd_compiler::lower::kernel::{Address, OrderedWrite, Reg};

/// Bytes of the numbers that are moved in pairs.
pub(crate) const BYTES: i64 = 8;

/// A load of a back end whose steps do not lie side by side.
pub(crate) struct Loaded<'a, A> {
    pub(crate) dst: Reg,
    pub(crate) ty: DType,
    pub(crate) from: &'a Address,
    pub(crate) access: &'a A,
}

/// The steps with loads of numbers side by side as one, where the first of them is. `load` says which steps are loads
/// whose lanes are apart, and `both` makes a load of two numbers, the lower of which may be there already. Nothing is
/// written between the steps.
pub(crate) fn merged<'a, S: Clone, A: Clone + 'a>(
    steps: &'a [S],
    load: impl Fn(&'a S) -> Option<Loaded<'a, A>>,
    both: impl Fn([Option<Reg>; 2], A) -> S,
) -> Vec<S> {
    let loads: Vec<(usize, Loaded<'a, A>)> = steps
        .iter()
        .enumerate()
        .filter_map(|(place, step)| Some((place, load(step)?)))
        .filter(|(_, load)| is_number(load.ty))
        .collect();
    let mut merged: Vec<Option<S>> = steps.iter().cloned().map(Some).collect();
    for Pair { lower, upper, overlaps } in
        of_loads(&loads.iter().map(|(_, load)| (load.ty, load.from)).collect::<Vec<_>>())
    {
        let ((low, lower), (high, upper)) = (&loads[lower], &loads[upper]);
        merged[*high] = None;
        if overlaps {
            merged[*high] = Some(both([None, Some(upper.dst)], lower.access.clone()));
        } else {
            merged[*low] = None;
            merged[*low.min(high)] = Some(both([Some(lower.dst), Some(upper.dst)], lower.access.clone()));
        }
    }
    merged.into_iter().flatten().collect()
}

/// Two loads that become one, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    lower: usize,
    upper: usize,
    /// Whether the lower number is part of another pair: rows of an odd length end in one that overlaps the pair
    /// before.
    overlaps: bool,
}

fn of_loads(loads: &[(DType, &Address)]) -> Vec<Pair> {
    let mut left: Vec<usize> = (0..loads.len()).collect();
    let mut pairs = vec![];
    while let Some(&first) = left.first() {
        let in_row = |k: usize| loads[k].0 == loads[first].0 && is_one_row(loads[k].1, loads[first].1);
        let mut row: Vec<usize> = left.iter().copied().filter(|&k| in_row(k)).collect();
        left.retain(|k| !row.contains(k));
        row.sort_by_key(|&k| loads[k].1.offset);
        row.dedup_by_key(|k| loads[*k].1.offset);
        for run in row.chunk_by(|&a, &b| loads[a].1.offset + BYTES == loads[b].1.offset) {
            pairs.extend(run.chunks_exact(2).map(|two| Pair { lower: two[0], upper: two[1], overlaps: false }));
            if let [.., lower, upper] = run
                && run.len() % 2 == 1
            {
                pairs.push(Pair { lower: *lower, upper: *upper, overlaps: true });
            }
        }
    }
    pairs
}

fn is_number(ty: DType) -> bool {
    ty.bytes() as i64 == BYTES
}

/// Writes in their order, the number of each with that of the one that lies after it in memory, if they are done as
/// one.
pub(crate) fn of_turns(
    turns: &[OrderedWrite],
    type_of: impl Fn(&OrderedWrite) -> DType,
) -> Vec<(usize, Option<usize>)> {
    let mut done = vec![false; turns.len()];
    let mut together = vec![];
    for first in 0..turns.len() {
        if done[first] {
            continue;
        }
        let fits = |&second: &usize| {
            let (a, b) = (&turns[first], &turns[second]);
            let beside = is_one_row(&a.to, &b.to) && (a.to.offset - b.to.offset).abs() == BYTES;
            // The second is done where the first is, so before those between them.
            let passes = (first + 1..second).all(|k| done[k] || never_meet(&turns[k].to, &b.to));
            !done[second] && beside && a.op == b.op && is_number(type_of(a)) && type_of(a) == type_of(b) && passes
        };
        let second = (first + 1..turns.len()).find(fits);
        done[first] = true;
        match second {
            None => together.push((first, None)),
            Some(second) => {
                done[second] = true;
                let upward = turns[first].to.offset < turns[second].to.offset;
                together.push(if upward { (first, Some(second)) } else { (second, Some(first)) });
            }
        }
    }
    together
}

fn is_one_row(a: &Address, b: &Address) -> bool {
    a.base == b.base && a.terms == b.terms
}

/// Whether no steps have both at places that overlap: rows are a multiple of something apart in which the two have
/// places of their own.
fn never_meet(a: &Address, b: &Address) -> bool {
    let apart = a.terms.iter().chain(&b.terms).fold(0, |apart, (_, stride)| gcd(apart, stride.abs()));
    let between = (a.offset - b.offset).abs();
    let between = if apart == 0 { between } else { between % apart };
    a.base == b.base && between >= BYTES && (apart == 0 || between <= apart - BYTES)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograd_compiler::ir::Scalar;

    fn at(row: u32, stride: i64, offset: i64) -> Address {
        Address { base: Reg(0), terms: vec![(Reg(row), stride)], offset }
    }

    #[test]
    fn rows_are_read_two_numbers_at_a_time() {
        let loads = [at(1, 24, 0), at(2, 24, 8), at(1, 24, 16), at(1, 24, 8), at(3, 24, 0), at(3, 24, 16)];
        let pairs = of_loads(&loads.iter().map(|from| (DType::F64, from)).collect::<Vec<_>>());
        let pair = |lower, upper, overlaps| Pair { lower, upper, overlaps };
        assert_eq!(pairs, [pair(0, 3, false), pair(3, 2, true)]);
    }

    #[test]
    fn writes_move_only_past_places_that_they_never_meet() {
        let together = |addresses: &[Address]| {
            let turns: Vec<OrderedWrite> = addresses
                .iter()
                .map(|to| OrderedWrite { to: to.clone(), op: Some(Scalar::Add), src: Reg(9) })
                .collect();
            of_turns(&turns, |_| DType::F64)
        };
        // Rows of three numbers: another row has its own first number elsewhere.
        assert_eq!(together(&[at(1, 24, 0), at(2, 24, 0), at(1, 24, 8), at(2, 24, 8)]), [(0, Some(2)), (1, Some(3))]);
        assert_eq!(together(&[at(1, 24, 8), at(1, 24, 0)]), [(1, Some(0))]);
        // Rows that overlap: what is added to one may be where another adds.
        assert_eq!(together(&[at(1, 8, 0), at(2, 8, 0), at(1, 8, 8)]), [(0, None), (1, None), (2, None)]);
        assert_eq!(together(&[at(1, 24, 0), at(2, 24, 8), at(1, 24, 8)]), [(0, None), (1, None), (2, None)]);
    }
}
