//! What one row of the op table says. The rows themselves are in `ops`.

use super::array::Array;
use super::attr::Attrs;
use super::builder::{Builder, Expr};
use super::error::{Error, ErrorKind};
use super::program::Value;
use super::routine::{By, Factors, Routine};
use super::types::{DType, Type};

/// Everything about one op, in one place.
#[derive(Debug)]
pub struct OpDef {
    /// Name in the text form, in Python and in messages.
    pub name: &'static str,
    /// One sentence for the listing.
    pub doc: &'static str,
    /// How many arguments; `None` when the row's shape rule decides (indices).
    pub arity: Option<usize>,
    /// Names of the attributes, in printing order.
    pub attrs: &'static [&'static str],
    /// Shape rule: the type of the result, or what does not fit.
    pub infer: fn(&OpDef, &[Type], &Attrs) -> Result<Type, Error>,
    /// Reference evaluation; arguments have verified types. `Err` is a fault of the run, such as an index out of
    /// bounds.
    pub eval: fn(&OpDef, &[&Array], &Attrs, &Type) -> Result<Array, ErrorKind>,
    /// The derivative, stated once.
    pub rule: Rule,
    /// How it becomes loops.
    pub lowering: Lowering,
    /// Work per element of the result, in additions of vectors of 512 bits.
    pub cost: u32,
    /// Intervals that elements of each argument are drawn from in the automatic tests; the last one serves the rest.
    pub domain: &'static [(f64, f64)],
    /// What intervals cannot say of the domain: brings drawn arguments into it, such as matrices that are positive
    /// definite.
    pub condition: fn(&mut [Array]),
    /// Inputs for the automatic tests.
    pub samples: fn(&OpDef) -> Vec<Sample>,
}

impl PartialEq for OpDef {
    fn eq(&self, other: &OpDef) -> bool {
        self.name == other.name
    }
}

/// One set of inputs for the automatic tests of a row.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Type of each argument and the interval its elements are drawn from (rounded down for integers).
    pub args: Vec<(Type, (f64, f64))>,
    /// Attributes.
    pub attrs: Attrs,
}

/// A derivative, stated once; both modes come from it, and it builds IR, so it differentiates again.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// The result does not change with the arguments where it is differentiable.
    Zero,
    /// Elementwise: one partial derivative per argument.
    Partials(&'static [Partial]),
    /// Linear in the arguments that have a transpose; the others (indices, masks) are flat.
    Linear(&'static [Option<Transpose>]),
    /// Linear in every argument, of which there may be any number.
    LinearInEach(TransposeOfEach),
    /// Linear in each of its two arguments.
    Bilinear([Transpose; 2]),
    /// Built from other rows: the tangent of the result, linear in the tangents that there are. Its transpose is that
    /// of the rows it is built from.
    Tangent {
        /// dy from the arguments, the result and the tangents.
        tangent: Tangent,
        /// Transposes of the arguments that the row is linear in, each by itself; the tangent may use the row itself
        /// on these.
        linear: &'static [Option<Transpose>],
    },
    /// No rule is known: an error that names the op and the user's line, never a zero.
    Missing,
}

/// Makes a partial derivative of the arguments and the result.
pub type PartialOf = for<'b> fn(&[Expr<'b>], Expr<'b>) -> Expr<'b>;

/// A partial derivative ∂y/∂x_k of an elementwise op.
#[derive(Clone, Copy, Debug)]
pub enum Partial {
    /// Always 0, or the argument carries no derivative.
    Zero,
    /// Always 1.
    One,
    /// Always −1.
    MinusOne,
    /// A function of the *other* arguments alone: the op is linear in this argument.
    Factor(PartialOf),
    /// A function of the arguments and the result.
    Of(PartialOf),
    /// The same, finite, and 0 where the argument has no influence at all: what comes from there counts for nothing,
    /// infinite or NaN.
    Gate(PartialOf),
}

/// The transpose of an op with respect to one argument: from the cotangent of the result to that of the argument.
pub type Transpose = fn(&Builder, &Attrs, &[Value], Value) -> Contribution;

/// The transpose with respect to the argument of the given number.
pub type TransposeOfEach = fn(&Builder, &Attrs, &[Value], usize, Value) -> Contribution;

/// The tangent of the result from arguments, result, and the tangents of the arguments, of which there is one at least.
pub type Tangent = fn(&Builder, &Attrs, &[Value], Value, &[Option<Value>]) -> Value;

/// What a transpose adds to the cotangent of an argument.
#[derive(Clone, Debug)]
pub enum Contribution {
    /// An array of the argument's type.
    Dense(Value),
    /// An array of the argument's type in which a window does not count, because it was overwritten: `row(ct, zeros,
    /// indices…)`.
    Outside {
        /// The row that overwrites: `update`.
        def: &'static OpDef,
        /// The array.
        ct: Value,
        /// The window's type.
        window: Type,
        /// Index operands of the row.
        indices: Vec<Value>,
        /// Attributes of the row.
        attrs: Attrs,
    },
    /// An array that belongs at a place inside the argument: `row(cotangent, update, indices…)` with these attributes,
    /// so that reading a slice never costs a full array of zeros per read.
    At {
        /// The row that adds: `add_at`, `scatter_add` or `add_along_axis`.
        def: &'static OpDef,
        /// What is added.
        update: Value,
        /// Index operands of the row.
        indices: Vec<Value>,
        /// Attributes of the row.
        attrs: Attrs,
    },
}

/// How a row becomes loops; `lower` matches all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lowering {
    /// One scalar op per element.
    Map(Scalar),
    /// To the element type of the attribute `dtype`.
    Convert,
    /// The index along one axis.
    Iota,
    /// A literal.
    Constant,
    /// A view: the same elements under another index map.
    View(View),
    /// Writes a window of its first argument.
    Write(Write),
    /// Reads its first argument at the indices that its second holds.
    Pick(Indexing),
    /// Writes its second argument into its first at the indices that its third holds, in ascending order.
    Scatter(Indexing, Write),
    /// A reduction over axes, in the fixed blocked order.
    Reduce(Reduction),
    /// A contraction, in the fixed blocked order.
    Dot,
    /// A walk along an axis, in ascending order.
    Scan(Scan),
    /// The rows that `ops::composed` composes it of.
    Composed(Composed),
    /// A call of one function for the whole array, the same that the interpreter calls.
    Routine(Routine),
    /// The same over the factors of the first argument, in its place: whoever needs those of a matrix shares them.
    Factored(Factors, Routine),
    /// Shows its argument to whoever observes the run: an effect, which is never left out, merged, moved or done again.
    Probe,
    /// A fault of the run, unless all of its argument holds: an effect, too.
    Check,
    /// No machine code yet: a plan is refused with an error that names the op and the user's line.
    Missing,
}

impl Lowering {
    /// Whether it does something besides computing its result.
    pub fn has_effect(&self) -> bool {
        matches!(self, Lowering::Probe | Lowering::Check) || self.calls(By::Host)
    }

    /// Whether it calls a function of the host.
    pub fn is_host(&self) -> bool {
        self.calls(By::Host) || self.calls(By::PureHost)
    }

    fn calls(&self, by: By) -> bool {
        matches!(self, Lowering::Routine(routine) if routine.by == by)
    }

    /// Whether every element of the result is a number of the same elements of the arguments.
    pub fn is_elementwise(&self) -> bool {
        matches!(self, Lowering::Map(_) | Lowering::Convert)
    }
}

/// Ops that only re-index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// New axes along which elements repeat.
    Broadcast,
    /// Another shape of equal size.
    Reshape,
    /// Axes in another order.
    Transpose,
    /// Some axes backwards.
    Reverse,
    /// A strided window at a fixed place.
    Slice,
    /// A window at a place known at run time.
    DynamicSlice,
}

/// What an index along the axis of the attribute `axis` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// A whole row: of x with shape (a…, n, b…), indices of shape (i…) give (a…, i…, b…).
    Rows,
    /// One element: there is an index for each.
    Elements,
}

/// How elements are combined, over axes or over the steps of a vector loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reduction {
    /// Added.
    Sum,
    /// Multiplied.
    Prod,
    /// The largest; a NaN is.
    Max,
    /// The smallest; a NaN is.
    Min,
    /// Whether one holds.
    Any,
    /// Whether all hold.
    All,
}

impl Reduction {
    /// How two elements become one.
    pub fn scalar(self) -> Scalar {
        match self {
            Reduction::Sum => Scalar::Add,
            Reduction::Prod => Scalar::Mul,
            Reduction::Max => Scalar::Max,
            Reduction::Min => Scalar::Min,
            Reduction::Any => Scalar::Or,
            Reduction::All => Scalar::And,
        }
    }

    /// Whether elements of this type give the same in any order: truths do, and integers, which wrap.
    pub fn is_commutative(self, dtype: DType) -> bool {
        match self {
            Reduction::Sum | Reduction::Prod | Reduction::Max | Reduction::Min => !dtype.is_float(),
            Reduction::Any | Reduction::All => true,
        }
    }

    /// The bits of what combining starts from: it changes no element that it is combined with.
    pub fn identity(self, dtype: DType) -> u64 {
        let (float, int) = match self {
            Reduction::Sum | Reduction::Any => (0.0, 0),
            Reduction::Prod | Reduction::All => (1.0, 1),
            Reduction::Max => (f64::NEG_INFINITY, i64::MIN),
            Reduction::Min => (f64::INFINITY, i64::MAX),
        };
        match dtype {
            DType::F64 => float.to_bits(),
            DType::F32 => u64::from((float as f32).to_bits()),
            DType::I64 | DType::Bool => int as u64,
            DType::I32 => int.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u64,
        }
    }
}

/// What is carried along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// All elements so far, combined; each is a result.
    Cumulative(Reduction),
    /// y_k = a_k y_{k-1} + b_k, from y_0 = b_0; each is a result.
    Linear,
    /// The index of the first element that none is greater than (`Max`) or less than (`Min`), or of the first NaN; the
    /// last is the result.
    ArgExtremum(Reduction),
}

/// Ops that are composed of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Composed {
    /// One argument, surrounded by a number.
    Pad,
    /// Arguments one after the other along an axis.
    Concat,
    /// The logarithm of a sum of exponentials.
    LogSumExp,
    /// The first argument, whatever the others are for.
    First,
}

/// How elements are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// Replaces the elements.
    Set,
    /// Adds to the elements.
    Add,
    /// Multiplies the elements.
    Mul,
    /// Keeps the larger.
    Max,
    /// Keeps the smaller.
    Min,
}

impl Write {
    /// What the old and the new element become; `None` is the new one.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Write::Set => None,
            Write::Add => Some(Scalar::Add),
            Write::Mul => Some(Scalar::Mul),
            Write::Max => Some(Scalar::Max),
            Write::Min => Some(Scalar::Min),
        }
    }
}

/// Scalar arithmetic: the vocabulary of elementwise rows and of the loop IR. Meaning: `ops::scalar`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it; meanings are stated at their evaluation")]
pub enum Scalar {
    Add,
    Sub,
    Mul,
    Div,
    /// What a division towards zero leaves over.
    Rem,
    /// `a · b + c`, rounded once.
    Fma,
    Neg,
    Abs,
    Sign,
    Min,
    Max,
    /// The lesser of the third argument and the greater of the first two.
    Clamp,
    Sqrt,
    Floor,
    Ceil,
    Round,
    Trunc,
    CopySign,
    /// What takes more than a few instructions: a back end calls it.
    Call(LaneFunction),
    IsNan,
    IsFinite,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
    Xor,
    Not,
    Shl,
    Shr,
    Select,
    /// To another element type; bool becomes 0 or 1, floats truncate to integers and saturate, integers wrap.
    Convert(DType),
}

/// A function of one or two f64; on f32 it is that of the widened arguments, rounded. Meaning: `ops::lanes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it; meanings are stated at their evaluation")]
pub enum LaneFunction {
    Exp,
    Exp2,
    Expm1,
    Logistic,
    Log,
    Log2,
    Log10,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Pow,
    Hypot,
    Cbrt,
    Rsqrt,
    Erf,
    Erfc,
    Rem,
    LogAddExp,
    LogAddExp2,
}

impl LaneFunction {
    /// Whether it is the same sequence of operations for every argument, which a back end may have in line.
    pub fn is_sequence(self) -> bool {
        match self {
            LaneFunction::Exp | LaneFunction::Exp2 | LaneFunction::Expm1 | LaneFunction::Logistic => true,
            LaneFunction::Log | LaneFunction::Log2 | LaneFunction::Log10 | LaneFunction::Log1p => true,
            LaneFunction::LogAddExp | LaneFunction::LogAddExp2 | LaneFunction::Pow => true,
            LaneFunction::Sinh | LaneFunction::Cosh | LaneFunction::Tanh => true,
            LaneFunction::Sin | LaneFunction::Cos | LaneFunction::Tan => false,
            LaneFunction::Asin | LaneFunction::Acos | LaneFunction::Atan | LaneFunction::Atan2 => false,
            LaneFunction::Asinh | LaneFunction::Acosh | LaneFunction::Atanh => false,
            LaneFunction::Hypot | LaneFunction::Cbrt | LaneFunction::Rsqrt => false,
            LaneFunction::Erf | LaneFunction::Erfc | LaneFunction::Rem => false,
        }
    }
}
