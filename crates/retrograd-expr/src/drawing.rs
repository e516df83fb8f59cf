//! The operations of an expression as a graph, with adjoints on its edges.

use std::fmt::Write;

use retrograd::{Error, ErrorKind, Pos};

use crate::dag::Dag;
use crate::derivative::{adjoints, contribution};
use crate::expr::{Expr, Op};
use crate::plot::escaped;

/// What is drawn: every different subexpression once, arguments before those that use them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// What stands at each node: a function, a variable or a number.
    pub nodes: Vec<String>,
    /// From an argument to who reads it, with what the argument gets of the adjoint; empty where it gets nothing.
    pub edges: Vec<(usize, usize, String)>,
}

/// The graph of an expression of numbers; on each edge, the adjoint that flows back along it.
///
/// ```
/// use retrograd_expr::{Expr, graph};
/// let graph = graph(&Expr::parse("x*sin(y)")?)?;
/// assert_eq!(graph.nodes, ["x", "y", "sin", "*"]);
/// assert!(graph.edges.contains(&(1, 2, "x*cos(y)".into())));
/// assert!(graph.to_dot().starts_with("digraph") && graph.to_svg().starts_with("<svg"));
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn graph(expr: &Expr) -> Result<Graph, Error> {
    let dag = Dag::of(expr);
    let of_numbers =
        |op: &Op| matches!(op, Op::Number(_) | Op::Constant(_) | Op::Variable(_) | Op::Call(_) | Op::StopGradient);
    if !dag.entries.iter().all(|entry| of_numbers(&entry.op)) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            Pos::unknown(),
            "adjoints are drawn for functions of numbers alone",
        ));
    }
    let (exprs, adjoints) = (dag.exprs(), adjoints(&dag));
    let mut graph = Graph { nodes: vec![], edges: vec![] };
    for (id, entry) in dag.entries.iter().enumerate() {
        graph.nodes.push(match &entry.op {
            Op::Call(function) => function.row().name.to_owned(),
            Op::StopGradient => "stop_gradient".to_owned(),
            Op::Number(_)
            | Op::Constant(_)
            | Op::Variable(_)
            | Op::Array(_)
            | Op::Einsum(_)
            | Op::Stack
            | Op::Index => exprs[id].to_string(),
            Op::Fold(..) | Op::Custom(_) => exprs[id].to_string(),
        });
        let args: Vec<&Expr> = entry.args.iter().map(|arg| &exprs[*arg]).collect();
        for (k, arg) in entry.args.iter().enumerate() {
            let part = match (&entry.op, &adjoints[id]) {
                (Op::Call(function), Some(adjoint)) => contribution(*function, k, &args, &exprs[id], adjoint),
                _ => None,
            };
            graph.edges.push((*arg, id, part.map_or_else(String::new, |part| part.to_string())));
        }
    }
    Ok(graph)
}

impl Graph {
    /// In DOT, the language of Graphviz; the result is at the top.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph expression {\n  rankdir=BT;\n  node [shape=box];\n");
        for (id, label) in self.nodes.iter().enumerate() {
            let _ = writeln!(out, "  n{id} [label=\"{}\"];", quoted(label));
        }
        for (from, to, adjoint) in &self.edges {
            let _ = writeln!(out, "  n{from} -> n{to} [label=\"{}\"];", quoted(adjoint));
        }
        out + "}\n"
    }

    /// A picture: the result at the top, each node above its arguments. A long adjoint is cut, and whole where the
    /// pointer rests on it.
    pub fn to_svg(&self) -> String {
        const EDGE: f64 = 40.0;
        const ROW: f64 = 84.0;
        let places = self.places();
        let width = 2.0 * EDGE + places.iter().map(|place| place.0).fold(0.0, f64::max);
        let height = 2.0 * EDGE + ROW * places.iter().map(|place| place.1).fold(0.0, f64::max);
        let at = |id: usize| (EDGE + places[id].0, height - EDGE - ROW * places[id].1);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             font-family=\"sans-serif\" font-size=\"12\" text-anchor=\"middle\">\n"
        );
        let mut before: std::collections::BTreeMap<(usize, usize), usize> = std::collections::BTreeMap::new();
        for (from, to, adjoint) in &self.edges {
            let ((x1, y1), (x2, y2)) = (at(*from), at(*to));
            // Edges between the same two nodes, as of x*x, bend apart.
            let bend = 40.0 * before.get(&(*from, *to)).copied().unwrap_or(0) as f64;
            *before.entry((*from, *to)).or_insert(0) += 1;
            let (cx, cy) = (f64::midpoint(x1, x2) + bend, f64::midpoint(y1, y2));
            let _ = writeln!(
                out,
                "<path d=\"M{x1:.0} {y1:.0} Q{cx:.0} {cy:.0} {x2:.0} {y2:.0}\" fill=\"none\" stroke=\"#999\"/>"
            );
            if !adjoint.is_empty() {
                let (x, y) = (0.25 * x1 + 0.5 * cx + 0.25 * x2, 0.25 * y1 + 0.5 * cy + 0.25 * y2);
                let _ = writeln!(
                    out,
                    "<text x=\"{x:.0}\" y=\"{y:.0}\" fill=\"#d62728\">{}<title>{}</title></text>",
                    escaped(&short(adjoint)),
                    escaped(adjoint)
                );
            }
        }
        for (id, label) in self.nodes.iter().enumerate() {
            let ((x, y), half) = (at(id), half_width(label));
            let (left, wide, top, text) = (x - half, 2.0 * half, y - 12.0, y + 4.0);
            let _ = writeln!(
                out,
                "<rect x=\"{left:.0}\" y=\"{top:.0}\" width=\"{wide:.0}\" height=\"24\" rx=\"4\" fill=\"#fff\" \
                 stroke=\"#1f77b4\"/><text x=\"{x:.0}\" y=\"{text:.0}\">{}</text>",
                escaped(&short(label))
            );
        }
        out + "</svg>\n"
    }

    /// Columns in points and rows: a row above all arguments; in a row, the order of what is below (Sugiyama, Tagawa
    /// and Toda, 1981).
    fn places(&self) -> Vec<(f64, f64)> {
        const GAP: f64 = 90.0;
        let mut rows: Vec<usize> = vec![0; self.nodes.len()];
        for (from, to, _) in &self.edges {
            rows[*to] = rows[*to].max(rows[*from] + 1);
        }
        let mut columns = vec![0.0; self.nodes.len()];
        for row in 0..=rows.iter().copied().max().unwrap_or(0) {
            let mut members: Vec<(f64, usize)> = (0..self.nodes.len())
                .filter(|id| rows[*id] == row)
                .map(|id| {
                    let below: Vec<f64> =
                        self.edges.iter().filter(|edge| edge.1 == id).map(|edge| columns[edge.0]).collect();
                    (if below.is_empty() { f64::INFINITY } else { below.iter().sum::<f64>() / below.len() as f64 }, id)
                })
                .collect();
            members.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let mut next = 0.0_f64;
            for (wanted, id) in members {
                let half = half_width(&self.nodes[id]);
                let column = if wanted.is_finite() { wanted.max(next + half) } else { next + half };
                columns[id] = column;
                next = column + half + GAP;
            }
        }
        columns.into_iter().zip(rows.into_iter().map(|row| row as f64)).collect()
    }
}

/// Half of the width of a box, in points.
fn half_width(label: &str) -> f64 {
    8.0 + 3.6 * short(label).chars().count() as f64
}

fn short(text: &str) -> String {
    const LONGEST: usize = 28;
    if text.chars().count() <= LONGEST {
        text.to_owned()
    } else {
        text.chars().take(LONGEST - 1).chain(['…']).collect()
    }
}

/// A text of DOT.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
