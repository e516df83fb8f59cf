//! Every row of the op table passes its automatic tests.

use retrograd_compiler::ops;
use retrograd_testing::{check_row, check_row_at_special_points, check_row_native};

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

#[test]
fn every_row_is_right_at_special_points() {
    let outcomes: Vec<_> = ops::rows().map(|row| (row, check_row_at_special_points(row))).collect();
    let failures: Vec<&String> = outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().err()).collect();
    assert!(failures.is_empty(), "{}", failures.iter().map(|error| error.as_str()).collect::<Vec<_>>().join("\n"));
    // A test that judges nothing says nothing.
    let judged: usize = outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().ok()).sum();
    assert!(judged > 1000, "{judged}");
}
