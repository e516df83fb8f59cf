//! Attributes: what an op knows besides its arguments.

use super::array::Array;
use super::types::{DType, Type};
use serde::{Deserialize, Serialize};

/// One attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Attr {
    /// A list of integers: axes, extents, starts.
    Ints(Vec<i64>),
    /// An element type.
    DType(DType),
    /// A type.
    Type(Type),
    /// A literal.
    Array(Array),
    /// Words of the user.
    Text(String),
    /// It is there, and that is all; an instruction may be without it.
    Flag,
}

/// The name of the attribute of sums, differences and products that are rounded as they are written: no pass makes them
/// part of an `fma` or of a contraction, or adds in another order. Without it, an instruction is free: `opt` may.
pub const EXACT: &str = "exact";

/// What an attribute holds; its name decides, so that rows list names alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttrKind {
    Ints,
    DType,
    Type,
    Array,
    Text,
    Flag,
}

impl AttrKind {
    /// What the attribute of that name holds.
    pub(super) fn of(name: &str) -> AttrKind {
        match name {
            "value" => AttrKind::Array,
            "dtype" => AttrKind::DType,
            "type" => AttrKind::Type,
            "name" | "message" | "tag" => AttrKind::Text,
            EXACT => AttrKind::Flag,
            _ => AttrKind::Ints,
        }
    }

    /// In words, for messages.
    pub(super) fn words(self) -> &'static str {
        match self {
            AttrKind::Ints => "a list of integers that are not negative",
            AttrKind::DType => "an element type",
            AttrKind::Type => "a type",
            AttrKind::Array => "a literal",
            AttrKind::Text => "text between quotes",
            AttrKind::Flag => "nothing but its name",
        }
    }
}

/// Named attributes in the order of the row that reads them; one general form, so that printing and parsing are written
/// once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attrs(Vec<(&'static str, Attr)>);

impl Attrs {
    /// No attributes.
    pub fn none() -> Attrs {
        Attrs(Vec::new())
    }

    /// These attributes and one more.
    pub fn with(mut self, name: &'static str, attr: Attr) -> Attrs {
        self.0.push((name, attr));
        self
    }

    /// These attributes and one more list of integers.
    pub fn ints(self, name: &'static str, values: impl IntoIterator<Item = usize>) -> Attrs {
        // What no array has stays the largest number, which every shape rule refuses.
        self.with(name, Attr::Ints(values.into_iter().map(|v| i64::try_from(v).unwrap_or(i64::MAX)).collect()))
    }

    /// These attributes and [`EXACT`].
    #[must_use]
    pub fn exact(self) -> Attrs {
        if self.is_exact() { self } else { self.with(EXACT, Attr::Flag) }
    }

    /// These attributes without [`EXACT`].
    #[must_use]
    pub fn free(&self) -> Attrs {
        Attrs(self.0.iter().filter(|(name, _)| *name != EXACT).cloned().collect())
    }

    /// Whether the instruction is rounded as it is written.
    pub fn is_exact(&self) -> bool {
        self.get(EXACT).is_some()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &(&'static str, Attr)> {
        self.0.iter()
    }

    /// The attribute of that name.
    pub fn get(&self, name: &str) -> Option<&Attr> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, attr)| attr)
    }

    /// A list of non-negative integers. The verifier has checked that the row's attributes are there, so their absence
    /// is our bug.
    pub fn sizes(&self, name: &str) -> Vec<usize> {
        let Some(Attr::Ints(values)) = self.get(name) else {
            panic!("verified attributes: `{name}` must be a list of integers")
        };
        values.iter().map(|v| usize::try_from(*v).expect("verified attributes: sizes are not negative")).collect()
    }

    /// The first of a list of integers that are not negative; routines read it, so that nothing is allocated.
    pub fn size(&self, name: &str) -> usize {
        let Some(Attr::Ints(values)) = self.get(name) else {
            panic!("verified attributes: `{name}` must be a list of integers")
        };
        usize::try_from(values[0]).expect("verified attributes: sizes are not negative")
    }

    /// A list of integers where it is, so that nothing is allocated.
    pub fn numbers(&self, name: &str) -> &[i64] {
        let Some(Attr::Ints(values)) = self.get(name) else {
            panic!("verified attributes: `{name}` must be a list of integers")
        };
        values
    }

    /// A literal.
    pub fn array(&self, name: &str) -> &Array {
        let Some(Attr::Array(value)) = self.get(name) else {
            panic!("verified attributes: `{name}` must be a literal")
        };
        value
    }

    /// An element type.
    pub fn dtype(&self, name: &str) -> DType {
        let Some(Attr::DType(value)) = self.get(name) else {
            panic!("verified attributes: `{name}` must be an element type")
        };
        *value
    }

    /// Words of the user.
    pub fn text(&self, name: &str) -> &str {
        let Some(Attr::Text(value)) = self.get(name) else { panic!("verified attributes: `{name}` must be text") };
        value
    }

    /// A type.
    pub fn ty(&self, name: &str) -> &Type {
        let Some(Attr::Type(value)) = self.get(name) else { panic!("verified attributes: `{name}` must be a type") };
        value
    }
}
