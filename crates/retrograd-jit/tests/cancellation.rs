//! Runs that are stopped, and runs that the machine has no memory for.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::support::make::{Make, at};
use crate::support::{backends, executable};
use retrograd_compiler::ir::{Array, DType, ErrorKind, Scalar, Type};
use retrograd_compiler::lower::kernel::{Place, Stmt};
use retrograd_jit::{Backend, Cancellation, Executable};

/// Two loops, one after the other, that end only if they are stopped; the input says which of the two never ends.
fn endless(backend: &Backend) -> Executable {
    let mut make = Make::new(0);
    let (x, to) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
    let x = make.load(DType::I64, at(x, 0));
    for loop_number in 0..2 {
        let number = make.int(loop_number);
        let ends = make.op(Scalar::Ne, &[x, number]);
        make.endless(|make| {
            make.push(Stmt::Poll { reached: None });
            make.branch(ends, |make| make.push(Stmt::Leave), |_| {});
        });
    }
    make.store(at(to, 0), x);
    let (inputs, outputs) = (vec![Type::scalar(DType::I64)], vec![Type::scalar(DType::I64)]);
    executable(backend, &make.finish(), inputs, outputs, vec![]).expect("the back end is there")
}

#[test]
fn a_loop_that_never_ends_is_stopped() {
    backends().iter().map(endless).for_each(|executable| stops(&executable));
}

fn stops(executable: &Executable) {
    for number in 0..2 {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                stop.store(true, Ordering::Relaxed);
            });
            let error = executable.run_with(&[&Array::int(number)], &Cancellation::from(&stop)).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Interrupted);
        });
    }
    // It can run again, and a flag that nobody raises changes nothing.
    let (outputs, _) = executable.run_with(&[&Array::int(7)], &Cancellation::from(&AtomicBool::new(false))).unwrap();
    assert_eq!(outputs, [Array::int(7)]);
}

#[test]
fn a_run_asks_each_time_that_the_flag_is_raised() {
    for backend in backends() {
        let (raised, asked) = (AtomicBool::new(true), AtomicU32::new(0));
        let stops = |_| {
            raised.store(true, Ordering::Relaxed);
            asked.fetch_add(1, Ordering::Relaxed) == 4
        };
        let error = endless(backend).run_with(&[&Array::int(1)], &Cancellation::asking(&raised, &stops)).unwrap_err();
        assert_eq!((error.kind, asked.into_inner()), (ErrorKind::Interrupted, 5));
    }
}

#[test]
fn an_arena_that_the_machine_cannot_give_is_an_error() {
    for bytes in [1 << 60, usize::MAX] {
        let mut kernel = Make::new(0).finish();
        kernel.arena_bytes = bytes;
        let error = executable(&Backend::Cranelift, &kernel, vec![], vec![], vec![]).unwrap().run(&[]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::OutOfMemory { needed: bytes as u64 });
        assert!(error.to_string().starts_with(&format!("out of memory: the plan needs {bytes} bytes")), "{error}");
    }
}
