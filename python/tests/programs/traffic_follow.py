"""Cars that follow each other by the intelligent driver model on a ring, with a mask for those that brake."""

import numpy as np


class Road:
    def __init__(self, n, length, driver):
        self.length = length
        self.driver = driver
        self.x = np.linspace(0, length, n, endpoint=False)
        self.v = np.full(n, 5.0)
        self.v[0] = 2.0

    def accelerate(self):
        a, b, v0, T, s0 = (self.driver[k] for k in ("a", "b", "v0", "T", "s0"))
        gap = np.roll(self.x, -1) - self.x
        gap[gap <= 0] += self.length
        gap = gap - 4.0
        dv = self.v - np.roll(self.v, -1)
        desired = s0 + np.maximum(0, self.v * T + self.v * dv / (2 * np.sqrt(a * b)))
        return a * (1 - (self.v / v0) ** 4 - (desired / gap) ** 2)

    def step(self, dt):
        acc = self.accelerate()
        self.v = np.maximum(self.v + dt * acc, 0)
        self.x = (self.x + dt * self.v) % self.length


def jam_measure(driver, n=8, length=150.0, steps=20, dt=0.25):
    road = Road(n, length, driver)
    for _ in range(steps):
        road.step(dt)
    return road.v.var() - 0.1 * road.v.mean()


def example():
    return jam_measure, ({"a": 1.1, "b": 1.6, "v0": 30.0, "T": 1.2, "s0": 2.0},), 0
