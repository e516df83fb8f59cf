//! Unroll-and-jam, several rows of a nest at a time: what neighbouring rows both read is loaded once, and what they both compute of it
//! is computed once.
//!
//! An element of a stencil reads its neighbours in the rows before and after its own, and each of them is read again
//! for the rows that they are in. A vector loop over several rows keeps them in registers. Elements do not read what
//! others write, so what two rows read, neither writes.

use std::collections::{BTreeMap, BTreeSet};

use super::KernelBuilder;
use super::kernel::{Address, Reg, RegType, Stmt};
use super::lanes::readdressed;
use super::nest::up;
use crate::ir::Scalar;

/// Most rows of a loop, and most statements: registers hold what rows share.
const ROWS_MOST: usize = 4;
const STATEMENTS_MOST: usize = 64;

/// Loads that must be left out, of so many, for a loop over several rows to be worth its code.
const SPARED_LEAST: (usize, usize) = (1, 8);

/// The rows of a nest.
pub(super) struct Jammed {
    /// How many groups of rows there are.
    pub(super) groups: usize,
    /// What is done with a group, where the row is the number of the group.
    pub(super) several: Vec<Stmt>,
    /// The first row that belongs to no group, and what is done with it.
    pub(super) rest: Option<(usize, Vec<Stmt>)>,
}

impl Jammed {
    pub(super) fn row_by_row(rows: usize, body: Vec<Stmt>) -> Jammed {
        Jammed { groups: rows, several: body, rest: None }
    }
}

impl KernelBuilder<'_> {
    /// Jammed in groups as large as serves best, of elements that read nothing that others write. `body` is what is done
    /// with one row.
    pub(super) fn in_groups(&mut self, row: Reg, rows: usize, body: Vec<Stmt>) -> Jammed {
        let at_once = rows_at_once(row, rows, &body);
        if at_once == 1 {
            return Jammed::row_by_row(rows, body);
        }
        let (groups, several) = (rows / at_once, self.several_rows(row, at_once, &body));
        Jammed { groups, several, rest: (!rows.is_multiple_of(at_once)).then_some((groups * at_once, body)) }
    }

    /// The rows that belong to no group.
    pub(super) fn rest_of_rows(&mut self, row: Reg, rows: usize, rest: Option<(usize, Vec<Stmt>)>) {
        if let Some((first, body)) = rest {
            let range = [self.literal(first as i64), self.literal(rows as i64)];
            self.body.push(up(row, range, body));
        }
    }

    /// The vector loop over so many rows, where `horizontal` counts such groups of rows.
    fn several_rows(&mut self, row: Reg, count: usize, body: &[Stmt]) -> Vec<Stmt> {
        let [Stmt::ForVec { index, count: lanes, body, .. }] = body else {
            panic!("rows at once are those of a vector loop")
        };
        let mut several = vec![];
        let mut here: BTreeMap<(RegType, Stmt), Reg> = BTreeMap::new();
        for k in 0..count {
            let mut names: BTreeMap<Reg, Reg> = BTreeMap::new();
            for stmt in body {
                let stmt = self.of_row(stmt, row, [k, count], &mut names);
                if let Some(dst) = assigned(&stmt) {
                    let first = *here.entry((self.regs[dst.0 as usize], into(&stmt, NOWHERE))).or_insert(dst);
                    if first != dst {
                        names.values_mut().filter(|name| **name == dst).for_each(|name| *name = first);
                        continue;
                    }
                }
                several.push(stmt);
            }
        }
        vec![Stmt::ForVec { index: *index, count: *lanes, body: several, folds: vec![] }]
    }

    /// A statement as row `k` of so many has it, on registers of its own.
    fn of_row(&mut self, stmt: &Stmt, row: Reg, [k, count]: [usize; 2], names: &mut BTreeMap<Reg, Reg>) -> Stmt {
        let named = |reg: &Reg| names.get(reg).copied().unwrap_or(*reg);
        let there = |address: &Address| {
            let Address { base, terms, offset } = ahead(address, row, k, count);
            Address { base, terms: terms.iter().map(|(reg, stride)| (named(reg), *stride)).collect(), offset }
        };
        let mut stmt = readdressed(stmt, &there);
        if let Stmt::Let { args, .. } = &mut stmt {
            args.iter_mut().for_each(|arg| *arg = named(arg));
        }
        if let Stmt::Move { src, .. } | Stmt::Store { src, .. } = &mut stmt {
            *src = named(src);
        }
        if let Some(dst) = assigned(&stmt) {
            let own = if k == 0 { dst } else { self.reg(self.regs[dst.0 as usize]) };
            names.insert(dst, own);
            stmt = into(&stmt, own);
        }
        stmt
    }
}

/// How many rows one vector loop takes best, where `body` is that of a row.
fn rows_at_once(row: Reg, rows: usize, body: &[Stmt]) -> usize {
    let [Stmt::ForVec { body, folds, .. }] = body else { return 1 };
    let loads: Vec<&Address> = body.iter().filter_map(loaded).collect();
    if !folds.is_empty() || !body.iter().all(|stmt| can_repeat(row, stmt)) {
        return 1;
    }
    // Literals come before the loop.
    let length = body.iter().filter(|stmt| !matches!(stmt, Stmt::Literal { .. })).count();
    let spares = |count: &usize| {
        let all: BTreeSet<_> =
            (0..*count).flat_map(|k| loads.iter().map(move |from| key(&ahead(from, row, k, 1)))).collect();
        let spared = loads.len() * count - all.len();
        let worth = spared > 0 && spared * SPARED_LEAST.1 >= loads.len() * count * SPARED_LEAST.0;
        worth && count * length <= STATEMENTS_MOST
    };
    (2..=ROWS_MOST.min(rows)).rev().find(spares).unwrap_or(1)
}

/// An address as one can look it up.
type Key = (Reg, Vec<(Reg, i64)>, i64);

fn key(address: &Address) -> Key {
    (address.base, address.terms.clone(), address.offset)
}

/// The address in row `k` of a group of so many, where `horizontal` counts groups.
fn ahead(address: &Address, row: Reg, k: usize, count: usize) -> Address {
    let mut address = address.clone();
    for (reg, stride) in &mut address.terms {
        if *reg == row {
            address.offset += *stride * k as i64;
            *stride *= count as i64;
        }
    }
    address
}

/// No register of a kernel.
const NOWHERE: Reg = Reg(u32::MAX);

/// The register that a statement of a vector loop assigns.
fn assigned(stmt: &Stmt) -> Option<Reg> {
    let (Stmt::Literal { dst, .. } | Stmt::Let { dst, .. } | Stmt::Move { dst, .. } | Stmt::Load { dst, .. }) = stmt
    else {
        return None;
    };
    Some(*dst)
}

/// A statement that assigns another register.
fn into(stmt: &Stmt, to: Reg) -> Stmt {
    let mut stmt = stmt.clone();
    if let Stmt::Literal { dst, .. } | Stmt::Let { dst, .. } | Stmt::Move { dst, .. } | Stmt::Load { dst, .. } =
        &mut stmt
    {
        *dst = to;
    }
    stmt
}

fn loaded(stmt: &Stmt) -> Option<&Address> {
    if let Stmt::Load { from, .. } = stmt { Some(from) } else { None }
}

/// Whether other rows can do the same beside it: a row is no number that is computed with, and functions are called for
/// long rows.
fn can_repeat(row: Reg, stmt: &Stmt) -> bool {
    if let Stmt::Let { op, args, .. } = stmt {
        return !matches!(op, Scalar::Call(_)) && !args.contains(&row);
    }
    if let Stmt::Move { src, .. } | Stmt::Store { src, .. } = stmt {
        return *src != row;
    }
    matches!(stmt, Stmt::Literal { .. } | Stmt::Load { .. })
}
