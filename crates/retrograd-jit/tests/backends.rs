//! Back ends by name: what is found, what is said when nothing is.

#![allow(clippy::print_stderr, reason = "what is not tested is said")]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::make::{Make, along};
use crate::support::{backends, executable};
use retrograd_compiler::ir::{Array, DType, ErrorKind, Scalar, Type};
use retrograd_compiler::lower::kernel::{Kernel, Place};
use retrograd_jit::{Backend, Executable};

fn by(backend: &Backend) -> Result<Executable, retrograd_compiler::ir::Error> {
    executable(backend, &Kernel::default(), vec![], vec![], vec![])
}

fn at(path: &Path) -> Backend {
    Backend::Llvm { path: Some(path.to_owned()) }
}

/// The libraries of the toolchain that builds this.
fn in_toolchain() -> Vec<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().expect("Rust built this test");
    let folder = Path::new(String::from_utf8(output.stdout).expect("a path").trim()).join("lib");
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libLLVM"))).collect()
}

#[test]
fn the_llvm_of_the_toolchain_is_found() {
    let (libraries, executable) = (in_toolchain(), by(&Backend::Llvm { path: None }));
    if libraries.is_empty() {
        eprintln!("NOT TESTED: the Rust toolchain has no libLLVM of its own; without one, LLVM gives {executable:?}");
        return;
    }
    let name = executable.expect("the toolchain has a libLLVM").backend().to_owned();
    assert!(name.starts_with("llvm "), "{name}");
    assert!(libraries.iter().any(|path| name.contains(&*path.to_string_lossy())), "{name} is one of {libraries:?}");
}

#[test]
fn a_missing_library_is_an_error_that_names_it() {
    let error = by(&at(Path::new("/nowhere/libLLVM.so"))).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.message.contains("/nowhere/libLLVM.so"), "{error}");
    assert!(error.message.contains("cranelift"), "the error says what else there is: {error}");
}

#[test]
fn what_is_no_llvm_is_an_error_that_says_so() {
    let broken = std::env::temp_dir().join(format!("retrograd-broken-{}.so", std::process::id()));
    std::fs::write(&broken, "no library").unwrap();
    let error = by(&at(&broken)).unwrap_err();
    std::fs::remove_file(&broken).unwrap();
    assert!(error.message.contains(&*broken.to_string_lossy()), "{error}");
    // The C library has nothing of LLVM.
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        let error = by(&at(Path::new("libc.so.6"))).unwrap_err();
        assert!(error.message.contains("no LLVM"), "{error}");
    }
}

#[test]
fn the_automatic_choice_is_visible() {
    let name = by(&Backend::Auto).expect("some back end is always there").backend().to_owned();
    let found = backends().iter().any(|backend| matches!(backend, Backend::Llvm { .. }));
    let expected = if found { "llvm " } else { "cranelift " };
    assert!(name.starts_with(expected), "{name}");
    assert!(by(&Backend::Cranelift).unwrap().backend().starts_with("cranelift 0."));
}

#[test]
fn code_is_made_dropped_and_run_on_several_threads_at_once() {
    let mut make = Make::new(0);
    let (x, to) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
    make.for_vec(13, |make, index| {
        let x = make.load(DType::F64, along(x, index, 8));
        let y = make.op(Scalar::Mul, &[x, x]);
        make.store(along(to, index, 8), y);
        vec![]
    });
    let kernel = make.finish();
    for backend in backends() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let square =
                            executable(backend, &kernel, vec![Type::f64([13])], vec![Type::f64([13])], vec![]).unwrap();
                        let (outputs, _) = square.run(&[&Array::f64([13], vec![3.0; 13])]).unwrap();
                        assert_eq!(outputs[0].as_f64(), [9.0; 13]);
                    }
                });
            }
        });
    }
}
