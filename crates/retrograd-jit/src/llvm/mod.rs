//! The fast back end: LLVM, found when a program runs, given IR as text.

mod access;
mod arithmetic;
mod extreme;
mod library;
mod lower;
mod machine;
mod text;
mod toolchain;
mod vector;

use std::path::Path;

use retrograd_compiler::lower::kernel::Kernel;

use crate::code::{Constants, Entry, Generator};
use library::Library;
use text::Fused;

/// A libLLVM that can be used.
pub(crate) struct Llvm {
    library: &'static Library,
    instructions: Instructions,
}

/// What the machine has that lowering depends on.
#[derive(Clone, Copy, Debug)]
struct Instructions {
    /// Lanes of f64 in the widest vectors.
    lanes: u32,
    fused: Fused,
}

impl Llvm {
    /// The library at a path, or else the first that is found; the error says what was looked for.
    pub(crate) fn find(path: Option<&Path>) -> Result<Llvm, String> {
        Ok(Llvm { library: Library::find(path)?, instructions: Instructions::of_host() })
    }
}

impl Generator for Llvm {
    fn name(&self) -> String {
        self.library.to_string()
    }

    fn generate(&self, kernel: &Kernel, constants: &Constants) -> (Entry, Box<dyn Send + Sync>) {
        let name = self.library.fresh_name();
        let loaded = self.library.load(&name, &lower::lower(kernel, constants, self.instructions, &name));
        (loaded.entry, Box::new(loaded))
    }
}

impl Instructions {
    #[cfg(target_arch = "x86_64")]
    fn of_host() -> Instructions {
        let wide = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        let lanes = match (wide, is_x86_feature_detected!("avx2")) {
            (true, _) => 8,
            (false, true) => 4,
            (false, false) => 2,
        };
        Instructions { lanes, fused: if is_x86_feature_detected!("fma") { Fused::Instruction } else { Fused::Call } }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of_host() -> Instructions {
        Instructions { lanes: 2, fused: Fused::Instruction }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancellation::Cancellation;
    use crate::code::code;
    use crate::cranelift::Cranelift;
    use retrograd_compiler::ir::{DType, LaneFunction, Reduction, Scalar};
    use retrograd_compiler::lower::kernel::{Address, Fold, Place, Reg, RegType, Stmt};

    /// `to[k] = exp(x[k])·atan(x[k]) + x[k]`, and the sum of these.
    fn chain(count: u64) -> Kernel {
        let [from, to, sum_to, index, x, e, a, y, sum] = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(Reg);
        let at = |base| Address { base, terms: vec![(index, 8)], offset: 0 };
        let compute = |dst, op, args: &[Reg]| Stmt::Let { dst, op, args: args.to_vec() };
        let body = vec![
            Stmt::Load { dst: x, from: at(from) },
            compute(e, Scalar::Call(LaneFunction::Exp), &[x]),
            compute(a, Scalar::Call(LaneFunction::Atan), &[x]),
            compute(y, Scalar::Fma, &[e, a, x]),
            Stmt::Store { to: at(to), src: y },
        ];
        let body = vec![
            Stmt::Pointer { dst: from, to: Place::Input(0) },
            Stmt::Pointer { dst: to, to: Place::Output(0) },
            Stmt::Pointer { dst: sum_to, to: Place::Output(1) },
            Stmt::ForVec { index, count, body, folds: vec![Fold { dst: sum, src: y, how: Reduction::Sum }] },
            Stmt::Store { to: Address { base: sum_to, terms: vec![], offset: 0 }, src: sum },
        ];
        let (pointer, float) = (RegType::Pointer, RegType::Scalar(DType::F64));
        let regs = vec![pointer, pointer, pointer, RegType::Scalar(DType::I64), float, float, float, float, float];
        Kernel { regs, body, ..Kernel::default() }
    }

    /// Results and their sum, as bits.
    fn run(generator: &dyn Generator, count: u64) -> Vec<u64> {
        let x: Vec<f64> = (0..count).map(|k| (k as f64 * 0.7).sin()).collect();
        let (mut y, mut sum) = (vec![0.0; x.len()], [0.0]);
        let (inputs, outputs) = ([x.as_ptr().cast::<u8>()], [y.as_mut_ptr().cast::<u8>(), sum.as_mut_ptr().cast()]);
        let (code, mut words) = (code(&chain(count), generator), [0; 4]);
        // SAFETY: the kernel has no arena, reads and writes so many elements, and one sum.
        unsafe {
            code.call(
                std::ptr::null_mut(),
                inputs.as_ptr(),
                outputs.as_ptr(),
                words.as_mut_ptr(),
                &Cancellation::never(),
            )
        };
        y.iter().chain(&sum).map(|y: &f64| y.to_bits()).collect()
    }

    #[test]
    fn every_width_gives_the_same_bits_with_and_without_fma() {
        let Ok(Llvm { library, .. }) = Llvm::find(None) else { return };
        for count in (0..=33).chain([4100]) {
            let expected = run(&Cranelift::new(), count);
            for lanes in [2, 4, 8] {
                for fused in [Fused::Instruction, Fused::Call] {
                    let llvm = Llvm { library, instructions: Instructions { lanes, fused } };
                    assert_eq!(run(&llvm, count), expected, "{count} steps, {lanes} lanes, {fused:?}");
                }
            }
        }
    }
}
