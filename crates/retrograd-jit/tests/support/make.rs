//! A short way to write kernels.

use retrograd_compiler::ir::{DType, LaneFunction, Reduction, Scalar};
use retrograd_compiler::lower::kernel::{Address, Fold, Kernel, Order, Place, Reg, RegType, Stmt};

/// From one float to one.
pub const UNARY: [Scalar; 32] = [
    Scalar::Neg,
    Scalar::Abs,
    Scalar::Sign,
    Scalar::Sqrt,
    Scalar::Floor,
    Scalar::Ceil,
    Scalar::Round,
    Scalar::Trunc,
    Scalar::Call(LaneFunction::Exp),
    Scalar::Call(LaneFunction::Exp2),
    Scalar::Call(LaneFunction::Expm1),
    Scalar::Call(LaneFunction::Logistic),
    Scalar::Call(LaneFunction::Log),
    Scalar::Call(LaneFunction::Log2),
    Scalar::Call(LaneFunction::Log10),
    Scalar::Call(LaneFunction::Log1p),
    Scalar::Call(LaneFunction::Sin),
    Scalar::Call(LaneFunction::Cos),
    Scalar::Call(LaneFunction::Tan),
    Scalar::Call(LaneFunction::Asin),
    Scalar::Call(LaneFunction::Acos),
    Scalar::Call(LaneFunction::Atan),
    Scalar::Call(LaneFunction::Sinh),
    Scalar::Call(LaneFunction::Cosh),
    Scalar::Call(LaneFunction::Tanh),
    Scalar::Call(LaneFunction::Asinh),
    Scalar::Call(LaneFunction::Acosh),
    Scalar::Call(LaneFunction::Atanh),
    Scalar::Call(LaneFunction::Cbrt),
    Scalar::Call(LaneFunction::Rsqrt),
    Scalar::Call(LaneFunction::Erf),
    Scalar::Call(LaneFunction::Erfc),
];

/// From two floats to one, besides `+ - * /`.
pub const BINARY: [Scalar; 9] = [
    Scalar::Min,
    Scalar::Max,
    Scalar::CopySign,
    Scalar::Call(LaneFunction::Atan2),
    Scalar::Call(LaneFunction::Pow),
    Scalar::Call(LaneFunction::Hypot),
    Scalar::Call(LaneFunction::Rem),
    Scalar::Call(LaneFunction::LogAddExp),
    Scalar::Call(LaneFunction::LogAddExp2),
];

/// A kernel being written; statements go to the innermost open body.
pub struct Make {
    pub kernel: Kernel,
    open: Vec<Vec<Stmt>>,
}

impl Make {
    pub fn new(arena_bytes: usize) -> Make {
        Make { kernel: Kernel { arena_bytes, ..Kernel::default() }, open: vec![Vec::new()] }
    }

    pub fn finish(mut self) -> Kernel {
        self.kernel.body = self.open.pop().unwrap();
        assert!(self.open.is_empty());
        self.kernel
    }

    pub fn push(&mut self, stmt: Stmt) {
        self.open.last_mut().unwrap().push(stmt);
    }

    pub fn reg(&mut self, ty: DType) -> Reg {
        self.kernel.regs.push(RegType::Scalar(ty));
        Reg(self.kernel.regs.len() as u32 - 1)
    }

    pub fn ty(&self, reg: Reg) -> DType {
        let RegType::Scalar(ty) = self.kernel.regs[reg.0 as usize] else { panic!("a number") };
        ty
    }

    pub fn pointer(&mut self, to: Place) -> Reg {
        self.kernel.regs.push(RegType::Pointer);
        let dst = Reg(self.kernel.regs.len() as u32 - 1);
        self.push(Stmt::Pointer { dst, to });
        dst
    }

    pub fn float(&mut self, x: f64) -> Reg {
        self.literal(DType::F64, x.to_bits())
    }

    pub fn int(&mut self, x: i64) -> Reg {
        self.literal(DType::I64, x.cast_unsigned())
    }

    pub fn literal(&mut self, ty: DType, bits: u64) -> Reg {
        let dst = self.reg(ty);
        self.push(Stmt::Literal { dst, bits });
        dst
    }

    pub fn op(&mut self, op: Scalar, args: &[Reg]) -> Reg {
        let ty = match op {
            Scalar::Lt | Scalar::Le | Scalar::Gt | Scalar::Ge | Scalar::Eq | Scalar::Ne => DType::Bool,
            Scalar::IsNan | Scalar::IsFinite => DType::Bool,
            Scalar::Convert(to) => to,
            _ => self.ty(args[args.len() - 1]),
        };
        let dst = self.reg(ty);
        self.push(Stmt::Let { dst, op, args: args.to_vec() });
        dst
    }

    /// `dst = op(args)` for a register that exists.
    pub fn assign(&mut self, dst: Reg, op: Scalar, args: &[Reg]) {
        self.push(Stmt::Let { dst, op, args: args.to_vec() });
    }

    pub fn load(&mut self, ty: DType, from: Address) -> Reg {
        let dst = self.reg(ty);
        self.push(Stmt::Load { dst, from });
        dst
    }

    pub fn store(&mut self, to: Address, src: Reg) {
        self.push(Stmt::Store { to, src });
    }

    fn body(&mut self, write: impl FnOnce(&mut Make)) -> Vec<Stmt> {
        self.open.push(Vec::new());
        write(self);
        self.open.pop().unwrap()
    }

    pub fn for_loop(&mut self, from: Reg, to: Reg, order: Order, write: impl FnOnce(&mut Make, Reg)) {
        let index = self.reg(DType::I64);
        let body = self.body(|make| write(make, index));
        self.push(Stmt::For { index, from, to, order, body });
    }

    /// A vector loop; what `write` returns is summed, and the sums come back.
    pub fn for_vec(&mut self, count: u64, write: impl FnOnce(&mut Make, Reg) -> Vec<Reg>) -> Vec<Reg> {
        self.for_vec_folds(count, |make, index| {
            write(make, index).into_iter().map(|src| (src, Reduction::Sum)).collect()
        })
    }

    /// A vector loop; what `write` returns is reduced, and the results come back.
    pub fn for_vec_folds(
        &mut self,
        count: u64,
        write: impl FnOnce(&mut Make, Reg) -> Vec<(Reg, Reduction)>,
    ) -> Vec<Reg> {
        let index = self.reg(DType::I64);
        let mut reduced = Vec::new();
        let body = self.body(|make| reduced = write(make, index));
        let folds: Vec<Fold> =
            reduced.into_iter().map(|(src, how)| Fold { dst: self.reg(self.ty(src)), src, how }).collect();
        let results = folds.iter().map(|fold| fold.dst).collect();
        self.push(Stmt::ForVec { index, count, body, folds });
        results
    }

    pub fn branch(&mut self, cond: Reg, then: impl FnOnce(&mut Make), otherwise: impl FnOnce(&mut Make)) {
        let (then_body, else_body) = (self.body(then), self.body(otherwise));
        self.push(Stmt::If { cond, then_body, else_body });
    }

    pub fn endless(&mut self, write: impl FnOnce(&mut Make)) {
        let body = self.body(write);
        self.push(Stmt::Loop { body });
    }
}

/// `base + offset`.
pub fn at(base: Reg, offset: i64) -> Address {
    Address { base, terms: vec![], offset }
}

/// `base + index·stride`.
pub fn along(base: Reg, index: Reg, stride: i64) -> Address {
    Address { base, terms: vec![(index, stride)], offset: 0 }
}
