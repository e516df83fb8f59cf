//! A flag that is raised some times a second while machine code runs, so that a run looks for signals (Ctrl-C) on its own thread.
//!
//! The thread that raises it goes when nothing has run for a while. Nothing here is locked, so that a fork at any moment does no harm; a
//! forked process gets a thread of its own.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

static RAISED: AtomicBool = AtomicBool::new(false);
static RUNS: AtomicUsize = AtomicUsize::new(0);
/// The process that has the thread; 0 is none.
static OWNER: AtomicU32 = AtomicU32::new(0);

const PERIOD: Duration = Duration::from_millis(50);

/// How many periods without a run the thread waits before it goes.
const IDLE_PERIODS: u32 = 20;

/// A run, until it is dropped.
pub(crate) struct Run(());

impl Run {
    pub(crate) fn new() -> Run {
        RUNS.fetch_add(1, Ordering::SeqCst);
        let process = std::process::id();
        if OWNER.swap(process, Ordering::SeqCst) != process {
            // Without a thread to be had, the run cannot be stopped, and is no worse otherwise.
            let _ = std::thread::Builder::new().name("retrograd ticks".into()).spawn(move || tick(process));
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

fn tick(process: u32) {
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
            OWNER.store(0, Ordering::SeqCst);
            // A run that began before that store has seen this thread, and counts on it.
            let needed = RUNS.load(Ordering::SeqCst) > 0;
            if !needed || OWNER.compare_exchange(0, process, Ordering::SeqCst, Ordering::SeqCst).is_err() {
                return;
            }
            idle = 0;
        }
    }
}
