//! Who makes machine code.

use std::path::PathBuf;
use std::str::FromStr;

use retrograd_compiler::ir::{Error, ErrorKind, Pos};
use retrograd_compiler::plan::SimdTarget;

use crate::cranelift::Cranelift;
use crate::llvm::Llvm;

/// A back end; all give the same bits.
///
/// ```
/// use retrograd_jit::Backend;
/// assert_eq!("cranelift".parse::<Backend>()?, Backend::Cranelift);
/// assert_eq!("llvm:/opt/libLLVM.so".parse::<Backend>()?, Backend::Llvm { path: Some("/opt/libLLVM.so".into()) });
/// assert_eq!("cranelift:narrow".parse::<Backend>()?, Backend::Narrow);
/// assert!("gcc".parse::<Backend>().is_err());
/// # Ok::<(), retrograd_compiler::ir::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// Part of Retrograd: nothing to install, compiles fastest.
    #[default]
    Cranelift,
    /// The same with Cranelift's own vectors of 128 bits alone, as on machines that have none of 512: to compare, and
    /// to test here what runs there.
    Narrow,
    /// A libLLVM found when the program runs; its code is faster, and takes longer to make. It is an error when there
    /// is none.
    Llvm {
        /// The library; without it that of the Rust toolchain is taken, or else that of the system.
        path: Option<PathBuf>,
    },
    /// LLVM where a library is found, else Cranelift.
    Auto,
}

impl Backend {
    /// The vectors that its code is made of, by which a plan is priced.
    pub fn vectors(&self) -> SimdTarget {
        match self {
            Backend::Cranelift => Cranelift::vectors(),
            Backend::Narrow => SimdTarget::Bits128,
            Backend::Llvm { .. } => SimdTarget::Widest,
            Backend::Auto if Llvm::find(None).is_ok() => SimdTarget::Widest,
            Backend::Auto => Cranelift::vectors(),
        }
    }
}

impl FromStr for Backend {
    type Err = Error;

    fn from_str(text: &str) -> Result<Backend, Error> {
        match text {
            "cranelift" => Ok(Backend::Cranelift),
            "cranelift:narrow" => Ok(Backend::Narrow),
            "llvm" => Ok(Backend::Llvm { path: None }),
            "auto" => Ok(Backend::Auto),
            text => match text.strip_prefix("llvm:") {
                Some(path) if !path.is_empty() => Ok(Backend::Llvm { path: Some(path.into()) }),
                _ => {
                    let message = format!(
                        "no back end `{text}`; there are cranelift, cranelift:narrow, llvm, llvm:PATH and auto"
                    );
                    Err(Error::new(ErrorKind::Argument, Pos::unknown(), message))
                }
            },
        }
    }
}
