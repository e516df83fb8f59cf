//! Runs that can be stopped.

use std::sync::atomic::{AtomicBool, Ordering};

/// What a run looks at between the steps of its loops, so that it can be stopped.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use retrograd_jit::Watch;
/// let stop = AtomicBool::new(false);
/// let watch = Watch::from(&stop); // A run under it ends with an error soon after another thread sets `stop`.
/// # let _ = watch;
/// ```
pub struct Watch<'w> {
    raised: &'w AtomicBool,
    stops: Option<&'w dyn Fn() -> bool>,
}

/// Raised by nobody.
static NEVER: AtomicBool = AtomicBool::new(false);

impl<'w> Watch<'w> {
    /// A run under it is never stopped.
    pub fn never() -> Watch<'static> {
        Watch { raised: &NEVER, stops: None }
    }

    /// Whenever `raised` is found set, it is cleared, and `stops` says whether the run ends.
    pub fn asking(raised: &'w AtomicBool, stops: &'w dyn Fn() -> bool) -> Watch<'w> {
        Watch { raised, stops: Some(stops) }
    }

    /// Where machine code looks.
    pub(crate) fn flag(&self) -> *const u8 {
        self.raised.as_ptr().cast_const().cast()
    }

    /// What happens when the flag is found set.
    pub(crate) fn stops(&self) -> bool {
        match self.stops {
            None => true,
            Some(stops) => {
                self.raised.store(false, Ordering::Relaxed);
                stops()
            }
        }
    }
}

/// A run ends as soon as the flag is set; nothing clears it.
impl<'w> From<&'w AtomicBool> for Watch<'w> {
    fn from(raised: &'w AtomicBool) -> Watch<'w> {
        Watch { raised, stops: None }
    }
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("raised", self.raised).finish_non_exhaustive()
    }
}
