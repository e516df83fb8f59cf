//! A cotangent while it is summed.

use crate::ir::{Builder, Contribution, Pos, Type, Value};

/// The sum so far, and the user's line of what was added last. A contribution inside or outside of a window waits for
/// the next one: most likely that is what it is added to, or what fills the window, and no zeros are made. So a sweep
/// over updates in place works on windows, to any order of derivatives.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum(Option<(Contribution, Pos)>);

impl Sum {
    /// Adds to a cotangent of that type.
    pub(super) fn add(&mut self, b: &Builder, ty: &Type, contribution: Contribution) {
        let Some((so_far, pos)) = self.0.take() else {
            self.0 = Some((contribution, b.pos()));
            return;
        };
        let earlier = |build: &dyn Fn() -> Value| at_line(b, &pos, build);
        let sum = match (&so_far, &contribution) {
            (Contribution::At { .. }, Contribution::Outside { .. })
                if let Some(sum) = fill(b, &contribution, &so_far) =>
            {
                sum
            }
            (Contribution::Outside { .. }, Contribution::At { .. })
                if let Some(sum) = fill(b, &so_far, &contribution) =>
            {
                sum
            }
            (Contribution::At { .. }, Contribution::Dense(_) | Contribution::Outside { .. }) => {
                let array = array(b, ty, &contribution);
                earlier(&|| add_to(b, array, &so_far))
            }
            (Contribution::Dense(_) | Contribution::Outside { .. } | Contribution::At { .. }, _) => {
                let so_far = earlier(&|| array(b, ty, &so_far));
                add_to(b, so_far, &contribution)
            }
        };
        self.0 = Some((Contribution::Dense(sum), b.pos()));
    }

    /// The sum as an array of that type, which it now is.
    pub(super) fn settled(&mut self, b: &Builder, ty: &Type) -> Option<Value> {
        let (contribution, pos) = self.0.take()?;
        let sum = at_line(b, &pos, &|| array(b, ty, &contribution));
        self.0 = Some((Contribution::Dense(sum), pos));
        Some(sum)
    }
}

fn at_line(b: &Builder, pos: &Pos, build: &dyn Fn() -> Value) -> Value {
    let here = b.pos();
    b.set_pos(pos);
    let built = build();
    b.set_pos(&here);
    built
}

/// A contribution as an array.
pub(super) fn array(b: &Builder, ty: &Type, contribution: &Contribution) -> Value {
    match contribution {
        Contribution::Dense(ct) => *ct,
        Contribution::Outside { def, ct, window, indices, attrs } => {
            let zeros = b.zeros(window);
            b.op(def, attrs.clone(), &[&[*ct, zeros], &indices[..]].concat())
        }
        Contribution::At { .. } => add_to(b, b.zeros(ty), contribution),
    }
}

fn add_to(b: &Builder, sum: Value, contribution: &Contribution) -> Value {
    match contribution {
        Contribution::At { def, update, indices, attrs } => {
            b.op(def, attrs.clone(), &[&[sum, *update], &indices[..]].concat())
        }
        Contribution::Dense(_) | Contribution::Outside { .. } => b.add(sum, array(b, &b.ty(sum), contribution)),
    }
}

/// What counts outside of a window and what counts inside of the same are one array: `update` of the window. Of the
/// rows that add at places, only `add_at` has indices and attributes like `update`.
fn fill(b: &Builder, outside: &Contribution, inside: &Contribution) -> Option<Value> {
    let Contribution::Outside { def, ct, window, indices, attrs } = outside else { return None };
    let Contribution::At { update, indices: places, attrs: stepped, .. } = inside else { return None };
    let same = indices == places && attrs == stepped && b.ty(*update) == *window;
    same.then(|| b.op(def, attrs.clone(), &[&[*ct, *update], &indices[..]].concat()))
}
