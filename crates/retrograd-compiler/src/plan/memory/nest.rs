//! What nests read, compute and leave behind.

use super::tree::{Nest, NestOutput, Placed, Val};

impl NestOutput {
    /// What is in memory, or in a register, afterwards.
    pub fn value(&self) -> &Val {
        match self {
            NestOutput::Store { value, .. }
            | NestOutput::Write { value, .. }
            | NestOutput::Accumulate { value, .. }
            | NestOutput::Reduce { value, .. } => value,
        }
    }

    /// What leaves the nest.
    pub fn source(&self) -> &Val {
        match self {
            NestOutput::Store { source, .. }
            | NestOutput::Write { source, .. }
            | NestOutput::Accumulate { source, .. }
            | NestOutput::Reduce { source, .. } => source,
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
        let values = self.rows.iter().map(|item| item.result).chain(self.outputs.iter().map(|root| *root.source()));
        values.map(|value| placed.components(value, self.shape.len())).sum()
    }

    /// The axes of each of its sums over some of them.
    pub(super) fn accumulated(&self) -> impl Iterator<Item = &[usize]> {
        self.outputs.iter().filter_map(|output| match output {
            NestOutput::Accumulate { axes, .. } => Some(axes.as_slice()),
            NestOutput::Store { .. } | NestOutput::Write { .. } | NestOutput::Reduce { .. } => None,
        })
    }

    /// All that it reads element by element, computed here or not.
    pub fn operands(&self) -> impl Iterator<Item = Val> + '_ {
        let indices = self.outputs.iter().filter_map(|output| match output {
            NestOutput::Write { index, .. } => index.as_ref().map(|index| index.given),
            NestOutput::Store { .. } | NestOutput::Accumulate { .. } | NestOutput::Reduce { .. } => None,
        });
        self.rows
            .iter()
            .flat_map(|item| item.args.iter().copied())
            .chain(self.outputs.iter().map(|output| *output.source()))
            .chain(indices)
    }

    pub(super) fn reads(&self, tell: &mut impl FnMut(Val)) {
        let members: std::collections::BTreeSet<Val> =
            self.rows.iter().map(|item| item.result).chain(self.views.iter().copied()).collect();
        self.operands().filter(|v| !members.contains(v)).for_each(&mut *tell);
        for output in &self.outputs {
            if let NestOutput::Write { base, window, .. } = output {
                tell(*base);
                window.dynamic.iter().for_each(|(start, _)| tell(*start));
            }
        }
    }
}
