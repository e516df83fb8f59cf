//! Compilations of this process, kept for Programs that are traced again.
//!
//! The key is the traced Program, to the bit, with the positions of its instructions, and the options. Positions are
//! part of it because errors and plans name the user's lines: a function that is traced again from the same lines is
//! found, and one that only looks alike is compiled anew and reports its own lines. What was used last stays; machine
//! code is shared, arenas are not.

use std::sync::{Mutex, MutexGuard, PoisonError};

use retrograd_compiler::ir::{Attr, Error, Op, Program};

use crate::pipeline::{self, Compiled, Options};
use crate::times::Times;

/// How many compilations are kept.
pub const CAPACITY: usize = 128;

/// How many bytes the literals of all kept Programs may have together.
pub const LITERAL_BYTES: usize = 64 << 20;

/// What the cache did since the process began, or since [`clear`].
///
/// ```
/// use retrograd::{Array, cache, jit};
/// for _ in 0..2 {
///     // A new function each time, and the same Program.
///     let double = jit(|[x]| x + x);
///     assert_eq!(double.run(&[Array::scalar(2.0)])?, [Array::scalar(4.0)]);
/// }
/// assert!(cache::info().hits >= 1);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Compilations that were found.
    pub hits: u64,
    /// Compilations that were not.
    pub misses: u64,
    /// Compilations that are kept now, at most [`CAPACITY`].
    pub kept: usize,
}

struct Entry {
    program: Program,
    options: Options,
    literal_bytes: usize,
    compiled: Compiled,
}

/// The newest use is last.
static ENTRIES: Mutex<(Vec<Entry>, Info)> = Mutex::new((Vec::new(), Info { hits: 0, misses: 0, kept: 0 }));

fn entries() -> MutexGuard<'static, (Vec<Entry>, Info)> {
    // Nothing is half done when a thread panics here.
    ENTRIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What [`pipeline::compile`] makes of the Program under these options, or made before. An error is not kept.
pub fn compile(program: &Program, options: &Options) -> Result<Compiled, Error> {
    if let Some(found) = find(program, options) {
        return Ok(found);
    }
    let compiled = pipeline::compile(program, options)?;
    insert(Entry {
        program: program.clone(),
        options: options.clone(),
        literal_bytes: literal_bytes(program),
        compiled: compiled.clone(),
    });
    Ok(compiled)
}

/// What the cache did.
pub fn info() -> Info {
    let (entries, info) = &*entries();
    Info { kept: entries.len(), ..*info }
}

/// Forgets all compilations, and counts from 0; functions that hold theirs keep them.
pub fn clear() {
    *entries() = (Vec::new(), Info::default());
}

fn find(program: &Program, options: &Options) -> Option<Compiled> {
    let (entries, info) = &mut *entries();
    let Some(place) = entries.iter().rposition(|entry| same(&entry.options, options) && entry.program.same_as(program))
    else {
        info.misses += 1;
        return None;
    };
    info.hits += 1;
    let entry = entries.remove(place);
    let compiled = Compiled { times: Times { stages: vec![], cached: true }, ..entry.compiled.clone() };
    entries.push(entry);
    Some(compiled)
}

fn insert(entry: Entry) {
    if entry.literal_bytes > LITERAL_BYTES {
        return;
    }
    let (entries, _) = &mut *entries();
    entries.push(entry);
    let too_many = |entries: &[Entry]| {
        entries.len() > CAPACITY || entries.iter().map(|entry| entry.literal_bytes).sum::<usize>() > LITERAL_BYTES
    };
    while too_many(entries) {
        entries.remove(0);
    }
}

fn same(options: &Options, other: &Options) -> bool {
    let Options { wanted, argnums, strategy, budget, backend, spill, threads, arithmetic } = options;
    (wanted, argnums, budget, backend) == (&other.wanted, &other.argnums, &other.budget, &other.backend)
        && (spill, threads, arithmetic) == (&other.spill, &other.threads, &other.arithmetic)
        // A strategy is what it prints. It never decides a bit of the answer.
        && format!("{strategy:?}") == format!("{:?}", other.strategy)
}

fn literal_bytes(program: &Program) -> usize {
    let insts = program.functions.iter().flat_map(|function| &function.insts);
    let attrs = insts.filter_map(|inst| if let Op::Def(_, attrs) = &inst.op { Some(attrs) } else { None });
    let arrays = attrs
        .flat_map(|attrs| attrs.iter())
        .filter_map(|(_, attr)| if let Attr::Array(array) = attr { Some(array) } else { None });
    arrays.map(|array| array.ty().bytes()).sum()
}
