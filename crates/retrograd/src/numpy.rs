//! What NumPy does around the op table, for every front end: promotion, broadcasting, windows, products.
//!
//! The rows take operands of one type; these methods insert the conversions, broadcasts and reshapes that make them so.

use retrograd_compiler::ir::{Array, Attr, Attrs, DType, Error, ErrorKind, Lowering, OpDef, Pos, Scalar, Type};
use retrograd_compiler::ops;

use crate::trace::{Traced, Tracer};

/// Where a window starts along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At a place that is known while tracing.
    At(usize),
    /// At an i64 scalar of the trace.
    Value(Traced),
}

/// What is read or written along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// One element; the axis goes away.
    Index(Start),
    /// `size` elements, `step` apart; the axis stays.
    Window {
        /// The first element.
        start: Start,
        /// How many.
        size: usize,
        /// From one to the next; backwards, from a start that is known while tracing, where it is negative.
        step: isize,
    },
    /// All elements.
    All,
}

impl Tracer {
    /// An array whose elements are all this number.
    pub fn full(&self, ty: &Type, x: f64, pos: &Pos) -> Result<Traced, Error> {
        let scalar = self.constant(Array::number(ty.dtype, x), pos);
        self.broadcast_to(scalar, &ty.shape, pos)
    }

    /// The indices 0, 1, … along one axis of a new array.
    pub fn iota(&self, ty: &Type, axis: usize, pos: &Pos) -> Result<Traced, Error> {
        self.op(&ops::IOTA, Attrs::none().with("type", Attr::Type(ty.clone())).ints("axis", [axis]), &[], pos)
    }

    /// To another element type; nothing where it has it already.
    pub fn convert(&self, v: Traced, dtype: DType, pos: &Pos) -> Result<Traced, Error> {
        if self.ty(v).dtype == dtype {
            return Ok(v);
        }
        // A number such as the 2 of `x * 2` becomes a literal of the right type at once.
        match self.literal(v) {
            Some(literal) => {
                let ty = Type::new(dtype, literal.shape());
                let converted = ops::evaluate(Scalar::Convert(dtype), &[&literal], &ty).expect("conversions are total");
                Ok(self.constant(converted, pos))
            }
            None => self.op(&ops::CONVERT, Attrs::none().with("dtype", Attr::DType(dtype)), &[v], pos),
        }
    }

    /// An elementwise row over operands that broadcast; i64 next to a float becomes that float.
    pub fn elementwise(&self, def: &'static OpDef, args: &[Traced], pos: &Pos) -> Result<Traced, Error> {
        let data = if def.lowering == Lowering::Map(Scalar::Select) { 1 } else { 0 };
        let mut args = args.to_vec();
        let float = args[data..].iter().map(|v| self.ty(*v).dtype).find(|dtype| dtype.is_float());
        for v in &mut args[data..] {
            *v = self.beside(*v, float, pos)?;
        }
        let types: Vec<Type> = args.iter().map(|v| self.ty(*v)).collect();
        let shape = common_shape(&types).ok_or_else(|| {
            let found: Vec<String> = types.iter().map(Type::to_string).collect();
            let message = format!(
                "`{}` cannot broadcast {}; extents of an axis must be equal, or 1",
                def.name,
                found.join(" with ")
            );
            Error::new(ErrorKind::Shape, pos.clone(), message)
        })?;
        if let Some(other) = types[data..].iter().find(|ty| ty.dtype != types[data].dtype) {
            let message = format!(
                "`{}` takes one element type, found {} and {other}; `convert` one of them",
                def.name, types[data]
            );
            return Err(Error::new(ErrorKind::DType, pos.clone(), message));
        }
        let args: Vec<Traced> = args.iter().map(|v| self.broadcast_to(*v, &shape, pos)).collect::<Result<_, _>>()?;
        self.op(def, Attrs::none(), &args, pos)
    }

    /// An i64 as the float that stands beside it, where one does.
    fn beside(&self, v: Traced, float: Option<DType>, pos: &Pos) -> Result<Traced, Error> {
        match float {
            Some(float) if self.ty(v).dtype == DType::I64 => self.convert(v, float, pos),
            Some(_) | None => Ok(v),
        }
    }

    /// Repeated to a shape as NumPy does: new axes in front, axes of extent 1 stretched.
    pub fn broadcast_to(&self, v: Traced, shape: &[usize], pos: &Pos) -> Result<Traced, Error> {
        let from = self.ty(v);
        if from.shape == shape {
            return Ok(v);
        }
        let new = shape.len().checked_sub(from.rank());
        let fits =
            new.is_some_and(|new| from.shape.iter().zip(&shape[new..]).all(|(from, to)| from == to || *from == 1));
        let (true, Some(new)) = (fits, new) else {
            let message = format!("{from} does not broadcast to shape {shape:?}");
            return Err(Error::new(ErrorKind::Shape, pos.clone(), message));
        };
        // The row repeats along new axes only, so that axes to be stretched are removed first.
        let kept: Vec<usize> = (0..from.rank()).filter(|axis| from.shape[*axis] == shape[new + axis]).collect();
        let v = self.reshape(v, &kept.iter().map(|axis| from.shape[*axis]).collect::<Vec<_>>(), pos)?;
        let attrs = Attrs::none().ints("shape", shape.iter().copied()).ints("axes", kept.iter().map(|axis| new + axis));
        self.op(&ops::BROADCAST, attrs, &[v], pos)
    }

    /// The same elements under another shape.
    pub fn reshape(&self, v: Traced, shape: &[usize], pos: &Pos) -> Result<Traced, Error> {
        if self.ty(v).shape == shape {
            return Ok(v);
        }
        self.op(&ops::RESHAPE, Attrs::none().ints("shape", shape.iter().copied()), &[v], pos)
    }

    /// Axes in another order: axis k of the result is axis `axes[k]` of the argument.
    pub fn transpose(&self, v: Traced, axes: &[usize], pos: &Pos) -> Result<Traced, Error> {
        self.op(&ops::TRANSPOSE, Attrs::none().ints("axes", axes.iter().copied()), &[v], pos)
    }

    /// These axes backwards, in any order.
    pub fn flip(&self, v: Traced, axes: &[usize], pos: &Pos) -> Result<Traced, Error> {
        let mut axes = axes.to_vec();
        axes.sort_unstable();
        self.op(&ops::REVERSE, Attrs::none().ints("axes", axes), &[v], pos)
    }

    /// Sum over axes, in any order.
    pub fn sum(&self, v: Traced, axes: &[usize], pos: &Pos) -> Result<Traced, Error> {
        let mut axes = axes.to_vec();
        axes.sort_unstable();
        self.op(&ops::SUM, Attrs::none().ints("axes", axes), &[v], pos)
    }

    /// `numpy.dot`: the last axis of the first against the last but one of the second (the only one, of a vector); of
    /// scalars the product.
    pub fn dot(&self, a: Traced, b: Traced, pos: &Pos) -> Result<Traced, Error> {
        let (lhs, rhs) = (self.ty(a).rank(), self.ty(b).rank());
        if lhs == 0 || rhs == 0 {
            return self.elementwise(&ops::MUL, &[a, b], pos);
        }
        let contract = [lhs - 1, rhs.saturating_sub(2)];
        let attrs = Attrs::none().ints("lhs_contract", [contract[0]]).ints("rhs_contract", [contract[1]]);
        self.op(&ops::DOT, attrs.ints("lhs_batch", []).ints("rhs_batch", []), &[a, b], pos)
    }

    /// `numpy.matmul`: matrices in the last two axes, the axes before them broadcast; a vector is a row on the left, a
    /// column on the right.
    pub fn matmul(&self, a: Traced, b: Traced, pos: &Pos) -> Result<Traced, Error> {
        let (lhs, rhs) = (self.ty(a), self.ty(b));
        if lhs.rank() == 0 || rhs.rank() == 0 {
            let message = format!("`matmul` takes arrays, found {lhs} and {rhs}; multiply by a scalar with `*`");
            return Err(Error::new(ErrorKind::Shape, pos.clone(), message));
        }
        if lhs.rank() <= 2 && rhs.rank() <= 2 {
            return self.dot(a, b, pos);
        }
        // A vector takes part in every product of the batch as a matrix, whose axis of extent 1 is removed at the end.
        let matrix_a = if lhs.rank() == 1 { [1, lhs.shape[0]] } else { last_two(&lhs.shape) };
        let matrix_b = if rhs.rank() == 1 { [rhs.shape[0], 1] } else { last_two(&rhs.shape) };
        let batch_of = |ty: &Type| Type::new(ty.dtype, &ty.shape[..ty.rank().saturating_sub(2)]);
        let batch = common_shape(&[batch_of(&lhs), batch_of(&rhs)]).ok_or_else(|| {
            let message = format!(
                "`matmul` cannot broadcast {lhs} with {rhs}; extents before the last two axes must be equal, or 1"
            );
            Error::new(ErrorKind::Shape, pos.clone(), message)
        })?;
        let spread = |v: Traced, ty: &Type, matrix: [usize; 2]| {
            let own = [&batch_of(ty).shape[..], &matrix].concat();
            let v = self.reshape(v, &own, pos)?;
            self.broadcast_to(v, &[&batch[..], &matrix].concat(), pos)
        };
        let (a, b) = (spread(a, &lhs, matrix_a)?, spread(b, &rhs, matrix_b)?);
        let axes: Vec<usize> = (0..batch.len()).collect();
        let attrs = Attrs::none().ints("lhs_contract", [batch.len() + 1]).ints("rhs_contract", [batch.len()]);
        let product =
            self.op(&ops::DOT, attrs.ints("lhs_batch", axes.clone()).ints("rhs_batch", axes), &[a, b], pos)?;
        let mut shape = batch;
        shape.extend((lhs.rank() > 1).then_some(matrix_a[0]));
        shape.extend((rhs.rank() > 1).then_some(matrix_b[1]));
        self.reshape(product, &shape, pos)
    }

    /// Arrays one behind the other along an axis, written into one array.
    pub fn concat(&self, parts: &[Traced], axis: usize, pos: &Pos) -> Result<Traced, Error> {
        let types: Vec<Type> = parts.iter().map(|v| self.ty(*v)).collect();
        let without_axis = |ty: &Type| {
            let mut ty = ty.clone();
            (axis < ty.rank()).then(|| ty.shape.remove(axis)).map(|_| ty)
        };
        let first = without_axis(&types[0]);
        if let Some(other) = types.iter().find(|ty| first.is_none() || without_axis(ty) != first) {
            let message = format!(
                "{} and {other} cannot be joined along axis {axis}; their other extents must be equal",
                types[0]
            );
            return Err(Error::new(ErrorKind::Shape, pos.clone(), message));
        }
        let mut whole = types[0].clone();
        whole.shape[axis] = types.iter().map(|ty| ty.shape[axis]).sum();
        let (mut joined, mut start) = (self.full(&whole, 0.0, pos)?, 0);
        for (part, ty) in parts.iter().zip(&types) {
            let mut place = vec![Along::All; axis];
            place.push(Along::Window { start: Start::At(start), size: ty.shape[axis], step: 1 });
            joined = self.write(&ops::UPDATE, joined, &place, *part, pos)?;
            start += ty.shape[axis];
        }
        Ok(joined)
    }

    /// The elements at a place; axes that are not mentioned are read whole.
    pub fn read(&self, v: Traced, place: &[Along], pos: &Pos) -> Result<Traced, Error> {
        let window = self.window(v, place, pos)?;
        let ty = self.ty(v);
        if window.is_whole(&ty) {
            return self.reshape(v, &window.shape, pos);
        }
        let read = match window.fixed() {
            Some(start) => {
                let stop = (0..ty.rank()).map(|k| start[k] + span(window.sizes[k], window.step[k]));
                let attrs = Attrs::none().ints("start", start.iter().copied()).ints("stop", stop.collect::<Vec<_>>());
                self.op(&ops::SLICE, attrs.ints("step", window.step.iter().copied()), &[v], pos)
            }
            None => {
                let attrs =
                    Attrs::none().ints("sizes", window.sizes.iter().copied()).ints("step", window.step.iter().copied());
                self.op(&ops::DYNAMIC_SLICE, attrs, &[vec![v], self.starts(&window, pos)?].concat(), pos)
            }
        }?;
        let read = self.reshape(read, &window.shape, pos)?;
        self.turned(read, &window, pos)
    }

    /// What stands in a window in the order in which it was asked for, or the other way round.
    fn turned(&self, v: Traced, window: &Window, pos: &Pos) -> Result<Traced, Error> {
        if window.backwards.is_empty() { Ok(v) } else { self.flip(v, &window.backwards, pos) }
    }

    /// A new array with the elements at a place replaced ([`ops::UPDATE`]) or added to ([`ops::ADD_AT`]); the value
    /// broadcasts.
    pub fn write(
        &self,
        def: &'static OpDef,
        v: Traced,
        place: &[Along],
        value: Traced,
        pos: &Pos,
    ) -> Result<Traced, Error> {
        let window = self.window(v, place, pos)?;
        let value = self.beside(value, Some(self.ty(v).dtype).filter(|dtype| dtype.is_float()), pos)?;
        let value = self.broadcast_to(value, &window.shape, pos)?;
        let value = self.reshape(self.turned(value, &window, pos)?, &window.sizes, pos)?;
        let attrs = Attrs::none().ints("step", window.step.iter().copied());
        self.op(def, attrs, &[vec![v, value], self.starts(&window, pos)?].concat(), pos)
    }

    fn starts(&self, window: &Window, pos: &Pos) -> Result<Vec<Traced>, Error> {
        let start = |start: &Start| match start {
            Start::At(k) => Ok(self.constant(Array::int(*k as i64), pos)),
            Start::Value(v) => self.index(*v, pos),
        };
        window.starts.iter().map(start).collect()
    }

    /// An index or a count: i64, which an i32 becomes.
    pub(crate) fn index(&self, v: Traced, pos: &Pos) -> Result<Traced, Error> {
        if self.ty(v).dtype == DType::I32 { self.convert(v, DType::I64, pos) } else { Ok(v) }
    }

    fn window(&self, v: Traced, place: &[Along], pos: &Pos) -> Result<Window, Error> {
        let ty = self.ty(v);
        if place.len() > ty.rank() {
            let message = format!("{} indices for the {} axes of {ty}", place.len(), ty.rank());
            return Err(Error::new(ErrorKind::Shape, pos.clone(), message));
        }
        let mut window = Window { starts: vec![], sizes: vec![], step: vec![], shape: vec![], backwards: vec![] };
        for axis in 0..ty.rank() {
            let along = self.known_start(place.get(axis).copied().unwrap_or(Along::All));
            window.push(along, ty.shape[axis]).map_err(|message| {
                Error::new(
                    ErrorKind::Shape,
                    pos.clone(),
                    format!("{message} axis {axis} of {ty}, which has {} elements", ty.shape[axis]),
                )
            })?;
        }
        Ok(window)
    }

    /// A start that is a literal is a fixed place; one that does not fit stays a value, so that the run reports it.
    fn known_start(&self, along: Along) -> Along {
        let known = |start: Start| match start {
            Start::Value(v) => match self.literal(v) {
                Some(literal) if literal.ty() == Type::scalar(DType::I64) => {
                    usize::try_from(literal.as_i64()[0]).map_or(start, Start::At)
                }
                Some(_) | None => start,
            },
            Start::At(_) => start,
        };
        match along {
            Along::Index(start) => Along::Index(known(start)),
            Along::Window { start, size, step } => Along::Window { start: known(start), size, step },
            Along::All => Along::All,
        }
    }
}

/// A window of an array: one entry per axis, and the shape without the axes that were indexed.
struct Window {
    starts: Vec<Start>,
    sizes: Vec<usize>,
    step: Vec<usize>,
    shape: Vec<usize>,
    /// Axes of the shape that are asked for from the last element on.
    backwards: Vec<usize>,
}

impl Window {
    fn push(&mut self, along: Along, extent: usize) -> Result<(), String> {
        let (start, size, step) = match along {
            Along::Index(start) => (start, 1, 1),
            Along::Window { start, size, step } => (start, size, step),
            Along::All => (Start::At(0), extent, 1),
        };
        if step == 0 {
            return Err("a step of 0 along".into());
        }
        let distance = step.unsigned_abs();
        let first = match start {
            Start::At(k) => k,
            Start::Value(_) if step < 0 => return Err("a window backwards from a computed place along".into()),
            Start::Value(_) => 0,
        };
        // The lowest element of a window that goes backwards is its last.
        let lowest = if step < 0 { (first + 1).checked_sub(span(size, distance).max(1)) } else { Some(first) };
        if lowest.is_none_or(|lowest| lowest + span(size, distance) > extent) {
            return Err(match along {
                Along::Index(_) => format!("index {first} is outside"),
                Along::Window { .. } | Along::All => {
                    format!("a window of {size} elements from {first} by {step} is outside")
                }
            });
        }
        if step < 0 {
            self.backwards.push(self.shape.len());
        }
        self.starts.push(lowest.filter(|_| step < 0).map_or(start, Start::At));
        self.sizes.push(size);
        self.step.push(distance);
        match along {
            Along::Index(_) => {}
            Along::Window { .. } | Along::All => self.shape.push(size),
        }
        Ok(())
    }

    /// The starts, where all are known.
    fn fixed(&self) -> Option<Vec<usize>> {
        let known = |start: &Start| match start {
            Start::At(k) => Some(*k),
            Start::Value(_) => None,
        };
        self.starts.iter().map(known).collect()
    }

    fn is_whole(&self, ty: &Type) -> bool {
        self.sizes == ty.shape && self.step.iter().all(|step| *step == 1) && self.fixed().is_some()
    }
}

/// Elements from the first to the last of a window, both included.
fn span(size: usize, step: usize) -> usize {
    if size == 0 { 0 } else { (size - 1) * step + 1 }
}

pub(crate) fn last_two(shape: &[usize]) -> [usize; 2] {
    [shape[shape.len() - 2], shape[shape.len() - 1]]
}

/// The shape to which all of these broadcast.
pub(crate) fn common_shape(types: &[Type]) -> Option<Vec<usize>> {
    let rank = types.iter().map(Type::rank).max().unwrap_or(0);
    let mut shape = vec![1; rank];
    for ty in types {
        for (extent, found) in shape[rank - ty.rank()..].iter_mut().zip(&ty.shape) {
            match (*extent, *found) {
                (a, b) if a == b => {}
                (1, b) => *extent = b,
                (_, 1) => {}
                _ => return None,
            }
        }
    }
    Some(shape)
}
