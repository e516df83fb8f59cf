//! A flag that is raised some times a second while machine code runs, so that a run looks for signals (Ctrl-C) on its
//! own thread.
//!
//! The thread that raises it goes when nothing has run for a while. Nothing here is locked, so that a fork at any
//! moment does no harm; a forked process gets a thread of its own, because Python says so (`forked`): to ask the system
//! at every run would take longer than short runs.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pyo3::prelude::*;

static RAISED: AtomicBool = AtomicBool::new(false);
static RUNS: AtomicUsize = AtomicUsize::new(0);
/// Whether the thread is there.
static TICKS: AtomicBool = AtomicBool::new(false);

const PERIOD: Duration = Duration::from_millis(50);

/// How many periods without a run the thread waits before it goes.
const IDLE_PERIODS: u32 = 20;

/// A run, until it is dropped.
pub(crate) struct Run(());

impl Run {
    pub(crate) fn new() -> Run {
        RUNS.fetch_add(1, Ordering::SeqCst);
        if !TICKS.load(Ordering::SeqCst) && !TICKS.swap(true, Ordering::SeqCst) {
            // Without a thread to be had, the run cannot be stopped, and is no worse otherwise.
            let _ = std::thread::Builder::new().name("retrograd ticks".into()).spawn(tick);
        }
        Run(())
    }

    /// The flag.
    pub(crate) fn raised(&self) -> &'static AtomicBool {
        &RAISED
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The process is a copy of another, without its threads.
#[pyfunction]
pub(crate) fn forked() {
    TICKS.store(false, Ordering::SeqCst);
}

fn tick() {
    let mut idle = 0;
    loop {
        std::thread::sleep(PERIOD);
        if RUNS.load(Ordering::SeqCst) > 0 {
            idle = 0;
            RAISED.store(true, Ordering::SeqCst);
            continue;
        }
        idle += 1;
        if idle >= IDLE_PERIODS {
            TICKS.store(false, Ordering::SeqCst);
            // A run that began before that store has seen this thread, and counts on it.
            let needed = RUNS.load(Ordering::SeqCst) > 0;
            if !needed || TICKS.swap(true, Ordering::SeqCst) {
                return;
            }
            idle = 0;
        }
    }
}
