//! Themes: what a random Program has more of than others, so that rare shapes meet each other often enough to show
//! mistakes.

use retrograd_compiler::ir::{Array, DType, Data, Type};

use super::{Draft, Scope};
use crate::Random;

/// What a Program has more of than others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    /// A little of everything.
    Plain,
    /// Loops that write windows of carries from their neighbours, with branches before and after, and carries that are
    /// exchanged.
    Stencils,
    /// Loops ended by a condition, inside each other.
    Whiles,
    /// Calls with custom rules, inside branches and loops.
    Calls,
    /// Factorisations and solves, and reads and writes at arrays of indices, inside loops.
    Routines,
    /// Floats of both widths.
    Mixed,
    /// Extents of 0 and 1, and arrays of four and five axes.
    Edges,
    /// Few different numbers, so that many are equal.
    Ties,
}

/// Makes one instruction, with what it needs.
type Draw = fn(&mut Draft, &mut Scope);

/// Instructions without control flow, by weight.
const STRAIGHT: &[(usize, Draw)] = &[
    (2, Draft::unary),
    (5, Draft::binary),
    (1, Draft::select),
    (3, Draft::view),
    (1, Draft::window),
    (3, Draft::write),
    (1, Draft::sum),
    (1, Draft::dot),
    (1, Draft::mask),
    (1, Draft::index),
    (1, Draft::integer),
    (1, Draft::converted),
    (2, Draft::linear),
    (7, Draft::sampled),
];

/// Control flow, by weight.
const CONTROL: &[(usize, Draw)] = &[
    (4, Draft::branch),
    (10, Draft::counted),
    (1, Draft::stencil),
    (2, Draft::conditional),
    (2, Draft::call),
    (2, Draft::unwind),
];

/// The themes, by weight.
const THEMES: &[(usize, Theme)] = &[
    (8, Theme::Plain),
    (2, Theme::Stencils),
    (1, Theme::Whiles),
    (1, Theme::Calls),
    (1, Theme::Routines),
    (1, Theme::Mixed),
    (1, Theme::Edges),
    (1, Theme::Ties),
];

impl Theme {
    pub(super) fn draw(random: &mut Random) -> Theme {
        by_weight(random, &[THEMES])
    }

    /// The instructions that it adds to those of every Program: without control flow, and with it.
    fn more(self) -> [&'static [(usize, Draw)]; 2] {
        match self {
            Theme::Plain | Theme::Mixed | Theme::Edges => [&[], &[]],
            Theme::Stencils => [&[(6, Draft::write)], &[(24, Draft::stencil), (6, Draft::branch)]],
            Theme::Whiles => [&[], &[(24, Draft::conditional)]],
            Theme::Calls => [&[], &[(16, Draft::call), (8, Draft::branch)]],
            Theme::Routines => [&[(24, Draft::routine)], &[(12, Draft::counted)]],
            Theme::Ties => [&[(12, Draft::extreme)], &[]],
        }
    }

    /// One of the instructions of this theme, where so much control flow may still nest.
    pub(super) fn draw_inst(self, random: &mut Random, depth: usize) -> Draw {
        let [straight, control] = self.more();
        match depth {
            0 => by_weight(random, &[STRAIGHT, straight]),
            _ => by_weight(random, &[STRAIGHT, straight, CONTROL, control]),
        }
    }

    /// Control flow that may nest in it, beyond that of every Program.
    pub(super) fn depth(self) -> usize {
        match self {
            Theme::Whiles | Theme::Calls | Theme::Stencils => 1,
            Theme::Plain | Theme::Routines | Theme::Mixed | Theme::Edges | Theme::Ties => 0,
        }
    }

    /// Element types of numbers.
    pub(super) fn floats(self) -> &'static [DType] {
        match self {
            Theme::Mixed => &[DType::F64, DType::F32],
            Theme::Plain
            | Theme::Stencils
            | Theme::Whiles
            | Theme::Calls
            | Theme::Routines
            | Theme::Edges
            | Theme::Ties => &[DType::F64],
        }
    }

    /// Shapes beyond those of every Program.
    pub(super) fn shapes(self, random: &mut Random) -> Vec<Vec<usize>> {
        match self {
            Theme::Edges => {
                let (few, one) = (1 + random.below(3), random.below(2));
                vec![
                    vec![0],
                    vec![1],
                    vec![few, 0],
                    vec![1, few],
                    vec![few, one, 2],
                    vec![2, 1, few, 2],
                    vec![few, 2, one, 2],
                    vec![2, 1, 2, few, 1],
                ]
            }
            Theme::Plain
            | Theme::Stencils
            | Theme::Whiles
            | Theme::Calls
            | Theme::Routines
            | Theme::Mixed
            | Theme::Ties => vec![],
        }
    }

    /// Numbers of an input.
    pub(super) fn numbers(self, random: &mut Random, ty: &Type) -> Array {
        match self {
            Theme::Ties => {
                let halves: Vec<f64> = (0..ty.elements()).map(|_| (random.below(5) as f64 - 2.0) / 2.0).collect();
                match ty.dtype {
                    DType::F32 => Array::new(ty.shape.clone(), Data::F32(halves.iter().map(|x| *x as f32).collect())),
                    DType::F64 | DType::I32 | DType::I64 | DType::Bool => {
                        Array::new(ty.shape.clone(), Data::F64(halves))
                    }
                }
            }
            Theme::Plain
            | Theme::Stencils
            | Theme::Whiles
            | Theme::Calls
            | Theme::Routines
            | Theme::Mixed
            | Theme::Edges => random.array(ty, (-1.0, 1.0)),
        }
    }
}

/// One of some lists, by weight.
fn by_weight<T: Copy>(random: &mut Random, lists: &[&[(usize, T)]]) -> T {
    let all = || lists.iter().flat_map(|list| list.iter());
    let mut k = random.below(all().map(|(weight, _)| weight).sum());
    for (weight, found) in all() {
        match k.checked_sub(*weight) {
            Some(rest) => k = rest,
            None => return *found,
        }
    }
    unreachable!("a number below the sum of all weights is in one of them")
}
