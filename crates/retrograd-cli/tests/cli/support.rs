//! The command as a user runs it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// c' = c + tanh(c w), 20 times; then the sum of squares.
pub(crate) const LOOP: &str = "\
fn main(%c: f64[4], %w: f64[4]) -> f64 {
  %n: i64 = constant {value=20}
  %e: f64[4] = for %n carries(%c) invariants(%w) {body=step}
  %s: f64[4] = mul %e, %e
  %y: f64 = sum %s {axes=[0]}
  return %y
}
fn step(%i: i64, %c: f64[4], %w: f64[4]) -> f64[4] {
  %p: f64[4] = mul %c, %w
  %t: f64[4] = tanh %p
  %q: f64[4] = add %c, %t
  return %q
}
";

/// What a run of the command gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

/// Runs `retrograd` with arguments in a folder, and this on standard input.
pub(crate) fn retrograd(folder: &Path, arguments: &[&str], input: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrograd"));
    command.args(arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    // A command that fails before it reads its input closes the pipe.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("the command ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the command writes UTF-8");
    Ran {
        out: text(output.stdout),
        err: text(output.stderr),
        code: output.status.code().expect("the command exits by itself"),
    }
}

/// The folder of golden files.
pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// An empty folder for one test.
pub(crate) fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("an old folder can go");
    }
    fs::create_dir_all(&folder).expect("a new folder can be made");
    folder
}

impl Ran {
    /// It went well, said this, and nothing else.
    #[track_caller]
    pub(crate) fn says(&self, out: &str) {
        assert_eq!((self.out.as_str(), self.err.as_str(), self.code), (out, "", 0));
    }

    /// It went well and said this; it may have noted something.
    #[track_caller]
    pub(crate) fn out_is(&self, out: &str) {
        assert_eq!((self.out.as_str(), self.code), (out, 0), "{}", self.err);
    }

    /// It went well; what it said.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!((self.err.as_str(), self.code), ("", 0), "{}", self.out);
        self.out
    }

    /// It failed with this code and this message, and said nothing else.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, err: &str) {
        assert_eq!((self.out.as_str(), self.err.as_str(), self.code), ("", err, code));
    }

    /// It failed with this code and a message that has this in it.
    #[track_caller]
    pub(crate) fn fails_with(&self, code: i32, part: &str) {
        assert_eq!((self.out.as_str(), self.code), ("", code), "{}", self.err);
        assert!(self.err.contains(part), "`{part}` is not in: {}", self.err);
    }
}
