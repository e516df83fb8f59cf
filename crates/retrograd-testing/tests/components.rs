//! Small trailing axes are components of the elements before them: reductions over them and broadcasts into them stay
//! in one nest, sums over axes of the nest leave it as sums, and every bit is that of the interpreter.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, Scalar, verify};
use retrograd_compiler::lower::{kernel::Stmt, lower};
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::memory::Node;
use retrograd_compiler::plan::strategy::RecomputeAll;
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::native::Native;

/// Forces between all pairs of bodies.
const PAIRS: &str = "fn main(%x: f64[20,3], %m: f64[20]) -> f64[20,3] {
  %0: f64[20,20,3] = broadcast %x {shape=[20, 20, 3], axes=[1, 2]}
  %1: f64[20,20,3] = broadcast %x {shape=[20, 20, 3], axes=[0, 2]}
  %2: f64[20,20,3] = sub %0, %1
  %3: f64[20,20,3] = mul %2, %2
  %4: f64[20,20] = sum %3 {axes=[2]}
  %5: f64[20,20] = broadcast %m {shape=[20, 20], axes=[1]}
  %6: f64[20,20] = add %4, %5
  %7: f64[20,20] = sqrt %6
  %8: f64[20,20,3] = broadcast %7 {shape=[20, 20, 3], axes=[0, 1]}
  %9: f64[20,20,3] = mul %8, %2
  %10: f64[20,3] = sum %9 {axes=[1]}
  return %10
}
";

/// Code over matrices of 3 by 2, one for each of 11 elements, and over rows of 9.
const OTHERS: &[(&str, &str)] = &[
    (
        "every reduction",
        "  %0: f64[11,3,2] = mul %a, %a
  %1: f64[11,3] = sum %0 {axes=[2]}
  %2: f64[11,2] = reduce_max %0 {axes=[1]}
  %3: f64[11] = prod %0 {axes=[1, 2]}
  %4: f64[11,3,2] = broadcast %1 {shape=[11, 3, 2], axes=[0, 1]}
  %5: f64[11,3,2] = broadcast %2 {shape=[11, 3, 2], axes=[0, 2]}
  %6: f64[11,3,2] = broadcast %3 {shape=[11, 3, 2], axes=[0]}
  %7: f64[11,3,2] = add %4, %5
  %8: f64[11,3,2] = add %6, %7
  return %8
",
    ),
    (
        "a sum from components that are -0",
        "  %z: f64 = constant {value=-0.0}
  %0: f64[11,3,2] = broadcast %z {shape=[11, 3, 2], axes=[]}
  %1: f64[11,3,2] = mul %a, %a
  %2: f64[11,3,2] = mul %0, %1
  %3: f64[11,3] = sum %2 {axes=[2]}
  %4: f64[11,2] = sum %2 {axes=[1]}
  %5: f64[11,3,2] = broadcast %3 {shape=[11, 3, 2], axes=[0, 1]}
  %6: f64[11,3,2] = broadcast %4 {shape=[11, 3, 2], axes=[0, 2]}
  %7: f64[11,3,2] = max %5, %6
  return %7
",
    ),
    (
        "slices, transposes and reversals of components",
        "  %0: f64[11,3,2] = sin %a
  %1: f64[11,3,1] = slice %0 {start=[0, 0, 1], stop=[11, 3, 2], step=[1, 1, 1]}
  %2: f64[11,3] = reshape %1 {shape=[11, 3]}
  %3: f64[11,2,3] = transpose %0 {axes=[0, 2, 1]}
  %4: f64[11,2,3] = reverse %3 {axes=[2]}
  %5: f64[11,2,3] = broadcast %2 {shape=[11, 2, 3], axes=[0, 2]}
  %6: f64[11,2,3] = mul %4, %5
  %7: i64[11,2,3] = iota {type=i64[11,2,3], axis=[2]}
  %8: f64[11,2,3] = convert %7 {dtype=f64}
  %9: f64[11,2,3] = mul %6, %8
  %10: f64[11,3,2] = transpose %9 {axes=[0, 2, 1]}
  %11: f64[11,3,2] = exp %10
  return %11
",
    ),
    (
        "sums over the elements, before and after them",
        "  %0: f64[11,3,2] = cos %a
  %1: f64[3,2] = sum %0 {axes=[0]}
  %2: f64[11,3] = sum %0 {axes=[2]}
  %3: f64[3] = sum %2 {axes=[0]}
  %4: f64[3,2] = broadcast %3 {shape=[3, 2], axes=[0]}
  %5: f64[3,2] = add %1, %4
  %6: f64[11,3,2] = broadcast %5 {shape=[11, 3, 2], axes=[1, 2]}
  return %6
",
    ),
];

fn parsed(text: &str) -> Program {
    let program = ops::parse(text, "components.rg").unwrap();
    verify(&program).unwrap();
    program
}

fn others() -> impl Iterator<Item = (&'static str, Program)> {
    let whole = |body: &str| parsed(&format!("fn main(%a: f64[11,3,2]) -> f64[11,3,2] {{\n{body}}}\n"));
    OTHERS.iter().map(move |(name, body)| (*name, whole(body)))
}

fn inputs(program: &Program) -> Vec<Array> {
    let number = |k: usize| 1.5 + (k as f64 * 0.7).sin();
    let types = program.main().param_types();
    types.iter().map(|ty| Array::f64(ty.shape.clone(), (0..ty.elements()).map(number).collect::<Vec<_>>())).collect()
}

/// Machine code of a Program, which has the bits of the interpreter.
fn checked(name: &str, program: &Program) -> Native {
    let program = freeze(&simplify(program));
    let mut inputs = inputs(&program);
    let native = Native::new(&program, Arc::new(RecomputeAll), None).unwrap();
    for factor in [1.0, -1.0, 0.0] {
        inputs = inputs
            .iter()
            .map(|x| Array::f64(x.shape().to_vec(), x.as_f64().iter().map(|x| factor * x).collect::<Vec<_>>()))
            .collect();
        let expected = eval::run(&program, &inputs).unwrap();
        native.check(&inputs, &expected).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    native
}

#[test]
fn values_and_gradients_have_the_bits_of_the_interpreter() {
    for (name, program) in others().chain([("pairs", parsed(PAIRS))]) {
        checked(name, &program);
        let all: Vec<usize> = (0..program.main().params.len()).collect();
        checked(name, &diff::vjp(&program, &all, &[0]).unwrap());
    }
}

/// All pairs go by in one nest, of which nothing is stored but the sums; points and sums are copied so that they lie
/// along its lanes.
#[test]
fn pairs_are_never_in_memory() {
    let native = checked("pairs", &parsed(PAIRS));
    let nests = native
        .plan
        .placed()
        .body
        .nodes
        .iter()
        .map(|node| if let Node::Nest(nest) = node { nest.shape.as_slice() } else { &[] });
    assert_eq!(nests.collect::<Vec<_>>(), [[3, 20].as_slice(), &[20, 20], &[20]]);
    // Two arrays of points, of which the first fills up its cache lines.
    assert_eq!(native.plan.bytes_peak, 512 + 20 * 3 * 8);
}

/// Whatever moves along the lanes of all pairs, values and gradient, is contiguous there.
#[test]
fn pairs_read_and_write_along_their_lanes() {
    let program = parsed(PAIRS);
    for program in [program.clone(), diff::vjp(&program, &[0, 1], &[0]).unwrap()] {
        let native = checked("pairs", &program);
        let mut strides = vec![];
        strides_of_roots(&lower(&native.plan).kernel().body, &mut strides);
        assert!(strides.len() > 3 && strides.iter().all(|stride| *stride == 8), "{strides:?}");
    }
}

/// Forces summed over either body, of which one sum is along the lanes: in two rows at a time, three components each,
/// and of 21 rows the last alone.
#[test]
fn rows_are_summed_beside_each_other() {
    let both = PAIRS
        .replace("return %10", "%11: f64[20,3] = sum %9 {axes=[0]}\n  return %10, %11")
        .replace(" -> f64[20,3]", " -> f64[20,3], f64[20,3]");
    let native = checked("pairs of 21", &parsed(&both.replace("20", "21")));
    let mut sums = vec![];
    sums_of_loops(&lower(&native.plan).kernel().body, &mut sums);
    assert_eq!(sums, [6, 3]);
}

/// How many sums each loop takes whose steps only load and add.
fn sums_of_loops(body: &[Stmt], sums: &mut Vec<usize>) {
    for stmt in body {
        let Stmt::For { body, .. } = stmt else { continue };
        sums_of_loops(body, sums);
        let adds = body.iter().filter(|stmt| matches!(stmt, Stmt::Let { op: Scalar::Add, .. })).count();
        if adds > 0
            && body
                .iter()
                .all(|stmt| matches!(stmt, Stmt::Load { .. } | Stmt::Let { op: Scalar::Add, .. } | Stmt::Move { .. }))
        {
            sums.push(adds);
        }
    }
}

/// Strides along the lanes of all that vector loops with a square root load and store.
fn strides_of_roots(body: &[Stmt], strides: &mut Vec<i64>) {
    for stmt in body {
        if let Stmt::For { body, .. } = stmt {
            strides_of_roots(body, strides);
        }
        let Stmt::ForVec { index, body, .. } = stmt else { continue };
        let of = |stmt: &Stmt| {
            let (Stmt::Load { from: at, .. } | Stmt::Store { to: at, .. }) = stmt else { return None };
            at.terms.iter().find(|(reg, _)| reg == index).map(|term| term.1)
        };
        if body.iter().any(|stmt| matches!(stmt, Stmt::Let { op: Scalar::Sqrt, .. })) {
            strides.extend(body.iter().filter_map(of));
        }
    }
}

/// Rows of eight lie in one run: lanes go along them, and no nest takes them apart.
#[test]
fn lanes_go_along_rows_of_eight() {
    for (row, apart) in [(7, true), (8, false)] {
        let text = format!(
            "fn main(%x: f64[40,30,{row}], %m: f64[40,30]) -> f64[40,30,{row}], f64[40,30] {{
  %0: f64[40,30,{row}] = exp %x
  %1: f64[40,30] = sum %0 {{axes=[2]}}
  %2: f64[40,30] = mul %1, %m
  %3: f64[40,30,{row}] = broadcast %2 {{shape=[40, 30, {row}], axes=[0, 1]}}
  %4: f64[40,30,{row}] = mul %0, %3
  return %4, %2
}}
"
        );
        let native = checked("rows", &parsed(&text));
        let takes =
            |node: &Node| matches!(node, Node::Nest(nest) if nest.rows.iter().any(|item| item.def.name == "sum"));
        assert_eq!(native.plan.placed().body.nodes.iter().any(takes), apart, "rows of {row}");
    }
}

/// Whether the sum joins the nest of what it sums depends on which axes are short, which are new, and which are summed.
#[test]
fn reductions_of_what_is_repeated_along_a_new_axis() {
    for shape in [&[2, 11][..], &[11, 2], &[11], &[2, 11, 3], &[3, 2]] {
        for (place, extent) in (0..=shape.len()).flat_map(|place| [(place, 2), (place, 12)]) {
            let kept: Vec<usize> = (0..=shape.len()).filter(|axis| *axis != place).collect();
            let wide: Vec<usize> = [&shape[..place], &[extent], &shape[place..]].concat();
            for summed in 1u32..1 << wide.len() {
                let is_summed = |axis: &usize| summed >> axis & 1 == 1;
                let axes: Vec<usize> = (0..wide.len()).filter(is_summed).collect();
                let left: Vec<usize> = (0..wide.len()).filter(|axis| !is_summed(axis)).map(|axis| wide[axis]).collect();
                let ty = if left.is_empty() { "f64".to_owned() } else { format!("f64{}", list(&left)) };
                let (from, to) = (list(shape), list(&wide));
                let text = format!(
                    "fn main(%x: f64{from}) -> {ty}, {ty} {{\n  %0: f64{from} = sin %x\n  %1: f64{to} = broadcast %0 \
                     {{shape={to}, axes={}}}\n  %2: {ty} = sum %1 {{axes={axes:?}}}\n  %3: {ty} = reduce_max %1 \
                     {{axes={axes:?}}}\n  return %2, %3\n}}\n",
                    list(&kept),
                );
                checked(&format!("{to}, axes {axes:?}"), &parsed(&text));
            }
        }
    }
}

fn list(numbers: &[usize]) -> String {
    format!("{numbers:?}").replace(' ', "")
}
