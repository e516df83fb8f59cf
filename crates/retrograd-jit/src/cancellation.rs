//! Cancellation and progress: runs that can be stopped, and that say how far they are.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use retrograd_compiler::lower::kernel::Order;

/// What a run looks at between the steps of its loops, so that it can be stopped.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use retrograd_jit::Cancellation;
/// let stop = AtomicBool::new(false);
/// let watch = Cancellation::from(&stop); // A run under it ends with an error soon after another thread sets `stop`.
/// # let _ = watch;
/// ```
pub struct Cancellation<'w> {
    raised: &'w AtomicBool,
    stops: Option<&'w dyn Fn(Option<Progress>) -> bool>,
}

/// Raised by nobody.
static NEVER: AtomicBool = AtomicBool::new(false);

impl<'w> Cancellation<'w> {
    /// A run under it is never stopped.
    pub fn never() -> Cancellation<'static> {
        Cancellation { raised: &NEVER, stops: None }
    }

    /// Whenever `raised` is found set, it is cleared, and `stops`, which is told how far the run is where that is
    /// known, says whether the run ends. A panic of `stops` ends the run and goes on from there.
    pub fn asking(raised: &'w AtomicBool, stops: &'w dyn Fn(Option<Progress>) -> bool) -> Cancellation<'w> {
        Cancellation { raised, stops: Some(stops) }
    }

    /// Where machine code looks.
    pub(crate) fn flag(&self) -> *const u8 {
        self.raised.as_ptr().cast_const().cast()
    }

    /// What happens when the flag is found set.
    fn stops(&self, progress: Option<Progress>) -> bool {
        match self.stops {
            None => true,
            Some(stops) => {
                self.raised.store(false, Ordering::Relaxed);
                stops(progress)
            }
        }
    }
}

/// How far a run is: the step of one of its outermost loops, forwards or backwards. Steps that are run again do not
/// count.
///
/// ```
/// use retrograd_jit::Progress;
/// let progress = Progress { part: 1, parts: 2, step: 30, steps: Some(60) };
/// assert_eq!(progress.fraction(), 0.75);
/// assert_eq!(progress.to_string(), "loop 2 of 2, step 30 of 60");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Which of the outermost loops runs, in the order in which they run, from 0. The way back of a loop is one of its
    /// own.
    pub part: u32,
    /// How many there are.
    pub parts: u32,
    /// Steps of this one that have begun.
    pub step: u64,
    /// How many steps this one has; `None` where only its end will tell.
    pub steps: Option<u64>,
}

impl Progress {
    /// From 0 to 1, never less than before: every loop counts the same, and its steps too.
    pub fn fraction(&self) -> f64 {
        let inside = self.steps.map_or(0.0, |steps| self.step.min(steps) as f64 / steps.max(1) as f64);
        (f64::from(self.part) + inside) / f64::from(self.parts.max(1))
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress { part, parts, step, steps } = self;
        write!(f, "loop {} of {parts}, step {step}", part + 1)?;
        steps.map_or(Ok(()), |steps| write!(f, " of {steps}"))
    }
}

/// What machine code passes on for what it does not know.
pub(crate) const UNKNOWN: i64 = -1;

/// The watch of one run, as machine code holds it.
pub(crate) struct Cancellable<'w> {
    pub(crate) watch: &'w Cancellation<'w>,
    /// How many outermost loops the kernel has.
    pub(crate) loops: u32,
    /// A panic of the user's function: it must not pass through machine code.
    pub(crate) panic: RefCell<Option<Box<dyn Any + Send>>>,
}

impl<'w> Cancellable<'w> {
    /// The watch of a kernel of so many outermost loops.
    pub(crate) fn new(watch: &'w Cancellation<'w>, loops: u32) -> Cancellable<'w> {
        Cancellable { watch, loops, panic: RefCell::new(None) }
    }
    /// What happens when the flag is found set.
    pub(crate) fn stops(&self, part: i64, step: i64, steps: i64, order: Order) -> bool {
        let known = |word: i64| u64::try_from(word).ok();
        let progress = u32::try_from(part).ok().map(|part| {
            let steps = known(steps);
            let step = match order {
                Order::Up => known(step).unwrap_or(0),
                Order::Down => steps.unwrap_or(0).saturating_sub(known(step).unwrap_or(0)),
            };
            Progress { part, parts: self.loops, step, steps }
        });
        // Only the thread that runs asks the user's function, so that nobody else borrows this.
        catch_unwind(AssertUnwindSafe(|| self.watch.stops(progress))).unwrap_or_else(|panic| {
            *self.panic.borrow_mut() = Some(panic);
            true
        })
    }
}

/// How often a run says how far it is, at most.
const PERIOD: Duration = Duration::from_millis(100);

/// Runs `run` under a watch that hands to `report`, every tenth of a second, how far it is; a panic of `report` ends
/// the run and goes on from there.
pub(crate) fn reporting<T>(report: &mut dyn FnMut(&Progress), run: impl FnOnce(&Cancellation<'_>) -> T) -> T {
    let raised = AtomicBool::new(false);
    let report = RefCell::new(report);
    let tell = |progress: Option<Progress>| {
        if let Some(progress) = progress {
            report.borrow_mut()(&progress);
        }
        false
    };
    std::thread::scope(|scope| {
        let (over, until) = channel::<()>();
        let raised = &raised;
        scope.spawn(move || {
            while until.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                raised.store(true, Ordering::Relaxed);
            }
        });
        let result = run(&Cancellation::asking(raised, &tell));
        drop(over);
        result
    })
}

/// A run ends as soon as the flag is set; nothing clears it.
impl<'w> From<&'w AtomicBool> for Cancellation<'w> {
    fn from(raised: &'w AtomicBool) -> Cancellation<'w> {
        Cancellation { raised, stops: None }
    }
}

impl fmt::Debug for Cancellation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancellation").field("raised", self.raised).finish_non_exhaustive()
    }
}
