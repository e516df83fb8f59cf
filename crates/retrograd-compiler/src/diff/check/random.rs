//! A small generator of pseudo-random numbers: the same seed gives the same tests everywhere.

use crate::ir::{Array, DType, Data, DataMut, Type};

/// xorshift64* (S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016, section
/// 3).
///
/// ```
/// use retrograd_compiler::diff::check::Random;
/// let (mut a, mut b) = (Random::new(7), Random::new(7));
/// assert_eq!(a.bits(), b.bits());
/// assert!(a.below(10) < 10);
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator; equal seeds give equal numbers.
    pub fn new(seed: u64) -> Random {
        // The state must not be 0; the product spreads small seeds.
        Random(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `n`, which must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// A number in `low..high`.
    pub fn float(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// An array of numbers in `low..high`, rounded down for integers; true where the rounded number is not 0.
    pub fn array(&mut self, ty: &Type, (low, high): (f64, f64)) -> Array {
        let numbers: Vec<f64> = (0..ty.elements()).map(|_| self.float(low, high)).collect();
        let data = match ty.dtype {
            DType::F32 => Data::F32(numbers.iter().map(|x| *x as f32).collect()),
            DType::F64 => Data::F64(numbers),
            DType::I32 => Data::I32(numbers.iter().map(|x| x.floor() as i32).collect()),
            DType::I64 => Data::I64(numbers.iter().map(|x| x.floor() as i64).collect()),
            DType::Bool => Data::Bool(numbers.iter().map(|x| x.floor() != 0.0).collect()),
        };
        Array::new(ty.shape.clone(), data)
    }

    /// The same arrays with floats that arithmetic trips over: both zeros, infinities, NaN, subnormals, the largest.
    pub fn awkward(&mut self, inputs: &[Array]) -> Vec<Array> {
        let mut inputs = inputs.to_vec();
        for input in &mut inputs {
            match input.data_mut() {
                DataMut::F64(x) => x.iter_mut().for_each(|x| *x = AWKWARD[self.below(AWKWARD.len())]),
                DataMut::F32(x) => x.iter_mut().for_each(|x| *x = AWKWARD_F32[self.below(AWKWARD_F32.len())]),
                DataMut::I32(_) | DataMut::I64(_) | DataMut::Bool(_) => {}
            }
        }
        inputs
    }
}

const AWKWARD: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.3,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    5e-324,
    -1e-310,
    f64::MAX,
    f64::MIN,
    709.9,
    1e17,
];

const AWKWARD_F32: [f32; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.3,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    1e-45,
    -1e-40,
    f32::MAX,
    f32::MIN,
    88.9,
    1e17,
];
