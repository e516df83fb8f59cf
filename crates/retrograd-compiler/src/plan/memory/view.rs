//! How views compose: each view op as a change of strides and offset.

use super::tree::{Access, Val};
use crate::ir::{Attrs, Type, View};

/// The access of a view op over an operand reached by `access`, or `None` where it is not affine and the operand must
/// be copied first. `starts` are the indices of a dynamic slice: a register, or a number known at compile time.
pub(super) fn compose(
    view: View,
    attrs: &Attrs,
    access: &Access,
    operand: &Type,
    result: &Type,
    starts: &[Start],
) -> Option<Access> {
    let mut access = access.clone();
    match view {
        View::Broadcast => {
            let mut strides = vec![0; result.rank()];
            for (axis, stride) in attrs.sizes("axes").into_iter().zip(&access.strides) {
                strides[axis] = *stride;
            }
            access.strides = strides;
        }
        View::Transpose => access.strides = attrs.sizes("axes").into_iter().map(|axis| access.strides[axis]).collect(),
        View::Reverse => {
            for axis in attrs.sizes("axes") {
                access.offset += (result.shape[axis] as i64 - 1).max(0) * access.strides[axis];
                access.strides[axis] = -access.strides[axis];
            }
        }
        View::Slice => {
            for (axis, (start, step)) in attrs.sizes("start").into_iter().zip(attrs.sizes("step")).enumerate() {
                access.offset += start as i64 * access.strides[axis];
                access.strides[axis] *= step as i64;
            }
        }
        View::DynamicSlice => window(&mut access, &attrs.sizes("step"), starts),
        View::Reshape => access.strides = reshape(&access, &operand.shape, &result.shape)?,
    }
    Some(access)
}

/// The start of a window along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Known at compile time.
    Fixed(i64),
    /// A clamped i64 register.
    Register(Val),
}

/// Narrows an access to a window.
pub(super) fn window(access: &mut Access, steps: &[usize], starts: &[Start]) {
    for (axis, start) in starts.iter().enumerate() {
        let stride = access.strides[axis];
        match start {
            Start::Fixed(start) => access.offset += start * stride,
            Start::Register(value) => access.dynamic.push((*value, stride)),
        }
        access.strides[axis] = stride * steps[axis] as i64;
    }
}

/// Strides of the same elements under another shape: exact for contiguous operands, and where only axes of extent 1
/// come and go.
fn reshape(access: &Access, from: &[usize], to: &[usize]) -> Option<Vec<i64>> {
    if access.is_contiguous(from) {
        return Some(Type::f64(to).strides().iter().map(|s| *s as i64).collect());
    }
    let long = |shape: &[usize]| shape.iter().copied().filter(|extent| *extent != 1).collect::<Vec<_>>();
    if long(from) != long(to) {
        return None;
    }
    let mut strides = from.iter().zip(&access.strides).filter(|(extent, _)| **extent != 1).map(|(_, stride)| *stride);
    Some(to.iter().map(|extent| if *extent == 1 { 0 } else { strides.next().expect("as many long axes") }).collect())
}
