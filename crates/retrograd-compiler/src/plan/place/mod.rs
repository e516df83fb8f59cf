//! Applies a decision: from a Program and its schedules to a tree of nodes with memory.
//!
//! Four steps, each in its file: `flatten` copies every body into place and gives each unwind its schedule
//! (`indexed` the ops with arrays of indices); `group` gathers straight-line
//! code into loop nests (`product` prepares contractions, `shifted` the writes to windows of one array); `store` finds memory for every
//! array, in place where it can, and for what crosses between the `parts` of long code; `arena` lays it out.

mod arena;
mod flatten;
mod group;
mod indexed;
mod nest;
mod parts;
mod product;
mod row;
mod shifted;
mod store;
mod tree;
mod view;

pub use parts::STATEMENTS_PER_PART;
pub use row::row_layout;
pub use tree::{
    Access, Block, Branch, Call, Carried, Drive, Emitted, Fault, Home, Index, Loop, Nest, Node, Order, Part, Parts, Placed, PointerId,
    Probe, Root, RowItem, RowPlace, RowRead, RowTime, RowWrite, Slot, Step, StepEnd, Store, StoreId, Trajectory, TrajectoryId, Val, While,
};

use super::Decision;
use crate::ir::Program;

/// Places a Program under a decision, with so many statements in a function, about. The peak is `bytes` of the result, exactly.
pub fn place(program: &Program, decision: &Decision, statements_per_part: usize) -> Placed {
    let mut placed = flatten::flatten(program, decision);
    store::assign(&mut placed, statements_per_part);
    arena::lay_out(&mut placed);
    placed
}
