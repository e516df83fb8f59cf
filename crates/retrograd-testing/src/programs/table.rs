//! Random instructions from the samples of the op table: a new row is drawn without a line here.

use std::sync::OnceLock;

use retrograd_compiler::ir::{Array, DType, Data, Lowering, OpDef, Reduction, Rule, Sample, Scalar, Type, Value};
use retrograd_compiler::ops;

use super::{Draft, ELEMENTS, Kind, Scope, Slot, apply};
use crate::Random;

/// A row at one of its samples, and a bound of its numbers there.
struct Drawable {
    def: &'static OpDef,
    sample: Sample,
    most: f64,
}

/// Axes of an argument, so that Programs may add some: an array has eight at most.
const RANK: usize = 6;

/// Points of a sample at which its bound is measured.
const POINTS: u64 = 8;

/// Op by op, its samples. A row without a rule could not be differentiated, so it is left out; so is `check`, which
/// [`checked`](fn@super::checked) adds.
fn drawables() -> &'static [Vec<Drawable>] {
    static TABLE: OnceLock<Vec<Vec<Drawable>>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows = ops::rows().filter(|row| !matches!(row.rule, Rule::Missing) && *row != &ops::CHECK);
        let drawable = |row: &'static OpDef| {
            let samples = (row.samples)(row).into_iter().filter_map(|sample| measured(row, sample));
            samples.collect::<Vec<_>>()
        };
        rows.map(drawable).filter(|samples| !samples.is_empty()).collect()
    })
}

/// A sample with the largest number that was found there. One whose run faults is not total on its domain.
fn measured(def: &'static OpDef, sample: Sample) -> Option<Drawable> {
    let types: Vec<Type> = sample.args.iter().map(|(ty, _)| ty.clone()).collect();
    let ty = (def.infer)(def, &types, &sample.attrs).expect("samples have the types that their def takes");
    let mut most: f64 = 0.0;
    for seed in 0..POINTS {
        let random = &mut Random::new(seed);
        let args = inputs(def, &sample, random);
        let result = (def.eval)(def, &args.iter().collect::<Vec<_>>(), &sample.attrs, &ty).ok()?;
        most = most.max(largest(&result));
    }
    let fits = sample.args.iter().all(|(ty, _)| ty.elements() <= ELEMENTS && ty.rank() <= RANK);
    (fits && most.is_finite()).then_some(Drawable { def, sample, most: 1.5 * most + 0.5 })
}

/// Inputs of a sample that satisfy the condition of their row.
fn inputs(def: &OpDef, sample: &Sample, random: &mut Random) -> Vec<Array> {
    let mut inputs: Vec<Array> = sample.args.iter().map(|(ty, interval)| random.array(ty, *interval)).collect();
    (def.condition)(&mut inputs);
    inputs
}

/// The smallest absolute value besides 0, and at most 1.
fn smallest(array: &Array) -> f64 {
    let all: Vec<f64> = match array.data() {
        Data::F32(x) => x.iter().map(|x| f64::from(x.abs())).collect(),
        Data::F64(x) => x.iter().map(|x| x.abs()).collect(),
        Data::I32(_) | Data::I64(_) | Data::Bool(_) => vec![],
    };
    all.into_iter().filter(|x| *x > 0.0).fold(1.0, f64::min)
}

fn largest(array: &Array) -> f64 {
    match array.data() {
        Data::F32(x) => x.iter().fold(0.0, |most, x| f64::from(x.abs()).max(most)),
        Data::F64(x) => x.iter().fold(0.0, |most, x| if x.is_finite() { x.abs().max(most) } else { f64::INFINITY }),
        Data::I32(_) | Data::I64(_) | Data::Bool(_) => 0.0,
    }
}

impl Draft {
    /// A row of the table at one of its samples, over values of the Program.
    pub(super) fn sampled(&mut self, s: &mut Scope) {
        self.sampled_of(s, |_| true);
    }

    /// A routine, or a read or write at an array of indices.
    pub(super) fn routine(&mut self, s: &mut Scope) {
        self.sampled_of(s, |row| {
            matches!(
                row.lowering,
                Lowering::Routine(_) | Lowering::Factored(..) | Lowering::Pick(_) | Lowering::Scatter(..)
            )
        });
    }

    /// What decides by comparing numbers: extremes, sorts, roundings and signs.
    pub(super) fn extreme(&mut self, s: &mut Scope) {
        const DECIDING: [Scalar; 7] =
            [Scalar::Max, Scalar::Min, Scalar::Clamp, Scalar::Abs, Scalar::Sign, Scalar::CopySign, Scalar::Round];
        const SORTING: [&OpDef; 3] = [&ops::SORT, &ops::ARGSORT, &ops::LOGSUMEXP];
        self.sampled_of(s, |row| {
            let scalar = matches!(&row.lowering, Lowering::Map(scalar) if DECIDING.contains(scalar));
            let lines = matches!(row.lowering, Lowering::Scan(_) | Lowering::Reduce(Reduction::Max | Reduction::Min));
            scalar || lines || SORTING.contains(&row)
        });
    }

    fn sampled_of(&mut self, s: &mut Scope, wanted: fn(&OpDef) -> bool) {
        let rows: Vec<&Vec<Drawable>> = drawables().iter().filter(|samples| wanted(samples[0].def)).collect();
        let samples = rows[self.random.below(rows.len())];
        let Drawable { def, sample, most } = &samples[self.random.below(samples.len())];
        let random = Random::new(self.random.below(1 << 30) as u64);
        let plain: Vec<Array> = sample
            .args
            .iter()
            .scan(random.clone(), |random, (ty, interval)| Some(random.array(ty, *interval)))
            .collect();
        let inputs = inputs(def, sample, &mut random.clone());
        let places = sample.args.iter().zip(plain.iter().zip(&inputs));
        let args: Vec<Value> = places
            .map(|((ty, interval), (plain, input))| {
                let home = self.home(ty);
                // What a condition shapes stays near the shape that it gave.
                let value = match plain == input {
                    true => self.within(s, &home, *interval),
                    false => self.near(s, &home, input),
                };
                if home == *ty { value } else { s.b.convert(value, ty.dtype) }
            })
            .collect();
        let value = s.b.op(def, sample.attrs.clone(), &args);
        let (ty, home) = (s.b.ty(value), self.home(&s.b.ty(value)));
        let value = if home == ty { value } else { s.b.convert(value, home.dtype) };
        self.push(s, kind(home.dtype), value, *most);
    }

    /// The element type in which a Program holds its numbers and integers.
    fn home(&self, ty: &Type) -> Type {
        let dtype = match kind(ty.dtype) {
            Kind::Number => self.float,
            Kind::Integer => DType::I64,
            Kind::Mask | Kind::Index | Kind::Cotangent => ty.dtype,
        };
        Type::new(dtype, ty.shape.clone())
    }

    /// A value whose elements are near those of an array.
    fn near(&mut self, s: &mut Scope, ty: &Type, array: &Array) -> Value {
        let center = s.b.constant(array.clone());
        let center = if array.dtype() == ty.dtype { center } else { s.b.convert(center, ty.dtype) };
        // By less than what its smallest number bears: a matrix stays positive definite, say.
        let least = smallest(array);
        let offset = self.within(s, ty, (-0.05 * least, 0.05 * least));
        s.b.add(center, offset)
    }

    /// A value whose elements are in an interval.
    fn within(&mut self, s: &mut Scope, ty: &Type, (low, high): (f64, f64)) -> Value {
        match kind(ty.dtype) {
            Kind::Number => {
                let (value, most) = self.make_number(s, ty);
                if (-most >= low && most <= high) || most == 0.0 && low <= 0.0 && high >= 0.0 {
                    return value;
                }
                // The middle, and at most half the width to either side of it; a little less, for what rounding adds.
                let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0 * 0.999);
                let scaled = s.b.mul(value, s.b.full(ty, half / most.max(1e-3)));
                s.b.add(s.b.full(ty, middle), scaled)
            }
            Kind::Integer => {
                if self.chance(3) {
                    return s.b.constant(self.random.array(ty, (low, high)));
                }
                let any = self.arg(s, &Slot { kind: Kind::Integer, ty: ty.clone(), most: 0.0 });
                let bound = |x: f64| s.b.full(ty, x.floor());
                let above = apply(s, &ops::MAX, &[any, bound(low)]);
                apply(s, &ops::MIN, &[above, bound((high - 1.0).max(low))])
            }
            Kind::Mask => self.arg(s, &Slot { kind: Kind::Mask, ty: ty.clone(), most: 0.0 }),
            Kind::Index | Kind::Cotangent => unreachable!("an element type is no index and no cotangent"),
        }
    }
}

/// What values of an element type are used for.
fn kind(dtype: DType) -> Kind {
    match dtype {
        DType::F32 | DType::F64 => Kind::Number,
        DType::I32 | DType::I64 => Kind::Integer,
        DType::Bool => Kind::Mask,
    }
}

/// Rows that random Programs draw, by name.
pub fn drawn() -> Vec<&'static str> {
    drawables().iter().map(|samples| samples[0].def.name).collect()
}
