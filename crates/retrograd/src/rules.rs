//! Derivatives stated within a scope, for an op by its name; cotangents changed on their way.

use retrograd_compiler::ir::{Attr, Attrs, Error, ErrorKind, OpDef, Pos};
use retrograd_compiler::ops;

use crate::control::{custom_vjp, function};
use crate::trace::{Moment, Site, Traced, TracedFunction, TracedRule, Tracer};
use crate::var::{Trace, Var, here};

impl<'t> Var<'t> {
    /// The same value, shown under a name to whoever observes a run
    /// ([`run_observed`](crate::Transformed::run_observed)), once per step of the loops around it. Steps that are
    /// run again for a gradient show nothing, whatever the budget.
    ///
    /// ```
    /// use retrograd::{Array, for_loop, grad};
    /// let f = grad(|[x]| for_loop(3, x, |_, z| (2.0 * z).probe("z").probe_cotangent("ct")));
    /// let mut seen = vec![];
    /// let gradient = f.run_observed(&[Array::scalar(1.0)], &mut |s| seen.push((s.name.to_owned(), s.indices[0], s.value.as_f64()[0])))?;
    /// assert_eq!(gradient, [Array::scalar(8.0)]);
    /// let forward = [("z", 0, 2.0), ("z", 1, 4.0), ("z", 2, 8.0)];
    /// let backward = [("ct", 2, 1.0), ("ct", 1, 2.0), ("ct", 0, 4.0)];
    /// let expected: Vec<_> = forward.into_iter().chain(backward).map(|(name, i, value)| (name.to_owned(), i, value)).collect();
    /// assert_eq!(seen, expected);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn probe(self, name: &str) -> Var<'t> {
        let (pos, attrs) = (here(), Attrs::none().with("name", Attr::Text(name.to_owned())));
        self.trace().attempt(|tracer| tracer.op(&ops::PROBE, attrs, &[self.traced()], &pos));
        self
    }

    /// The same value; its cotangent in reverse mode is shown under a name, as by [`probe`](Var::probe). Forward mode
    /// refuses it.
    #[track_caller]
    pub fn probe_cotangent(self, name: &str) -> Var<'t> {
        self.map_cotangent(|ct| ct.probe(name))
    }

    /// The same value, whose cotangent in reverse mode is `change(ct)`: scaled, clipped or replaced. Forward mode
    /// refuses it, and so does reverse mode over reverse mode where the change is not linear.
    ///
    /// ```
    /// use retrograd::{Array, grad};
    /// let f = grad(|[x]| x.map_cotangent(|ct| 0.5 * ct) * x);
    /// assert_eq!(f.run(&[Array::scalar(4.0)])?, [Array::scalar(6.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn map_cotangent(self, change: impl FnOnce(Var<'t>) -> Var<'t>) -> Var<'t> {
        custom_vjp(self, |x| x, |x| (x, ()), |(), ct| change(ct))
    }

    /// The same value, whose cotangent in reverse mode is kept between two numbers.
    ///
    /// ```
    /// use retrograd::{Array, for_loop, grad};
    /// let f = grad(|[x]| for_loop(5, x, |_, z| 2.0 * z.clip_cotangent(-3.0, 3.0)));
    /// assert_eq!(f.run(&[Array::scalar(0.1)])?, [Array::scalar(3.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn clip_cotangent(self, low: f64, high: f64) -> Var<'t> {
        self.map_cotangent(|ct| ct.maximum(low).minimum(high))
    }
}

/// Ends a run with a message, and the line of this call, where the condition (all of it, if it is an array) does not
/// hold: every loop around it is left at once. Only the first execution of a step checks: what is run again for a
/// gradient does not, and a gradient checks what its function does, whether its value is asked for or not. Of several
/// checks the first in the order of the program is the one that fails, under every plan, back end and number of
/// threads.
///
/// ```
/// use retrograd::{Array, ErrorKind, check, for_loop, grad};
/// let f = grad(|[x]| for_loop(10, x, |_, z| {
///     check(z.lt(100.0), "z grows too large");
///     z * z
/// }));
/// assert_eq!(f.run(&[Array::scalar(1.0)])?, [Array::scalar(1024.0)]);
/// let error = f.run(&[Array::scalar(2.0)]).unwrap_err();
/// assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Check { tag: String::new() }, "z grows too large"));
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn check(condition: Var<'_>, message: &str) {
    let pos = here();
    condition.trace().attempt(|tracer| tracer.check(condition.traced(), message, "", &pos));
}

impl Tracer {
    /// Ends the run where a condition does not hold; `tag` says what kind of failure it is, for whoever handles the
    /// error ([`ErrorKind::Check`]): a front end finds there what to raise.
    pub fn check(&self, condition: Traced, message: &str, tag: &str, pos: &Pos) -> Result<(), Error> {
        let text = |text: &str| Attr::Text(text.to_owned());
        self.op(&ops::CHECK, Attrs::none().with("message", text(message)).with("tag", text(tag)), &[condition], pos)?;
        Ok(())
    }
}

/// What `body` gives, where the derivative of every op of that name (`retrograd ops` lists them) in reverse mode is
/// `backward(args, y, ct)`: one cotangent per argument; those of arguments that are no floats are ignored. `like` is
/// any value of the trace. All that `backward` reads are its arguments and literals.
///
/// ```
/// use retrograd::{Array, grad, override_vjp};
/// // The larger of two gives both of them the cotangent.
/// let f = grad(|[x, y]| override_vjp(x, "max", |_, _, ct| vec![ct, ct], || x.maximum(y))).argnums(&[0, 1]);
/// let (x, y) = (Array::scalar(1.0), Array::scalar(2.0));
/// assert_eq!(f.run(&[x, y])?, [Array::scalar(1.0), Array::scalar(1.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn override_vjp<'t, R>(
    like: Var<'t>,
    op: &str,
    backward: impl Fn(&[Var<'t>], Var<'t>, Var<'t>) -> Vec<Var<'t>>,
    body: impl FnOnce() -> R,
) -> R {
    within(like, op, body, |trace, row, site| {
        let args = site.types.len();
        let result = (row.infer)(row, &site.types, &site.attrs).expect("the op was traced over these types");
        let keeps = function(trace, &site.types, &site.pos, |args| {
            let y = apply(trace, row, site, args);
            [vec![y], args.to_vec(), vec![y]].concat()
        });
        let types = [&site.types[..], &[result.clone(), result]].concat();
        let bwd = function(trace, &types, &site.pos, |params| {
            let cts = backward(&params[..args], params[args], params[args + 1]);
            let float = |k: &usize| site.types[*k].dtype.is_float();
            (0..cts.len()).filter(|k| *k >= args || float(k)).map(|k| cts[k]).collect::<Vec<_>>()
        });
        Some(TracedRule::Vjp { forward: keeps.0?, backward: bwd.0? })
    })
}

/// As [`override_vjp`], for both modes: `tangent(args, y, dargs)` gives the tangent of the result and is linear in
/// `dargs`.
///
/// ```
/// use retrograd::{Array, jvp, override_jvp};
/// let f = jvp(|[x]| override_jvp(x, "sin", |_, _, dx| 10.0 * dx[0], || x.sin() + x.cos()));
/// assert_eq!(f.run_with(&[Array::scalar(0.0)], &[Array::scalar(1.0)])?.1, Array::scalar(10.0));
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn override_jvp<'t, R>(
    like: Var<'t>,
    op: &str,
    tangent: impl Fn(&[Var<'t>], Var<'t>, &[Var<'t>]) -> Var<'t>,
    body: impl FnOnce() -> R,
) -> R {
    within(like, op, body, |trace, row, site| {
        let args = site.types.len();
        let floats = site.types.iter().filter(|ty| ty.dtype.is_float()).cloned().collect::<Vec<_>>();
        let made = function(trace, &[&site.types[..], &floats].concat(), &site.pos, |params| {
            let (values, tangents) = params.split_at(args);
            let mut tangents = tangents.iter().copied();
            // What is not a float has no tangent: its value stands in its place.
            let all: Vec<Var<'t>> =
                (0..args)
                    .map(|k| {
                        if site.types[k].dtype.is_float() { tangents.next().expect("one per float") } else { values[k] }
                    })
                    .collect();
            tangent(values, apply(trace, row, site, values), &all)
        });
        Some(TracedRule::Jvp { tangent: made.0? })
    })
}

/// Runs `body`, then gives each op of that name in it the derivative that `rule` builds.
#[track_caller]
fn within<'t, R>(
    like: Var<'t>,
    op: &str,
    body: impl FnOnce() -> R,
    rule: impl Fn(&'t Trace, &'static OpDef, &Site) -> Option<TracedRule>,
) -> R {
    let (pos, trace) = (here(), like.trace());
    let row = trace.attempt(|_| {
        let unknown = || Error::new(ErrorKind::Argument, pos.clone(), format!("there is no op `{op}`"));
        ops::find(op).ok_or_else(unknown)
    });
    let since: Moment = trace.tracer().moment();
    let result = body();
    let Some(row) = row.filter(|_| !trace.has_failed()) else { return result };
    for site in trace.tracer().sites(row, since) {
        let body = plain(trace, row, &site);
        if let Some((body, rule)) = body.zip(rule(trace, row, &site)) {
            trace.tracer().replace(&site, body, rule);
        }
    }
    result
}

/// The op as a function.
fn plain(trace: &Trace, def: &'static OpDef, site: &Site) -> Option<TracedFunction> {
    function(trace, &site.types, &site.pos, |args| apply(trace, def, site, args)).0
}

fn apply<'t>(trace: &'t Trace, def: &'static OpDef, site: &Site, args: &[Var<'t>]) -> Var<'t> {
    let traced: Vec<_> = args.iter().map(|v| v.traced()).collect();
    let made = trace.attempt(|tracer| tracer.op(def, site.attrs.clone(), &traced, &site.pos));
    made.map_or_else(|| args[0], |traced| trace.var(traced))
}
