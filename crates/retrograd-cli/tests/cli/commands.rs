//! Every command, its messages and its exit codes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{LOOP, Ran, retrograd, scratch, testdata};
use retrograd_testing::golden;

/// y = x₀² x₁, with an integer beside.
const PRODUCT: &str = "\
fn main(%a: f64, %n: i64, %b: f64) -> f64 {
  %0: f64 = mul %a, %a
  %1: f64 = mul %0, %b
  return %1
}
";

/// Runs on a Program given on standard input.
fn on(program: &str, arguments: &[&str]) -> Ran {
    retrograd(Path::new("."), arguments, program)
}

/// Golden files of a stage, copied without their expectations: the folder, and each name with what is expected.
fn files(stage: &str, test: &str) -> (PathBuf, Vec<(String, String)>) {
    let folder = scratch(test);
    let files = golden::files(&testdata())
        .expect("the golden files are there")
        .into_iter()
        .filter(|(folder, _)| folder == stage);
    let found: Vec<_> = files.map(|(_, path)| copied(&path, &folder)).collect();
    assert!(found.len() > 3, "{stage}");
    (folder, found)
}

fn copied(path: &Path, folder: &Path) -> (String, String) {
    let text = fs::read_to_string(path).expect("a golden file reads");
    let (source, expected) = text.split_once("// ---- expected\n").expect("a golden file has an expectation");
    let name = path.file_name().expect("files have names").to_str().expect("names are text");
    fs::write(folder.join(name), source).expect("the folder is ours");
    (name.into(), expected.lines().map(|line| line.strip_prefix("// ").unwrap_or("").to_string() + "\n").collect())
}

#[test]
fn run_prints_what_golden_files_expect() {
    let (folder, files) = files("run", "run_prints");
    for (name, expected) in files {
        let mut ran = retrograd(&folder, &["run", &name], "");
        // The sign of a NaN that arithmetic makes is not part of its meaning.
        ran.out = ran.out.replace("nan(0xfff8000000000000)", "nan");
        match expected.strip_prefix("error: ") {
            None => ran.says(&expected),
            // The interpreter's words differ from those of machine code; place and kind do not.
            Some(_) if name == "wrong_input.rg" => {
                ran.fails_with(1, "wrong_input.rg: argument error: input 0 is f64, found i64")
            }
            Some(error) => ran.fails_with(1, &error[..error.rfind(": ").expect("a message follows")]),
        }
    }
}

#[test]
fn stages_print_what_golden_files_expect() {
    for (stage, option) in [("print", "parsed"), ("opt", "simplified")] {
        let (folder, files) = files(stage, &format!("stages_print_{stage}"));
        for (name, expected) in files {
            let ran = retrograd(&folder, &["print", &name, "--stage", option], "");
            match expected.strip_prefix("error: ") {
                None => ran.says(&expected),
                Some(error) => ran.fails_with(1, error),
            }
        }
    }
}

#[test]
fn programs_that_break_rules_are_refused() {
    let (folder, files) = files("verify", "programs_that_break_rules");
    for (name, expected) in files {
        let ran = retrograd(&folder, &["print", &name, "--stage", "simplified"], "");
        match expected.strip_prefix("error: ") {
            None => assert!(ran.ok().starts_with("fn "), "{name}"),
            Some(error) => ran.fails_with(1, error),
        }
    }
}

#[test]
fn fast_math_applies_laws_of_real_numbers() {
    let program = "fn main(%0: f64) -> f64 {\n  %1: f64 = sin %0\n  %2: f64 = cos %0\n  %3: f64 = mul %1, %1\n  %4: \
                   f64 = mul %2, %2\n  %5: f64 = add %3, %4\n  %6: f64 = mul %5, %0\n  return %6\n}\n";
    let text = |options: &[&str]| on(program, &[&["print", "-", "--stage", "simplified"][..], options].concat()).ok();
    assert!(
        text(&[]).contains("sin")
            && !text(&["--fast-math"]).contains("sin")
            && !text(&["--fast-math=egraph"]).contains("cos")
    );
    on(program, &["grad", "-", "--fast-math", "--input", "0.7"]).says("value: 0.7\ngradient_0: 1.0\n");
    on(program, &["run", "-", "--fast-math", "--exact", "--input", "0.7"]).fails_with(2, "cannot be used with");
}

#[test]
fn exact_rounds_every_operation_as_it_is_written() {
    let program =
        "fn main(%x: f64, %y: f64, %z: f64) -> f64 {\n  %p: f64 = mul %x, %y\n  %s: f64 = add %p, %z\n  return %s\n}\n";
    let inputs = ["--input", "0.1", "--input", "10.0", "--input", "-1.0"];
    on(program, &[&["run", "-"][..], &inputs].concat()).says(&format!("{:?}\n", 0.1_f64.mul_add(10.0, -1.0)));
    on(program, &[&["run", "-", "--exact"][..], &inputs].concat()).says("0.0\n");
    assert!(on(program, &["print", "-", "--stage", "simplified", "--exact"]).ok().contains("add %3, %2 {exact}"));
}

#[test]
fn run_takes_literals_in_order() {
    let program = "fn main(%a: f64[2], %b: f64) -> f64[2], f64 {\n  return %a, %b\n}\n";
    on(program, &["run", "-", "--input", "f64[2] [1.0, inf]", "--input", "-2.5"]).says("f64[2] [1.0, inf]\n-2.5\n");
}

#[test]
fn grad_prints_value_and_gradient_of_every_float() {
    let inputs = ["grad", "-", "--input", "3.0", "--input", "7", "--input", "2.0"];
    on(PRODUCT, &inputs).says("value: 18.0\ngradient_0: 12.0\ngradient_2: 9.0\n");
    on(PRODUCT, &[&inputs[..], &["--wrt", "2,0"]].concat()).says("value: 18.0\ngradient_2: 9.0\ngradient_0: 12.0\n");
}

#[test]
fn strategies_and_budgets_change_no_bit() {
    let grad = |options: &[&str]| on(LOOP, &[&["grad", "-", "--random", "3"], options].concat()).ok();
    let expected = grad(&[]);
    assert_eq!(expected.lines().count(), 3);
    for strategy in retrograd::strategy::all() {
        assert_eq!(grad(&["--strategy", strategy.name()]), expected, "{}", strategy.name());
    }
    assert_eq!(grad(&["--budget", "1 kB"]), expected);
}

#[test]
fn plan_fits_the_budget_and_says_what_it_keeps() {
    let plan = on(LOOP, &["plan", "-", "--budget", "640 B"]).ok();
    assert!(plan.starts_with("plan by `auto`: peak "), "{plan}");
    assert!(plan.contains("budget 640 bytes") && plan.contains("loop at <stdin>:3: 20 steps"), "{plan}");
    assert_eq!(on(LOOP, &["print", "-", "--stage", "plan", "--budget", "640 B"]).ok(), plan);
    let json = on(LOOP, &["plan", "-", "--budget", "640 B", "--json"]).ok();
    assert!(
        json.starts_with("{\"strategy\": \"auto\", \"budget\": 640, \"offered\": null, \"bytes_peak\": "),
        "{json}"
    );
    let curve = on(LOOP, &["plan", "-", "--budget", "640 B", "--curve"]).ok();
    assert!(curve.lines().count() > 3 && curve.matches("<- this plan").count() == 1, "{curve}");
    let keep_all = on(LOOP, &["plan", "-", "--strategy", "keep_all"]).ok();
    assert!(keep_all.starts_with("plan by `keep_all`") && keep_all.contains("no budget"), "{keep_all}");
}

#[test]
fn a_budget_that_cannot_be_met_names_the_smallest() {
    let ran = on(LOOP, &["plan", "-", "--budget", "8 B"]);
    ran.fails_with(
        1,
        "error: <stdin>: over budget: the budget is 8 bytes; the smallest that this strategy can work with is ",
    );
    // The loop is small: below 1 kB the number stands without words.
    let smallest = ran.err.rsplit(" is ").next().and_then(|rest| rest.split(' ').next()).expect("a number of bytes");
    assert!(on(LOOP, &["plan", "-", "--budget", smallest]).ok().contains(&format!("peak {smallest} bytes")));
}

#[test]
fn later_stages_print() {
    let gradient = on(LOOP, &["print", "-", "--stage", "gradient"]).ok();
    assert!(gradient.contains("unwind"), "{gradient}");
    // What is printed is a Program again, and computes value and gradients.
    let printed = on(&gradient, &["run", "-", "--random", "3"]).ok();
    let direct = on(LOOP, &["grad", "-", "--random", "3"]).ok();
    let values =
        |text: &str| text.lines().map(|line| line.rsplit(": ").next().unwrap_or("").to_string()).collect::<Vec<_>>();
    assert_eq!(values(&printed), values(&direct));
    assert!(on(LOOP, &["print", "-", "--stage", "kernel"]).ok().starts_with("Kernel {"));
}

#[test]
fn check_holds_on_golden_files_and_loops() {
    let ran = on(LOOP, &["check", "-"]).ok();
    assert!(ran.starts_with(
        "ok       derivatives to order 2\nok       machine code of the program\nok       machine code of the adjoint, \
         `auto`\n"
    ));
    let (folder, files) = files("run", "check_holds");
    // A derivative at NaN is NaN, and differences say nothing of it.
    let at_numbers = |name: &str| !fs::read_to_string(folder.join(name)).expect("just written").contains("nan");
    for (name, expected) in files.into_iter().filter(|(name, _)| at_numbers(name)) {
        let ran = retrograd(&folder, &["check", &name], "");
        if expected.starts_with("error: ") {
            assert_eq!(ran.code, 1, "{name}")
        } else {
            assert!(!ran.ok().contains("FAILED"), "{name}")
        }
    }
}

#[test]
fn check_says_which_strategies_do_not_apply() {
    let counted = "\
fn main(%n: i64, %c: f64) -> f64 {
  %e: f64 = for %n carries(%c) {body=step}
  return %e
}
fn step(%i: i64, %c: f64) -> f64 {
  %t: f64 = sin %c
  return %t
}
";
    let checks = on(counted, &["check", "-", "--input", "5", "--input", "0.5"]).ok();
    assert!(checks.contains("ok       machine code of the adjoint, `revolve`\n"), "{checks}");
    assert!(checks.contains("skipped  machine code of the adjoint, `keep_all`: <stdin>:2: unsupported: "), "{checks}");
}

#[test]
fn a_failed_check_exits_with_3() {
    // Finite differences see the jump at 0 of a comparison, whose derivative is 0 everywhere else.
    let step = "\
fn main(%x: f64) -> f64 {
  %zero: f64 = constant {value=0.0}
  %p: bool = lt %zero, %x
  %y: f64 = convert %p {dtype=f64}
  return %y
}
";
    let ran = on(step, &["check", "-", "--input", "0.0"]);
    assert_eq!((ran.code, ran.err.as_str()), (3, ""), "{}", ran.out);
    assert!(
        ran.out
            .starts_with("FAILED   derivatives to order 2: main by [0] of [0]: jvp of output 0 against differences:"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("ok       machine code of the program"), "{}", ran.out);
}

#[test]
fn ops_prints_one_row_a_line() {
    let table = on("", &["ops"]).ok();
    let names: Vec<&str> = table.lines().map(|line| line.split_whitespace().next().expect("a name")).collect();
    assert_eq!(names, retrograd::ops::rows().map(|row| row.name).collect::<Vec<_>>());
    let tanh: Vec<&str> =
        table.lines().find(|line| line.starts_with("tanh ")).expect("tanh is there").split_whitespace().collect();
    assert_eq!(tanh, ["tanh", "1", "-", "partials", "Hyperbolic", "tangent."]);
}

#[test]
fn errors_show_the_line() {
    let unknown = "fn main(%0: f64) -> f64 {\n  %1: f64 = sume %0\n  return %1\n}\n";
    on(unknown, &["run", "-"]).fails(
        1,
        "error: <stdin>:2: parse error: unknown op `sume`; did you mean `sum`?\n    2 |   %1: f64 = sume %0\n",
    );
    let folder = scratch("errors_show_the_line");
    fs::write(folder.join("bad.rg"), unknown).expect("the folder is ours");
    retrograd(&folder, &["check", "bad.rg"], "").fails_with(1, "error: bad.rg:2: parse error");
    let vector = "fn main(%x: f64[2]) -> f64[2] {\n\n  %y: f64[2] = exp %x\n  return %y\n}\n";
    on(vector, &["grad", "-", "--random", "1"]).fails_with(1, "    3 |   %y: f64[2] = exp %x\n");
}

#[test]
fn wrong_inputs_are_named() {
    let run = |inputs: &[&str]| on(PRODUCT, &[&["run", "-"], inputs].concat());
    run(&[]).fails(
        1,
        "error: <stdin>: argument error: the program takes 3 inputs (f64, i64, f64), found 0; give each with --input, \
         or all with --random SEED\n",
    );
    run(&["--input", "3", "--input", "3", "--input", "1.0"])
        .fails_with(1, "input 0 is f64, found i64; floats are written with a point");
    run(&["--input", "f64[2] [1.0]"]).fails_with(1, "error: <stdin>: parse error: --input f64[2] [1.0]: ");
    run(&["--input", "nowhere.npy"]).fails_with(1, "argument error: cannot read nowhere.npy: No such file");
    on("", &["run", "nowhere.rg"]).fails_with(1, "error: argument error: cannot read nowhere.rg: No such file");
}

#[test]
fn gradients_that_do_not_exist_are_refused() {
    let two = "fn main(%x: f64) -> f64, f64 {\n  return %x, %x\n}\n";
    on(two, &["grad", "-", "--random", "1"])
        .fails_with(1, "a gradient needs a program with one result, a scalar; this one has 2");
    let none = "fn main(%x: f64) {\n  return\n}\n";
    on(none, &["plan", "-"]).fails_with(1, "this one has 0");
    on(PRODUCT, &["plan", "-", "--wrt", "3"])
        .fails_with(1, "--wrt names input 3, but the program takes 3, counted from 0");
    on(PRODUCT, &["plan", "-", "--wrt", "1"]).fails_with(1, "--wrt names input 1, a i64; only floats have a gradient");
    on("fn main(%n: i64) -> i64 {\n  return %n\n}\n", &["plan", "-"]).fails_with(1, "no float input");
}

#[test]
fn wrong_usage_exits_with_2() {
    for (arguments, part) in [
        (&[][..], "Usage: retrograd"),
        (&["fly"][..], "unrecognized subcommand 'fly'"),
        (&["run"][..], "<FILE>"),
        (&["plan", "-", "--budget", "12 parsecs"][..], "unknown unit `parsecs`"),
        (&["plan", "-", "--strategy", "best"][..], "[possible values: auto, keep_all, "),
        (&["print", "-", "--stage", "last"][..], "[possible values: parsed, simplified, gradient, plan, kernel]"),
        (&["run", "-", "--random", "1", "--input", "1.0"][..], "cannot be used with"),
        (&["run", "-", "--output", "x.txt"][..], "the name must end in .npy or .npz"),
    ] {
        on(LOOP, arguments).fails_with(2, part);
    }
}

#[test]
fn help_names_commands_inputs_and_exit_codes() {
    let help = on("", &["--help"]).ok();
    for part in ["run", "grad", "check", "print", "plan", "ops", "all.npz:theta", "3  a check failed"] {
        assert!(help.contains(part), "{part}");
    }
    for command in ["run", "grad", "check", "print", "plan", "ops"] {
        assert!(on("", &[command, "--help"]).ok().contains("Usage: retrograd"), "{command}");
    }
    assert!(on("", &["--version"]).ok().starts_with("retrograd "));
}

#[test]
fn long_arrays_are_abbreviated_unless_asked_for() {
    let program = "fn main() -> f64[200] {\n  %0: f64[200] = iota {type=f64[200], axis=[0]}\n  return %0\n}\n";
    on(program, &["run", "-"]).says("f64[200] [0.0, 1.0, 2.0, …, 197.0, 198.0, 199.0]\n");
    assert_eq!(on(program, &["run", "-", "--full"]).ok().split(", ").count(), 200);
}

/// z' = √(z − 1), 5 times.
const ROOTS: &str = "\
fn main(%z: f64) -> f64 {
  %n: i64 = constant {value=5}
  %e: f64 = for %n carries(%z) {body=step}
  return %e
}
fn step(%i: i64, %z: f64) -> f64 {
  %1: f64 = constant {value=1.0}
  %d: f64 = sub %z, %1
  %r: f64 = sqrt %d
  return %r
}
";

#[test]
fn debug_nan_says_what_made_it() {
    assert!(on(ROOTS, &["run", "-", "--input", "f64 5.0"]).ok().starts_with("nan"));
    for command in ["run", "grad"] {
        let ran = on(ROOTS, &[command, "-", "--input", "f64 5.0", "--debug-nan"]);
        assert_eq!((ran.out.as_str(), ran.code), ("", 1));
        let expected = "not finite: `sqrt` made NaN of -1.0, in step i = 3 of the loop at <stdin>:3 (forward)";
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
    let plain = on(ROOTS, &["grad", "-", "--input", "f64 1e9"]).ok();
    on(ROOTS, &["grad", "-", "--input", "f64 1e9", "--debug-nan"]).says(&plain);
}

#[test]
fn back_ends_print_the_same_and_a_missing_one_is_an_error() {
    let inputs = ["--input", "f64[4] [0.1, 0.2, 0.3, 0.4]", "--input", "f64[4] [1.0, 2.0, 3.0, 4.0]"];
    let expected = on(LOOP, &[&["grad", "-"][..], &inputs].concat()).ok();
    let ran = on(LOOP, &[&["grad", "-", "--backend", "auto"][..], &inputs].concat());
    assert_eq!((ran.out.as_str(), ran.code), (expected.as_str(), 0));
    assert!(
        ran.err.starts_with("machine code by llvm ") || ran.err.starts_with("machine code by cranelift "),
        "{}",
        ran.err
    );
    let missing = on(LOOP, &[&["run", "-", "--backend", "llvm:/nowhere/libLLVM.so"][..], &inputs].concat());
    missing.fails_with(1, "/nowhere/libLLVM.so");
    on(LOOP, &["run", "-", "--backend", "gcc"]).fails_with(2, "no back end `gcc`");
}

#[test]
fn threads_do_not_change_what_is_printed() {
    let inputs = ["--input", "f64[4] [0.1, 0.2, 0.3, 0.4]", "--input", "f64[4] [1.0, 2.0, 3.0, 4.0]"];
    let expected = on(LOOP, &[&["grad", "-", "--threads", "1"][..], &inputs].concat()).ok();
    assert_eq!(on(LOOP, &[&["grad", "-", "--threads", "2"][..], &inputs].concat()).ok(), expected);
    on(LOOP, &["run", "-", "--threads", "0"]).fails_with(2, "--threads");
}
