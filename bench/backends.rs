//! The programs of this folder by every back end: how long machine code takes to make, and to run.
//!
//! `cargo run --release --example backends [SECONDS] [NAME]`: each whose name begins so is timed so long, the best
//! counts. Times are of the processor where the system tells them (Linux), so that what else the machine does matters
//! less.
#![allow(clippy::print_stdout, reason = "a benchmark shows its results")]

use std::sync::LazyLock;
use std::time::Instant;

use retrograd::{Array, Backend, Error, Mode, Transformed, Var, for_loop, jit, value_and_grad};

fn tanh_loop<'t>([s, theta]: [Var<'t>; 2]) -> Var<'t> {
    let s = for_loop(1000, s, |_, s| s + 0.01 * (theta * s).tanh());
    (s * s).sum()
}

fn jacobi<'t>([a, b]: [Var<'t>; 2]) -> Var<'t> {
    let inner = 1..249;
    let smooth = |from: Var<'t>, to: Var<'t>| {
        let [up, down] = [..248, ..250].map(|rows| from.slice((rows.end - 248..rows.end, inner.clone())));
        let [left, right] = [..248, ..250].map(|columns| from.slice((inner.clone(), columns.end - 248..columns.end)));
        let middle = from.slice((inner.clone(), inner.clone()));
        to.set((inner.clone(), inner.clone()), 0.2 * (middle + left + right + down + up))
    };
    let step = |_, (a, b)| {
        let b = smooth(a, b);
        (smooth(b, a), b)
    };
    for_loop(100, (a, b), step).0.sum()
}

fn heat<'t>([a, b]: [Var<'t>; 2]) -> Var<'t> {
    let inner = 1..39;
    let smooth = |from: Var<'t>, to: Var<'t>| {
        let part = |starts: [usize; 3]| {
            let [x, y, z] = starts.map(|start| start..start + 38);
            from.slice((x, y, z))
        };
        let middle = part([1, 1, 1]);
        let along = |axis: usize| {
            let at = |start: usize| part([0, 1, 2].map(|other| if other == axis { start } else { 1 }));
            0.125 * (at(2) - 2.0 * middle + at(0))
        };
        to.set((inner.clone(), inner.clone(), inner.clone()), along(0) + along(1) + along(2) + middle)
    };
    let step = |_, (a, b)| {
        let b = smooth(a, b);
        (smooth(b, a), b)
    };
    let a: Var<'t> = for_loop(49, (a, b), step).0;
    (a * a).sum()
}

fn burgers<'t>([u, v]: [Var<'t>; 2]) -> Var<'t> {
    let (inner, transport, viscosity) = (1..200, 0.05, 0.05);
    let step = |_, (u, v): (Var<'t>, Var<'t>)| {
        let part = |x: Var<'t>, row: usize, column: usize| x.slice((row..row + 199, column..column + 199));
        let (a, b) = (part(u, 1, 1), part(v, 1, 1));
        let moved = |x: Var<'t>, c: Var<'t>| {
            let carried = a * (c - part(x, 1, 0)) + b * (c - part(x, 0, 1));
            let spread = part(x, 1, 2) + part(x, 1, 0) + part(x, 2, 1) + part(x, 0, 1) - 4.0 * c;
            x.set((inner.clone(), inner.clone()), c - transport * carried + viscosity * spread)
        };
        (moved(u, a), moved(v, b))
    };
    let (u, v) = for_loop(32, (u, v), step);
    (u * u).sum() + (v * v).sum()
}

fn lorenz<'t>([x, y, z, sigma, rho, beta]: [Var<'t>; 6]) -> Var<'t> {
    let step = |_, (x, y, z)| {
        let (dx, dy, dz): (Var<'t>, Var<'t>, Var<'t>) = (sigma * (y - x), x * (rho - z) - y, x * y - beta * z);
        (x + 1e-5 * dx, y + 1e-5 * dy, z + 1e-5 * dz)
    };
    let (x, y, z) = for_loop(1_000_000, (x, y, z), step);
    x * x + y * y + z * z
}

fn elementwise<'t>([x, a, b]: [Var<'t>; 3]) -> Var<'t> {
    ((a * x + b).tanh() * (-x * x).exp() + (x * x + 1.0).log() * x.sin()).sum()
}

fn recurrence<'t>([x, r]: [Var<'t>; 2]) -> Var<'t> {
    for_loop(10_000_000, x, |_, x| r * x * (1.0 - x))
}

fn logistic<'t>([x, r]: [Var<'t>; 2]) -> Var<'t> {
    for_loop(1_000_000, (x, x.zeros([])), |_, (x, total)| (r * x * (1.0 - x), total + x)).1 / 1e6
}

fn five_points<'t>([u]: [Var<'t>; 1]) -> Var<'t> {
    let part = |u: Var<'t>, row: usize, column: usize| u.slice((row..row + 248, column..column + 248));
    let step = |_, u: Var<'t>| {
        let sum = part(u, 1, 1) + part(u, 1, 0) + part(u, 1, 2) + part(u, 2, 1) + part(u, 0, 1);
        u.set((1..249, 1..249), 0.2 * sum)
    };
    for_loop(50, u, step)
}

fn squares<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
    (x * x).sum()
}

fn numbers(shape: &[usize], seed: f64) -> Array {
    let count: usize = shape.iter().product();
    Array::f64(shape.to_vec(), (0..count).map(|k| (k as f64 * seed).sin()).collect())
}

/// Seconds that this thread was on a processor, or of the clock.
fn now() -> f64 {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let begin = *BEGIN;
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| begin.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// Seconds of a batch, which is long against the ticks in which a system counts.
const BATCH: f64 = 0.1;

/// Seconds of one call of several, and what it gives.
fn timed<T>(repeats: u32, mut call: impl FnMut() -> Result<T, Error>) -> Result<(f64, T), Error> {
    let begin = now();
    for _ in 1..repeats {
        call()?;
    }
    let result = call()?;
    Ok(((now() - begin) / f64::from(repeats), result))
}

/// Makes and runs it by each back end; all must give the same bits.
fn measure<'f, M: Mode>(
    name: &str,
    args: &[Array],
    seconds: f64,
    make: impl Fn() -> Transformed<'f, M>,
) -> Result<(), Error> {
    let inputs: Vec<&Array> = args.iter().collect();
    if std::env::args().nth(2).is_some_and(|wanted| !name.starts_with(&wanted)) {
        return Ok(());
    }
    let mut first: Option<Vec<Array>> = None;
    for backend in [Backend::Cranelift, Backend::Llvm { path: None }] {
        let mut made = f64::INFINITY;
        for _ in 0..3 {
            made = made.min(timed(20, || make().backend(backend.clone()).compile(&inputs))?.0);
        }
        let compiled = make().backend(backend).compile(&inputs)?;
        // The quickest of a few, because others may have had the processor meanwhile.
        let mut quickest = f64::INFINITY;
        for _ in 0..5 {
            quickest = quickest.min(compiled.run_with_stats(&inputs)?.1.seconds);
        }
        let repeats = (BATCH / quickest).clamp(1.0, 100_000.0) as u32;
        let (begin, mut best) = (Instant::now(), f64::INFINITY);
        while begin.elapsed().as_secs_f64() < seconds {
            let (time, outputs) = timed(repeats, || compiled.run(&inputs))?;
            best = best.min(time);
            let same = first.get_or_insert_with(|| outputs.clone()).iter().zip(&outputs).all(|(x, y)| x.same_bits(y));
            assert!(same, "{name}: back ends give other bits");
        }
        let word = compiled.backend().split(" (").next().unwrap_or_default();
        println!("{name:22} {word:18} compile {:7.1} ms   run {:9.3} ms", made * 1e3, best * 1e3);
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let seconds = std::env::args().nth(1).map_or(1.0, |text| text.parse().expect("seconds"));
    let args = [numbers(&[10_000], 0.7), numbers(&[10_000], 1.3)];
    measure("tanh loop, value", &args, seconds, || jit(tanh_loop))?;
    measure("tanh loop, gradient", &args, seconds, || value_and_grad(tanh_loop).argnums(&[0, 1]))?;
    measure("tanh loop, in 1.2 MB", &args, seconds, || value_and_grad(tanh_loop).argnums(&[0, 1]).budget("1.2 MB"))?;
    let args = [numbers(&[250, 250], 0.7), numbers(&[250, 250], 1.3)];
    measure("jacobi, value", &args, seconds, || jit(jacobi))?;
    measure("jacobi, gradient", &args, seconds, || value_and_grad(jacobi).argnums(&[0, 1]))?;
    let args = [numbers(&[40, 40, 40], 0.7), numbers(&[40, 40, 40], 1.3)];
    measure("heat, value", &args, seconds, || jit(heat))?;
    measure("heat, gradient", &args, seconds, || value_and_grad(heat).argnums(&[0, 1]))?;
    let args = [numbers(&[201, 201], 0.7), numbers(&[201, 201], 1.3)];
    measure("Burgers, value", &args, seconds, || jit(burgers))?;
    measure("Burgers, gradient", &args, seconds, || value_and_grad(burgers).argnums(&[0, 1]))?;
    let args = [0.3, -0.2, 0.9, 10.0, 28.0, 8.0 / 3.0].map(Array::scalar);
    measure("Lorenz, value", &args, seconds, || jit(lorenz))?;
    measure("Lorenz, gradient", &args, seconds, || value_and_grad(lorenz).argnums(&[0, 1, 2, 3, 4, 5]))?;
    let args = [0.3, 3.5].map(Array::scalar);
    measure("recurrence, value", &args, seconds, || jit(recurrence))?;
    measure("logistic, value", &args, seconds, || jit(logistic))?;
    measure("logistic, gradient", &args, seconds, || value_and_grad(logistic).argnums(&[0, 1]))?;
    measure("five points, value", &[numbers(&[250, 250], 0.7)], seconds, || jit(five_points))?;
    measure("squares, value", &[numbers(&[1_000_000], 0.7)], seconds, || jit(squares))?;
    let args = [numbers(&[1_000], 0.7), Array::scalar(1.5), Array::scalar(-0.25)];
    measure("elementwise, value", &args, seconds, || jit(elementwise))?;
    measure("elementwise, gradient", &args, seconds, || value_and_grad(elementwise))?;
    Ok(())
}
