"""A battery as a circuit, with a voltage table by np.interp and a dataclass of parameters."""

from dataclasses import dataclass

import numpy as np

SOC = np.array([0.0, 0.1, 0.3, 0.6, 0.9, 1.0])
OCV = np.array([2.8, 3.3, 3.5, 3.7, 4.0, 4.2])


@dataclass
class Cell:
    capacity: float
    r0: float
    r1: float
    c1: float


def simulate(cell, current, dt=1.0):
    soc, v1 = 0.9, 0.0
    voltage = np.zeros(len(current))
    for k, i in enumerate(current):
        soc = soc - i * dt / (3600 * cell.capacity)
        decay = np.exp(-dt / (cell.r1 * cell.c1))
        v1 = v1 * decay + cell.r1 * (1 - decay) * i
        voltage[k] = np.interp(soc, SOC, OCV) - v1 - cell.r0 * i
    return voltage


def rmse(cell, current, measured):
    return np.sqrt(np.mean((simulate(cell, current) - measured) ** 2))


def example():
    rng = np.random.default_rng(39)
    return rmse, (Cell(2.5, 0.02, 0.015, 2000.0), 5 * rng.random(30), 3.9 + 0.05 * rng.normal(size=30)), 0
