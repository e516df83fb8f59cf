//! Where the elements of a value are demanded: what a `select` leaves out counts for nothing.
//!
//! Of `select(x > 0, sqrt(x), 0)` the derivative at −1 is 0. The cotangent of the root is 0 there, but its partial is a
//! NaN, and so would be their product. So a reverse sweep notes, along with every cotangent, where it can be other than
//! zero, and multiplies by `select(p, ∂, 0)`: still linear in the cotangent. What is also used elsewhere is demanded
//! there too, and keeps its NaN.
//!
//! In forward mode the `select` of the tangents drops a NaN as it drops the value. What it leaves out are zeros, which
//! a later partial must not turn into a NaN: there the same is noted of every tangent.

use std::collections::{BTreeMap, BTreeSet};

use super::sum;
use crate::ir::{
    Array, Attr, Attrs, Builder, Contribution, Data, Function, Inst, Lowering, Op, OpDef, Rule, Type, Value, Write,
};
use crate::ops::{AND, ANY, BROADCAST, CONSTANT, GT, LINEAR_SCAN, NOT, OR, SELECT};

/// A truth of the function under construction, which a demand depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Predicate {
    /// One truth for the whole value.
    Whole(Value),
    /// One for each of its elements.
    Each(Value),
}

impl Predicate {
    /// An array of truths, each for the element at its place.
    pub(super) fn new(b: &Builder, truths: Value) -> Predicate {
        if b.ty(truths).rank() == 0 { Predicate::Whole(truths) } else { Predicate::Each(truths) }
    }

    pub(super) fn value(self) -> Value {
        match self {
            Predicate::Whole(value) | Predicate::Each(value) => value,
        }
    }

    fn is_whole(self) -> bool {
        matches!(self, Predicate::Whole(_))
    }
}

/// Predicates, and whether each must hold.
pub(super) type Term = BTreeMap<Predicate, bool>;

/// An element is demanded where all predicates of at least one term are as they must be: nowhere without a term,
/// everywhere where a term is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand(BTreeSet<Term>);

/// More terms become one predicate.
const TERMS: usize = 8;

impl Demand {
    pub(super) fn everywhere() -> Demand {
        Demand(BTreeSet::from([Term::new()]))
    }

    /// Where a predicate holds.
    pub(super) fn of(predicate: Predicate) -> Demand {
        Demand(BTreeSet::from([Term::from([(predicate, true)])]))
    }

    pub(super) fn from_terms(terms: impl IntoIterator<Item = Term>) -> Demand {
        Demand(terms.into_iter().collect())
    }

    pub(super) fn is_everywhere(&self) -> bool {
        self.0.contains(&Term::new())
    }

    pub(super) fn is_nowhere(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = &Term> {
        self.0.iter()
    }

    /// Only where a predicate holds, or does not.
    pub(super) fn and(&self, predicate: Predicate, holds: bool) -> Demand {
        let possible = self.0.iter().filter(|term| term.get(&predicate) != Some(&!holds));
        Demand(
            possible
                .map(|term| term.iter().map(|(p, holds)| (*p, *holds)).chain([(predicate, holds)]).collect())
                .collect(),
        )
    }

    /// Also where the other is.
    pub(super) fn add(&mut self, b: &Builder, ty: &Type, other: Demand) {
        self.join(other);
        if self.0.len() > TERMS
            && let Some(predicate) = self.predicate(b, ty)
        {
            *self = Demand::of(Predicate::new(b, predicate));
        }
    }

    /// Also where the other is; whether that is more.
    pub(super) fn join(&mut self, other: Demand) -> bool {
        let before = self.clone();
        self.0.extend(other.0);
        while let Some((gone, new)) = self.simpler() {
            self.0.retain(|term| !gone.contains(term));
            self.0.insert(new);
        }
        *self != before
    }

    /// Two terms that one can stand for: p q ∨ p ¬q = p, and p ∨ p q = p.
    fn simpler(&self) -> Option<([Term; 2], Term)> {
        for a in &self.0 {
            for b in self.0.iter().filter(|b| *b != a) {
                if a.iter().all(|(p, holds)| b.get(p) == Some(holds)) {
                    return Some(([a.clone(), b.clone()], a.clone()));
                }
                let differ: Vec<&Predicate> =
                    a.iter().filter(|(p, holds)| b.get(p) != Some(holds)).map(|(p, _)| p).collect();
                if let [p] = differ[..]
                    && a.len() == b.len()
                    && b.contains_key(p)
                {
                    let both = a.iter().filter(|(q, _)| *q != p).map(|(q, holds)| (*q, *holds)).collect();
                    return Some(([a.clone(), b.clone()], both));
                }
            }
        }
        None
    }

    /// The demand as one array of truths, like a value of that type; none where it is everywhere.
    pub(super) fn predicate(&self, b: &Builder, ty: &Type) -> Option<Value> {
        if self.is_everywhere() {
            return None;
        }
        let repeated =
            |truth: Value| if b.ty(truth).rank() == ty.rank() { truth } else { b.broadcast(truth, &ty.shape, &[]) };
        let all = |term: &Term, whole: bool| {
            let negated = |(p, holds): (&Predicate, &bool)| {
                if *holds { p.value() } else { b.op(&NOT, Attrs::none(), &[p.value()]) }
            };
            term.iter().filter(|(p, _)| p.is_whole() == whole).map(negated).reduce(both(b, &AND))
        };
        let term =
            |term: &Term| all(term, true).map(repeated).into_iter().chain(all(term, false)).reduce(both(b, &AND));
        let nowhere = || b.broadcast(b.constant(Array::bool(false)), &ty.shape, &[]);
        Some(self.0.iter().filter_map(term).reduce(both(b, &OR)).unwrap_or_else(nowhere))
    }

    /// Whether any element of a value of that type is demanded; none where all are.
    pub(super) fn any(&self, b: &Builder, ty: &Type) -> Option<Value> {
        let axes = Attrs::none().ints("axes", 0..ty.rank());
        let predicate = self.predicate(b, ty)?;
        Some(if ty.rank() == 0 { predicate } else { b.op(&ANY, axes, &[predicate]) })
    }

    /// The demand of argument k of a row other than `select` whose result, of that type, has this demand.
    pub(super) fn through(
        &self,
        b: &Builder,
        (row, attrs): (&'static OpDef, &Attrs),
        args: &[Value],
        k: usize,
        ty: &Type,
    ) -> Demand {
        if row.lowering.is_elementwise() {
            return self.clone();
        }
        // A transpose carries what is demanded to what it is made of: all of these are sums with weights that are not
        // negative.
        self.carried(b, ty, &b.ty(args[k]), |predicate| {
            let ones = b.convert(predicate, ty.dtype);
            match row.rule {
                Rule::Linear(transposes) => {
                    transposes.get(k).copied().flatten().map(|transpose| transpose(b, attrs, args, ones))
                }
                Rule::LinearInEach(transpose) => Some(transpose(b, attrs, args, k, ones)),
                Rule::Bilinear(transposes) => {
                    let units: Vec<Value> = args.iter().map(|arg| b.full(&b.ty(*arg), 1.0)).collect();
                    Some(transposes[k](b, attrs, &units, ones))
                }
                Rule::Tangent { linear, .. } if *row == LINEAR_SCAN => {
                    let units = [b.full(&b.ty(args[0]), 1.0), args[1]];
                    linear[k].map(|transpose| transpose(b, attrs, &units, ones))
                }
                Rule::Zero | Rule::Partials(_) | Rule::Tangent { .. } | Rule::Missing => None,
            }
        })
    }

    /// The demand of an argument: what holds of the whole stays, and an array of truths is carried to what it is made
    /// of.
    fn carried(&self, b: &Builder, ty: &Type, arg: &Type, carry: impl Fn(Value) -> Option<Contribution>) -> Demand {
        let mut by_whole: BTreeMap<Term, Demand> = BTreeMap::new();
        for term in &self.0 {
            let (whole, each): (Term, Term) = term.iter().partition(|(p, _)| p.is_whole());
            by_whole.entry(whole).or_default().0.insert(each);
        }
        let mut demand = Demand::default();
        for (whole, each) in by_whole {
            let within = |found: &Demand| {
                let term = |term: &Term| whole.iter().chain(term).map(|(p, holds)| (*p, *holds)).collect();
                Demand(found.0.iter().map(term).collect())
            };
            let Some(predicate) = within(&each).predicate(b, ty) else { return Demand::everywhere() };
            let found = match carry(predicate) {
                Some(contribution @ Contribution::At { .. }) => {
                    Demand::of(Predicate::new(b, positive(b, arg, &contribution)))
                }
                // Outside of a window, and where it was: so it stays known what it lies within.
                Some(contribution @ Contribution::Outside { .. }) => {
                    each.and(Predicate::new(b, positive(b, arg, &contribution)), true)
                }
                Some(Contribution::Dense(_)) | None if each.is_everywhere() => Demand::everywhere(),
                Some(contribution @ Contribution::Dense(_)) => {
                    Demand::of(Predicate::new(b, positive(b, arg, &contribution)))
                }
                None => Demand::of(Predicate::Whole(each.any(b, ty).expect("it has a predicate"))),
            };
            demand.join(within(&found));
        }
        demand
    }

    /// The operands of a bilinear row, zero where none of the results that are demanded reads them: each is the partial
    /// by the other.
    pub(super) fn operands(&self, b: &Builder, row: (&'static OpDef, &Attrs), args: &[Value], ty: &Type) -> Vec<Value> {
        let operand = |k: usize| self.through(b, row, args, k, ty).kept(b, args[k]);
        (0..args.len()).map(operand).collect()
    }

    /// A value, zero where it is not demanded.
    pub(super) fn kept(&self, b: &Builder, value: Value) -> Value {
        match self.predicate(b, &b.ty(value)) {
            Some(predicate) => b.op(&SELECT, Attrs::none(), &[predicate, value, b.zeros(&b.ty(value))]),
            None => value,
        }
    }

    /// The same in terms of what its predicates are made of, as far as each term stays one: those may be known where
    /// what is made of them is not.
    pub(super) fn refined(&self, b: &Builder) -> Demand {
        let mut refined = Demand::default();
        for term in &self.0 {
            refined.join(Demand::from_terms([parts(&b.insts(), term)]));
        }
        refined
    }

    /// The demand in terms of other predicates, if all of them are known elsewhere.
    pub(super) fn moved(&self, outer: impl Fn(Value) -> Option<Value>) -> Option<Demand> {
        let predicate = |p: &Predicate| match p {
            Predicate::Whole(value) => outer(*value).map(Predicate::Whole),
            Predicate::Each(value) => outer(*value).map(Predicate::Each),
        };
        let term = |term: &Term| term.iter().map(|(p, holds)| Some((predicate(p)?, *holds))).collect::<Option<Term>>();
        self.0.iter().map(term).collect::<Option<BTreeSet<Term>>>().map(Demand)
    }

    /// The demand in terms of other predicates. One that is not known elsewhere is left out, which demands more; none
    /// where nothing would be left of a term.
    pub(super) fn lifted(&self, outer: impl Fn(Predicate, bool) -> Option<(Predicate, bool)>) -> Option<Demand> {
        let known = |term: &Term| term.iter().filter_map(|(p, holds)| outer(*p, *holds)).collect::<Term>();
        let mut lifted = Demand::default();
        for term in &self.0 {
            let known = known(term);
            if known.is_empty() && !term.is_empty() {
                return None;
            }
            lifted.join(Demand::from_terms([known]));
        }
        Some(lifted)
    }
}

/// The predicates of a term, and of what these are made of.
fn parts(insts: &[Inst], term: &Term) -> Term {
    let (mut parts, mut open) = (Term::new(), term.iter().map(|(p, holds)| (*p, *holds)).collect::<Vec<_>>());
    while let Some((predicate, holds)) = open.pop() {
        let like = |value: Value| match predicate {
            Predicate::Whole(_) => Predicate::Whole(value),
            Predicate::Each(_) => Predicate::Each(value),
        };
        let made = insts.iter().rev().find(|inst| inst.results.contains(&predicate.value()));
        match made.map(|inst| (&inst.op, &inst.args[..])) {
            Some((Op::Def(def, _), [p])) if **def == NOT => open.push((like(*p), !holds)),
            Some((Op::Def(def, _), [p, q])) if *def == (if holds { &AND } else { &OR }) => {
                open.extend([(like(*p), holds), (like(*q), holds)]);
            }
            Some((Op::Def(def, attrs), [p])) if **def == BROADCAST && attrs.numbers("axes").is_empty() => {
                open.push((Predicate::Whole(*p), holds));
            }
            Some(_) | None => drop(parts.insert(predicate, holds)),
        }
    }
    parts
}

fn both<'b>(b: &'b Builder, def: &'static OpDef) -> impl Fn(Value, Value) -> Value + 'b {
    move |left, right| b.op(def, Attrs::none(), &[left, right])
}

/// Where any weight is.
pub(super) fn weighted(b: &Builder, weights: Value) -> Demand {
    Demand::of(Predicate::new(b, positive(b, &b.ty(weights), &Contribution::Dense(weights))))
}

/// The window of ones that the truths of a term were made of, if they are those of a window: what adds weights there to
/// others.
pub(super) fn window_of<'f>(insts: &'f [Inst], term: &Term) -> Option<&'f Inst> {
    let made = |value: Value| insts.iter().rev().find(|inst| inst.results.contains(&value));
    let window = |predicate: &Predicate| {
        let above = made(predicate.value()).filter(|inst| matches!(&inst.op, Op::Def(def, _) if **def == GT))?;
        made(above.args[0]).filter(|inst| matches!(&inst.op, Op::Def(def, _) if matches!(def.lowering, Lowering::Write(Write::Add) | Lowering::Scatter(_, Write::Add))))
    };
    term.iter().filter(|(_, holds)| **holds).find_map(|(predicate, _)| window(predicate))
}

fn positive(b: &Builder, ty: &Type, contribution: &Contribution) -> Value {
    let carried = sum::array(b, ty, contribution);
    b.op(&GT, Attrs::none(), &[carried, b.zeros(&b.ty(carried))])
}

/// What a sweep asks of the values of a function.
#[derive(Debug)]
pub(super) struct Facts {
    /// Literals without zeros, infinities and NaNs, perhaps repeated: a product with them, or their inverse, is
    /// finite.
    tame: Vec<bool>,
}

impl Facts {
    pub(super) fn new(function: &Function) -> Facts {
        let count = function.types.len();
        let mut facts = Facts { tame: vec![false; count] };
        for inst in &function.insts {
            if let Op::Def(def, attrs) = &inst.op {
                let literal =
                    **def == CONSTANT && matches!(attrs.get("value"), Some(Attr::Array(array)) if is_tame(array));
                let repeated = matches!(def.lowering, Lowering::View(_)) && facts.is_tame(inst.args[0]);
                let result = inst.results[0].0 as usize;
                facts.tame[result] = literal || repeated;
            }
        }
        facts
    }

    pub(super) fn is_tame(&self, value: Value) -> bool {
        self.tame[value.0 as usize]
    }
}

fn is_tame(array: &Array) -> bool {
    match array.data() {
        Data::F64(x) => x.iter().all(|x| x.is_normal()),
        Data::F32(x) => x.iter().all(|x| x.is_normal()),
        Data::I32(_) | Data::I64(_) | Data::Bool(_) => false,
    }
}
