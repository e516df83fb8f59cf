//! Powers, for every front end: constant exponents become products.

use retrograd_compiler::ir::{Array, DType, Data, Error, Pos, Type};
use retrograd_compiler::ops;

use crate::trace::{Traced, Tracer};
use crate::var::{Operand, Var, here};

/// Exponents of greater magnitude are left to the row: products of so many factors would add up their roundings.
const LARGEST: f64 = 64.0;

impl Tracer {
    /// `x` to the power of `exponent`, element by element. An exponent that is an integer of at most 64 is known by
    /// products, and of integers that is the only one; 1/2 by the root, and −1/2, −3/2, … by its reciprocal. Others
    /// are for the row of two arguments.
    ///
    /// Only forms whose derivatives are right at 0 are taken: that of √x · x, of 3/2, would be 0 · ∞ there.
    pub fn power(&self, x: Traced, exponent: Traced, pos: &Pos) -> Result<Traced, Error> {
        let known =
            self.literal(exponent).and_then(|literal| number(&literal)).filter(|number| number.abs() <= LARGEST);
        let is_integer = self.ty(x).dtype.is_integer() && self.ty(exponent).dtype.is_integer();
        match known {
            Some(k) if k.fract() == 0.0 && k >= 0.0 => {
                self.products(self.like_exponent(x, exponent, pos)?, k as u64, pos)
            }
            Some(_) | None if is_integer => self.elementwise(&ops::POW, &[x, exponent], pos),
            Some(k) if k.fract() == 0.0 => {
                self.products(self.reciprocal(self.like_exponent(x, exponent, pos)?, pos)?, -k as u64, pos)
            }
            Some(0.5) => self.elementwise(&ops::SQRT, &[self.like_exponent(x, exponent, pos)?], pos),
            Some(k) if (2.0 * k).fract() == 0.0 && k < 0.0 => {
                let root =
                    self.elementwise(&ops::SQRT, &[self.unsigned(self.like_exponent(x, exponent, pos)?, pos)?], pos)?;
                self.products(self.reciprocal(root, pos)?, (-2.0 * k) as u64, pos)
            }
            Some(_) | None => self.elementwise(&ops::POW, &[x, exponent], pos),
        }
    }

    /// `x` in the type of the power: an integer beside a float is that float.
    fn like_exponent(&self, x: Traced, exponent: Traced, pos: &Pos) -> Result<Traced, Error> {
        let dtype = self.ty(exponent).dtype;
        if dtype.is_float() && self.ty(x).dtype == DType::I64 { self.convert(x, dtype, pos) } else { Ok(x) }
    }

    fn reciprocal(&self, x: Traced, pos: &Pos) -> Result<Traced, Error> {
        let one = self.full(&self.ty(x), 1.0, pos)?;
        self.elementwise(&ops::DIV, &[one, x], pos)
    }

    /// `x`, but +0 for −0 and ∞ for −∞: as powers with a fraction have it.
    fn unsigned(&self, x: Traced, pos: &Pos) -> Result<Traced, Error> {
        let number = |number: f64| self.full(&self.ty(x), number, pos);
        let lowest = self.elementwise(&ops::EQ, &[x, number(f64::NEG_INFINITY)?], pos)?;
        let finite = self.elementwise(&ops::ADD, &[x, number(0.0)?], pos)?;
        self.elementwise(&ops::SELECT, &[lowest, number(f64::INFINITY)?, finite], pos)
    }

    /// The product of `count` times `x`, by squares.
    fn products(&self, x: Traced, mut count: u64, pos: &Pos) -> Result<Traced, Error> {
        let (mut product, mut square) = (None, x);
        while count > 0 {
            if count % 2 == 1 {
                product =
                    Some(product.map_or(Ok(square), |product| self.elementwise(&ops::MUL, &[product, square], pos))?);
            }
            count /= 2;
            if count > 0 {
                square = self.elementwise(&ops::MUL, &[square, square], pos)?;
            }
        }
        product.map_or_else(|| self.full(&self.ty(x), 1.0, pos), Ok)
    }
}

/// The number that all elements are, where there is one.
fn number(literal: &Array) -> Option<f64> {
    let one = |numbers: &mut dyn Iterator<Item = f64>| {
        numbers.next().filter(|_| literal.ty() == Type::scalar(literal.dtype()))
    };
    match literal.data() {
        Data::F32(x) => one(&mut x.iter().map(|x| f64::from(*x))),
        Data::F64(x) => one(&mut x.iter().copied()),
        Data::I32(x) => one(&mut x.iter().map(|x| f64::from(*x))),
        Data::I64(x) => one(&mut x.iter().map(|x| *x as f64)),
        Data::Bool(_) => None,
    }
}

impl<'t> Var<'t> {
    /// This value to the power of `exponent`. A constant exponent that is an integer up to 64 means products, also of
    /// integers; its derivatives are then those of products, at 0 too.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x]| x.pow(2) + x.pow(0.5) + x.pow(x));
    /// assert_eq!(f.run(&[Array::scalar(4.0)])?, [Array::scalar(16.0 + 2.0 + 256.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn pow(self, exponent: impl Operand<'t>) -> Var<'t> {
        let pos = here();
        let exponent = exponent.operand(self, &pos);
        self.then(|tracer| tracer.power(self.traced(), exponent.traced(), &pos))
    }
}
