//! Contractions by calls: products of matrices over strided memory.

use super::linalg::dense::Real;
use super::matrix::{Extents, Matrix, Target, multiply, scratch_elements};
use crate::ir::{Attrs, By, DType, Routine, Slice, SliceMut, Type};

/// A contraction as products of matrices, one for each element of a batch; strides are in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Products {
    /// How many.
    pub batch: usize,
    /// Rows and columns of a result, and over how many steps it is summed.
    pub extents: [usize; 3],
    /// Strides of the left side: along the batch, the rows and the steps.
    pub lhs: [usize; 3],
    /// Strides of the right side: along the batch, the steps and the columns.
    pub rhs: [usize; 3],
    /// Where sums start.
    pub start: Start,
}

/// Where the sums of products start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// From 0.
    Zero,
    /// From what is in the memory of the result.
    Result,
}

impl Products {
    /// The attributes of its call.
    pub fn attrs(&self) -> Attrs {
        let numbers = [self.batch]
            .into_iter()
            .chain(self.extents)
            .chain(self.lhs)
            .chain(self.rhs)
            .chain([usize::from(self.start == Start::Result)]);
        Attrs::none().ints("products", numbers)
    }

    /// From the attributes of its call; panics on those of others.
    pub fn read(attrs: &Attrs) -> Products {
        let numbers = attrs.numbers("products");
        let three = |first: usize| {
            [0, 1, 2].map(|k| usize::try_from(numbers[first + k]).expect("extents and strides are not negative"))
        };
        let start = if numbers[10] == 0 { Start::Zero } else { Start::Result };
        Products {
            batch: usize::try_from(numbers[0]).expect("a count is not negative"),
            extents: three(1),
            lhs: three(4),
            rhs: three(7),
            start,
        }
    }

    /// Elements from the first to the last that the left and the right side read.
    pub fn spans(&self) -> [usize; 2] {
        let [m, n, k] = self.extents;
        let span = |extents: [usize; 3], strides: [usize; 3]| {
            let last: usize =
                extents.iter().zip(strides).map(|(extent, stride)| extent.saturating_sub(1) * stride).sum();
            if extents.contains(&0) { 0 } else { last + 1 }
        };
        [span([self.batch, m, k], self.lhs), span([self.batch, k, n], self.rhs)]
    }

    /// Multiplications of all of them.
    pub fn work(&self) -> usize {
        self.extents.iter().fold(self.batch, |work, extent| work.saturating_mul(*extent))
    }

    fn matrices(&self) -> Extents {
        let [m, n, k] = self.extents;
        Extents { m, n, k }
    }
}

/// Chained contractions that are worth a call: over memory from the first element of a side on, with the attributes of
/// [`Products`].
pub static PRODUCTS: Routine = Routine {
    by: By::Code,
    scratch: |types, attrs| vec![Type::new(types[0].dtype, [scratch_elements(Products::read(attrs).matrices())])],
    run: |types, attrs, args, result, scratch| match types[0].dtype {
        DType::F32 => products::<f32>(attrs, args, result, scratch),
        DType::F64 => products::<f64>(attrs, args, result, scratch),
        DType::I32 | DType::I64 | DType::Bool => panic!("chained sums are of floats, found {}", types[0]),
    },
};

fn products<T: Real>(attrs: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, scratch: &mut [SliceMut<'_>]) {
    let products = Products::read(attrs);
    let (a, b, c) = (T::of(args[0]), T::of(args[1]), T::of_mut(&mut result));
    let (extents, scratch) = (products.matrices(), T::of_mut(&mut scratch[0]));
    let Extents { m, n, .. } = extents;
    let target = match products.start {
        Start::Zero => Target::Set,
        Start::Result => Target::Add,
    };
    for (k, c) in c.chunks_exact_mut((m * n).max(1)).take(products.batch).enumerate() {
        let a = Matrix::new(&a[k * products.lhs[0]..], products.lhs[1], products.lhs[2]);
        let b = Matrix::new(&b[k * products.rhs[0]..], products.rhs[1], products.rhs[2]);
        multiply(target, extents, a, b, c, n, scratch);
    }
}
