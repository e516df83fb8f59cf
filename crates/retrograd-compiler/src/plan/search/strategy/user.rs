//! What the user says about named values and loops; the rest is `auto`.

use super::{Rematerialise, Strategy, known_count, positive};
use crate::ir::{Error, ErrorKind, Pos};
use crate::plan::decision::Decision;
use crate::plan::search::cut::Fate;
use crate::plan::search::facts::{Facts, LoopFacts};
use crate::plan::search::fit::{Fitted, Inside};
use crate::plan::search::share::share;

/// Fates of values and loops by their lines; what is not named is decided as by `auto`.
///
/// A value is named by its line (`model.py:12`), by the op that makes it (`sin`), or by both (`sin at model.py:12`); a
/// loop by its line. A loop of which a value is to be kept records every step. The steps of a loop of at most four
/// inside another are code of the loop around, and its values are named like those.
///
/// ```
/// use retrograd_compiler::plan::Fate;
/// use retrograd_compiler::plan::strategy::{LoopFate, User};
/// let user = User {
///     values: vec![("exp at model.py:12".into(), Fate::Keep)],
///     loops: vec![("model.py:20".into(), LoopFate::Revolve { slots: 5 })],
/// };
/// assert_eq!(user.values.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// Values, and what becomes of them.
    pub values: Vec<(String, Fate)>,
    /// Loops, and how they are reversed.
    pub loops: Vec<(String, LoopFate)>,
}

/// How a loop is reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopFate {
    /// Every step is recorded.
    KeepAll,
    /// Every state is computed again from the start.
    RecomputeAll,
    /// A state is held every so many steps.
    Periodic {
        /// How many.
        period: u64,
    },
    /// So many states are held, that of the start included.
    Revolve {
        /// How many.
        slots: u64,
    },
}

impl Strategy for User {
    fn name(&self) -> &'static str {
        "user"
    }

    fn rematerialise(&self) -> Rematerialise {
        Rematerialise::Fit
    }

    fn decide(&self, facts: &Facts, limit: Option<u64>) -> Result<Decision, Error> {
        self.check(facts)?;
        share(facts, limit, &|inside, bytes| self.fit(inside, bytes))
    }

    fn fate(&self, origin: &str) -> Option<Fate> {
        self.values.iter().find(|(name, _)| names(name, origin)).map(|(_, fate)| *fate)
    }
}

/// Whether a value is meant: what makes it, its line, or both.
fn names(name: &str, origin: &str) -> bool {
    // A place of a record that two branches share has two origins.
    if let Some((one, other)) = origin.split_once(" or ") {
        return names(name, one) || names(name, other);
    }
    let (op, place) = origin.split_once(" at ").map_or((origin, None), |(op, place)| (op, Some(place)));
    let here = |name: &str| place.is_some_and(|place| is_place(name, place));
    match name.split_once(" at ") {
        Some((maker, line)) => op == maker && here(line),
        None => op == name || here(name),
    }
}

/// Whether a line is meant, with or without the folders of its file.
fn is_place(name: &str, place: &str) -> bool {
    place.strip_suffix(name).is_some_and(|folders| folders.is_empty() || folders.ends_with(['/', '\\']))
}

impl User {
    fn fit(&self, inside: Inside<'_>, bytes: Option<u64>) -> Result<Fitted, Error> {
        let facts = inside.facts;
        if facts.keeps_nothing() {
            return Ok(inside.nothing());
        }
        let place = facts.pos.to_string();
        let named = self.loops.iter().find(|(name, _)| is_place(name, &place)).map(|(_, fate)| *fate);
        let keeps = facts.residuals.iter().any(|residual| self.fate(&residual.origin) == Some(Fate::Keep));
        let fate = named.or(keeps.then_some(LoopFate::KeepAll));
        let recorded = |period: u64, count: u64| {
            let choice = facts.everything();
            inside.met(|sweep| inside.periodic(choice.sweep(sweep), choice, period, count))
        };
        match fate {
            Some(LoopFate::Periodic { period }) => positive("a period", period)?,
            Some(LoopFate::Revolve { slots }) => positive("a number of slots", slots)?,
            None | Some(LoopFate::KeepAll | LoopFate::RecomputeAll) => {}
        }
        Ok(match fate {
            None => inside.fit(bytes),
            Some(LoopFate::KeepAll) => {
                let count = known_count(facts, self.name())?;
                recorded(count.max(1), count)
            }
            Some(LoopFate::Periodic { period }) => recorded(period, known_count(facts, self.name())?),
            Some(LoopFate::RecomputeAll) => inside.met(|sweep| inside.revolve(sweep, Some(0))),
            Some(LoopFate::Revolve { slots }) => inside.met(|sweep| inside.slots(sweep, slots)),
        })
    }

    /// A name that is not there is a mistake.
    fn check(&self, facts: &Facts) -> Result<(), Error> {
        let known =
            |name: &str, facts: &LoopFacts| facts.residuals.iter().any(|residual| names(name, &residual.origin));
        // A value that is never to be kept is in no record, so that only its line can be looked for.
        let outside = |name: &str| facts.residuals.iter().any(|residual| names(name, &residual.origin));
        let missing = self.values.iter().find(|(name, fate)| {
            *fate == Fate::Keep && !outside(name) && !facts.loops.iter().any(|facts| known(name, facts))
        });
        if let Some((name, _)) = missing {
            let all = facts.loops.iter().flat_map(|facts| &facts.residuals).chain(&facts.residuals);
            let there: Vec<&str> = all.map(|residual| residual.origin.as_str()).collect();
            return Err(argument(format!("no derivative reads a value `{name}`; there are {}", there.join(", "))));
        }
        match self
            .loops
            .iter()
            .find(|(name, _)| facts.loops.iter().all(|facts| !is_place(name, &facts.pos.to_string())))
        {
            None => Ok(()),
            Some((name, _)) => {
                let there: Vec<String> = facts.loops.iter().map(|facts| facts.pos.to_string()).collect();
                let advice = "the steps of a loop of at most four inside another are code of the loop around, which \
                              can be named instead";
                Err(argument(format!("no loop at `{name}` is unwound; there are {}; {advice}", there.join(", "))))
            }
        }
    }
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, Pos::unknown(), message)
}
