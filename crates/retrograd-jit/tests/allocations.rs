//! Nothing is allocated between entry and exit of a run, once its arena is there: counted over the corpus and its
//! gradients, under the largest and the smallest plan.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use retrograd_compiler::ir::{Array, Data, DataMut, ErrorKind, Program, Type, parse, verify};
use retrograd_compiler::plan::strategy::{Auto, KeepAll};
use retrograd_compiler::plan::{Request, Strategy, plan};
use retrograd_compiler::{diff, eval, lower, ops, opt};
use retrograd_jit::{Backend, Cancellation, Executable};

/// Counts what this thread asks for.
struct Counting;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.set(ASKED.get() + 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_run_allocates_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/run");
    let mut runs = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("it can be listed").path();
        let source = std::fs::read_to_string(&path).expect("it can be read");
        let program = parse(&source, "corpus", &ops::find).expect("the corpus parses");
        let inputs: Vec<Array> = source
            .lines()
            .filter_map(|line| line.strip_prefix("// input: "))
            .map(|text| text.parse().expect("an array"))
            .collect();
        // Some of the corpus is there for its error, and an error makes a message.
        let Ok(outputs) = verify(&program).and_then(|()| eval::run(&program, &inputs)) else { continue };
        runs += count(&path, &program, &inputs);
        let floats = |arrays: &[Array]| (0..arrays.len()).filter(|k| arrays[*k].dtype().is_float()).collect::<Vec<_>>();
        let (wrt, of) = (floats(&inputs), floats(&outputs));
        if let Ok(gradient) = diff::vjp(&program, &wrt, &of) {
            let cotangents = of.iter().map(|k| outputs[*k].clone());
            runs += count(&path, &gradient, &inputs.iter().cloned().chain(cotangents).collect::<Vec<_>>());
        }
    }
    let large = "fn main(%x: f64[100000]) -> f64[100000] {\n  %0: f64[100000] = exp %x\n  return %0\n}\n";
    let large = parse(large, "large", &ops::find).expect("it parses");
    runs += count(Path::new("shared by threads"), &large, &[Array::zeros(&Type::f64([100_000]))]);
    assert!(ASKED.get() > 0, "what was allocated outside of runs was not counted");
    assert!(runs > 40, "only {runs} runs were counted");
}

/// Runs a Program under plans that keep much and little.
fn count(path: &Path, program: &Program, inputs: &[Array]) -> usize {
    let program = opt::freeze(program);
    let strategies: [Arc<dyn Strategy>; 2] = [Arc::new(Auto), Arc::new(KeepAll)];
    let mut runs = 0;
    for strategy in strategies {
        let ask = |budget| plan(&program, &Request { budget, ..Request::by(strategy.clone()) });
        let smallest = match ask(Some(0)).map_err(|error| error.kind) {
            Err(ErrorKind::OverBudget { needed, .. }) => Some(needed),
            Ok(_) | Err(_) => None,
        };
        for budget in [None, smallest] {
            // A count known only at run time is not for every strategy.
            let Ok(plan) = ask(budget) else { continue };
            let lowered = lower::lower(&plan);
            let executable = Executable::new(&Backend::Cranelift, &lowered).unwrap().with_threads(2);
            let sources: Vec<*const u8> = inputs.iter().map(address).collect();
            let mut outputs: Vec<Array> = lowered.outputs().iter().map(Array::zeros).collect();
            let targets: Vec<*mut u8> = outputs.iter_mut().map(address_mut).collect();
            // SAFETY: inputs and outputs have the types of the Program, and each its own memory.
            let run = || unsafe { executable.run_raw(&sources, &targets, &Cancellation::never()) };
            run().expect("the interpreter met no fault");
            let before = ASKED.get();
            run().expect("the interpreter met no fault");
            assert_eq!(ASKED.get() - before, 0, "{}: {} with {budget:?}", path.display(), strategy.name());
            runs += 1;
        }
    }
    runs
}

fn address(array: &Array) -> *const u8 {
    match array.data() {
        Data::F32(x) => x.as_ptr().cast(),
        Data::F64(x) => x.as_ptr().cast(),
        Data::I32(x) => x.as_ptr().cast(),
        Data::I64(x) => x.as_ptr().cast(),
        Data::Bool(x) => x.as_ptr().cast(),
    }
}

fn address_mut(array: &mut Array) -> *mut u8 {
    match array.data_mut() {
        DataMut::F32(x) => x.as_mut_ptr().cast(),
        DataMut::F64(x) => x.as_mut_ptr().cast(),
        DataMut::I32(x) => x.as_mut_ptr().cast(),
        DataMut::I64(x) => x.as_mut_ptr().cast(),
        DataMut::Bool(x) => x.as_mut_ptr().cast(),
    }
}
