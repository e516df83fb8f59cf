//! From which sizes something is worth it: functions of their own, threads, lanes, components, calls.

use serde::{Deserialize, Serialize};

use crate::ir::Type;
use crate::ops::DotAxes;

/// How much code is one function, how much work is worth several threads, how many there are, what is worth lanes, and
/// which outputs a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grain {
    /// Statements of a function, about: a block of more than twice as many is cut into parts.
    pub statements_per_part: usize,
    /// Work, in additions, from which a nest or a map is spread over threads. Workers that sleep take some 10 µs to
    /// wake.
    pub work_per_launch: u64,
    /// Threads that may share the steps of a map: as many have memory for one.
    pub threads: usize,
    /// Extent from which an axis is worth a vector loop around the components behind it.
    pub vector_steps: usize,
    /// Bytes from which an output is made in the caller's memory. What is smaller stays in a cache until it is copied,
    /// and the arena has it on lines of its own.
    pub bytes_per_output: u64,
}

impl Default for Grain {
    fn default() -> Grain {
        Grain {
            statements_per_part: 1024,
            work_per_launch: 1 << 18,
            threads: 1,
            vector_steps: 8,
            bytes_per_output: 1 << 20,
        }
    }
}

/// Most components of an element: back ends have about so many registers.
const MOST_COMPONENTS: usize = 16;

/// Elements from which a vector loop along an axis of components, which lies in one run, is as good as one along the
/// axis before it: lanes along that one would be gathered and scattered.
const VECTOR_COMPONENTS: usize = 8;

/// How many axes of a shape are looped over, where all that are small behind a long one are components; all of them,
/// where none is.
pub(in crate::plan) fn long_axes(shape: &[usize], grain: Grain) -> usize {
    let splits = |rank: &usize| is_small(&shape[*rank..]) && shape[*rank - 1] >= grain.vector_steps;
    (1..shape.len()).find(splits).unwrap_or(shape.len())
}

/// Whether axes can be those of components: few, and none of them long enough for vectors.
pub(in crate::plan) fn is_small(shape: &[usize]) -> bool {
    (1..=MOST_COMPONENTS).contains(&shape.iter().product()) && shape.iter().all(|extent| *extent < VECTOR_COMPONENTS)
}

/// Whether a loop along components alone is too short for vectors.
pub(in crate::plan) fn is_short(shape: &[usize]) -> bool {
    shape.iter().product::<usize>() < VECTOR_COMPONENTS
}

/// Steps of a chained sum that are code of their own in a nest; longer ones are calls.
const STEPS: usize = 16;

/// Multiplications of one product from which a call pays.
const CALLED_FROM: usize = 1 << 12;

/// How many products, their rows and columns, and over how many steps they are summed.
pub(in crate::plan) fn extents(axes: &DotAxes, args: &[&Type]) -> [usize; 4] {
    let of = |ty: &Type, axes: &[usize]| axes.iter().map(|axis| ty.shape[*axis]).product();
    [
        of(args[0], &axes.lhs_batch),
        of(args[0], &axes.lhs_free),
        of(args[1], &axes.rhs_free),
        of(args[0], &axes.lhs_contract),
    ]
}

/// Whether products of these extents, with chained sums, are worth a call.
pub(in crate::plan) fn is_called([batch, m, n, k]: [usize; 4]) -> bool {
    let small = k <= STEPS && m.saturating_mul(n).saturating_mul(k) < CALLED_FROM;
    !small && batch > 0 && m > 0 && n > 0
}

/// Threads that may share the steps of a map, at most.
pub const MOST_THREADS: usize = 4096;
