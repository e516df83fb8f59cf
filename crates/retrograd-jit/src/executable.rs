//! Code with its arenas: what front ends run.

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::time::Instant;

use retrograd_compiler::eval::Sighting;
use retrograd_compiler::fuse::Fault;
use retrograd_compiler::fuse::kernel::{Kernel, Probe};
use retrograd_compiler::ir::{Array, Error, ErrorKind, Pos, Type};

use crate::arena::{Arena, Pool};
use crate::backend::Backend;
use crate::code::{Code, STOPPED, address, address_mut, code, compile};
use crate::cranelift::Cranelift;
use crate::crew::Crew;
use crate::observer::Observer;
use crate::spill::SpillFile;
use crate::watch::Watch;

/// What a run took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// Bytes that the runtime holds for this run, counted where it allocated them.
    pub bytes_peak: u64,
    /// Bytes on the disk at their most, counted where they were written.
    pub bytes_spilled: u64,
    /// Seconds in machine code.
    pub seconds: f64,
}

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

/// A compiled kernel that can run any number of times, also at the same time on several threads.
///
/// ```
/// use retrograd_compiler::fuse::kernel::{Address, Kernel, Place, Reg, RegType, Stmt};
/// use retrograd_compiler::ir::{Array, DType, Scalar, Type};
/// use retrograd_jit::Executable;
///
/// // y = x·x
/// let [x, y, to, from] = [0, 1, 2, 3].map(Reg);
/// let at = |base| Address { base, terms: vec![], offset: 0 };
/// let kernel = Kernel {
///     regs: vec![RegType::Scalar(DType::F64), RegType::Scalar(DType::F64), RegType::Pointer, RegType::Pointer],
///     body: vec![
///         Stmt::Pointer { dst: from, to: Place::Input(0) },
///         Stmt::Pointer { dst: to, to: Place::Output(0) },
///         Stmt::Load { dst: x, from: at(from) },
///         Stmt::Let { dst: y, op: Scalar::Mul, args: vec![x, x] },
///         Stmt::Store { to: at(to), src: y },
///     ],
///     ..Kernel::default()
/// };
/// let square = Executable::new(&kernel, vec![Type::f64([])], vec![Type::f64([])], vec![]);
/// let (outputs, _) = square.run(&[&Array::scalar(3.0)]).unwrap();
/// assert_eq!(outputs, [Array::scalar(9.0)]);
/// ```
pub struct Executable {
    code: Code,
    arena_bytes: usize,
    inputs: Vec<Type>,
    outputs: Vec<Type>,
    faults: Vec<Fault>,
    probes: Vec<Probe>,
    arenas: Pool,
    spill_bytes: u64,
    /// Where states are spilled.
    directory: Option<PathBuf>,
    crew: Option<Crew>,
    spreads: bool,
}

impl Executable {
    /// Compiles a kernel whose inputs, outputs and fault sites are these, in the order of their numbers, by Cranelift.
    pub fn new(kernel: &Kernel, inputs: Vec<Type>, outputs: Vec<Type>, faults: Vec<Fault>) -> Executable {
        Executable::of_code(kernel, code(kernel, &Cranelift::new()), inputs, outputs, faults)
    }

    /// The same by any back end; the error is that LLVM was asked for and is not there.
    ///
    /// ```
    /// use retrograd_compiler::fuse::kernel::Kernel;
    /// use retrograd_jit::{Backend, Executable};
    /// let nothing = Executable::by(&Backend::Cranelift, &Kernel::default(), vec![], vec![], vec![])?;
    /// assert!(nothing.backend().starts_with("cranelift 0."));
    /// # Ok::<(), retrograd_compiler::ir::Error>(())
    /// ```
    pub fn by(backend: &Backend, kernel: &Kernel, inputs: Vec<Type>, outputs: Vec<Type>, faults: Vec<Fault>) -> Result<Executable, Error> {
        Ok(Executable::of_code(kernel, compile(kernel, backend)?, inputs, outputs, faults))
    }

    fn of_code(kernel: &Kernel, code: Code, inputs: Vec<Type>, outputs: Vec<Type>, faults: Vec<Fault>) -> Executable {
        let (arena_bytes, probes, arenas) = (kernel.arena_bytes, kernel.probes.clone(), Pool::default());
        let (spill_bytes, spreads) = (kernel.spill_bytes, kernel.parts.iter().any(|part| part.range.is_some()));
        Executable { code, arena_bytes, inputs, outputs, faults, probes, arenas, spill_bytes, directory: None, crew: None, spreads }
    }

    /// The same, with states that the plan spills in a file of this directory, one for each run. Nothing is left there after a run.
    pub fn spilling_to(self, directory: impl Into<PathBuf>) -> Executable {
        Executable { directory: Some(directory.into()), ..self }
    }

    /// The same on so many threads, the one that calls included: they are made here, and bits do not depend on their number. Without
    /// this a run has one thread. Code with nothing to share, because its arrays are small, stays on one.
    ///
    /// ```
    /// use retrograd_compiler::fuse::kernel::Kernel;
    /// use retrograd_jit::Executable;
    /// let nothing = Executable::new(&Kernel::default(), vec![], vec![], vec![]).with_threads(4);
    /// assert_eq!(nothing.threads(), 1);
    /// ```
    pub fn with_threads(self, threads: usize) -> Executable {
        let crew = if self.spreads { Crew::new(threads) } else { None };
        Executable { crew, ..self }
    }

    /// How many threads a run has.
    pub fn threads(&self) -> usize {
        self.crew.as_ref().map_or(1, Crew::threads)
    }

    /// Who made its machine code: a name, a version and, of a library, its path.
    pub fn backend(&self) -> &str {
        self.code.backend()
    }

    /// Types of the inputs.
    pub fn inputs(&self) -> &[Type] {
        &self.inputs
    }

    /// Types of the outputs.
    pub fn outputs(&self) -> &[Type] {
        &self.outputs
    }

    /// Bytes of the arena that a run uses.
    pub fn arena_bytes(&self) -> usize {
        self.arena_bytes
    }

    /// Runs once.
    pub fn run(&self, inputs: &[&Array]) -> Result<(Vec<Array>, Stats), Error> {
        self.run_with(inputs, &Watch::never())
    }

    /// Runs once, unless it is stopped: then the error is `Interrupted`.
    pub fn run_with(&self, inputs: &[&Array], watch: &Watch<'_>) -> Result<(Vec<Array>, Stats), Error> {
        self.run_for(inputs, watch, None)
    }

    /// Runs once, and shows to `look` what probes see, in the order in which it happens.
    pub fn run_observed(&self, inputs: &[&Array], look: &mut dyn FnMut(&Sighting<'_>)) -> Result<(Vec<Array>, Stats), Error> {
        let mut observer = Observer { probes: &self.probes, look, panic: None };
        let result = self.run_for(inputs, &Watch::never(), Some(&mut observer));
        match observer.panic {
            Some(panic) => resume_unwind(panic),
            None => result,
        }
    }

    fn run_for(&self, inputs: &[&Array], watch: &Watch<'_>, observer: Option<&mut Observer<'_>>) -> Result<(Vec<Array>, Stats), Error> {
        let mut arena = self.arenas.take(self.arena_bytes)?;
        let result = self.run_in(inputs, arena.start(), watch, observer);
        let bytes_peak = arena.bytes() as u64;
        self.arenas.give_back(arena);
        let (outputs, (seconds, bytes_spilled)) = result?;
        Ok((outputs, Stats { bytes_peak, bytes_spilled, seconds }))
    }

    /// Runs once over memory of the caller, unless it is stopped: then the outputs hold anything.
    ///
    /// # Safety
    /// There are as many pointers as [`Executable::inputs`] and [`Executable::outputs`] name, each aligned for its element type and valid
    /// for its bytes; the bytes of bools are 0 or 1; outputs overlap neither each other nor inputs.
    pub unsafe fn run_raw(&self, inputs: &[*const u8], outputs: &[*mut u8], watch: &Watch<'_>) -> Result<Stats, Error> {
        check_number("inputs", self.inputs.len(), inputs.len())?;
        check_number("outputs", self.outputs.len(), outputs.len())?;
        let mut arena = self.arenas.take(self.arena_bytes)?;
        // SAFETY: the arena has the bytes that the kernel asks for and is ours; the caller promises the rest.
        let result = unsafe { self.enter(arena.start(), inputs, outputs, watch, None) };
        let bytes_peak = arena.bytes() as u64;
        self.arenas.give_back(arena);
        let (seconds, bytes_spilled) = result?;
        Ok(Stats { bytes_peak, bytes_spilled, seconds })
    }

    /// Runs once in a fresh arena between guards and says which part of it was used; for tests of plans.
    pub fn run_checked(&self, inputs: &[&Array]) -> Result<Checked, Error> {
        let mut arena = Arena::new(self.arena_bytes + 2 * GUARD_BYTES)?;
        for (offset, byte) in arena.as_mut_slice().iter_mut().enumerate() {
            *byte = pattern(offset);
        }
        // SAFETY: the arena is longer than the guard, so the offset stays inside it.
        let start = unsafe { arena.start().add(GUARD_BYTES) };
        let (outputs, _) = self.run_in(inputs, start, &Watch::never(), None)?;
        let changed = |(offset, byte): (usize, &u8)| (*byte != pattern(offset)).then_some(offset);
        let bytes = arena.as_mut_slice();
        let inside = GUARD_BYTES..GUARD_BYTES + self.arena_bytes;
        let guards_intact = bytes.iter().enumerate().filter_map(changed).all(|offset| inside.contains(&offset));
        let last = bytes.iter().enumerate().filter_map(changed).rfind(|offset| inside.contains(offset));
        Ok(Checked { outputs, bytes_touched: last.map_or(0, |offset| offset + 1 - GUARD_BYTES) as u64, guards_intact })
    }

    /// Runs with the arena at `start`, which has `arena_bytes` for this run alone.
    fn run_in(
        &self,
        inputs: &[&Array],
        start: *mut u8,
        watch: &Watch<'_>,
        observer: Option<&mut Observer<'_>>,
    ) -> Result<(Vec<Array>, (f64, u64)), Error> {
        check_number("inputs", self.inputs.len(), inputs.len())?;
        for (k, (array, expected)) in inputs.iter().zip(&self.inputs).enumerate() {
            if array.ty() != *expected {
                return Err(argument(format!("input {k}: expected {expected}, found {}", array.ty())));
            }
        }
        let mut outputs: Vec<Array> = self.outputs.iter().map(Array::zeros).collect();
        let sources: Vec<*const u8> = inputs.iter().map(|array| address(array)).collect();
        let targets: Vec<*mut u8> = outputs.iter_mut().map(address_mut).collect();
        // SAFETY: callers pass an arena of their own of the size of the kernel's; arrays have the types checked above, or were made so.
        let taken = unsafe { self.enter(start, &sources, &targets, watch, observer) }?;
        Ok((outputs, taken))
    }

    /// A file for states, where the plan spills any.
    fn spill_file(&self) -> Result<Option<SpillFile>, Error> {
        if self.spill_bytes == 0 {
            return Ok(None);
        }
        let directory =
            self.directory.as_ref().ok_or_else(|| argument("the plan spills states, and there is no directory for them".into()))?;
        SpillFile::create(directory).map(Some)
    }

    /// Calls the machine code; seconds, and bytes on the disk.
    ///
    /// # Safety
    /// As for [`Code::call`].
    unsafe fn enter(
        &self,
        arena: *mut u8,
        inputs: &[*const u8],
        outputs: &[*mut u8],
        watch: &Watch<'_>,
        observer: Option<&mut Observer<'_>>,
    ) -> Result<(f64, u64), Error> {
        let observer: *mut Observer<'_> = observer.map_or(std::ptr::null_mut(), std::ptr::from_mut);
        let mut file = self.spill_file()?;
        let spill: *mut SpillFile = file.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
        let crew = self.crew.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let word = |address: usize| (address as u64).cast_signed();
        let mut words = [0, word(observer.expose_provenance()), word(spill.expose_provenance()), word(crew.expose_provenance())];
        let begin = Instant::now();
        // SAFETY: the caller promises it; the words are the fault, the observer and the file, which are borrowed for this run, and the crew,
        // which is ours.
        unsafe { self.code.call(arena, inputs.as_ptr(), outputs.as_ptr(), words.as_mut_ptr(), watch) };
        let fault = words[0];
        let seconds = begin.elapsed().as_secs_f64();
        if let Some(error) = file.as_mut().and_then(SpillFile::error) {
            return Err(error);
        }
        if fault == 0 {
            return Ok((seconds, file.map_or(0, |file| file.bytes())));
        }
        if fault == STOPPED {
            return Err(Error::new(ErrorKind::Interrupted, Pos::unknown(), "the run was stopped"));
        }
        let site = usize::try_from(fault - 1).expect("fault sites are counted from 1");
        let Fault { kind, pos, message } = self.faults.get(site).expect("the kernel has no more fault sites than were declared");
        Err(Error::new(kind.clone(), pos.clone(), message.clone()))
    }
}

impl std::fmt::Debug for Executable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Executable { arena_bytes, inputs, outputs, .. } = self;
        f.debug_struct("Executable")
            .field("backend", &self.backend())
            .field("arena_bytes", arena_bytes)
            .field("inputs", inputs)
            .field("outputs", outputs)
            .finish_non_exhaustive()
    }
}

/// Bytes before and after a checked arena.
const GUARD_BYTES: usize = 64;

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
