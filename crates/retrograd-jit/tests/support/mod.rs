//! A judge of machine code: the loop IR, one number at a time, as `kernel.rs` words it; and a short way to write
//! kernels.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "the machine code under test matches everything; a judge may name only what it knows"
)]
#![allow(clippy::print_stderr, reason = "what is not tested is said")]
#![allow(unreachable_pub, reason = "test files share it as a module")]

pub mod interpreter;
pub mod make;

use std::sync::LazyLock;

use interpreter::{Outcome, interpret};
use retrograd_compiler::ir::{Array, Data, Error, ErrorKind, Pos, Type};
use retrograd_compiler::lower::Fault;
use retrograd_compiler::lower::kernel::Kernel;
use retrograd_jit::{Backend, Executable};

/// The back ends that there are on this machine; says so where LLVM is not among them. `RETROGRAD_LLVM` names another
/// library.
pub fn backends() -> &'static [Backend] {
    static BACKENDS: LazyLock<Vec<Backend>> = LazyLock::new(|| {
        let llvm = Backend::Llvm { path: std::env::var_os("RETROGRAD_LLVM").map(Into::into) };
        match executable(&llvm, &Kernel::default(), vec![], vec![], vec![]) {
            Ok(_) => vec![Backend::Cranelift, Backend::Narrow, llvm],
            Err(error) => {
                eprintln!("NOT TESTED: {error}");
                vec![Backend::Cranelift, Backend::Narrow]
            }
        }
    });
    &BACKENDS
}

/// Machine code of a kernel of these tests.
pub fn executable(
    backend: &Backend,
    kernel: &Kernel,
    inputs: Vec<Type>,
    outputs: Vec<Type>,
    faults: Vec<Fault>,
) -> Result<Executable, Error> {
    // SAFETY: what kernels of these tests read and write is checked by the interpreter, or it is nothing.
    unsafe { Executable::of_kernel(backend, kernel, inputs, outputs, faults) }
}

/// Runs a kernel natively, by every back end, and by the interpreter, and compares all bits of all outputs, and the
/// fault.
#[track_caller]
pub fn check(kernel: &Kernel, inputs: &[&Array], outputs: &[Type]) -> Vec<Array> {
    let expected = interpret(kernel, inputs, outputs);
    for backend in backends() {
        check_one(backend, kernel, inputs, outputs, &expected);
    }
    expected.outputs
}

#[track_caller]
fn check_one(backend: &Backend, kernel: &Kernel, inputs: &[&Array], outputs: &[Type], expected: &Outcome) {
    let faults =
        (0..10).map(|site| Fault { kind: ErrorKind::Bounds, pos: Pos::unknown(), message: site.to_string() }).collect();
    let types = inputs.iter().map(|array| array.ty()).collect();
    let executable = executable(backend, kernel, types, outputs.to_vec(), faults).expect("the back end is there");
    for _ in 0..2 {
        match (executable.run(inputs), expected.fault) {
            (Ok((found, stats)), None) => {
                assert_eq!(stats.bytes_peak, kernel.arena_bytes as u64);
                compare(&executable, kernel, &expected.outputs, &found);
            }
            (Err(error), Some(site)) => assert_eq!(error.message, site.to_string(), "the first fault is reported"),
            (Ok(_), Some(site)) => panic!("fault {site} was not seen"),
            (Err(error), None) => panic!("unexpected fault: {error}"),
        }
    }
    if let Ok(checked) = executable.run_checked(inputs) {
        assert!(checked.guards_intact, "a run stays inside its arena");
        assert!(checked.bytes_touched <= kernel.arena_bytes as u64);
        compare(&executable, kernel, &expected.outputs, &checked.outputs);
    }
}

#[track_caller]
fn compare(executable: &Executable, kernel: &Kernel, expected: &[Array], found: &[Array]) {
    for (k, (expected, found)) in expected.iter().zip(found).enumerate() {
        for (i, (a, b)) in bits(expected).into_iter().zip(bits(found)).enumerate() {
            assert!(
                a == b,
                "{}: output {k}, element {i}: expected {a:x} ({}), found {b:x} ({})\n{:#?}",
                executable.backend(),
                f64::from_bits(a),
                f64::from_bits(b),
                kernel.body
            );
        }
    }
}

/// Bits of the elements; all NaN count as one, because which NaN an operation returns depends on the order of its
/// operands.
fn bits(array: &Array) -> Vec<u64> {
    match array.data() {
        Data::F64(x) => x.iter().map(|x| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }).collect(),
        Data::I64(x) => x.iter().map(|x| x.cast_unsigned()).collect(),
        Data::Bool(x) => x.iter().map(|&x| u64::from(x)).collect(),
        Data::F32(x) => x.iter().map(|x| if x.is_nan() { f32::NAN } else { *x }.to_bits().into()).collect(),
        Data::I32(x) => x.iter().map(|x| x.cast_unsigned().into()).collect(),
    }
}
