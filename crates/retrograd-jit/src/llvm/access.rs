//! Loads and stores; in vector loops, what is invariant is computed once, before the loop.

use retrograd_compiler::ir::DType;
use retrograd_compiler::lower::kernel::{Address, Reg};

use super::lower::Lower;
use super::text::{Form, Text, Value, lanes_of};
use super::vector::{Lanes, Part, VecLoop};

/// Where the steps of a vector loop read or write.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) ty: DType,
    /// Everything but the loop's index and the lane terms.
    start: Value,
    /// Bytes from one step to the next.
    stride: i64,
    /// Registers that differ between lanes in some other way, with their strides.
    pub(super) scattered: Vec<(Reg, i64)>,
}

impl Access {
    /// Computes the invariant part of an address, here.
    pub(super) fn new(lower: &mut Lower<'_>, vec_loop: &VecLoop<'_>, ty: DType, address: &Address) -> Access {
        let mut start = vec_loop.uniform(address.base);
        let mut stride = 0;
        let mut scattered = Vec::new();
        for &(reg, bytes) in &address.terms {
            if reg == vec_loop.index {
                stride += bytes;
            } else if vec_loop.is_uniform(reg) {
                start = lower.text.scaled(&start, &vec_loop.uniform(reg), bytes);
            } else {
                scattered.push((reg, bytes));
            }
        }
        let start = lower.text.offset(&start, address.offset);
        Access { ty, start, stride, scattered }
    }

    /// One part of the lanes; lanes without a step are 0.
    pub(super) fn load(&self, lower: &mut Lower<'_>, vec_loop: &VecLoop<'_>, lanes: &Lanes<'_>, k: usize) -> Value {
        let part = lanes.parts[k];
        let form = Form::new(self.ty, part.lanes);
        if self.is_contiguous() {
            let at = self.first(lower, lanes, part);
            return lower.text.load_first(form, part.steps, &at);
        }
        if self.stride == 0 && self.scattered.is_empty() {
            let one = lower.text.load(Form::one(self.ty), &self.start);
            return lower.text.widen(form, &one);
        }
        let mut value = Value::new("zeroinitializer");
        for lane in 0..part.steps {
            let at = self.lane(lower, vec_loop, lanes, k, lane);
            let one = lower.text.load(Form::one(self.ty), &at);
            if part.lanes == 1 {
                return one;
            }
            value =
                lower.text.make(format_args!("insertelement {form} {value}, {} {one}, i32 {lane}", Form::one(self.ty)));
        }
        value
    }

    /// One part of the lanes.
    pub(super) fn store(
        &self,
        lower: &mut Lower<'_>,
        vec_loop: &VecLoop<'_>,
        lanes: &Lanes<'_>,
        k: usize,
        value: &Value,
    ) {
        let part = lanes.parts[k];
        let form = Form::new(self.ty, part.lanes);
        if self.is_contiguous() {
            let at = self.first(lower, lanes, part);
            lower.text.store_first(form, part.steps, &at, value);
            return;
        }
        for lane in 0..part.steps {
            let one = lower.text.lane(form, value, lane);
            let at = self.lane(lower, vec_loop, lanes, k, lane);
            lower.text.store(Form::one(self.ty), &at, &one);
        }
    }

    /// Whether the elements of consecutive steps lie side by side.
    fn is_contiguous(&self) -> bool {
        self.stride == self.ty.bytes() as i64 && self.scattered.is_empty()
    }

    /// Whether the elements of steps do not lie side by side.
    pub(super) fn is_apart(&self) -> bool {
        !self.is_contiguous() && (self.stride != 0 || !self.scattered.is_empty())
    }

    /// One part of the lanes of two numbers that lie side by side; lanes without a step are 0.
    pub(super) fn load_both(
        &self,
        lower: &mut Lower<'_>,
        vec_loop: &VecLoop<'_>,
        lanes: &Lanes<'_>,
        k: usize,
    ) -> [Value; 2] {
        let part = lanes.parts[k];
        let two = Form::new(self.ty, 2);
        let mut rows: Vec<Value> = vec![];
        for lane in 0..part.steps {
            let at = self.lane(lower, vec_loop, lanes, k, lane);
            rows.push(lower.text.load(two, &at));
        }
        rows.resize(part.lanes as usize, Value::new("zeroinitializer"));
        lower.text.exchanged(two, &rows)
    }

    /// Where the first lane of a part is.
    fn first(&self, lower: &mut Lower<'_>, lanes: &Lanes<'_>, part: Part) -> Value {
        let at = lower.text.scaled(&self.start, &lanes.index, self.stride);
        lower.text.offset(&at, self.stride * i64::from(part.lane))
    }

    /// Where one lane of a part is.
    pub(super) fn lane(
        &self,
        lower: &mut Lower<'_>,
        vec_loop: &VecLoop<'_>,
        lanes: &Lanes<'_>,
        k: usize,
        lane: u32,
    ) -> Value {
        let part = lanes.parts[k];
        let mut at = lower.text.scaled(&self.start, &lanes.index, self.stride);
        for &(reg, bytes) in &self.scattered {
            let value = vec_loop.value(lower, lanes, reg, k);
            let index = lower.text.lane(Form::new(DType::I64, part.lanes), &value, lane);
            at = lower.text.scaled(&at, &index, bytes);
        }
        lower.text.offset(&at, self.stride * i64::from(part.lane + lane))
    }
}

impl Text {
    /// Elements that lie side by side, as many as the form has lanes.
    pub(super) fn load(&mut self, form: Form, at: &Value) -> Value {
        let align = form.dtype.bytes();
        match form.dtype {
            DType::Bool => {
                let bytes = lanes_of(form.lanes, "i8");
                let byte = self.make(format_args!("load {bytes}, ptr {at}, align {align}"));
                self.make(format_args!("trunc {bytes} {byte} to {form}"))
            }
            DType::F32 | DType::F64 | DType::I32 | DType::I64 => {
                self.make(format_args!("load {form}, ptr {at}, align {align}"))
            }
        }
    }

    pub(super) fn store(&mut self, form: Form, at: &Value, value: &Value) {
        let align = form.dtype.bytes();
        match form.dtype {
            DType::Bool => {
                let bytes = lanes_of(form.lanes, "i8");
                let byte = self.make(format_args!("zext {form} {value} to {bytes}"));
                self.act(format_args!("store {bytes} {byte}, ptr {at}, align {align}"));
            }
            DType::F32 | DType::F64 | DType::I32 | DType::I64 => {
                self.act(format_args!("store {form} {value}, ptr {at}, align {align}"))
            }
        }
    }

    /// Of rows of two numbers, as many as a vector has lanes, the first numbers and the second ones.
    fn exchanged(&mut self, two: Form, rows: &[Value]) -> [Value; 2] {
        if let [row] = rows {
            return [0, 1].map(|number| self.lane(two, row, number));
        }
        // Rows with even and with odd numbers side by side: then one instruction takes the numbers of both by turns.
        let [even, odd] = [0, 1].map(|first| {
            let rows = rows.iter().skip(first).step_by(2).cloned().collect();
            self.concatenated(two, rows)
        });
        let lanes = rows.len() as u32;
        let form = Form { lanes, ..two };
        [0, 1].map(|number| self.shuffle(form, &even, &odd, &by_turns(lanes, number)))
    }

    /// The numbers of one lane of two vectors.
    pub(super) fn lane_of_both(&mut self, form: Form, x: &Value, y: &Value, lane: u32) -> Value {
        if form.lanes == 1 {
            let two = Form { lanes: 2, ..form };
            let first = self.make(format_args!("insertelement {two} poison, {form} {x}, i32 0"));
            return self.make(format_args!("insertelement {two} {first}, {form} {y}, i32 1"));
        }
        let both = self.shuffle(form, x, y, &by_turns(form.lanes, lane % 2));
        if form.lanes == 2 {
            return both;
        }
        let first = lane - lane % 2;
        self.shuffle(form, &both, &Value::new("poison"), &[first, first + 1])
    }

    /// Vectors of one form as one.
    fn concatenated(&mut self, form: Form, mut vectors: Vec<Value>) -> Value {
        let mut form = form;
        while vectors.len() > 1 {
            let numbers: Vec<u32> = (0..2 * form.lanes).collect();
            vectors = vectors.chunks(2).map(|two| self.shuffle(form, &two[0], &two[1], &numbers)).collect();
            form.lanes *= 2;
        }
        vectors.remove(0)
    }

    /// The first lanes only, and 0 in the others.
    fn load_first(&mut self, form: Form, count: u32, at: &Value) -> Value {
        if count == form.lanes {
            return self.load(form, at);
        }
        let mut value = Value::new("zeroinitializer");
        for (first, size) in pieces(count) {
            let piece = Form::new(form.dtype, size);
            let at = self.offset(at, i64::from(first) * form.dtype.bytes() as i64);
            let loaded = self.load(piece, &at);
            value = self.put(form, &value, piece, &loaded, first);
        }
        value
    }

    fn store_first(&mut self, form: Form, count: u32, at: &Value, value: &Value) {
        if count == form.lanes {
            return self.store(form, at, value);
        }
        for (first, size) in pieces(count) {
            let numbers: Vec<u32> = (first..first + size).collect();
            let piece = self.shuffle(form, value, &Value::new("poison"), &numbers);
            let at = self.offset(at, i64::from(first) * form.dtype.bytes() as i64);
            self.store(Form::new(form.dtype, size), &at, &piece);
        }
    }

    /// A vector with a piece of it replaced.
    fn put(&mut self, form: Form, whole: &Value, piece: Form, value: &Value, first: u32) -> Value {
        if piece.lanes == 1 {
            return self.make(format_args!("insertelement {form} {whole}, {piece} {value}, i32 {first}"));
        }
        let numbers: Vec<u32> = (0..form.lanes).map(|lane| lane.wrapping_sub(first).min(piece.lanes - 1)).collect();
        let spread = self.shuffle(piece, value, &Value::new("poison"), &numbers);
        let inside = |lane: u32| (first..first + piece.lanes).contains(&lane);
        let numbers: Vec<u32> =
            (0..form.lanes).map(|lane| if inside(lane) { lane + form.lanes } else { lane }).collect();
        self.shuffle(form, whole, &spread, &numbers)
    }
}

/// Every second lane of two vectors, of one and of the other by turns.
fn by_turns(lanes: u32, first: u32) -> Vec<u32> {
    (0..lanes).map(|lane| lane - lane % 2 + first + if lane % 2 == 0 { 0 } else { lanes }).collect()
}

/// First lanes and sizes, powers of two, that cover so many lanes.
fn pieces(count: u32) -> Vec<(u32, u32)> {
    let sizes = (0..8).rev().map(|power| 1 << power).filter(|size| count & size != 0);
    sizes.scan(0, |first, size| Some((std::mem::replace(first, *first + size), size))).collect()
}
