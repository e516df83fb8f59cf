//! Nests as loops: the innermost one a vector loop, axes that lie in one run merged into it.

use super::KernelBuilder;
use super::horizontal::RowsAtOnce;
use super::kernel::{Address, Fold, Order, Reg, RegType, Stmt};
use super::unroll_and_jam::Jammed;
use crate::ir::{DType, Lowering, Reduction, Scalar};
use crate::plan::memory::{Access, Index, Nest, NestOutput, OpItem, Val};

/// One loop of a nest: its extent, and the axis whose stride its index steps by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) extent: usize,
    pub(super) axis: usize,
}

/// Blocks of a loop are a multiple of so many elements, which is any vector that there is.
const LANES: usize = 16;

/// The index along an axis of a component, of a value that has its components behind so many axes.
fn index_of(component: usize, shape: &[usize], rank: usize, axis: usize) -> usize {
    // Of an axis of the domain there is no loop where its extent is 1.
    if axis < rank { 0 } else { component / shape[axis + 1..].iter().product::<usize>() % shape[axis] }
}

pub(super) fn up(index: Reg, [from, to]: [Reg; 2], body: Vec<Stmt>) -> Stmt {
    Stmt::For { index, from, to, order: Order::Up, body }
}

/// How the innermost loop of a nest runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steps {
    InLanes,
    OneByOne,
}

/// The loops over a domain: axes of extent 1 vanish, neighbours that every access walks in one run are merged.
pub(super) fn loops(shape: &[usize], accesses: &[&Access], apart: &[usize]) -> Vec<Axis> {
    let mut loops: Vec<Axis> = vec![];
    for (axis, extent) in shape.iter().enumerate().filter(|(_, extent)| **extent != 1) {
        let merges = |outer: &Axis| {
            let one_run = |access: &&Access| access.strides[outer.axis] == access.strides[axis] * *extent as i64;
            !apart.contains(&outer.axis) && !apart.contains(&axis) && accesses.iter().all(one_run)
        };
        match loops.last_mut() {
            Some(outer) if merges(outer) => *outer = Axis { extent: outer.extent * extent, axis },
            Some(_) | None => loops.push(Axis { extent: *extent, axis }),
        }
    }
    loops
}

impl KernelBuilder<'_> {
    pub(super) fn nest(&mut self, nest: &Nest) {
        for root in &nest.outputs {
            if let NestOutput::Write { value, base, copies: true, .. } = root {
                self.copy(self.whole(*value), self.whole(*base), self.bytes(*base));
            }
            if let NestOutput::Accumulate { value, how, .. } = root {
                self.fill(*value, how.identity(self.placed.ty(*value).dtype));
            }
        }
        let accesses = self.accesses(nest);
        let iotas: Vec<usize> = nest
            .rows
            .iter()
            .filter(|item| item.def.lowering == Lowering::Iota)
            .map(|item| item.attrs.sizes("axis")[0])
            .collect();
        let summed = nest
            .outputs
            .iter()
            .flat_map(|root| if let NestOutput::Accumulate { axes, .. } = root { axes.as_slice() } else { &[] });
        let apart: Vec<usize> = summed.chain(&iotas).copied().collect();
        let mut loops = loops(&nest.shape, &accesses.iter().collect::<Vec<_>>(), &apart);
        loops.sort_by_key(|one| !nest.outer.contains(&one.axis));
        let reduces = nest.outputs.iter().any(|root| matches!(root, NestOutput::Reduce { .. }));
        if reduces && loops.is_empty() {
            loops.push(Axis { extent: 1, axis: nest.shape.len() - 1 });
        }
        assert!(!reduces || loops.len() == 1, "a nest that reduces is one run");
        // Steps that can fault are run one by one, and those that may write to the same place.
        let faults = nest.rows.iter().any(|item| self.placed.divisions.contains_key(&item.result));
        let meets = |root: &NestOutput| match root {
            NestOutput::Write { index: Some(index), .. } => {
                loops.last().is_some_and(|last| index.meets.contains(&last.axis))
            }
            NestOutput::Write { index: None, .. }
            | NestOutput::Store { .. }
            | NestOutput::Accumulate { .. }
            | NestOutput::Reduce { .. } => false,
        };
        let steps = if faults || nest.outputs.iter().any(meets) { Steps::OneByOne } else { Steps::InLanes };
        assert!(!reduces || steps == Steps::InLanes, "a nest that reduces does so in lanes");
        if steps == Steps::InLanes
            && !reduces
            && self.is_independent(nest)
            && nest.work(self.placed) >= self.placed.grain.work_per_launch
        {
            self.parallel_nest(&loops, nest, &iotas);
        } else {
            self.loop_nest(&loops, steps, &mut vec![], nest);
        }
    }

    /// Whether no two elements meet in memory, and none can fault but by one check.
    fn is_independent(&self, nest: &Nest) -> bool {
        let picks = nest.rows.iter().any(|item| self.placed.picks.contains_key(&item.result));
        !picks
            && !nest.outputs.iter().any(|output| {
                matches!(output, NestOutput::Write { index: Some(_), .. } | NestOutput::Accumulate { .. })
            })
    }

    /// A nest in chunks, which threads share: of its outermost loop, or of blocks of its only one. A quarter of the
    /// least work of a launch is a chunk, so that those who are late have something to do.
    fn parallel_nest(&mut self, loops: &[Axis], nest: &Nest, iotas: &[usize]) {
        let chunk = usize::try_from(self.placed.grain.work_per_launch / 4).expect("a launch is little work");
        let (index, range) = (self.int(), [self.int(), self.int()]);
        let each = |extent: usize| (usize::try_from(nest.work(self.placed)).unwrap_or(usize::MAX) / extent).max(1);
        match loops {
            [only] if !iotas.contains(&only.axis) && only.extent >= 2 * LANES => {
                let block = (chunk / each(only.extent)).clamp(LANES, only.extent) / LANES * LANES;
                let base = self.int();
                let body = self.nested(|lower| {
                    let length = lower.literal(block as i64);
                    lower.body.push(Stmt::Let { dst: base, op: Scalar::Mul, args: vec![index, length] });
                    lower.loop_nest(
                        &[Axis { extent: block, ..*only }],
                        Steps::InLanes,
                        &mut vec![(base, only.axis)],
                        nest,
                    );
                });
                let (blocks, rest) = (only.extent / block, only.extent % block);
                self.parallel_for(vec![up(index, range, body)], range, blocks, 1);
                if rest > 0 {
                    let base = self.literal((blocks * block) as i64);
                    self.loop_nest(
                        &[Axis { extent: rest, ..*only }],
                        Steps::InLanes,
                        &mut vec![(base, only.axis)],
                        nest,
                    );
                }
            }
            [outer, rest @ ..] if !rest.is_empty() => {
                let body =
                    self.nested(|lower| lower.loop_nest(rest, Steps::InLanes, &mut vec![(index, outer.axis)], nest));
                let rows = self.in_groups(index, outer.extent, body);
                let chunk = (chunk / each(rows.groups)).clamp(1, rows.groups);
                self.parallel_for(vec![up(index, range, rows.several)], range, rows.groups, chunk);
                self.rest_of_rows(index, outer.extent, rows.rest);
            }
            loops => self.loop_nest(loops, Steps::InLanes, &mut vec![], nest),
        }
    }

    /// All views of memory that a nest touches.
    fn accesses(&self, nest: &Nest) -> Vec<Access> {
        let mut accesses = vec![];
        for value in nest.operands().filter(|v| !nest.computes(*v)) {
            let access = self.placed.access(value);
            if !self.placed.is_scalar(access.root) {
                accesses.push(access.clone());
            }
        }
        for output in &nest.outputs {
            match output {
                NestOutput::Store { value, .. } => accesses.push(self.placed.access(*value).clone()),
                NestOutput::Write { window, .. } | NestOutput::Accumulate { window, .. } => {
                    accesses.push(window.clone())
                }
                NestOutput::Reduce { .. } => {}
            }
        }
        accesses
    }

    /// Loops over the remaining axes; the last one is a vector loop where it may be.
    fn loop_nest(&mut self, loops: &[Axis], steps: Steps, indices: &mut Vec<(Reg, usize)>, nest: &Nest) {
        match loops {
            [] => {
                self.elements(nest, indices, None);
                for (cond, site) in std::mem::take(&mut self.checks) {
                    self.body.push(Stmt::Fault { cond, site });
                }
            }
            [last] if steps == Steps::InLanes => {
                self.vector_loop(*last, indices, nest, None);
                self.sum_rows(nest, *last, indices, &RowsAtOnce::ONE);
            }
            [around, last] if steps == Steps::InLanes && self.rows_with_room(nest) > 1 => {
                self.rows_beside([*around, *last], indices, nest)
            }
            [outer, rest @ ..] => {
                let (index, from) = (self.int(), self.literal(0));
                indices.push((index, outer.axis));
                let body = self.nested(|lower| lower.loop_nest(rest, steps, indices, nest));
                indices.pop();
                let rows = if self.is_independent(nest) {
                    self.in_groups(index, outer.extent, body)
                } else {
                    Jammed::row_by_row(outer.extent, body)
                };
                let groups = self.literal(rows.groups as i64);
                self.body.push(up(index, [from, groups], rows.several));
                self.rest_of_rows(index, outer.extent, rows.rest);
            }
        }
        if loops.is_empty() {
            self.lanes.clear();
        }
    }

    /// The innermost loop, whose elements that are summed along it go to the row of this number, or the first.
    pub(super) fn vector_loop(&mut self, lanes: Axis, indices: &mut Vec<(Reg, usize)>, nest: &Nest, row: Option<Reg>) {
        let index = self.int();
        indices.push((index, lanes.axis));
        let body = self.nested(|lower| lower.elements(nest, indices, Some((index, row))));
        indices.pop();
        let mut folds = vec![];
        for output in &nest.outputs {
            if let NestOutput::Reduce { value, source, how } = output {
                folds.push(Fold { dst: self.value(*value), src: self.lane(*source), how: *how });
            }
        }
        let checks = std::mem::take(&mut self.checks);
        let faults: Vec<Stmt> = checks
            .into_iter()
            .map(|(src, site)| {
                let cond = self.reg(RegType::Scalar(DType::Bool));
                folds.push(Fold { dst: cond, src, how: Reduction::Any });
                Stmt::Fault { cond, site }
            })
            .collect();
        self.body.push(Stmt::ForVec { index, count: lanes.extent as u64, body, folds });
        self.body.extend(faults);
        self.lanes.clear();
    }

    /// The code of one element: everything is read and computed before anything is written, so that writing in place is
    /// safe. What is summed along the lanes, at their index, goes to its row.
    fn elements(&mut self, nest: &Nest, indices: &[(Reg, usize)], lanes: Option<(Reg, Option<Reg>)>) {
        self.lanes.clear();
        let rank = nest.shape.len();
        for item in &nest.rows {
            for component in 0..self.placed.components(item.result, rank) {
                self.element_row(item, component, nest, indices);
            }
        }
        let mut writes: Vec<(Address, Reg)> = vec![];
        for output in &nest.outputs {
            match output {
                NestOutput::Reduce { source, .. } => {
                    self.read(*source, 0, nest, indices);
                }
                NestOutput::Store { value, source } => {
                    for component in 0..self.placed.components(*value, rank) {
                        let src = self.read(*source, component, nest, indices);
                        writes.push((self.component(*value, component, rank, indices), src));
                    }
                }
                NestOutput::Accumulate { window, source, how, rows, .. } => {
                    for component in 0..self.placed.components(*source, rank) {
                        let x = self.read(*source, component, nest, indices);
                        if let (Some(rows), Some((index, row))) = (rows, lanes) {
                            writes.push((self.in_row(*rows, component, index, row), x));
                        } else {
                            let to = self.place_of_sum(*source, window, component, rank, indices);
                            let src = self.combined(how.scalar(), self.placed.ty(*source).dtype, &to, x);
                            writes.push((to, src));
                        }
                    }
                }
                NestOutput::Write { window, index, how, value, source, .. } => {
                    let source = self.read(*source, 0, nest, indices);
                    if let Some(index) = index {
                        self.clamp_element(index, nest, indices);
                    }
                    let to = self.element(window, indices);
                    let src = match how.scalar() {
                        None => source,
                        Some(op) => {
                            let dtype = self.placed.ty(*value).dtype;
                            self.combined(op, dtype, &to, source)
                        }
                    };
                    writes.push((to, src));
                }
            }
        }
        for (to, src) in writes {
            self.body.push(Stmt::Store { to, src });
        }
    }

    /// Where a component of an element is summed.
    pub(super) fn place_of_sum(
        &mut self,
        source: Val,
        window: &Access,
        component: usize,
        rank: usize,
        indices: &[(Reg, usize)],
    ) -> Address {
        let at = window.component_at(&self.placed.ty(source).shape, rank, component);
        self.element(&Access { offset: window.offset + at, ..window.clone() }, indices)
    }

    /// A number, combined with what is in memory.
    pub(super) fn combined(&mut self, op: Scalar, dtype: DType, to: &Address, x: Reg) -> Reg {
        let old = self.reg(RegType::Scalar(dtype));
        self.body.push(Stmt::Load { dst: old, from: to.clone() });
        self.compute(op, dtype, &[old, x])
    }

    fn element_row(&mut self, item: &OpItem, component: usize, nest: &Nest, indices: &[(Reg, usize)]) {
        let dst = self.reg(RegType::Scalar(self.placed.ty(item.result).dtype));
        self.lanes.insert((item.result, component), dst);
        if item.def.lowering == Lowering::Iota {
            let axis = item.attrs.sizes("axis")[0];
            let index = match indices.iter().find(|(_, other)| *other == axis) {
                Some((index, _)) => *index,
                None => {
                    self.literal(index_of(component, &self.placed.ty(item.result).shape, nest.shape.len(), axis) as i64)
                }
            };
            self.body.push(match self.placed.ty(item.result).dtype {
                DType::I64 => Stmt::Move { dst, src: index },
                dtype @ (DType::F32 | DType::F64 | DType::I32 | DType::Bool) => {
                    Stmt::Let { dst, op: Scalar::Convert(dtype), args: vec![index] }
                }
            });
            return;
        }
        if let Some(index) = self.placed.picks.get(&item.result) {
            self.clamp_element(index, nest, indices);
            let src = self.read(item.args[0], component, nest, indices);
            self.body.push(Stmt::Move { dst, src });
            return;
        }
        if let Lowering::Reduce(how) = item.def.lowering {
            let src = self.reduce_components(item, how, component, nest, indices);
            self.body.push(Stmt::Move { dst, src });
            return;
        }
        let args: Vec<Reg> = item.args.iter().map(|v| self.read(*v, component, nest, indices)).collect();
        self.arithmetic(item, dst, args);
        if let Some(site) = self.placed.failures.get(&item.result).copied() {
            self.checks.push((dst, site));
        }
    }

    /// The index of one element, brought into its axis.
    fn clamp_element(&mut self, index: &Index, nest: &Nest, indices: &[(Reg, usize)]) {
        let (given, dst) = (self.read(index.given, 0, nest, indices), self.value(index.clamped));
        let outside = self.bring_into(dst, given, index.last);
        self.checks.push((outside, index.site));
    }

    /// One component of an element of a value: computed in this nest, a scalar for all elements, or loaded once.
    pub(super) fn read(&mut self, value: Val, component: usize, nest: &Nest, indices: &[(Reg, usize)]) -> Reg {
        let access = self.placed.access(value);
        if self.placed.is_scalar(access.root) {
            return self.value(access.root);
        }
        let mut key = (value, component);
        if nest.views.contains(&value) {
            let at = access.offset + self.placed.component_at(value, nest.shape.len(), component);
            key = (
                access.root,
                usize::try_from(at).expect("a view of what is computed here stays within its components"),
            );
        }
        if let Some(reg) = self.lanes.get(&key) {
            return *reg;
        }
        assert!(!nest.computes(access.root), "what a nest computes is in its registers, in order");
        let from = self.component(value, component, nest.shape.len(), indices);
        let dst = self.reg(RegType::Scalar(self.placed.ty(value).dtype));
        self.body.push(Stmt::Load { dst, from });
        self.lanes.insert(key, dst);
        dst
    }

    /// The address of one component of an element, behind so many axes of the domain.
    fn component(&mut self, value: Val, component: usize, rank: usize, indices: &[(Reg, usize)]) -> Address {
        let mut access = self.placed.access(value).clone();
        access.offset += self.placed.component_at(value, rank, component);
        self.element(&access, indices)
    }

    /// The register that a value was read into.
    fn lane(&mut self, value: Val) -> Reg {
        let root = self.placed.access(value).root;
        match self.lanes.get(&(value, 0)) {
            Some(reg) => *reg,
            None => {
                assert!(self.placed.is_scalar(root), "a sum reads what its nest has read");
                self.value(root)
            }
        }
    }
}
