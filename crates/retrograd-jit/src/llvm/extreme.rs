//! The greatest or least of all floats of a vector loop.
//!
//! Between two numbers it takes several instructions to pass on NaN and to tell −0 from +0. Of many, each step takes
//! the instruction of the machine, which forgets both, and notes what was forgotten: whether a NaN was there, and what
//! signs all numbers have in common (or have at all). Where the result is 0 all numbers are on one side of it, and the
//! signs tell which zeros were among them.

use retrograd_compiler::ir::{DType, Reduction};
use retrograd_compiler::lower::kernel::Fold;

use super::lower::Lower;
use super::text::{Form, Value, literal};
use super::vector::by_halves;

/// Rooms for what is noted of the numbers of a chunk.
pub(super) struct Noted {
    how: How,
    /// Vectors of truths: whether a NaN was there.
    nan: Value,
    /// Vectors of bits: the signs of all numbers, merged.
    signs: Value,
    lanes: u32,
    ty: DType,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Greatest,
    Least,
}

impl How {
    /// The relation of a number to what it replaces, and how signs are merged.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            How::Greatest => ("ogt", "and"),
            How::Least => ("olt", "or"),
        }
    }
}

impl Noted {
    /// Rooms for a reduction, if it is of this kind.
    pub(super) fn new(lower: &mut Lower<'_>, fold: &Fold) -> Option<Noted> {
        let (ty, lanes) = (lower.dtype(fold.dst), lower.lanes);
        let how = match fold.how {
            Reduction::Max if ty.is_float() => How::Greatest,
            Reduction::Min if ty.is_float() => How::Least,
            Reduction::Max | Reduction::Min | Reduction::Sum | Reduction::Prod | Reduction::Any | Reduction::All => {
                return None;
            }
        };
        let nan = lower.text.slot(&Form::new(DType::Bool, lanes).to_string());
        let signs = lower.text.slot(&Form::new(bits_of(ty), lanes).to_string());
        Some(Noted { how, nan, signs, lanes, ty })
    }

    /// Nothing was there yet.
    pub(super) fn clear(&self, lower: &mut Lower<'_>) {
        let (truths, bits) = (Form::new(DType::Bool, self.lanes), Form::new(bits_of(self.ty), self.lanes));
        lower.text.act(format_args!("store {truths} zeroinitializer, ptr {}", self.nan));
        let start = Value::integer(if self.how == How::Greatest { -1 } else { 0 });
        let start = lower.text.widen(bits, &start);
        lower.text.act(format_args!("store {bits} {start}, ptr {}", self.signs));
    }

    /// A vector of numbers, combined with a partial result.
    pub(super) fn combine(&self, lower: &mut Lower<'_>, old: &Value, value: &Value) -> Value {
        let merge = self.how.words().1;
        let (form, bits) = (Form::new(self.ty, self.lanes), Form::new(bits_of(self.ty), self.lanes));
        let truths = Form::new(DType::Bool, self.lanes);
        let nan = lower.text.make(format_args!("fcmp uno {form} {value}, {value}"));
        self.merge(lower, truths, "or", &self.nan, &nan);
        let signs = lower.text.make(format_args!("bitcast {form} {value} to {bits}"));
        self.merge(lower, bits, merge, &self.signs, &signs);
        self.further(lower, form, value, old)
    }

    /// Of two, or of each of two vectors, the one that is further on, without a look at NaN and the signs of zeros.
    pub(super) fn further(&self, lower: &mut Lower<'_>, form: Form, x: &Value, y: &Value) -> Value {
        let relation = self.how.words().0;
        let ahead = lower.text.make(format_args!("fcmp {relation} {form} {x}, {y}"));
        lower.text.select(form, &ahead, x, y)
    }

    fn merge(&self, lower: &mut Lower<'_>, form: Form, merge: &str, slot: &Value, new: &Value) {
        let old = lower.text.make(format_args!("load {form}, ptr {slot}"));
        let merged = lower.text.make(format_args!("{merge} {form} {old}, {new}"));
        lower.text.act(format_args!("store {form} {merged}, ptr {slot}"));
    }

    /// The result of a chunk, as it would be had nothing been forgotten.
    pub(super) fn recall(&self, lower: &mut Lower<'_>, result: &Value) -> Value {
        let one = Form::one(self.ty);
        let signs = self.all_signs(lower);
        let negative = lower.text.make(format_args!("icmp slt {} {signs}, 0", Form::one(bits_of(self.ty))));
        // Some number without a sign, or with one, as large as the result.
        let (zero, other) = match self.how {
            How::Greatest => (0.0_f64, lower.text.make(format_args!("xor i1 {negative}, true"))),
            How::Least => (-0.0, negative),
        };
        let zero = self.number(zero);
        let is_zero = lower.text.make(format_args!("fcmp oeq {one} {result}, {zero}"));
        let forgot = lower.text.make(format_args!("and i1 {is_zero}, {other}"));
        let result = lower.text.make(format_args!("select i1 {forgot}, {one} {zero}, {one} {result}"));
        let nan = self.any_nan(lower);
        let not_a_number = self.number(f64::NAN);
        lower.text.make(format_args!("select i1 {nan}, {one} {not_a_number}, {one} {result}"))
    }

    /// Whether a NaN was there.
    fn any_nan(&self, lower: &mut Lower<'_>) -> Value {
        let truths = Form::new(DType::Bool, self.lanes);
        let vector = lower.text.make(format_args!("load {truths}, ptr {}", self.nan));
        let word = lower.text.make(format_args!("bitcast {truths} {vector} to i{}", self.lanes));
        lower.text.make(format_args!("icmp ne i{} {word}, 0", self.lanes))
    }

    /// The signs of all lanes, merged.
    fn all_signs(&self, lower: &mut Lower<'_>) -> Value {
        let (form, merge) = (Form::new(bits_of(self.ty), self.lanes), self.how.words().1);
        let signs = lower.text.make(format_args!("load {form}, ptr {}", self.signs));
        by_halves(lower, form, signs, |lower, form, x, y| lower.text.make(format_args!("{merge} {form} {x}, {y}")))
    }

    fn number(&self, x: f64) -> Value {
        let narrow = self.ty == DType::F32;
        literal(self.ty, if narrow { u64::from((x as f32).to_bits()) } else { x.to_bits() })
    }
}

/// Integers of the same size.
fn bits_of(ty: DType) -> DType {
    if ty == DType::F32 { DType::I32 } else { DType::I64 }
}
