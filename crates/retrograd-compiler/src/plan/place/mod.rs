//! Applies a decision: from a Program and its schedules to a tree of nodes with memory.
//!
//! Four steps, each in its file: `flatten` copies every body into place and gives each unwind its schedule
//! (`indexed` the ops with arrays of indices); `group` gathers straight-line
//! code into loop nests (`component` says which small axes are unrolled, `layout` copies what does not lie along their
//! lanes, `product` prepares contractions, `shifted` the writes to windows of one array); `store` finds memory for
//! every array, in place where it can (`turns` where a step reads neighbours of what it writes), and for what crosses
//! between the `parts` of long code; `arena` lays it out.

mod buffers;
mod component;
mod double_buffer;
mod flatten;
mod group;
mod indexed;
mod layout;
mod nest;
mod offsets;
mod outline;
mod product;
mod row;
mod shifted;
mod tree;
mod view;

pub(super) use component::long_axes;
pub use outline::{Grain, Part, Parts, Slot};
pub(super) use product::{extents, is_called};
pub use row::row_layout;
pub use tree::{
    Access, Block, Branch, Buffer, BufferId, Call, Carried, Drive, Emitted, Fault, Frame, FrameId, Index, Loop, Nest,
    NestOutput, Node, Onto, OpItem, Order, Placed, PointerId, Probe, RowPlace, RowRead, RowTime, RowWrite, Step,
    StepEnd, Storage, Trajectory, TrajectoryId, Val, While,
};

use super::Decision;
use super::split_branches::BranchSplit;

/// Places a Program under a decision. The peak is `bytes` of the result, exactly.
pub(super) fn place(branch_split: &BranchSplit, decision: &Decision, grain: Grain) -> Placed {
    let mut placed = flatten::flatten(branch_split, decision, grain);
    buffers::assign(&mut placed);
    offsets::lay_out(&mut placed);
    placed
}
