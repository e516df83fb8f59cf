//! Reads and writes at run-time indices: accesses whose index along one axis is a register of its own for every
//! element.

use super::flatten::{Flatten, Scope};
use super::group::Raw;
use super::tree::{Access, Index, Val};
use crate::ir::{Array, Attr, Attrs, DType, ErrorKind, Indexing, OpDef, Pos, Type, Write};
use crate::ops;

impl Flatten<'_> {
    /// Elements of an array at run-time indices: code of a nest, or a view where there is one index for all.
    #[allow(clippy::too_many_arguments, reason = "the parts of an instruction")]
    pub(super) fn pick(
        &mut self,
        def: &'static OpDef,
        indexing: Indexing,
        attrs: &Attrs,
        args: &[Val],
        ty: &Type,
        pos: &Pos,
        scope: &mut Scope,
    ) -> Val {
        let (x, given, axis) = (args[0], args[1], attrs.sizes("axis")[0]);
        let from = self.placed.ty(x).clone();
        if !self.reaches(&from, given, axis, ty, pos, scope) {
            let zero = self.zero(ty.dtype, pos, scope);
            return self.repeated(zero, ty);
        }
        let access = self.placed.access(x).clone();
        if self.placed.is_scalar(given) {
            let access = self.one_index(access, given, axis, &from, pos, scope);
            let result = self.placed.define(ty.clone());
            return self.seen(result, access, scope);
        }
        let (access, index) = self.indexed(access, given, indexing, axis, &from, pos);
        let view = self.placed.define(ty.clone());
        self.placed.access[view.0 as usize] = access;
        let result = self.push(def, attrs.clone(), vec![view, index.given], ty.clone(), pos, scope);
        self.placed.picks.insert(result, index);
        result
    }

    /// An array with elements written at run-time indices.
    pub(super) fn scatter(
        &mut self,
        indexing: Indexing,
        how: Write,
        attrs: &Attrs,
        args: &[Val],
        pos: &Pos,
        scope: &mut Scope,
    ) -> Val {
        let (source, given, axis) = (args[1], args[2], attrs.sizes("axis")[0]);
        let (ty, update) = (self.placed.ty(args[0]).clone(), self.placed.ty(source).clone());
        if !self.reaches(&ty, given, axis, &update, pos, scope) {
            return args[0];
        }
        let base = self.in_memory(args[0], scope);
        let value = self.placed.define(ty.clone());
        let whole = Access::whole(value, &ty);
        let (window, index) = if self.placed.is_scalar(given) {
            (self.one_index(whole, given, axis, &ty, pos, scope), None)
        } else {
            let (window, index) = self.indexed(whole, given, indexing, axis, &ty, pos);
            (window, Some(index))
        };
        scope.raws.push(Raw::Write { value, base, source, window, index, how });
        value
    }

    /// Whether any element is reached. Indices are checked also where none is; into an axis without elements all are
    /// out of bounds.
    fn reaches(&mut self, x: &Type, given: Val, axis: usize, elements: &Type, pos: &Pos, scope: &mut Scope) -> bool {
        let indices = self.placed.ty(given).clone();
        if indices.elements() == 0 || (x.shape[axis] > 0 && elements.elements() > 0) {
            return elements.elements() > 0;
        }
        if x.shape[axis] == 0 {
            let zero = self.zero(DType::I64, pos, scope);
            self.clamp(zero, -1, 0, pos, scope);
        } else {
            // Read from a number that is repeated: nothing but the check is left of it.
            let zero = self.zero(DType::F64, pos, scope);
            let x = self.repeated(zero, &Type::f64([x.shape[axis]]));
            let attrs = Attrs::none().ints("axis", [0]);
            let ty = Type::f64(indices.shape);
            self.pick(&ops::GATHER, Indexing::Rows, &attrs, &[x, given], &ty, pos, scope);
        }
        false
    }

    fn zero(&mut self, dtype: DType, pos: &Pos, scope: &mut Scope) -> Val {
        let ty = Type::scalar(dtype);
        let attrs = Attrs::none().with("value", Attr::Array(Array::zeros(&ty)));
        self.push(&ops::CONSTANT, attrs, vec![], ty, pos, scope)
    }

    /// A number all over.
    fn repeated(&mut self, number: Val, ty: &Type) -> Val {
        let result = self.placed.define(ty.clone());
        let access = Access { root: number, strides: vec![0; ty.rank()], offset: 0, dynamic: vec![] };
        self.placed.access[result.0 as usize] = access;
        result
    }

    /// An access at one index along an axis, which vanishes.
    fn one_index(
        &mut self,
        mut access: Access,
        given: Val,
        axis: usize,
        x: &Type,
        pos: &Pos,
        scope: &mut Scope,
    ) -> Access {
        let extent = x.shape[axis];
        let clamped = self.clamp(given, extent as i64 - 1, extent, pos, scope);
        let stride = access.strides.remove(axis);
        access.dynamic.push((clamped, stride));
        access
    }

    /// An access at an index of its own for every element of (a…, i…, b…), or of the shape of the indices.
    fn indexed(
        &mut self,
        mut access: Access,
        given: Val,
        indexing: Indexing,
        axis: usize,
        x: &Type,
        pos: &Pos,
    ) -> (Access, Index) {
        let extent = x.shape[axis];
        let last = extent as i64 - 1;
        let site = self.placed.fault(
            ErrorKind::Bounds,
            pos,
            format!("an index is outside 0..={last} on an axis of {extent} elements"),
        );
        let clamped = self.placed.define(Type::scalar(DType::I64));
        access.dynamic.push((clamped, access.strides[axis]));
        let rank = self.placed.ty(given).rank();
        let (given, meets) = match indexing {
            Indexing::Elements => {
                access.strides[axis] = 0;
                (given, vec![axis])
            }
            Indexing::Rows => {
                access.strides.splice(axis..=axis, vec![0; rank]);
                (self.spread(given, axis, x), (axis..axis + rank).collect())
            }
        };
        (access, Index { given, clamped, last, site, meets })
    }

    /// Indices (i…) as a view of shape (a…, i…, b…).
    fn spread(&mut self, given: Val, axis: usize, x: &Type) -> Val {
        let indices = self.placed.ty(given).clone();
        if x.rank() == 1 {
            return given;
        }
        let mut access = self.placed.access(given).clone();
        let (before, after) = (vec![0; axis], vec![0; x.rank() - axis - 1]);
        access.strides = [&before[..], &access.strides, &after].concat();
        let shape = [&x.shape[..axis], &indices.shape, &x.shape[axis + 1..]].concat();
        let view = self.placed.define(Type::new(indices.dtype, shape));
        self.placed.access[view.0 as usize] = access;
        view
    }
}
