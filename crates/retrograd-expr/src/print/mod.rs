//! Printing: infix notation, S-expressions, LaTeX, C and Rust.
//!
//! Small expressions print as trees. In large ones, and where they nest deeply, what is used more than once gets a
//! name, so that the text is as short as the expression is.

mod code;
mod infix;
mod latex;
mod sexpr;

use std::collections::HashSet;
use std::sync::Arc;

use crate::dag::{Dag, Id};
use crate::expr::{Expr, Op};

/// Up to this many entries an expression prints as a tree.
const TREE: u64 = 400;
/// Subexpressions of fewer entries are written again instead of named.
const NAMED: u64 = 4;
/// Where text would nest deeper than this, what is inside gets a name; reading allows more.
const NESTING: usize = 60;

/// Which entries are printed by name, before the expression.
struct Named {
    /// The name of each entry that has one.
    names: Vec<Option<Arc<str>>>,
    /// Those entries, in an order in which each is known before it is used.
    order: Vec<Id>,
}

impl Named {
    /// Names for what a printer should not write in place. What mentions an index of a sum stays inside of it.
    fn of(dag: &Dag) -> Named {
        let sizes = dag.tree_sizes();
        let whole: u64 = dag.roots.iter().fold(0, |sum: u64, root| sum.saturating_add(sizes[*root]));
        let uses = dag.uses();
        let bound: Vec<bool> = mentions_index(dag);
        let mut named = Named { names: vec![None; dag.len()], order: vec![] };
        let mut nesting = vec![0_usize; dag.len()];
        let mut fresh = Fresh::new(dag);
        for id in 0..dag.len() {
            nesting[id] = nesting_of(dag, id, &nesting);
            let often = whole > TREE && uses[id] > 1 && sizes[id] >= NAMED;
            if !bound[id] && (often || nesting[id] > NESTING) && !dag.roots.contains(&id) {
                named.names[id] = Some(fresh.next());
                named.order.push(id);
                nesting[id] = 0;
            }
        }
        named
    }
}

/// Which entries mention an index from outside of its sum.
fn mentions_index(dag: &Dag) -> Vec<bool> {
    let bound: HashSet<Arc<str>> = crate::dag::indices(dag).into_iter().collect();
    if bound.is_empty() {
        return vec![false; dag.len()];
    }
    // Inside of nested sums an entry may mention several; those that a sum binds leave it.
    let sets = dag.fold(|op, args, sets: &[Vec<Arc<str>>]| {
        if let Op::Variable(name) = op {
            return if bound.contains(name) { vec![name.clone()] } else { vec![] };
        }
        let mut set: Vec<Arc<str>> = args.iter().flat_map(|arg| sets[*arg].iter().cloned()).collect();
        set.sort();
        set.dedup();
        if let Op::Fold(_, index) = op {
            set.retain(|name| name != index);
        }
        set
    });
    sets.iter().map(|set| !set.is_empty()).collect()
}

/// How deep reading must go: the left side of a chain of sums or products costs nothing.
fn nesting_of(dag: &Dag, id: Id, nesting: &[usize]) -> usize {
    let chain = |arg: Id| infix::is_left_side(dag, id, arg);
    let deepest =
        dag.args(id).iter().enumerate().map(|(k, arg)| nesting[*arg] + if k == 0 && chain(*arg) { 0 } else { 2 });
    deepest.max().unwrap_or(0)
}

/// Names that the expression does not use.
struct Fresh {
    taken: HashSet<Arc<str>>,
    count: usize,
}

impl Fresh {
    fn new(dag: &Dag) -> Fresh {
        let variable = |op: &Op| match op {
            Op::Variable(name) | Op::Fold(_, name) => Some(name.clone()),
            Op::Number(_) | Op::Constant(_) | Op::Call(_) | Op::Array(_) | Op::Einsum(_) | Op::Stack | Op::Index => {
                None
            }
            Op::StopGradient | Op::Custom(_) => None,
        };
        Fresh { taken: dag.entries.iter().filter_map(|entry| variable(&entry.op)).collect(), count: 0 }
    }

    fn next(&mut self) -> Arc<str> {
        loop {
            self.count += 1;
            let name: Arc<str> = format!("t{}", self.count).into();
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }
}

/// What is left to write, the next last: printing goes as deep as an expression without going deep itself.
enum Piece {
    Text(String),
    /// An entry where only what binds at least so strongly needs no parentheses.
    Entry(Id, u8),
}

fn text(text: impl Into<String>) -> Piece {
    Piece::Text(text.into())
}

/// Writes pieces until none is left; `expand` turns an entry into pieces, in order.
fn written(start: Piece, mut expand: impl FnMut(Id, u8) -> Vec<Piece>) -> String {
    let (mut out, mut rest) = (String::new(), vec![start]);
    while let Some(piece) = rest.pop() {
        match piece {
            Piece::Text(text) => out.push_str(&text),
            Piece::Entry(id, least) => rest.extend(expand(id, least).into_iter().rev()),
        }
    }
    out
}

/// Pieces between separators.
fn joined(pieces: impl IntoIterator<Item = Piece>, separator: &str) -> Vec<Piece> {
    let mut all = vec![];
    for piece in pieces {
        if !all.is_empty() {
            all.push(text(separator));
        }
        all.push(piece);
    }
    all
}

impl std::fmt::Display for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&infix::print(self))
    }
}

impl Expr {
    /// As an S-expression: `(+ (* x (sin y)) 1)`.
    ///
    /// ```
    /// use retrograd_expr::Expr;
    /// assert_eq!(Expr::parse("x*sin(y) + 1")?.to_sexpr(), "(+ (* x (sin y)) 1)");
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    pub fn to_sexpr(&self) -> String {
        sexpr::print(self)
    }

    /// In LaTeX.
    ///
    /// ```
    /// use retrograd_expr::Expr;
    /// assert_eq!(Expr::parse("x^2/(1 + sqrt(y))")?.to_latex(), r"\frac{x^{2}}{1 + \sqrt{y}}");
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    pub fn to_latex(&self) -> String {
        latex::print(self)
    }

    /// As a C function of doubles of that name, its variables in order; what is used more than once is computed once.
    /// What is not elementwise has no such form.
    ///
    /// ```
    /// use retrograd_expr::Expr;
    /// let code = Expr::parse("x^2 + sin(y)")?.to_c("f")?;
    /// assert!(code.ends_with("double f(double x, double y) {\n    return x * x + sin(y);\n}\n"), "{code}");
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    pub fn to_c(&self, name: &str) -> Result<String, retrograd::Error> {
        code::print(self, name, code::Language::C)
    }

    /// As a Rust function of `f64`s, as [`to_c`](Expr::to_c).
    pub fn to_rust(&self, name: &str) -> Result<String, retrograd::Error> {
        code::print(self, name, code::Language::Rust)
    }
}
