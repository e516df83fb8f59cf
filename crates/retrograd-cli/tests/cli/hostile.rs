//! Inputs and options that no machine can serve are refused in words, with the exit code of a mistake.

use crate::support::{LOOP, retrograd, scratch};

/// A program over so many numbers.
fn sum(elements: &str) -> String {
    format!("fn main(%x: f64[{elements}]) -> f64 {{\n  %0: f64 = sum %x {{axes=[0]}}\n  return %0\n}}\n")
}

#[test]
fn inputs_that_no_machine_holds_are_refused() {
    let folder = scratch("hostile_inputs");
    for command in ["run", "grad", "check"] {
        retrograd(&folder, &[command, "-", "--random", "1"], &sum("1099511627776")).fails_with(1, "out of memory");
    }
    for elements in ["1099511627776,1099511627776", "18446744073709551615"] {
        retrograd(&folder, &["run", "-", "--random", "1"], &sum(elements)).fails_with(1, "error");
    }
    retrograd(&folder, &["run", "-", "--input", "f64[1099511627776] [1.0]"], &sum("1099511627776"))
        .fails_with(1, "error");
    retrograd(&folder, &["plan", "-"], &sum("0")).ok();
}

#[test]
fn every_option_refuses_hostile_values() {
    let folder = scratch("hostile_options");
    let huge = "1180591620717411303424";
    for threads in ["0", "-1", "1.5", "a", "4097", huge] {
        retrograd(&folder, &["grad", "-", "--random", "1", &format!("--threads={threads}")], LOOP)
            .fails_with(2, "from 1 to 4096 threads");
    }
    for budget in ["", "-1", "1e9", "NaN", "True", "5 parsecs", &format!("{huge} TB")] {
        retrograd(&folder, &["grad", "-", "--random", "1", &format!("--budget={budget}")], LOOP)
            .fails_with(2, "budget");
    }
    for backend in ["5", "", "gcc", "llvm:/nowhere/libLLVM.so"] {
        let ran = retrograd(&folder, &["grad", "-", "--random", "1", &format!("--backend={backend}")], LOOP);
        ran.fails_with(if backend.starts_with("llvm") { 1 } else { 2 }, "back");
    }
    for strategy in ["5", "", "periodic(0)"] {
        retrograd(&folder, &["grad", "-", "--random", "1", &format!("--strategy={strategy}")], LOOP)
            .fails_with(2, "strategy");
    }
    for wrt in ["-1", "7", "a", huge] {
        retrograd(&folder, &["grad", "-", "--random", "1", &format!("--wrt={wrt}")], LOOP).fails_with(1, "--wrt");
    }
    let spill = |arguments: &[&str]| {
        retrograd(&folder, &[&["grad", "-", "--random", "1", "--budget=2 kB"], arguments].concat(), LOOP)
    };
    spill(&["--spill=", "--spill-budget=1 MB"]).fails_with(2, "spill");
    spill(&["--spill=.", "--spill-budget=1 MB", "--spill-speed=0"]).fails_with(1, "0 bytes a second");
}
