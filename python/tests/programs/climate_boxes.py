"""A two-box climate model with forcings read year by year, fitted to temperatures with gaps (NaN)."""

import numpy as np


class TwoBox:
    """Upper and deep ocean."""

    def __init__(self, feedback, c_upper=8.0, c_deep=100.0, exchange=0.7):
        self.feedback = feedback
        self.c_upper = c_upper
        self.c_deep = c_deep
        self.exchange = exchange
        self.reset()

    def reset(self):
        self.T = 0.0
        self.Td = 0.0
        self.history = []

    def advance(self, forcing, dt=1.0):
        flow = self.exchange * (self.T - self.Td)
        self.T += dt * (forcing - self.feedback * self.T - flow) / self.c_upper
        self.Td += dt * flow / self.c_deep
        self.history.append(self.T)

    @property
    def warming(self):
        return self.T - self.history[0]


def misfit(feedback, exchange, scale, forcing, observed):
    model = TwoBox(feedback, exchange=exchange)
    for F in forcing:
        model.advance(scale * F)
    temps = np.array(model.history)
    ok = ~np.isnan(observed)
    return np.sum((temps[ok] - observed[ok]) ** 2) + 0.01 * model.warming**2


def example():
    rng = np.random.default_rng(11)
    forcing = np.linspace(0, 3, 30)
    observed = 0.03 * np.arange(30) + 0.1 * rng.normal(size=30)
    observed[[3, 9, 20]] = np.nan
    return misfit, (1.2, 0.7, 1.0, forcing, observed), (0, 1, 2)
