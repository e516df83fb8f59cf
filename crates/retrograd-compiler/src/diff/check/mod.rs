//! Derivatives of a Program against finite differences and against each other, to any order, by the reference
//! interpreter.
//!
//! Where something is an f32, differences are those of the same Program over f64, and tolerances are those of f32.

mod random;
mod wide;

use super::Direction;
use crate::ir::{Array, Data, Error, ErrorKind, Program, Type, verify};
use crate::{diff, eval};

pub use random::Random;

/// Checks a Program at these inputs to order 2; see [`check_to_order`].
///
/// ```
/// use retrograd_compiler::ir::{Array, Builder, Program, Type};
///
/// let b = Builder::new("square");
/// let x = b.param(Type::f64([]));
/// let y = b.mul(x, x);
/// retrograd_compiler::diff::check::check_program(&Program::new(b.finish(vec![y])), &[Array::scalar(3.0)]).unwrap();
/// ```
pub fn check_program(program: &Program, inputs: &[Array]) -> Result<(), String> {
    check_to_order(program, inputs, 2, 1)
}

/// Checks derivatives of a Program up to an order, in all combinations of modes: jvp against central differences, and
/// vjp against jvp by ⟨ct, J dx⟩ = ⟨Jᵀct, dx⟩, for all float inputs and outputs, for each input alone against each
/// output alone, and again for the Programs that jvp and vjp made. Forms of the second derivative that are equal in
/// theory are compared with each other.
pub fn check_to_order(program: &Program, inputs: &[Array], order: usize, seed: u64) -> Result<(), String> {
    let random = &mut Random::new(seed);
    verified(Ok(program.clone()))?;
    run(program, inputs)?;
    let all = Case {
        program,
        inputs,
        wrt: floats(&program.main().param_types()),
        outputs: floats(&program.main().result_types()),
    };
    if all.wrt.is_empty() || all.outputs.is_empty() {
        return Ok(());
    }
    all.check(order, random)?;
    if all.wrt.len() * all.outputs.len() > 1 {
        for input in &all.wrt {
            for output in &all.outputs {
                Case { wrt: vec![*input], outputs: vec![*output], ..all }.check(order.min(2), random)?;
            }
        }
    }
    Ok(())
}

/// Checks derivatives of a Program up to an order in one mode alone: jvp against central differences, vjp against them
/// by ⟨ct, J dx⟩ = ⟨Jᵀct, dx⟩, and again for the Program that this mode made.
///
/// ```
/// use retrograd_compiler::diff::{Direction, check::check_in_mode};
/// use retrograd_compiler::ir::{Array, Builder, Program, Type};
///
/// let b = Builder::new("square");
/// let x = b.param(Type::f64([]));
/// let y = b.mul(x, x);
/// let square = Program::new(b.finish(vec![y]));
/// check_in_mode(&square, &[Array::scalar(3.0)], 2, Direction::Reverse, 1).unwrap();
/// ```
pub fn check_in_mode(
    program: &Program,
    inputs: &[Array],
    order: usize,
    mode: Direction,
    seed: u64,
) -> Result<(), String> {
    let case = Case {
        program,
        inputs,
        wrt: floats(&program.main().param_types()),
        outputs: floats(&program.main().result_types()),
    };
    if case.wrt.is_empty() || case.outputs.is_empty() || order == 0 {
        return Ok(());
    }
    let random = &mut Random::new(seed);
    let (dx, ct) = case.directions(random);
    let (derived, seeds) = match mode {
        Direction::Forward => (diff::jvp(program, &case.wrt, &case.outputs), &dx),
        Direction::Reverse => (diff::vjp(program, &case.wrt, &case.outputs), &ct),
    };
    let derived = verified(derived)?;
    let inputs = [inputs, seeds].concat();
    let results = run(&derived, &inputs)?;
    let derivatives = &results[program.main().results.len()..];
    let difference = case.difference(&dx, 1e-3)?;
    match mode {
        Direction::Forward => case.check_tangents(derivatives, &difference)?,
        Direction::Reverse => {
            let dy: Vec<Array> = difference.into_iter().map(|dy| Array::f64([dy.len()], dy)).collect();
            same_sum(inner(&ct, &dy), inner(derivatives, &dx), case.tolerance(1e-7))
                .map_err(|e| format!("⟨ct, J dx⟩ by differences against ⟨Jᵀct, dx⟩ by vjp: {e}"))?;
        }
    }
    check_in_mode(&derived, &inputs, order - 1, mode, seed + 1)
}

/// Checks first derivatives of a Program that may have kinks and jumps: jvp against differences where the Program is
/// smooth, ⟨ct, J dx⟩ = ⟨Jᵀct, dx⟩, and values as they were. Returns the share of elements that could be judged: those
/// whose differences of two widths agree, and whose slopes to both sides do, as they do not at ties. Where some value
/// is infinite or NaN, none can.
pub fn check_where_smooth(program: &Program, inputs: &[Array], seed: u64) -> Result<f64, String> {
    let case = Case {
        program,
        inputs,
        wrt: floats(&program.main().param_types()),
        outputs: floats(&program.main().result_types()),
    };
    if case.wrt.is_empty() || case.outputs.is_empty() {
        return Ok(1.0);
    }
    let derived = case.derive(&mut Random::new(seed))?;
    let values = run(program, inputs)?;
    // There is no derivative where there is no value.
    if case.outputs.iter().any(|k| numbers(&values[*k]).iter().any(|value| !value.is_finite())) {
        return Ok(0.0);
    }
    let dy = case.check_pair(&derived, 1e-9)?;
    let (wide, narrow, middle) = (case.points(&derived.dx, 1e-3)?, case.points(&derived.dx, 3e-4)?, case.middle()?);
    let (mut judged, mut all) = (0usize, 0usize);
    // Far more than what a Program of some twenty instructions rounds, and far less than a term that is missing.
    let tolerance = if wide::has_f32(program) { 1e-2 } else { 1e-4 };
    for (k, dy) in dy.iter().enumerate() {
        let values = numbers(&values[case.outputs[k]]);
        for (e, dy) in numbers(dy).into_iter().enumerate() {
            let (far, near) = (wide.slope(k, e), narrow.slope(k, e));
            let scale = near.abs().max(1.0);
            let (left, right) = narrow.sides(k, e, middle[k][e]);
            // Roundings of f32 decide comparisons, too: then f64 is on another side of a jump.
            let here = (values[e] - middle[k][e]).abs() <= tolerance * middle[k][e].abs().max(1.0);
            let smooth = here && (far - near).abs() <= 1e-6 * scale && (left - right).abs() <= 5e-5 * scale;
            if smooth && ((dy - near).abs() > tolerance * scale || !dy.is_finite()) {
                return Err(format!("jvp of output {} element {e} is {dy:e}, expected {near:e}", case.outputs[k]));
            }
            (judged, all) = (judged + usize::from(smooth), all + 1);
        }
    }
    Ok(if all == 0 { 1.0 } else { judged as f64 / all as f64 })
}

/// Checks derivatives of a Program up to an order at a point that may be special: a tie, a zero, a singular matrix.
/// Where the Program is smooth, as differences see it, jvp is finite and equals them, or a check ends the run; ⟨ct, J
/// dx⟩ = ⟨Jᵀct, dx⟩; values are as they were; and so again for the Programs that jvp and vjp made. Where a value is
/// infinite or NaN there is no derivative to judge. Returns how many elements were judged.
///
/// ```
/// use retrograd_compiler::diff::check::check_at_special_point;
/// use retrograd_compiler::ir::{Array, Attrs, Builder, Program, Type};
/// use retrograd_compiler::ops;
///
/// let b = Builder::new("logaddexp");
/// let x = b.param(Type::f64([]));
/// let y = b.op(&ops::LOGADDEXP, Attrs::none(), &[x, b.zeros(&Type::f64([]))]);
/// let softplus = Program::new(b.finish(vec![y]));
/// assert!(check_at_special_point(&softplus, &[Array::scalar(0.0)], 2, 1).unwrap() > 0);
/// ```
pub fn check_at_special_point(program: &Program, inputs: &[Array], order: usize, seed: u64) -> Result<usize, String> {
    let case = Case {
        program,
        inputs,
        wrt: floats(&program.main().param_types()),
        outputs: floats(&program.main().result_types()),
    };
    if refuses(program, inputs) {
        return Ok(0);
    }
    let values = run(program, inputs)?;
    let is_finite = |arrays: &[Array]| arrays.iter().all(|array| numbers(array).iter().all(|x| x.is_finite()));
    let ends: Vec<Array> = case.outputs.iter().map(|k| values[*k].clone()).collect();
    if order == 0 || case.wrt.is_empty() || case.outputs.is_empty() || !is_finite(&ends) {
        return Ok(0);
    }
    let derived = case.derive(&mut Random::new(seed))?;
    let [no_jvp, no_vjp] =
        [(&derived.jvp, &derived.dx), (&derived.vjp, &derived.ct)].map(|(p, d)| refuses(p, &[inputs, d].concat()));
    let mut judged = 0;
    if !no_jvp {
        let forward = run(&derived.jvp, &[inputs, &derived.dx].concat())?.split_off(values.len());
        judged += case.judge(&derived.dx, &values, &forward)?;
        if is_finite(&forward) && !no_vjp {
            case.check_pair(&derived, 1e-9)?;
        }
    }
    for (mode, program, directions) in [("jvp", &derived.jvp, &derived.dx), ("vjp", &derived.vjp, &derived.ct)] {
        let inputs = [inputs, directions].concat();
        judged += check_at_special_point(program, &inputs, order - 1, seed + 1)
            .map_err(|error| format!("{mode}: {error}"))?;
    }
    Ok(judged)
}

/// Places of the floats.
pub fn floats(types: &[Type]) -> Vec<usize> {
    (0..types.len()).filter(|k| types[*k].dtype.is_float()).collect()
}

/// Whether a check ends the run: an error that says so is no wrong derivative.
fn refuses(program: &Program, inputs: &[Array]) -> bool {
    matches!(eval::run(program, inputs), Err(error) if matches!(error.kind, ErrorKind::Check { .. }))
}

fn run(program: &Program, inputs: &[Array]) -> Result<Vec<Array>, String> {
    eval::run(program, inputs).map_err(|error| format!("{}: {error}", program.main().name))
}

/// Every Program that is built keeps the rules of the IR.
fn verified(derived: Result<Program, Error>) -> Result<Program, String> {
    let program = derived.map_err(|error| error.to_string())?;
    verify(&program).map_err(|error| error.to_string())?;
    Ok(program)
}

/// A Program at a point, and what is differentiated with respect to what.
struct Case<'p> {
    program: &'p Program,
    inputs: &'p [Array],
    wrt: Vec<usize>,
    outputs: Vec<usize>,
}

/// Both derivative Programs of a case, with the directions they are evaluated in.
struct Derived {
    jvp: Program,
    vjp: Program,
    dx: Vec<Array>,
    ct: Vec<Array>,
}

/// Elements of the outputs at -2h, -h, h and 2h along a direction.
struct Points {
    h: f64,
    at: [Vec<Vec<f64>>; 4],
}

impl Points {
    /// Central differences of widths h and 2h, extrapolated (Richardson).
    fn slope(&self, k: usize, e: usize) -> f64 {
        let [far_left, left, right, far_right] = [0, 1, 2, 3].map(|p: usize| self.at[p][k][e]);
        (8.0 * (right - left) - (far_right - far_left)) / (12.0 * self.h)
    }

    /// Slopes to both sides of the middle, which has this value, to second order.
    fn sides(&self, k: usize, e: usize, middle: f64) -> (f64, f64) {
        let [far_left, left, right, far_right] = [0, 1, 2, 3].map(|p: usize| self.at[p][k][e]);
        (
            (3.0 * middle - 4.0 * left + far_left) / (2.0 * self.h),
            (4.0 * right - far_right - 3.0 * middle) / (2.0 * self.h),
        )
    }
}

impl Case<'_> {
    fn check(&self, order: usize, random: &mut Random) -> Result<(), String> {
        let named =
            |message| format!("{} by {:?} of {:?}: {message}", self.program.main().name, self.wrt, self.outputs);
        let derived = self.derive(random).map_err(named)?;
        self.check_first(&derived).map_err(named)?;
        if order == 1 {
            return Ok(());
        }
        self.check_symmetry(&derived, random).map_err(named)?;
        for (program, directions) in [(&derived.jvp, &derived.dx), (&derived.vjp, &derived.ct)] {
            let inputs = [self.inputs, directions].concat();
            let (wrt, outputs) = (floats(&program.main().param_types()), floats(&program.main().result_types()));
            let some = Case { program, inputs: &inputs, wrt: subset(&wrt, random), outputs: subset(&outputs, random) };
            some.check(order - 1, random).map_err(named)?;
            Case { program, inputs: &inputs, wrt, outputs }.check(order - 1, random).map_err(named)?;
        }
        Ok(())
    }

    fn derive(&self, random: &mut Random) -> Result<Derived, String> {
        let (dx, ct) = self.directions(random);
        Ok(Derived {
            jvp: verified(diff::jvp(self.program, &self.wrt, &self.outputs))?,
            vjp: verified(diff::vjp(self.program, &self.wrt, &self.outputs))?,
            dx,
            ct,
        })
    }

    /// Tangents of the inputs and cotangents of the outputs.
    fn directions(&self, random: &mut Random) -> (Vec<Array>, Vec<Array>) {
        let (types, ends) = (self.program.main().param_types(), self.program.main().result_types());
        let mut draw = |ty: &Type| random.array(ty, (-1.0, 1.0));
        (self.wrt.iter().map(|k| draw(&types[*k])).collect(), self.outputs.iter().map(|k| draw(&ends[*k])).collect())
    }

    /// Tangents of the outputs against differences, where the Program is smooth: where differences of two widths agree,
    /// slopes to both sides do, as they do not at ties, and slopes are linear in the direction, as those of a
    /// median are not. Returns how many elements could be judged.
    fn judge(&self, dx: &[Array], values: &[Array], dy: &[Array]) -> Result<usize, String> {
        let (wide, narrow) = (self.points(dx, 1e-3)?, self.points(dx, 3e-4)?);
        // Along others, and across both.
        let aside = (11..17).map(|seed| {
            let random = &mut Random::new(seed);
            let other: Vec<Array> = dx.iter().map(|dx| random.array(&dx.ty(), (-1.0, 1.0))).collect();
            let both: Vec<Array> = dx.iter().zip(&other).map(|(dx, other)| moved(dx, other, 1.0)).collect();
            Ok((self.points(&other, 3e-4)?, self.points(&both, 3e-4)?))
        });
        let aside: Vec<(Points, Points)> = aside.collect::<Result<_, String>>()?;
        let mut judged = 0;
        for (k, dy) in dy.iter().enumerate() {
            let values = numbers(&values[self.outputs[k]]);
            for (e, dy) in numbers(dy).into_iter().enumerate() {
                let (far, near) = (wide.slope(k, e), narrow.slope(k, e));
                let scale = near.abs().max(1.0);
                let (left, right) = narrow.sides(k, e, values[e]);
                let bent = aside.iter().any(|(aside, across)| {
                    let slope = aside.slope(k, e);
                    (near + slope - across.slope(k, e)).abs() > 1e-5 * scale.max(slope.abs())
                });
                let smooth = (far - near).abs() <= 1e-6 * scale && (left - right).abs() <= 5e-5 * scale && !bent;
                if smooth && ((dy - near).abs() > 1e-4 * scale || !dy.is_finite()) {
                    return Err(format!("jvp of output {} element {e} is {dy:e}, expected {near:e}", self.outputs[k]));
                }
                judged += usize::from(smooth);
            }
        }
        Ok(judged)
    }

    /// jvp against finite differences, vjp against jvp, and values as they were.
    fn check_first(&self, derived: &Derived) -> Result<(), String> {
        let dy = self.check_pair(derived, 1e-12)?;
        self.check_tangents(&dy, &self.difference(&derived.dx, 1e-3)?)
    }

    fn check_tangents(&self, dy: &[Array], difference: &[Vec<f64>]) -> Result<(), String> {
        for (k, (dy, difference)) in dy.iter().zip(difference).enumerate() {
            close(&numbers(dy), difference, self.tolerance(1e-7))
                .map_err(|e| format!("jvp of output {} against differences: {e}", self.outputs[k]))?;
        }
        Ok(())
    }

    /// vjp against jvp, and values as they were; returns the tangents of the outputs.
    fn check_pair(&self, derived: &Derived, tolerance: f64) -> Result<Vec<Array>, String> {
        let values = run(self.program, self.inputs)?;
        let forward = run(&derived.jvp, &[self.inputs, &derived.dx].concat())?;
        let reverse = run(&derived.vjp, &[self.inputs, &derived.ct].concat())?;
        for (mode, results) in [("jvp", &forward), ("vjp", &reverse)] {
            if !values.iter().zip(results).all(|(a, b)| a.same_bits(b)) {
                return Err(format!("{mode} changes the values: {values:?} became {results:?}"));
            }
        }
        let (dy, dx_bar) = (&forward[values.len()..], &reverse[values.len()..]);
        let (left, right) = (inner(&derived.ct, dy), inner(dx_bar, &derived.dx));
        same_sum(left, right, self.tolerance(tolerance)).map_err(|e| format!("⟨ct, J dx⟩ against ⟨Jᵀct, dx⟩: {e}"))?;
        Ok(dy.to_vec())
    }

    /// The derivative in a direction by central differences.
    fn difference(&self, dx: &[Array], h: f64) -> Result<Vec<Vec<f64>>, String> {
        let points = self.points(dx, h)?;
        let count = |k: usize| points.at[0][k].len();
        Ok((0..self.outputs.len()).map(|k| (0..count(k)).map(|e| points.slope(k, e)).collect()).collect())
    }

    /// The outputs at four points along a direction.
    fn points(&self, dx: &[Array], h: f64) -> Result<Points, String> {
        let program = wide::widened(self.program);
        let at = |h: f64| self.along(&program, dx, h);
        Ok(Points { h, at: [at(-2.0 * h)?, at(-h)?, at(h)?, at(2.0 * h)?] })
    }

    /// The outputs where no direction was taken, over f64.
    fn middle(&self) -> Result<Vec<Vec<f64>>, String> {
        self.along(&wide::widened(self.program), &[], 0.0)
    }

    /// The outputs of the Program over f64 at one point along a direction.
    fn along(&self, program: &Program, dx: &[Array], h: f64) -> Result<Vec<Vec<f64>>, String> {
        let mut inputs: Vec<Array> = self.inputs.iter().map(wide::wide).collect();
        for (k, dx) in self.wrt.iter().zip(dx) {
            inputs[*k] = moved(&inputs[*k], dx, h);
        }
        let results = run(program, &inputs)?;
        Ok(self.outputs.iter().map(|k| numbers(&results[*k])).collect())
    }

    /// This tolerance, or what f32 needs.
    fn tolerance(&self, of_f64: f64) -> f64 {
        if wide::has_f32(self.program) { F32_TOLERANCE.max(of_f64) } else { of_f64 }
    }

    /// D²⟨ct, f⟩[dx, ex] comes out the same from all four orders of modes.
    fn check_symmetry(&self, derived: &Derived, random: &mut Random) -> Result<(), String> {
        let ex: Vec<Array> = derived.dx.iter().map(|dx| random.array(&dx.ty(), (-1.0, 1.0))).collect();
        let values = self.program.main().results.len();
        let tangents: Vec<usize> = (values..values + self.outputs.len()).collect();
        let cotangents: Vec<usize> = (values..values + self.wrt.len()).collect();
        let (forward, reverse) = ([self.inputs, &derived.dx].concat(), [self.inputs, &derived.ct].concat());
        let second =
            |derived: Result<Program, Error>, inputs: &[Array], seeds: &[Array], with: &[Array], skip: usize| {
                let program = verified(derived)?;
                let results = run(&program, &[inputs, seeds].concat())?;
                Ok::<_, String>(inner(&results[skip..], with))
            };
        let ends = (values + self.outputs.len(), values + self.wrt.len());
        let (ct, dx) = (&derived.ct, &derived.dx);
        let forms = [
            ("jvp of jvp", second(diff::jvp(&derived.jvp, &self.wrt, &tangents), &forward, &ex, ct, ends.0)?),
            ("vjp of jvp", second(diff::vjp(&derived.jvp, &self.wrt, &tangents), &forward, ct, &ex, ends.0)?),
            ("jvp of vjp", second(diff::jvp(&derived.vjp, &self.wrt, &cotangents), &reverse, &ex, dx, ends.1)?),
            ("vjp of vjp", second(diff::vjp(&derived.vjp, &self.wrt, &cotangents), &reverse, dx, &ex, ends.1)?),
        ];
        for (name, form) in &forms[1..] {
            same_sum(forms[0].1, *form, self.tolerance(1e-10))
                .map_err(|e| format!("{} against {name}: {e}", forms[0].0))?;
        }
        Ok(())
    }
}

/// Some thousand roundings of f32 (a second derivative of a determinant has them), relative to the largest number
/// compared.
const F32_TOLERANCE: f64 = 2e-4;

/// A random part of a list, not empty.
fn subset(list: &[usize], random: &mut Random) -> Vec<usize> {
    let keep = list[random.below(list.len())];
    list.iter().copied().filter(|k| *k == keep || random.below(2) == 0).collect()
}

/// Elements as f64.
fn numbers(array: &Array) -> Vec<f64> {
    match array.data() {
        Data::F32(x) => x.iter().map(|x| f64::from(*x)).collect(),
        Data::F64(x) => x.clone(),
        Data::I32(_) | Data::I64(_) | Data::Bool(_) => panic!("only floats have derivatives: {}", array.ty()),
    }
}

/// x + h·dx.
fn moved(x: &Array, dx: &Array, h: f64) -> Array {
    let sum: Vec<f64> = numbers(x).iter().zip(numbers(dx)).map(|(x, dx)| x + h * dx).collect();
    Array::f64(x.shape(), sum)
}

/// An inner product and the sum of the absolute values of its terms.
fn inner(a: &[Array], b: &[Array]) -> (f64, f64) {
    assert_eq!(a.len(), b.len(), "an inner product pairs arrays");
    let pairs = a.iter().zip(b).flat_map(|(a, b)| numbers(a).into_iter().zip(numbers(b)));
    pairs.fold((0.0, 0.0), |(sum, size), (a, b)| (sum + a * b, size + (a * b).abs()))
}

fn same_sum(left: (f64, f64), right: (f64, f64), tolerance: f64) -> Result<(), String> {
    let scale = left.1.max(right.1).max(1.0);
    if (left.0 - right.0).abs() <= tolerance * scale {
        Ok(())
    } else {
        Err(format!("{:e} is not {:e}", left.0, right.0))
    }
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) -> Result<(), String> {
    let scale = expected.iter().fold(1.0, |scale: f64, x| scale.max(x.abs()));
    let far = |(a, b): (&f64, &f64)| (a - b).abs() > tolerance * scale || !(a - b).is_finite();
    match found.iter().zip(expected).position(far) {
        None if found.len() == expected.len() => Ok(()),
        None => Err(format!("{} elements, expected {}", found.len(), expected.len())),
        Some(k) => Err(format!("element {k} is {:e}, expected {:e}", found[k], expected[k])),
    }
}
