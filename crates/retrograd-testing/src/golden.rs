//! Golden files: `testdata/<stage>/<name>.rg`, with the expectation in the same file.
//!
//! ```text
//! // input: f64[2] [1.0, 2.0]
//! fn main(%0: f64[2]) -> f64 {
//!   %1: f64 = sum %0 {axes=[0]}
//!   return %1
//! }
//! // ---- expected
//! // 3.0
//! ```
//!
//! The folder names the [`Stage`], a function from the parsed Program to text. Lines `// name: text` before the
//! expectation are [`Directives`] that a stage may read. A stage's error, and that of parsing, is expected as `error:
//! …`. `BLESS=1 cargo test` writes what was found into the files; read the diff before you commit it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Conclusion, Failed, Trial};
use retrograd_compiler::ir::{Error, Program};
use retrograd_compiler::ops;

/// Runs one stage on a parsed, unverified Program; what it returns is compared with the expectation.
pub type Stage = fn(&Program, &Directives) -> Result<String, Error>;

/// The stages of the compiler, by the folder of their files.
pub fn stages() -> &'static [(&'static str, Stage)] {
    crate::stages::STAGES
}

/// Lines `// name: text` of a golden file.
#[derive(Clone, Debug, Default)]
pub struct Directives(Vec<(String, String)>);

impl Directives {
    /// Those before the expectation of a text.
    ///
    /// ```
    /// use retrograd_testing::golden::Directives;
    /// let directives = Directives::of("// input: 1.5\n// input: 3\nfn main() {}\n");
    /// assert_eq!(directives.all("input").collect::<Vec<_>>(), ["1.5", "3"]);
    /// assert_eq!(directives.all("budget").next(), None);
    /// ```
    pub fn of(text: &str) -> Directives {
        let directive = |line: &str| {
            let (name, value) = line.strip_prefix("// ")?.split_once(": ")?;
            name.chars().all(|c| c.is_ascii_lowercase()).then(|| (name.to_string(), value.trim().to_string()))
        };
        Directives(source(text).lines().filter_map(directive).collect())
    }

    /// The texts of that name, in order.
    pub fn all<'d>(&'d self, name: &str) -> impl Iterator<Item = &'d str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, text)| text.as_str())
    }
}

/// Runs the files of every stage under `dir`, one test per file, with the command line of `cargo test`. A folder with
/// golden files that no stage names is a failure.
///
/// ```no_run
/// use retrograd_testing::golden;
/// golden::run(golden::stages(), "testdata".as_ref()).exit();
/// ```
pub fn run(stages: &[(&str, Stage)], dir: &Path) -> Conclusion {
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let mode = if bless { Mode::Bless } else { Mode::Compare };
    let trials = match files(dir) {
        Err(error) => vec![Trial::test("golden files", move || Err(Failed::from(error)))],
        Ok(files) => files.into_iter().map(|(folder, path)| trial(stages, mode, &folder, path)).collect(),
    };
    libtest_mimic::run(&Arguments::from_args(), trials)
}

/// All golden files under a folder of stages, as (name of the stage, path), in order.
pub fn files(dir: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for folder in sorted(dir)?.into_iter().filter(|path| path.is_dir()) {
        let stage = folder.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let files =
            sorted(&folder)?.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rg"));
        found.extend(files.map(|path| (stage.clone(), path)));
    }
    Ok(found)
}

/// The line between a Program and what is expected of it.
const EXPECTED: &str = "// ---- expected";

#[derive(Clone, Copy)]
enum Mode {
    Compare,
    Bless,
}

fn sorted(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn trial(stages: &[(&str, Stage)], mode: Mode, folder: &str, path: PathBuf) -> Trial {
    let file = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let stage = stages.iter().find(|(name, _)| *name == folder).map(|(_, stage)| *stage);
    let missing = format!("there is no stage `{folder}`");
    Trial::test(format!("{folder}/{file}"), move || check(stage.ok_or(missing)?, mode, &file, &path))
}

fn check(stage: Stage, mode: Mode, file: &str, path: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let directives = Directives::of(&text);
    let output = match ops::parse(source(&text), file).and_then(|program| stage(&program, &directives)) {
        Ok(output) => output,
        Err(error) => format!("error: {error}"),
    };
    let found = format!("{}{EXPECTED}\n{}", source(&text), commented(&output));
    match mode {
        Mode::Compare if found == text => Ok(()),
        Mode::Compare => Err(difference(&text, &found).into()),
        Mode::Bless => Ok(fs::write(path, found)?),
    }
}

/// The text before the expectation.
fn source(text: &str) -> &str {
    &text[..text.find(EXPECTED).unwrap_or(text.len())]
}

fn commented(output: &str) -> String {
    output.lines().map(|line| format!("// {line}").trim_end().to_string() + "\n").collect()
}

/// The first line that differs, and all that was found.
fn difference(expected: &str, found: &str) -> String {
    let (mut old, mut new) = (expected.lines(), found.lines());
    let mut number = 1;
    loop {
        match (old.next(), new.next()) {
            (None, None) => return "line ends differ; BLESS=1 rewrites".into(),
            (a, b) if a == b => number += 1,
            (a, b) => {
                let line = |line: Option<&str>| line.unwrap_or("(nothing)").to_string();
                return format!(
                    "line {number}\nexpected: {}\n   found: {}\n\nall that was found:\n{found}\nBLESS=1 rewrites",
                    line(a),
                    line(b)
                );
            }
        }
    }
}
