//! Memory: places one decision. From a Program and its schedules to a tree of nodes with buffers, and its bytes.
//!
//! Four steps, each in its file. `flatten` copies every body into place and gives each unwind its schedule (`indexed`
//! the ops with arrays of indices). `group` is loop fusion: it gathers straight-line code into nests (`component` says
//! which small axes are unrolled, `layout` copies what does not lie along their lanes, `product` prepares contractions,
//! `shifted` the writes to windows of one array). `buffers` assigns a buffer to every array, in place where it can
//! (`double_buffer` where a step reads neighbours of what it writes), and to what crosses between the parts of long code
//! (`outline`). `offsets` lays them out in one arena.

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
mod shifted;
mod tree;
mod view;
mod work;

pub use outline::{Part, Parts, Slot};
pub use tree::{
    Access, Block, Branch, Buffer, BufferId, Call, Carried, Drive, Emitted, Fault, Frame, FrameId, Index, Loop, Nest,
    NestOutput, Node, Onto, OpItem, Order, Placed, PointerId, Probe, RowPlace, RowRead, RowTime, RowWrite, Step,
    StepEnd, Storage, Trajectory, TrajectoryId, Val, While,
};

use crate::plan::analysis::grain::Grain;
use crate::plan::decision::Decision;
use crate::plan::transform::split_branches::BranchSplit;

/// Places a Program under a decision. The peak is `bytes` of the result, exactly.
pub(in crate::plan) fn place(branch_split: &BranchSplit, decision: &Decision, grain: Grain) -> Placed {
    let mut placed = flatten::flatten(branch_split, decision, grain);
    buffers::assign(&mut placed);
    offsets::lay_out(&mut placed);
    placed
}
