"""A local-level Kalman smoother with missing samples; RTS pass backwards over stored lists."""
import numpy as np
from collections import namedtuple

Belief = namedtuple("Belief", "mean var")


def predict(b, q):
    return b._replace(var=b.var + q)


def update(b, z, r):
    k = b.var / (b.var + r)
    return Belief(b.mean + k * (z - b.mean), (1 - k) * b.var), -0.5 * (np.log(2 * np.pi * (b.var + r)) + (z - b.mean) ** 2 / (b.var + r))


def smooth(log_q, log_r, zs):
    q, r = np.exp(log_q), np.exp(log_r)
    prior, post, ll = [], [], 0.0
    b = Belief(0.0, 10.0)
    for z in zs:
        b = predict(b, q)
        prior.append(b)
        if not np.isnan(z):
            b, l = update(b, z, r)
            ll += l
        post.append(b)
    s = post[-1]
    means = [s.mean]
    for p, nxt in zip(reversed(post[:-1]), reversed(prior)):
        g = p.var / nxt.var
        s = Belief(p.mean + g * (s.mean - nxt.mean), p.var + g * g * (s.var - nxt.var))
        means.insert(0, s.mean)
    return ll + 0.1 * np.sum(np.array(means) ** 2) + s.var


def example():
    rng = np.random.default_rng(4)
    zs = np.cumsum(rng.normal(size=25)) + rng.normal(size=25)
    zs[[3, 4, 11]] = np.nan
    return smooth, (-0.5, 0.2, zs), (0, 1)
