//! The thread pool: threads that work on one run together.
//!
//! A launch is a part of a kernel over a range of indices. Its chunks are taken one after the other by whoever is free:
//! the thread that runs the kernel, and the workers, which spin for a while before they sleep. Chunks are independent
//! of each other and are fixed by the kernel, so that who computes what does not matter to any bit. Every chunk has a
//! fault of its own, and that of the lowest index counts, as if there were one thread. Only the thread that runs the
//! kernel asks whether to stop; the workers see when it does. Nothing is allocated after [`ThreadPool::of`].

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;

use retrograd_compiler::lower::kernel::Order;

use crate::cancellation::{Cancellable, Cancellation, UNKNOWN};
use crate::code::STOPPED;

/// A part of a kernel: that of its caller (arena, inputs, outputs, words, flag, watch), where its registers are, and a
/// range.
type PartEntry = unsafe extern "C" fn(
    *mut u8,
    *const *const u8,
    *const *mut u8,
    *mut i64,
    *const u8,
    *const Cancellable<'static>,
    *const u8,
    i64,
    i64,
);

/// A part over `0..count`, as machine code writes it down.
#[repr(C)]
pub(crate) struct Launch {
    function: PartEntry,
    arena: *mut u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    /// The fault, who observes, and the pool.
    words: *mut i64,
    flag: *const u8,
    watch: *const Cancellable<'static>,
    registers: *const u8,
    count: i64,
    chunk: i64,
}

/// Words of a [`Launch`].
pub(crate) const LAUNCH_WORDS: usize = size_of::<Launch>() / 8;

/// Words of a run: the fault, who observes, the file, and the pool.
const WORDS: usize = 4;

impl Launch {
    /// Runs some of the indices on this thread, with these words, flag and watch.
    ///
    /// # Safety
    /// The launch is that of a run under way, nobody else runs these indices, and `words` are those of a run.
    unsafe fn range(
        &self,
        words: *mut i64,
        (flag, watch): (*const u8, *const Cancellable<'static>),
        from: i64,
        to: i64,
    ) {
        let Launch { function, arena, inputs, outputs, registers, .. } = *self;
        // SAFETY: machine code put down a part of its own with what it was called with; the caller promises the rest.
        unsafe { function(arena, inputs, outputs, words, flag, watch, registers, from, to) }
    }

    /// Runs all of it on this thread.
    ///
    /// # Safety
    /// The launch is that of a run under way, and nobody else knows of it.
    unsafe fn alone(&self) {
        // SAFETY: the words are those that machine code was called with; the caller promises the rest.
        unsafe { self.range(self.words, (self.flag, self.watch), 0, self.count) }
    }
}

/// `ThreadPool::run` for machine code, or all on this thread where there is no pool.
///
/// # Safety
/// `launch` points to a launch of the run under way; the fourth of its words is 0 or the address of a pool.
pub(crate) unsafe extern "C" fn spread(launch: *const Launch) {
    // SAFETY: the caller promises it: machine code passes the address of a stack slot.
    let launch = unsafe { &*launch };
    // SAFETY: the words of a run are four.
    let pool = unsafe { launch.words.add(3).read() };
    let pool = std::ptr::with_exposed_provenance::<ThreadPool>(pool.cast_unsigned() as usize);
    // SAFETY: the executable that runs owns its pool.
    match unsafe { pool.as_ref() } {
        Some(pool) => pool.run(launch),
        // SAFETY: nobody else knows of the launch.
        None => unsafe { launch.alone() },
    }
}

/// Workers beside the thread that runs.
pub(crate) struct ThreadPool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// Held by the run whose launch is under way; other runs work alone meanwhile.
    busy: Mutex<()>,
    /// Where the workers are: a fork has this memory, and no workers.
    process: u32,
}

/// What the workers see.
#[derive(Default)]
struct Shared {
    /// Counts launches.
    epoch: AtomicU64,
    /// The launch under way, or null.
    job: AtomicPtr<Job>,
    /// Workers that may look at the job.
    active: AtomicUsize,
    sleeping: AtomicUsize,
    ends: AtomicBool,
    door: Mutex<()>,
    bell: Condvar,
}

/// A launch, where its next chunk begins, and what went wrong.
struct Job {
    launch: *const Launch,
    next: AtomicI64,
    /// Whether the run ends: nobody begins another chunk, and workers find it set where they ask.
    stopped: AtomicBool,
    /// The chunk of the lowest indices that faulted, and its fault.
    fault: Mutex<Option<(i64, i64)>>,
}

/// How often a worker looks for a launch before it sleeps: some tens of microseconds.
const SPINS: usize = 2000;

impl ThreadPool {
    /// So many threads in all, the one that runs included; none where that is one. Executables of this process share
    /// them.
    pub(crate) fn of(threads: usize) -> Option<Arc<ThreadPool>> {
        static POOLS: Mutex<BTreeMap<usize, Weak<ThreadPool>>> = Mutex::new(BTreeMap::new());
        if threads < 2 {
            return None;
        }
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        let there = pools.get(&threads).and_then(Weak::upgrade).filter(|pool| pool.is_here());
        Some(there.unwrap_or_else(|| {
            let pool = Arc::new(ThreadPool::new(threads - 1));
            pools.insert(threads, Arc::downgrade(&pool));
            pool
        }))
    }

    fn new(workers: usize) -> ThreadPool {
        let shared = Arc::new(Shared::default());
        let worker = |_| {
            let shared = shared.clone();
            std::thread::Builder::new().name("retrograd".to_owned()).spawn(move || shared.work())
        };
        let workers = (0..workers).filter_map(|k| worker(k).ok()).collect();
        ThreadPool { shared, workers, busy: Mutex::new(()), process: std::process::id() }
    }

    /// Whether its workers are in this process.
    fn is_here(&self) -> bool {
        self.process == std::process::id()
    }

    /// How many threads there are, the one that runs included.
    pub(crate) fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Runs a launch together, and returns when all of it is done.
    fn run(&self, launch: &Launch) {
        let busy = if self.is_here() { self.busy.try_lock().ok() } else { None };
        let Some(_busy) = busy else {
            // SAFETY: nobody else knows of the launch.
            return unsafe { launch.alone() };
        };
        let mut job = Job { launch, next: AtomicI64::new(0), stopped: AtomicBool::new(false), fault: Mutex::new(None) };
        let shared = &self.shared;
        shared.job.store(&raw mut job, Ordering::SeqCst);
        shared.epoch.fetch_add(1, Ordering::SeqCst);
        // A worker counts itself before it looks at the epoch for the last time, so that either it sees this one or we
        // see it.
        if shared.sleeping.load(Ordering::SeqCst) > 0 {
            let _door = shared.door.lock().unwrap_or_else(PoisonError::into_inner);
            shared.bell.notify_all();
        }
        // SAFETY: the launch lives until this function returns.
        unsafe { job.work((launch.flag, launch.watch)) };
        // A worker counts itself before it looks at the job, so that either it finds none or we wait for it.
        shared.job.store(std::ptr::null_mut(), Ordering::SeqCst);
        let mut waited = 0;
        while shared.active.load(Ordering::SeqCst) != 0 {
            waited += 1;
            if waited < SPINS {
                std::hint::spin_loop()
            } else {
                std::thread::yield_now()
            }
            // SAFETY: flag and watch are those of the run under way, which this thread runs.
            unsafe { job.ask() };
        }
        // SAFETY: no worker is left, and the words are those of the run under way.
        unsafe { job.tell() };
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        if !self.is_here() {
            // There is nobody to wait for, and a worker that is gone may have held the door.
            self.workers.drain(..).for_each(std::mem::forget);
            return;
        }
        self.shared.ends.store(true, Ordering::SeqCst);
        {
            let _door = self.shared.door.lock().unwrap_or_else(PoisonError::into_inner);
            self.shared.bell.notify_all();
        }
        for worker in self.workers.drain(..) {
            worker.join().expect("workers do not panic");
        }
    }
}

impl Job {
    /// Takes chunks until there are none.
    ///
    /// # Safety
    /// The launch is alive, of a run under way, and this thread may look at flag and watch.
    unsafe fn work(&self, asks: (*const u8, *const Cancellable<'static>)) {
        // SAFETY: the caller promises it.
        let launch = unsafe { &*self.launch };
        // SAFETY: the words of a run are four; who observes and the file stay as they are.
        let [observer, file] = [1, 2].map(|k| unsafe { launch.words.add(k).read() });
        while !self.stopped.load(Ordering::Relaxed) {
            let from = self.next.fetch_add(launch.chunk, Ordering::Relaxed);
            if from >= launch.count {
                return;
            }
            // What is spread inside of this runs on this thread.
            let mut words: [i64; WORDS] = [0, observer, file, 0];
            // SAFETY: every chunk is taken once.
            unsafe { launch.range(words.as_mut_ptr(), asks, from, (from + launch.chunk).min(launch.count)) };
            match words[0] {
                0 => {}
                STOPPED => self.stopped.store(true, Ordering::Relaxed),
                fault => {
                    self.found(from, fault);
                    // Chunks are taken in ascending order: what nobody has taken yet comes after this one.
                    self.next.store(launch.count, Ordering::Relaxed);
                }
            }
        }
    }

    /// A chunk faulted.
    fn found(&self, from: i64, fault: i64) {
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none_or(|(known, _)| from < known) {
            *first = Some((from, fault));
        }
    }

    /// While others work: whether to stop.
    ///
    /// # Safety
    /// The launch is alive, of a run that this thread runs.
    unsafe fn ask(&self) {
        // SAFETY: the caller promises it.
        let launch = unsafe { &*self.launch };
        // SAFETY: the flag is a byte that others may set, as for machine code.
        let raised = unsafe { AtomicBool::from_ptr(launch.flag.cast_mut().cast()) };
        if raised.load(Ordering::Relaxed) && !self.stopped.load(Ordering::Relaxed) {
            // SAFETY: the caller promises it.
            let watch = unsafe { &*launch.watch };
            self.stopped.store(watch.stops(UNKNOWN, UNKNOWN, UNKNOWN, Order::Up), Ordering::Relaxed);
        }
    }

    /// Says in the words of the run what went wrong; the first fault of a run stays.
    ///
    /// # Safety
    /// The launch is alive, and nobody else is at work on it.
    unsafe fn tell(&self) {
        // SAFETY: the caller promises it.
        let launch = unsafe { &*self.launch };
        // SAFETY: the first word of a run is its fault.
        let word = unsafe { &mut *launch.words };
        if self.stopped.load(Ordering::Relaxed) {
            *word = STOPPED;
        } else if let Some((_, fault)) = *self.fault.lock().unwrap_or_else(PoisonError::into_inner)
            && *word == 0
        {
            *word = fault;
        }
    }
}

impl Shared {
    /// The life of a worker.
    fn work(&self) {
        let mut seen = 0;
        while let Some(epoch) = self.after(seen) {
            seen = epoch;
            self.active.fetch_add(1, Ordering::SeqCst);
            let job = self.job.load(Ordering::SeqCst);
            // SAFETY: a job stays until no worker is active that may have seen it.
            if let Some(job) = unsafe { job.as_ref() } {
                let watch = Cancellation::from(&job.stopped);
                let watched = Cancellable::new(&watch, 0);
                let asks = (watch.flag(), (&raw const watched).cast());
                // SAFETY: its launch lives as long; a worker looks at what the job says.
                unsafe { job.work(asks) };
            }
            self.active.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// The number of the next launch, or nothing at the end.
    fn after(&self, seen: u64) -> Option<u64> {
        let next = || Some(self.epoch.load(Ordering::SeqCst)).filter(|epoch| *epoch != seen);
        for _ in 0..SPINS {
            if self.ends.load(Ordering::SeqCst) {
                return None;
            }
            if let Some(epoch) = next() {
                return Some(epoch);
            }
            std::hint::spin_loop();
        }
        let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleeping.fetch_add(1, Ordering::SeqCst);
        let found = loop {
            if self.ends.load(Ordering::SeqCst) {
                break None;
            }
            if let Some(epoch) = next() {
                break Some(epoch);
            }
            door = self.bell.wait(door).unwrap_or_else(PoisonError::into_inner);
        };
        self.sleeping.fetch_sub(1, Ordering::SeqCst);
        found
    }
}
