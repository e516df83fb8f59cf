//! A second tier of memory that is slow to write and to read.
//!
//! Herrmann and Pallez 2020 (*H-Revolve*): a state on disk leaves all of the fast memory free, so the tiers add up. With `x_0` on disk
//! already, `n` steps and `d` slots of the disk cost
//!
//! ```text
//! P(n, d) = min( C(n),  i f + O(n-i, d-1) + read + P(i, d)   for 0 < i < n )
//! O(n, d) = min( C(n),  write + P(n, d) ),   O(n, 0) = C(n)
//! ```
//!
//! where `C` is the optimum in fast memory alone. Deviation: `C` is anyone's, so that it may mix states and records. With a slot for
//! every step this is *Disk-Revolve* (Aupy, Herrmann, Hovland, Robert 2016), without its rule that a state is read once.

/// A slow tier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disk {
    /// States that it holds.
    pub slots: usize,
    /// Work of writing one.
    pub write: f64,
    /// Work of reading one.
    pub read: f64,
}

/// The least work for every number of steps, from that in fast memory alone.
///
/// ```
/// use retrograd_compiler::plan::optimal::tiers::{Disk, with_disk};
/// // One slot in fast memory: n (n - 1) / 2 advances.
/// let memory: Vec<f64> = (0..=10).map(|n| (n * (n - 1) / 2) as f64).collect();
/// assert_eq!(with_disk(&memory, 1.0, Disk { slots: 1, write: 2.0, read: 2.0 })[10], 27.0);
/// ```
pub fn with_disk(memory: &[f64], advance: f64, disk: Disk) -> Vec<f64> {
    let mut fewer = memory.to_vec();
    for _ in 0..disk.slots {
        let mut stored: Vec<f64> = vec![];
        for (n, alone) in memory.iter().enumerate() {
            let split = |i: usize| i as f64 * advance + fewer[n - i] + disk.read + stored[i];
            stored.push((1..n).map(split).fold(*alone, f64::min));
        }
        fewer = memory.iter().zip(&stored).map(|(alone, stored)| alone.min(disk.write + stored)).collect();
    }
    fewer
}
