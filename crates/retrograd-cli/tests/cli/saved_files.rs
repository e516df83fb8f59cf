//! Programs that are saved, and what runs say they took.

use std::fs;

use crate::support::{LOOP, retrograd, scratch};

#[test]
fn what_is_saved_runs_as_the_program_does() {
    let folder = scratch("saved_runs");
    retrograd(&folder, &["save", "-", "model.rgx", "--results"], LOOP).says("");
    let expected = retrograd(&folder, &["run", "-", "--random", "3"], LOOP).ok();
    retrograd(&folder, &["run", "model.rgx", "--random", "3"], "").says(&expected);
    retrograd(&folder, &["run", "model.rgx", "--random", "3", "--backend", "auto"], "").out_is(&expected);
}

#[test]
fn a_gradient_is_saved_with_its_budget() {
    let folder = scratch("saved_gradient");
    retrograd(&folder, &["save", "-", "model.rgx", "--wrt", "1", "--budget", "2 kB"], LOOP).says("");
    let found = retrograd(&folder, &["run", "model.rgx", "--random", "3"], "").ok();
    let expected = retrograd(&folder, &["grad", "-", "--wrt", "1", "--random", "3"], LOOP).ok();
    assert_eq!(found, expected.replace("value: ", "").replace("gradient_1: ", ""));
    retrograd(&folder, &["save", "-", "model.rgx", "--budget", "8"], LOOP).fails_with(1, "over budget");
}

#[test]
fn a_damaged_file_is_an_error() {
    let folder = scratch("saved_damaged");
    retrograd(&folder, &["save", "-", "model.rgx"], LOOP).says("");
    let mut bytes = fs::read(folder.join("model.rgx")).unwrap();
    bytes[100] ^= 1;
    fs::write(folder.join("model.rgx"), bytes).unwrap();
    let message = "error: argument error: model.rgx: the file is damaged: its checksum differs\n";
    retrograd(&folder, &["run", "model.rgx", "--random", "3"], "").fails(1, message);
}

#[test]
fn what_was_saved_is_not_interpreted_and_has_no_inputs_of_its_own() {
    let folder = scratch("saved_wrong");
    retrograd(&folder, &["save", "-", "model.rgx"], LOOP).says("");
    retrograd(&folder, &["run", "model.rgx", "--debug-nan"], "").fails_with(1, "give the program itself");
    retrograd(&folder, &["run", "model.rgx"], "").fails_with(1, "takes 2 inputs (f64[4], f64[4]), found 0");
}

#[test]
fn stats_say_what_the_compilation_and_the_run_took() {
    let folder = scratch("stats");
    let ran = retrograd(&folder, &["grad", "-", "--random", "3", "--stats"], LOOP);
    let plain = retrograd(&folder, &["grad", "-", "--random", "3"], LOOP).ok();
    assert_eq!((ran.out.as_str(), ran.code), (plain.as_str(), 0), "{}", ran.err);
    let [compilation, run] = ran.err.lines().collect::<Vec<_>>()[..] else { panic!("{}", ran.err) };
    for stage in ["compilation: opt ", ", diff ", ", freeze ", ", plan ", ", lower ", ", jit ", "; together "] {
        assert!(compilation.contains(stage), "{compilation}");
    }
    for part in ["run: ", ", peak ", " loop nests, ", " bytes read, ", " bytes written"] {
        assert!(run.contains(part), "{run}");
    }
}
