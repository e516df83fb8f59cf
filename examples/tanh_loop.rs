//! A recurrence of 1000 steps over 10,000 numbers, and its gradient in 1.2 MB.
//!
//! `cargo run --release --example tanh_loop`
#![allow(clippy::print_stdout, reason = "an example shows its results")]

use retrograd::{Array, Error, for_loop, value_and_grad};

fn main() -> Result<(), Error> {
    let loss = value_and_grad(|[s, theta]| {
        let s = for_loop(1000, s, |_, s| s + 0.01 * (theta * s).tanh());
        (s * s).sum()
    })
    .argnums(&[0, 1])
    .budget("1.2 MB");

    let numbers = |seed: f64| Array::f64([10_000], (0..10_000).map(|k| (f64::from(k) * seed).sin()).collect());
    let (s, theta) = (numbers(0.7), numbers(1.3));
    let compiled = loss.compile(&[&s, &theta])?;
    println!("{}", compiled.plan);
    let (outputs, stats) = compiled.run_with_stats(&[&s, &theta])?;
    println!("value    {}", outputs[0].as_f64()[0]);
    println!("d/ds     {:?} …", &outputs[1].as_f64()[..3]);
    println!("d/dtheta {:?} …", &outputs[2].as_f64()[..3]);
    println!("measured peak {} bytes, {:.3} s", stats.bytes_peak, stats.seconds);
    Ok(())
}
