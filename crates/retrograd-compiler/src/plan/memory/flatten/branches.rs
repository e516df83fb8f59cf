//! Branches: in steps that make records or read them, those of one predicate are one, so that what several of them
//! compute is computed once.

use std::collections::BTreeSet;

use super::super::group::{self, Raw};
use super::super::tree::{Branch, Node, Val};
use super::{Flatten, Scope};
use crate::ir::IfOp;

/// An `if` that more code may join.
pub(super) struct Opened {
    /// Its place in the code of its block.
    at: usize,
    predicate: Val,
    /// Values of lower numbers are there before it.
    first: Val,
    scopes: [Scope; 2],
    /// What its results are inside of the branches.
    ends: [Vec<Val>; 2],
    results: Vec<Val>,
}

impl Opened {
    /// Whether an `if` over these arguments can run where this one does.
    fn takes(&self, args: &[Val]) -> bool {
        args[0] == self.predicate && args[1..].iter().all(|arg| *arg < self.first || self.results.contains(arg))
    }

    /// What a value is inside of a branch.
    fn inside(&self, side: usize, value: Val) -> Val {
        self.results.iter().position(|result| *result == value).map_or(value, |k| self.ends[side][k])
    }
}

impl Flatten<'_> {
    /// An `if`: more code for an earlier one, if it can be that.
    pub(super) fn branch(&mut self, op: &IfOp, args: &[Val], scope: &mut Scope) -> Vec<Val> {
        let bodies = [op.then_body, op.else_body];
        // Effects stay where they are.
        let joins = scope.joins && bodies.iter().all(|body| !self.effects[usize::from(*body)]);
        let number = match scope.branches.iter().rposition(|opened| joins && opened.takes(args)) {
            Some(number) => number,
            None => self.open(args[0], scope),
        };
        let opened = &mut scope.branches[number];
        for (side, body) in bodies.into_iter().enumerate() {
            let args: Vec<Val> = args[1..].iter().map(|value| opened.inside(side, *value)).collect();
            let ends = self.function(self.program.function(body), &args, &mut opened.scopes[side]);
            let is_idle = self.branch_split.is_idle(body);
            opened.ends[side].extend(ends.into_iter().map(|end| if is_idle { self.idle(end) } else { end }));
        }
        let results = self.defines(&self.program.function(op.then_body).result_types());
        opened.results.extend(&results);
        results
    }

    /// What takes the place of an end that nobody reads: an array that nobody makes.
    fn idle(&mut self, end: Val) -> Val {
        if self.placed.is_scalar(end) {
            return end;
        }
        let nothing = self.placed.define(self.placed.ty(end).clone());
        self.placed.idle.insert(nothing);
        nothing
    }

    /// A new `if`, by its number; its place is taken.
    fn open(&mut self, predicate: Val, scope: &mut Scope) -> usize {
        let (at, first) = (scope.raws.len(), Val(self.placed.types.len() as u32));
        let scopes = [(); 2].map(|()| Scope { joins: scope.joins, ..Scope::default() });
        scope.branches.push(Opened { at, predicate, first, scopes, ends: [vec![], vec![]], results: vec![] });
        scope.raws.push(Raw::Node(Node::If(Box::new(Branch::on(predicate)))));
        scope.branches.len() - 1
    }

    /// The code of a block and its fences; `ends` are used after it.
    pub(super) fn closed(&mut self, mut scope: Scope, ends: &[Val]) -> (Vec<Raw>, Vec<usize>) {
        let mut used: BTreeSet<Val> = BTreeSet::new();
        ends.iter().for_each(|end| self.use_value(*end, &mut used));
        for at in (0..scope.raws.len()).rev() {
            let Some(last) = scope.branches.last() else { break };
            if last.at == at {
                let opened = scope.branches.pop().expect("there is a last one");
                scope.raws[at] = Raw::Node(Node::If(Box::new(self.close(opened, &used))));
            }
            let mut read = vec![];
            group::reads(&scope.raws[at], &mut |value| read.push(value));
            read.into_iter().for_each(|value| self.use_value(value, &mut used));
        }
        (scope.raws, scope.fences)
    }

    fn use_value(&self, value: Val, used: &mut BTreeSet<Val>) {
        let access = self.placed.access(value);
        used.extend([value, access.root]);
        used.extend(access.dynamic.iter().map(|(start, _)| *start));
    }

    /// Both branches with all their code; what only they themselves read of their results does not leave them.
    fn close(&mut self, opened: Opened, used: &BTreeSet<Val>) -> Branch {
        let Opened { predicate, scopes: [then_scope, else_scope], ends: [then_ends, else_ends], results, .. } = opened;
        let leaving: Vec<usize> = (0..results.len()).filter(|k| used.contains(&results[*k])).collect();
        let [(then_block, then_ends), (else_block, else_ends)] = [(then_scope, then_ends), (else_scope, else_ends)]
            .map(|(mut scope, ends)| {
                let ends: Vec<Val> = leaving.iter().map(|k| ends[*k]).collect();
                let ends = self.all_in_memory(&ends, &mut scope);
                (self.block(scope, &ends), ends)
            });
        let results = leaving.iter().map(|k| results[*k]).collect();
        Branch {
            predicate,
            blocks: [then_block, else_block],
            ends: [then_ends, else_ends],
            results,
            ..Branch::on(predicate)
        }
    }
}
