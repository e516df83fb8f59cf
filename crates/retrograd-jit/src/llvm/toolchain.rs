//! The libLLVM of the Rust toolchain, if there is one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Its libraries, best first. What rustup's files say is there at once, where `rustc` would take as long as many
/// compilations of ours.
pub(super) fn libraries() -> Vec<PathBuf> {
    let noted = rustup_home().and_then(|home| {
        let named = std::env::var_os("RUSTUP_TOOLCHAIN");
        noted(&home, named.as_deref(), &std::env::current_dir().ok()?)
    });
    let there = noted.map(|root| libraries_of(&root)).unwrap_or_default();
    if there.is_empty() { asked().map(|root| libraries_of(&root)).unwrap_or_default() } else { there }
}

fn rustup_home() -> Option<PathBuf> {
    let home = || std::env::home_dir().map(|home| home.join(".rustup"));
    std::env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(home)
}

/// The toolchain that is named in the environment, or else the default one; `None` where something else decides, as a
/// file `rust-toolchain` beside or above a folder, or an override.
fn noted(home: &Path, named: Option<&OsStr>, folder: &Path) -> Option<PathBuf> {
    let toolchain = |name: &OsStr| Some(home.join("toolchains").join(name)).filter(|root| root.is_dir());
    if let Some(name) = named {
        return toolchain(name);
    }
    let settings = std::fs::read_to_string(home.join("settings.toml")).ok()?;
    let (settings, overrides) = settings.split_once("[overrides]").unwrap_or((&settings, ""));
    let told = |folder: &Path| ["rust-toolchain", "rust-toolchain.toml"].iter().any(|name| folder.join(name).exists());
    if overrides.lines().any(|line| line.contains('=')) || folder.ancestors().any(told) {
        return None;
    }
    let default = settings.lines().find_map(|line| line.strip_prefix("default_toolchain")?.trim().strip_prefix('='))?;
    toolchain(OsStr::new(default.trim().trim_matches('"')))
}

/// The toolchain that `rustc` belongs to.
fn asked() -> Option<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    Some(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

fn libraries_of(root: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(root.join("lib")).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let is_llvm = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libLLVM"));
    // `libLLVM.so.…` is the library; `libLLVM-….so` beside it may be a script for linkers.
    let mut paths: Vec<PathBuf> = entries.filter(is_llvm).collect();
    paths.sort_by_key(|path| (path.to_string_lossy().contains("libLLVM-"), path.clone()));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A home of rustup with two toolchains and these settings, and a folder beside it.
    fn home(name: &str, settings: &str) -> (PathBuf, PathBuf) {
        let root = std::env::temp_dir().join(format!("retrograd-{name}-{}", std::process::id()));
        let (home, folder) = (root.join("rustup"), root.join("work").join("inside"));
        let folders =
            [home.join("toolchains").join("stable-here"), home.join("toolchains").join("nightly-here"), folder.clone()];
        folders.iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
        std::fs::write(home.join("settings.toml"), settings).unwrap();
        (home, folder)
    }

    #[test]
    fn the_default_toolchain_is_read_from_the_settings() {
        let (home, folder) = home("default", "version = \"12\"\ndefault_toolchain = \"stable-here\"\n\n[overrides]\n");
        let stable = home.join("toolchains").join("stable-here");
        assert_eq!(noted(&home, None, &folder), Some(stable));
        let nightly = home.join("toolchains").join("nightly-here");
        assert_eq!(noted(&home, Some(OsStr::new("nightly-here")), &folder), Some(nightly));
        assert_eq!(noted(&home, Some(OsStr::new("beta")), &folder), None);
        std::fs::write(folder.parent().unwrap().join("rust-toolchain.toml"), "").unwrap();
        assert_eq!(noted(&home, None, &folder), None);
        std::fs::remove_dir_all(home.parent().unwrap()).unwrap();
    }

    #[test]
    fn an_override_or_a_toolchain_that_is_not_there_is_left_to_rustc() {
        for (name, settings) in [
            ("override", "default_toolchain = \"stable-here\"\n[overrides]\n\"/elsewhere\" = \"nightly-here\"\n"),
            ("gone", "default_toolchain = \"beta-here\"\n"),
            ("none", "version = \"12\"\n"),
        ] {
            let (home, folder) = home(name, settings);
            assert_eq!(noted(&home, None, &folder), None, "{name}");
            std::fs::remove_dir_all(home.parent().unwrap()).unwrap();
        }
    }

    #[test]
    fn rustup_and_rustc_name_the_same_toolchain() {
        let here = rustup_home().and_then(|home| noted(&home, None, &std::env::temp_dir()));
        let asked = Command::new("rustc")
            .args(["--print", "sysroot"])
            .current_dir(std::env::temp_dir())
            .env_remove("RUSTUP_TOOLCHAIN")
            .output();
        if let (Some(here), Ok(asked)) = (here, asked) {
            assert_eq!(here, PathBuf::from(String::from_utf8_lossy(&asked.stdout).trim()));
        }
    }
}
