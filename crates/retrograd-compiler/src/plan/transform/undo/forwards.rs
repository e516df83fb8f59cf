//! A step that writes down what it overwrites.

use super::level::{Change, Level};
use super::{Making, row_of, window, write};
use crate::ir::{Builder, DType, FuncId, Op, Type, Value};

impl Making {
    /// The step of a loop with its logs: `(i, c, logs, inv, row outside, x) -> (c', logs', y)`; `inside` of another
    /// loop there is a row outside.
    pub(super) fn forwards(&mut self, level: &Level<'_>, inside: bool) -> FuncId {
        let body = level.body;
        let b = Builder::new(format!("{}_log", body.name));
        let ty = |v: &Value| body.ty(*v).clone();
        let (before, after) = body.params.split_at(1 + level.carries);
        let (invariants, streams) = after.split_at(level.invariants);
        let first = b.params(before.iter().map(ty));
        let mut logs = b.params(level.logs.iter().cloned());
        let fixed = b.params(invariants.iter().map(ty));
        let outside = inside.then(|| b.param(Type::scalar(DType::I64)));
        let rows = b.params(streams.iter().map(ty));
        let mut map = b.map(body, &[first.clone(), fixed, rows].concat());
        let row = row_of(&b, outside, level.steps, first[0]);
        for (log, carry) in logs.iter_mut().zip(&level.whole) {
            *log = write(&b, *log, row, first[1 + carry]);
        }
        let (mut events, mut next) = (level.events.iter().peekable(), level.whole.len());
        for (k, inst) in body.insts.iter().enumerate() {
            let args: Vec<Value> =
                inst.args.iter().map(|v| map[v.0 as usize].expect("SSA: defined before use")).collect();
            b.set_pos(&inst.pos);
            let results = match events.next_if(|event| event.inst == k) {
                None => b.copy(body, inst, args),
                Some(event) => {
                    let range = next..next + event.logs;
                    next += event.logs;
                    match &event.change {
                        Change::Window { .. } => {
                            let Op::Def(_, attrs) = &inst.op else { panic!("a window is written by a row") };
                            let old = window(&b, args[0], &b.ty(args[1]).shape, attrs.sizes("step"), &args[2..]);
                            for (log, value) in logs[range].iter_mut().zip([old].iter().chain(&args[2..])) {
                                *log = write(&b, *log, row, *value);
                            }
                            b.copy(body, inst, args)
                        }
                        Change::Loop { level, .. } => {
                            let inner = self.forwards(level, true);
                            let (results, after) =
                                self.keep(&b, (body, inst), &args, inner, &logs[range.clone()], Some(row));
                            logs.splice(range, after);
                            results
                        }
                    }
                }
            };
            inst.results.iter().zip(results).for_each(|(old, new)| map[old.0 as usize] = Some(new));
        }
        let mut results: Vec<Value> =
            body.results.iter().map(|v| map[v.0 as usize].expect("SSA: results are defined")).collect();
        results.splice(level.carries..level.carries, logs);
        self.program.add(b.finish(results))
    }
}
