//! Every row of the op table passes its automatic tests.

use retrograd_compiler::ops;
use retrograd_testing::{check_row, check_row_native};

#[test]
fn every_row_has_right_derivatives() {
    let failures: Vec<String> = ops::rows().filter_map(|row| check_row(row).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_row_runs_as_machine_code() {
    let failures: Vec<String> = ops::rows().filter_map(|row| check_row_native(row).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
