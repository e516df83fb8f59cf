//! Reductions over components: registers, combined in the order of `ops::SUM`.

use super::KernelBuilder;
use super::kernel::{Reg, RegType, Stmt};
use crate::ir::{Reduction, Type};
use crate::ops::{SUM_LANES, sum_axes};
use crate::plan::memory::{Nest, OpItem};

impl KernelBuilder<'_> {
    /// One component of a reduction over components of its operand.
    pub(super) fn reduce_components(
        &mut self,
        item: &OpItem,
        how: Reduction,
        component: usize,
        nest: &Nest,
        indices: &[(Reg, usize)],
    ) -> Reg {
        let (rank, ty) = (nest.shape.len(), self.placed.ty(item.args[0]).clone());
        let behind = Type::new(ty.dtype, &ty.shape[rank..]);
        let axes: Vec<usize> = item.attrs.sizes("axes").iter().map(|axis| axis - rank).collect();
        let (kept, ascending, blocked) = sum_axes(behind.rank(), &axes);
        let start = steps(&behind, &kept)[component];
        let rows: Vec<Reg> = steps(&behind, &ascending)
            .into_iter()
            .map(|row| {
                let numbers: Vec<Reg> = steps(&behind, &blocked)
                    .into_iter()
                    .map(|at| self.read(item.args[0], start + row + at, nest, indices))
                    .collect();
                self.combine_blocked(numbers, how, &ty)
            })
            .collect();
        rows.into_iter()
            .reduce(|total, row| self.compute(how.scalar(), ty.dtype, &[total, row]))
            .expect("small axes are not empty")
    }

    /// A few numbers in the blocked order. Partial results that hold none are left out, and only the first starts from
    /// the unit: a sum that does is never −0, which is all that the unit of a sum changes.
    fn combine_blocked(&mut self, numbers: Vec<Reg>, how: Reduction, ty: &Type) -> Reg {
        let unit = self.reg(RegType::Scalar(ty.dtype));
        self.body.push(Stmt::Literal { dst: unit, bits: how.identity(ty.dtype) });
        let mut partials: Vec<Reg> = vec![];
        for (k, number) in numbers.into_iter().enumerate() {
            match partials.get(k % SUM_LANES).copied() {
                Some(partial) => partials[k % SUM_LANES] = self.compute(how.scalar(), ty.dtype, &[partial, number]),
                None if k == 0 => partials.push(self.compute(how.scalar(), ty.dtype, &[unit, number])),
                None => partials.push(number),
            }
        }
        let mut width = SUM_LANES / 2;
        while width > 0 {
            let upper = partials.split_off(width.min(partials.len()));
            for (lane, other) in upper.into_iter().enumerate() {
                partials[lane] = self.compute(how.scalar(), ty.dtype, &[partials[lane], other]);
            }
            width /= 2;
        }
        partials[0]
    }
}

/// Where the elements of some axes lie in a contiguous array, row-major.
fn steps(ty: &Type, axes: &[usize]) -> Vec<usize> {
    let strides = ty.strides();
    axes.iter().fold(vec![0], |starts, axis| {
        starts
            .iter()
            .flat_map(|start| (0..ty.shape[*axis]).map(|k| start + k * strides[*axis]).collect::<Vec<_>>())
            .collect()
    })
}
