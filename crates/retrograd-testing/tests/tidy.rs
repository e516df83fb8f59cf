//! The repository keeps its own rules: who may use whom, what the compiler must not touch, names, sizes, paths.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the compiler from left to right; each uses only those before it.
const LINE: [&str; 7] = ["ir", "ops", "eval", "opt", "diff", "plan", "lower"];

/// Stages of `plan` in their order; each uses only those before it.
const STAGES: [&str; 7] = ["analysis", "decision", "transform", "memory", "search", "explain", "decided"];

/// Crates that may hold `unsafe`.
const UNSAFE: [&str; 2] = ["retrograd-jit", "retrograd-python"];

/// What would make the compiler depend on more than its input.
const IMPURE: [&str; 10] = [
    "std::env",
    "std::time",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "std::thread",
    "HashMap",
    "HashSet",
    "println!",
];

/// Names that say nothing, and words that mean too much here.
const WORDS: [&str; 15] = [
    "util",
    "utils",
    "helper",
    "helpers",
    "common",
    "core",
    "macros",
    "manager",
    "misc",
    "base",
    "graph",
    "node",
    "tensor",
    "checkpoint",
    "shared",
];

const LINES: usize = 1000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// Files under a folder, in order; what is built or hidden is left out.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(dir).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let name = |path: &Path| path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    paths.retain(|path| !name(path).starts_with('.') && name(path) != "target" && name(path) != "__pycache__");
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Files with one of these endings: path from the root, and text.
fn sources(folder: &str, endings: &[&str]) -> Vec<(String, String)> {
    let root = root();
    let read = |path: PathBuf| {
        let ending = path.extension()?.to_string_lossy().into_owned();
        let name = path.strip_prefix(&root).ok()?.to_string_lossy().replace('\\', "/");
        endings.contains(&ending.as_str()).then(|| (name, fs::read_to_string(&path).unwrap_or_default()))
    };
    files(&root.join(folder)).into_iter().filter_map(read).collect()
}

/// Lines of code with their numbers, comments cut off.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(k, line)| (k + 1, line.split("//").next().unwrap_or_default()))
}

/// Top-level names that a line takes from its crate: `crate::x` and `crate::{x, y}`.
fn used(line: &str) -> Vec<&str> {
    let end = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    line.split("crate::")
        .skip(1)
        .flat_map(|rest| match rest.strip_prefix('{') {
            Some(list) => list.split(',').map(str::trim).map(|part| &part[..end(part)]).collect(),
            None => vec![&rest[..end(rest)]],
        })
        .collect()
}

fn report(rule: &str, broken: Vec<String>) {
    assert!(broken.is_empty(), "{rule}:\n{}", broken.join("\n"));
}

#[test]
fn modules_of_the_compiler_use_only_those_to_their_left() {
    assert_eq!(used("use crate::{ir, plan::place}; crate::ops::ADD"), ["ir", "plan", "ops"], "uses are found");
    let mut broken = vec![];
    for (position, module) in LINE.iter().enumerate() {
        let folder = format!("crates/retrograd-compiler/src/{module}");
        let sources = sources(&folder, &["rs"]);
        assert!(!sources.is_empty(), "{folder} has sources");
        for (path, text) in sources {
            for (number, line) in code(&text) {
                let right =
                    |name: &&str| LINE.iter().position(|other| other == name).is_some_and(|other| other > position);
                broken.extend(used(line).into_iter().filter(right).map(|name| format!("{path}:{number} uses {name}")));
            }
        }
    }
    report("data goes one way", broken);
}

/// What a line takes from `plan`, by its first name there.
fn taken(line: &str) -> Option<&str> {
    let rest = line.split("crate::plan::").nth(1)?;
    Some(&rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())])
}

#[test]
fn stages_of_plan_use_only_those_before_them() {
    assert_eq!(taken("use crate::plan::memory::{Node, Val};"), Some("memory"), "uses are found");
    assert_eq!(taken("use crate::plan::Decision;"), Some("Decision"), "what has no stage is found");
    let mut broken = vec![];
    for (path, text) in sources("crates/retrograd-compiler/src/plan", &["rs"]) {
        let inside = path.split("src/plan/").nth(1).unwrap_or_default();
        let stage = inside.split(['/', '.']).next().unwrap_or_default();
        let Some(position) = STAGES.iter().position(|name| *name == stage) else {
            assert_eq!(inside, "mod.rs", "a stage for every file");
            continue;
        };
        let is_top = inside.ends_with("/mod.rs") && inside.matches('/').count() == 1 || !inside.contains('/');
        for (number, line) in code(&text) {
            let before = |name: &str| STAGES[..=position].contains(&name);
            if taken(line).is_some_and(|name| !before(name)) || is_top && line.contains("use super::") && number < 60 {
                broken.push(format!("{path}:{number} {}", line.trim()));
            }
        }
    }
    report("a plan is made in stages", broken);
}

#[test]
fn unsafe_is_where_machine_code_and_python_are() {
    let allowed = |path: &str| UNSAFE.iter().any(|name| path.starts_with(&format!("crates/{name}/")));
    let mut broken = vec![];
    for (path, text) in
        sources("crates", &["rs"]).into_iter().filter(|(path, _)| !allowed(path) && !path.ends_with("tests/tidy.rs"))
    {
        // Text that is printed is no code.
        let outside_of_text = |line: &str| line.replace("\\\"", "").split('"').step_by(2).collect::<String>();
        let holds = |line: &str| line.contains("unsafe ") || line.contains("unsafe{");
        let lines = code(&text).filter(|(_, line)| holds(&outside_of_text(line)));
        broken.extend(lines.map(|(number, line)| format!("{path}:{number} {}", line.trim())));
    }
    report("unsafe is a proof, and needs few places", broken);
}

#[test]
fn the_compiler_is_pure() {
    let mut broken = vec![];
    for (path, text) in sources("crates/retrograd-compiler/src", &["rs"]) {
        for (number, line) in code(&text) {
            broken.extend(
                IMPURE.iter().filter(|word| line.contains(**word)).map(|word| format!("{path}:{number} uses {word}")),
            );
        }
    }
    report("same input, same bytes", broken);
}

#[test]
fn names_say_what_is_inside() {
    let mut broken = vec![];
    for (path, _) in sources("crates", &["rs"]).into_iter().chain(sources("python", &["py"])) {
        let words = path.split(['/', '.', '-']).any(|part| WORDS.contains(&part));
        if words {
            broken.push(path);
        }
    }
    report("one word per idea", broken);
}

#[test]
fn every_crate_has_the_lints_of_the_workspace() {
    let manifests: Vec<_> =
        sources("crates", &["toml"]).into_iter().filter(|(path, _)| path.ends_with("/Cargo.toml")).collect();
    assert!(manifests.len() > 3, "crates have manifests");
    let without = manifests.into_iter().filter(|(_, text)| !text.contains("[lints]\nworkspace = true"));
    report("lints are shared", without.map(|(path, _)| path).collect());
}

#[test]
fn files_hold_one_thing() {
    let all = sources("", &["rs", "py"]);
    let long = all.into_iter().map(|(path, text)| (path, text.lines().count())).filter(|(_, lines)| *lines > LINES);
    report("a file fits a head", long.map(|(path, lines)| format!("{path} has {lines} lines")).collect());
}

#[test]
fn nothing_knows_the_machine_it_was_written_on() {
    let folders = ["home", "root", "Users", "work", "tmp/wt"].map(|name| format!("/{name}/"));
    let mut broken = vec![];
    for (path, text) in sources("", &["rs", "py", "md", "toml", "rg", "sh", "lock"]) {
        for (number, line) in text.lines().enumerate() {
            let found = folders.iter().filter(|folder| line.contains(folder.as_str()));
            broken.extend(found.map(|folder| format!("{path}:{} names {folder}", number + 1)));
        }
    }
    report("paths start from the repository", broken);
}

/// A file of integration tests that nobody lists would never run.
#[test]
fn every_file_of_tests_runs() {
    let unlisted = sources("crates", &["rs"]).into_iter().filter_map(|(path, _)| {
        let (folder, name) = path.rsplit_once('/')?;
        let (name, all) = (name.strip_suffix(".rs")?, root().join(folder).join("all.rs"));
        let manifest = root().join(folder).join("../Cargo.toml");
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let listed =
            read(&all).contains(&format!("mod {name};\n")) || read(&manifest).contains(&format!("name = \"{name}\""));
        let integration = folder.ends_with("/tests") && !folder.contains("/src/");
        (integration && !listed).then_some(path)
    });
    assert_eq!(unlisted.collect::<Vec<_>>(), Vec::<String>::new(), "tests/all.rs lists the files of integration tests");
}
