//! From IR as text to code in memory.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::PoisonError;

use super::library::{Library, Object, c_string};
use crate::code::Entry;

/// Makes the parts of a function that are not vectors already as we want them: registers of the loop IR become values,
/// constants fold, what is the same in every step leaves its loop. None of these changes arithmetic.
const PASSES: &str = "mem2reg,early-cse";

/// Codes of the C API.
const OPTIMISE: c_int = 1;
const POSITION_INDEPENDENT: c_int = 2;
const MODEL_FOR_JIT: c_int = 1;
const OBJECT_FILE: c_int = 1;

/// Code that was loaded; it is freed with this.
pub(super) struct Loaded {
    library: &'static Library,
    tracker: Object,
    pub(super) entry: Entry,
}

// SAFETY: the tracker is touched only by `load`, before the `Loaded` exists, and by `drop`, which has it alone and
// takes the lock.
unsafe impl Send for Loaded {}
// SAFETY: as for `Send`.
unsafe impl Sync for Loaded {}

impl Drop for Loaded {
    fn drop(&mut self) {
        let _jit = self.library.jit.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the tracker was made by `load`; nothing runs the code any more, since its owner goes.
        let error = unsafe { (self.library.call.tracker_remove)(self.tracker) };
        assert!(error.is_null(), "code that was loaded can be removed: {}", self.library.message(error));
        // SAFETY: the tracker is not used afterwards.
        unsafe { (self.library.call.tracker_release)(self.tracker) };
    }
}

impl Library {
    /// A name that no code of this library has yet.
    pub(super) fn fresh_name(&self) -> String {
        let mut jit = self.jit.lock().unwrap_or_else(PoisonError::into_inner);
        jit.made += 1;
        format!("retrograd_{}", jit.made)
    }

    /// Compiles IR and loads it; the entry is the function of this name.
    ///
    /// Our IR is valid and our functions have machine code, so that anything else is our mistake, and panics.
    pub(super) fn load(&'static self, name: &str, ir: &str) -> Loaded {
        let object = self.object(ir);
        let jit = self.jit.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the dylib lives as long as the library.
        let tracker = unsafe { (self.call.tracker_create)(jit.dylib) };
        // SAFETY: all three are alive; the object file is given away.
        let error = unsafe { (self.call.jit_add)(jit.jit, tracker, object) };
        assert!(error.is_null(), "LLVM reads its own object files: {}", self.message(error));
        let mut address = 0;
        // SAFETY: a place for the address, and a zero-terminated name that lives through the call.
        let error = unsafe { (self.call.jit_lookup)(jit.jit, &mut address, c_string(name).as_ptr()) };
        assert!(error.is_null(), "code refers only to what there is: {}", self.message(error));
        let address = address as usize as *const u8;
        // SAFETY: the function of this name takes six pointers and returns nothing, in the C convention.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        Loaded { library: self, tracker, entry }
    }

    /// An object file, in a memory buffer.
    fn object(&self, ir: &str) -> Object {
        // SAFETY: contexts are independent of each other; this one is disposed of below.
        let context = unsafe { (self.call.context_create)() };
        let module = self.parse(context, ir);
        let machine = Machine::of_host(self);
        machine.prepare(module);
        machine.run_passes(module);
        let object = machine.emit(module);
        // SAFETY: the object file is a copy; nothing else refers to the module.
        unsafe { (self.call.module_dispose)(module) };
        // SAFETY: its only module is gone.
        unsafe { (self.call.context_dispose)(context) };
        object
    }

    fn parse(&self, context: Object, ir: &str) -> Object {
        // SAFETY: the text and the name live through the call, which copies them.
        let buffer = unsafe { (self.call.buffer_of_copy)(ir.as_ptr().cast(), ir.len(), c"kernel".as_ptr()) };
        let (mut module, mut message) = (null_mut(), null_mut());
        // SAFETY: the context is alive; the buffer is given away; two places for the results.
        let failed = unsafe { (self.call.parse)(context, buffer, &mut module, &mut message) };
        assert!(failed == 0, "lowered kernels are valid LLVM IR: {}\n{ir}", self.text(message));
        module
    }
}

/// The machine that we run on, with all its instructions.
struct Machine<'l> {
    library: &'l Library,
    machine: Object,
    triple: std::ffi::CString,
}

impl Machine<'_> {
    fn of_host(library: &Library) -> Machine<'_> {
        let call = &library.call;
        // SAFETY: these take nothing and return strings of their own.
        let texts = unsafe { [(call.default_triple)(), (call.host_cpu)(), (call.host_features)()] };
        let [triple, cpu, features] = texts.map(|text| c_string(&library.text(text)));
        let (mut target, mut message) = (null_mut(), null_mut());
        // SAFETY: the triple lives through the call; two places for the results.
        let failed = unsafe { (call.target_of_triple)(triple.as_ptr(), &mut target, &mut message) };
        assert!(failed == 0, "the target of this machine was initialised: {}", library.text(message));
        // SAFETY: the strings live through the call, which copies them; the codes are those of the C API.
        let machine = unsafe {
            let [triple, cpu, features] = [triple.as_ptr(), cpu.as_ptr(), features.as_ptr()];
            (call.machine_create)(target, triple, cpu, features, OPTIMISE, POSITION_INDEPENDENT, MODEL_FOR_JIT)
        };
        Machine { library, machine, triple }
    }

    fn prepare(&self, module: Object) {
        let call = &self.library.call;
        // SAFETY: module and machine are alive, the triple too; the layout is copied and then disposed of.
        unsafe {
            (call.set_target)(module, self.triple.as_ptr());
            let layout = (call.data_layout)(self.machine);
            (call.set_data_layout)(module, layout);
            (call.data_layout_dispose)(layout);
        }
    }

    fn run_passes(&self, module: Object) {
        let call = &self.library.call;
        // SAFETY: takes nothing.
        let options = unsafe { (call.pass_options_create)() };
        // SAFETY: all of them are alive.
        let error = unsafe { (call.run_passes)(module, c_string(PASSES).as_ptr(), self.machine, options) };
        assert!(error.is_null(), "the passes are known to every version: {}", self.library.message(error));
        // SAFETY: not used afterwards.
        unsafe { (call.pass_options_dispose)(options) };
    }

    fn emit(&self, module: Object) -> Object {
        let (mut buffer, mut message) = (null_mut(), null_mut());
        // SAFETY: machine and module are alive; two places for the results.
        let failed = unsafe { (self.library.call.emit)(self.machine, module, OBJECT_FILE, &mut message, &mut buffer) };
        assert!(failed == 0, "valid IR has machine code: {}", self.library.text(message));
        buffer
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        // SAFETY: it was made by `of_host`, and modules hold copies of what they need of it.
        unsafe { (self.library.call.machine_dispose)(self.machine) };
    }
}
