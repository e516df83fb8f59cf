//! Simplification by equality saturation: all forms that the laws reach at once, and the best of them.
//!
//! An e-class holds forms that are the same partial function at all points that the assumptions allow: defined where
//! the others are, with the same values. A law is applied only where the facts of the classes show its conditions. They
//! are functions of real numbers: zeros have no sign, and a pole is a place where a function is not defined.

mod accuracy;
mod assume;
mod facts;
mod rules;
mod term;

use std::time::Duration;

use egg::{AstDepth, CostFunction, Extractor, Id, Language, Rewrite, Runner};
use retrograd::{Error, ErrorKind, Pos};

use crate::dag::Dag;
use crate::expr::{Expr, Op};

pub use accuracy::most_accurate;
pub use assume::Assumptions;
pub use facts::Facts;
pub use rules::{Condition, LAWS, Law, Way};
use term::{Known, Term, rewrites};

/// What makes a form the better one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cost {
    /// Fewer operations.
    #[default]
    Size,
    /// Fewer operations inside of each other.
    Depth,
    /// Less measured work.
    Work,
}

/// How far simplification goes. There is no clock: the same input gives the same output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Forms that are held at once.
    pub nodes: usize,
    /// Rounds in which all laws are tried.
    pub iterations: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { nodes: 4_000, iterations: 9 }
    }
}

/// The simplest form that is found of an expression whose variables are real numbers.
///
/// It is defined where the expression is, and has its values there: `x/x` stays, unless it is assumed that x is not 0.
/// Expressions of more than half as many operations as the limit of nodes come back as they are.
///
/// ```
/// use retrograd_expr::{Assumptions, Expr, simplify, simplify_with};
/// assert_eq!(simplify(&Expr::parse("sin(x)^2 + cos(x)^2 + 0*y")?)?.to_string(), "1");
/// assert_eq!(simplify(&Expr::parse("x/x")?)?.to_string(), "x/x");
/// let positive = Assumptions::new().assume("x > 0")?;
/// assert_eq!(simplify_with(&Expr::parse("x/x + exp(log(x))")?, &positive)?.to_string(), "x + 1");
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn simplify(expr: &Expr) -> Result<Expr, Error> {
    simplify_with(expr, &Assumptions::new())
}

/// As [`simplify`], at points that satisfy assumptions.
pub fn simplify_with(expr: &Expr, assumptions: &Assumptions) -> Result<Expr, Error> {
    Simplifier { assumptions: assumptions.clone(), ..Simplifier::default() }.simplify(expr)
}

/// Simplification with its settings.
#[derive(Clone, Debug, Default)]
pub struct Simplifier {
    /// What is known of variables.
    pub assumptions: Assumptions,
    /// Which form is best.
    pub cost: Cost,
    /// When to stop.
    pub limits: Limits,
}

/// Why two forms are equal: the forms from the first to the last, with the law that leads to each.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Where it begins.
    pub start: Expr,
    /// Each form that follows, and why it equals the one before.
    pub steps: Vec<(Expr, String)>,
}

impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "  {}", self.start)?;
        self.steps.iter().try_for_each(|(expr, reason)| writeln!(f, "= {expr}    ({reason})"))
    }
}

impl Simplifier {
    /// The best form of an expression.
    pub fn simplify(&self, expr: &Expr) -> Result<Expr, Error> {
        self.inside_out(expr, 0)
    }

    /// Arguments of what is no function of numbers first; it is a letter for the expression around it.
    fn inside_out(&self, expr: &Expr, depth: usize) -> Result<Expr, Error> {
        const DEPTH: usize = 40;
        let dag = Dag::of(expr);
        if dag.len() * 2 > self.limits.nodes || depth > DEPTH {
            return Ok(expr.clone());
        }
        let (outer, letters) = opaque(&dag);
        let mut runner = self.saturated(&outer, false)?;
        let best = numbers_first(&self.extracted(&mut runner));
        let mut with = vec![];
        for (name, inner) in &letters {
            let args = inner.args().iter().map(|arg| self.inside_out(arg, depth + 1)).collect::<Result<Vec<_>, _>>()?;
            with.push((name.as_str(), Expr::new(inner.op().clone(), args)));
        }
        Ok(best.substitute(&with))
    }

    /// How the best form follows from the expression, law by law. What is no function of numbers stays as it is.
    ///
    /// ```
    /// use retrograd_expr::{Assumptions, Expr, Simplifier};
    /// let simplifier = Simplifier { assumptions: Assumptions::new().assume("x > 0")?, ..Simplifier::default() };
    /// let explanation = simplifier.explain(&Expr::parse("exp(log(x))")?)?;
    /// assert_eq!(explanation.to_string(), "  exp(log(x))\n= x    (exp of log: exp(log(a)) = a, since a > 0)\n");
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    pub fn explain(&self, expr: &Expr) -> Result<Explanation, Error> {
        let dag = Dag::of(expr);
        if dag.len() * 2 > self.limits.nodes {
            return Ok(Explanation { start: expr.clone(), steps: vec![] });
        }
        let (outer, letters) = opaque(&dag);
        let with: Vec<(&str, Expr)> = letters.iter().map(|(name, inner)| (name.as_str(), inner.clone())).collect();
        let mut runner = self.saturated(&outer, true)?;
        let best = self.extracted(&mut runner);
        let mut explanation = runner.explain_equivalence(&term::of_expr(&outer), &term::of_expr(&best));
        let mut steps: Vec<(Expr, String)> = vec![];
        let mut last = outer;
        for form in explanation.make_flat_explanation() {
            let next = term::of_form(form);
            if let Some(law) = term::law_of(form)
                && next != last
            {
                steps.push((next.substitute(&with), said(&law)));
                last = next;
            }
        }
        Ok(Explanation { start: expr.clone(), steps })
    }

    /// Whether two expressions are the same partial function, as far as the laws show.
    ///
    /// ```
    /// use retrograd_expr::{Expr, Simplifier};
    /// let equal = |a, b| Simplifier::default().proves_equal(&Expr::parse(a)?, &Expr::parse(b)?);
    /// assert!(equal("(x + y)^2", "x^2 + 2*x*y + y^2")?);
    /// assert!(!equal("x/x", "1")?);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    pub fn proves_equal(&self, a: &Expr, b: &Expr) -> Result<bool, Error> {
        let (difference, _) = opaque(&Dag::of(&(a - b)));
        let [a, b] = [&difference.args()[0], &difference.args()[1]].map(term::of_expr);
        let runner = self.run(Runner::new(Known::new(&self.assumptions)).with_expr(&a).with_expr(&b))?;
        Ok(runner.egraph.find(runner.roots[0]) == runner.egraph.find(runner.roots[1]))
    }

    /// Subexpressions that have the form of a pattern, in which names that begin with an underscore stand for any
    /// expression: what stands for each of them, modulo the laws that reorder sums and products.
    ///
    /// ```
    /// use retrograd_expr::{Expr, Simplifier};
    /// let found = Simplifier::default().matches(&Expr::parse("1 + y*sin(2*x)")?, &Expr::parse("sin(_a)*_b")?)?;
    /// assert_eq!(found.len(), 1);
    /// assert_eq!((found[0]["_a"].to_string(), found[0]["_b"].to_string()), ("2*x".into(), "y".into()));
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    pub fn matches(&self, expr: &Expr, pattern: &Expr) -> Result<Vec<std::collections::BTreeMap<String, Expr>>, Error> {
        let (outer, letters) = opaque(&Dag::of(expr));
        let with: Vec<(&str, Expr)> = letters.iter().map(|(name, inner)| (name.as_str(), inner.clone())).collect();
        let runner = Runner::new(Known::new(&self.assumptions)).with_expr(&term::of_expr(&outer));
        let reorder: Vec<Rewrite<Term, Known>> =
            rewrites().iter().filter(|rule| rule.name.as_str().ends_with("commutes")).cloned().collect();
        let runner = self.limited(runner).run(&reorder);
        let extractor = Extractor::new(&runner.egraph, Weight(Cost::Size));
        let found = term::search(&runner.egraph, pattern);
        let shown = |id: Id| term::to_expr(&extractor.find_best(id).1).substitute(&with);
        let mut all: Vec<_> =
            found.into_iter().map(|found| found.into_iter().map(|(name, id)| (name, shown(id))).collect()).collect();
        all.sort();
        all.dedup();
        Ok(all)
    }

    /// The best form of each of several expressions of numbers, found together, by these laws.
    pub(crate) fn all(&self, exprs: &[Expr], laws: &[Rewrite<Term, Known>]) -> Result<Vec<Expr>, Error> {
        let runner = exprs
            .iter()
            .fold(Runner::new(Known::new(&self.assumptions)), |runner, expr| runner.with_expr(&term::of_expr(expr)));
        let runner = checked(self.limited(runner).run(laws))?;
        let extractor = Extractor::new(&runner.egraph, Weight(self.cost));
        Ok(runner.roots.iter().map(|root| term::to_expr(&extractor.find_best(*root).1)).collect())
    }

    fn limited(&self, runner: Runner<Term, Known>) -> Runner<Term, Known> {
        // A clock would make results depend on the machine: it never strikes.
        const NEVER: Duration = Duration::from_secs(1 << 40);
        runner.with_node_limit(self.limits.nodes).with_iter_limit(self.limits.iterations).with_time_limit(NEVER)
    }

    fn saturated(&self, expr: &Expr, explained: bool) -> Result<Runner<Term, Known>, Error> {
        let runner = Runner::new(Known::new(&self.assumptions));
        let runner = if explained { runner.with_explanations_enabled() } else { runner };
        self.run(runner.with_expr(&term::of_expr(expr)))
    }

    fn run(&self, runner: Runner<Term, Known>) -> Result<Runner<Term, Known>, Error> {
        checked(self.limited(runner).run(rewrites()))
    }

    fn extracted(&self, runner: &mut Runner<Term, Known>) -> Expr {
        let root = runner.roots[0];
        let best = match self.cost {
            Cost::Depth => Extractor::new(&runner.egraph, AstDepth).find_best(root).1,
            Cost::Size | Cost::Work => Extractor::new(&runner.egraph, Weight(self.cost)).find_best(root).1,
        };
        term::to_expr(&best)
    }
}

/// What was found, unless it contradicts itself.
fn checked(runner: Runner<Term, Known>) -> Result<Runner<Term, Known>, Error> {
    match &runner.egraph.analysis.contradiction {
        None => Ok(runner),
        Some((a, b)) => {
            let message =
                format!("two things that differ were found equal: {a} and {b}; are the assumptions consistent?");
            Err(Error::new(ErrorKind::Argument, Pos::unknown(), message))
        }
    }
}

/// The laws but these.
pub(crate) fn without(names: &[&str]) -> Vec<Rewrite<Term, Known>> {
    rewrites().iter().filter(|law| !names.contains(&law.name.as_str())).cloned().collect()
}

/// A law with its conditions, in its own letters.
fn said(name: &str) -> String {
    let Some(law) = LAWS.iter().find(|law| law.name == name) else { return name.to_owned() };
    let conditions: Vec<String> = law.conditions.iter().map(|(letter, condition)| condition.said(*letter)).collect();
    let because = if conditions.is_empty() { String::new() } else { format!(", since {}", conditions.join(" and ")) };
    format!("{name}: {} = {}{because}", law.left, law.right)
}

/// Products begin with their number.
fn numbers_first(expr: &Expr) -> Expr {
    let dag = Dag::of(expr);
    let exprs = dag.fold(|op, args, exprs: &[Expr]| {
        let mut args: Vec<Expr> = args.iter().map(|arg| exprs[*arg].clone()).collect();
        if *op == Op::Call(crate::Function::Mul) && args[0].as_number().is_none() && args[1].as_number().is_some() {
            args.reverse();
        }
        Expr::new(op.clone(), args)
    });
    exprs[dag.root()].clone()
}

/// Sums of what operations cost; numbers and variables are nearly free, so that of two forms with equal operations the
/// shorter wins.
struct Weight(Cost);

impl CostFunction<Term> for Weight {
    type Cost = u64;
    fn cost<C: FnMut(Id) -> u64>(&mut self, term: &Term, mut costs: C) -> u64 {
        const LEAF: u64 = 2;
        let own = match (&term.op, self.0) {
            (Op::Call(function), Cost::Work) => 1 + 4 * u64::from(function.row().op.cost),
            (Op::Call(crate::Function::Neg), Cost::Size | Cost::Depth) => 2,
            (Op::Call(_), Cost::Size | Cost::Depth) => 4,
            // A square is shorter than a product.
            (Op::Number(_), Cost::Size | Cost::Depth | Cost::Work) => 1,
            _ => LEAF,
        };
        term.fold(own, |sum, id| sum.saturating_add(costs(id)))
    }
}

/// The expression with letters for what is no function of numbers.
fn opaque(dag: &Dag) -> (Expr, Vec<(String, Expr)>) {
    let whole = dag.exprs();
    let mut letters = vec![];
    let exprs = dag.fold(|op, args, exprs: &[Expr]| match op {
        Op::Number(_) | Op::Constant(_) | Op::Variable(_) | Op::Call(_) => {
            Expr::new(op.clone(), args.iter().map(|arg| exprs[*arg].clone()).collect())
        }
        Op::Array(_) | Op::Einsum(_) | Op::Stack | Op::Index | Op::Fold(..) | Op::StopGradient | Op::Custom(_) => {
            // A name that cannot be written.
            let name = format!("#{}", letters.len());
            let inner = Expr::new(op.clone(), args.iter().map(|arg| whole[*arg].clone()).collect());
            letters.push((name.clone(), inner));
            Expr::variable(name)
        }
    });
    (exprs[dag.root()].clone(), letters)
}
