//! Vector loops in vectors of 512 bits, where the machine has them: Cranelift has none but those of 128.
//!
//! A loop whose statements all have a form here, functions like `exp` in line, is a function of its own, which we write
//! ourselves: the memory that it works in, its first step, and the one after its last. Before a call, that memory gets
//! the addresses and numbers that the loop reads from outside; after it, the results of its reductions are there. A
//! call is a whole chunk of an ordered reduction.

mod acts;
mod body;
mod encode;
mod folds;
mod lanes;
mod registers;
mod table;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_module::{FuncId, Module};
use retrograd_compiler::ir::Reduction;

use super::arithmetic::Width;
use super::vector::{CHUNK, LONGEST, VecLoop, every};
use super::{FLAGS, Lower};
use body::{result_at, words_at, written};

/// Fewest steps of a loop that is worth a call; fewer where functions would be called otherwise.
const LEAST: u64 = LONGEST;
const LEAST_IN_LINE: u64 = 4;

/// Whether this machine has the instructions.
pub(super) fn is_there() -> bool {
    #[cfg(target_arch = "x86_64")]
    let there = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    #[cfg(not(target_arch = "x86_64"))]
    let there = false;
    there
}

/// The function of a loop.
pub(super) struct Wide {
    function: FuncId,
    words: Vec<Value>,
    bytes: u64,
}

/// The function of a loop, if it is worth one and every statement has a form.
pub(super) fn function(lower: &mut Lower<'_, '_>, vec_loop: &VecLoop<'_>) -> Option<Wide> {
    let least = if vec_loop.has_calls() { LEAST_IN_LINE } else { LEAST };
    if !lower.wide || vec_loop.count < least {
        return None;
    }
    let written = written(lower, vec_loop)?;
    let signature =
        Signature { params: vec![AbiParam::new(types::I64); 3], returns: vec![], call_conv: CallConv::SystemV };
    let function = lower.module.declare_anonymous_function(&signature).expect("a function without a name");
    lower.module.define_function_bytes(function, 64, &written.code, &[]).expect("memory for machine code");
    Some(Wide { function, words: written.words, bytes: written.bytes })
}

impl Wide {
    /// All steps, and what they give.
    pub(super) fn emit(&self, lower: &mut Lower<'_, '_>, vec_loop: &VecLoop<'_>) {
        let scratch = lower.scratch_for_strips(self.bytes);
        for (&word, at) in self.words.iter().zip((words_at(vec_loop.folds.len())..).step_by(8)) {
            lower.builder.ins().store(FLAGS, word, scratch, at);
        }
        let (start, end) = (lower.integer(0), lower.integer(vec_loop.count.cast_signed()));
        if !vec_loop.ordered || vec_loop.count <= CHUNK {
            return self.call(lower, vec_loop, [scratch, start, end]);
        }
        every(lower, start, end, CHUNK, |lower, from| {
            let to = lower.builder.ins().iadd_imm_s(from, CHUNK.cast_signed());
            let to = lower.builder.ins().smin(to, end);
            self.call(lower, vec_loop, [scratch, from, to]);
        });
    }

    /// Calls the function, and combines its results with the totals.
    fn call(&self, lower: &mut Lower<'_, '_>, vec_loop: &VecLoop<'_>, args: [Value; 3]) {
        let function = lower.module.declare_func_in_func(self.function, lower.builder.func);
        // As every function, it has memory of its own.
        lower.builder.func.dfg.ext_funcs[function].colocated = false;
        lower.builder.ins().call(function, &args);
        for (fold, (reduction, &total)) in vec_loop.folds.iter().zip(&vec_loop.totals).enumerate() {
            let ty = lower.dtype(reduction.src);
            let result = lower.load_one(ty, args[0], result_at(fold));
            let result = match reduction.how {
                Reduction::Any => lower.builder.ins().icmp_imm_u(IntCC::NotEqual, result, 0),
                Reduction::All => lower.builder.ins().icmp_imm_u(IntCC::Equal, result, 0xff),
                Reduction::Sum | Reduction::Prod | Reduction::Max | Reduction::Min => result,
            };
            let old = lower.builder.use_var(total);
            let new = lower.compute(Width::One, reduction.how.scalar(), ty, &[old, result]);
            lower.builder.def_var(total, new);
        }
    }
}
