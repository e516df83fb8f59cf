//! Code with its arenas: what front ends run.

use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use retrograd_compiler::eval::Sighting;
use retrograd_compiler::fuse::kernel::Kernel;
use retrograd_compiler::fuse::{COUNTS, Fault, counting};
use retrograd_compiler::ir::{Array, Error, ErrorKind, Pos, Type};

use crate::arena::{Arena, Pool};
use crate::backend::Backend;
use crate::code::{Code, STOPPED, address, address_mut, code, compile};
use crate::cranelift::Cranelift;
use crate::crew::Crew;
use crate::file::{self, Notes};
use crate::observer::Observer;
use crate::spill::SpillFile;
use crate::stats::{Counts, Stats};
use crate::watch::{Progress, Watch, reporting};

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

/// A compiled kernel that can run any number of times, also at the same time on several threads. A clone is the same code with arenas of
/// its own.
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
    made: Arc<Made>,
    notes: Notes,
    arenas: Pool,
    /// Where states are spilled.
    directory: Option<PathBuf>,
    crew: Option<Arc<Crew>>,
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
        let Executable { made, notes, arenas: _, directory, crew } = self;
        let (made, notes, directory, crew) = (Arc::clone(made), notes.clone(), directory.clone(), crew.clone());
        Executable { made, notes, arenas: Pool::default(), directory, crew }
    }
}

impl Executable {
    /// Compiles a kernel whose inputs, outputs and fault sites are these, in the order of their numbers, by Cranelift.
    pub fn new(kernel: &Kernel, inputs: Vec<Type>, outputs: Vec<Type>, faults: Vec<Fault>) -> Executable {
        Made { code: code(kernel, &Cranelift::new()), backend: Backend::Cranelift, inputs, outputs, faults, counting: Counting::Off }.into()
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
        let (code, backend) = (compile(kernel, backend)?, backend.clone());
        Ok(Made { code, backend, inputs, outputs, faults, counting: Counting::Off }.into())
    }

    /// The same, by the same back end, that also counts what it does: [`Stats::counts`] of its runs. Its bits are the same, and it is a little
    /// slower; it has one thread.
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

    /// The executable with a note of this name, which is saved and loaded with it.
    #[must_use]
    pub fn with_note(mut self, name: &str, text: String) -> Executable {
        self.notes.insert(name.to_owned(), text);
        self
    }

    /// What its front end noted under that name.
    pub fn note(&self, name: &str) -> Option<&str> {
        self.notes.get(name).map(String::as_str)
    }

    /// Writes it to a file: the kernel and all that a run needs, but no machine code, so that it can be loaded on another machine.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        fs::write(path, self.to_bytes()?).map_err(|problem| file::error(path, problem))
    }

    /// Reads what [`save`](Executable::save) wrote, and makes machine code of it by this back end: the same bits, the same peak of memory.
    ///
    /// A file that is damaged, cut off, or of another version of Retrograd is an error. A whole file is trusted as a program is: load what you
    /// would run.
    pub fn load(path: impl AsRef<Path>, backend: &Backend) -> Result<Executable, Error> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|problem| file::error(path, problem))?;
        Executable::from_bytes(&bytes, backend)
            .map_err(|error| Error { message: format!("{}: {}", path.display(), error.message), ..error })
    }

    /// What [`save`](Executable::save) writes.
    ///
    /// ```
    /// use retrograd_compiler::fuse::kernel::Kernel;
    /// use retrograd_jit::{Backend, Executable};
    /// let nothing = Executable::new(&Kernel::default(), vec![], vec![], vec![]).with_note("name", "nothing".into());
    /// let again = Executable::from_bytes(&nothing.to_bytes()?, &Backend::Cranelift)?;
    /// assert_eq!(again.note("name"), Some("nothing"));
    /// # Ok::<(), retrograd_compiler::ir::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let Made { code, inputs, outputs, faults, counting, backend: _ } = &*self.made;
        if *counting == Counting::On {
            return Err(argument("save the executable itself, not the one that counts".into()));
        }
        file::encode((code.kernel(), inputs, outputs, faults, &self.notes))
    }

    /// What [`load`](Executable::load) makes of the bytes of a file.
    pub fn from_bytes(bytes: &[u8], backend: &Backend) -> Result<Executable, Error> {
        let (kernel, inputs, outputs, faults, notes) = file::decode(bytes).map_err(argument)?;
        Ok(Executable { notes, ..Executable::by(backend, &kernel, inputs, outputs, faults)? })
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
        let spreads = self.made.code.kernel().parts.iter().any(|part| part.range.is_some());
        // Sums of what counts would meet.
        let crew = if spreads && self.made.counting == Counting::Off { Crew::of(threads) } else { None };
        Executable { crew, ..self }
    }

    /// Bytes on the disk that a run uses at their most.
    pub fn spill_bytes(&self) -> u64 {
        self.made.code.kernel().spill_bytes
    }

    /// How many threads a run has.
    pub fn threads(&self) -> usize {
        self.crew.as_ref().map_or(1, |crew| crew.threads())
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
        self.run_with(inputs, &Watch::never())
    }

    /// Runs once, unless it is stopped: then the error is `Interrupted`.
    pub fn run_with(&self, inputs: &[&Array], watch: &Watch<'_>) -> Result<(Vec<Array>, Stats), Error> {
        self.run_for(inputs, watch, None)
    }

    /// Runs once, and shows to `look` what probes see, in the order in which it happens.
    pub fn run_observed(&self, inputs: &[&Array], look: &mut dyn FnMut(&Sighting<'_>)) -> Result<(Vec<Array>, Stats), Error> {
        let mut observer = Observer { probes: &self.made.code.kernel().probes, look, panic: None };
        let result = self.run_for(inputs, &Watch::never(), Some(&mut observer));
        match observer.panic {
            Some(panic) => resume_unwind(panic),
            None => result,
        }
    }

    /// Runs once, and hands to `report` how far it is, every tenth of a second; short runs, and runs without loops, report nothing.
    pub fn run_reporting(&self, inputs: &[&Array], report: &mut dyn FnMut(&Progress)) -> Result<(Vec<Array>, Stats), Error> {
        reporting(report, |watch| self.run_with(inputs, watch)).unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn run_for(&self, inputs: &[&Array], watch: &Watch<'_>, observer: Option<&mut Observer<'_>>) -> Result<(Vec<Array>, Stats), Error> {
        let mut arena = self.arenas.take(self.arena_bytes())?;
        let outputs = self.outputs().iter().map(Array::zeros).collect();
        let result = self.run_in(inputs, outputs, arena.start(), watch, observer);
        let bytes_peak = arena.bytes() as u64 + self.made.code.kernel().output_bytes;
        self.arenas.give_back(arena);
        let (outputs, Took { seconds, bytes_spilled, counts }) = result?;
        Ok((outputs, Stats { bytes_peak, bytes_spilled, seconds, counts }))
    }

    /// Runs once over memory of the caller, unless it is stopped: then the outputs hold anything.
    ///
    /// # Safety
    /// There are as many pointers as [`Executable::inputs`] and [`Executable::outputs`] name, each aligned for its element type and valid
    /// for its bytes; the bytes of bools are 0 or 1; outputs overlap neither each other nor inputs.
    pub unsafe fn run_raw(&self, inputs: &[*const u8], outputs: &[*mut u8], watch: &Watch<'_>) -> Result<Stats, Error> {
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
        let mut arena = Arena::new(self.arena_bytes() + 2 * GUARD_BYTES)?;
        for (offset, byte) in arena.as_mut_slice().iter_mut().enumerate() {
            *byte = pattern(offset);
        }
        // SAFETY: the arena is longer than the guard, so the offset stays inside it.
        let start = unsafe { arena.start().add(GUARD_BYTES) };
        let outputs = self.outputs().iter().map(unwritten).collect();
        let (outputs, _) = self.run_in(inputs, outputs, start, &Watch::never(), None)?;
        let changed = |(offset, byte): (usize, &u8)| (*byte != pattern(offset)).then_some(offset);
        let bytes = arena.as_mut_slice();
        let inside = GUARD_BYTES..GUARD_BYTES + self.arena_bytes();
        let guards_intact = bytes.iter().enumerate().filter_map(changed).all(|offset| inside.contains(&offset));
        let last = bytes.iter().enumerate().filter_map(changed).rfind(|offset| inside.contains(offset));
        Ok(Checked { outputs, bytes_touched: last.map_or(0, |offset| offset + 1 - GUARD_BYTES) as u64, guards_intact })
    }

    /// Runs with the arena at `start`, which has `arena_bytes` for this run alone, into arrays of the types of the outputs.
    fn run_in(
        &self,
        inputs: &[&Array],
        mut outputs: Vec<Array>,
        start: *mut u8,
        watch: &Watch<'_>,
        observer: Option<&mut Observer<'_>>,
    ) -> Result<(Vec<Array>, Took), Error> {
        check_number("inputs", self.inputs().len(), inputs.len())?;
        for (k, (array, expected)) in inputs.iter().zip(self.inputs()).enumerate() {
            if array.ty() != *expected {
                return Err(argument(format!("input {k}: expected {expected}, found {}", array.ty())));
            }
        }
        let sources: Vec<*const u8> = inputs.iter().map(|array| address(array)).collect();
        let targets: Vec<*mut u8> = outputs.iter_mut().map(address_mut).collect();
        // SAFETY: callers pass an arena of their own of the size of the kernel's; arrays have the types checked above, or were made so.
        let took = unsafe { self.enter(start, &sources, &targets, watch, observer) }?;
        Ok((outputs, took))
    }

    /// A file for states, where the plan spills any.
    fn spill_file(&self) -> Result<Option<SpillFile>, Error> {
        if self.made.code.kernel().spill_bytes == 0 {
            return Ok(None);
        }
        let directory =
            self.directory.as_ref().ok_or_else(|| argument("the plan spills states, and there is no directory for them".into()))?;
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
        watch: &Watch<'_>,
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
        watch: &Watch<'_>,
        observer: Option<&mut Observer<'_>>,
    ) -> Result<Took, Error> {
        let observer: *mut Observer<'_> = observer.map_or(std::ptr::null_mut(), std::ptr::from_mut);
        let mut file = self.spill_file()?;
        let spill: *mut SpillFile = file.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
        let crew = self.crew.as_ref().map_or(std::ptr::null(), Arc::as_ptr);
        let word = |address: usize| (address as u64).cast_signed();
        let mut words = [0, word(observer.expose_provenance()), word(spill.expose_provenance()), word(crew.expose_provenance())];
        let begin = Instant::now();
        // SAFETY: the caller promises it; the words are the fault, the observer and the file, which are borrowed for this run, and the crew,
        // which is ours.
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
        let Fault { kind, pos, message } = self.made.faults.get(site).expect("the kernel has no more fault sites than were declared");
        Err(Error::new(kind.clone(), pos.clone(), message.clone()))
    }
}

impl From<Made> for Executable {
    fn from(made: Made) -> Executable {
        Executable { made: Arc::new(made), notes: Notes::default(), arenas: Pool::default(), directory: None, crew: None }
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
