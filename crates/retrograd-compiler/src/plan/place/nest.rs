//! What nests read, compute and leave behind.

use super::tree::{Nest, Root, Val};

impl Root {
    /// What is in memory, or in a register, afterwards.
    pub fn value(&self) -> &Val {
        match self {
            Root::Store { value, .. } | Root::Write { value, .. } | Root::Reduce { value, .. } => value,
        }
    }

    /// What leaves the nest.
    pub fn source(&self) -> &Val {
        match self {
            Root::Store { source, .. } | Root::Write { source, .. } | Root::Reduce { source, .. } => source,
        }
    }
}

impl Nest {
    /// Whether a value is computed here.
    pub fn computes(&self, value: Val) -> bool {
        self.rows.iter().any(|item| item.result == value)
    }

    /// All that it reads element by element, computed here or not.
    pub fn operands(&self) -> impl Iterator<Item = Val> + '_ {
        let indices = self.roots.iter().filter_map(|root| match root {
            Root::Write { index, .. } => index.as_ref().map(|index| index.given),
            Root::Store { .. } | Root::Reduce { .. } => None,
        });
        self.rows.iter().flat_map(|item| item.args.iter().copied()).chain(self.roots.iter().map(|root| *root.source())).chain(indices)
    }

    pub(super) fn reads(&self, tell: &mut impl FnMut(Val)) {
        let members: std::collections::BTreeSet<Val> = self.rows.iter().map(|item| item.result).collect();
        self.operands().filter(|v| !members.contains(v)).for_each(&mut *tell);
        for root in &self.roots {
            if let Root::Write { base, window, .. } = root {
                tell(*base);
                window.dynamic.iter().for_each(|(start, _)| tell(*start));
            }
        }
    }
}
