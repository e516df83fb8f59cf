//! The golden files of the compiler.

use std::path::Path;

use retrograd_testing::golden;

fn main() {
    golden::run(golden::stages(), &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")).exit();
}
