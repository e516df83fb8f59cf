//! A recurrence of 1000 steps over 100 numbers, and its gradient.
//!
//! `cargo run --release --example tanh_loop`
#![allow(clippy::print_stdout, reason = "an example shows its results")]

use retrograd::{Array, Error, for_loop, value_and_grad};

fn main() -> Result<(), Error> {
    // z ← tanh(w z + x), from z = 0; how does the final sum change with x and w?
    let f = value_and_grad(|[x, w]| for_loop(1000, x * 0.0, |_, z| (w * z + x).tanh()).sum()).argnums(&[0, 1]);

    let x = Array::f64([100], (0..100).map(|k| f64::from(k) / 100.0 - 0.5).collect());
    let w = Array::scalar(0.9);
    let (value, gradient) = f.run(&[&x, &w])?;

    println!("value  {}", value.as_f64()[0]);
    println!("d/dx   {:?} …", &gradient[0].as_f64()[..3]);
    println!("d/dw   {}", gradient[1].as_f64()[0]);
    Ok(())
}
