"""Bootstrap of a discount curve from par swaps; log-linear interpolation with bisect; a portfolio repriced under a parallel bump."""
import bisect
import numpy as np


class Curve:
    def __init__(self):
        self.times, self.logs = [0.0], [0.0]

    def add(self, t, df):
        self.times.append(t)
        self.logs.append(np.log(df))

    def __call__(self, t):
        k = bisect.bisect_left(self.times, t)
        if k < len(self.times) and self.times[k] == t:
            return np.exp(self.logs[k])
        if k == len(self.times):
            slope = (self.logs[-1] - self.logs[-2]) / (self.times[-1] - self.times[-2])
            return np.exp(self.logs[-1] + slope * (t - self.times[-1]))
        t0, t1 = self.times[k - 1], self.times[k]
        w = (t - t0) / (t1 - t0)
        return np.exp((1 - w) * self.logs[k - 1] + w * self.logs[k])


def bootstrap(par):
    curve = Curve()
    for T, rate in enumerate(par, 1):
        annuity = sum(curve(float(t)) for t in range(1, T))
        curve.add(float(T), (1 - rate * annuity) / (1 + rate))
    return curve


def value(par, bump, cash=((0.5, 3.0), (2.25, -1.0), (4.0, 2.0), (6.5, 1.5))):
    curve = bootstrap(par + bump)
    return sum(c * curve(t) for t, c in cash)


def example():
    return value, (np.array([0.02, 0.023, 0.025, 0.0265, 0.027]), 0.001), (0, 1)
