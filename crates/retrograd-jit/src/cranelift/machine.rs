//! From Cranelift IR to code in memory.

use std::num::NonZero;
use std::sync::Mutex;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, UserFuncName, types};
use cranelift_codegen::isa::{self, CallConv, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, FuncOrDataId, Linkage, Module, ModuleReloc, default_libcall_names};
use retrograd_compiler::lower::kernel::Kernel;
use retrograd_compiler::plan::SimdTarget;

use super::{Body, lower, wide};
use crate::code::{Constants, Entry, Generator};
use crate::runtime::{Import, fused, fused_narrow};

/// Instructions of Cranelift, in all functions, from which on cores share them: they take about a microsecond each, and
/// a thread some fifty to begin.
const SHARED_INSTS: usize = 1000;

/// The back end that is part of Retrograd.
pub(crate) struct Cranelift {
    isa: OwnedTargetIsa,
    /// Whether vector loops may have vectors of 512 bits.
    wide: bool,
}

impl Cranelift {
    /// For the machine that we run on.
    pub(crate) fn new() -> Cranelift {
        Cranelift { isa: host(native()), wide: wide::is_there() }
    }

    /// The same without the long vectors that the machine may have.
    pub(crate) fn narrow() -> Cranelift {
        Cranelift { isa: host(native()), wide: false }
    }

    /// The vectors of its code on the machine that we run on.
    pub(crate) fn vectors() -> SimdTarget {
        if wide::is_there() { SimdTarget::Bits512Or128 } else { SimdTarget::Bits128 }
    }
}

impl Generator for Cranelift {
    fn name(&self) -> String {
        format!("cranelift {}", cranelift_codegen::VERSION)
    }

    fn generate(&self, kernel: &Kernel, constants: &Constants) -> (Entry, Box<dyn Send + Sync>) {
        let (mut module, entry) = self.module(kernel, constants);
        module.finalize_definitions().expect("memory for machine code");
        let entry = module.get_finalized_function(entry);
        // SAFETY: the function was declared with six pointers and no result, in the C convention of the host.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(entry) };
        (entry, Box::new(Memory(Some(module))))
    }
}

impl Cranelift {
    /// All functions of a kernel, and which of them is called.
    fn module(&self, kernel: &Kernel, constants: &Constants) -> (JITModule, FuncId) {
        let mut builder = JITBuilder::with_isa(self.isa.clone(), default_libcall_names());
        for import in Import::all() {
            builder.symbol(import.name(), import.address());
        }
        // What Cranelift calls on machines without the instruction, so that no library decides the bits.
        builder.symbol("fma", fused as *const u8);
        builder.symbol("fmaf", fused_narrow as *const u8);
        let mut module = JITModule::new(builder);
        let entry = declare(&mut module, "kernel", 6);
        let parts: Vec<FuncId> =
            (0..kernel.parts.len()).map(|k| declare(&mut module, &format!("part_{k}"), 9)).collect();
        let mut frontend = FunctionBuilderContext::new();
        let mut functions = Vec::new();
        let bodies = kernel.parts.iter().map(Body::Part);
        for (id, what) in [(entry, Body::Whole)].into_iter().chain(parts.iter().copied().zip(bodies)) {
            let mut context = context(&module, id);
            let function = FunctionBuilder::new(&mut context.func, &mut frontend);
            lower(kernel, what, constants, &parts, self.wide, &mut module, function);
            functions.push((id, context));
        }
        for import in Import::all().filter(|import| import.is_between_steps()) {
            if let Some(FuncOrDataId::Func(id)) = module.get_name(&keeping_name(import)) {
                let context = pass_on(import, context(&module, id), &mut frontend, &mut module);
                functions.push((id, context));
            }
        }
        for (id, context) in compiled(module.isa(), functions) {
            define(&mut module, id, &context);
        }
        (module, entry)
    }
}

/// A function of ours.
pub(super) fn imported(module: &mut JITModule, import: Import) -> FuncId {
    let signature = import.signature(module.isa().default_call_conv());
    module.declare_function(&import.name(), Linkage::Import, &signature).expect("a name has one signature")
}

/// A function of ours, called in a way that keeps all registers. Otherwise a loop whose values live through the call,
/// be it one that hardly ever happens, would have them in memory, in every step: the allocator of registers does not
/// bring them back before the loop.
pub(super) fn keeping(module: &mut JITModule, import: Import) -> FuncId {
    let signature = import.signature(CallConv::PreserveAll);
    module.declare_function(&keeping_name(import), Linkage::Local, &signature).expect("a name has one signature")
}

fn keeping_name(import: Import) -> String {
    format!("{}_keeping", import.name())
}

/// Writes the function that saves all registers and calls ours.
fn pass_on(
    import: Import,
    mut context: Context,
    frontend: &mut FunctionBuilderContext,
    module: &mut JITModule,
) -> Context {
    let mut builder = FunctionBuilder::new(&mut context.func, frontend);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    builder.seal_block(block);
    let callee = imported(module, import);
    let callee = module.declare_func_in_func(callee, builder.func);
    let params = builder.block_params(block).to_vec();
    builder.ins().call(callee, &params);
    builder.ins().return_(&[]);
    builder.finalize(module.target_config());
    context
}

/// A function to be written, as it was declared.
fn context(module: &JITModule, id: FuncId) -> Context {
    let mut context = module.make_context();
    context.func.signature = module.declarations().get_function_decl(id).signature.clone();
    context.func.name = UserFuncName::user(0, id.as_u32());
    context
}

/// Makes machine code of functions, on all cores if there is much to do: the largest first, so that no core waits long
/// for another.
fn compiled(isa: &dyn TargetIsa, mut functions: Vec<(FuncId, Context)>) -> Vec<(FuncId, Context)> {
    let compile = |(id, context): &mut (FuncId, Context)| {
        let result = context.compile(isa, &mut ControlPlane::default());
        result.unwrap_or_else(|error| panic!("lowered kernels are valid Cranelift IR: {id}: {:?}", error.inner));
    };
    let insts = |function: &(FuncId, Context)| function.1.func.dfg.num_insts();
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get).min(functions.len());
    if cores == 1 || functions.iter().map(insts).sum::<usize>() < SHARED_INSTS {
        functions.iter_mut().for_each(compile);
        return functions;
    }
    functions.sort_by_key(|function| std::cmp::Reverse(insts(function)));
    let left = Mutex::new(functions.iter_mut());
    let next = || left.lock().expect("no core stops with the lock").next();
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(function) = next() {
                    compile(function)
                }
            });
        }
    });
    functions
}

/// Puts machine code where it runs.
fn define(module: &mut JITModule, id: FuncId, context: &Context) {
    let code = &context.compiled_code().expect("it is compiled").buffer;
    let relocs: Vec<ModuleReloc> =
        code.relocs().iter().map(|reloc| ModuleReloc::from_mach_reloc(reloc, &context.func, id)).collect();
    module.define_function_bytes(id, u64::from(code.alignment), code.data(), &relocs).expect("memory for machine code");
}

/// A function of so many words that returns nothing.
fn declare(module: &mut JITModule, name: &str, words: usize) -> FuncId {
    let params = vec![AbiParam::new(types::I64); words];
    let signature = Signature { params, returns: vec![], call_conv: module.isa().default_call_conv() };
    module.declare_function(name, Linkage::Local, &signature).expect("names are given once")
}

/// Code of Cranelift; taken only by `drop`.
struct Memory(Option<JITModule>);

// SAFETY: the module is touched only by `generate`, before the `Memory` exists, and by `drop`, which has it alone.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: a `Code` owns this; running borrows the `Code`, so no code runs now, and its entry goes with it.
            unsafe { module.free_memory() }
        }
    }
}

/// The machine that we run on, with all its vector instructions.
fn native() -> isa::Builder {
    cranelift_native::builder().unwrap_or_else(|message| panic!("Cranelift has a back end for this machine: {message}"))
}

fn host(isa: isa::Builder) -> OwnedTargetIsa {
    let mut flags = settings::builder();
    let settings = [
        ("opt_level", "speed"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        // Strip buffers can exceed the guard page, so big frames touch each of their pages.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
    ];
    for (name, value) in settings {
        flags.set(name, value).expect("a setting of Cranelift");
    }
    isa.finish(settings::Flags::new(flags)).expect("host features fit together")
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::cancellation::Cancellation;
    use crate::code::{Code, code};
    use retrograd_compiler::ir::{DType, LaneFunction, Scalar};
    use retrograd_compiler::lower::kernel::{Address, Place, Reg, RegType, Stmt};

    /// `to[k] = x[k] · x[k] + x[k]` for five elements, in a vector loop.
    fn squares(ty: DType) -> Kernel {
        let [from, to, index, x, y] = [0, 1, 2, 3, 4].map(Reg);
        let at = |base| Address { base, terms: vec![(index, ty.bytes() as i64)], offset: 0 };
        let body = vec![
            Stmt::Load { dst: x, from: at(from) },
            Stmt::Let { dst: y, op: Scalar::Fma, args: vec![x, x, x] },
            Stmt::Store { to: at(to), src: y },
        ];
        let body = vec![
            Stmt::Pointer { dst: from, to: Place::Input(0) },
            Stmt::Pointer { dst: to, to: Place::Output(0) },
            Stmt::ForVec { index, count: 5, body, folds: vec![] },
        ];
        let scalar = RegType::Scalar(ty);
        Kernel {
            regs: vec![RegType::Pointer, RegType::Pointer, RegType::Scalar(DType::I64), scalar, scalar],
            body,
            ..Kernel::default()
        }
    }

    fn run<T: Copy + Default>(code: &Code, x: &[T; 5]) -> [T; 5] {
        let mut y = [T::default(); 5];
        let (inputs, outputs, mut words) = ([x.as_ptr().cast::<u8>()], [y.as_mut_ptr().cast::<u8>()], [0; 4]);
        // SAFETY: the kernel has no arena, and reads and writes five elements of the type it was made for.
        unsafe {
            code.call(
                std::ptr::null_mut(),
                inputs.as_ptr(),
                outputs.as_ptr(),
                words.as_mut_ptr(),
                &Cancellation::never(),
            )
        };
        y
    }

    #[test]
    fn a_machine_without_fma_gives_the_same_bits() {
        let mut isa = native();
        isa.set("has_fma", "false").expect("a setting of Cranelift");
        let isa = host(isa);
        let wide = [1.0 + f64::EPSILON, 0.1, -1e300, 1e-160, 3.7];
        assert_eq!(
            run(&code(&squares(DType::F64), &Cranelift { isa: isa.clone(), wide: false }), &wide),
            wide.map(|x| x.mul_add(x, x))
        );
        let narrow = [1.0 + f32::EPSILON, 0.1, -1e30, 1e-22, 3.7];
        assert_eq!(
            run(&code(&squares(DType::F32), &Cranelift { isa, wide: false }), &narrow),
            narrow.map(|x| x.mul_add(x, x))
        );
    }

    #[test]
    fn a_loop_of_whole_blocks_is_a_function_of_long_vectors() {
        let functions = |count: u64, wide: bool| {
            let mut kernel = squares(DType::F64);
            let Some(Stmt::ForVec { count: steps, .. }) = kernel.body.last_mut() else { panic!("the loop comes last") };
            *steps = count;
            let constants = Constants { literals: vec![], calls: vec![] };
            Cranelift { isa: host(native()), wide }.module(&kernel, &constants).0.declarations().get_functions().count()
        };
        assert_eq!([functions(16, true), functions(15, true), functions(16, false)], [2, 1, 1]);
    }

    #[test]
    fn a_loop_of_long_vectors_calls_no_function_that_is_in_line() {
        let imports = |function: LaneFunction, wide: bool| {
            let mut kernel = squares(DType::F64);
            let Some(Stmt::ForVec { count, body, .. }) = kernel.body.last_mut() else { panic!("the loop comes last") };
            *count = 16;
            let Stmt::Let { op, args, .. } = &mut body[1] else { panic!("arithmetic is between load and store") };
            *op = Scalar::Call(function);
            args.truncate(1);
            let (module, _) =
                Cranelift { isa: host(native()), wide }.module(&kernel, &Constants { literals: vec![], calls: vec![] });
            module.declarations().get_functions().filter(|(_, function)| function.linkage == Linkage::Import).count()
        };
        let [exp, erf] =
            [LaneFunction::Exp, LaneFunction::Erf].map(|function| [imports(function, true), imports(function, false)]);
        assert_eq!([exp, erf], [[0, 1], [1, 1]]);
    }
}
