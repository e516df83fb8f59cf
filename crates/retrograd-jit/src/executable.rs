//! Code with its arenas: what front ends run.

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use retrograd_compiler::eval::Sighting;
use retrograd_compiler::ir::{Array, Error, ErrorKind, Pos, Type};
use retrograd_compiler::lower::kernel::Kernel;
use retrograd_compiler::lower::{COUNTS, Fault, Lowered, counting};
use retrograd_compiler::plan::MOST_THREADS;

use crate::arena::{Arena, Pool};
use crate::backend::Backend;
use crate::cancellation::{Cancellation, Progress, reporting};
use crate::code::{Code, STOPPED, address, address_mut, compile};
use crate::observer::Observer;
use crate::spill::SpillFile;
use crate::stats::{Counts, Stats};
use crate::thread_pool::ThreadPool;

/// What [`Executable::run_checked`] saw.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Results, as of [`Executable::run`].
    pub outputs: Vec<Array>,
    /// One past the highest byte of the arena that the run changed.
    pub bytes_touched: u64,
    /// Whether the bytes before and after the arena are as they were.
    pub guards_intact: bool,
}

/// Machine code that can run any number of times, also at the same time on several threads. A clone is the same code
/// with arenas of its own.
///
/// ```
/// use retrograd_compiler::ir::Array;
/// use retrograd_compiler::{lower, ops, plan, plan::strategy};
/// use retrograd_jit::{Backend, Executable};
///
/// let text = "fn main(%x: f64) -> f64 {\n  %y: f64 = mul %x, %x\n  return %y\n}\n";
/// let plan = plan::plan(&ops::parse(text, "square.rg")?, &plan::Request::by(strategy::find("auto").unwrap()))?;
/// let square = Executable::new(&Backend::Cranelift, &lower::lower(&plan))?;
/// let (outputs, _) = square.run(&[&Array::scalar(3.0)])?;
/// assert_eq!(outputs, [Array::scalar(9.0)]);
/// assert!(square.backend().starts_with("cranelift 0."));
/// # Ok::<(), retrograd_compiler::ir::Error>(())
/// ```
pub struct Executable {
    made: Arc<Made>,
    arenas: Pool,
    /// Where states are spilled.
    directory: Option<PathBuf>,
    pool: Option<Arc<ThreadPool>>,
}

/// What clones share.
struct Made {
    code: Code,
    backend: Backend,
    inputs: Vec<Type>,
    outputs: Vec<Type>,
    faults: Vec<Fault>,
    counting: Counting,
}

/// Whether a kernel counts what it does, in one more output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    Off,
    On,
}

impl Clone for Executable {
    fn clone(&self) -> Executable {
        let Executable { made, arenas: _, directory, pool } = self;
        let (made, directory, pool) = (Arc::clone(made), directory.clone(), pool.clone());
        Executable { made, arenas: Pool::default(), directory, pool }
    }
}

impl Executable {
    /// Makes machine code of loops; the error is that LLVM was asked for and is not there.
    pub fn new(backend: &Backend, lowered: &Lowered) -> Result<Executable, Error> {
        let (inputs, outputs, faults) =
            (lowered.inputs().to_vec(), lowered.outputs().to_vec(), lowered.faults().to_vec());
        // SAFETY: a `Lowered` has private parts: `lower` made it, of a verified Program and a decision that was held
        // against it.
        unsafe { Executable::of_kernel(backend, lowered.kernel(), inputs, outputs, faults) }
    }

    /// Makes machine code of a kernel whose inputs, outputs and fault sites are these, in the order of their numbers:
    /// for tests of back ends.
    ///
    /// # Safety
    /// The kernel reads and writes nothing but elements of its inputs, its outputs, its literals and its arena, at
    /// addresses that are aligned for them, names no input, output, fault, register or part that it does not have,
    /// and ends.
    pub unsafe fn of_kernel(
        backend: &Backend,
        kernel: &Kernel,
        inputs: Vec<Type>,
        outputs: Vec<Type>,
        faults: Vec<Fault>,
    ) -> Result<Executable, Error> {
        let (code, backend) = (compile(kernel, backend)?, backend.clone());
        Ok(Made { code, backend, inputs, outputs, faults, counting: Counting::Off }.into())
    }

    /// The same, by the same back end, that also counts what it does: [`Stats::counts`] of its runs. Its bits are the
    /// same, and it is a little slower; it has one thread.
    pub fn counting(&self) -> Result<Executable, Error> {
        let Made { code, backend, inputs, outputs, faults, counting: before } = &*self.made;
        let kernel = match before {
            Counting::Off => &counting(code.kernel(), outputs.len() as u32),
            Counting::On => code.kernel(),
        };
        let (backend, inputs, outputs, faults) = (backend.clone(), inputs.clone(), outputs.clone(), faults.clone());
        let made = Made { code: compile(kernel, &backend)?, backend, inputs, outputs, faults, counting: Counting::On };
        Ok(Executable { directory: self.directory.clone(), ..made.into() })
    }

    /// The same, with states that the plan spills in a file of this directory, one for each run. Nothing is left there
    /// after a run.
    pub fn spilling_to(self, directory: impl Into<PathBuf>) -> Executable {
        Executable { directory: Some(directory.into()), ..self }
    }

    /// The same on so many threads, the one that calls included: they are made here, and bits do not depend on their
    /// number. Without this a run has one thread. Code with nothing to share, because its arrays are small, stays
    /// on one; more than [`MOST_THREADS`], or than the system gives, there never are.
    pub fn with_threads(self, threads: usize) -> Executable {
        let spreads = self.made.code.kernel().parts.iter().any(|part| part.range.is_some());
        // Sums of what counts would meet.
        let pool = if spreads && self.made.counting == Counting::Off {
            ThreadPool::of(threads.min(MOST_THREADS))
        } else {
            None
        };
        Executable { pool, ..self }
    }

    /// Bytes on the disk that a run uses at their most.
    pub fn spill_bytes(&self) -> u64 {
        self.made.code.kernel().spill_bytes
    }

    /// How many threads a run has.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.threads())
    }

    /// Who made its machine code: a name, a version and, of a library, its path.
    pub fn backend(&self) -> &str {
        self.made.code.backend()
    }

    /// Types of the inputs.
    pub fn inputs(&self) -> &[Type] {
        &self.made.inputs
    }

    /// Types of the outputs.
    pub fn outputs(&self) -> &[Type] {
        &self.made.outputs
    }

    /// Bytes of the arena that a run uses.
    pub fn arena_bytes(&self) -> usize {
        self.made.code.kernel().arena_bytes
    }

    /// Bytes that a run uses: the arena and outputs that are made in the caller's memory.
    pub fn bytes_peak(&self) -> u64 {
        self.arena_bytes() as u64 + self.made.code.kernel().output_bytes
    }

    /// Runs once.
    pub fn run(&self, inputs: &[&Array]) -> Result<(Vec<Array>, Stats), Error> {
        self.run_with(inputs, &Cancellation::never())
    }

    /// Runs once, unless it is stopped: then the error is `Interrupted`.
    pub fn run_with(&self, inputs: &[&Array], watch: &Cancellation<'_>) -> Result<(Vec<Array>, Stats), Error> {
        self.run_for(inputs, watch, None)
    }

    /// Runs once, and shows to `look` what probes see, in the order in which it happens.
    pub fn run_observed(
        &self,
        inputs: &[&Array],
        look: &mut dyn FnMut(&Sighting<'_>),
    ) -> Result<(Vec<Array>, Stats), Error> {
        let mut observer = Observer { probes: &self.made.code.kernel().probes, look, panic: None };
        let result = self.run_for(inputs, &Cancellation::never(), Some(&mut observer));
        match observer.panic {
            Some(panic) => resume_unwind(panic),
            None => result,
        }
    }

    /// Runs once, and hands to `report` how far it is, every tenth of a second; short runs, and runs without loops,
    /// report nothing.
    pub fn run_reporting(
        &self,
        inputs: &[&Array],
        report: &mut dyn FnMut(&Progress),
    ) -> Result<(Vec<Array>, Stats), Error> {
        reporting(report, |watch| self.run_with(inputs, watch))
    }

    fn run_for(
        &self,
        inputs: &[&Array],
        watch: &Cancellation<'_>,
        observer: Option<&mut Observer<'_>>,
    ) -> Result<(Vec<Array>, Stats), Error> {
        self.check_inputs(inputs)?;
        let mut arena = self.arenas.take(self.arena_bytes())?;
        let outputs = self.outputs().iter().map(Array::try_zeros).collect::<Result<_, Error>>()?;
        let result = self.run_in(inputs, outputs, arena.start(), watch, observer);
        let bytes_peak = arena.bytes() as u64 + self.made.code.kernel().output_bytes;
        self.arenas.give_back(arena);
        let (outputs, Took { seconds, bytes_spilled, counts }) = result?;
        Ok((outputs, Stats { bytes_peak, bytes_spilled, seconds, counts }))
    }

    /// Runs once over memory of the caller, unless it is stopped: then the outputs hold anything.
    ///
    /// # Safety
    /// There are as many pointers as [`Executable::inputs`] and [`Executable::outputs`] name, each aligned for its
    /// element type and valid for its bytes; the bytes of bools are 0 or 1; outputs overlap neither each other nor
    /// inputs.
    pub unsafe fn run_raw(
        &self,
        inputs: &[*const u8],
        outputs: &[*mut u8],
        watch: &Cancellation<'_>,
    ) -> Result<Stats, Error> {
        check_number("inputs", self.inputs().len(), inputs.len())?;
        check_number("outputs", self.outputs().len(), outputs.len())?;
        let mut arena = self.arenas.take(self.arena_bytes())?;
        // SAFETY: the arena has the bytes that the kernel asks for and is ours; the caller promises the rest.
        let result = unsafe { self.enter(arena.start(), inputs, outputs, watch, None) };
        let bytes_peak = arena.bytes() as u64 + self.made.code.kernel().output_bytes;
        self.arenas.give_back(arena);
        let Took { seconds, bytes_spilled, counts } = result?;
        Ok(Stats { bytes_peak, bytes_spilled, seconds, counts })
    }

    /// Runs once in a fresh arena between guards and says which part of it was used; for tests of plans.
    pub fn run_checked(&self, inputs: &[&Array]) -> Result<Checked, Error> {
        self.check_inputs(inputs)?;
        let mut arena = Arena::new(self.arena_bytes().saturating_add(2 * GUARD_BYTES))?;
        for (offset, byte) in arena.as_mut_slice().iter_mut().enumerate() {
            *byte = pattern(offset);
        }
        // SAFETY: the arena is longer than the guard, so the offset stays inside it.
        let start = unsafe { arena.start().add(GUARD_BYTES) };
        let outputs = self.outputs().iter().map(unwritten).collect();
        let (outputs, _) = self.run_in(inputs, outputs, start, &Cancellation::never(), None)?;
        let changed = |(offset, byte): (usize, &u8)| (*byte != pattern(offset)).then_some(offset);
        let bytes = arena.as_mut_slice();
        let inside = GUARD_BYTES..GUARD_BYTES + self.arena_bytes();
        let guards_intact = bytes.iter().enumerate().filter_map(changed).all(|offset| inside.contains(&offset));
        let last = bytes.iter().enumerate().filter_map(changed).rfind(|offset| inside.contains(offset));
        Ok(Checked { outputs, bytes_touched: last.map_or(0, |offset| offset + 1 - GUARD_BYTES) as u64, guards_intact })
    }

    /// Whether there are as many inputs as the code reads, of the types that it reads, with all their elements.
    fn check_inputs(&self, inputs: &[&Array]) -> Result<(), Error> {
        check_number("inputs", self.inputs().len(), inputs.len())?;
        for (k, (array, expected)) in inputs.iter().zip(self.inputs()).enumerate() {
            if array.ty() != *expected {
                return Err(argument(format!("input {k}: expected {expected}, found {}", array.ty())));
            }
            check_number(&format!("elements in input {k}"), expected.elements(), array.len())?;
        }
        Ok(())
    }

    /// Runs with the arena at `start`, which has `arena_bytes` for this run alone, into arrays of the types of the
    /// outputs.
    fn run_in(
        &self,
        inputs: &[&Array],
        mut outputs: Vec<Array>,
        start: *mut u8,
        watch: &Cancellation<'_>,
        observer: Option<&mut Observer<'_>>,
    ) -> Result<(Vec<Array>, Took), Error> {
        let sources: Vec<*const u8> = inputs.iter().map(|array| address(array)).collect();
        let targets: Vec<*mut u8> = outputs.iter_mut().map(address_mut).collect();
        // SAFETY: callers pass an arena of their own of the size of the kernel's; arrays have the types checked above,
        // or were made so.
        let took = unsafe { self.enter(start, &sources, &targets, watch, observer) }?;
        Ok((outputs, took))
    }

    /// A file for states, where the plan spills any.
    fn spill_file(&self) -> Result<Option<SpillFile>, Error> {
        if self.made.code.kernel().spill_bytes == 0 {
            return Ok(None);
        }
        let directory = self
            .directory
            .as_ref()
            .ok_or_else(|| argument("the plan spills states, and there is no directory for them".into()))?;
        SpillFile::create(directory).map(Some)
    }

    /// Calls the machine code.
    ///
    /// # Safety
    /// As for [`Code::call`].
    unsafe fn enter(
        &self,
        arena: *mut u8,
        inputs: &[*const u8],
        outputs: &[*mut u8],
        watch: &Cancellation<'_>,
        observer: Option<&mut Observer<'_>>,
    ) -> Result<Took, Error> {
        match self.made.counting {
            // SAFETY: the caller promises it.
            Counting::Off => unsafe { self.call(arena, inputs, outputs, watch, observer) },
            Counting::On => {
                let mut sums = [0_i64; COUNTS];
                let outputs = [outputs, &[(&raw mut sums).cast()]].concat();
                // SAFETY: the caller promises all outputs but the last, which has room for the sums.
                let took = unsafe { self.call(arena, inputs, &outputs, watch, observer) }?;
                Ok(Took { counts: Some(Counts::of(sums)), ..took })
            }
        }
    }

    /// Calls the machine code over all of its outputs.
    ///
    /// # Safety
    /// As for [`Code::call`].
    unsafe fn call(
        &self,
        arena: *mut u8,
        inputs: &[*const u8],
        outputs: &[*mut u8],
        watch: &Cancellation<'_>,
        observer: Option<&mut Observer<'_>>,
    ) -> Result<Took, Error> {
        let observer: *mut Observer<'_> = observer.map_or(std::ptr::null_mut(), std::ptr::from_mut);
        let mut file = self.spill_file()?;
        let spill: *mut SpillFile = file.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
        let pool = self.pool.as_ref().map_or(std::ptr::null(), Arc::as_ptr);
        let word = |address: usize| (address as u64).cast_signed();
        let mut words =
            [0, word(observer.expose_provenance()), word(spill.expose_provenance()), word(pool.expose_provenance())];
        let begin = Instant::now();
        // SAFETY: the caller promises it; the words are the fault, the observer and the file, which are borrowed for
        // this run, and the pool, which is ours.
        unsafe { self.made.code.call(arena, inputs.as_ptr(), outputs.as_ptr(), words.as_mut_ptr(), watch) };
        let fault = words[0];
        let seconds = begin.elapsed().as_secs_f64();
        if let Some(error) = file.as_mut().and_then(SpillFile::error) {
            return Err(error);
        }
        if fault == 0 {
            return Ok(Took { seconds, bytes_spilled: file.map_or(0, |file| file.bytes()), counts: None });
        }
        if fault == STOPPED {
            return Err(Error::new(ErrorKind::Interrupted, Pos::unknown(), "the run was stopped"));
        }
        let site = usize::try_from(fault - 1).expect("fault sites are counted from 1");
        let Fault { kind, pos, message } =
            self.made.faults.get(site).expect("the kernel has no more fault sites than were declared");
        Err(Error::new(kind.clone(), pos.clone(), message.clone()))
    }
}

impl From<Made> for Executable {
    fn from(made: Made) -> Executable {
        Executable { made: Arc::new(made), arenas: Pool::default(), directory: None, pool: None }
    }
}

/// What a call of the machine code took.
struct Took {
    seconds: f64,
    bytes_spilled: u64,
    counts: Option<Counts>,
}

impl std::fmt::Debug for Executable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executable")
            .field("backend", &self.backend())
            .field("arena_bytes", &self.arena_bytes())
            .field("inputs", &self.inputs())
            .field("outputs", &self.outputs())
            .finish_non_exhaustive()
    }
}

/// Bytes before and after a checked arena.
const GUARD_BYTES: usize = 64;

/// An array that holds what nobody means: bytes of 1, so that its bools are some.
fn unwritten(ty: &Type) -> Array {
    let mut array = Array::zeros(ty);
    // SAFETY: the array has that many bytes, and each of its types takes these.
    unsafe { address_mut(&mut array).write_bytes(1, ty.bytes()) };
    array
}

/// What a checked arena holds before the run: no two neighbours are equal, none is common in numbers.
fn pattern(offset: usize) -> u8 {
    0xa5 ^ (offset.wrapping_mul(0x9e37_79b9) >> 8) as u8
}

fn check_number(what: &str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(argument(format!("expected {expected} {what}, found {found}"))) }
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, Pos::unknown(), message)
}
