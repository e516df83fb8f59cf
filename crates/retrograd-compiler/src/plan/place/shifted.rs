//! Sums of shifted windows: writes to windows of one array, one after the other, become one nest over what all windows share.
//!
//! The adjoint of a stencil adds one array to five windows of another, each a sweep over memory. A cell in all windows gets the same
//! terms in the same order when one sweep adds them in registers; what a window has beyond the others are strips around it, written one
//! by one as before. So no bit of any cell changes. A term that is cheap is computed for each window anew instead of being stored first.

use std::collections::{BTreeMap, BTreeSet};

use super::group::{Raw, reads, results};
use super::tree::{Access, Placed, RowItem, Val};
use crate::ir::{Attrs, DType, Pos, Type, Write};
use crate::ops;

/// Fewest cells of a window that are worth a look.
const CELLS_LEAST: usize = 64;

/// Fewest cells of the nest for each strip around it, since every strip is code of its own.
const CELLS_A_STRIP: usize = 32;

/// Most writes of one nest: each reads memory of its own.
const LINKS_MOST: usize = 32;

/// Most work, in additions, of a term that is computed more than once, for each window anew.
const WORK_MOST: u32 = 3;

/// The code of a block with its chains of writes to shifted windows as sums; `ends` are used after it.
pub(super) fn merge(placed: &mut Placed, mut raws: Vec<Raw>, ends: &[Val]) -> Vec<Raw> {
    if !raws.iter().any(|raw| matches!(raw, Raw::Write { .. })) {
        return raws;
    }
    let mut made = BTreeSet::new();
    loop {
        let uses = Uses::new(placed, &raws, ends);
        // The last chain first: where it ends, those before it find the memory that it overwrites still as it was.
        let Some(run) = uses.runs(placed, &raws, &made).pop() else { return raws };
        made.extend(run.links.iter().map(|link| link.value));
        if let Some(terms) = uses.terms(placed, &raws, &run) {
            raws = uses.merged(placed, raws, &run, &terms, &mut made);
        }
    }
}

/// A box of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cells {
    start: Vec<usize>,
    extent: Vec<usize>,
}

impl Cells {
    /// The cells of a window of an array, if it is a box.
    fn of(window: &Access, shape: &[usize], array: &Type) -> Option<Cells> {
        let strides = array.strides();
        let steps_by_one = |axis: usize| shape[axis] == 1 || window.strides[axis] == strides[axis] as i64;
        if !window.dynamic.is_empty() || shape.len() != array.rank() || !(0..shape.len()).all(steps_by_one) {
            return None;
        }
        let mut offset = usize::try_from(window.offset).ok()?;
        let mut start = vec![];
        for stride in strides {
            start.push(offset / stride.max(1));
            offset %= stride.max(1);
        }
        let fits = (0..shape.len()).all(|axis| start[axis] + shape[axis] <= array.shape[axis]);
        fits.then(|| Cells { start, extent: shape.to_vec() })
    }

    fn count(&self) -> usize {
        self.extent.iter().product()
    }

    fn end(&self, axis: usize) -> usize {
        self.start[axis] + self.extent[axis]
    }

    fn shared(&self, other: &Cells) -> Cells {
        let start: Vec<usize> = self.start.iter().zip(&other.start).map(|(a, b)| *a.max(b)).collect();
        let extent = (0..start.len()).map(|axis| self.end(axis).min(other.end(axis)).saturating_sub(start[axis])).collect();
        Cells { start, extent }
    }

    /// The same box with another range along an axis.
    fn along(&self, axis: usize, start: usize, end: usize) -> Cells {
        let mut cells = self.clone();
        (cells.start[axis], cells.extent[axis]) = (start, end - start);
        cells
    }

    /// What is around an inner box, as boxes; those along the first axes are the longest.
    fn around(&self, inner: &Cells) -> Vec<Cells> {
        let (mut rest, mut strips) = (self.clone(), vec![]);
        for axis in 0..self.start.len() {
            strips.push(rest.along(axis, rest.start[axis], inner.start[axis]));
            strips.push(rest.along(axis, inner.end(axis), rest.end(axis)));
            rest = rest.along(axis, inner.start[axis], inner.end(axis));
        }
        strips.retain(|strip| strip.count() > 0);
        strips
    }
}

/// A write to a window that is a box.
#[derive(Clone, Debug)]
struct Link {
    at: usize,
    value: Val,
    base: Val,
    source: Val,
    how: Write,
    cells: Cells,
}

impl Link {
    fn new(placed: &Placed, at: usize, raw: &Raw) -> Option<Link> {
        let Raw::Write { value, base, source, window, index: None, how: how @ (Write::Set | Write::Add) } = raw else { return None };
        let cells = Cells::of(window, &placed.ty(*source).shape, placed.ty(*value))?;
        (cells.count() >= CELLS_LEAST).then_some(Link { at, value: *value, base: *base, source: *source, how: *how, cells })
    }
}

/// Writes that become one nest, and what all of them reach.
#[derive(Clone, Debug)]
struct Run {
    links: Vec<Link>,
    shared: Cells,
}

impl Run {
    fn base(&self) -> Val {
        self.links[0].base
    }

    /// The run with one more write, if most of it is shared and it does not read what the run overwrites.
    fn with(&self, link: &Link, placed: &Placed) -> Option<Run> {
        let shared = self.shared.shared(&link.cells);
        if shared.count() == 0 {
            return None;
        }
        let links = [&self.links[..], std::slice::from_ref(link)].concat();
        let mostly = links.iter().all(|link| 2 * shared.count() >= link.cells.count());
        let apart = placed.access(link.source).root != self.base();
        let strips: usize = links.iter().map(|link| link.cells.around(&shared).len()).sum();
        let worth = links.len() <= LINKS_MOST && shared.count() >= CELLS_LEAST.max(CELLS_A_STRIP * strips);
        (worth && mostly && apart).then_some(Run { links, shared })
    }
}

/// Who makes and who reads each value of a block.
struct Uses {
    /// The code that makes a value.
    maker: BTreeMap<Val, usize>,
    /// How often a value is read, directly or through views.
    times: BTreeMap<Val, usize>,
}

/// Where a merged sum gets its terms from.
struct Terms {
    /// Rows that are computed anew for each window, by result.
    anew: BTreeMap<Val, RowItem>,
    /// The first place in the block where everything is there.
    place: usize,
}

impl Uses {
    fn new(placed: &Placed, raws: &[Raw], ends: &[Val]) -> Uses {
        let mut uses = Uses { maker: BTreeMap::new(), times: BTreeMap::new() };
        for (k, raw) in raws.iter().enumerate() {
            uses.maker.extend(results(raw).into_iter().map(|value| (value, k)));
            reads(raw, &mut |value| *uses.times.entry(placed.access(value).root).or_insert(0) += 1);
        }
        for end in ends {
            // One more reader than any chain has.
            *uses.times.entry(placed.access(*end).root).or_insert(0) += 1;
        }
        uses
    }

    fn times(&self, value: Val) -> usize {
        self.times.get(&value).copied().unwrap_or(0)
    }

    /// Chains of two and more writes of which each is read by the next alone, in the order of their last ones.
    fn runs(&self, placed: &Placed, raws: &[Raw], made: &BTreeSet<Val>) -> Vec<Run> {
        let mut open: BTreeMap<Val, Run> = BTreeMap::new();
        let mut runs = vec![];
        for (k, raw) in raws.iter().enumerate() {
            let Some(link) = Link::new(placed, k, raw).filter(|link| !made.contains(&link.value)) else { continue };
            let before = if self.times(link.base) == 1 { open.remove(&link.base) } else { None };
            let run = match before.as_ref().and_then(|run| run.with(&link, placed)) {
                Some(run) => run,
                None => {
                    runs.extend(before);
                    Run { links: vec![link.clone()], shared: link.cells.clone() }
                }
            };
            // A first write that reads what it overwrites stays alone.
            if placed.access(link.source).root != run.base() {
                open.insert(link.value, run);
            }
        }
        runs.extend(open.into_values());
        runs.retain(|run| run.links.len() > 1);
        runs.sort_by_key(|run| run.links.last().map(|link| link.at));
        runs
    }

    /// The code with a run as one nest and strips.
    fn merged(&self, placed: &mut Placed, raws: Vec<Raw>, run: &Run, terms: &Terms, made: &mut BTreeSet<Val>) -> Vec<Raw> {
        let mut sums = Sums { placed, terms, raws: vec![], value: run.base() };
        let source = sums.shared(run);
        sums.write(source, &run.shared, Write::Set);
        for link in &run.links {
            for strip in link.cells.around(&run.shared) {
                let source = sums.term(link.source, &moved(&strip, &link.cells));
                sums.write(source, &strip, link.how);
            }
        }
        let mut sum = sums.raws;
        let last = run.links.last().expect("a run has links").value;
        let Some(Raw::Write { value, window, .. }) = sum.last_mut() else { panic!("a sum ends with a write") };
        // The last write gives the value that everybody knows.
        (*value, window.root) = (last, last);
        made.extend(sum.iter().flat_map(results));
        let gone: BTreeSet<usize> = run.links.iter().map(|link| link.at).chain(terms.anew.keys().map(|value| self.maker[value])).collect();
        let mut merged = Vec::with_capacity(raws.len() + sum.len());
        for (k, raw) in raws.into_iter().enumerate() {
            if !gone.contains(&k) {
                merged.push(raw);
            }
            if k == terms.place {
                merged.append(&mut sum);
            }
        }
        merged
    }

    /// The terms of a run: computed anew where that is cheap, else read; none where neither finds its arguments as they were.
    fn terms(&self, placed: &Placed, raws: &[Raw], run: &Run) -> Option<Terms> {
        let ways = [self.anew(placed, raws, run), BTreeMap::new()];
        ways.into_iter().map(|anew| self.placed_terms(placed, run, anew)).find(|terms| !self.overwritten(placed, raws, run, terms))
    }

    fn placed_terms(&self, placed: &Placed, run: &Run, anew: BTreeMap<Val, RowItem>) -> Terms {
        let made = |value: &Val| {
            let access = placed.access(*value);
            let roots = [access.root].into_iter().chain(access.dynamic.iter().map(|(start, _)| *start));
            roots.filter(|root| !anew.contains_key(root)).filter_map(|root| self.maker.get(&root).copied()).max()
        };
        let read = run.links.iter().map(|link| &link.source).chain(anew.values().flat_map(|item| &item.args));
        let place = read.filter_map(made).max().unwrap_or(0).max(run.links[0].at);
        Terms { anew, place }
    }

    /// Rows that only this run reads, from its sources down, as long as they are computed once or cheap.
    fn anew(&self, placed: &Placed, raws: &[Raw], run: &Run) -> BTreeMap<Val, RowItem> {
        let mut anew = BTreeMap::new();
        // How often each value is read by what is computed anew, how often it is then computed, and the work that is done more than
        // once from the sum down to it.
        let mut read: BTreeMap<Val, (usize, u32, u32)> = BTreeMap::new();
        let tell = |value: Val, copies: u32, work: u32, read: &mut BTreeMap<Val, (usize, u32, u32)>| {
            if is_whole(placed, value) {
                let entry = read.entry(placed.access(value).root).or_insert((0, 0, 0));
                *entry = (entry.0 + 1, entry.1.saturating_add(copies), entry.2.max(work));
            }
        };
        run.links.iter().for_each(|link| tell(link.source, 1, 0, &mut read));
        let last = run.links.last().map_or(0, |link| link.at);
        for raw in raws[..last].iter().rev() {
            let Raw::Row(item) = raw else { continue };
            let Some((times, copies, work)) = read.get(&item.result).copied() else { continue };
            let work = if copies > 1 { work + item.row.cost } else { 0 };
            let can_move = item.row.lowering.is_elementwise() && !placed.divisions.contains_key(&item.result);
            let alike = item.args.iter().all(|arg| placed.ty(*arg).shape == placed.ty(item.result).shape);
            if can_move && alike && !placed.is_scalar(item.result) && times == self.times(item.result) && work <= WORK_MOST {
                item.args.iter().for_each(|arg| tell(*arg, copies, work, &mut read));
                anew.insert(item.result, item.clone());
            }
        }
        anew
    }

    /// Whether something that is read later now is overwritten before, or belongs to the array that is summed up.
    fn overwritten(&self, placed: &Placed, raws: &[Raw], run: &Run, terms: &Terms) -> bool {
        let first = terms.anew.keys().map(|value| self.maker[value]).min().map_or(run.links[0].at, |first| first.min(run.links[0].at));
        let read = run.links.iter().map(|link| &link.source).chain(terms.anew.values().flat_map(|item| &item.args));
        let roots: BTreeSet<Val> = read.map(|value| placed.access(*value).root).filter(|root| !terms.anew.contains_key(root)).collect();
        let links: BTreeSet<usize> = run.links.iter().map(|link| link.at).collect();
        let takes = |k: usize| match &raws[k] {
            Raw::Write { base, .. } => roots.contains(base),
            Raw::Node(node) => {
                let mut takes = false;
                node.reads(&mut |value| takes |= !placed.is_scalar(value) && roots.contains(&placed.access(value).root));
                takes
            }
            Raw::Row(_) | Raw::Copy { .. } => false,
        };
        roots.contains(&run.base()) || (first..terms.place).any(|k| !links.contains(&k) && takes(k))
    }
}

/// Whether a value is all of its root, element by element.
fn is_whole(placed: &Placed, value: Val) -> bool {
    let access = placed.access(value);
    access.root == value
        || *access == Access::whole(access.root, placed.ty(value)) && placed.ty(access.root).shape == placed.ty(value).shape
}

/// A box inside another one, from its start.
fn moved(cells: &Cells, within: &Cells) -> Cells {
    let start = cells.start.iter().zip(&within.start).map(|(start, from)| start - from).collect();
    Cells { start, extent: cells.extent.clone() }
}

/// The code of a sum under construction.
struct Sums<'p> {
    placed: &'p mut Placed,
    terms: &'p Terms,
    raws: Vec<Raw>,
    /// The array so far.
    value: Val,
}

impl Sums<'_> {
    /// What the cells that all windows share become.
    fn shared(&mut self, run: &Run) -> Val {
        let mut sum = None;
        for link in &run.links {
            let term = self.term(link.source, &moved(&run.shared, &link.cells));
            sum = Some(match link.how {
                Write::Set => term,
                Write::Add => {
                    let before = sum.unwrap_or_else(|| self.part(self.value, &run.shared));
                    self.row(
                        RowItem { row: &ops::ADD, attrs: Attrs::none(), args: vec![before, term], result: term, pos: Pos::default() },
                        &run.shared,
                    )
                }
                Write::Mul | Write::Max | Write::Min => panic!("a link sets or adds"),
            });
        }
        sum.expect("a run has links")
    }

    /// A box of a term: a view of it, or computed there.
    fn term(&mut self, value: Val, cells: &Cells) -> Val {
        let root = self.placed.access(value).root;
        match self.terms.anew.get(&root) {
            None => self.part(value, cells),
            Some(item) => {
                let mut item = item.clone();
                item.args = item.args.iter().map(|arg| self.term(*arg, cells)).collect();
                self.row(item, cells)
            }
        }
    }

    /// A view of a box of a value.
    fn part(&mut self, value: Val, cells: &Cells) -> Val {
        let dtype = self.placed.ty(value).dtype;
        let mut access = self.placed.access(value).clone();
        access.offset += cells.start.iter().zip(&access.strides).map(|(start, stride)| *start as i64 * stride).sum::<i64>();
        let part = self.placed.define(Type::new(dtype, cells.extent.clone()));
        self.placed.access[part.0 as usize] = access;
        part
    }

    /// A row over a box.
    fn row(&mut self, item: RowItem, cells: &Cells) -> Val {
        let dtype: DType = self.placed.ty(item.result).dtype;
        let result = self.placed.define(Type::new(dtype, cells.extent.clone()));
        self.raws.push(Raw::Row(RowItem { result, ..item }));
        result
    }

    fn write(&mut self, source: Val, cells: &Cells, how: Write) {
        let ty = self.placed.ty(self.value).clone();
        let value = self.placed.define(ty.clone());
        let mut window = Access::whole(value, &ty);
        window.offset = cells.start.iter().zip(&window.strides).map(|(start, stride)| *start as i64 * stride).sum();
        self.raws.push(Raw::Write { value, base: self.value, source, window, index: None, how });
        self.value = value;
    }
}
