//! Deterministic random numbers.

use retrograd_compiler::ir::{Array, DType, Data, Type};

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014, figure 13): the same numbers from the same seed.
///
/// ```
/// use retrograd_testing::Random;
/// assert_eq!(Random::new(7).bits(), Random::new(7).bits());
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from an interval, its end excluded.
    pub fn number(&mut self, (low, high): (f64, f64)) -> f64 {
        let unit = (self.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        low + unit * (high - low)
    }

    /// An array of numbers from an interval, rounded down for integers, not zero for true.
    pub fn array(&mut self, ty: &Type, interval: (f64, f64)) -> Array {
        let numbers: Vec<f64> = (0..ty.elements()).map(|_| self.number(interval)).collect();
        let data = match ty.dtype {
            DType::F32 => Data::F32(numbers.iter().map(|x| *x as f32).collect()),
            DType::F64 => Data::F64(numbers),
            DType::I32 => Data::I32(numbers.iter().map(|x| x.floor() as i32).collect()),
            DType::I64 => Data::I64(numbers.iter().map(|x| x.floor() as i64).collect()),
            DType::Bool => Data::Bool(numbers.iter().map(|x| x.floor() != 0.0).collect()),
        };
        Array::new(ty.shape.clone(), data)
    }
}
