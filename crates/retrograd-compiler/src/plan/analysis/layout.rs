//! The layout of records and held states.

use crate::ir::Type;

/// Where values of these types lie in a record or a held state, and the bytes of the whole, which are words.
///
/// ```
/// use retrograd_compiler::ir::{DType, Type};
/// use retrograd_compiler::plan::row_layout;
/// let types = [Type::scalar(DType::Bool), Type::f64([]), Type::new(DType::F32, [3])];
/// assert_eq!(row_layout(&types), (vec![20, 0, 8], 24));
/// ```
pub fn row_layout<'t>(types: impl IntoIterator<Item = &'t Type>) -> (Vec<u64>, u64) {
    let types: Vec<&Type> = types.into_iter().collect();
    let mut order: Vec<usize> = (0..types.len()).collect();
    // The widest elements first, so that no gap is needed before the others.
    order.sort_by_key(|k| std::cmp::Reverse(types[*k].dtype.bytes()));
    let (mut offsets, mut bytes) = (vec![0; types.len()], 0);
    for k in order {
        offsets[k] = bytes;
        // What no machine has stays at the largest number, so that it is refused when memory is asked for.
        bytes = u64::saturating_add(bytes, types[k].bytes() as u64);
    }
    (offsets, bytes.checked_next_multiple_of(8).unwrap_or(u64::MAX - 7))
}
