//! In which order a loop is advanced, recorded and reversed.

/// How the states of a loop are found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Every step is taped.
    KeepAll,
    /// A snapshot every `period` steps.
    Periodic {
        /// Steps between snapshots.
        period: u64,
    },
    /// Binomial.
    Revolve {
        /// Slots, the start state included.
        slots: u64,
    },
}

/// Whether the user's forward loop is the first sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// It is.
    Paired,
    /// The reversal starts from the start state.
    Alone,
}
