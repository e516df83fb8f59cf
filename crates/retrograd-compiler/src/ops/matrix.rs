//! Products of matrices, as wide as the machine allows.
//!
//! Every element is one chain of fused multiply-adds over ascending k, c = fma(a_ik, b_kj, c). So no size of tiles, no
//! width of vectors, no packing and no place of the operands changes a bit: the product is that of three plain loops.
//!
//! Tiles of the result stay in registers while k runs over a block. Rows of A are packed so that a tile reads them in
//! one run; those of B are packed where they lie apart, or where enough rows of A use them (Goto and van de Geijn,
//! Anatomy of high-performance matrix multiplication, 2008). A product with few rows is the time that it takes to read
//! B: then B is read once, where it lies, in order. Crates that do this were not taken: they allocate, and add up
//! blocks of k apart, whose size the machine decides.

use pulp::{Arch, Simd, WithSimd};

use super::linalg::dense::Real;

/// Steps of k between two visits of a tile.
const BLOCK_STEPS: usize = 256;
/// Rows of A, and columns of B over all these steps, that are packed at once.
const BLOCK_ROWS: usize = 96;
const BLOCK_COLUMNS: usize = 240;
/// A multiple of the columns of any vector.
const ROUND_COLUMNS: usize = 16;
/// The same where rows of B are read where they lie: few of them at once, in long runs. As many as there are rows of A,
/// between these: what a tile reads and writes of C is then worth it, and the memory is read in few places at a time.
const RUN_STEPS: [usize; 2] = [8, 32];
/// Elements of B in such runs.
const RUN_ELEMENTS: usize = 32 * 1008;
/// Rows of A up to which columns of B that lie in one run each are read where they lie: the product of the transposes.
const FLIPPED_ROWS: usize = 24;
/// Steps of rows that are packed together, so that what they become stays in cache.
const PACKED_STEPS: usize = 16;
/// Rows of A from which it pays to pack rows of B that lie in one run each.
const PACKED_FROM: usize = 48;
/// Elements of the largest tile: 8 rows of 3 vectors.
const TILE: usize = 8 * 3 * ROUND_COLUMNS;

/// A matrix somewhere in memory: element (i, j) is at i · `down` + j · `right`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix<'a, T> {
    pub(super) elements: &'a [T],
    pub(super) down: usize,
    pub(super) right: usize,
}

impl<'a, T> Matrix<'a, T> {
    pub(super) fn new(elements: &'a [T], down: usize, right: usize) -> Matrix<'a, T> {
        Matrix { elements, down, right }
    }

    pub(super) fn transposed(self) -> Matrix<'a, T> {
        Matrix { down: self.right, right: self.down, ..self }
    }

    /// From element (i, j) on.
    pub(super) fn from(self, i: usize, j: usize) -> Matrix<'a, T> {
        Matrix { elements: &self.elements[i * self.down + j * self.right..], ..self }
    }
}

impl<T: Copy> Matrix<'_, T> {
    #[inline(always)]
    pub(super) fn at(self, i: usize, j: usize) -> T {
        self.elements[i * self.down + j * self.right]
    }
}

/// What a product is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// C = A B.
    Set,
    /// C = C + A B.
    Add,
    /// C = C − A B.
    Subtract,
}

/// Extents of a product: C is m×n, and k is summed over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
}

impl Extents {
    /// Elements of scratch that a product needs.
    pub(super) fn scratch(self) -> usize {
        self.packed_rows() + self.packed_columns()
    }

    fn packed_rows(self) -> usize {
        self.m.min(BLOCK_ROWS) * self.k.min(BLOCK_STEPS)
    }

    fn packed_columns(self) -> usize {
        self.n.min(self.block_columns()).next_multiple_of(ROUND_COLUMNS) * self.k.min(BLOCK_STEPS)
    }

    /// Columns of B that are packed at once: more of them where there are few steps.
    fn block_columns(self) -> usize {
        BLOCK_COLUMNS * (BLOCK_STEPS / self.k.clamp(1, BLOCK_STEPS))
    }
}

/// C = A B, C += A B or C −= A B, where row i of C starts at element i · `down` of `c`.
pub(super) fn multiply<T: Real>(
    target: Target,
    extents: Extents,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: &mut [T],
    down: usize,
    scratch: &mut [T],
) {
    let Extents { m, n, k } = extents;
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 {
        if target == Target::Set {
            (0..m).for_each(|i| c[i * down..][..n].fill(T::ZERO));
        }
        return;
    }
    // A column is a row of the transposes: its elements are lanes.
    if n == 1 && m > 1 && down == 1 {
        let extents = Extents { m: 1, n: m, k };
        return T::product(Product {
            target,
            extents,
            a: b.transposed(),
            b: a.transposed(),
            c,
            down: m,
            flipped: false,
            scratch,
        });
    }
    // Rows are lanes where they are few and columns of B need not be packed for it.
    if b.down == 1 && b.right > 1 && m <= n.min(FLIPPED_ROWS) {
        let extents = Extents { m: n, n: m, k };
        return T::product(Product {
            target,
            extents,
            a: b.transposed(),
            b: a.transposed(),
            c,
            down,
            flipped: true,
            scratch,
        });
    }
    T::product(Product { target, extents, a, b, c, down, flipped: false, scratch });
}

/// Scratch of a product and of its transpose.
pub(super) fn scratch_elements(extents: Extents) -> usize {
    let Extents { m, n, k } = extents;
    if n == 1 { Extents { m: 1, n: m, k }.scratch().max(extents.scratch()) } else { extents.scratch() }
}

/// All of one product.
#[derive(Debug)]
pub(super) struct Product<'a, T> {
    target: Target,
    extents: Extents,
    a: Matrix<'a, T>,
    b: Matrix<'a, T>,
    c: &'a mut [T],
    down: usize,
    /// Whether C is there as its transpose, and rows of A are read where they lie.
    flipped: bool,
    scratch: &'a mut [T],
}

/// Vectors of one element type on one machine.
pub(super) trait SimdTarget<T>: Copy {
    type Vector: Copy;
    const LANES: usize;
    fn splat(self, x: T) -> Self::Vector;
    fn fused(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    fn of(x: &[T]) -> &[Self::Vector];
    fn of_mut(x: &mut [T]) -> &mut [Self::Vector];
}

/// The vectors of `S` as those of one type.
#[derive(Clone, Copy)]
struct Of<S>(S);

macro_rules! vectors {
    ($($float:ident: $vector:ident $lanes:ident $splat:ident $fused:ident $of:ident $of_mut:ident;)*) => {$(
        impl<S: Simd> SimdTarget<$float> for Of<S> {
            type Vector = S::$vector;
            const LANES: usize = S::$lanes;
            #[inline(always)]
            fn splat(self, x: $float) -> S::$vector {
                self.0.$splat(x)
            }
            #[inline(always)]
            fn fused(self, a: S::$vector, b: S::$vector, c: S::$vector) -> S::$vector {
                self.0.$fused(a, b, c)
            }
            #[inline(always)]
            fn of(x: &[$float]) -> &[S::$vector] {
                S::$of(x).0
            }
            #[inline(always)]
            fn of_mut(x: &mut [$float]) -> &mut [S::$vector] {
                S::$of_mut(x).0
            }
        }

        impl WithSimd for Product<'_, $float> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) {
                // As many sums as there are registers, but for a few: 32 of 512 bits, else 16.
                match S::REGISTER_COUNT {
                    32.. => self.run::<Of<S>, 8, 3>(Of(simd)),
                    _ => self.run::<Of<S>, 6, 2>(Of(simd)),
                }
            }
        }

        impl Multiplied for $float {
            fn product(product: Product<'_, $float>) {
                Arch::new().dispatch(product);
            }
        }
    )*};
}

vectors! {
    f64: f64s F64_LANES splat_f64s mul_add_f64s as_simd_f64s as_mut_simd_f64s;
    f32: f32s F32_LANES splat_f32s mul_add_f32s as_simd_f32s as_mut_simd_f32s;
}

/// A float whose products are compiled for every machine.
pub(super) trait Multiplied: Sized {
    fn product(product: Product<'_, Self>);
}

impl<T: Real> Product<'_, T> {
    #[inline(always)]
    fn run<V: SimdTarget<T>, const ROWS: usize, const VECTORS: usize>(self, vectors: V) {
        let Product { target, extents: extents @ Extents { m, n, k }, a, b, c, down, flipped, scratch } = self;
        let columns = VECTORS * V::LANES;
        let (rows_at, columns_at) = scratch.split_at_mut(if flipped { 0 } else { extents.packed_rows() });
        let packs = flipped || b.right != 1 || b.down < columns || m >= PACKED_FROM;
        let run_steps = m.next_power_of_two().clamp(RUN_STEPS[0], RUN_STEPS[1]);
        let (block_columns, block_steps) =
            if packs { (extents.block_columns(), BLOCK_STEPS) } else { (RUN_ELEMENTS / run_steps, run_steps) };
        let mut edge = [T::ZERO; TILE];
        for j0 in (0..n).step_by(block_columns) {
            let width = block_columns.min(n - j0);
            for k0 in (0..k).step_by(block_steps) {
                let steps = block_steps.min(k - k0);
                let block = b.from(k0, j0);
                // Without packing only what does not fill a tile is copied.
                let first = if packs { 0 } else { width / columns * columns };
                for j in (first..width).step_by(columns) {
                    let there = columns.min(width - j);
                    let wide = there.next_multiple_of(V::LANES);
                    let (to, from) =
                        (&mut columns_at[(j - first) * steps..][..wide * steps], block.from(0, j).transposed());
                    match target {
                        Target::Subtract if flipped => pack(to, from, there, wide, |x| -x),
                        Target::Set | Target::Add | Target::Subtract => pack(to, from, there, wide, |x| x),
                    }
                }
                for i0 in (0..m).step_by(BLOCK_ROWS) {
                    let height = BLOCK_ROWS.min(m - i0);
                    let (down_count, right_count) = (panels(height, ROWS), width.div_ceil(columns));
                    for (i, rows) in (0..down_count).filter(|_| !flipped).map(|number| panel(number, height, ROWS)) {
                        let (to, from) = (&mut rows_at[i * steps..][..rows * steps], a.from(i0 + i, k0));
                        match target {
                            Target::Set | Target::Add => pack(to, from, rows, rows, |x| x),
                            Target::Subtract => pack(to, from, rows, rows, |x| -x),
                        }
                    }
                    for tile in 0..down_count * right_count {
                        // Of few steps results are most of the memory: row after row. Of many, and where they are read
                        // in place, columns of B stay in cache.
                        let (number, j) = if packs && steps <= RUN_STEPS[1] {
                            (tile / right_count, tile % right_count * columns)
                        } else {
                            (tile % down_count, tile / down_count * columns)
                        };
                        let (i, rows) = panel(number, height, ROWS);
                        let there = columns.min(width - j);
                        let wide = there.next_multiple_of(V::LANES);
                        let (b, b_down) = match j.checked_sub(first) {
                            Some(packed) => (&columns_at[packed * steps..], wide),
                            None => (block.from(0, j).elements, block.down),
                        };
                        let starts = target == Target::Set && k0 == 0;
                        let (a, place) = match flipped {
                            true => (Rows::Lying(a.from(i0 + i, k0), steps), (j0 + j) * down + i0 + i),
                            false => (Rows::Packed(&rows_at[i * steps..][..rows * steps]), (i0 + i) * down + j0 + j),
                        };
                        let (part, c) = (Part { a, b, b_down, columns: there, starts }, &mut c[place..]);
                        part.wide::<V, ROWS, VECTORS>(vectors, [rows, wide / V::LANES], c, down, &mut edge);
                    }
                }
            }
        }
    }
}

/// How many panels some rows are: all of `most` rows, and what is left in powers of two, so that no tile has rows of
/// nothing.
fn panels(height: usize, most: usize) -> usize {
    height / most + (height % most).count_ones() as usize
}

/// The first row of a panel, and how many it has.
#[inline(always)]
fn panel(number: usize, height: usize, most: usize) -> (usize, usize) {
    let full = height / most;
    if number < full {
        return (number * most, most);
    }
    // The rest, less the largest powers of two.
    let (mut first, mut left) = (full * most, height % most);
    for _ in full..number {
        first += 1 << left.ilog2();
        left -= 1 << left.ilog2();
    }
    (first, 1 << left.ilog2())
}

/// `count` rows of a matrix as one panel of `rows`: column after column, filled up with zeros.
#[inline(always)]
fn pack<T: Real>(to: &mut [T], from: Matrix<'_, T>, count: usize, rows: usize, sign: impl Fn(T) -> T) {
    if from.down == 1 {
        for (k, to) in to.chunks_exact_mut(rows).enumerate() {
            let column = &from.elements[k * from.right..][..count];
            to.iter_mut().zip(column).for_each(|(to, x)| *to = sign(*x));
            to[count..].fill(T::ZERO);
        }
        return;
    }
    for (block, to) in to.chunks_mut(PACKED_STEPS * rows).enumerate() {
        for row in 0..rows {
            let places = to[row..].iter_mut().step_by(rows);
            if row >= count {
                places.for_each(|to| *to = T::ZERO);
                continue;
            }
            let elements = &from.elements[row * from.down + block * PACKED_STEPS * from.right..];
            places.enumerate().for_each(|(k, to)| *to = sign(elements[k * from.right]));
        }
    }
}

/// Rows of A in one block of k.
enum Rows<'a, T> {
    /// One after the other for each k.
    Packed(&'a [T]),
    /// Where they are, so many steps of them; then C is there as its transpose.
    Lying(Matrix<'a, T>, usize),
}

/// One tile of a product over one block of k.
struct Part<'a, T> {
    a: Rows<'a, T>,
    b: &'a [T],
    b_down: usize,
    /// Columns of the result; the last vector of a tile may have more lanes.
    columns: usize,
    /// Sums start here, from zero.
    starts: bool,
}

impl<T: Real> Part<'_, T> {
    /// A tile of so many vectors; each number of them, and of rows, is code of its own.
    #[inline(always)]
    fn wide<V: SimdTarget<T>, const ROWS: usize, const VECTORS: usize>(
        &self,
        vectors: V,
        [rows, wide]: [usize; 2],
        c: &mut [T],
        down: usize,
        edge: &mut [T; TILE],
    ) {
        match wide {
            1 => self.tall::<V, ROWS, 1>(vectors, rows, c, down, edge),
            2 if VECTORS > 2 => self.tall::<V, ROWS, 2>(vectors, rows, c, down, edge),
            _ => self.tall::<V, ROWS, VECTORS>(vectors, rows, c, down, edge),
        }
    }

    /// A tile of so many rows: all of `ROWS`, or a power of two below.
    #[inline(always)]
    fn tall<V: SimdTarget<T>, const ROWS: usize, const VECTORS: usize>(
        &self,
        vectors: V,
        rows: usize,
        c: &mut [T],
        down: usize,
        edge: &mut [T; TILE],
    ) {
        match rows {
            1 => self.run::<V, 1, VECTORS>(vectors, c, down, edge),
            2 => self.run::<V, 2, VECTORS>(vectors, c, down, edge),
            4 => self.run::<V, 4, VECTORS>(vectors, c, down, edge),
            _ => self.run::<V, ROWS, VECTORS>(vectors, c, down, edge),
        }
    }

    #[inline(always)]
    fn run<V: SimdTarget<T>, const ROWS: usize, const VECTORS: usize>(
        &self,
        vectors: V,
        c: &mut [T],
        down: usize,
        edge: &mut [T; TILE],
    ) {
        let width = VECTORS * V::LANES;
        let ((below, beside), in_place) = match self.a {
            Rows::Packed(_) => ((down, 1), self.columns == width),
            Rows::Lying(..) => ((1, down), false),
        };
        if in_place {
            return self.full::<V, ROWS, VECTORS>(vectors, c, down);
        }
        if !self.starts {
            for (i, j) in (0..ROWS).flat_map(|i| (0..self.columns).map(move |j| (i, j))) {
                edge[i * width + j] = c[i * below + j * beside];
            }
        }
        self.full::<V, ROWS, VECTORS>(vectors, edge, width);
        for (i, j) in (0..ROWS).flat_map(|i| (0..self.columns).map(move |j| (i, j))) {
            c[i * below + j * beside] = edge[i * width + j];
        }
    }

    #[inline(always)]
    fn full<V: SimdTarget<T>, const ROWS: usize, const VECTORS: usize>(&self, vectors: V, c: &mut [T], down: usize) {
        let width = VECTORS * V::LANES;
        let mut sums = [[vectors.splat(T::ZERO); VECTORS]; ROWS];
        if !self.starts {
            for (i, sums) in sums.iter_mut().enumerate() {
                sums.copy_from_slice(V::of(&c[i * down..][..width]));
            }
        }
        let rows = self.b.chunks(self.b_down);
        match self.a {
            Rows::Packed(a) => {
                for (column, row) in a.as_chunks::<ROWS>().0.iter().zip(rows) {
                    step(vectors, column, &row[..width], &mut sums);
                }
            }
            Rows::Lying(a, steps) => {
                let lines: [&[T]; ROWS] = std::array::from_fn(|i| &a.elements[i * a.down..][..steps]);
                for (k, row) in (0..steps).zip(rows) {
                    let mut column = [T::ZERO; ROWS];
                    for (x, line) in column.iter_mut().zip(&lines) {
                        *x = line[k];
                    }
                    step(vectors, &column, &row[..width], &mut sums);
                }
            }
        }
        for (i, sums) in sums.iter().enumerate() {
            V::of_mut(&mut c[i * down..][..width]).copy_from_slice(sums);
        }
    }
}

/// One step of k for all sums of a tile.
#[inline(always)]
fn step<T: Real, V: SimdTarget<T>, const ROWS: usize, const VECTORS: usize>(
    vectors: V,
    column: &[T; ROWS],
    row: &[T],
    sums: &mut [[V::Vector; VECTORS]; ROWS],
) {
    let row: &[V::Vector; VECTORS] = V::of(row).first_chunk().expect("a row of a tile is whole vectors");
    for i in 0..ROWS {
        let x = vectors.splat(column[i]);
        for j in 0..VECTORS {
            sums[i][j] = vectors.fused(x, row[j], sums[i][j]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Extents, Matrix, Real, Target, multiply, scratch_elements};

    /// Numbers of many magnitudes, so that another order of a sum would show.
    fn numbers(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|k| ((k * 7919 + seed) % 1009) as f64 * 0.37 - 180.0 + 1.0 / (k + seed + 1) as f64).collect()
    }

    fn by_plain_loops<T: Real>(
        target: Target,
        extents: Extents,
        a: Matrix<'_, T>,
        b: Matrix<'_, T>,
        c: &mut [T],
        down: usize,
    ) {
        for (i, j) in (0..extents.m).flat_map(|i| (0..extents.n).map(move |j| (i, j))) {
            let place = &mut c[i * down + j];
            let (start, sign) = match target {
                Target::Set => (T::ZERO, T::ONE),
                Target::Add => (*place, T::ONE),
                Target::Subtract => (*place, -T::ONE),
            };
            *place = (0..extents.k).fold(start, |sum, k| (sign * a.at(i, k)).fused(b.at(k, j), sum));
        }
    }

    fn agrees<T: Real + std::fmt::Debug>(target: Target, extents: Extents, narrow: fn(f64) -> T) {
        let Extents { m, n, k } = extents;
        let take = |count: usize, seed: usize| numbers(count, seed).into_iter().map(narrow).collect::<Vec<T>>();
        // One element of offset, and more between rows than there are columns.
        let (a, b, start) =
            (take(1 + (m + 3) * (k + 3), 1), take(1 + (k + 2) * (n + 2), 5), take((m + 1) * (n + 5), 9));
        for (a_turned, b_turned) in [(false, false), (true, false), (false, true), (true, true)] {
            let a = if a_turned { Matrix::new(&a[1..], 1, m + 3) } else { Matrix::new(&a[1..], k + 3, 1) };
            let b = if b_turned { Matrix::new(&b[1..], 1, k + 2) } else { Matrix::new(&b[1..], n + 2, 1) };
            for down in [n, n + 5] {
                let (mut found, mut expected) = (start.clone(), start.clone());
                let mut scratch = vec![T::NAN; scratch_elements(extents)];
                multiply(target, extents, a, b, &mut found, down, &mut scratch);
                by_plain_loops(target, extents, a, b, &mut expected, down);
                assert!(found == expected, "{target:?} {extents:?}, turned {a_turned} {b_turned}, rows {down} apart");
            }
        }
    }

    #[test]
    fn every_element_is_the_chain_of_plain_loops() {
        let extents = [
            (1, 1, 1),
            (2, 3, 0),
            (7, 5, 3),
            (8, 24, 17),
            (9, 25, 300),
            (1, 77, 40),
            (77, 1, 40),
            (49, 49, 33),
            (100, 250, 260),
            (97, 50, 2),
            (10, 250, 80),
            (15, 10, 70),
            (3, 41, 33),
            (60, 500, 10),
            (24, 100, 270),
            (5, 1100, 40),
        ];
        for (m, n, k) in extents {
            for target in [Target::Set, Target::Add, Target::Subtract] {
                agrees::<f64>(target, Extents { m, n, k }, |x| x);
                agrees::<f32>(target, Extents { m, n, k }, |x| x as f32);
            }
        }
    }

    #[test]
    fn rows_may_be_repeated_and_overlap() {
        let (x, y) = (numbers(400, 3), numbers(400, 4));
        let extents = Extents { m: 5, n: 29, k: 40 };
        for (down, right) in [(0, 1), (1, 0), (1, 1), (0, 0), (2, 3)] {
            let (a, b) = (Matrix::new(&x, down, right), Matrix::new(&y, right, down));
            let (mut found, mut expected) = (vec![0.0; 5 * 29], vec![0.0; 5 * 29]);
            multiply(Target::Set, extents, a, b, &mut found, 29, &mut vec![0.0; scratch_elements(extents)]);
            by_plain_loops(Target::Set, extents, a, b, &mut expected, 29);
            assert_eq!(found, expected, "{down} {right}");
        }
    }
}
