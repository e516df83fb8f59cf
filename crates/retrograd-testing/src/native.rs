//! Machine code of a Program under a plan, judged by the interpreter.

use std::sync::{Arc, LazyLock};

use retrograd_compiler::ir::{Array, Builder, Data, Error, ErrorKind, Program};
use retrograd_compiler::lower::kernel::Kernel;
use retrograd_compiler::lower::{Lowered, lower};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::plan::{Plan, Request, Strategy, plan};
use retrograd_jit::{Backend, Executable};

/// The back ends that there are on this machine, the first of which is Cranelift, the last Cranelift as machines
/// without long vectors have it; says so where LLVM is not among them. `RETROGRAD_LLVM` names another library.
pub fn backends() -> &'static [Backend] {
    static BACKENDS: LazyLock<Vec<Backend>> = LazyLock::new(|| {
        let llvm = Backend::Llvm { path: std::env::var_os("RETROGRAD_LLVM").map(Into::into) };
        let nothing = plan(&Program::new(Builder::new("nothing").finish(vec![])), &Request::by(Arc::new(Auto)))
            .expect("nothing to plan");
        match Executable::new(&llvm, &lower(&nothing)) {
            Ok(_) => vec![Backend::Cranelift, llvm, Backend::Narrow],
            Err(error) => {
                #[allow(clippy::print_stderr, reason = "what is not tested is said")]
                {
                    eprintln!("NOT TESTED: {error}");
                }
                vec![Backend::Cranelift, Backend::Narrow]
            }
        }
    });
    &BACKENDS
}

/// A Program compiled by every back end, with the plan and the loops that it was compiled from.
#[derive(Debug)]
pub struct Native {
    /// What is kept, run again, and where.
    pub plan: Plan,
    lowered: Lowered,
    executables: Vec<Executable>,
}

impl Native {
    /// Plans, fuses and compiles a verified Program.
    ///
    /// ```
    /// use std::sync::{Arc, LazyLock};
    /// use retrograd_compiler::ir::{Array, Builder, Program, Type};
    /// use retrograd_compiler::plan::strategy::Auto;
    /// use retrograd_testing::native::Native;
    ///
    /// let b = Builder::new("square");
    /// let x = b.param(Type::f64([3]));
    /// let y = b.mul(x, x);
    /// let native = Native::new(&Program::new(b.finish(vec![y])), Arc::new(Auto), None)?;
    /// let expected = Array::f64([3], vec![1.0, 4.0, 9.0]);
    /// native.check(&[Array::f64([3], vec![1.0, 2.0, 3.0])], &[expected]).unwrap();
    /// # Ok::<(), retrograd_compiler::ir::Error>(())
    /// ```
    pub fn new(program: &Program, strategy: Arc<dyn Strategy>, budget: Option<u64>) -> Result<Native, Error> {
        Ok(Native::by(backends(), plan(program, &Request { budget, ..Request::by(strategy) })?))
    }

    /// Compiles a plan. Laws try many plans of a Program; as the size of its arena has it, one in eight is compiled by
    /// every back end but the last, one by the last alone, the others by the first.
    pub fn of_plan(plan: Plan) -> Native {
        let (narrow, others) = backends().split_last().expect("Cranelift is there");
        let some = match plan.bytes_peak / 8 % 8 {
            0 => others,
            1 => std::slice::from_ref(narrow),
            _ => &others[..1],
        };
        Native::by(some, plan)
    }

    fn by(backends: &[Backend], plan: Plan) -> Native {
        let lowered = lower(&plan);
        let by = |backend| Executable::new(backend, &lowered);
        // As the size of the arena has it, too.
        let threads = [1, 2, 4][(plan.bytes_peak / 8 % 3) as usize];
        let ready = |executable: Executable| executable.spilling_to(std::env::temp_dir()).with_threads(threads);
        let executables = backends.iter().map(|backend| ready(by(backend).expect("the back end is there"))).collect();
        Native { plan, lowered, executables }
    }

    /// The loops.
    pub fn kernel(&self) -> &Kernel {
        self.lowered.kernel()
    }

    /// Runs it, by the first back end.
    pub fn run(&self, inputs: &[Array]) -> Result<Vec<Array>, Error> {
        self.executables[0].run(&inputs.iter().collect::<Vec<_>>()).map(|(outputs, _)| outputs)
    }

    /// Runs each twice, the second time between guards: the expected outputs, the planned peak, and not a byte outside
    /// of it.
    pub fn check(&self, inputs: &[Array], expected: &[Array]) -> Result<(), String> {
        let inputs: Vec<&Array> = inputs.iter().collect();
        self.each(|executable| check(executable, (self.plan.bytes_peak, self.plan.bytes_spilled), &inputs, expected))
    }

    /// Runs each where the interpreter meets a fault: the same one if it is a failed check; else the same kind of
    /// fault: where a Program has several, machine code may meet another first.
    pub fn check_fault(&self, inputs: &[Array], expected: &Error) -> Result<(), String> {
        let inputs: Vec<&Array> = inputs.iter().collect();
        self.each(|executable| match executable.run(&inputs) {
            Err(error) if same_fault(&error, expected) => Ok(()),
            Err(error) => Err(format!("expected {expected}, found {error}")),
            Ok(_) => Err(format!("expected {expected}, found no fault")),
        })
    }

    /// The first that fails, by its name.
    fn each(&self, check: impl Fn(&Executable) -> Result<(), String>) -> Result<(), String> {
        let named =
            |executable: &Executable| check(executable).map_err(|error| format!("{}: {error}", executable.backend()));
        self.executables.iter().try_for_each(named)
    }
}

/// Whether two faults are one, where that is promised.
pub fn same_fault(a: &Error, b: &Error) -> bool {
    a.kind == b.kind && (!matches!(a.kind, ErrorKind::Check { .. }) || a == b)
}

fn check(
    executable: &Executable,
    (peak, spilled): (u64, u64),
    inputs: &[&Array],
    expected: &[Array],
) -> Result<(), String> {
    let (outputs, stats) =
        executable.run(inputs).map_err(|error| format!("a fault that the interpreter has not: {error}"))?;
    same_outputs(&outputs, expected)?;
    if stats.bytes_peak != peak {
        return Err(format!("planned {peak} bytes, took {}", stats.bytes_peak));
    }
    if stats.bytes_spilled > spilled {
        return Err(format!("planned {spilled} bytes on disk, took {}", stats.bytes_spilled));
    }
    let checked = executable.run_checked(inputs).map_err(|error| format!("a fault of the second run: {error}"))?;
    same_outputs(&checked.outputs, expected).map_err(|e| format!("in memory that is not zero: {e}"))?;
    if !checked.guards_intact {
        return Err("bytes outside the arena changed".into());
    }
    if checked.bytes_touched > peak {
        return Err(format!("planned {peak} bytes, touched {}", checked.bytes_touched));
    }
    Ok(())
}

/// Equal bits, except that any NaN equals any NaN: sign and payload of a NaN are not part of the meaning of arithmetic.
///
/// ```
/// use retrograd_compiler::ir::Array;
/// use retrograd_testing::native::same_numbers;
/// assert!(same_numbers(&Array::scalar(f64::NAN), &Array::scalar(-f64::NAN)));
/// assert!(!same_numbers(&Array::scalar(0.0), &Array::scalar(-0.0)));
/// ```
pub fn same_numbers(a: &Array, b: &Array) -> bool {
    match (a.data(), b.data()) {
        (Data::F64(x), Data::F64(y)) => a.shape() == b.shape() && x.iter().zip(y).all(|(x, y)| same_number(*x, *y)),
        (Data::F32(x), Data::F32(y)) => {
            a.shape() == b.shape() && x.iter().zip(y).all(|(x, y)| same_number(f64::from(*x), f64::from(*y)))
        }
        (Data::F64(_) | Data::F32(_) | Data::I32(_) | Data::I64(_) | Data::Bool(_), _) => a.same_bits(b),
    }
}

fn same_number(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan())
}

/// The first output that differs, if any does.
pub fn same_outputs(found: &[Array], expected: &[Array]) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{} outputs, expected {}", found.len(), expected.len()));
    }
    match (0..found.len()).find(|k| !same_numbers(&found[*k], &expected[*k])) {
        None => Ok(()),
        Some(k) => Err(format!("output {k} is {}, expected {}", found[k], expected[k])),
    }
}
