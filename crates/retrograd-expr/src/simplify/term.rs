//! Expressions as terms of an e-graph, the analysis that carries facts, and the laws as rewrites.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use egg::{
    Analysis, DidMerge, EGraph, ENodeOrVar, FlatTerm, Id, Language, Pattern, RecExpr, Rewrite, Searcher, Subst, Var,
};

use super::assume::Assumptions;
use super::facts::{self, Facts};
use super::rules::{Condition, LAWS, Way};
use crate::dag::Dag;
use crate::expr::{Expr, Op};

/// An op over classes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Term {
    pub(crate) op: Op,
    pub(crate) args: Vec<Id>,
}

impl Language for Term {
    type Discriminant = Op;

    fn discriminant(&self) -> Op {
        self.op.clone()
    }

    fn matches(&self, other: &Term) -> bool {
        self.op == other.op && self.args.len() == other.args.len()
    }

    fn children(&self) -> &[Id] {
        &self.args
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.args
    }
}

/// Shown by egg when something goes wrong.
impl std::fmt::Display for Term {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.op)
    }
}

pub(super) fn of_expr(expr: &Expr) -> RecExpr<Term> {
    let dag = Dag::of(expr);
    let terms = dag
        .entries
        .iter()
        .map(|entry| Term { op: entry.op.clone(), args: entry.args.iter().map(|arg| Id::from(*arg)).collect() });
    // The root comes last.
    let terms: Vec<Term> = terms.take(dag.root() + 1).collect();
    RecExpr::from(terms)
}

pub(super) fn to_expr(term: &RecExpr<Term>) -> Expr {
    let mut exprs: Vec<Expr> = vec![];
    for node in term.as_ref() {
        let args = node.args.iter().map(|arg| exprs[usize::from(*arg)].clone()).collect();
        exprs.push(Expr::new(node.op.clone(), args));
    }
    exprs.pop().expect("a term has a root")
}

/// What is known: facts of variables at the start, and a contradiction if one was found.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    assumptions: Assumptions,
    pub(super) contradiction: Option<(String, String)>,
}

impl Known {
    pub(super) fn new(assumptions: &Assumptions) -> Known {
        Known { assumptions: assumptions.clone(), contradiction: None }
    }
}

impl Analysis<Term> for Known {
    type Data = Facts;

    fn make(egraph: &mut EGraph<Term, Known>, term: &Term, _: Id) -> Facts {
        if let Op::Variable(name) = &term.op {
            return egraph.analysis.assumptions.facts(name);
        }
        let args: Vec<&Facts> = term.args.iter().map(|arg| &egraph[*arg].data).collect();
        let same = matches!(&term.args[..], [a, b] if egraph.find(*a) == egraph.find(*b));
        facts::of(&term.op, &args, same)
    }

    fn merge(&mut self, to: &mut Facts, from: Facts) -> DidMerge {
        let Some(all) = to.together(&from) else {
            // Facts of what is defined nowhere, such as 1/0, may say anything.
            if to.total || from.total {
                self.contradiction.get_or_insert_with(|| (shown(to), shown(&from)));
            }
            return DidMerge(false, true);
        };
        let changed = DidMerge(all != *to, all != from);
        *to = all;
        changed
    }

    fn modify(egraph: &mut EGraph<Term, Known>, id: Id) {
        if let Some(x) = egraph[id].data.constant.filter(|_| egraph[id].data.total) {
            let number = egraph.add(Term { op: Op::Number(x.into()), args: vec![] });
            egraph.union_trusted(id, number, "numbers fold");
        }
    }
}

fn shown(facts: &Facts) -> String {
    match facts.constant {
        Some(x) => x.to_string(),
        None => format!(
            "a number from {} to {}{}",
            facts.low,
            facts.high,
            if facts.nonzero { " that is not 0" } else { "" }
        ),
    }
}

/// The laws, each way that it is applied, read once.
pub(super) fn rewrites() -> &'static [Rewrite<Term, Known>] {
    static REWRITES: OnceLock<Vec<Rewrite<Term, Known>>> = OnceLock::new();
    REWRITES.get_or_init(|| {
        let mut all = vec![];
        for law in LAWS {
            let [left, right] =
                [law.left, law.right].map(|text| Expr::parse(text).expect("laws are written in the language"));
            all.push(rewrite(law.name, &left, &right, law.conditions));
            if law.way == Way::Both {
                all.push(rewrite(&format!("{}, backwards", law.name), &right, &left, law.conditions));
            }
        }
        all
    })
}

fn rewrite(name: &str, from: &Expr, to: &Expr, conditions: &'static [(char, Condition)]) -> Rewrite<Term, Known> {
    let (searcher, pattern) = (pattern(from, is_letter), pattern(to, is_letter));
    let holds = move |egraph: &mut EGraph<Term, Known>, _: Id, subst: &Subst| {
        conditions.iter().all(|(letter, condition)| condition.holds(&egraph[subst[variable(&letter.to_string())]].data))
    };
    let applier = egg::ConditionalApplier { condition: holds, applier: pattern };
    Rewrite::new(name, searcher, applier).expect("both sides of a law have the same letters, or the right side fewer")
}

fn is_letter(name: &str) -> bool {
    name.len() == 1
}

fn variable(name: &str) -> Var {
    format!("?{name}").parse().expect("a name is a variable of a pattern")
}

/// A pattern in which some variables stand for anything.
fn pattern(expr: &Expr, stands_for_any: fn(&str) -> bool) -> Pattern<Term> {
    let dag = Dag::of(expr);
    let node = |(op, args): (&Op, &[usize])| {
        if let Op::Variable(name) = op
            && stands_for_any(name)
        {
            return ENodeOrVar::Var(variable(name));
        }
        ENodeOrVar::ENode(Term { op: op.clone(), args: args.iter().map(|arg| Id::from(*arg)).collect() })
    };
    let nodes: Vec<_> = dag.entries.iter().take(dag.root() + 1).map(|entry| node((&entry.op, &entry.args))).collect();
    Pattern::new(RecExpr::from(nodes))
}

/// What stands for the names of a pattern, wherever it is found.
pub(super) fn search(egraph: &EGraph<Term, Known>, wanted: &Expr) -> Vec<BTreeMap<String, Id>> {
    let searcher = pattern(wanted, |name| name.starts_with('_'));
    let names: BTreeSet<String> = wanted.free_vars().into_iter().filter(|name| name.starts_with('_')).collect();
    let found = searcher.search(egraph).into_iter().flat_map(|found| found.substs);
    found.map(|subst| names.iter().map(|name| (name.clone(), egraph.find(subst[variable(name)]))).collect()).collect()
}

/// The law that leads to a form of an explanation.
pub(super) fn law_of(form: &FlatTerm<Term>) -> Option<String> {
    let mut stack = vec![form];
    while let Some(term) = stack.pop() {
        if let Some(rule) = term.forward_rule.or(term.backward_rule) {
            return Some(rule.as_str().trim_end_matches(", backwards").to_owned());
        }
        stack.extend(&term.children);
    }
    None
}

/// A form of an explanation as an expression.
pub(super) fn of_form(form: &FlatTerm<Term>) -> Expr {
    let mut done: Vec<Expr> = vec![];
    let mut stack = vec![(form, false)];
    while let Some((form, ready)) = stack.pop() {
        if ready {
            let args = done.split_off(done.len() - form.children.len());
            done.push(Expr::new(form.node.op.clone(), args));
        } else {
            stack.push((form, true));
            stack.extend(form.children.iter().rev().map(|child| (child, false)));
        }
    }
    done.pop().expect("a form has a root")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two different numbers in one class are noticed, wherever they come from.
    #[test]
    fn different_numbers_in_one_class_are_an_alarm() {
        let mut egraph: EGraph<Term, Known> = EGraph::new(Known::new(&Assumptions::new()));
        let [two, three] = [2, 3].map(|n| egraph.add_expr(&of_expr(&Expr::number(n))));
        egraph.union_trusted(two, three, "a wrong law");
        egraph.rebuild();
        assert_eq!(egraph.analysis.contradiction, Some(("2".into(), "3".into())));
    }

    #[test]
    fn a_class_above_zero_that_is_found_to_be_zero_is_an_alarm() {
        let mut egraph: EGraph<Term, Known> = EGraph::new(Known::new(&Assumptions::new()));
        let [a, b] = ["exp(x)", "0"].map(|text| egraph.add_expr(&of_expr(&Expr::parse(text).unwrap())));
        egraph.union_trusted(a, b, "a wrong law");
        egraph.rebuild();
        assert!(egraph.analysis.contradiction.is_some());
    }
}
