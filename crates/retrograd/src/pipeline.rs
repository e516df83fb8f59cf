//! From a Program to something that runs: the line of the compiler, read aloud.

use retrograd_compiler::ir::{Array, Builder, Error, ErrorKind, Program, Type};

use retrograd_compiler::{diff, opt};

use crate::var::here;

use self::stand_in::{fuse, plan};

pub(crate) use self::plan::Request as PlanRequest;
use self::stand_in::Executable;
pub use self::stand_in::{Plan, Stats, Strategy};

/// What is computed of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Its results.
    Results,
    /// The gradient of its one scalar result.
    Gradient,
    /// That result, then its gradient.
    ValueAndGradient,
}

/// What a compilation is asked for, checked.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) wanted: Wanted,
    /// Inputs to differentiate with respect to.
    pub(crate) wrt: Vec<usize>,
    pub(crate) plan: plan::Request,
}

/// Machine code with the Program that it runs and the plan that it follows.
#[derive(Debug)]
pub struct Compiled {
    /// What is computed, derivatives included.
    pub program: Program,
    /// What is kept, recomputed or spilled, and the bytes that it takes.
    pub plan: Plan,
    executable: Executable,
}

pub(crate) fn compile(program: &Program, request: &Request) -> Result<Compiled, Error> {
    let program = opt::simplify(program);
    let program = match request.wanted {
        Wanted::Results => program,
        Wanted::Gradient => opt::simplify(&keep_results(seeded(diff::vjp(&program, &request.wrt, &[0])?), 1)),
        Wanted::ValueAndGradient => opt::simplify(&seeded(diff::vjp(&program, &request.wrt, &[0])?)),
    };
    let plan = plan::plan(&program, &request.plan)?;
    let executable = Executable::new(fuse::fuse(&program, &plan));
    Ok(Compiled { program, plan, executable })
}

/// The cotangent of the scalar result, the last input, becomes the literal 1.
fn seeded(mut program: Program) -> Program {
    let main = program.main();
    let mut types = main.param_types();
    let seed = types.pop().expect("a vjp takes the cotangent of its output");
    let b = Builder::new(main.name.clone());
    let mut args = b.params(types);
    args.push(b.full(&seed, 1.0));
    let results = b.inline(main, &args);
    program.functions[usize::from(program.entry)] = b.finish(results);
    program
}

/// Without the first results.
fn keep_results(mut program: Program, from: usize) -> Program {
    program.functions[usize::from(program.entry)].results.drain(..from);
    program
}

impl Compiled {
    /// Runs it on inputs of the types that it was compiled for.
    ///
    /// ```
    /// use retrograd::{Array, compile, f64};
    /// let compiled = compile(|[x]| x * x, &[f64([2])])?;
    /// assert_eq!(compiled.run(&[&Array::f64([2], vec![2.0, 3.0])])?, [Array::f64([2], vec![4.0, 9.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn run(&self, inputs: &[&Array]) -> Result<Vec<Array>, Error> {
        self.run_with_stats(inputs).map(|(outputs, _)| outputs)
    }

    /// Runs it, and says what that took.
    #[track_caller]
    pub fn run_with_stats(&self, inputs: &[&Array]) -> Result<(Vec<Array>, Stats), Error> {
        let (pos, found) = (here(), inputs.iter().map(|array| array.ty()).collect::<Vec<_>>());
        check_inputs(&self.program.main().param_types(), &found).map_err(|message| Error::new(ErrorKind::Argument, pos, message))?;
        self.executable.run(inputs)
    }
}

fn check_inputs(expected: &[Type], found: &[Type]) -> Result<(), String> {
    if expected.len() != found.len() {
        return Err(format!("the function takes {} arguments, found {}", expected.len(), found.len()));
    }
    match (0..expected.len()).find(|k| expected[*k] != found[*k]) {
        None => Ok(()),
        Some(k) => Err(format!("argument {k}: compiled for {}, found {}", expected[k], found[k])),
    }
}

/// Stages that are not there yet, under the names that they will have. Nothing here stays.
mod stand_in {
    use retrograd_compiler::eval;
    use retrograd_compiler::ir::{Array, Error, Program};

    /// How residuals are decided.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Strategy {
        /// The fastest plan that fits.
        #[default]
        Auto,
        /// Every residual is kept.
        KeepAll,
    }

    /// What is kept, recomputed or spilled.
    #[derive(Clone, Debug)]
    pub struct Plan {
        /// Bytes of the arena.
        pub bytes_peak: u64,
    }

    /// What a run took.
    #[derive(Clone, Debug)]
    pub struct Stats {
        /// Bytes of the arena that the run touched.
        pub bytes_peak: u64,
    }

    /// A program that runs.
    #[derive(Debug)]
    pub(super) struct Executable(Program);

    impl Executable {
        pub(crate) fn new(program: Program) -> Executable {
            Executable(program)
        }

        pub(crate) fn run(&self, inputs: &[&Array]) -> Result<(Vec<Array>, Stats), Error> {
            let inputs: Vec<Array> = inputs.iter().map(|array| (*array).clone()).collect();
            Ok((eval::run(&self.0, &inputs)?, Stats { bytes_peak: 0 }))
        }
    }

    pub(crate) mod plan {
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Request {
            pub(crate) strategy: super::Strategy,
            pub(crate) budget: Option<u64>,
        }
        pub(crate) fn plan(_: &super::Program, _: &Request) -> Result<super::Plan, super::Error> {
            Ok(super::Plan { bytes_peak: 0 })
        }
    }

    pub(crate) mod fuse {
        pub(crate) fn fuse(program: &super::Program, _: &super::Plan) -> super::Program {
            program.clone()
        }
    }
}
