//! What can be asked for on the command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use retrograd::pipeline::{Arithmetic, MOST_THREADS, cores};
use retrograd::{Backend, Budget, Error, Program, Strategy, strategy};

use crate::formula::{Best, Formula, FormulaOptions};
use crate::outputs::Format;

const INPUTS_AND_EXIT_CODES: &str = "\
Inputs:
  --input 'f64[3] [1.0, 2.0, 3.0]'   a literal of the text form
  --input x.npy                      one array
  --input all.npz                    every array of the archive, in its order
  --input all.npz:theta              the array of that name
  --random 7                         drawn with that seed, for every input
  Without any of them, the lines `// input: LITERAL` of FILE are used.

Exit codes:
  0  all went well
  1  the program or an input is wrong; the message says where
  2  wrong usage
  3  a check failed";

/// Exact derivatives of array programs in the text form (.rg), inside the memory you give.
#[derive(Debug, Parser)]
#[command(name = "retrograd", version, after_help = INPUTS_AND_EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program, or what `save` wrote, as machine code and print its results
    Run {
        #[command(flatten)]
        file: File,
        #[command(flatten)]
        machine: Machine,
        #[command(flatten)]
        rounding: Rounding,
        /// Folder for the states that a saved file was planned to spill; a run leaves nothing there
        #[arg(long, value_name = "FOLDER")]
        spill: Option<PathBuf>,
        #[command(flatten)]
        inputs: Inputs,
        #[command(flatten)]
        outputs: Outputs,
        #[command(flatten)]
        debug: Debug,
    },
    /// Print the value and the gradient of a program whose one result is a scalar, or of a formula with --at
    ///
    /// A name that ends in .rg, a file that is there and `-` without --at are programs: --wrt counts their inputs from
    /// 0. Anything else is a formula: --wrt names its variables.
    Grad {
        #[command(flatten)]
        file: File,
        #[command(flatten)]
        formula: FormulaOptions,
        #[command(flatten)]
        gradient: Gradient,
        #[command(flatten)]
        machine: Machine,
        #[command(flatten)]
        rounding: Rounding,
        #[command(flatten)]
        inputs: Inputs,
        #[command(flatten)]
        outputs: Outputs,
        #[command(flatten)]
        debug: Debug,
    },
    /// Check derivatives against finite differences and each other, and machine code against the interpreter
    ///
    /// Derivatives are checked at orders 1 and 2: forward mode against finite differences, reverse mode against forward
    /// mode by ⟨ct, J dx⟩ = ⟨Jᵀct, dx⟩, for all inputs and outputs together and for each pair alone. Machine code,
    /// of the program and of its gradient under every strategy, must give the interpreter's results to the bit, in
    /// the memory that was planned. Without inputs they are drawn with seed 1. The interpreter is the judge and
    /// slow: check a small instance of a big program. Exits with 3 if a check fails.
    Check {
        #[command(flatten)]
        file: File,
        #[command(flatten)]
        inputs: Inputs,
    },
    /// Print a program after a stage of the compiler
    Print {
        #[command(flatten)]
        file: File,
        /// Which stage
        #[arg(long, value_enum, default_value_t = Stage::Parsed)]
        stage: Stage,
        #[command(flatten)]
        gradient: Gradient,
        #[command(flatten)]
        rounding: Rounding,
    },
    /// Print what the gradient will keep and recompute, and its peak of memory, without running it
    Plan {
        #[command(flatten)]
        file: File,
        #[command(flatten)]
        gradient: Gradient,
        #[command(flatten)]
        rounding: Rounding,
        #[command(flatten)]
        form: PlanForm,
    },
    /// Write the value and the gradient of a program to a file, which `run` runs without differentiating or planning
    /// again
    ///
    /// The file holds no machine code: that is made when it is run, so that it serves on any machine with the same
    /// version.
    Save {
        #[command(flatten)]
        file: File,
        /// The file to write, such as model.rgx
        #[arg(value_name = "SAVED")]
        saved: PathBuf,
        /// Save the program as it is, not its gradient
        #[arg(long, conflicts_with_all = ["wrt", "spill"])]
        results: bool,
        #[command(flatten)]
        gradient: Gradient,
        #[command(flatten)]
        rounding: Rounding,
    },
    /// Print the value of a formula
    Eval {
        #[command(flatten)]
        formula: Formula,
    },
    /// Print the derivatives of a formula, simplified
    Diff {
        #[command(flatten)]
        formula: Formula,
        /// Variables to differentiate by; all of them unless told
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        wrt: Option<Vec<String>>,
        /// How often
        #[arg(long, value_name = "NUMBER", default_value_t = 1)]
        order: usize,
    },
    /// Print the Hessian of a formula at values of its variables
    Hessian {
        #[command(flatten)]
        formula: Formula,
        /// Variables to differentiate by; all of them unless told
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        wrt: Option<Vec<String>>,
    },
    /// Print the simplest form of a formula that is defined where it is
    Simplify {
        #[command(flatten)]
        formula: Formula,
        /// Which form is simplest
        #[arg(long, value_enum, default_value_t = Best::Size)]
        cost: Best,
        /// The form with the least error instead, in ranges of the variables such as x=1:10; once for each variable
        #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
        accuracy: Vec<String>,
    },
    /// Print a formula with its products multiplied out
    Expand {
        #[command(flatten)]
        formula: Formula,
        /// Equal powers of this variable together
        #[arg(long, value_name = "NAME")]
        collect: Option<String>,
    },
    /// Print the real solutions of an equation such as "x^2 = 2"
    Solve {
        #[command(flatten)]
        formula: Formula,
        /// The variable, where there are several
        #[arg(long, value_name = "NAME")]
        wrt: Option<String>,
        /// A number between these two instead, by bisection: 0:2
        #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
        between: Option<String>,
        /// A number near this one instead, by Newton's method: 1.5
        #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, conflicts_with = "between")]
        near: Option<f64>,
    },
    /// Draw a formula of one variable and its derivatives, in the terminal or as SVG
    Plot {
        #[command(flatten)]
        formula: Formula,
        /// Values of the variable: -1:1
        #[arg(long, value_name = "RANGE", default_value = "-5:5", allow_hyphen_values = true)]
        range: String,
        /// Derivatives up to this order
        #[arg(long, value_name = "NUMBER", default_value_t = 1)]
        order: usize,
        /// Print SVG
        #[arg(long)]
        svg: bool,
    },
    /// Draw the operations of a formula with adjoints on their edges, in DOT or as SVG
    Graph {
        #[command(flatten)]
        formula: Formula,
        /// Print SVG
        #[arg(long)]
        svg: bool,
    },
    /// Print why the simplest form of a formula equals it, law by law
    Explain {
        #[command(flatten)]
        formula: Formula,
    },
    /// Print the table of ops, one row a line: name, number of arguments, attributes, kind of derivative rule, meaning
    Ops,
}

#[derive(Debug, Args)]
pub(crate) struct File {
    /// Program in the text form; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) path: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Inputs {
    /// The next input: a literal, a .npy file, a .npz file or FILE.npz:NAME; once for each
    #[arg(long = "input", value_name = "ARRAY", allow_hyphen_values = true)]
    pub(crate) given: Vec<String>,
    /// Draw all inputs: floats from 0.1 to 1, integers from 0 to 3
    #[arg(long, value_name = "SEED", conflicts_with = "given")]
    pub(crate) random: Option<u64>,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Debug {
    /// Interpret the program, and stop at the first operation that makes a NaN or an infinity, forward or backward
    #[arg(long)]
    pub(crate) debug_nan: bool,
    /// Say on standard error what the compilation and the run took, and count loop nests and bytes moved
    #[arg(long, conflicts_with = "debug_nan")]
    pub(crate) stats: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Gradient {
    /// Inputs to differentiate with respect to, counted from 0, or names of variables of a formula; every float input
    /// unless told
    #[arg(long, value_name = "INPUTS", value_delimiter = ',')]
    pub(crate) wrt: Option<Vec<String>>,
    /// Memory that a run may take, such as "16 MB" or "64 KiB"; no limit unless told
    #[arg(long, value_name = "BYTES")]
    pub(crate) budget: Option<Budget>,
    /// Folder for states of loops that the budget has no room for; a run leaves nothing there
    #[arg(long, value_name = "FOLDER", requires = "spill_budget")]
    pub(crate) spill: Option<PathBuf>,
    /// Memory that a run may take there, such as "10 GB"
    #[arg(long, value_name = "BYTES", requires = "spill")]
    pub(crate) spill_budget: Option<Budget>,
    /// Bytes that are written or read there in a second; measured unless told
    #[arg(long, value_name = "BYTES", requires = "spill")]
    pub(crate) spill_speed: Option<Budget>,
    /// Who decides what is kept
    #[arg(long, value_parser = strategies(), default_value = strategy::all()[0].name())]
    pub(crate) strategy: Arc<dyn Strategy>,
}

#[derive(Debug, Args)]
pub(crate) struct Machine {
    /// Who makes machine code: cranelift, cranelift:narrow with its vectors of 128 bits alone, llvm, llvm:PATH of a
    /// libLLVM, or auto, which is llvm where one is found
    #[arg(long, default_value = "cranelift")]
    pub(crate) backend: Backend,
    /// Threads of a run, as many as there are cores unless told; results do not depend on them
    #[arg(long, value_name = "NUMBER", value_parser = threads)]
    threads: Option<NonZeroUsize>,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Rounding {
    /// Round every operation as it is written, and add in that order: no product becomes part of an `fma`
    #[arg(long)]
    exact: bool,
    /// Give elementwise arithmetic the form with the least work, by laws of real numbers where their conditions hold:
    /// values change in their last bits
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "egraph", conflicts_with = "exact")]
    fast_math: Option<FastMath>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FastMath {
    /// By equality saturation
    Egraph,
}

impl Rounding {
    /// The Program whose arithmetic is taken.
    pub(crate) fn program(self, program: Program) -> Result<Program, Error> {
        match self.fast_math {
            Some(FastMath::Egraph) => retrograd_expr::fast_math(&program),
            None => Ok(program),
        }
    }

    /// Whether nothing was said.
    pub(crate) fn is_usual(self) -> bool {
        !self.exact && self.fast_math.is_none()
    }

    pub(crate) fn arithmetic(self) -> Arithmetic {
        if self.exact { Arithmetic::Exact } else { Arithmetic::Contracted }
    }
}

impl Machine {
    pub(crate) fn threads(&self) -> NonZeroUsize {
        self.threads.unwrap_or_else(cores)
    }
}

/// A number of threads.
fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse::<NonZeroUsize>().ok().filter(|threads| threads.get() <= MOST_THREADS);
    number.ok_or_else(|| format!("a run has from 1 to {MOST_THREADS} threads"))
}

/// The names of the table of strategies.
fn strategies() -> impl TypedValueParser<Value = Arc<dyn Strategy>> {
    let names = PossibleValuesParser::new(strategy::all().iter().map(|strategy| strategy.name()));
    names.map(|name| strategy::find(&name).expect("every name of the table finds its strategy"))
}

#[derive(Debug, Args)]
pub(crate) struct PlanForm {
    /// Print JSON instead of words
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the predicted work against memory, from the least budget to none
    #[arg(long)]
    pub(crate) curve: bool,
    /// Write pictures of the curve and of every schedule to this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Outputs {
    /// Write to a file instead: .npy for one array, .npz for any number
    #[arg(long, value_name = "FILE", value_parser = Format::of)]
    pub(crate) output: Option<Format>,
    /// Print long arrays in full
    #[arg(long, conflicts_with = "output")]
    pub(crate) full: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Stage {
    /// As it was read, before it is verified
    Parsed,
    /// After all rewrites, with its roundings decided: products are contracted to `fma`, and what is not is marked
    /// exact
    Simplified,
    /// Its value and gradient, simplified
    Gradient,
    /// What the gradient keeps and recomputes
    Plan,
    /// The loops of the gradient that become machine code
    Kernel,
}
