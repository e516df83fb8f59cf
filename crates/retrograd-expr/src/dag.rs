//! An expression as a list: every different subexpression once, arguments before those that use them.
//!
//! Whatever looks at a whole expression walks this list, forwards or backwards: time is linear in the number of
//! different subexpressions, and nothing recurses.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::expr::{Expr, Op};

/// A subexpression by its place in the list.
pub(crate) type Id = usize;

/// Subexpressions, each once, in an order in which arguments come first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dag {
    pub(crate) entries: Vec<Entry>,
    /// An expression for each entry.
    exprs: Vec<Expr>,
    /// What the expressions that it was made of are in it.
    pub(crate) roots: Vec<Id>,
    /// Which entries the user wrote nowhere.
    derived: Vec<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    pub(crate) op: Op,
    pub(crate) args: Vec<Id>,
}

impl Dag {
    /// The subexpressions of one.
    pub(crate) fn of(expr: &Expr) -> Dag {
        Dag::of_all(std::slice::from_ref(expr))
    }

    /// The subexpressions of several.
    pub(crate) fn of_all(exprs: &[Expr]) -> Dag {
        let mut dag = Dag::default();
        // Entries by the hash of their structure; those that share one have further numbers.
        let mut known: FxHashMap<(u64, u32), Id> = FxHashMap::default();
        let mut by_address: FxHashMap<usize, Id> = FxHashMap::default();
        for expr in exprs {
            let mut stack = vec![(expr, false)];
            while let Some((expr, arguments_done)) = stack.pop() {
                if by_address.contains_key(&expr.address()) {
                    continue;
                }
                if !arguments_done && !expr.args().is_empty() {
                    stack.push((expr, true));
                    stack.extend(expr.args().iter().rev().map(|arg| (arg, false)));
                    continue;
                }
                let id = dag.place(expr, &by_address, &mut known);
                by_address.insert(expr.address(), id);
            }
            dag.roots.push(by_address[&expr.address()]);
        }
        dag
    }

    /// The entry of an expression whose arguments have theirs.
    fn place(&mut self, expr: &Expr, by_address: &FxHashMap<usize, Id>, known: &mut FxHashMap<(u64, u32), Id>) -> Id {
        let args: Vec<Id> = expr.args().iter().map(|arg| by_address[&arg.address()]).collect();
        for number in 0.. {
            let id = *known.entry((expr.structure(), number)).or_insert(self.len());
            if id == self.len() {
                self.entries.push(Entry { op: expr.op().clone(), args });
                self.exprs.push(expr.clone());
                self.derived.push(expr.is_derived());
                return id;
            }
            if self.entries[id].args == args && self.entries[id].op == *expr.op() {
                self.derived[id] &= expr.is_derived();
                return id;
            }
        }
        unreachable!("there are endless numbers")
    }

    /// The one expression that it was made of.
    pub(crate) fn root(&self) -> Id {
        self.roots[0]
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn op(&self, id: Id) -> &Op {
        &self.entries[id].op
    }

    pub(crate) fn args(&self, id: Id) -> &[Id] {
        &self.entries[id].args
    }

    /// A value for every entry, made of those of its arguments.
    pub(crate) fn fold<T>(&self, mut f: impl FnMut(&Op, &[Id], &[T]) -> T) -> Vec<T> {
        let mut values = Vec::with_capacity(self.len());
        for entry in &self.entries {
            let value = f(&entry.op, &entry.args, &values);
            values.push(value);
        }
        values
    }

    /// One more entry over those that are there.
    pub(crate) fn add(&mut self, op: Op, args: Vec<Id>) -> Id {
        let expr = Expr::new(op.clone(), args.iter().map(|arg| self.exprs[*arg].clone()).collect());
        self.entries.push(Entry { op, args });
        self.exprs.push(expr);
        self.derived.push(false);
        self.entries.len() - 1
    }

    /// Whether an entry is a sum that we made and the user wrote nowhere.
    pub(crate) fn is_derived(&self, id: Id) -> bool {
        self.derived[id]
    }

    /// Expressions for all entries.
    pub(crate) fn exprs(&self) -> &[Expr] {
        &self.exprs
    }

    /// How often each entry is used, by others or as a root.
    pub(crate) fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.len()];
        self.entries.iter().flat_map(|entry| &entry.args).chain(&self.roots).for_each(|id| uses[*id] += 1);
        uses
    }

    /// How many entries each is as a tree, without sharing; at most 2⁶⁴ − 1.
    pub(crate) fn tree_sizes(&self) -> Vec<u64> {
        self.fold(|_, args, sizes: &[u64]| args.iter().fold(1, |size: u64, arg| size.saturating_add(sizes[*arg])))
    }

    /// Which entries mention a variable freely.
    pub(crate) fn mentions(&self, name: &str) -> Vec<bool> {
        self.fold(|op, args, found: &[bool]| {
            if let Op::Variable(variable) = op {
                return &**variable == name;
            }
            // The index of a fold is its own.
            let own = matches!(op, Op::Fold(_, index) if &**index == name);
            args.iter().skip(usize::from(own)).any(|arg| found[*arg])
        })
    }
}

impl Expr {
    /// Its free variables, in the order in which they first appear.
    pub fn free_vars(&self) -> Vec<String> {
        free_vars(std::slice::from_ref(self)).iter().map(ToString::to_string).collect()
    }

    /// How many different subexpressions it has.
    pub fn size(&self) -> usize {
        Dag::of(self).len()
    }

    /// It with variables replaced by expressions, all at once. An index of a sum that a replacement mentions gets
    /// another name.
    ///
    /// ```
    /// use retrograd_expr::Expr;
    /// let f = Expr::parse("x^2 + y")?;
    /// assert_eq!(f.substitute(&[("x", Expr::parse("y + 1")?), ("y", Expr::parse("x")?)]).to_string(), "(y + 1)^2 + x");
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[must_use]
    pub fn substitute(&self, with: &[(&str, Expr)]) -> Expr {
        let mentioned = free_vars(&with.iter().map(|(_, expr)| expr.clone()).collect::<Vec<_>>());
        let renamed = renamed_indices(self, &mentioned);
        let dag = Dag::of(&renamed);
        let with: HashMap<&str, &Expr> = with.iter().map(|(name, expr)| (*name, expr)).collect();
        let bound = indices(&dag);
        let replaced = dag.fold(|op, args, exprs: &[Expr]| {
            if let Op::Variable(name) = op
                && !bound.contains(name)
            {
                return with.get(&**name).map_or_else(|| Expr::variable(name.clone()), |expr| (*expr).clone());
            }
            dag.exprs[exprs.len()].over(args.iter().map(|arg| exprs[*arg].clone()).collect())
        });
        replaced[dag.root()].clone()
    }
}

/// Free variables of several expressions, in the order in which they first appear.
pub(crate) fn free_vars(exprs: &[Expr]) -> Vec<Arc<str>> {
    let dag = Dag::of_all(exprs);
    let bound = indices(&dag);
    let variable = |op: &Op| if let Op::Variable(name) = op { Some(name.clone()) } else { None };
    dag.entries.iter().filter_map(|entry| variable(&entry.op)).filter(|name| !bound.contains(name)).collect()
}

/// Names that are indices of sums and products. No name is both an index and a variable: see [`check_indices`].
pub(crate) fn indices(dag: &Dag) -> Vec<Arc<str>> {
    let index = |op: &Op| if let Op::Fold(_, index) = op { Some(index.clone()) } else { None };
    let mut found: Vec<Arc<str>> = dag.entries.iter().filter_map(|entry| index(&entry.op)).collect();
    found.sort();
    found.dedup();
    found
}

/// Indices that have one of these names get another one.
fn renamed_indices(expr: &Expr, avoid: &[Arc<str>]) -> Expr {
    let dag = Dag::of(expr);
    let bound = indices(&dag);
    if !bound.iter().any(|name| avoid.contains(name)) {
        return expr.clone();
    }
    let taken = |name: &str| avoid.iter().chain(&bound).any(|other| &**other == name);
    let fresh = |name: &Arc<str>| -> Arc<str> {
        if !avoid.contains(name) {
            return name.clone();
        }
        let numbered =
            (1..).map(|n| format!("{name}_{n}")).find(|name| !taken(name) && !expr.free_vars().contains(name));
        numbered.expect("there are endless names").into()
    };
    let new: HashMap<Arc<str>, Arc<str>> = bound.iter().map(|name| (name.clone(), fresh(name))).collect();
    let exprs = dag.fold(|op, args, exprs: &[Expr]| {
        let mut op = op.clone();
        if let Op::Variable(name) | Op::Fold(_, name) = &mut op
            && let Some(new) = new.get(name)
        {
            *name = new.clone();
        }
        Expr::new(op, args.iter().map(|arg| exprs[*arg].clone()).collect())
    });
    exprs[dag.root()].clone()
}

/// A name that is both an index and a variable, or the index of a sum and of another inside of it.
pub(crate) fn check_indices(expr: &Expr) -> Option<Arc<str>> {
    let dag = Dag::of(expr);
    // Names of variables, and of indices, that are free in or bound in each entry.
    let bound = indices(&dag);
    bound.into_iter().find(|name| {
        let free = dag.mentions(name);
        let binds = dag.fold(|op, args, found: &[bool]| {
            matches!(op, Op::Fold(_, index) if index == name) || args.iter().any(|arg| found[*arg])
        });
        let nested = dag
            .entries
            .iter()
            .any(|entry| matches!(&entry.op, Op::Fold(_, index) if index == name) && binds[entry.args[0]]);
        nested || dag.roots.iter().any(|root| free[*root])
    })
}
