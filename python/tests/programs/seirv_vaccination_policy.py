"""Age-free SEIRV with a piecewise policy, interventions from a list of dicts, dataclass with replace()."""
from dataclasses import dataclass, replace, field
import numpy as np


@dataclass(frozen=True)
class State:
    S: float
    E: float
    I: float
    R: float
    log: tuple = ()


@dataclass
class Policy:
    interventions: list = field(default_factory=list)

    def beta(self, day, beta0):
        b = beta0
        for iv in self.interventions:
            if iv["from"] <= day < iv.get("to", float("inf")):
                b = b * (1 - iv["effect"])
        return b


def step(s, beta, sigma, gamma, dt):
    N = s.S + s.E + s.I + s.R
    inf = beta * s.S * s.I / N
    return replace(s, S=s.S - dt * inf, E=s.E + dt * (inf - sigma * s.E), I=s.I + dt * (sigma * s.E - gamma * s.I), R=s.R + dt * gamma * s.I)


def total_cost(theta, effects, days=40, dt=0.5):
    beta0, sigma, gamma = np.exp(theta)
    pol = Policy()
    for start, e in zip((10, 25), effects):
        pol.interventions.append({"from": start, "effect": e})
    pol.interventions[0]["to"] = 20
    s = State(990.0, 5.0, 5.0, 0.0)
    peak = 0.0
    for k in range(int(days / dt)):
        s = step(s, pol.beta(k * dt, beta0), sigma, gamma, dt)
        peak = max(peak, s.I)
    return peak + 0.1 * s.R + 50 * sum(e ** 2 for e in effects)


def example():
    return total_cost, (np.log(np.array([0.6, 0.3, 0.2])), np.array([0.4, 0.2])), (0, 1)
