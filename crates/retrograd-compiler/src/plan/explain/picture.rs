//! The schedule of a loop as a picture: actions from left to right, steps from bottom to top.

use crate::plan::decision::Way;
use crate::plan::search::Plan;
use crate::plan::search::facts::LoopFacts;
use retrograd_schedule::{Action, next, start};

/// Schedules of more actions than this are cut off.
const ACTIONS: usize = 4000;

impl Plan {
    /// A picture of each loop whose number of steps is known, with a name for its file.
    pub fn pictures(&self) -> Vec<(String, String)> {
        let known = self.facts.loops.iter().enumerate().filter_map(|(k, facts)| {
            let way = self.decision.loops[&facts.bwd].usual();
            // Without a controller there is nothing to draw.
            (way.schedule.words() > 0 && facts.count? > 0).then(|| (format!("loop_{k}.svg"), picture(facts, way)))
        });
        known.collect()
    }
}

fn picture(facts: &LoopFacts, way: &Way) -> String {
    let count = facts.count.unwrap_or(0);
    let (mut words, table) = (vec![0; way.schedule.words()], way.schedule.table());
    start(&mut words, &way.schedule, way.sweep, count);
    let mut actions = vec![];
    while actions.len() < ACTIONS {
        let action = next(&mut words, &table);
        if action == Action::Done {
            break;
        }
        actions.push(action);
    }
    let (width, height) = (900.0, 420.0);
    let x = |k: usize| 20.0 + (width - 40.0) * k as f64 / actions.len().max(1) as f64;
    let y = |step: u64| height - 20.0 - (height - 60.0) * step as f64 / count.max(1) as f64;
    let draw = |(k, action): (usize, &Action)| {
        let line = |from: u64, to: u64, colour: &str| {
            format!(
                "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>\n",
                x(k),
                y(from),
                x(k + 1),
                y(to)
            )
        };
        let dot = |step: u64, colour: &str| {
            format!("<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2\" fill=\"{colour}\"/>\n", x(k), y(step))
        };
        match *action {
            Action::Advance { from, to } => line(from, to, "#909090"),
            Action::Tape { from, to, .. } => line(from, to, "#205080"),
            Action::Reverse { from, to, .. } => line(to, from, "#c03020"),
            Action::Youturn { step } => line(step + 1, step, "#e09020"),
            Action::Snapshot { step, .. } => dot(step, "#208040"),
            Action::Restore { step, .. } => dot(step, "#80c090"),
            Action::Spill { step, .. } => dot(step, "#802080"),
            Action::Fetch { step, .. } => dot(step, "#c080c0"),
            Action::Turn => format!(
                "<line x1=\"{0:.1}\" y1=\"20\" x2=\"{0:.1}\" y2=\"{1}\" stroke=\"black\" stroke-dasharray=\"4\"/>\n",
                x(k),
                height - 20.0
            ),
            Action::Done => String::new(),
            Action::Run(run) => panic!("{run:?} was not asked for"),
        }
    };
    let shapes: String = actions.iter().enumerate().map(draw).collect();
    let title = format!("{}: {count} steps, {}", facts.pos, way.schedule).replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"20\" \
         y=\"16\">{title}</text>\n<text x=\"20\" y=\"32\">grey: advanced, blue: recorded, red: reversed, orange: \
         turned back, green: held and restored, violet: on disk</text>\n{shapes}</svg>\n"
    )
}
