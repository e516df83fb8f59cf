//! Identical code folding: loop nests that a kernel has in several places, as one outlined function that all of them run.
//!
//! A step stands in a kernel as often as there are ways to run it: ahead, recording, once more before it is reversed.
//! Back ends take as long for each copy as for the first. Nests are the same when they differ only in the names of
//! registers; what they read is moved to the registers of the part.

use std::collections::{BTreeMap, BTreeSet};

use super::kernel::{Kernel, Mention, Part, Reg, RegType, Stmt};

/// Fewest statements of a nest that is shared: a call is some instructions, too.
const STMTS_LEAST: u64 = 8;
/// Fewest statements that it runs: a call takes as long as some dozens.
const RUNS_LEAST: u64 = 1024;

/// The kernel with each nest once.
pub(super) fn fold_identical(mut kernel: Kernel) -> Kernel {
    let mut bodies = taken_bodies(&mut kernel);
    let facts = Facts::new(&kernel, &mut bodies);
    let mut counts = BTreeMap::new();
    bodies.iter_mut().for_each(|body| facts.count(body, &mut counts));
    let mut share = Share { facts, counts, parts: BTreeMap::new(), kernel };
    bodies.iter_mut().for_each(|body| share.replace(body));
    let Share { mut kernel, .. } = share;
    kernel.body = bodies.pop().expect("the last is the kernel's own");
    for (part, body) in kernel.parts.iter_mut().zip(bodies) {
        part.body = body;
    }
    kernel
}

/// The bodies of the parts, and then that of the kernel, which are left empty.
fn taken_bodies(kernel: &mut Kernel) -> Vec<Vec<Stmt>> {
    let bodies = kernel.parts.iter_mut().map(|part| &mut part.body).chain([&mut kernel.body]);
    bodies.map(std::mem::take).collect()
}

/// A nest in which the k-th register that is mentioned has number k, and what each holds.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    nest: Stmt,
    regs: Vec<(RegType, Held)>,
}

/// What a register of a nest holds when the nest begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    /// Always these bits.
    Literal(u64),
    /// What the code around it put there.
    Given,
    /// Nothing: the nest assigns it first, and what it leaves there nobody reads.
    Nothing,
}

/// What is known of the registers of a kernel, by number.
struct Facts {
    regs: Vec<Known>,
}

#[derive(Clone, Copy)]
struct Known {
    ty: RegType,
    mentions: usize,
    assigned: usize,
    /// Mentions within loops that it is the index of, or a lane value.
    within: usize,
    literal: Option<u64>,
}

impl Facts {
    fn new(kernel: &Kernel, bodies: &mut [Vec<Stmt>]) -> Facts {
        let mut regs: Vec<Known> = kernel
            .regs
            .iter()
            .map(|ty| Known { ty: *ty, mentions: 0, assigned: 0, within: 0, literal: None })
            .collect();
        for reg in kernel.parts.iter().flat_map(|part| part.params.iter().chain(part.range.iter().flatten())) {
            regs[reg.0 as usize].mentions += 1;
        }
        for stmt in bodies.iter_mut().flatten() {
            stmt.each_mention(&mut |mention| match mention {
                Mention::Reads(reg) => regs[reg.0 as usize].mentions += 1,
                Mention::Assigns(reg) | Mention::Changes(reg) => {
                    regs[reg.0 as usize].mentions += 1;
                    regs[reg.0 as usize].assigned += 1;
                }
                Mention::Runs(_) => {}
            });
        }
        bodies.iter_mut().for_each(|body| note(body, &mut regs));
        Facts { regs }
    }

    fn literal(&self, reg: Reg) -> Option<u64> {
        let known = &self.regs[reg.0 as usize];
        known.literal.filter(|_| known.assigned == 1)
    }

    /// Notes each nest; of nests that are the same only the first is looked into.
    fn count(&self, body: &mut [Stmt], counts: &mut BTreeMap<Form, usize>) {
        for stmt in body {
            let again = self.form(stmt).is_some_and(|(form, _)| {
                let count = counts.entry(form).or_default();
                *count += 1;
                *count > 1
            });
            if !again {
                stmt.bodies_mut().into_iter().for_each(|body| self.count(body, counts));
            }
        }
    }

    /// The form of a nest that can be a part, with its registers in their order.
    fn form(&self, stmt: &Stmt) -> Option<(Form, Vec<Reg>)> {
        let is_nest = matches!(stmt, Stmt::For { .. } | Stmt::ForVec { .. });
        let size = self.size(stmt).filter(|_| is_nest)?;
        if size.stmts < STMTS_LEAST || size.runs < RUNS_LEAST {
            return None;
        }
        let (mut nest, mut numbers, mut regs) = (stmt.clone(), BTreeMap::new(), vec![]);
        nest.each_mention(&mut |mention| {
            let (reg, reads, assigns) = match mention {
                Mention::Reads(reg) => (reg, true, false),
                Mention::Assigns(reg) => (reg, false, true),
                Mention::Changes(reg) => (reg, true, true),
                Mention::Runs(_) => panic!("what stands alone runs no parts"),
            };
            let number = *numbers.entry(*reg).or_insert_with(|| {
                regs.push(Own { reg: *reg, mentions: 0, reads_first: reads, assigns: false });
                regs.len() - 1
            });
            regs[number].mentions += 1;
            regs[number].assigns |= assigns;
            *reg = Reg(number as u32);
        });
        let held = regs.iter().map(|own| self.held(own)).collect::<Option<_>>()?;
        Some((Form { nest, regs: held }, regs.iter().map(|own| own.reg).collect()))
    }

    /// What a register of a nest holds before it; `None` where others need what the nest leaves there.
    fn held(&self, own: &Own) -> Option<(RegType, Held)> {
        let known = &self.regs[own.reg.0 as usize];
        let held = match (own.assigns, self.literal(own.reg)) {
            (false, Some(bits)) => Held::Literal(bits),
            (false, None) => Held::Given,
            (true, _) if !own.reads_first && (own.mentions == known.mentions || known.within == known.mentions) => {
                Held::Nothing
            }
            (true, _) => return None,
        };
        Some((known.ty, held))
    }

    /// How much code a statement is; `None` where it must stay in its place.
    fn size(&self, stmt: &Stmt) -> Option<Size> {
        match stmt {
            Stmt::For { from, to, body, .. } => {
                let ends = self.literal(*from).zip(self.literal(*to));
                self.size_of_all(body.iter(), ends.map_or(1, |(from, to)| to.saturating_sub(from)))
            }
            Stmt::ForVec { count, body, .. } => self.size_of_all(body.iter(), *count),
            Stmt::If { then_body, else_body, .. } => self.size_of_all(then_body.iter().chain(else_body), 1),
            Stmt::Literal { .. }
            | Stmt::Let { .. }
            | Stmt::Move { .. }
            | Stmt::Swap(..)
            | Stmt::Pointer { .. }
            | Stmt::Offset { .. } => Some(ONE),
            Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::OrderedScatter(_)
            | Stmt::Copy { .. }
            | Stmt::Zero { .. }
            | Stmt::Call { .. } => Some(ONE),
            Stmt::Poll { .. } | Stmt::Fault { .. } => Some(ONE),
            Stmt::Loop { .. }
            | Stmt::Leave
            | Stmt::Start { .. }
            | Stmt::Next { .. }
            | Stmt::Spill { .. }
            | Stmt::Fetch { .. } => None,
            Stmt::Part(_) | Stmt::ParallelFor { .. } | Stmt::Probe { .. } => None,
        }
    }

    fn size_of_all<'s>(&self, mut body: impl Iterator<Item = &'s Stmt>, trips: u64) -> Option<Size> {
        let Size { stmts, runs } = body.try_fold(Size { stmts: 0, runs: 0 }, |sum, stmt| {
            let size = self.size(stmt)?;
            Some(Size { stmts: sum.stmts + size.stmts, runs: sum.runs.saturating_add(size.runs) })
        })?;
        Some(Size { stmts, runs: runs.saturating_mul(trips) })
    }
}

/// Statements of some code, and how many of them run, as far as the lengths of loops are known.
#[derive(Clone, Copy)]
struct Size {
    stmts: u64,
    runs: u64,
}

const ONE: Size = Size { stmts: 1, runs: 1 };

/// A register of a nest.
struct Own {
    reg: Reg,
    mentions: usize,
    reads_first: bool,
    assigns: bool,
}

/// Notes the bits of literals, and what belongs to single loops.
fn note(body: &mut [Stmt], regs: &mut [Known]) {
    for stmt in body {
        let mut own = BTreeSet::new();
        if let Stmt::For { index, .. } | Stmt::ForVec { index, .. } = stmt {
            own.insert(*index);
        }
        if let Stmt::ForVec { body, .. } = stmt {
            own.extend(lane_values(body));
        }
        if let Stmt::Literal { dst, bits } = stmt {
            regs[dst.0 as usize].literal = Some(*bits);
        }
        if !own.is_empty() {
            stmt.each_mention(&mut |mention| match mention {
                Mention::Reads(reg) | Mention::Assigns(reg) | Mention::Changes(reg) if own.contains(reg) => {
                    regs[reg.0 as usize].within += 1
                }
                Mention::Reads(_) | Mention::Assigns(_) | Mention::Changes(_) | Mention::Runs(_) => {}
            });
        }
        stmt.bodies_mut().into_iter().for_each(|body| note(body, regs));
    }
}

/// What the body of a vector loop assigns.
fn lane_values(body: &mut [Stmt]) -> Vec<Reg> {
    let mut assigned = vec![];
    for stmt in body {
        stmt.each_mention(&mut |mention| match mention {
            Mention::Assigns(reg) => assigned.push(*reg),
            Mention::Reads(_) | Mention::Changes(_) | Mention::Runs(_) => {}
        });
    }
    assigned
}

struct Share {
    facts: Facts,
    counts: BTreeMap<Form, usize>,
    /// Parts by form, with the registers that they are given, by place in the order.
    parts: BTreeMap<Form, (u32, Vec<(usize, Reg)>)>,
    kernel: Kernel,
}

impl Share {
    fn replace(&mut self, body: &mut Vec<Stmt>) {
        for mut stmt in std::mem::take(body) {
            match self.facts.form(&stmt).filter(|(form, _)| self.counts.get(form).is_some_and(|count| *count > 1)) {
                Some((form, regs)) => {
                    let (part, given) = self.part(form);
                    body.extend(given.iter().map(|(k, dst)| Stmt::Move { dst: *dst, src: regs[*k] }));
                    body.push(Stmt::Part(part));
                }
                None => {
                    stmt.bodies_mut().into_iter().for_each(|body| self.replace(body));
                    body.push(stmt);
                }
            }
        }
    }

    /// The part of a form: made for its first nest, found for the others.
    fn part(&mut self, form: Form) -> (u32, Vec<(usize, Reg)>) {
        if let Some(part) = self.parts.get(&form) {
            return part.clone();
        }
        let first = self.kernel.regs.len() as u32;
        self.kernel.regs.extend(form.regs.iter().map(|(ty, _)| *ty));
        let (mut given, mut body) = (vec![], vec![]);
        for (k, (_, held)) in form.regs.iter().enumerate() {
            let reg = Reg(first + k as u32);
            match held {
                Held::Literal(bits) => body.push(Stmt::Literal { dst: reg, bits: *bits }),
                Held::Given => given.push((k, reg)),
                Held::Nothing => {}
            }
        }
        let mut nest = form.nest.clone();
        nest.each_mention(&mut |mention| match mention {
            Mention::Reads(reg) | Mention::Assigns(reg) | Mention::Changes(reg) => reg.0 += first,
            Mention::Runs(_) => {}
        });
        body.push(nest);
        let params = given.iter().map(|(_, reg)| *reg).collect();
        self.kernel.parts.push(Part { params, range: None, body });
        let part = (self.kernel.parts.len() as u32 - 1, given);
        self.parts.insert(form, part.clone());
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::lower;
    use crate::opt::{freeze, simplify};
    use crate::plan::strategy::Auto;
    use crate::plan::{Request, plan};
    use crate::{diff, ops};
    use std::sync::Arc;

    /// Steps of a stencil, twelve times, within steps that compute a function.
    const NESTED: &str = include_str!("../../tests/share/nested.rg");

    /// How often each nest stands in the gradient within so many bytes, and how many parts there are.
    fn nests(budget: u64) -> (Vec<usize>, usize) {
        let program = ops::parse(NESTED, "nested.rg").unwrap();
        let program = freeze(&simplify(&diff::vjp(&program, &[0, 1], &[0]).unwrap()));
        let plan = plan(&program, &Request { budget: Some(budget), ..Request::by(Arc::new(Auto)) }).unwrap();
        let mut kernel = lower(&plan).kernel;
        let mut bodies = taken_bodies(&mut kernel);
        let (facts, mut counts) = (Facts::new(&kernel, &mut bodies), BTreeMap::new());
        bodies.iter_mut().for_each(|body| facts.count(body, &mut counts));
        (counts.into_values().collect(), kernel.parts.len())
    }

    #[test]
    fn each_nest_stands_once() {
        for budget in [80_000, 200_000] {
            let (counts, parts) = nests(budget);
            assert!(parts > 2, "{budget} bytes: {parts} parts");
            assert!(counts.iter().all(|count| *count == 1), "{budget} bytes: {counts:?}");
        }
    }
}
