//! What a `select` leaves out counts for nothing in a derivative, whatever its partial is there: in both modes, and at
//! order 2 in all four combinations of them.

use retrograd::{
    Array, DType, ErrorKind, Program, Var, cond, custom_jvp, custom_vjp, eval, for_loop, grad, jit, map, scan,
    while_loop,
};
use retrograd_compiler::diff;
use retrograd_compiler::diff::Direction;
use retrograd_compiler::diff::check::Random;
use retrograd_compiler::opt::simplify;

const X: [f64; 4] = [-1.0, 0.0, 2.0, 5.0];
const DIRECTION: [f64; 4] = [0.7, -0.4, 1.1, 0.3];

/// Random functions.
const SEEDS: u64 = 60;

/// Random functions with masks in loops.
const CHOSEN: u64 = 60;

/// What may be inside of each other.
const DEPTH: usize = 3;

type Function = for<'t> fn(Var<'t>) -> Var<'t>;

fn positive<'t>(x: Var<'t>, y: Var<'t>) -> Var<'t> {
    x.gt(0.0).select(y, 0.0)
}

/// Functions of four numbers, two of which are no numbers that the sides take.
const MASKED: &[(&str, Function)] = &[
    ("a root", |x| positive(x, x.sqrt())),
    ("a root after", |x| positive(x, x).sqrt()),
    ("a root of the greater", |x| (x.maximum(0.5) - 0.5).sqrt()),
    ("a chain after", |x| positive(x, x).reshape([2, 2]).sqrt().exp().sqrt()),
    ("the other side", |x| x.le(0.0).select(3.0 * x, x.sqrt())),
    ("a chain", |x| positive(x, x.sqrt().log())),
    ("a long chain", |x| positive(x, (x.log() * x).sqrt().sin().exp())),
    ("two selects", |x| {
        let root = x.sqrt();
        positive(x, root) + x.gt(3.0).select(root.log(), 0.0)
    }),
    ("nested selects", |x| positive(x, x.gt(3.0).select((x - 3.0).log(), (x * x).sqrt() * x.log()))),
    ("both sides of one predicate", |x| {
        let safe = positive(x, x.log());
        x.gt(3.0).select(safe.sin(), safe * safe)
    }),
    ("a power", |x| positive(x, x.pow(0.5) + x.pow(1.5))),
    ("a quotient", |x| x.gt(0.0).select(1.0 / x, 0.0) + x.eq(0.0).select(0.0 * x, x.sin() / x)),
    ("an infinite coefficient", |x| x.gt(9.0).select(x * f64::INFINITY, x)),
    ("a coefficient that is not a number", |x| positive(x, x * x.log())),
    ("an overflow", |x| x.lt(1.0).select((200.0 * x).exp() * (200.0 * x).exp(), x)),
    ("repeated before", |x| {
        let root = x.sqrt().reshape([1, 4]).broadcast([3, 4]);
        x.gt(0.0).reshape([1, 4]).broadcast([3, 4]).select(root.log(), 0.0)
    }),
    ("slices before", |x| {
        let root = x.sqrt();
        let tail = x.at(2..);
        tail.gt(0.0).select(root.at(2..).log(), 0.0)
    }),
    ("a sum before", |x| x.at(0).gt(0.0).select(x.sqrt().sum(), x.sum())),
    ("a greatest before", |x| x.at(0).gt(0.0).select(x.log().max(), x.sum())),
    ("a product of vectors before", |x| x.at(0).gt(0.0).select(x.sqrt().dot(x.abs().sqrt()), x.sum())),
    ("in a loop", |x| for_loop(3, x, |_, s| s.gt(0.0).select(s + 0.1 * s.sqrt(), s))),
    ("out of a branch", |x| positive(x, cond(x.sum().gt(0.0), || x.sqrt().log(), || x))),
    ("before a branch", |x| {
        let root = x.sqrt();
        x.at(0).gt(0.0).select(cond(x.sum().gt(0.0), || root.log().sum(), || x.sum()), x.sum())
    }),
    ("used in one branch only", |x| {
        let log = x.abs().log();
        cond(x.at(1).gt(0.0), || log, || x)
    }),
    ("chosen in a branch", |x| {
        let root = x.sqrt();
        cond(x.sum().gt(0.0), || positive(x, root.log()), || root)
    }),
    ("a whole loop", |x| positive(x, for_loop(3, x, |_, s| s.sqrt() + 0.5))),
    ("before a whole loop", |x| positive(x, for_loop(3, x.log() + 3.0, |_, s| s.sqrt() + 0.5))),
    ("what a loop reads", |x| {
        let root = x.sqrt();
        positive(x, for_loop(3, x, |_, s| 0.5 * s + root.log()))
    }),
    ("exchanged carries", |x| positive(x, for_loop(3, (x, x.log()), |_, (s, t)| (t, s.sqrt() + 0.5)).0)),
    ("a nest", |x| positive(x, for_loop(2, x, |_, s| for_loop(2, s, |_, t| t.sqrt() + 0.5) + s.log()))),
    ("a `while`", |x| {
        let first = (x.at(2), x.log() + 3.0);
        positive(x, while_loop(first, |(k, _)| k.lt(9.0), |(k, s)| (2.0 * k, s.sqrt() + 0.5)).1)
    }),
    ("a loop of neighbours", |x| x.at(0).gt(0.0).select(for_loop(3, x.sqrt(), |_, s| s.flip(&[0]) * s).sum(), x.sum())),
    ("a loop that writes", |x| positive(x, for_loop(4, x.zeros([4]), |i, y| y.set(i, x.at(i).sqrt().log())))),
    ("rows of a loop", |x| positive(x, map(x.log(), |_, x| x.sqrt().log()))),
    ("rows that all steps read", |x| {
        let root = x.sqrt();
        let rows = map(x, |_, x| x * root.log());
        x.gt(0.0).reshape([1, 4]).broadcast([4, 4]).select(rows, 0.0)
    }),
    ("a loop with a mask", |x| {
        let (good, root) = (x.gt(0.0), x.sqrt());
        for_loop(3, x, |_, s| good.select(s.sin() + root.log(), 0.5 * s))
    }),
    ("states of a scan", |x| positive(x, scan(1.0 + 0.0 * x.at(2), x.log(), |s, x| (s + 0.0, x.sqrt())).1)),
    ("a linear scan", |x| {
        let root = x.flip(&[0]).sqrt();
        let first = x.arange(4).lt(2);
        first.select(root.linear_scan(root.log(), 0), 0.0)
    }),
    ("a custom rule", |x| positive(x, custom_jvp(x, |x| x.sqrt(), |x, dx| 0.5 * dx / x.sqrt()))),
];

fn run(program: &Program, inputs: &[&Array]) -> Array {
    let inputs: Vec<Array> = inputs.iter().map(|input| (*input).clone()).collect();
    eval::run(program, &inputs).unwrap().pop().unwrap()
}

fn near(name: &str, found: &Array, expected: &Array) {
    let all = found.as_f64().iter().zip(expected.as_f64());
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
    assert!(found.len() == expected.len() && all.into_iter().all(near), "{name}: {found}, expected {expected}");
}

fn dot(a: &Array, b: &Array) -> Array {
    Array::scalar(a.as_f64().iter().zip(b.as_f64()).map(|(a, b)| a * b).sum())
}

#[test]
fn what_is_left_out_does_not_poison() {
    let (x, d, one) = (Array::f64([4], X.to_vec()), Array::f64([4], DIRECTION.to_vec()), Array::scalar(1.0));
    for (name, f) in MASKED {
        let program = jit(|[x]| f(x).sum()).trace(&[x.ty()]).unwrap();
        let (forward, reverse) = (diff::jvp(&program, &[0], &[0]).unwrap(), diff::vjp(&program, &[0], &[0]).unwrap());
        let gradient = run(&reverse, &[&x, &one]);
        assert!(gradient.as_f64().iter().all(|g| g.is_finite()), "{name}: {gradient}");
        near(name, &dot(&gradient, &d), &run(&forward, &[&x, &d]));
        assert!(
            grad(|[x]| f(x).sum()).run(std::slice::from_ref(&x)).unwrap()[0].as_f64().iter().all(|g| g.is_finite()),
            "{name}"
        );
        let forward_over_reverse = run(&diff::jvp(&reverse, &[0], &[1]).unwrap(), &[&x, &one, &d]);
        assert!(forward_over_reverse.as_f64().iter().all(|g| g.is_finite()), "{name}: {forward_over_reverse}");
        near(name, &run(&diff::vjp(&reverse, &[0], &[1]).unwrap(), &[&x, &one, &d]), &forward_over_reverse);
        near(name, &run(&diff::vjp(&forward, &[0], &[1]).unwrap(), &[&x, &d, &one]), &forward_over_reverse);
        let twice = run(&diff::jvp(&forward, &[0], &[1]).unwrap(), &[&x, &d, &d]);
        near(name, &twice, &dot(&forward_over_reverse, &d));
    }
}

/// A Jacobian is a loop over seeds, and what no seed changes is computed before it: masks and what they leave out may
/// be on different sides of its border.
#[test]
fn jacobians_of_what_is_left_out_have_derivatives() {
    let (x, d) = (Array::f64([4], X.to_vec()), Array::f64([4], DIRECTION.to_vec()));
    for (name, f) in MASKED {
        let program = jit(|[x]| f(x)).trace(&[x.ty()]).unwrap();
        for direction in [Direction::Forward, Direction::Reverse] {
            let jacobian = diff::jacobian(&program, &[0], &[0], direction).unwrap();
            for (k, jacobian) in [simplify(&jacobian), jacobian].into_iter().enumerate() {
                let name = &format!("{name}, {direction:?}, {}", ["simplified", "as it is"][k]);
                let tangent = run(&diff::jvp(&jacobian, &[0], &[0]).unwrap(), &[&x, &d]);
                assert!(tangent.as_f64().iter().all(|t| t.is_finite()), "{name}: {tangent}");
                let ct = Array::f64(tangent.shape().to_vec(), (0..tangent.len()).map(|k| (k as f64).sin()).collect());
                let cotangent = run(&diff::vjp(&jacobian, &[0], &[0]).unwrap(), &[&x, &ct]);
                near(name, &dot(&cotangent, &d), &dot(&ct, &tangent));
            }
        }
    }
}

#[test]
fn what_is_left_out_has_the_gradient_zero() {
    let root = grad(|[x]| positive(x, x.sqrt())).run(&[Array::scalar(-1.0)]).unwrap();
    assert_eq!(root, [Array::scalar(0.0)]);
    let side = grad(|[x]| x.gt(0.0).select(x.sqrt(), 2.0 * x)).run(&[Array::scalar(-1.0)]).unwrap();
    assert_eq!(side, [Array::scalar(2.0)]);
}

/// Steps that keep positive numbers positive, and at −1 are infinite or no number, or have such a partial.
const STEPS: &[Function] = &[
    |x| x.sqrt() + 0.3,
    |x| x.log1p() + 0.4,
    |x| 1.0 / (1.0 + x),
    |x| x.pow(1.5) + 0.1,
    |x| 2.0 + x.abs().log() * x.sqrt(),
    |x| (x + 1.0).rsqrt() + x,
];

/// A random function, element by element, of steps, loops, branches and rules.
fn steps<'t>(random: &mut Random, x: Var<'t>, depth: usize, forward: bool) -> Var<'t> {
    let kinds = if depth == 0 {
        1
    } else if forward {
        11
    } else {
        13
    };
    let step = STEPS[random.below(STEPS.len())];
    let before = if random.below(2) == 0 { x } else { step(x) };
    // Of a loop around steps that write or read by index, what it carries is left out as a whole or not at all.
    let kind = random.below(kinds);
    match if [7, 8].contains(&kind) && depth < DEPTH { 0 } else { kind } {
        0 => step(step(x)),
        1 => {
            let first = steps(random, x, depth - 1, forward);
            steps(random, first, depth - 1, forward)
        }
        2 => for_loop(2, before, |_, s| steps(random, s, depth - 1, forward)),
        3 => for_loop(2, (before, step(x)), |_, (s, t)| (t, steps(random, s, depth - 1, forward) + before)).0,
        4 => {
            while_loop((x.at(2), before), |(k, _)| k.lt(9.0), |(k, s)| (3.0 * k, steps(random, s, depth - 1, forward)))
                .1
        }
        5 => {
            let side = x.at(2).gt([0.0, 9.0][random.below(2)]);
            let mut other = Random::new(random.bits());
            cond(side, || steps(random, before, depth - 1, forward), || steps(&mut other, step(x), depth - 1, forward))
        }
        6 => map((before, x), |_, (x, y)| for_loop(2, x, |_, s| step(s)) * y),
        7 => for_loop(4, x.zeros([4]), |i, y| y.set(i, steps(random, x, depth - 1, forward).at(i))),
        8 => scan(x.at(2), before, |s, x| (s + 0.5, step(x) + s)).1,
        9 => custom_jvp(before, |x| x.sqrt() + 0.3, |x, dx| 0.5 * dx / x.sqrt()),
        10 => x.gt(0.5).select(steps(random, before, depth - 1, forward), before),
        11 => custom_vjp(before, |x| x.sqrt() + 0.3, |x| (x.sqrt() + 0.3, x), |x, ct| 0.5 * ct / x.sqrt()),
        _ => custom_vjp(before, |x| x.log1p() + 0.4, |x| (x.log1p() + 0.4, x), |x, ct| (ct / (1.0 + x)).minimum(3.0)),
    }
}

/// Derivatives of random functions with poison in two of four elements, which a `select` leaves out, are those without
/// the poison.
#[test]
fn poison_that_is_left_out_changes_no_bit() {
    let (bad, good) = (Array::f64([4], vec![-1.0, 0.0, 2.0, 0.7]), Array::f64([4], vec![0.9, 1.3, 2.0, 0.7]));
    let (d, one) = (Array::f64([4], DIRECTION.to_vec()), Array::scalar(1.0));
    let mask = Array::f64([4], vec![0.0, 0.0, 1.0, 1.0]);
    let (mut judged, mut failures) = ([0; 6], vec![]);
    for seed in 0..SEEDS {
        let forward = seed % 3 > 0;
        let program = jit(|[x, mask]| {
            let mut random = Random::new(seed);
            let y = steps(&mut random, x, DEPTH, forward);
            let y = if random.below(2) == 0 { y.log() } else { y };
            mask.gt(0.5).select(y, x * x).sum()
        });
        let program = program.trace(&[bad.ty(), mask.ty()]).unwrap();
        let (jvp, vjp) = (diff::jvp(&program, &[0], &[0]), diff::vjp(&program, &[0], &[0]).unwrap());
        let over = |first: &Result<Program, _>, second: fn(&Program) -> Result<Program, retrograd::Error>| {
            let first = first.as_ref().ok().map(|first| if seed % 2 == 0 { simplify(first) } else { first.clone() });
            first.and_then(|first| match second(&first) {
                Ok(second) => Some(second),
                Err(error) => {
                    assert!(!forward && error.kind == ErrorKind::Unsupported, "seed {seed}: {error}");
                    None
                }
            })
        };
        assert!(jvp.is_ok() || !forward, "seed {seed}");
        let reverse = Ok(vjp.clone());
        let all: [(Option<Program>, Vec<&Array>); 6] = [
            (Some(vjp), vec![&mask, &one]),
            (over(&reverse, |p| diff::jvp(p, &[0], &[1])), vec![&mask, &one, &d]),
            (over(&reverse, |p| diff::vjp(p, &[0], &[1])), vec![&mask, &one, &d]),
            (over(&jvp, |p| diff::vjp(p, &[0], &[1])), vec![&mask, &d, &one]),
            (over(&jvp, |p| diff::jvp(p, &[0], &[1])), vec![&mask, &d, &d]),
            (jvp.ok(), vec![&mask, &d]),
        ];
        for (k, (program, rest)) in all.iter().enumerate() {
            let Some(program) = program else { continue };
            let [found, expected] = [&bad, &good].map(|x| run(program, &[&[x], &rest[..]].concat()));
            // What is left out is x², of which the bad elements are others.
            let elements = if found.len() == 1 { 0..0 } else { 2..4 };
            let same = found.as_f64()[elements.clone()] == expected.as_f64()[elements];
            if !same || !found.as_f64().iter().all(|x| x.is_finite()) {
                failures.push(format!("seed {seed}, derivative {k}: {found}, without poison {expected}"));
            }
            judged[k] += 1;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(judged.iter().all(|count| *count > SEEDS / 3), "{judged:?}");
}

/// One of two by a mask.
type Choose = for<'t> fn(Var<'t>, Var<'t>, Var<'t>) -> Var<'t>;

/// A `select`, and the same sum of products, where every side counts everywhere.
const CHOICES: [Choose; 2] = [
    |mask, a, b| mask.select(a, b),
    |mask, a, b| {
        let mask = mask.convert(DType::F64);
        mask * a + (1.0 - mask) * b
    },
];

/// A random function of four numbers. Masks of all kinds choose in its loops: of what is there before, of the index, of
/// rows, of the state and of neighbours.
fn chosen<'t>(random: &mut Random, before: &[Var<'t>], depth: usize, choose: Choose) -> Var<'t> {
    let any = |random: &mut Random, of: &[Var<'t>]| of[random.below(of.len())];
    let above = |random: &mut Random, of: Var<'t>| of.gt([-0.4, 0.1, 0.6][random.below(3)]);
    let mut known = before.to_vec();
    let v = any(random, &known);
    known.push([v.sin(), (1.0 + v * v).sqrt(), v.flip(&[0]), v * any(random, before)][random.below(4)]);
    let (first, mask, a, b) = (any(random, &known), any(random, &known), any(random, &known), any(random, &known));
    let kind = if depth == 0 { 0 } else { 1 + random.below(7) };
    let inner = |random: &mut Random, more: &[Var<'t>]| {
        let known = [&known[..], more].concat();
        let value = if random.below(3) == 0 { any(random, &known) } else { chosen(random, &known, depth - 1, choose) };
        (0.3 * value).sin()
    };
    match kind {
        0 => choose(above(random, mask), a * b, a.cos()),
        1 => for_loop(3, first, |i, s| {
            let moving = (i.convert(DType::F64) - 1.0) * mask;
            let value = inner(random, &[s, moving]);
            0.5 * s + choose(above(random, moving), a * value, b)
        }),
        2 => for_loop(3, first, |_, s| {
            let value = inner(random, &[s]);
            choose(above(random, s.flip(&[0]) + 0.2 * mask), 0.5 * s + a, 0.5 * value * b)
        }),
        3 => for_loop(4, first, |i, s| {
            let value = inner(random, &[s]);
            let mask = above(random, mask.at(i));
            s.set(i, 0.5 * s.at(i) + choose(mask, a.at(i) * value.at(3 - i), b.at(i)))
        }),
        4 => {
            let rows = mask.reshape([4, 1]).broadcast([4, 4]) * (a.arange(4).convert(DType::F64) - 1.5);
            scan(first, rows, |s, row| {
                let value = inner(random, &[s, row]);
                (0.5 * s + choose(above(random, row), a * value, b), value)
            })
            .0
        }
        5 => map((mask, a, b), |i, (mask, a, b)| {
            let more = choose(above(random, mask * i.convert(DType::F64)), a * b, a.sin());
            for_loop(2, more, |_, s| 0.5 * s + choose(above(random, s), first.at(i), first.sum()))
        }),
        6 => {
            let start = (1.0 + 0.0 * first.at(0), first);
            while_loop(
                start,
                |(k, _)| k.lt(9.0),
                |(k, s)| {
                    let value = inner(random, &[s]);
                    (2.0 * k, 0.5 * s + choose(above(random, mask - 0.1 * k), a * value, b))
                },
            )
            .1
        }
        _ => {
            let mut other = Random::new(random.bits());
            let [one, two] = [a, b].map(|v| v.at(1));
            cond(one.gt(two), || inner(random, &[first * a]), || chosen(&mut other, &[first, mask, b], 0, choose))
        }
    }
}

/// No demand is too small: derivatives of random functions with `select` are those where both sides count everywhere.
#[test]
fn what_is_chosen_in_loops_has_the_whole_derivative() {
    let x = Array::f64([4], vec![-0.8, 0.35, 1.2, 0.7]);
    let (d, one) = (Array::f64([4], DIRECTION.to_vec()), Array::scalar(1.0));
    let mut failures = vec![];
    for seed in 0..CHOSEN {
        let all = CHOICES.map(|choose| {
            let program = jit(|[x]| chosen(&mut Random::new(seed), &[x], DEPTH, choose).sum());
            let program = program.trace(&[x.ty()]).unwrap();
            let program = if seed % 2 == 0 { simplify(&program) } else { program };
            let (jvp, vjp) = (diff::jvp(&program, &[0], &[0]).unwrap(), diff::vjp(&program, &[0], &[0]).unwrap());
            let jacobian = diff::jacobian(&vjp, &[0], &[1], Direction::Forward).unwrap();
            let jacobian = if seed % 3 == 0 { simplify(&jacobian) } else { jacobian };
            [
                run(&program, &[&x]),
                run(&vjp, &[&x, &one]),
                run(&jvp, &[&x, &d]),
                run(&diff::jvp(&vjp, &[0], &[1]).unwrap(), &[&x, &one, &d]),
                run(&diff::vjp(&vjp, &[0], &[1]).unwrap(), &[&x, &one, &d]),
                run(&diff::vjp(&jvp, &[0], &[1]).unwrap(), &[&x, &d, &one]),
                run(&diff::jvp(&jvp, &[0], &[1]).unwrap(), &[&x, &d, &d]),
                run(&diff::jvp(&jacobian, &[0], &[0]).unwrap(), &[&x, &one, &d]),
            ]
        });
        for (k, (found, expected)) in all[0].iter().zip(&all[1]).enumerate() {
            let scale = expected.as_f64().iter().fold(1.0_f64, |scale, x| scale.max(x.abs()));
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-10 * scale;
            if !found.as_f64().iter().zip(expected.as_f64()).all(near) {
                failures.push(format!("seed {seed}, derivative {k}: {found}, where all counts {expected}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_is_also_used_elsewhere_keeps_its_nan() {
    let f = grad(|[x]| {
        let root = x.sqrt();
        positive(x, root) + 0.0 * root
    });
    assert!(f.run(&[Array::scalar(-1.0)]).unwrap()[0].as_f64()[0].is_nan());
    // Also in a loop, and out of one.
    let f = grad(|[x]| {
        let root = for_loop(2, x, |_, s| s.sqrt());
        positive(x, root) + 0.0 * root
    });
    assert!(f.run(&[Array::scalar(-1.0)]).unwrap()[0].as_f64()[0].is_nan());
    let f = grad(|[x]| positive(x, for_loop(2, x, |_, s| s.sqrt())) + for_loop(2, x, |_, s| s.sqrt()));
    assert!(f.run(&[Array::scalar(-1.0)]).unwrap()[0].as_f64()[0].is_nan());
    // And so does what no `select` leaves out.
    assert!(grad(|[x]| positive(x, x) + x.sqrt()).run(&[Array::scalar(-1.0)]).unwrap()[0].as_f64()[0].is_nan());
}
