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
    ([$($attribute:meta)?], $scalar:ident, $block:ident = $within:ident up to $bound:expr, then $beyond:ident) => {
        $(#[$attribute])?
        pub(super) unsafe extern "C" fn $block(source: *const f64, target: *mut f64, count: usize) {
            // SAFETY: the contract of `Block` is that of `apply`.
            unsafe { apply(source, target, count, $bound, lanes::$within, lanes::$beyond) }
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

            functions! { $attributes, exp, exp_block = exp up to f64::INFINITY, then exp }
            functions! { $attributes, log, log_block = log up to f64::INFINITY, then log }
            functions! { $attributes, sin, sin_block = sin_within up to lanes::ANGLE_BOUND, then sin_beyond }
            functions! { $attributes, cos, cos_block = cos_within up to lanes::ANGLE_BOUND, then cos_beyond }
            functions! { $attributes, tanh, tanh_block = tanh up to f64::INFINITY, then tanh }
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

/// Elements that are loaded, computed and stored together: two of the widest vectors. Half as many and LLVM takes the loop over them
/// apart before it could become vector instructions; more, and the last few elements cost more.
const GROUP: usize = 16;

/// Applies `within` to numbers up to the bound and `beyond` to the rest.
///
/// It is inlined into functions with vector instructions and so compiled for those.
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
    beyond: impl Fn(f64) -> f64 + Copy,
) {
    let whole = count - count % GROUP;
    for start in (0..whole).step_by(GROUP) {
        // SAFETY: start + GROUP <= count, for which the caller vouches.
        unsafe { apply_to_group(source.add(start), target.add(start), bound, within, beyond) };
    }
    let rest = count - whole;
    if rest > 0 {
        let mut group = [0.0; GROUP];
        let pointer = group.as_mut_ptr();
        // SAFETY: whole + rest == count, for which the caller vouches; the group is our own and rest < GROUP.
        unsafe { copy_few(source.add(whole), pointer, rest) };
        // SAFETY: there are GROUP elements.
        unsafe { apply_to_group(pointer, pointer, bound, within, beyond) };
        // SAFETY: as for the copy in the other direction.
        unsafe { copy_few(pointer, target.add(whole), rest) };
    }
}

/// [`apply`] to one group.
///
/// The elements are copied, because a loop that reads and writes through pointers which may be equal would not become vector
/// instructions.
///
/// # Safety
/// As for [`Block`], with `GROUP` elements.
#[inline(always)]
unsafe fn apply_to_group(source: *const f64, target: *mut f64, bound: f64, within: impl Fn(f64) -> f64, beyond: impl Fn(f64) -> f64) {
    // SAFETY: the caller vouches for GROUP elements, and an array is laid out as they are.
    let inputs = unsafe { source.cast::<[f64; GROUP]>().read() };
    let mut outputs = inputs;
    outputs.iter_mut().for_each(|x| *x = within(*x));
    // NaN is not beyond. Without a finite bound the compiler drops all of this.
    if inputs.iter().fold(false, |any, x| any | (x.abs() > bound)) {
        for (y, x) in outputs.iter_mut().zip(inputs).filter(|(_, x)| x.abs() > bound) {
            *y = beyond(x);
        }
    }
    // SAFETY: as for the source.
    unsafe { target.cast::<[f64; GROUP]>().write(outputs) };
}

/// Copies less than a group by powers of two, in registers; a call of memcpy takes as long as the group.
///
/// # Safety
/// `count` is below `GROUP`, `source` readable and `target` writable for as many elements, and they do not overlap.
#[inline(always)]
unsafe fn copy_few(source: *const f64, target: *mut f64, count: usize) {
    let mut done = 0;
    for size in [8, 4, 2, 1] {
        if count & size != 0 {
            // SAFETY: the sizes that are in `count` sum up to it, for which the caller vouches.
            unsafe { target.add(done).copy_from_nonoverlapping(source.add(done), size) };
            done += size;
        }
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
