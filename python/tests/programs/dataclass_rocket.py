"""A rocket to its apogee: a frozen dataclass of parameters, thrust until the fuel ends, flight until it falls."""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Rocket:
    dry_mass: float
    fuel: float
    burn_rate: float
    exhaust: float
    drag: float = 0.01

    @property
    def burn_time(self):
        return self.fuel / self.burn_rate


def gravity(h):
    return 9.81 * (6371.0 / (6371.0 + h / 1000)) ** 2


def apogee(rocket, dt=0.1):
    t, h, v = 0.0, 0.0, 0.0
    m = rocket.dry_mass + rocket.fuel
    while v >= 0:
        if t < rocket.burn_time:
            thrust = rocket.burn_rate * rocket.exhaust
            m = m - rocket.burn_rate * dt
        else:
            thrust = 0.0
        a = (thrust - rocket.drag * v * abs(v)) / m - gravity(h)
        h += dt * v
        v += dt * a
        t += dt
    return h / 1000


def gain(exhaust, drag, base):
    better = replace(base, exhaust=exhaust, drag=drag)
    return apogee(better) - apogee(base)


def example():
    return gain, (1500.0, 0.012, Rocket(20.0, 15.0, 3.03, 1400.0)), (0, 1)
