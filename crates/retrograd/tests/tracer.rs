//! The tracer: what bodies capture, and which uses are refused.

use retrograd::trace::{Traced, Tracer};
use retrograd::{Array, Attrs, DType, Error, ErrorKind, OpDef, Pos, Program, Type, eval, ops};

fn here() -> Pos {
    Pos::new("model.py", 7)
}

fn op(tracer: &Tracer, def: &'static OpDef, args: &[Traced]) -> Traced {
    tracer.op(def, Attrs::none(), args, &here()).expect("well typed")
}

fn int(tracer: &Tracer, n: i64) -> Traced {
    tracer.constant(Array::int(n), &here())
}

fn run(program: &Program, inputs: &[f64]) -> Vec<Array> {
    let inputs: Vec<Array> = inputs.iter().map(|x| Array::scalar(*x)).collect();
    eval::run(program, &inputs).expect("the program runs")
}

fn message(result: Result<impl std::fmt::Debug, Error>) -> (ErrorKind, String) {
    let error = result.expect_err("a mistake is refused");
    assert_eq!(error.pos, here());
    (error.kind, error.message)
}

#[test]
fn a_value_from_two_loops_outside_is_an_invariant_of_both_once() {
    let t = Tracer::new("nest");
    let (x, y) = (t.input(Type::f64([])), t.input(Type::f64([])));
    let (_, outer, _) = t.begin_for(int(&t, 2), &[x], &[], &here()).unwrap();
    let (_, inner, _) = t.begin_for(int(&t, 3), &[outer[0]], &[], &here()).unwrap();
    let next = op(&t, &ops::MUL, &[inner[0], y]);
    let next = op(&t, &ops::MUL, &[next, y]);
    let inner = t.end_for(&[next], &[]).unwrap();
    let outer = t.end_for(&inner, &[]).unwrap();
    let program = t.finish(&outer).unwrap();
    assert_eq!(run(&program, &[1.0, 2.0]), [Array::scalar(4096.0)]);
    let parameters: Vec<usize> = program.functions.iter().map(|f| f.params.len()).collect();
    assert_eq!(parameters, [3, 3, 2], "index, carry, y; the same; x, y");
}

#[test]
fn a_literal_is_written_again_in_a_body_instead_of_being_passed_in() {
    let t = Tracer::new("literal");
    let x = t.input(Type::f64([]));
    let two = t.constant(Array::scalar(2.0), &here());
    let (_, carries, _) = t.begin_for(int(&t, 4), &[x], &[], &here()).unwrap();
    let next = op(&t, &ops::MUL, &[carries[0], two]);
    let results = t.end_for(&[next], &[]).unwrap();
    let program = t.finish(&results).unwrap();
    assert_eq!(program.functions[0].params.len(), 2);
    assert_eq!(run(&program, &[1.0]), [Array::scalar(16.0)]);
}

#[test]
fn streams_are_read_and_emitted_row_by_row() {
    let t = Tracer::new("sums");
    let (xs, scale) = (t.input(Type::f64([3])), t.input(Type::f64([])));
    let zero = t.constant(Array::scalar(0.0), &here());
    let (_, carries, rows) = t.begin_for(int(&t, 3), &[zero], &[xs], &here()).unwrap();
    let scaled = op(&t, &ops::MUL, &[rows[0], scale]);
    let sum = op(&t, &ops::ADD, &[carries[0], scaled]);
    let results = t.end_for(&[sum], &[sum]).unwrap();
    assert_eq!(t.ty(results[1]), Type::f64([3]));
    let program = t.finish(&results).unwrap();
    let outputs = eval::run(&program, &[Array::f64([3], vec![1.0, 2.0, 3.0]), Array::scalar(10.0)]).unwrap();
    assert_eq!(outputs, [Array::scalar(60.0), Array::f64([3], vec![10.0, 30.0, 60.0])]);
}

#[test]
fn a_count_computed_from_literals_is_known() {
    let t = Tracer::new("known");
    let count = op(&t, &ops::SUB, &[int(&t, 5), int(&t, 1)]);
    assert_eq!(t.literal(count), Some(Array::int(4)));
    let (i, _, _) = t.begin_for(count, &[], &[], &here()).unwrap();
    let results = t.end_for(&[], &[i]).unwrap();
    assert_eq!(t.ty(results[0]), Type::new(DType::I64, [4]));
}

#[test]
fn emitting_under_an_unknown_count_is_unsupported() {
    let t = Tracer::new("unknown");
    let count = t.input(Type::scalar(DType::I64));
    let (i, _, _) = t.begin_for(count, &[], &[], &here()).unwrap();
    let (kind, _) = message(t.end_for(&[], &[i]));
    assert_eq!(kind, ErrorKind::Unsupported);
}

#[test]
fn branches_take_the_same_arguments() {
    let t = Tracer::new("branches");
    let (x, y) = (t.input(Type::f64([])), t.input(Type::f64([])));
    let p = op(&t, &ops::LT, &[x, y]);
    t.begin_if(p, &here()).unwrap();
    let then = op(&t, &ops::SUB, &[y, x]);
    t.begin_else();
    // A nested loop reads x, which only this branch reads after y.
    let (_, carries, _) = t.begin_for(int(&t, 2), &[y], &[], &here()).unwrap();
    let next = op(&t, &ops::ADD, &[carries[0], x]);
    let other = t.end_for(&[next], &[]).unwrap();
    let results = t.end_if(&[then], &other).unwrap();
    let program = t.finish(&results).unwrap();
    assert_eq!(run(&program, &[1.0, 5.0]), [Array::scalar(4.0)]);
    assert_eq!(run(&program, &[5.0, 1.0]), [Array::scalar(11.0)]);
}

#[test]
fn an_argument_of_the_second_branch_alone_is_ignored_by_the_first() {
    let t = Tracer::new("one_sided");
    let (x, y) = (t.input(Type::f64([])), t.input(Type::f64([])));
    let p = op(&t, &ops::LT, &[x, y]);
    t.begin_if(p, &here()).unwrap();
    let zero = t.constant(Array::scalar(0.0), &here());
    t.begin_else();
    let results = t.end_if(&[zero], &[y]).unwrap();
    let program = t.finish(&results).unwrap();
    assert_eq!(run(&program, &[1.0, 5.0]), [Array::scalar(0.0)]);
    assert_eq!(run(&program, &[5.0, 1.0]), [Array::scalar(1.0)]);
}

#[test]
fn an_abandoned_body_leaves_no_function_behind() {
    let t = Tracer::new("again");
    let x = t.input(Type::f64([]));
    let (_, carries, _) = t.begin_for(int(&t, 3), &[x], &[], &here()).unwrap();
    t.begin_for(int(&t, 1), &[], &[], &here()).unwrap();
    t.end_for(&[], &[]).unwrap();
    t.abandon();
    assert!(!t.is_open(carries[0]));
    assert_eq!(t.ty(carries[0]), Type::f64([]));
    let (_, carries, _) = t.begin_for(int(&t, 3), &[x], &[], &here()).unwrap();
    let next = op(&t, &ops::ADD, &[carries[0], carries[0]]);
    let results = t.end_for(&[next], &[]).unwrap();
    let program = t.finish(&results).unwrap();
    assert_eq!(program.functions.len(), 2);
    assert_eq!(run(&program, &[1.0]), [Array::scalar(8.0)]);
}

#[test]
fn a_value_of_a_closed_body_is_refused() {
    let t = Tracer::new("escape");
    let x = t.input(Type::f64([]));
    let (_, carries, _) = t.begin_for(int(&t, 3), &[x], &[], &here()).unwrap();
    let next = op(&t, &ops::NEG, &[carries[0]]);
    t.end_for(&[next], &[]).unwrap();
    let (kind, text) = message(t.op(&ops::NEG, Attrs::none(), &[next], &here()));
    assert_eq!(kind, ErrorKind::Argument);
    assert_eq!(text, "a value made inside a loop body was used outside it; return it from the body");
}

#[test]
fn a_carry_that_changes_its_type_is_named() {
    let t = Tracer::new("carry");
    let (x, v) = (t.input(Type::f64([])), t.input(Type::f64([3])));
    let (_, carries, _) = t.begin_for(int(&t, 3), &[x, x], &[], &here()).unwrap();
    let (kind, text) = message(t.end_for(&[carries[0], v], &[]));
    assert_eq!(kind, ErrorKind::Shape);
    assert_eq!(
        text,
        "carry 1 changes its type in the loop: expected f64, as at its start, found f64[3] at the end of the body"
    );
    t.end_for(&[carries[0], x], &[]).expect("the loop is still open");
}

#[test]
fn counts_and_predicates_are_scalars_of_their_type() {
    let t = Tracer::new("scalars");
    let half = t.constant(Array::scalar(0.5), &here());
    assert_eq!(message(t.begin_for(half, &[], &[], &here())).1, "the count of a loop must be a scalar i64, found f64");
    assert_eq!(message(t.begin_if(half, &here())).1, "the predicate of a branch must be a scalar bool, found f64");
    assert_eq!(t.depth(), 0);
}

#[test]
fn branches_that_differ_are_refused() {
    let t = Tracer::new("branches");
    let p = t.input(Type::scalar(DType::Bool));
    t.begin_if(p, &here()).unwrap();
    let one = int(&t, 1);
    t.begin_else();
    let (kind, text) = message(t.end_if(&[one], &[t.constant(Array::scalar(1.0), &here())]));
    assert_eq!(kind, ErrorKind::DType);
    assert_eq!(text, "result 0 of the branches differs: i64 in the first, f64 in the second");
}

#[test]
fn a_carry_that_is_found_in_the_body_is_one_from_the_start() {
    let t = Tracer::new("late");
    let (x, y) = (t.input(Type::f64([])), t.input(Type::f64([])));
    let (_, carries, _) = t.begin_for(int(&t, 3), &[x], &[], &here()).unwrap();
    let late = t.carry(1, y).unwrap();
    let passed = t.carry(1, x).unwrap();
    let (sum, doubled) = (op(&t, &ops::ADD, &[carries[0], late]), op(&t, &ops::ADD, &[late, passed]));
    let results = t.end_for(&[sum, doubled, passed], &[]).unwrap();
    assert_eq!(results[2], x, "what is passed on is an invariant");
    let program = t.finish(&results).unwrap();
    // x, y = 1, 2: 3, 3; 6, 4; 10, 5
    assert_eq!(run(&program, &[1.0, 2.0]), [Array::scalar(10.0), Array::scalar(5.0), Array::scalar(1.0)]);
}

#[test]
fn a_carry_that_a_while_finds_in_its_body_is_one_of_its_condition_too() {
    let t = Tracer::new("late");
    let (x, y) = (t.input(Type::f64([])), t.input(Type::f64([])));
    let carries = t.begin_while(&[x], &here()).unwrap();
    let less = op(&t, &ops::LT, &[carries[0], y]);
    let carries = t.begin_while_body(less).unwrap();
    let late = t.carry(1, y).unwrap();
    let next = op(&t, &ops::ADD, &[carries[0], carries[0]]);
    let half = op(&t, &ops::SUB, &[late, carries[0]]);
    let results = t.end_while(&[next, half]).unwrap();
    let program = t.finish(&results[..2]).unwrap();
    assert_eq!(run(&program, &[1.0, 5.0]), [Array::scalar(8.0), Array::scalar(-2.0)]);
}

#[test]
fn a_carry_that_a_while_finds_in_its_condition_after_a_capture_is_one_of_its_body_too() {
    let t = Tracer::new("late");
    let (x, y, limit) = (t.input(Type::f64([])), t.input(Type::f64([])), t.input(Type::f64([])));
    let carries = t.begin_while(&[x], &here()).unwrap();
    let rest = op(&t, &ops::SUB, &[limit, carries[0]]);
    let late = t.carry(1, y).unwrap();
    let less = op(&t, &ops::LT, &[late, rest]);
    let carries = t.begin_while_body(less).unwrap();
    assert_eq!(carries.len(), 2);
    let next = op(&t, &ops::ADD, &[carries[0], carries[0]]);
    let more = op(&t, &ops::ADD, &[carries[1], limit]);
    let results = t.end_while(&[next, more]).unwrap();
    let program = t.finish(&results[..2]).unwrap();
    // x, y = 1, -20 while y < 10 - x: 2, -10; 4, 0; 8, 10
    assert_eq!(run(&program, &[1.0, -20.0, 10.0]), [Array::scalar(8.0), Array::scalar(10.0)]);
}

#[test]
fn a_branch_without_a_value_has_zero() {
    let t = Tracer::new("absent");
    let (x, y) = (t.input(Type::f64([])), t.input(Type::f64([])));
    let p = op(&t, &ops::LT, &[x, y]);
    t.begin_if(p, &here()).unwrap();
    let then = op(&t, &ops::SUB, &[y, x]);
    t.begin_else();
    let count = int(&t, 3);
    let results = t.join(&[Some(then), Some(x)], &[None, Some(count)], &[None, Some(DType::F64)]).unwrap();
    let program = t.finish(&results).unwrap();
    assert_eq!(run(&program, &[1.0, 5.0]), [Array::scalar(4.0), Array::scalar(1.0)]);
    assert_eq!(run(&program, &[5.0, 1.0]), [Array::scalar(0.0), Array::scalar(3.0)]);
}
