//! Masks: one truth value per parameter, result or value.

/// Both hold.
pub(super) fn and(a: &[bool], b: &[bool]) -> Vec<bool> {
    assert_eq!(a.len(), b.len(), "masks of one list have one length");
    a.iter().zip(b).map(|(a, b)| *a && *b).collect()
}

/// At least one holds.
pub(super) fn or(a: &[bool], b: &[bool]) -> Vec<bool> {
    assert_eq!(a.len(), b.len(), "masks of one list have one length");
    a.iter().zip(b).map(|(a, b)| *a || *b).collect()
}

/// Adds marks; says whether any was new.
pub(super) fn grow(marks: &mut Vec<bool>, more: &[bool]) -> bool {
    let grown = or(marks, more);
    let changed = grown != *marks;
    *marks = grown;
    changed
}

/// Any holds.
pub(super) fn any(marks: &[bool]) -> bool {
    marks.contains(&true)
}

/// Where something is present.
pub(super) fn present<T>(list: &[Option<T>]) -> Vec<bool> {
    list.iter().map(Option::is_some).collect()
}

/// The marked items.
pub(super) fn pick<T: Clone>(list: &[T], marks: &[bool]) -> Vec<T> {
    assert_eq!(list.len(), marks.len(), "a mask has one mark per item");
    list.iter().zip(marks).filter(|(_, mark)| **mark).map(|(item, _)| item.clone()).collect()
}

/// The items at their marked places, nothing elsewhere: the inverse of [`pick`].
pub(super) fn spread<T: Copy>(items: &[T], marks: &[bool]) -> Vec<Option<T>> {
    let mut items = items.iter();
    let spread = marks.iter().map(|mark| mark.then(|| *items.next().expect("as many items as marks"))).collect();
    assert!(items.next().is_none(), "as many marks as items");
    spread
}
