//! Instructions that were traced within a scope, to be given derivatives of their own.

use retrograd_compiler::ir::{Attrs, CallOp, Inst, Op, OpDef, Pos, Type};

use super::{TracedFunction, TracedRule, Tracer};

/// A moment of a trace, in the innermost open body.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    frame: u32,
    insts: usize,
    functions: usize,
}

/// An instruction of the op table that was traced after some moment.
#[derive(Clone, Debug)]
pub struct Site {
    place: Place,
    /// Its attributes.
    pub attrs: Attrs,
    /// Types of its arguments.
    pub types: Vec<Type>,
    /// The user's line.
    pub pos: Pos,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    /// In the innermost open body.
    Open { inst: usize },
    /// In a body that is closed.
    Closed { function: usize, inst: usize },
}

impl Tracer {
    /// This moment.
    pub fn moment(&self) -> Moment {
        let state = self.state.borrow();
        let top = state.top_ref();
        Moment { frame: top.id, insts: top.builder.insts().len(), functions: state.functions.len() }
    }

    /// The instructions of a row since a moment of the same body, in it and in bodies that were closed meanwhile.
    pub fn sites(&self, def: &'static OpDef, since: Moment) -> Vec<Site> {
        let state = self.state.borrow();
        let top = state.top_ref();
        assert_eq!(top.id, since.frame, "scopes nest: a scope ends in the body that it began in");
        let site = |place: Place, inst: &Inst, ty: &dyn Fn(usize) -> Type| match &inst.op {
            Op::Def(found, attrs) if *found == def => {
                let types = (0..inst.args.len()).map(ty).collect();
                Some(Site { place, attrs: attrs.clone(), types, pos: inst.pos.clone() })
            }
            Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
        };
        let insts = top.builder.insts();
        let open = insts
            .iter()
            .enumerate()
            .skip(since.insts)
            .filter_map(|(k, inst)| site(Place::Open { inst: k }, inst, &|arg| top.builder.ty(inst.args[arg])));
        let closed = state.functions.iter().enumerate().skip(since.functions).flat_map(|(f, function)| {
            let inst = move |(k, inst)| {
                let inst: &Inst = inst;
                site(Place::Closed { function: f, inst: k }, inst, &|arg| function.ty(inst.args[arg]).clone())
            };
            function.insts.iter().enumerate().filter_map(inst)
        });
        open.chain(closed).collect()
    }

    /// The instruction becomes a call with that derivative, whose body does the same.
    pub fn replace(&self, site: &Site, body: TracedFunction, rule: TracedRule) {
        let mut state = self.state.borrow_mut();
        let op = Op::Call(CallOp { body: body.0, rule: rule.custom() });
        match site.place {
            Place::Open { inst } => state.top().builder.set_op(inst, op),
            Place::Closed { function, inst } => state.functions[function].insts[inst].op = op,
        }
    }
}
