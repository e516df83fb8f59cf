//! Sums of products over named axes, as `numpy.einsum`: parsed, ordered, and lowered to transposes, sums and
//! contractions.

use std::collections::BTreeMap;
use std::fmt;

use retrograd_compiler::ir::{Attrs, Error, ErrorKind, Pos};
use retrograd_compiler::ops::{self, DotAxes};

use crate::trace::{Traced, Tracer};
use crate::var::{Var, here, leave};

/// Up to so many operands, every order is tried.
const EXHAUSTIVE: usize = 6;

/// The sum of products that a text such as `"ij,jk->ik"` names: a letter per axis, equal letters are equal indices, and
/// those that the result does not have are summed over. Without `->` the result has the letters that occur once, in
/// alphabetical order.
///
/// ```
/// use retrograd::{Array, einsum, grad, jit};
/// let f = jit(|[a, b]| einsum("ij,jk->ki", &[a, b]));
/// let (a, b) = (Array::f64([1, 2], vec![1.0, 2.0]), Array::f64([2, 2], vec![1.0, 2.0, 3.0, 4.0]));
/// assert_eq!(f.run(&[a, b])?, [Array::f64([2, 1], vec![7.0, 10.0])]);
/// let trace = grad(|[a]| einsum("ii", &[a]));
/// assert_eq!(trace.run(&[Array::f64([2, 2], vec![1.0, 2.0, 3.0, 4.0])])?, [Array::f64([2, 2], vec![1.0, 0.0, 0.0, 1.0])]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn einsum<'t>(subscripts: &str, operands: &[Var<'t>]) -> Var<'t> {
    let pos = here();
    let traced: Vec<Traced> = operands.iter().map(|v| v.traced()).collect();
    let missing = || Error::new(ErrorKind::Argument, pos.clone(), "einsum needs an operand");
    operands.first().unwrap_or_else(|| leave(missing())).then(|tracer| tracer.einsum(subscripts, &traced, &pos))
}

/// How a sum of products is computed: two operands at a time, in the order that takes the fewest multiplications (all
/// orders are tried for up to six operands; for more, the cheapest pair is next). It prints.
///
/// ```
/// use retrograd::Contraction;
/// let chain = Contraction::new("ij,jk,kl->il", &[vec![2, 30], vec![30, 40], vec![40, 5]]).unwrap();
/// assert_eq!(chain.to_string(), "ij,jk->ik: 2400\nik,kl->il: 400\n");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contraction {
    operands: Vec<Labels>,
    output: Labels,
    extents: BTreeMap<char, usize>,
    steps: Vec<[usize; 2]>,
}

type Labels = Vec<char>;

impl Contraction {
    /// Reads the text for operands of these shapes; the error says what does not fit.
    pub fn new(subscripts: &str, shapes: &[Vec<usize>]) -> Result<Contraction, String> {
        let (operands, output) = parse(subscripts)?;
        if operands.len() != shapes.len() {
            return Err(format!("`{subscripts}` names {} operands, found {}", operands.len(), shapes.len()));
        }
        let mut extents = BTreeMap::new();
        for (k, (labels, shape)) in operands.iter().zip(shapes).enumerate() {
            if labels.len() != shape.len() {
                return Err(format!(
                    "operand {k} of `{subscripts}` has {} letters, but its shape is {shape:?}",
                    labels.len()
                ));
            }
            for (label, extent) in labels.iter().zip(shape) {
                let known = *extents.entry(*label).or_insert(*extent);
                if known != *extent {
                    return Err(format!("`{label}` of `{subscripts}` is {known} in one place and {extent} in another"));
                }
            }
        }
        let mut contraction = Contraction { operands, output, extents, steps: vec![] };
        let reduced = contraction.reduced();
        contraction.steps = match reduced.len() {
            0..=EXHAUSTIVE => contraction.cheapest(&reduced).1,
            _ => contraction.greedy(reduced),
        };
        Ok(contraction)
    }

    /// Multiplications of all steps.
    pub fn multiplications(&self) -> u128 {
        self.walk().iter().map(|(_, _, _, cost)| cost).sum()
    }

    /// Every operand with the letters that are still needed once it is reduced by itself, each once.
    fn reduced(&self) -> Vec<Labels> {
        let needed = |k: usize, label: char| {
            let others = self.operands.iter().enumerate().filter(|(other, _)| *other != k);
            self.output.contains(&label) || others.into_iter().any(|(_, labels)| labels.contains(&label))
        };
        let reduce = |(k, labels): (usize, &Labels)| {
            let mut kept: Labels = vec![];
            for label in labels {
                if needed(k, *label) && !kept.contains(label) {
                    kept.push(*label);
                }
            }
            kept
        };
        self.operands.iter().enumerate().map(reduce).collect()
    }

    /// The product of two operands of a list: its letters, batch first, then those of the left, then those of the
    /// right.
    fn paired(&self, list: &[Labels], [left, right]: [usize; 2]) -> Pair {
        let (a, b) = (&list[left], &list[right]);
        let later = |label: &char| {
            let others = list.iter().enumerate().filter(|(k, _)| *k != left && *k != right);
            self.output.contains(label) || others.into_iter().any(|(_, labels)| labels.contains(label))
        };
        let shared = |label: &&char| b.contains(label);
        Pair {
            batch: a.iter().filter(shared).filter(|label| later(label)).copied().collect(),
            contracted: a.iter().filter(shared).filter(|label| !later(label)).copied().collect(),
            left: a.iter().filter(|label| !b.contains(label)).copied().collect(),
            right: b.iter().filter(|label| !a.contains(label)).copied().collect(),
        }
    }

    fn cost(&self, pair: &Pair) -> u128 {
        let all = [&pair.batch, &pair.contracted, &pair.left, &pair.right];
        all.into_iter().flatten().fold(1, |product: u128, label| product.saturating_mul(self.extents[label] as u128))
    }

    /// The list after two of its operands have become their product, which takes the place of the left one.
    fn stepped(&self, list: &[Labels], [left, right]: [usize; 2]) -> (Vec<Labels>, u128) {
        let pair = self.paired(list, [left, right]);
        let mut next = list.to_vec();
        next[left] = pair.result();
        next.remove(right);
        (next, self.cost(&pair))
    }

    /// The best of all orders; of equals the first.
    fn cheapest(&self, list: &[Labels]) -> (u128, Vec<[usize; 2]>) {
        let orders = pairs(list.len()).map(|step| {
            let (next, cost) = self.stepped(list, step);
            let (rest, steps) = self.cheapest(&next);
            (cost.saturating_add(rest), [&[step], &steps[..]].concat())
        });
        orders.min_by_key(|(cost, _)| *cost).unwrap_or((0, vec![]))
    }

    /// The cheapest pair next; of equals the first.
    fn greedy(&self, mut list: Vec<Labels>) -> Vec<[usize; 2]> {
        let mut steps = vec![];
        while let Some(step) = pairs(list.len()).min_by_key(|step| self.stepped(&list, *step).1) {
            list = self.stepped(&list, step).0;
            steps.push(step);
        }
        steps
    }

    /// Every step: left, right, result, multiplications.
    fn walk(&self) -> Vec<(Labels, Labels, Labels, u128)> {
        let mut list = self.reduced();
        let step = |step: &[usize; 2]| {
            let (next, cost) = self.stepped(&list, *step);
            let told = (list[step[0]].clone(), list[step[1]].clone(), next[step[0]].clone(), cost);
            list = next;
            told
        };
        self.steps.iter().map(step).collect()
    }
}

impl fmt::Display for Contraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |labels: &Labels| labels.iter().collect::<String>();
        self.walk().iter().try_for_each(|(left, right, result, cost)| {
            writeln!(f, "{},{}->{}: {cost}", text(left), text(right), text(result))
        })
    }
}

/// Letters of a product of two operands, by role.
struct Pair {
    batch: Labels,
    contracted: Labels,
    left: Labels,
    right: Labels,
}

impl Pair {
    fn result(&self) -> Labels {
        [&self.batch[..], &self.left, &self.right].concat()
    }
}

/// All pairs of a list, in order.
fn pairs(count: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..count).flat_map(move |left| (left + 1..count).map(move |right| [left, right]))
}

fn parse(subscripts: &str) -> Result<(Vec<Labels>, Labels), String> {
    let text: String = subscripts.chars().filter(|c| *c != ' ').collect();
    if text.contains('.') {
        return Err(format!("`...` is not supported, found `{subscripts}`; name every axis"));
    }
    let (inputs, output) = match text.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (&text[..], None),
    };
    if let Some(other) =
        inputs.chars().chain(output.unwrap_or("").chars()).find(|c| !c.is_ascii_alphabetic() && *c != ',')
    {
        return Err(format!("axes are named by letters, found `{other}` in `{subscripts}`"));
    }
    let operands: Vec<Labels> = inputs.split(',').map(|labels| labels.chars().collect()).collect();
    let times = |label: char| operands.iter().flatten().filter(|other| **other == label).count();
    let output: Labels = match output {
        Some(output) => output.chars().collect(),
        None => {
            let mut once: Labels = operands.iter().flatten().copied().filter(|label| times(*label) == 1).collect();
            once.sort_unstable();
            once
        }
    };
    if let Some(label) =
        output.iter().enumerate().find(|(k, label)| times(**label) == 0 || output[..*k].contains(label)).map(|(_, l)| l)
    {
        return Err(format!(
            "every letter of the result occurs once there and in an operand, but not `{label}` of `{subscripts}`"
        ));
    }
    Ok((operands, output))
}

impl Tracer {
    /// `numpy.einsum` of floats; what is not of the widest float type is converted to it.
    pub fn einsum(&self, subscripts: &str, args: &[Traced], pos: &Pos) -> Result<Traced, Error> {
        let shapes: Vec<Vec<usize>> = args.iter().map(|v| self.ty(*v).shape).collect();
        let contraction = Contraction::new(subscripts, &shapes)
            .map_err(|message| Error::new(ErrorKind::Shape, pos.clone(), format!("`einsum`: {message}")))?;
        let Some(dtype) = args.iter().map(|v| self.ty(*v).dtype).filter(|dtype| dtype.is_float()).max() else {
            return Err(Error::new(ErrorKind::DType, pos.clone(), "`einsum` needs a float operand; convert one"));
        };
        let mut list = vec![];
        for ((v, labels), kept) in args.iter().zip(&contraction.operands).zip(contraction.reduced()) {
            let v = self.convert(*v, dtype, pos)?;
            list.push((self.reduce_alone(v, labels, &kept, pos)?, kept));
        }
        for [left, right] in &contraction.steps {
            let labels: Vec<Labels> = list.iter().map(|(_, labels)| labels.clone()).collect();
            let pair = contraction.paired(&labels, [*left, *right]);
            let (b, a) = (list.remove(*right), list[*left].clone());
            list[*left] = (self.contract(&pair, a, b, &contraction, pos)?, pair.result());
        }
        let (v, labels) = list.remove(0);
        self.arranged(v, &labels, &contraction.output, pos)
    }

    /// One operand by itself: diagonals of letters that repeat, and sums over letters that nothing else has.
    fn reduce_alone(&self, mut v: Traced, labels: &[char], kept: &[char], pos: &Pos) -> Result<Traced, Error> {
        let mut labels = labels.to_vec();
        while let Some([i, j]) = pairs(labels.len()).find(|[i, j]| labels[*i] == labels[*j]) {
            let order: Vec<usize> = (0..labels.len()).filter(|k| *k != i && *k != j).chain([i, j]).collect();
            v = self.transposed(v, &order, pos)?;
            let mut shape = self.ty(v).shape;
            let n = shape[shape.len() - 1];
            // The diagonal of a matrix is every (n + 1)-th of its elements.
            shape.truncate(shape.len() - 2);
            shape.push(n * n);
            v = self.reshape(v, &shape, pos)?;
            let mut step = vec![1; shape.len()];
            step[shape.len() - 1] = n + 1;
            let attrs = Attrs::none().ints("start", vec![0; shape.len()]).ints("stop", shape).ints("step", step);
            v = self.op(&ops::SLICE, attrs, &[v], pos)?;
            labels = order[..order.len() - 1].iter().map(|k| labels[*k]).collect();
        }
        let summed: Vec<usize> = (0..labels.len()).filter(|k| !kept.contains(&labels[*k])).collect();
        if !summed.is_empty() {
            v = self.sum(v, &summed, pos)?;
            labels.retain(|label| kept.contains(label));
        }
        self.arranged(v, &labels, kept, pos)
    }

    fn transposed(&self, v: Traced, axes: &[usize], pos: &Pos) -> Result<Traced, Error> {
        if axes.iter().copied().eq(0..axes.len()) { Ok(v) } else { self.transpose(v, axes, pos) }
    }

    /// Axes in the order of their letters.
    fn arranged(&self, v: Traced, from: &[char], to: &[char], pos: &Pos) -> Result<Traced, Error> {
        self.transposed(v, &places(from, to), pos)
    }

    /// A product of two operands: a contraction, or elementwise where nothing is summed.
    fn contract(
        &self,
        pair: &Pair,
        (a, left): (Traced, Labels),
        (b, right): (Traced, Labels),
        contraction: &Contraction,
        pos: &Pos,
    ) -> Result<Traced, Error> {
        if !pair.contracted.is_empty() {
            let (lhs, rhs) = (places(&left, &pair.contracted), places(&right, &pair.contracted));
            let (lhs_batch, rhs_batch) = (places(&left, &pair.batch), places(&right, &pair.batch));
            return self.op(&ops::DOT, DotAxes::attrs(&lhs, &rhs, &lhs_batch, &rhs_batch), &[a, b], pos);
        }
        let result = pair.result();
        let shape: Vec<usize> = result.iter().map(|label| contraction.extents[label]).collect();
        let spread = |v: Traced, labels: &[char], own: &[char]| {
            let order = [&pair.batch[..], own].concat();
            let v = self.arranged(v, labels, &order, pos)?;
            if order == result {
                return Ok(v);
            }
            self.op(
                &ops::BROADCAST,
                Attrs::none().ints("shape", shape.clone()).ints("axes", places(&result, &order)),
                &[v],
                pos,
            )
        };
        let (a, b) = (spread(a, &left, &pair.left)?, spread(b, &right, &pair.right)?);
        self.op(&ops::MUL, Attrs::none(), &[a, b], pos)
    }
}

/// Where these letters stand in a list.
fn places(list: &[char], letters: &[char]) -> Vec<usize> {
    letters
        .iter()
        .map(|letter| list.iter().position(|other| other == letter).expect("a letter of the operand"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(subscripts: &str, extents: &[(char, usize)]) -> Contraction {
        let extents: BTreeMap<char, usize> = extents.iter().copied().collect();
        let inputs = subscripts.split("->").next().expect("a text");
        let shapes: Vec<Vec<usize>> =
            inputs.split(',').map(|labels| labels.chars().map(|label| extents[&label]).collect()).collect();
        Contraction::new(subscripts, &shapes).expect("it fits")
    }

    #[test]
    fn chains_are_multiplied_in_the_cheapest_order() {
        // The textbook chain 30×35, 35×15, 15×5, 5×10, 10×20, 20×25 takes 15,125 multiplications.
        let extents = [('a', 30), ('b', 35), ('c', 15), ('d', 5), ('e', 10), ('f', 20), ('g', 25)];
        assert_eq!(order("ab,bc,cd,de,ef,fg->ag", &extents).multiplications(), 15_125);
    }

    #[test]
    fn many_operands_are_ordered_greedily() {
        let extents: Vec<(char, usize)> = "abcdefgh".chars().map(|label| (label, 2)).collect();
        let chain = order("ab,bc,cd,de,ef,fg,gh->ah", &extents);
        assert_eq!(chain.multiplications(), 6 * 8);
        assert_eq!(chain.to_string().lines().count(), 6);
    }

    #[test]
    fn letters_that_one_operand_has_are_summed_before_products() {
        let contraction = order("ijk,kl->l", &[('i', 3), ('j', 4), ('k', 5), ('l', 6)]);
        assert_eq!(contraction.to_string(), "k,kl->l: 30\n");
    }

    #[test]
    fn mistakes_are_named() {
        let message =
            |subscripts: &str, shapes: &[Vec<usize>]| Contraction::new(subscripts, shapes).expect_err("a mistake");
        assert!(message("i...,i", &[vec![2], vec![2]]).contains("name every axis"));
        assert!(message("i1", &[vec![2, 2]]).contains("found `1`"));
        assert!(message("ij->ik", &[vec![2, 2]]).contains("not `k`"));
        assert!(message("ij->ii", &[vec![2, 2]]).contains("not `i`"));
        assert!(message("ij,jk", &[vec![2, 3]]).contains("2 operands"));
        assert!(message("ij", &[vec![2]]).contains("2 letters"));
        assert!(message("ij,jk", &[vec![2, 3], vec![4, 5]]).contains("`j`"));
    }
}
