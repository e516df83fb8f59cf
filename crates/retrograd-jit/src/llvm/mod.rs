//! The fast back end: LLVM, found when a program runs, given IR as text.

mod access;
mod arithmetic;
mod library;
mod lower;
mod machine;
mod recorded;
mod text;
mod vector;

use std::path::Path;

use retrograd_compiler::fuse::kernel::Kernel;

use crate::code::{Entry, Generator};
use crate::lower::Constants;
use library::Library;

/// A libLLVM that can be used.
pub(crate) struct Llvm {
    library: &'static Library,
}

impl Llvm {
    /// The library at a path, or else the first that is found; the error says what was looked for.
    pub(crate) fn find(path: Option<&Path>) -> Result<Llvm, String> {
        Ok(Llvm { library: Library::find(path)? })
    }
}

impl Generator for Llvm {
    fn name(&self) -> String {
        self.library.to_string()
    }

    fn generate(&self, kernel: &Kernel, constants: &Constants) -> (Entry, Box<dyn Send + Sync>) {
        let name = self.library.fresh_name();
        let loaded = self.library.load(&name, &lower::lower(kernel, constants, lanes(), &name));
        (loaded.entry, Box::new(loaded))
    }
}

/// Lanes of f64 in the widest vectors of this machine.
fn lanes() -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl") {
            return 8;
        }
        if is_x86_feature_detected!("avx2") {
            return 4;
        }
    }
    2
}
