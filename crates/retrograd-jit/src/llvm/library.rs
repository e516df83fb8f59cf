//! libLLVM, found when a program runs.
//!
//! Nothing of LLVM is needed to build: the library is opened by name, its version is checked, and every function of its
//! C API that we call is looked up before the first use. What is missing is an error that says what was looked for and
//! where.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The oldest version whose text form has pointers without element types.
const OLDEST: u32 = 15;

/// The newest that is looked for by name.
const NEWEST: u32 = 30;

/// Some object of LLVM.
pub(super) type Object = *mut c_void;

/// A table of functions, each with its C name.
macro_rules! functions {
    ($($name:ident = $symbol:literal($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the C API that we call.
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// All of them, or the name of one that is missing.
            fn find(library: &libloading::Library) -> Result<Functions, String> {
                Ok(Functions { $($name: {
                    // SAFETY: the C API fixes the types of its functions, from the version on that is demanded.
                    let symbol = unsafe { library.get::<unsafe extern "C" fn($($argument),*) $(-> $result)?>($symbol.as_bytes()) };
                    *symbol.map_err(|_| format!("it has no function {}", $symbol))?
                },)* })
            }
        }
    };
}

functions! {
    dispose_message = "LLVMDisposeMessage"(*mut c_char);
    error_message = "LLVMGetErrorMessage"(Object) -> *mut c_char;
    dispose_error_message = "LLVMDisposeErrorMessage"(*mut c_char);
    context_create = "LLVMContextCreate"() -> Object;
    context_dispose = "LLVMContextDispose"(Object);
    buffer_of_copy = "LLVMCreateMemoryBufferWithMemoryRangeCopy"(*const c_char, usize, *const c_char) -> Object;
    parse = "LLVMParseIRInContext"(Object, Object, *mut Object, *mut *mut c_char) -> c_int;
    module_dispose = "LLVMDisposeModule"(Object);
    set_target = "LLVMSetTarget"(Object, *const c_char);
    set_data_layout = "LLVMSetModuleDataLayout"(Object, Object);
    default_triple = "LLVMGetDefaultTargetTriple"() -> *mut c_char;
    host_cpu = "LLVMGetHostCPUName"() -> *mut c_char;
    host_features = "LLVMGetHostCPUFeatures"() -> *mut c_char;
    target_of_triple = "LLVMGetTargetFromTriple"(*const c_char, *mut Object, *mut *mut c_char) -> c_int;
    machine_create = "LLVMCreateTargetMachine"(Object, *const c_char, *const c_char, *const c_char, c_int, c_int, c_int) -> Object;
    machine_dispose = "LLVMDisposeTargetMachine"(Object);
    data_layout = "LLVMCreateTargetDataLayout"(Object) -> Object;
    data_layout_dispose = "LLVMDisposeTargetData"(Object);
    emit = "LLVMTargetMachineEmitToMemoryBuffer"(Object, Object, c_int, *mut *mut c_char, *mut Object) -> c_int;
    pass_options_create = "LLVMCreatePassBuilderOptions"() -> Object;
    pass_options_dispose = "LLVMDisposePassBuilderOptions"(Object);
    run_passes = "LLVMRunPasses"(Object, *const c_char, Object, Object) -> Object;
    jit_create = "LLVMOrcCreateLLJIT"(*mut Object, Object) -> Object;
    jit_dylib = "LLVMOrcLLJITGetMainJITDylib"(Object) -> Object;
    jit_prefix = "LLVMOrcLLJITGetGlobalPrefix"(Object) -> c_char;
    jit_add = "LLVMOrcLLJITAddObjectFileWithRT"(Object, Object, Object) -> Object;
    jit_lookup = "LLVMOrcLLJITLookup"(Object, *mut u64, *const c_char) -> Object;
    process_symbols = "LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess"(*mut Object, c_char, *const c_void, *const c_void) -> Object;
    add_generator = "LLVMOrcJITDylibAddGenerator"(Object, Object);
    tracker_create = "LLVMOrcJITDylibCreateResourceTracker"(Object) -> Object;
    tracker_remove = "LLVMOrcResourceTrackerRemove"(Object) -> Object;
    tracker_release = "LLVMOrcReleaseResourceTracker"(Object);
}

/// An open libLLVM. It stays open: other threads may run its code at any time, also while the process ends.
pub(super) struct Library {
    pub(super) call: Functions,
    pub(super) version: Version,
    path: PathBuf,
    /// Code of all executables; whoever changes it holds the lock.
    pub(super) jit: Mutex<Jit>,
}

/// The linker and loader of machine code.
pub(super) struct Jit {
    pub(super) jit: Object,
    pub(super) dylib: Object,
    /// How many executables there were, for names.
    pub(super) made: u64,
}

// SAFETY: ORC may be used from any thread, and the lock around it lets in one at a time.
unsafe impl Send for Jit {}

/// A version of LLVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    pub(super) major: u32,
    minor: u32,
}

impl Library {
    /// The library at a path, or else the first that is found: that of the Rust toolchain, then that of the system.
    /// Each is opened once.
    pub(super) fn find(path: Option<&Path>) -> Result<&'static Library, String> {
        static FOUND: Mutex<BTreeMap<Option<PathBuf>, Result<&'static Library, String>>> = Mutex::new(BTreeMap::new());
        let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        let search = || match path {
            Some(path) => {
                let opened = names_llvm(path).and_then(|()| Library::open(path));
                opened.map_err(|reason| format!("{}: {reason}", path.display()))
            }
            None => Library::first(&candidates()),
        };
        found
            .entry(path.map(Path::to_owned))
            .or_insert_with(|| search().map(|library| &*Box::leak(Box::new(library))))
            .clone()
    }

    /// The first that opens; else what was tried.
    fn first(paths: &[PathBuf]) -> Result<Library, String> {
        let mut tried = Vec::new();
        for path in paths {
            match Library::open(path) {
                Ok(library) => return Ok(library),
                Err(reason) => tried.push(format!("  {}: {reason}", path.display())),
            }
        }
        Err(format!("no libLLVM of version {OLDEST} or later was found; tried:\n{}", tried.join("\n")))
    }

    fn open(path: &Path) -> Result<Library, String> {
        let library = open(path)?;
        let version = version(&library)?;
        if version.major < OLDEST {
            return Err(format!("it is LLVM {version}, and {OLDEST} or later is needed"));
        }
        let call = Functions::find(&library)?;
        initialise(&library)?;
        let jit = Mutex::new(Jit::new(&call)?);
        std::mem::forget(library);
        Ok(Library { call, version, path: path.to_owned(), jit })
    }

    /// What an LLVM error says; it is consumed.
    pub(super) fn message(&self, error: Object) -> String {
        message_of(&self.call, error)
    }

    /// A string that LLVM made; it is consumed.
    pub(super) fn text(&self, text: *mut c_char) -> String {
        // SAFETY: LLVM returns zero-terminated strings, and the message is ours until it is disposed of.
        let copy = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        // SAFETY: as before, and it is not used afterwards.
        unsafe { (self.call.dispose_message)(text) };
        copy
    }
}

impl std::fmt::Display for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "llvm {} ({})", self.version, self.path.display())
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Jit {
    fn new(call: &Functions) -> Result<Jit, String> {
        let mut jit = std::ptr::null_mut();
        // SAFETY: without a builder the defaults for this machine are taken; `jit` is a place for the result.
        let error = unsafe { (call.jit_create)(&mut jit, std::ptr::null_mut()) };
        succeed(call, error)?;
        // SAFETY: the object was just made, and is never disposed of.
        let dylib = unsafe { (call.jit_dylib)(jit) };
        // SAFETY: as before.
        let prefix = unsafe { (call.jit_prefix)(jit) };
        // Where the machine has no instruction for an operation, code calls the C library for it.
        let mut generator = std::ptr::null_mut();
        // SAFETY: without a filter every symbol of the process is seen.
        let error = unsafe { (call.process_symbols)(&mut generator, prefix, std::ptr::null(), std::ptr::null()) };
        succeed(call, error)?;
        // SAFETY: both were just made; the dylib takes the generator over.
        unsafe { (call.add_generator)(dylib, generator) };
        Ok(Jit { jit, dylib, made: 0 })
    }
}

/// An error that is none, or what it says.
fn succeed(call: &Functions, error: Object) -> Result<(), String> {
    if error.is_null() { Ok(()) } else { Err(message_of(call, error)) }
}

fn message_of(call: &Functions, error: Object) -> String {
    // SAFETY: the error is not null and not used afterwards.
    let message = unsafe { (call.error_message)(error) };
    // SAFETY: LLVM returns a zero-terminated string, ours until it is disposed of.
    let copy = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    // SAFETY: as before, and it is not used afterwards.
    unsafe { (call.dispose_error_message)(message) };
    copy
}

/// Whether a file that somebody names can be a libLLVM: to open any other library would run whatever it does when it is
/// opened. A name that the loader looks up is not read.
fn names_llvm(path: &Path) -> Result<(), String> {
    const NAME: &[u8] = b"LLVMOrcCreateLLJIT\0";
    let Ok(mut file) = File::open(path) else { return Ok(()) };
    let (mut bytes, mut kept) = (vec![0; 1 << 20], 0);
    loop {
        let read = file.read(&mut bytes[kept..]).map_err(|error| error.to_string())?;
        if bytes[..kept + read].windows(NAME.len()).any(|window| window == NAME) {
            return Ok(());
        }
        if read == 0 {
            return Err(format!("it is no LLVM, or one before {OLDEST}"));
        }
        // A name may lie across the border.
        let tail = (kept + read).min(NAME.len());
        bytes.copy_within(kept + read - tail..kept + read, 0);
        kept = tail;
    }
}

/// All symbols are bound at once, and none is seen by others, so that several LLVMs live in one process.
fn open(path: &Path) -> Result<libloading::Library, String> {
    #[cfg(unix)]
    let opened = {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        // SAFETY: the initialisers of libLLVM only register its parts.
        unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map(libloading::Library::from)
    };
    // SAFETY: as before.
    #[cfg(not(unix))]
    let opened = unsafe { libloading::Library::new(path) };
    opened.map_err(|error| error.to_string())
}

fn version(library: &libloading::Library) -> Result<Version, String> {
    type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint);
    // SAFETY: so it is declared, since LLVM 16.
    if let Ok(version) = unsafe { library.get::<GetVersion>(b"LLVMGetVersion") } {
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: three places for the results.
        unsafe { version(&mut major, &mut minor, &mut patch) };
        return Ok(Version { major, minor });
    }
    // LLVM 15 was the first with pointers without element types.
    // SAFETY: only its presence is asked for.
    match unsafe { library.get::<*const c_void>(b"LLVMPointerTypeInContext") } {
        Ok(_) => Ok(Version { major: 15, minor: 0 }),
        Err(_) => Err(format!("it is no LLVM, or one before {OLDEST}")),
    }
}

/// Registers what makes machine code for this kind of machine.
fn initialise(library: &libloading::Library) -> Result<(), String> {
    let kind = if cfg!(target_arch = "x86_64") {
        "X86"
    } else if cfg!(target_arch = "aarch64") {
        "AArch64"
    } else {
        return Err("LLVM is used on x86-64 and AArch64 only".to_owned());
    };
    for part in ["TargetInfo", "Target", "TargetMC", "AsmPrinter"] {
        let name = format!("LLVMInitialize{kind}{part}");
        // SAFETY: these functions take nothing and return nothing.
        let initialise = unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) };
        let initialise = initialise.map_err(|_| format!("it has no function {name}"))?;
        // SAFETY: as before; they may be called any number of times.
        unsafe { initialise() };
    }
    Ok(())
}

/// Where a libLLVM may be, best first.
fn candidates() -> Vec<PathBuf> {
    let mut paths = super::toolchain::libraries();
    for major in (OLDEST..=NEWEST).rev() {
        paths.extend(
            [format!("libLLVM.so.{major}.1"), format!("libLLVM-{major}.so.1"), format!("libLLVM-{major}.so")]
                .map(PathBuf::from),
        );
    }
    paths.extend(["libLLVM.so", "libLLVM.dylib"].map(PathBuf::from));
    paths
}

/// Text for LLVM.
pub(super) fn c_string(text: &str) -> CString {
    CString::new(text).expect("names and IR hold no zero byte")
}
