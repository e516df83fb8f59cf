//! What placed nodes cost, in additions.

use crate::ops;
use crate::plan::analysis::counts::UNKNOWN_STEPS;
use crate::plan::memory::{Block, Call, Loop, Nest, Node, Placed, Step, Val};

impl Nest {
    /// Work of all its elements.
    pub fn work(&self, placed: &Placed) -> u64 {
        let components = |value: &Val| placed.components(*value, self.shape.len()) as u64;
        let rows = self.rows.iter().map(|item| u64::from(item.def.cost) * components(&item.result)).sum::<u64>();
        let each = rows + self.outputs.iter().map(|root| components(root.source())).sum::<u64>();
        self.shape.iter().map(|extent| *extent as u64).fold(each, u64::saturating_mul)
    }
}

impl Loop {
    /// Work of all its steps.
    pub(in crate::plan) fn work(&self, placed: &Placed) -> u64 {
        self.steps.unwrap_or(UNKNOWN_STEPS).saturating_mul(self.step.work(placed))
    }
}

impl Step {
    fn work(&self, placed: &Placed) -> u64 {
        self.block.work(placed)
    }
}

impl Block {
    fn work(&self, placed: &Placed) -> u64 {
        self.nodes.iter().map(|node| node.work(placed)).fold(0, u64::saturating_add)
    }
}

impl Node {
    fn work(&self, placed: &Placed) -> u64 {
        let elements = |value: &Val| placed.ty(*value).elements() as u64;
        match self {
            Node::Scalar(item) => u64::from(item.def.cost),
            Node::Load { .. } | Node::Clamp { .. } | Node::Probe { .. } => 1,
            Node::Nest(nest) => nest.work(placed),
            Node::Reduce { operand, .. } => elements(operand),
            Node::Scan { operands, .. } => operands.iter().map(elements).sum(),
            // m·k, k·n and m·n elements are m·n·k products.
            Node::Dot { result, operands: [left, right], .. } => {
                let all = [result, left, right].map(|value| elements(value) as f64);
                u64::from(ops::DOT.cost).saturating_mul(all.iter().product::<f64>().sqrt() as u64)
            }
            Node::Call(call) => call.work(placed),
            Node::If(branch) => branch.blocks.iter().map(|block| block.work(placed)).max().unwrap_or(0),
            Node::For(node) => node.work(placed),
            Node::While(node) => {
                UNKNOWN_STEPS.saturating_mul(node.cond.work(placed).saturating_add(node.step.work(placed)))
            }
            Node::Sweep(drive) | Node::Reversal(drive) => {
                let steps = placed.trajectories[drive.trajectory.0 as usize].steps.unwrap_or(UNKNOWN_STEPS);
                steps.saturating_mul(drive.steps().map(|step| step.work(placed)).fold(0, u64::saturating_add))
            }
        }
    }
}

impl Call {
    /// A product of matrices says it itself; of other routines, what they go through once.
    fn work(&self, placed: &Placed) -> u64 {
        if self.attrs.get("products").is_some() {
            return u64::from(ops::DOT.cost).saturating_mul(ops::Products::read(&self.attrs).work() as u64);
        }
        let all = self.args.iter().chain(&self.scratch).chain([&self.result]);
        all.map(|value: &Val| placed.ty(*value).elements() as u64).sum()
    }
}
