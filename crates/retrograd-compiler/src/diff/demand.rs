//! Where the elements of a value are demanded: what a `select` leaves out counts for nothing.
//!
//! Of `select(x > 0, sqrt(x), 0)` the derivative at −1 is 0. The cotangent of the root is 0 there, but its partial is a NaN, and so would
//! be their product. So a reverse sweep notes, along with every cotangent, where it can be other than zero, and multiplies by
//! `select(p, ∂, 0)`: still linear in the cotangent. What is also used elsewhere is demanded there too, and keeps its NaN.
//!
//! Forward mode needs none of this: the `select` of the tangents drops a NaN as it drops the value.

use std::collections::{BTreeMap, BTreeSet};

use super::sum;
use crate::ir::{Array, Attr, Attrs, Builder, Contribution, Data, Function, Lowering, Op, Row, Rule, Type, Value};
use crate::ops::{AND, ANY, CONSTANT, GT, NOT, OR, SELECT};

/// Predicates of the value's shape, as they are in the function under construction, and whether each must hold.
type Term = BTreeMap<Value, bool>;

/// An element is demanded where all predicates of at least one term are as they must be: nowhere without a term, everywhere where a term
/// is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand(BTreeSet<Term>);

/// More terms become one predicate.
const TERMS: usize = 8;

impl Demand {
    pub(super) fn everywhere() -> Demand {
        Demand(BTreeSet::from([Term::new()]))
    }

    /// Where a predicate holds.
    pub(super) fn of(predicate: Value) -> Demand {
        Demand(BTreeSet::from([Term::from([(predicate, true)])]))
    }

    pub(super) fn is_everywhere(&self) -> bool {
        self.0.contains(&Term::new())
    }

    /// Only where a predicate holds, or does not.
    fn and(&self, predicate: Value, holds: bool) -> Demand {
        let possible = self.0.iter().filter(|term| term.get(&predicate) != Some(&!holds));
        Demand(possible.map(|term| term.iter().map(|(p, holds)| (*p, *holds)).chain([(predicate, holds)]).collect()).collect())
    }

    /// Also where the other is.
    pub(super) fn add(&mut self, b: &Builder, ty: &Type, other: Demand) {
        self.0.extend(other.0);
        while let Some((gone, new)) = self.simpler() {
            self.0.retain(|term| !gone.contains(term));
            self.0.insert(new);
        }
        if self.0.len() > TERMS
            && let Some(predicate) = self.predicate(b, ty)
        {
            *self = Demand::of(predicate);
        }
    }

    /// Two terms that one can stand for: p q ∨ p ¬q = p, and p ∨ p q = p.
    fn simpler(&self) -> Option<([Term; 2], Term)> {
        for a in &self.0 {
            for b in self.0.iter().filter(|b| *b != a) {
                if a.iter().all(|(p, holds)| b.get(p) == Some(holds)) {
                    return Some(([a.clone(), b.clone()], a.clone()));
                }
                let differ: Vec<&Value> = a.iter().filter(|(p, holds)| b.get(p) != Some(holds)).map(|(p, _)| p).collect();
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
        let negated = |(p, holds): (&Value, &bool)| if *holds { *p } else { b.row(&NOT, Attrs::none(), &[*p]) };
        let both = |row: &'static Row| move |left, right| b.row(row, Attrs::none(), &[left, right]);
        let term = |term: &Term| term.iter().map(negated).reduce(both(&AND)).expect("an empty term is everywhere");
        let nowhere = || b.broadcast(b.constant(Array::bool(false)), &ty.shape, &[]);
        Some(self.0.iter().map(term).reduce(both(&OR)).unwrap_or_else(nowhere))
    }

    /// The demand of argument k of a row whose result, of that type, has this demand.
    pub(super) fn through(&self, b: &Builder, (row, attrs): (&'static Row, &Attrs), args: &[Value], k: usize, ty: &Type) -> Demand {
        if *row == SELECT && k > 0 {
            return self.and(args[0], k == 1);
        }
        if self.is_everywhere() || row.lowering.is_elementwise() {
            return self.clone();
        }
        let predicate = self.predicate(b, ty).expect("demands that are not everywhere have a predicate");
        // A transpose carries what is demanded to what it is made of: all of these are sums with weights that are not negative.
        let ones = || b.convert(predicate, ty.dtype);
        let carried = match row.rule {
            Rule::Linear(transposes) => transposes.get(k).copied().flatten().map(|transpose| transpose(b, attrs, args, ones())),
            Rule::LinearInEach(transpose) => Some(transpose(b, attrs, args, k, ones())),
            Rule::Bilinear(transposes) => {
                let units: Vec<Value> = args.iter().map(|arg| b.full(&b.ty(*arg), 1.0)).collect();
                Some(transposes[k](b, attrs, &units, ones()))
            }
            Rule::Zero | Rule::Partials(_) | Rule::Tangent { .. } | Rule::Missing => None,
        };
        match carried {
            Some(contribution) => Demand::of(positive(b, &b.ty(args[k]), &contribution)),
            None => self.of_any(b, ty, &b.ty(args[k])),
        }
    }

    /// The operands of a bilinear row, zero where none of the results that are demanded reads them: each is the partial by the other.
    pub(super) fn operands(&self, b: &Builder, row: (&'static Row, &Attrs), args: &[Value], ty: &Type) -> Vec<Value> {
        let operand = |k: usize| match self.through(b, row, args, k, ty).predicate(b, &b.ty(args[k])) {
            Some(predicate) => b.row(&SELECT, Attrs::none(), &[predicate, args[k], b.zeros(&b.ty(args[k]))]),
            None => args[k],
        };
        (0..args.len()).map(operand).collect()
    }

    /// Everywhere, if any element of a value of the first type is demanded: of all that one of the second type is used for.
    pub(super) fn of_any(&self, b: &Builder, ty: &Type, arg: &Type) -> Demand {
        match self.predicate(b, ty) {
            None => Demand::everywhere(),
            Some(predicate) => {
                let axes = Attrs::none().ints("axes", 0..ty.rank());
                let any = if ty.rank() == 0 { predicate } else { b.row(&ANY, axes, &[predicate]) };
                Demand::of(b.broadcast(any, &arg.shape, &[]))
            }
        }
    }
}

fn positive(b: &Builder, ty: &Type, contribution: &Contribution) -> Value {
    let carried = sum::array(b, ty, contribution);
    b.row(&GT, Attrs::none(), &[carried, b.zeros(&b.ty(carried))])
}

/// Whether a function chooses between floats, so that some of them may not be demanded.
pub(super) fn chooses(function: &Function) -> bool {
    let is_choice = |op: &Op| matches!(op, Op::Row(row, _) if **row == SELECT);
    function.insts.iter().any(|inst| is_choice(&inst.op) && function.ty(inst.results[0]).dtype.is_float())
}

/// Values that are literals without zeros, infinities and NaNs, perhaps repeated: a product with them, or their inverse, is finite.
pub(super) fn tame_literals(function: &Function) -> Vec<bool> {
    let mut tame = vec![false; function.types.len()];
    for inst in &function.insts {
        if let Op::Row(row, attrs) = &inst.op {
            let literal = **row == CONSTANT && matches!(attrs.get("value"), Some(Attr::Array(array)) if is_tame(array));
            let repeated = matches!(row.lowering, Lowering::View(_)) && tame[inst.args[0].0 as usize];
            tame[inst.results[0].0 as usize] = literal || repeated;
        }
    }
    tame
}

fn is_tame(array: &Array) -> bool {
    match array.data() {
        Data::F64(x) => x.iter().all(|x| x.is_normal()),
        Data::F32(x) => x.iter().all(|x| x.is_normal()),
        Data::I32(_) | Data::I64(_) | Data::Bool(_) => false,
    }
}
