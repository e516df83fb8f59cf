//! Programs as they are stored: as they are, with ops and files by name, each name once.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ir::{
    Attr, Attrs, ForOp, FuncId, Function, IfOp, Inst, Op, OpDef, Part, Pos, Program, Type, UnwindOp, Value, WhileOp,
};
use crate::ops;

/// A Program in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SavedProgram {
    /// Names of ops and files.
    names: Vec<String>,
    functions: Vec<SavedFunction>,
    entry: FuncId,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedFunction {
    name: String,
    params: Vec<Value>,
    insts: Vec<SavedInst>,
    results: Vec<Value>,
    types: Vec<Type>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedInst {
    op: SavedOp,
    args: Vec<Value>,
    results: Vec<Value>,
    file: Option<u32>,
    line: u32,
    part: Part,
}

/// Attributes, each by its number in the row, which names them.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum SavedOp {
    Def(u32, Vec<(u8, Attr)>),
    If(IfOp),
    For(ForOp),
    While(WhileOp),
    Unwind(UnwindOp),
}

/// Names, each once.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    known: BTreeMap<String, u32>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let number = self.list.len() as u32;
        self.list.push(name.to_owned());
        self.known.insert(name.to_owned(), number);
        number
    }
}

impl From<&Program> for SavedProgram {
    fn from(program: &Program) -> SavedProgram {
        let mut names = Names::default();
        let mut inst = |inst: &Inst| {
            let Inst { op, args, results, pos } = inst;
            let op = match op {
                Op::Def(def, attrs) => {
                    let number = |name: &str| {
                        def.attrs.iter().position(|known| *known == name).expect("a def names its attributes")
                    };
                    let attrs = attrs.iter().map(|(name, attr)| (number(name) as u8, attr.clone())).collect();
                    SavedOp::Def(names.number(def.name), attrs)
                }
                Op::If(op) => SavedOp::If(op.clone()),
                Op::For(op) => SavedOp::For(op.clone()),
                Op::While(op) => SavedOp::While(op.clone()),
                Op::Unwind(op) => SavedOp::Unwind(op.clone()),
                Op::Call(_) => panic!("`plan` has put the bodies of calls in their place"),
            };
            let file = pos.file().map(|file| names.number(file));
            SavedInst { op, args: args.clone(), results: results.clone(), file, line: pos.line(), part: pos.part() }
        };
        let functions = program.functions.iter().map(|function| SavedFunction {
            name: function.name.clone(),
            params: function.params.clone(),
            insts: function.insts.iter().map(&mut inst).collect(),
            results: function.results.clone(),
            types: function.types.clone(),
        });
        SavedProgram { functions: functions.collect(), entry: program.entry, names: names.list }
    }
}

/// What `verify` needs to look at it: every name is known. The rest is its matter.
impl TryFrom<SavedProgram> for Program {
    type Error = String;

    fn try_from(saved: SavedProgram) -> Result<Program, String> {
        let rows: Vec<Option<&'static OpDef>> = saved.names.iter().map(|name| ops::find(name)).collect();
        let files: Vec<Arc<str>> = saved.names.iter().map(|name| Arc::from(name.as_str())).collect();
        let unknown = |number: u32| match saved.names.get(number as usize) {
            Some(name) => format!("there is no op `{name}`"),
            None => format!("there is no name {number}"),
        };
        let inst = |inst: SavedInst| {
            let op = match inst.op {
                SavedOp::Def(number, attrs) => {
                    let row = rows.get(number as usize).copied().flatten().ok_or_else(|| unknown(number))?;
                    let mut known = Attrs::none();
                    for (number, attr) in attrs {
                        let name = row
                            .attrs
                            .get(usize::from(number))
                            .ok_or_else(|| format!("`{}` has no attribute {number}", row.name))?;
                        known = known.with(name, attr);
                    }
                    Op::Def(row, known)
                }
                SavedOp::If(op) => Op::If(op),
                SavedOp::For(op) => Op::For(op),
                SavedOp::While(op) => Op::While(op),
                SavedOp::Unwind(op) => Op::Unwind(op),
            };
            let pos = match inst.file {
                Some(number) => Pos::new(files.get(number as usize).ok_or_else(|| unknown(number))?.clone(), inst.line),
                None => Pos::unknown(),
            };
            Ok(Inst { op, args: inst.args, results: inst.results, pos: pos.in_part(inst.part) })
        };
        let function = |saved: SavedFunction| {
            let SavedFunction { name, params, insts, results, types } = saved;
            Ok(Function {
                name,
                params,
                insts: insts.into_iter().map(inst).collect::<Result<_, String>>()?,
                results,
                types,
            })
        };
        Ok(Program {
            functions: saved.functions.into_iter().map(function).collect::<Result<_, String>>()?,
            entry: saved.entry,
        })
    }
}
