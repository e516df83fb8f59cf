//! Precompiled loops over the functions of [`lanes`](retrograd_compiler::ops::lanes), as wide as the machine allows,
//! for generated code to call.
//!
//! Cranelift has vectors of 128 bits and no transcendentals, so a vector loop hands whole blocks of numbers to these.
//! Each level compiles the same functions for other instructions; since those consist of operations that IEEE 754
//! fixes, every level gives the same bits as the interpreter.
//!
//! ```
//! let source = [0.0, 1.0, -1.0];
//! let mut target = [0.0; 3];
//! // SAFETY: both arrays hold three elements and do not overlap.
//! unsafe { (retrograd_jit::blocks::blocks().exp)(source.as_ptr(), target.as_mut_ptr(), 3) };
//! assert_eq!(target, source.map(retrograd_compiler::ops::lanes::exp));
//! ```

use std::sync::LazyLock;

use retrograd_compiler::ir::LaneFunction;

/// Every function that has blocks, one line each. Those that are branch-free but for rare arguments name the common
/// part, what is rare and the part for that.
macro_rules! every_function {
    ($then:ident $($before:tt)*) => {
        $then! {
            $($before)*
            Exp: exp(x);
            Exp2: exp2(x);
            Expm1: expm1(x);
            Logistic: logistic(x);
            Log: log(x);
            Log2: log2(x);
            Log10: log10(x);
            Log1p: log1p(x);
            Sin: sin(x) = sin_within unless angle_is_huge then sin_beyond;
            Cos: cos(x) = cos_within unless angle_is_huge then cos_beyond;
            Tan: tan(x) = tan_within unless angle_is_huge then tan_beyond;
            Asin: asin(x);
            Acos: acos(x);
            Atan: atan(x);
            Atan2: atan2(y, x);
            Sinh: sinh(x);
            Cosh: cosh(x);
            Tanh: tanh(x);
            Asinh: asinh(x);
            Acosh: acosh(x);
            Atanh: atanh(x);
            Pow: pow(x, y);
            Hypot: hypot(x, y);
            Cbrt: cbrt(x);
            Rsqrt: rsqrt(x);
            Erf: erf(x);
            Erfc: erfc(x);
            Rem: rem(x, y) = rem_within unless rem_is_far then rem_beyond;
            LogAddExp: logaddexp(x, y);
            LogAddExp2: logaddexp2(x, y);
        }
    };
}

/// Applies a function to `count` elements of `source` and writes them to `target`.
///
/// # Safety
/// `source` must be readable and `target` writable for `count` elements; they are equal or do not overlap.
pub type Block = unsafe extern "C" fn(source: *const f64, target: *mut f64, count: usize);

/// Applies a function of two arguments to `count` elements of `first` and of `second` and writes them to `target`.
///
/// # Safety
/// The sources must be readable and `target` writable for `count` elements; it is equal to a source or does not overlap
/// it.
pub type BinaryBlock = unsafe extern "C" fn(first: *const f64, second: *const f64, target: *mut f64, count: usize);

/// Applies a function to one number.
///
/// # Safety
/// Safe to call on the machine whose [`scalars`] it came from; elsewhere its instructions may not exist.
pub type Scalar = unsafe extern "C" fn(f64) -> f64;

/// Applies a function to two numbers.
///
/// # Safety
/// As for [`Scalar`].
pub type BinaryScalar = unsafe extern "C" fn(f64, f64) -> f64;

/// The type of an entry by the number of arguments.
macro_rules! entry {
    (block $x:ident) => {
        Block
    };
    (block $x:ident $y:ident) => {
        BinaryBlock
    };
    (scalar $x:ident) => {
        Scalar
    };
    (scalar $x:ident $y:ident) => {
        BinaryScalar
    };
}

/// A function as machine code sees it.
pub(crate) struct Callee {
    pub(crate) arity: usize,
    /// A [`Scalar`] or [`BinaryScalar`].
    pub(crate) one: *const u8,
    /// A [`Block`] or [`BinaryBlock`].
    pub(crate) block: *const u8,
}

macro_rules! tables {
    ($($variant:ident: $name:ident($($x:ident),+) $(= $within:ident unless $rare:ident then $beyond:ident)?;)*) => {
        /// One [`Block`] or [`BinaryBlock`] for each function.
        #[derive(Debug)]
        pub struct Blocks {
            $(
                #[doc = concat!("[`", stringify!($name), "`](retrograd_compiler::ops::lanes::", stringify!($name), ")")]
                pub $name: entry!(block $($x)+),
            )*
        }

        /// One [`Scalar`] or [`BinaryScalar`] for each function.
        #[derive(Debug)]
        pub struct Scalars {
            $(
                #[doc = concat!("[`", stringify!($name), "`](retrograd_compiler::ops::lanes::", stringify!($name), ")")]
                pub $name: entry!(scalar $($x)+),
            )*
        }

        /// All functions that machine code calls.
        pub(crate) const FUNCTIONS: &[LaneFunction] = &[$(LaneFunction::$variant),*];

        /// What machine code calls for a function.
        pub(crate) fn callee(function: LaneFunction) -> Callee {
            match function {
                $(LaneFunction::$variant => Callee {
                    arity: [$(stringify!($x)),+].len(),
                    one: scalars().$name as *const u8,
                    block: blocks().$name as *const u8,
                },)*
            }
        }
    };
}

every_function! { tables }

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

/// A module with the table `LEVEL`, all of whose functions are compiled with the given attribute.
macro_rules! level {
    (
        $level:ident, $attributes:tt, $available:expr;
        $($variant:ident: $name:ident($($x:ident),+) $(= $within:ident unless $rare:ident then $beyond:ident)?;)*
    ) => {
        mod $level {
            use super::{Blocks, Level, Scalars};

            pub(super) const LEVEL: Level = Level {
                available: $available,
                blocks: Blocks { $($name: block::$name,)* },
                scalars: Scalars { $($name: scalar::$name,)* },
            };

            mod block {
                use crate::blocks::{Parts, apply};
                use retrograd_compiler::ops::lanes;
                $(block! { $attributes $name($($x),+) $(= $within unless $rare then $beyond)? })*
            }

            mod scalar {
                use retrograd_compiler::ops::lanes;
                $(scalar! { $attributes $name($($x),+) })*
            }
        }
    };
}

/// A block, compiled with the given attribute.
macro_rules! block {
    ($attributes:tt $name:ident($($x:ident),+)) => {
        block! { $attributes $name($($x),+), lanes::$name($($x),+), false, f64::NAN }
    };
    ($attributes:tt $name:ident($($x:ident),+) = $within:ident unless $rare:ident then $beyond:ident) => {
        block! { $attributes $name($($x),+), lanes::$within($($x),+), lanes::$rare($($x),+), lanes::$beyond($($x),+) }
    };
    ([$($attribute:meta)?] $name:ident($($x:ident),+), $within:expr, $rare:expr, $beyond:expr) => {
        $(#[$attribute])?
        pub(super) unsafe extern "C" fn $name($($x: *const f64,)+ target: *mut f64, count: usize) {
            const ARITY: usize = [$(stringify!($x)),+].len();
            struct Sequence;
            impl Parts<ARITY> for Sequence {
                #[inline(always)]
                fn within([$($x),+]: [f64; ARITY]) -> f64 {
                    $within
                }
                #[inline(always)]
                #[allow(unused_variables, reason = "of most functions nothing is rare")]
                fn rare([$($x),+]: [f64; ARITY]) -> bool {
                    $rare
                }
                #[inline(always)]
                #[allow(unused_variables, reason = "of most functions nothing is rare")]
                fn beyond([$($x),+]: [f64; ARITY]) -> f64 {
                    $beyond
                }
            }
            // SAFETY: the contract of `Block` and `BinaryBlock` is that of `apply`.
            unsafe { apply::<Sequence, ARITY>([$($x),+], target, count) }
        }
    };
}

/// A function of single numbers, compiled with the given attribute.
macro_rules! scalar {
    ([$($attribute:meta)?] $name:ident($($x:ident),+)) => {
        $(#[$attribute])?
        pub(super) unsafe extern "C" fn $name($($x: f64),+) -> f64 {
            lanes::$name($($x),+)
        }
    };
}

// 8 lanes.
#[cfg(target_arch = "x86_64")]
every_function! {
    level
    wide,
    [target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")],
    || is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma");
}

// 4 lanes.
#[cfg(target_arch = "x86_64")]
every_function! {
    level
    middle,
    [target_feature(enable = "avx2,fma")],
    || is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
}

// What the target always has. Where that lacks fused multiply-add each one is a library call: slow, but the same bits.
every_function! { level baseline, [], || true; }

/// Elements that are loaded, computed and stored together: two of the widest vectors. Half as many and LLVM takes the
/// loop over them apart before it could become vector instructions; more, and the last few elements cost more.
const GROUP: usize = 16;

/// A group on the stack, at the beginning of a cache line: where one lies across two, writing and reading it takes
/// several times as long.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Group([f64; GROUP]);

/// A function as its blocks compute it. These are methods and no closures, which LLVM would call lane by lane where
/// they are long, without vectors: methods that are always inlined are compiled for the instructions of the block.
trait Parts<const ARITY: usize> {
    /// The function of usual arguments.
    fn within(arguments: [f64; ARITY]) -> f64;
    /// Whether arguments are not usual.
    fn rare(arguments: [f64; ARITY]) -> bool;
    /// The function of those.
    fn beyond(arguments: [f64; ARITY]) -> f64;
}

/// Applies `beyond` to rare arguments and `within` to the others.
///
/// It is inlined into functions with vector instructions and so compiled for those.
///
/// # Safety
/// As for [`Block`] and [`BinaryBlock`].
#[inline(always)]
unsafe fn apply<F: Parts<ARITY>, const ARITY: usize>(sources: [*const f64; ARITY], target: *mut f64, count: usize) {
    let whole = count - count % GROUP;
    for start in (0..whole).step_by(GROUP) {
        // SAFETY: start + GROUP <= count, for which the caller vouches.
        let sources = sources.map(|source| unsafe { source.add(start) });
        // SAFETY: as before.
        unsafe { apply_to_group::<F, ARITY>(sources, target.add(start)) };
    }
    let rest = count - whole;
    if rest > 0 {
        let mut groups = [Group([1.0; GROUP]); ARITY];
        for (group, source) in groups.iter_mut().zip(sources) {
            // SAFETY: whole + rest == count, for which the caller vouches; the group is our own and rest < GROUP.
            unsafe { copy_few(source.add(whole), group.0.as_mut_ptr(), rest) };
        }
        let mut results = Group([0.0; GROUP]);
        // SAFETY: all of them have GROUP elements.
        unsafe { apply_to_group::<F, ARITY>(groups.each_ref().map(|group| group.0.as_ptr()), results.0.as_mut_ptr()) };
        // SAFETY: as for the copies in the other direction.
        unsafe { copy_few(results.0.as_ptr(), target.add(whole), rest) };
    }
}

/// [`apply`] to one group.
///
/// The elements are copied, because a loop that reads and writes through pointers which may be equal would not become
/// vector instructions.
///
/// # Safety
/// As for [`Block`] and [`BinaryBlock`], with `GROUP` elements.
#[inline(always)]
unsafe fn apply_to_group<F: Parts<ARITY>, const ARITY: usize>(sources: [*const f64; ARITY], target: *mut f64) {
    // SAFETY: the caller vouches for GROUP elements, and an array is laid out as they are.
    let inputs = sources.map(|source| Group(unsafe { source.cast::<[f64; GROUP]>().read() }));
    let arguments = |lane: usize| std::array::from_fn(|source| inputs[source].0[lane]);
    let mut outputs = Group([0.0; GROUP]);
    for (lane, output) in outputs.0.iter_mut().enumerate() {
        *output = F::within(arguments(lane));
    }
    // Where nothing is rare the compiler drops all of this.
    if (0..GROUP).fold(false, |any, lane| any | F::rare(arguments(lane))) {
        for (lane, output) in outputs.0.iter_mut().enumerate().filter(|(lane, _)| F::rare(arguments(*lane))) {
            *output = F::beyond(arguments(lane));
        }
    }
    // SAFETY: as for the source.
    unsafe { target.cast::<[f64; GROUP]>().write(outputs.0) };
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
    use retrograd_compiler::ops::lanes;

    type Apart = Box<dyn Fn(&[f64], &[f64], &mut [f64])>;
    type InPlace = Box<dyn Fn(&mut [f64], &[f64])>;

    /// One function of one level, as one of two arguments, of which it may ignore the second.
    struct Row {
        name: &'static str,
        block: Apart,
        block_in_place: InPlace,
        scalar: Box<dyn Fn(f64, f64) -> f64>,
        expected: fn(f64, f64) -> f64,
    }

    macro_rules! row {
        ($level:ident $name:ident($x:ident)) => {{
            let (block, scalar) = ($level.blocks.$name, $level.scalars.$name);
            Row {
                name: stringify!($name),
                // SAFETY: the tests pass a target no shorter than the source, of another vector; the level is
                // available.
                block: Box::new(move |x, _, target| unsafe { block(x.as_ptr(), target.as_mut_ptr(), x.len()) }),
                // SAFETY: source and target are equal; the level is available.
                block_in_place: Box::new(move |x, _| unsafe { block(x.as_ptr(), x.as_mut_ptr(), x.len()) }),
                // SAFETY: the level is available.
                scalar: Box::new(move |x, _| unsafe { scalar(x) }),
                expected: |x, _| lanes::$name(x),
            }
        }};
        ($level:ident $name:ident($x:ident, $y:ident)) => {{
            let (block, scalar) = ($level.blocks.$name, $level.scalars.$name);
            Row {
                name: stringify!($name),
                // SAFETY: the tests pass sources of equal length and a target no shorter, of another vector; the level
                // is available.
                block: Box::new(move |x, y, target| unsafe {
                    block(x.as_ptr(), y.as_ptr(), target.as_mut_ptr(), x.len())
                }),
                // SAFETY: one source and the target are equal, the other source is of another vector; the level is
                // available.
                block_in_place: Box::new(move |x, y| unsafe { block(x.as_ptr(), y.as_ptr(), x.as_mut_ptr(), x.len()) }),
                // SAFETY: the level is available.
                scalar: Box::new(move |x, y| unsafe { scalar(x, y) }),
                expected: lanes::$name,
            }
        }};
    }

    macro_rules! rows {
        ($level:ident; $($variant:ident: $name:ident($($x:ident),+) $(= $within:ident unless $rare:ident then $beyond:ident)?;)*) => {
            vec![$(row!($level $name($($x),+))),*]
        };
    }

    fn available() -> impl Iterator<Item = &'static Level> {
        LEVELS.iter().filter(|level| (level.available)())
    }

    fn rows() -> impl Iterator<Item = Row> {
        available().flat_map(|level| every_function! { rows level; })
    }

    /// Special values, every magnitude, and what programs mostly hold; in an order that mixes them within chunks only
    /// at times.
    fn inputs() -> Vec<f64> {
        let specials = [
            0.0,
            5e-324,
            1e-310,
            f64::MIN_POSITIVE,
            1e-8,
            0.17,
            0.5,
            1.0,
            2.0,
            3.0,
            19.0,
            709.78,
            710.0,
            745.2,
            1e22,
            f64::MAX,
            f64::INFINITY,
        ];
        let bound = [lanes::ANGLE_BOUND, lanes::ANGLE_BOUND.next_up(), f64::NAN, f64::from_bits(0x7ff0_0000_0000_0001)];
        let mut inputs: Vec<f64> = specials.into_iter().chain(bound).flat_map(|x| [x, -x]).collect();
        let scatter = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        inputs.extend((0..10_000).map(|i| f64::from_bits(scatter(i))));
        for size in [1.0, 25.0, 800.0, 1e9] {
            inputs.extend((0..5_000).map(|i| size * (scatter(i) as i64 as f64) / (1u64 << 63) as f64));
        }
        inputs
    }

    /// Second arguments for as many first ones: for the special ones each with each, later by any rule that is not the
    /// same.
    fn pairs() -> (Vec<f64>, Vec<f64>) {
        let inputs = inputs();
        let specials = &inputs[..42];
        let (mut x, mut y): (Vec<f64>, Vec<f64>) =
            specials.iter().flat_map(|x| specials.iter().map(move |y| (*x, *y))).unzip();
        x.extend(&inputs);
        y.extend(inputs.iter().rev());
        x.extend(&inputs);
        y.extend(inputs.iter().cycle().skip(4_321).take(inputs.len()));
        (x, y)
    }

    #[track_caller]
    fn check(row: &Row, x: &[f64], y: &[f64], outputs: &[f64]) {
        for ((&x, &y), &output) in x.iter().zip(y).zip(outputs) {
            let expected = (row.expected)(x, y);
            assert_eq!(
                output.to_bits(),
                expected.to_bits(),
                "{}({x:e}, {y:e}) is {output:e}, not {expected:e}",
                row.name
            );
        }
    }

    #[test]
    fn every_level_gives_the_bits_of_the_lane_functions() {
        let (x, y) = pairs();
        for row in rows() {
            let mut outputs = vec![0.0; x.len()];
            (row.block)(&x, &y, &mut outputs);
            check(&row, &x, &y, &outputs);
            outputs.iter_mut().zip(x.iter().zip(&y)).for_each(|(output, (&x, &y))| *output = (row.scalar)(x, y));
            check(&row, &x, &y, &outputs);
        }
    }

    #[test]
    fn every_count_works_in_place_and_out_of_place_and_writes_no_further() {
        let (x, y) = pairs();
        for row in rows() {
            for count in 0..=67 {
                let (x, y) = (&x[count..2 * count], &y[count..2 * count]);
                let mut apart = vec![7.0; count + 9];
                (row.block)(x, y, &mut apart);
                check(&row, x, y, &apart);
                assert_eq!(apart[count..], [7.0; 9], "{} with {count} elements wrote past its end", row.name);

                let mut same = x.to_vec();
                (row.block_in_place)(&mut same, y);
                check(&row, x, y, &same);
            }
        }
    }

    #[test]
    fn the_second_source_may_be_the_target() {
        let (x, y) = pairs();
        for level in available() {
            let mut outputs = y.clone();
            // SAFETY: all hold as many elements, the second source is the target and the first is apart; the level is
            // available.
            unsafe { (level.blocks.rem)(x.as_ptr(), outputs.as_ptr(), outputs.as_mut_ptr(), x.len()) };
            assert!(
                outputs
                    .iter()
                    .zip(x.iter().zip(&y))
                    .all(|(output, (x, y))| output.to_bits() == lanes::rem(*x, *y).to_bits())
            );
        }
    }

    #[test]
    fn one_rare_argument_does_not_change_its_neighbours() {
        let mut x: Vec<f64> = (0..200).map(|i| f64::from(i) * 0.37).collect();
        x[70] = 1e300;
        x[199] = f64::NEG_INFINITY;
        let y = vec![0.7; 200];
        for row in rows() {
            let mut outputs = vec![0.0; x.len()];
            (row.block)(&x, &y, &mut outputs);
            check(&row, &x, &y, &outputs);
        }
    }

    #[test]
    fn the_best_level_is_the_first_available() {
        let first = available().next().expect("the baseline level is always available");
        assert!(std::ptr::fn_addr_eq(first.blocks.exp, blocks().exp));
        assert!(std::ptr::fn_addr_eq(first.scalars.exp, scalars().exp));
    }
}
