//! Piecewise expressions: functions that only one side needs are computed where that side is taken.
//!
//! Both sides of `if(x > 0, sqrt(x), 0)` are computed for all elements. At x = −1 the root is a NaN that is not taken;
//! but its derivative times a cotangent of 0 is a NaN, too, and would reach x. So what is not defined everywhere gets
//! its arguments where it is needed and safe ones elsewhere: `sqrt(if(x > 0, x, 1))`, which changes no value that is
//! taken.

use std::collections::HashMap;
use std::sync::Arc;

use crate::dag::{Dag, Entry, Id, indices};
use crate::expr::{ArrayOp, Op};
use crate::function::Function;
use crate::number::{Fraction, Number};

/// A list of entries with the conditions under which some of them are needed.
#[derive(Debug)]
pub(super) struct Guarded {
    /// The entries; conditions that were made come last.
    pub(super) dag: Dag,
    /// The condition of each entry that must be guarded.
    pub(super) conditions: HashMap<Id, Id>,
    /// Names of indices of sums.
    pub(super) indices: Vec<Arc<str>>,
}

/// When an entry is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Never,
    Always,
    When(Id),
}

impl Guarded {
    pub(super) fn of(dag: Dag) -> Guarded {
        let indices = indices(&dag);
        let select = |entry: &Entry| entry.op == Op::Call(Function::Select);
        if !dag.entries.iter().any(select) {
            return Guarded { dag, conditions: HashMap::new(), indices };
        }
        let mut conditions = Conditions { known: HashMap::new(), dag };
        let guarded = conditions.found();
        let mut all = Guarded { dag: conditions.dag, conditions: guarded, indices };
        // A condition that needs what it guards cannot come before it. Then the entry is computed everywhere, and
        // `diff` alone takes care of its side.
        while let Some(id) = all.in_a_cycle() {
            all.conditions.remove(&id);
        }
        all
    }

    /// An entry whose condition can only be computed after it.
    fn in_a_cycle(&self) -> Option<Id> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.dag.len()];
        let mut stack: Vec<(Id, bool)> = self.dag.roots.iter().map(|root| (*root, false)).collect();
        let mut path: Vec<Id> = vec![];
        while let Some((id, close)) = stack.pop() {
            match (states[id], close) {
                (_, true) => {
                    states[id] = State::Done;
                    path.pop();
                }
                (State::Done, false) => {}
                (State::Open, false) => {
                    let start = path.iter().position(|other| *other == id)?;
                    return path[start..].iter().copied().find(|id| self.conditions.contains_key(id));
                }
                (State::New, false) => {
                    states[id] = State::Open;
                    path.push(id);
                    stack.push((id, true));
                    let needs = self.dag.args(id).iter().copied().chain(self.conditions.get(&id).copied());
                    stack.extend(needs.filter(|needed| states[*needed] != State::Done).map(|needed| (needed, false)));
                }
            }
        }
        None
    }
}

struct Conditions {
    dag: Dag,
    known: HashMap<Entry, Id>,
}

impl Conditions {
    /// Goes from the roots down: an entry is needed where something that reads it is.
    fn found(&mut self) -> HashMap<Id, Id> {
        let count = self.dag.len();
        let mut needs = vec![Need::Never; count];
        self.dag.roots.iter().for_each(|root| needs[*root] = Need::Always);
        let mut guarded = HashMap::new();
        for id in (0..count).rev() {
            let need = needs[id];
            if let (Need::When(condition), true) = (need, is_partial(&self.dag, id)) {
                guarded.insert(id, condition);
            }
            let args = self.dag.args(id).to_vec();
            let op = self.dag.op(id).clone();
            for (k, arg) in args.iter().enumerate() {
                let through = self.through(&op, k, &args, need);
                needs[*arg] = self.either(needs[*arg], through);
            }
        }
        guarded
    }

    /// When an argument is needed by an entry that is needed so.
    fn through(&mut self, op: &Op, k: usize, args: &[Id], need: Need) -> Need {
        match op {
            Op::Call(Function::Select) if k == 1 => self.both(need, args[0]),
            Op::Call(Function::Select) if k == 2 => {
                let not = self.entry(Op::Call(Function::Not), vec![args[0]]);
                self.both(need, not)
            }
            Op::Number(_) | Op::Constant(_) | Op::Variable(_) | Op::Call(_) | Op::StopGradient => need,
            // What does not depend on the index is computed before the loop, for all of its steps.
            Op::Fold(_, index) => match need {
                Need::When(condition) if self.dag.mentions(index)[condition] => Need::Always,
                Need::Never | Need::Always | Need::When(_) => need,
            },
            // Of functions of whole arrays, all arguments are needed where any result is.
            Op::Array(_) | Op::Einsum(_) | Op::Stack | Op::Index | Op::Custom(_) => match need {
                Need::When(condition) => Need::When(self.entry(Op::Array(ArrayOp::Any), vec![condition])),
                Need::Never | Need::Always => need,
            },
        }
    }

    fn both(&mut self, need: Need, condition: Id) -> Need {
        match need {
            Need::Never => Need::Never,
            Need::Always => Need::When(condition),
            Need::When(before) if before == condition => need,
            Need::When(before) => Need::When(self.entry(Op::Call(Function::And), vec![before, condition])),
        }
    }

    fn either(&mut self, a: Need, b: Need) -> Need {
        match (a, b) {
            (Need::Never, other) | (other, Need::Never) => other,
            (Need::Always, _) | (_, Need::Always) => Need::Always,
            (Need::When(a), Need::When(b)) if a == b => Need::When(a),
            (Need::When(a), Need::When(b)) => self.any_of(a, b),
        }
    }

    /// c ∨ ¬c always holds, and (d ∧ c) ∨ (d ∧ ¬c) is d.
    fn any_of(&mut self, a: Id, b: Id) -> Need {
        let opposite = |dag: &Dag, a: Id, b: Id| *dag.op(b) == Op::Call(Function::Not) && dag.args(b)[0] == a;
        let opposites = |dag: &Dag, a: Id, b: Id| opposite(dag, a, b) || opposite(dag, b, a);
        if opposites(&self.dag, a, b) {
            return Need::Always;
        }
        let and = Op::Call(Function::And);
        if let ([c, d], [e, f]) = (self.dag.args(a), self.dag.args(b))
            && *self.dag.op(a) == and
            && *self.dag.op(b) == and
            && c == e
            && opposites(&self.dag, *d, *f)
        {
            return Need::When(*c);
        }
        // c ∨ (c ∧ d) is c.
        if *self.dag.op(b) == and && self.dag.args(b).contains(&a) {
            return Need::When(a);
        }
        if *self.dag.op(a) == and && self.dag.args(a).contains(&b) {
            return Need::When(b);
        }
        Need::When(self.entry(Op::Call(Function::Or), vec![a, b]))
    }

    fn entry(&mut self, op: Op, args: Vec<Id>) -> Id {
        let entry = Entry { op, args };
        let dag = &mut self.dag;
        *self.known.entry(entry).or_insert_with_key(|entry| dag.add(entry.op.clone(), entry.args.clone()))
    }
}

/// Whether a function or its derivative is not finite everywhere.
fn is_partial(dag: &Dag, id: Id) -> bool {
    let Op::Call(function) = dag.op(id) else { return false };
    let number = |k: usize| if let Op::Number(x) = dag.op(dag.args(id)[k]) { Some(*x) } else { None };
    if *function == Function::Pow {
        return !matches!(number(1), Some(Number::Fraction(n)) if n.as_integer().is_some_and(|n| n >= 0));
    }
    let divides_by_number = *function == Function::Div && number(1).is_some_and(|x| x != Number::from(Fraction::ZERO));
    function.row().safe.is_some() && !divides_by_number
}
