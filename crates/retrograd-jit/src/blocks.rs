//! Precompiled loops over the functions of [`lanes`], as wide as the machine allows, for generated code to call.
//!
//! Cranelift has vectors of 128 bits and no transcendentals, so a vector loop hands whole blocks of numbers to these. Each level
//! compiles the same functions for other instructions; since those consist of operations that IEEE 754 fixes, every level gives the
//! same bits as the interpreter.
//!
//! ```
//! let source = [0.0, 1.0, -1.0];
//! let mut target = [0.0; 3];
//! // SAFETY: both arrays hold three elements and do not overlap.
//! unsafe { (retrograd_jit::blocks::blocks().exp)(source.as_ptr(), target.as_mut_ptr(), 3) };
//! assert_eq!(target, source.map(retrograd_compiler::ops::lanes::exp));
//! ```

#[cfg(any(test, doc))]
use retrograd_compiler::ops::lanes;
use std::sync::LazyLock;

/// Applies a function to `count` elements of `source` and writes them to `target`.
///
/// # Safety
/// `source` must be readable and `target` writable for `count` elements; they are equal or do not overlap.
pub type Block = unsafe extern "C" fn(source: *const f64, target: *mut f64, count: usize);

/// Applies a function to one number.
///
/// # Safety
/// Safe to call on the machine whose [`scalars`] it came from; elsewhere its instructions may not exist.
pub type Scalar = unsafe extern "C" fn(f64) -> f64;

/// One [`Block`] for each function.
#[derive(Debug)]
pub struct Blocks {
    /// [`lanes::exp`]
    pub exp: Block,
    /// [`lanes::log`]
    pub log: Block,
    /// [`lanes::sin`]
    pub sin: Block,
    /// [`lanes::cos`]
    pub cos: Block,
    /// [`lanes::tanh`]
    pub tanh: Block,
}

/// One [`Scalar`] for each function.
#[derive(Debug)]
pub struct Scalars {
    /// [`lanes::exp`]
    pub exp: Scalar,
    /// [`lanes::log`]
    pub log: Scalar,
    /// [`lanes::sin`]
    pub sin: Scalar,
    /// [`lanes::cos`]
    pub cos: Scalar,
    /// [`lanes::tanh`]
    pub tanh: Scalar,
}

/// The widest blocks this machine can run.
pub fn blocks() -> &'static Blocks {
    &BEST.blocks
}

/// The fastest scalar functions this machine can run, for what does not come in blocks.
///
/// ```
/// // SAFETY: the function comes from the table for this machine.
/// let y = unsafe { (retrograd_jit::blocks::scalars().sin)(1.0) };
/// assert_eq!(y, retrograd_compiler::ops::lanes::sin(1.0));
/// ```
pub fn scalars() -> &'static Scalars {
    &BEST.scalars
}

static BEST: LazyLock<&'static Level> =
    LazyLock::new(|| LEVELS.iter().find(|level| (level.available)()).expect("the baseline level is always available"));

/// Everything compiled for one set of instructions.
struct Level {
    available: fn() -> bool,
    blocks: Blocks,
    scalars: Scalars,
}

/// Best first; the last is available everywhere.
static LEVELS: &[Level] = &[
    #[cfg(target_arch = "x86_64")]
    wide::LEVEL,
    #[cfg(target_arch = "x86_64")]
    middle::LEVEL,
    baseline::LEVEL,
];

/// A block and a scalar function, compiled with the given attribute.
macro_rules! functions {
    ([$($attribute:meta)?], $scalar:ident, $block:ident = $within:ident up to $bound:expr) => {
        $(#[$attribute])?
        pub(super) unsafe extern "C" fn $block(source: *const f64, target: *mut f64, count: usize) {
            // SAFETY: the contract of `Block` is that of `apply`.
            unsafe { apply(source, target, count, $bound, lanes::$within, lanes::$scalar) }
        }

        $(#[$attribute])?
        pub(super) unsafe extern "C" fn $scalar(x: f64) -> f64 {
            lanes::$scalar(x)
        }
    };
}

/// A module with the table `LEVEL`, all of whose functions are compiled with the given attribute.
macro_rules! level {
    ($name:ident, $attributes:tt, $available:expr) => {
        mod $name {
            use super::{Blocks, Level, Scalars, apply};
            use retrograd_compiler::ops::lanes;

            pub(super) const LEVEL: Level = Level {
                available: $available,
                blocks: Blocks { exp: exp_block, log: log_block, sin: sin_block, cos: cos_block, tanh: tanh_block },
                scalars: Scalars { exp, log, sin, cos, tanh },
            };

            functions! { $attributes, exp, exp_block = exp up to f64::INFINITY }
            functions! { $attributes, log, log_block = log up to f64::INFINITY }
            functions! { $attributes, sin, sin_block = sin_within up to lanes::ANGLE_BOUND }
            functions! { $attributes, cos, cos_block = cos_within up to lanes::ANGLE_BOUND }
            functions! { $attributes, tanh, tanh_block = tanh up to f64::INFINITY }
        }
    };
}

// 8 lanes.
#[cfg(target_arch = "x86_64")]
level! {
    wide,
    [target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")],
    || is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
}

// 4 lanes.
#[cfg(target_arch = "x86_64")]
level! {
    middle,
    [target_feature(enable = "avx2,fma")],
    || is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

// What the target always has. Where that lacks fused multiply-add each one is a library call: slow, but the same bits.
level! { baseline, [], || true }

/// Elements that are loaded, computed and stored together; a multiple of every vector width, and small enough to stay in L1.
const CHUNK: usize = 64;

/// The widest vector. The last chunk is filled up to a multiple of this, so that no element is computed alone.
const WIDTH: usize = 8;

/// Applies `within`, or `total` to chunks that hold a number beyond the bound, chunk by chunk.
///
/// It is inlined into functions with vector instructions and so compiled for those. The chunk is copied, because a loop that reads
/// and writes through pointers which may be equal would not become vector instructions.
///
/// # Safety
/// As for [`Block`].
#[inline(always)]
unsafe fn apply(
    source: *const f64,
    target: *mut f64,
    count: usize,
    bound: f64,
    within: impl Fn(f64) -> f64 + Copy,
    total: impl Fn(f64) -> f64 + Copy,
) {
    let mut chunk = [0.0; CHUNK];
    let whole = count - count % CHUNK;
    for start in (0..whole).step_by(CHUNK) {
        // SAFETY: start + CHUNK <= count, for which the caller vouches; the chunk is our own.
        unsafe { chunk.as_mut_ptr().copy_from_nonoverlapping(source.add(start), CHUNK) };
        apply_in_place(&mut chunk, bound, within, total);
        // SAFETY: as above.
        unsafe { target.add(start).copy_from_nonoverlapping(chunk.as_ptr(), CHUNK) };
    }
    let rest = count - whole;
    if rest > 0 {
        chunk.fill(0.0);
        // SAFETY: whole + rest == count, for which the caller vouches; the chunk is our own and rest < CHUNK.
        unsafe { chunk.as_mut_ptr().copy_from_nonoverlapping(source.add(whole), rest) };
        for lanes in chunk.chunks_exact_mut(WIDTH).take(rest.div_ceil(WIDTH)) {
            apply_in_place(lanes, bound, within, total);
        }
        // SAFETY: as above.
        unsafe { target.add(whole).copy_from_nonoverlapping(chunk.as_ptr(), rest) };
    }
}

#[inline(always)]
fn apply_in_place(chunk: &mut [f64], bound: f64, within: impl Fn(f64) -> f64, total: impl Fn(f64) -> f64) {
    // NaN is not beyond: the vector path deals with it.
    if chunk.iter().fold(false, |beyond, x| beyond | (x.abs() > bound)) {
        chunk.iter_mut().for_each(|x| *x = total(*x));
    } else {
        chunk.iter_mut().for_each(|x| *x = within(*x));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (&'static str, Block, Scalar, fn(f64) -> f64);

    fn rows(level: &Level) -> [Row; 5] {
        let Level { blocks, scalars, .. } = level;
        [
            ("exp", blocks.exp, scalars.exp, lanes::exp),
            ("log", blocks.log, scalars.log, lanes::log),
            ("sin", blocks.sin, scalars.sin, lanes::sin),
            ("cos", blocks.cos, scalars.cos, lanes::cos),
            ("tanh", blocks.tanh, scalars.tanh, lanes::tanh),
        ]
    }

    /// Special values, every magnitude, and what programs mostly hold; in an order that mixes them within chunks only at times.
    fn inputs() -> Vec<f64> {
        let specials =
            [0.0, 5e-324, 1e-310, f64::MIN_POSITIVE, 1e-8, 0.17, 0.5, 1.0, 19.0, 709.78, 710.0, 745.2, 1e22, f64::MAX, f64::INFINITY];
        let bound = [lanes::ANGLE_BOUND, lanes::ANGLE_BOUND.next_up(), f64::NAN, f64::from_bits(0x7ff0_0000_0000_0001)];
        let mut inputs: Vec<f64> = specials.into_iter().chain(bound).flat_map(|x| [x, -x]).collect();
        let scatter = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        inputs.extend((0..20_000).map(|i| f64::from_bits(scatter(i))));
        for size in [1.0, 25.0, 800.0, 1e9] {
            inputs.extend((0..20_000).map(|i| size * (scatter(i) as i64 as f64) / (1u64 << 63) as f64));
        }
        inputs
    }

    #[track_caller]
    fn check(name: &str, inputs: &[f64], outputs: &[f64], expected: fn(f64) -> f64) {
        for (&x, &y) in inputs.iter().zip(outputs) {
            assert_eq!(y.to_bits(), expected(x).to_bits(), "{name}({x:e}) is {y:e}, not {:e}", expected(x));
        }
    }

    fn available() -> impl Iterator<Item = &'static Level> {
        LEVELS.iter().filter(|level| (level.available)())
    }

    #[test]
    fn every_level_gives_the_bits_of_the_lane_functions() {
        let inputs = inputs();
        for (name, block, scalar, expected) in available().flat_map(rows) {
            let mut outputs = vec![0.0; inputs.len()];
            // SAFETY: both hold as many elements and are distinct; the level is available.
            unsafe { block(inputs.as_ptr(), outputs.as_mut_ptr(), inputs.len()) };
            check(name, &inputs, &outputs, expected);
            // SAFETY: the level is available.
            outputs.iter_mut().zip(&inputs).for_each(|(y, &x)| *y = unsafe { scalar(x) });
            check(name, &inputs, &outputs, expected);
        }
    }

    #[test]
    fn every_count_works_in_place_and_out_of_place_and_writes_no_further() {
        let inputs = inputs();
        for (name, block, _, expected) in available().flat_map(rows) {
            for count in 0..=67 {
                let source = &inputs[count..2 * count];
                let mut apart = vec![7.0; count + 9];
                // SAFETY: the source holds `count` elements, the target more; the level is available.
                unsafe { block(source.as_ptr(), apart.as_mut_ptr(), count) };
                check(name, source, &apart, expected);
                assert_eq!(apart[count..], [7.0; 9], "{name} with {count} elements wrote past its end");

                let mut same = source.to_vec();
                let pointer = same.as_mut_ptr();
                // SAFETY: the vector holds `count` elements and the pointers are equal; the level is available.
                unsafe { block(pointer, pointer, count) };
                check(name, source, &same, expected);
            }
        }
    }

    #[test]
    fn one_huge_angle_does_not_change_its_neighbours() {
        let mut inputs: Vec<f64> = (0..200).map(|i| f64::from(i) * 0.37).collect();
        inputs[70] = 1e300;
        inputs[199] = f64::NEG_INFINITY;
        for (name, block, _, expected) in available().flat_map(rows) {
            let mut outputs = vec![0.0; inputs.len()];
            // SAFETY: both hold as many elements and are distinct; the level is available.
            unsafe { block(inputs.as_ptr(), outputs.as_mut_ptr(), inputs.len()) };
            check(name, &inputs, &outputs, expected);
        }
    }

    #[test]
    fn the_best_level_is_the_first_available() {
        let first = available().next().expect("the baseline level is always available");
        assert!(std::ptr::fn_addr_eq(first.blocks.exp, blocks().exp));
        assert!(std::ptr::fn_addr_eq(first.scalars.exp, scalars().exp));
    }
}
