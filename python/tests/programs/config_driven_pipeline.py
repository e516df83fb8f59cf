"""A preprocessing pipeline made of (name, options) pairs, resolved by getattr and a registry decorator; global settings that with-blocks change."""
import contextlib
import numpy as np

REGISTRY = {}
SETTINGS = {"eps": 1e-6, "power": 2}


def register(name=None):
    def wrap(f):
        REGISTRY[name or f.__name__] = f
        return f
    return wrap


@register()
def center(x, *, axis=0):
    return x - x.mean(axis=axis, keepdims=True)


@register("scale")
def _scale(x, *, axis=0, robust=False):
    if robust:
        s = np.median(np.abs(x), axis=axis, keepdims=True)
    else:
        s = x.std(axis=axis, ddof=1, keepdims=True)
    return x / (s + SETTINGS["eps"])


@register()
def winsorize(x, *, limit=2.0):
    return np.clip(x, -limit, limit)


@register()
def whiten(x, *, shrink=0.1):
    c = x.T @ x / len(x)
    c = (1 - shrink) * c + shrink * np.eye(c.shape[0]) * np.trace(c) / c.shape[0]
    return np.linalg.solve(np.linalg.cholesky(c), x.T).T


@contextlib.contextmanager
def settings(**kw):
    old = dict(SETTINGS)
    SETTINGS.update(kw)
    try:
        yield
    finally:
        SETTINGS.clear()
        SETTINGS.update(old)


def energy(x, beta, steps):
    for step in steps:
        name, opts = step if isinstance(step, tuple) else (step, {})
        x = REGISTRY[name](x, **opts)
    return np.mean(np.abs(x @ beta) ** SETTINGS["power"])


def example():
    r = np.random.default_rng(0)
    steps = ["center", ("scale", {"robust": True}), ("winsorize", {"limit": 1.7}), ("whiten", dict(shrink=0.2)), ("scale", {"axis": 1})]
    return energy, (r.normal(size=(9, 3)), np.array([0.5, -1.0, 2.0]), steps), (0, 1)
