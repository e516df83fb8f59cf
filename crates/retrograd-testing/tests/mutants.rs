//! The mutants of `mutants/` still apply, each to one place, and the record knows all of them and no survivor.

use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../mutants")
}

/// Name and text of every patch.
fn patches() -> Vec<(String, String)> {
    let entries = fs::read_dir(folder().join("patches")).expect("there are patches");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
    paths.sort();
    let name = |path: &Path| path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).expect("a patch is text"))).collect()
}

/// The file of a patch, and per hunk the lines that it replaces.
fn replaced(patch: &str) -> (&str, Vec<String>) {
    let file = patch.lines().find_map(|line| line.strip_prefix("--- a/")).expect("a patch names its file");
    let hunks = patch.split("\n@@ ").skip(1).map(|hunk| {
        let old = hunk.lines().skip(1).filter(|line| !line.starts_with('+'));
        old.map(|line| format!("{}\n", line.get(1..).unwrap_or_default())).collect()
    });
    (file, hunks.collect())
}

#[test]
#[ignore = "mutants are for `./test --all`"]
fn every_mutant_applies_to_the_tree() {
    let mut stale = vec![];
    for (name, patch) in patches() {
        let (file, hunks) = replaced(&patch);
        assert!(!hunks.is_empty() && patch.contains("\nTests: "), "{name} says what it changes and which tests notice");
        let text = fs::read_to_string(folder().join("..").join(file)).unwrap_or_default();
        stale.extend(
            hunks.iter().filter(|hunk| text.matches(hunk.as_str()).count() != 1).map(|_| format!("{name}: {file}")),
        );
    }
    assert!(
        stale.is_empty(),
        "these mutants no longer fit; make them anew and run `mutants/run` on them:\n{}",
        stale.join("\n")
    );
}

#[test]
#[ignore = "mutants are for `./test --all`"]
fn every_mutant_was_caught() {
    let record = fs::read_to_string(folder().join("RECORD.md")).expect("there is a record");
    let rows: Vec<&str> = record.lines().filter(|line| line.starts_with("| `")).collect();
    let names: Vec<String> = patches().into_iter().map(|(name, _)| name).collect();
    assert!(names.len() >= 24, "there are mutants of rules, walkers, passes, plans and loops");
    for name in &names {
        let row = rows.iter().find(|row| row.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("`mutants/run {name}` was not recorded"));
        assert!(!row.contains("**nothing**"), "a survivor means that a test is missing: {row}");
    }
    assert_eq!(rows.len(), names.len(), "the record is of these mutants");
}
