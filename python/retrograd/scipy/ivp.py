"""`scipy.integrate.solve_ivp` and `odeint`: explicit Runge–Kutta methods with SciPy's own coefficients and control of the step, as a loop of the Program.

Steps are chosen from values and have no derivative of their own: the gradient is that of the method with the steps it took. How many there are is not
known before it runs, so that results at them have no shape: `t_eval` says where results are wanted, and `sol.sol(t)` integrates again for its points.
"""

import sys

import numpy as np

from .. import errors
from ..custom import check, stop_gradient
from ..functions import _as_array, payload_of
from ..outcome import readable
from .elementwise import looped
from .table import implements


class Method:
    """A Runge–Kutta pair, with the coefficients that SciPy's class has."""

    def __init__(self, kind):
        self.a, self.b, self.c = np.asarray(kind.A), np.asarray(kind.B), np.asarray(kind.C)
        self.stages, self.exponent = kind.n_stages, -1.0 / (kind.error_estimator_order + 1)
        self.high = hasattr(kind, "E3")
        if self.high:
            self.e3, self.e5, self.d, self.a_extra, self.c_extra = (
                np.asarray(getattr(kind, name)) for name in ("E3", "E5", "D", "A_EXTRA", "C_EXTRA")
            )
        else:
            self.e, self.p = np.asarray(kind.E), np.asarray(kind.P)

    def step(self, fun, t, y, f, h):
        """The state after a step of length h, the slope there, and all slopes on the way."""
        slopes = [f]
        for s in range(1, self.stages):
            slopes.append(fun(t + self.c[s] * h, y + h * _sum(self.a[s], slopes)))
        new = y + h * _sum(self.b, slopes)
        slope = fun(t + h, new)
        return new, slope, [*slopes, slope]

    def error(self, slopes, h, scale):
        """The norm of the estimated error over the scale."""
        if not self.high:
            return _norm(h * _sum(self.e, slopes) / scale)
        fifth, third = _sum(self.e5, slopes) / scale, _sum(self.e3, slopes) / scale
        squares5, squares3 = np.sum(fifth * fifth), np.sum(third * third)
        total = squares5 + 0.01 * squares3
        some = total > 0
        return np.where(some, np.abs(h) * squares5 / np.sqrt(np.where(some, total, 1.0) * scale.shape[0]), 0.0)

    def between(self, fun, t, y, new, f, slope, slopes, h, x):
        """The interpolation inside of a step, at fractions x of it: one row a fraction."""
        if not self.high:
            powers = _sum_rows([_sum(self.p[:, j], slopes) for j in range(self.p.shape[1])], x)
            return y + h * powers
        extended = list(slopes)
        for s, (a, c) in enumerate(zip(self.a_extra, self.c_extra)):
            extended.append(fun(t + c * h, y + h * _sum(a, extended)))
        delta = new - y
        parts = [delta, h * f - delta, 2.0 * delta - h * (slope + f), *[h * _sum(row, extended) for row in self.d]]
        total = 0.0
        for k, part in enumerate(reversed(parts)):
            total = (total + part) * (x if k % 2 == 0 else 1.0 - x)
        return y + total


def _sum(coefficients, slopes):
    total = 0.0
    for c, slope in zip(coefficients, slopes):
        if c:
            total = total + float(c) * slope
    return total


def _sum_rows(parts, x):
    total, power = 0.0, 1.0
    for part in parts:
        power = power * x
        total = total + power * part
    return total


def _norm(x):
    return np.sqrt(np.sum(x * x)) / x.shape[0] ** 0.5


def _first_step(fun, t0, y0, end, f0, direction, exponent, rtol, atol):
    """Hairer, Nørsett and Wanner's guess (II.4), as SciPy has it."""
    scale = atol + np.abs(y0) * rtol
    d0, d1 = _norm(y0 / scale), _norm(f0 / scale)
    tiny = (d0 < 1e-5) | (d1 < 1e-5)
    h0 = np.minimum(np.where(tiny, 1e-6, 0.01 * d0 / np.where(tiny, 1.0, d1)), np.abs(end - t0))
    f1 = fun(t0 + h0 * direction, y0 + h0 * direction * f0)
    d2 = _norm((f1 - f0) / scale) / h0
    flat = (d1 <= 1e-15) & (d2 <= 1e-15)
    h1 = np.where(flat, np.maximum(1e-6, h0 * 1e-3), (0.01 / np.where(flat, 1.0, np.maximum(d1, d2))) ** -exponent)
    return np.minimum(np.minimum(100 * h0, h1), np.abs(end - t0))


def _steps(method, fun, t, y, end, h, direction, rtol, atol, largest, times, rows, events, seen):
    """From t to the end, or to where an event that terminates changes its sign. Rows are those of results at `times`, `seen` what was of events:
    how often, and time and state of the first and the last time."""
    f, most = fun(t, y), 10.0
    before, happened = events.values(t, y), t != t
    while (direction * (end - t) > 0) & ~happened:
        h = np.minimum(h, largest)
        last = direction * (t + direction * h - end) >= 0
        step = np.where(last, end - t, direction * h)
        new, slope, slopes = method.step(fun, t, y, f, step)
        scale = atol + np.maximum(np.abs(y), np.abs(new)) * rtol
        error = stop_gradient(method.error(slopes, step, scale))
        accepted = error < 1
        factor = np.where(error == 0, 10.0, 0.9 * np.where(error == 0, 1.0, error) ** method.exponent)
        h = stop_gradient(np.abs(step)) * np.where(accepted, np.minimum(factor, most), np.maximum(factor, 0.2))
        most = np.where(accepted, 10.0, 1.0)  # after a failed step the next one does not grow
        following = np.where(last, end, t + step)
        x = (times - t) / step
        here = accepted & (x > 0) & (x <= 1)
        inner = method.between(fun, t, y, new, f, slope, slopes, step, np.where(here, x, 0.5)[:, None])
        rows = np.where(here[:, None], inner, rows)
        if events.exist:
            after = events.values(following, new)
            crossed = accepted & events.cross(before, after)
            if np.any(crossed):
                curve = _Curve(method, fun, t, y, new, f, slope, slopes, step)
                fraction, happened, seen = events.noted(curve, crossed, seen)
                following = np.where(happened, t + fraction * step, following)
                new = np.where(happened, curve.at(fraction), new)
            before = np.where(accepted, after, before)
        t = np.where(accepted, following, t)
        y = np.where(accepted, new, y)
        f = np.where(accepted, slope, f)
    return t, y, rows, happened, seen


class _Curve:
    """The interpolation inside of one step, as a function of the fraction of it."""

    def __init__(self, method, fun, t, y, new, f, slope, slopes, step):
        self.t, self.step = t, step
        self._inner = lambda x: method.between(fun, t, y, new, f, slope, slopes, step, x)

    def at(self, x):
        return self._inner(x)


class Events:
    """Functions of time and state whose signs matter: `direction` and `terminal` as SciPy has them."""

    def __init__(self, listed, args):
        self.exist, self._listed = bool(listed), [readable(fun) for fun in listed]
        self._args = args
        self._directions = np.array([getattr(fun, "direction", 0) for fun in listed], float)
        ends = [getattr(fun, "terminal", False) for fun in listed]
        if any(end not in (True, False, None, 0, 1) for end in ends):
            raise errors.Unsupported("scipy.integrate.solve_ivp with an event that is terminal after several times is not supported", errors.here())
        self._terminal = np.array([bool(end) for end in ends])

    def _value(self, k, t, y):
        return np.reshape(1.0 * _as_array(self._listed[k](t, y, *self._args)), ())[()]

    def values(self, t, y):
        return np.stack([self._value(k, t, y) for k in range(len(self._listed))]) if self.exist else np.zeros(0)

    def cross(self, before, after):
        up, down = (before <= 0) & (after >= 0), (before >= 0) & (after <= 0)
        return np.where(self._directions > 0, up, np.where(self._directions < 0, down, up | down))

    def start(self, t, y):
        n = len(self._listed)
        times, states = np.zeros(n) + 0.0 * t, np.zeros((n, 1)) + 0.0 * y[None, :]
        return [_as_array(np.zeros(n, np.int64)), times, states, 1.0 * times, 1.0 * states]

    def noted(self, curve, crossed, seen):
        """(The fraction of a step where the first event that terminates is, whether there is one, what was seen) after a step with events in it."""
        fractions = [self._located(k, curve, crossed[k]) for k in range(len(self._listed))]
        end, happened = _as_array(1.0), _as_array(False)
        for k, fraction in enumerate(fractions):
            if self._terminal[k]:
                earlier = crossed[k] & (np.logical_not(happened) | (fraction < end))
                end, happened = np.where(earlier, fraction, end), happened | crossed[k]
        counts, first_t, first_y, last_t, last_y = (1 * part for part in seen)
        for k, fraction in enumerate(fractions):
            # What would be after the end is not.
            counted = crossed[k] & (np.logical_not(happened) | (fraction <= end))
            t, y = curve.t + fraction * curve.step, curve.at(fraction)
            initial = counted & (counts[k] == 0)
            first_t[k], first_y[k] = np.where(initial, t, first_t[k]), np.where(initial, y, first_y[k])
            last_t[k], last_y[k] = np.where(counted, t, last_t[k]), np.where(counted, y, last_y[k])
            counts[k] = counts[k] + np.where(counted, 1, 0)
        return end, happened, [counts, first_t, first_y, last_t, last_y]

    def _located(self, k, curve, crossed):
        """The fraction of a step at which the sign changes: halves of it, and two steps of Newton's method that give it its derivatives."""
        from .. import api

        value = lambda x: self._value(k, curve.t + x * curve.step, curve.at(x))
        x = stop_gradient(looped(_halved, value))
        for _ in range(2):
            found, slope = api.jvp(value, (x,), (1.0 + 0.0 * x,))
            # Where nothing changes its sign there is nothing to divide by.
            x = np.where(crossed, x - found / np.where(crossed, slope, 1.0), x)
        return x


def _halved(value):
    low, high = _as_array(0.0), _as_array(1.0)
    sign = np.sign(value(low))
    for _ in range(50):
        middle = 0.5 * (low + high)
        same = np.sign(value(middle)) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return 0.5 * (low + high)


class Ends:
    """An axis of which first and last elements are known, as in `sol.y[:, -1]`; how many there are is not known before it runs."""

    def __init__(self, name, last, axis, first=None, check=None):
        self._name, self._ends, self._axis, self._check = name, {-1: last, 0: first}, axis, check

    @property
    def T(self):
        return Ends(self._name, self._ends[-1], 0, self._ends[0], self._check) if self._axis else self

    def __getitem__(self, index):
        items = index if isinstance(index, tuple) else (index,)
        if items[:1] == (Ellipsis,):
            items = (slice(None),) * (self._axis + 2 - len(items)) + items[1:]
        place = items[self._axis] if len(items) > self._axis and not any(item is Ellipsis for item in items) else None
        found = self._ends.get(int(place)) if isinstance(place, (int, np.integer)) and not isinstance(place, bool) else None
        if found is None:
            self._refuse()
        if self._check is not None:
            self._check()
        rest = items[: self._axis] + items[self._axis + 1 :]
        return found[rest] if rest else found

    def _refuse(self):
        known = "[..., -1]" if self._axis else "[0] and [-1]" if self._ends[0] is not None else "[-1]"
        raise errors.Unsupported(
            f"the .{self._name} of solve_ivp without t_eval= is supported at {known} only: the number of steps is not known before it runs; give t_eval",
            errors.here(),
        )

    def __array_function__(self, called, types, args, kwargs):
        self._refuse()

    def __array_ufunc__(self, called, method, *inputs, **kwargs):
        self._refuse()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def __len__(self):
        self._refuse()

    def __iter__(self):
        self._refuse()

    def __array__(self, *_, **__):
        self._refuse()


def _operators():
    from ..array import OPERATORS

    for kind in ("binary", "compare", "unary"):
        for name in OPERATORS[kind]:
            setattr(Ends, f"__{name}__", lambda self, *_: self._refuse())
            if kind == "binary":
                setattr(Ends, f"__r{name}__", lambda self, *_: self._refuse())
    Ends.__hash__ = None


_operators()


class AtEvents:
    """What `solve_ivp` gives with events: the first and last time of each and its state, and where the integration ended."""

    def __init__(self, t, y, happened, seen, first):
        counts, first_t, first_y, last_t, last_y = seen
        self.t, self.y = Ends("t", t, 0, first[0]), Ends("y", y, 1, first[1])
        self.t_events, self.y_events = [], []
        for k in range(counts.shape[0]):
            there = lambda k=k: check(counts[k] > 0, f"scipy.integrate.solve_ivp: event {k} does not happen before the end", RuntimeError)
            self.t_events.append(Ends(f"t_events[{k}]", last_t[k], 0, first_t[k], there))
            self.y_events.append(Ends(f"y_events[{k}]", last_y[k], 0, first_y[k], there))
        self.success, self.status = True, np.where(happened, 1, 0)

    def __getattr__(self, name):
        if name in ("sol", "message", "nfev"):
            raise errors.Unsupported(f"the .{name} of solve_ivp with events= is not supported", errors.here())
        raise AttributeError(name)


class Solution:
    """What `solve_ivp` gives, with SciPy's names."""

    def __init__(self, t, y, run):
        self.t, self.y, self._run = t, y, run
        self.success, self.status = True, 0
        self.message = "The solver successfully reached the end of the integration interval."
        self.t_events = self.y_events = None

    def sol(self, t):
        """The solution at any times of the interval: it is integrated again for them."""
        t = 1.0 * _as_array(t)
        rows = self._run(np.reshape(t, (-1,)))
        return np.transpose(rows) if t.ndim else rows[0]


@implements("integrate.solve_ivp", always=True)
def solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False, args=None, **options
):
    if method not in ("RK45", "RK23", "DOP853"):
        raise errors.Unsupported(
            f"scipy.integrate.solve_ivp with method={method!r} is not supported; RK45, RK23 and DOP853 are",
            errors.here(),
        )
    if events is not None and (t_eval is not None or dense_output):
        raise errors.Unsupported(
            "scipy.integrate.solve_ivp with events= and t_eval= or dense_output= is not supported: how many times are before an event is not known",
            errors.here(),
        )
    unknown = set(options) - {"rtol", "atol", "first_step", "max_step"}
    if unknown:
        raise errors.Unsupported(
            f"scipy.integrate.solve_ivp with {sorted(unknown)[0]}= is not supported", errors.here()
        )
    called = readable(fun)
    extra = () if args is None else tuple(args)

    def slope(t, y):
        found = called(t, y, *extra)
        return 1.0 * _as_array(found) + 0.0 * y

    t0, t1 = (1.0 * _as_array(t) for t in t_span)
    y0 = 1.0 * _as_array(y0)
    if y0.ndim != 1:
        raise errors.ShapeError(
            f"scipy.integrate.solve_ivp: the initial state is a vector, found shape {y0.shape}", errors.here()
        )
    run = lambda times: _integrated(method, slope, t0, t1, y0, times, options)[2]
    if events is not None:
        listed = Events(events if isinstance(events, (list, tuple)) else [events], extra)
        t, y, _, happened, seen = _integrated(method, slope, t0, t1, y0, np.reshape(t0, (1,)), options, listed)
        return AtEvents(t, y, happened, seen, (t0, y0))
    if t_eval is None:
        end = _integrated(method, slope, t0, t1, y0, np.reshape(t1, (1,)), options)[1]
        return Solution(Ends("t", t1, 0, t0), Ends("y", end, 1, y0), run)
    times = 1.0 * _as_array(t_eval)
    check(
        np.all((times - t0) * np.sign(t1 - t0) >= 0) & np.all((t1 - times) * np.sign(t1 - t0) >= 0),
        "Values in `t_eval` are not within `t_span`.",
        ValueError,
    )
    return Solution(times, np.transpose(run(times)), run)


def _integrated(name, slope, t0, t1, y0, times, options, events=None):
    method = Method(getattr(sys.modules["scipy.integrate"], name))
    rtol, atol = options.get("rtol", 1e-3), options.get("atol", 1e-6)
    known = payload_of(rtol)
    rtol = max(float(known), 100 * np.finfo(float).eps) if known is not None else rtol
    direction = np.sign(t1 - t0)
    h = options.get("first_step")
    if h is None:
        h = stop_gradient(_first_step(slope, t0, y0, t1, slope(t0, y0), direction, method.exponent, rtol, atol))
    rows = 0.0 * times[:, None] + y0[None, :]
    largest, events = options.get("max_step", np.inf), Events([], ()) if events is None else events
    start = (t0, y0, t1, 1.0 * _as_array(h), direction)
    return looped(_steps, method, slope, *start, rtol, atol, largest, times, rows, events, events.start(t0, y0))


@implements("integrate.odeint", always=True)
def odeint(func, y0, t, args=(), tfirst=False, rtol=None, atol=None):
    """By DOP853 with tolerances of 1.5e-8, as LSODA's are; the method is not LSODA's, the solution is at that tolerance."""
    t = 1.0 * _as_array(t)
    flipped = func if tfirst else lambda time, y, *rest: readable(func)(y, time, *rest)
    result = solve_ivp(
        flipped,
        (t[0], t[-1]),
        np.atleast_1d(1.0 * _as_array(y0)),
        "DOP853",
        t,
        args=args,
        rtol=1.5e-8 if rtol is None else rtol,
        atol=1.5e-8 if atol is None else atol,
    )
    return np.transpose(result.y)
