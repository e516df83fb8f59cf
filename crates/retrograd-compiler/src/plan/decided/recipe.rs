//! Whether a recipe is one: what the controller and the layout of its pool rely on.

use retrograd_schedule::{Part, PartId, Recipe, Sweep};

/// What is known of a part.
#[derive(Clone, Copy)]
struct Seen {
    steps: u64,
    /// Whether it ends a first sweep.
    ends: bool,
    /// Whether it goes by the disk.
    spills: bool,
}

/// A recipe of so many steps: every range is covered once, parts come after those that they use, and the first sweep
/// ends once, on the way right. What is wrong is said in words.
pub(super) fn check(recipe: &Recipe) -> Result<(), String> {
    let mut seen: Vec<Seen> = vec![];
    for (number, part) in recipe.parts.iter().enumerate() {
        seen.push(check_part(recipe, *part, &seen).map_err(|message| format!("part {number} of a recipe {message}"))?);
    }
    let root = match recipe.root {
        Some(root) => *seen.get(root as usize).ok_or("a recipe begins with a part that it does not have")?,
        None => Seen { steps: 0, ends: false, spills: false },
    };
    let sweeps = match recipe.sweep {
        Sweep::Split => true,
        Sweep::Joint => false,
        Sweep::Online => return Err("a recipe knows the number of its steps before".into()),
    };
    match root {
        Seen { steps, .. } if steps != recipe.steps => Err(format!("a recipe for {} steps has {steps}", recipe.steps)),
        Seen { steps, .. } if i64::try_from(steps).is_err() => Err(format!("a recipe has {steps} steps")),
        Seen { ends, .. } if ends != sweeps => {
            Err("a recipe has the end of a sweep where there is one, and only there".into())
        }
        Seen { .. } => Ok(()),
    }
}

fn check_part(recipe: &Recipe, part: Part, seen: &[Seen]) -> Result<Seen, String> {
    let of = |part: PartId| {
        seen.get(part as usize).copied().ok_or_else(|| format!("uses part {part}, which is not before it"))
    };
    let long = "has more steps than can be counted";
    match part {
        Part::Youturn => Ok(Seen { steps: 1, ends: false, spills: false }),
        Part::End => Ok(Seen { steps: 0, ends: true, spills: false }),
        Part::Tape { steps, choice, then } => {
            let rest = then.map(of).transpose()?;
            if steps == 0 || choice as usize >= recipe.record_bytes.len() || rest.is_some_and(|rest| rest.spills) {
                return Err("records nothing, by no choice, or goes by the disk after it".into());
            }
            let all = rest.map_or(0, |rest| rest.steps).checked_add(steps).ok_or(long)?;
            Ok(Seen { steps: all, ends: rest.is_some_and(|rest| rest.ends), spills: false })
        }
        Part::Hold { times, advance, right, left } => {
            let (rest, steps) = held(times, advance, of(right)?, of(left)?)?;
            if rest.spills || of(left)?.spills {
                return Err("goes by the disk after a state is held in memory".into());
            }
            Ok(Seen { steps, ends: rest.ends, spills: false })
        }
        Part::Spill { advance, right, left } => {
            let (rest, steps) = held(1, advance, of(right)?, of(left)?)?;
            Ok(Seen { steps, ends: rest.ends, spills: true })
        }
    }
}

/// The rest after held states, and all steps.
fn held(times: u64, advance: u64, right: Seen, left: Seen) -> Result<(Seen, u64), String> {
    if times == 0 || advance == 0 || left.steps != advance || left.ends || (right.steps == 0 && !right.ends) {
        return Err("does not reverse the steps that it advances".into());
    }
    let steps = times.checked_mul(advance).and_then(|steps| steps.checked_add(right.steps));
    steps.map(|steps| (right, steps)).ok_or_else(|| "has more steps than can be counted".into())
}
