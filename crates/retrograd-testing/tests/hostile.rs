//! Programs and decisions that are not what they seem: refused, or run as the interpreter runs them.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use retrograd_compiler::ir::{Array, Data, Error, ErrorKind, MAX_INSTS, Type, verify};
use retrograd_compiler::plan::strategy::{self, Auto};
use retrograd_compiler::plan::{Decision, Facts, Request, Strategy, plan};
use retrograd_compiler::{eval, ops};
use retrograd_schedule::{Part, Recipe, Schedule};
use retrograd_testing::native::Native;

#[test]
fn an_array_is_read_only_if_its_elements_fill_its_shape() {
    let whole = Array::f64([2, 3], vec![1.0; 6]);
    let bytes = postcard::to_stdvec(&whole).unwrap();
    assert_eq!(postcard::from_bytes::<Array>(&bytes).unwrap(), whole);
    let shapes: [&[usize]; 6] = [&[2, 4], &[], &[7], &[usize::MAX, 2], &[1 << 32, 1 << 32], &[1 << 63, 2, 3]];
    for shape in shapes {
        let bytes = postcard::to_stdvec(&(shape, Data::F64(vec![1.0; 6]))).unwrap();
        assert!(postcard::from_bytes::<Array>(&bytes).is_err(), "{shape:?}");
    }
    // Extents whose product wraps to 0.
    let bytes = postcard::to_stdvec(&(&[1usize << 32, 1 << 32][..], Data::F64(vec![]))).unwrap();
    assert!(postcard::from_bytes::<Array>(&bytes).is_err());
}

/// A chain of functions, each of which runs the next twice.
fn doubling(levels: usize) -> String {
    let mut text = String::from(
        "fn main(%x: f64) -> f64 {\n  %n: i64 = constant {value=1}\n  %y: f64 = for %n carries(%x) {body=f0}\n  \
         return %y\n}\n",
    );
    for level in 0..levels {
        writeln!(text, "\nfn f{level}(%i: i64, %x: f64) -> f64 {{").unwrap();
        if level + 1 == levels {
            text += "  %y: f64 = sin %x\n  return %y\n}\n";
        } else {
            let next = format!("for %n carries(%x) {{body=f{}}}", level + 1);
            let again = next.replace("%x", "%y");
            writeln!(
                text,
                "  %n: i64 = constant {{value=1}}\n  %y: f64 = {next}\n  %z: f64 = {again}\n  return %z\n}}"
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn bodies_that_double_at_every_level_are_refused_at_once() {
    let begin = Instant::now();
    for levels in [25, 40, 60] {
        let program = ops::parse(&doubling(levels), "doubling.rg").unwrap();
        let error = verify(&program).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
        assert!(error.message.contains(&format!("at most {MAX_INSTS} are supported")), "{error}");
        assert_eq!(plan(&program, &Request::by(Arc::new(Auto))).unwrap_err().kind, ErrorKind::Unsupported);
    }
    assert!(begin.elapsed().as_secs() < 5, "bodies are counted, not copied");
    verify(&ops::parse(&doubling(8), "doubling.rg").unwrap()).unwrap();
}

/// More steps than there are rows: a fault of the run, whatever was decided about the loop, and no row beyond the last
/// is touched.
const TOO_MANY_STEPS: &str = "\
fn main(%x: f64, %s: f64[3], %ct: f64) -> f64, f64[3] {
  %n: i64 = constant {value=5}
  %y: f64 = for %n carries(%x) streams(%s) {body=step, bound=3}
  %a: f64, %h: f64[3] = unwind %n carries(%x) streams(%s) adjoints(%ct) {body=step, bwd=back, bound=3}
  return %a, %h
}

fn step(%i: i64, %c: f64, %r: f64) -> f64 {
  %0: f64 = mul %c, %r
  %1: f64 = sin %0
  return %1
}

fn back(%i: i64, %c: f64, %r: f64, %a: f64) -> f64, f64 {
  %0: f64 = mul %c, %r
  %1: f64 = cos %0
  %2: f64 = mul %1, %a
  %3: f64 = mul %2, %r
  %4: f64 = mul %2, %c
  return %3, %4
}
";

#[test]
fn a_count_beyond_the_rows_is_a_fault_under_every_strategy() {
    let program = ops::parse(TOO_MANY_STEPS, "steps.rg").unwrap();
    let inputs = [Array::scalar(0.5), Array::f64([3], vec![1.0, 2.0, 3.0]), Array::scalar(1.0)];
    let expected = eval::run(&program, &inputs).unwrap_err();
    assert_eq!(expected.kind, ErrorKind::Bounds);
    let mut ran = 0;
    for strategy in strategy::all() {
        // A strategy that must know the count says so.
        let Ok(native) = Native::new(&program, strategy, None) else { continue };
        native.check_fault(&inputs, &expected).unwrap();
        ran += 1;
    }
    assert!(ran >= 3);
}

/// `auto`, with the schedules of loops changed.
#[derive(Debug)]
struct Tampered(fn(&mut Recipe));

impl Strategy for Tampered {
    fn name(&self) -> &'static str {
        "tampered"
    }

    fn decide(&self, facts: &Facts, room: Option<u64>) -> Result<Decision, Error> {
        let mut decision = Auto.decide(facts, room)?;
        for way in decision.loops.values_mut().flat_map(|decided| &mut decided.ways) {
            if let Schedule::Recipe(recipe) = &mut way.schedule {
                self.0(Arc::make_mut(recipe));
            }
        }
        Ok(decision)
    }
}

#[test]
fn a_decision_that_does_not_fit_its_loop_is_refused() {
    let text = TOO_MANY_STEPS.replace("value=5", "value=3");
    let program = ops::parse(&text, "steps.rg").unwrap();
    plan(&program, &Request::by(Arc::new(Tampered(|_| {})))).unwrap();
    let mut refused = 0;
    let tampered: [fn(&mut Recipe); 7] = [
        |recipe| recipe.record_bytes.iter_mut().for_each(|bytes| *bytes /= 2),
        |recipe| recipe.state_bytes = 0,
        |recipe| recipe.steps += 1,
        |recipe| recipe.root = Some(0),
        |recipe| {
            recipe.parts.iter_mut().for_each(|part| {
                if let Part::Tape { steps, .. } = part {
                    *steps += 1
                }
            })
        },
        |recipe| {
            recipe.parts.iter_mut().for_each(|part| {
                if let Part::Tape { then, .. } = part {
                    *then = None
                }
            })
        },
        |recipe| recipe.parts.push(Part::Spill { advance: 1, right: 99, left: 99 }),
    ];
    for (k, change) in tampered.into_iter().enumerate() {
        // A strategy's bug may be found before its decision is checked: then it is a panic. No plan comes of it.
        let planned = catch_unwind(AssertUnwindSafe(|| {
            plan(&program, &Request::by(Arc::new(Tampered(change)))).map(|plan| plan.to_string())
        }));
        if let Ok(planned) = planned {
            let error = planned.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Verify, "change {k}: {error}");
            refused += 1;
        }
    }
    assert!(refused >= 3, "{refused} were refused with an error");
}

#[test]
fn a_program_that_is_not_valid_is_not_planned() {
    let text = "fn main(%x: f64[2]) -> f64[1000000] {\n  %y: f64[1000000] = sin %x\n  return %y\n}\n";
    let program = ops::parse(text, "sin.rg").unwrap();
    let error = plan(&program, &Request::by(Arc::new(Auto))).map(|plan| plan.to_string()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Verify, "{error}");
    assert_eq!(Type::f64([2]).checked_bytes(), Some(16));
}
