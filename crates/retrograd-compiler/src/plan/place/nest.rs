//! What nests read, compute and leave behind.

use super::tree::{Nest, Placed, Root, Val};

impl Root {
    /// What is in memory, or in a register, afterwards.
    pub fn value(&self) -> &Val {
        match self {
            Root::Store { value, .. }
            | Root::Write { value, .. }
            | Root::Accumulate { value, .. }
            | Root::Reduce { value, .. } => value,
        }
    }

    /// What leaves the nest.
    pub fn source(&self) -> &Val {
        match self {
            Root::Store { source, .. }
            | Root::Write { source, .. }
            | Root::Accumulate { source, .. }
            | Root::Reduce { source, .. } => source,
        }
    }
}

impl Nest {
    /// Whether a value is computed here, or is a view of one that is.
    pub fn computes(&self, value: Val) -> bool {
        self.rows.iter().any(|item| item.result == value) || self.views.contains(&value)
    }

    /// Statements of one element, about.
    pub(super) fn statements(&self, placed: &Placed) -> usize {
        let values = self.rows.iter().map(|item| item.result).chain(self.roots.iter().map(|root| *root.source()));
        values.map(|value| placed.components(value, self.shape.len())).sum()
    }

    /// The axes of each of its sums over some of them.
    pub(super) fn accumulated(&self) -> impl Iterator<Item = &[usize]> {
        self.roots.iter().filter_map(|root| match root {
            Root::Accumulate { axes, .. } => Some(axes.as_slice()),
            Root::Store { .. } | Root::Write { .. } | Root::Reduce { .. } => None,
        })
    }

    /// All that it reads element by element, computed here or not.
    pub fn operands(&self) -> impl Iterator<Item = Val> + '_ {
        let indices = self.roots.iter().filter_map(|root| match root {
            Root::Write { index, .. } => index.as_ref().map(|index| index.given),
            Root::Store { .. } | Root::Accumulate { .. } | Root::Reduce { .. } => None,
        });
        self.rows
            .iter()
            .flat_map(|item| item.args.iter().copied())
            .chain(self.roots.iter().map(|root| *root.source()))
            .chain(indices)
    }

    pub(super) fn reads(&self, tell: &mut impl FnMut(Val)) {
        let members: std::collections::BTreeSet<Val> =
            self.rows.iter().map(|item| item.result).chain(self.views.iter().copied()).collect();
        self.operands().filter(|v| !members.contains(v)).for_each(&mut *tell);
        for root in &self.roots {
            if let Root::Write { base, window, .. } = root {
                tell(*base);
                window.dynamic.iter().for_each(|(start, _)| tell(*start));
            }
        }
    }
}
