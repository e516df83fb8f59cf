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


def _steps(method, fun, t, y, end, h, direction, rtol, atol, largest, times, rows, event):
    """From t to the end, or to where `event`, which terminates, changes its sign. Rows are those of results at `times`."""
    f, most = fun(t, y), 10.0
    before, happened = event(t, y), t != t
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
        if event.exists:
            after = event(following, new)
            happened = accepted & event.crosses(before, after)
            if happened:
                curve = _Curve(method, fun, t, y, new, f, slope, slopes, step)
                fraction = event.located(curve)
                following = t + fraction * step
                new = curve.at(fraction)
            before = np.where(accepted, after, before)
        t = np.where(accepted, following, t)
        y = np.where(accepted, new, y)
        f = np.where(accepted, slope, f)
    return t, y, rows, happened


class _Curve:
    """The interpolation inside of one step, as a function of the fraction of it."""

    def __init__(self, method, fun, t, y, new, f, slope, slopes, step):
        self.t, self.step = t, step
        self._inner = lambda x: method.between(fun, t, y, new, f, slope, slopes, step, x)

    def at(self, x):
        return self._inner(x)


class Event:
    """A function of time and state whose sign matters: `direction` as SciPy has it."""

    exists = True

    def __init__(self, fun, args):
        self.direction = getattr(fun, "direction", 0)
        called = readable(fun)
        self._value = lambda t, y: np.reshape(1.0 * _as_array(called(t, y, *args)), ())[()]

    def __call__(self, t, y):
        return self._value(t, y)

    def crosses(self, before, after):
        up, down = (before <= 0) & (after >= 0), (before >= 0) & (after <= 0)
        return up if self.direction > 0 else down if self.direction < 0 else up | down

    def located(self, curve):
        """The fraction of a step at which the sign changes: halves of it, and two steps of Newton's method that give it its derivatives."""
        from .. import api

        value = lambda x: self._value(curve.t + x * curve.step, curve.at(x))
        x = stop_gradient(looped(_halved, value))
        for _ in range(2):
            found, slope = api.jvp(value, (x,), (1.0 + 0.0 * x,))
            x = x - found / slope
        return x


def _halved(value):
    low, high = _as_array(0.0), _as_array(1.0)
    sign = np.sign(value(low))
    for _ in range(50):
        middle = 0.5 * (low + high)
        same = np.sign(value(middle)) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return 0.5 * (low + high)


class _Never:
    """No event."""

    exists = False

    def __call__(self, t, y):
        return 0.0


class AtEvent:
    """What `solve_ivp` gives where an event ends it: its time and state. How many steps there were before is not known."""

    def __init__(self, t, y):
        self.t_events, self.y_events = [np.reshape(t, (1,))], [np.reshape(y, (1, -1))]
        self.success, self.status, self.message = True, 1, "A termination event occurred."

    def __getattr__(self, name):
        if name in ("t", "y", "sol"):
            message = f"the .{name} of solve_ivp with events= is not supported: use .t_events[0][0] and .y_events[0][0]"
            raise errors.Unsupported(message, errors.here())
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
    if t_eval is None and not dense_output and events is None:
        raise errors.Unsupported(
            "scipy.integrate.solve_ivp without t_eval= is not supported: the number of steps is not known before it runs; give t_eval, as [t_span[1]] for the end",
            errors.here(),
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
        listed = events if isinstance(events, (list, tuple)) else [events]
        if len(listed) != 1 or getattr(listed[0], "terminal", False) not in (True, 1):
            message = "scipy.integrate.solve_ivp is supported with one event that is terminal: how often others happen is not known"
            raise errors.Unsupported(message, errors.here())
        event = Event(listed[0], extra)
        t, y, _, happened = _integrated(method, slope, t0, t1, y0, np.reshape(t0, (1,)), options, event)
        check(happened, "scipy.integrate.solve_ivp: the event does not happen before the end", RuntimeError)
        return AtEvent(t, y)
    if t_eval is None:
        return Solution(None, None, run)
    times = 1.0 * _as_array(t_eval)
    check(
        np.all((times - t0) * np.sign(t1 - t0) >= 0) & np.all((t1 - times) * np.sign(t1 - t0) >= 0),
        "Values in `t_eval` are not within `t_span`.",
        ValueError,
    )
    return Solution(times, np.transpose(run(times)), run)


def _integrated(name, slope, t0, t1, y0, times, options, event=None):
    method = Method(getattr(sys.modules["scipy.integrate"], name))
    rtol, atol = options.get("rtol", 1e-3), options.get("atol", 1e-6)
    known = payload_of(rtol)
    rtol = max(float(known), 100 * np.finfo(float).eps) if known is not None else rtol
    direction = np.sign(t1 - t0)
    h = options.get("first_step")
    if h is None:
        h = stop_gradient(_first_step(slope, t0, y0, t1, slope(t0, y0), direction, method.exponent, rtol, atol))
    rows = 0.0 * times[:, None] + y0[None, :]
    largest, event = options.get("max_step", np.inf), _Never() if event is None else event
    start = (t0, y0, t1, 1.0 * _as_array(h), direction)
    return looped(_steps, method, slope, *start, rtol, atol, largest, times, rows, event)


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
