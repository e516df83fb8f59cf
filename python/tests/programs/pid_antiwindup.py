"""A PID controller with saturation and anti-windup on a plant with delay, its gains tuned by the integral of the error."""

from collections import deque

import numpy as np


class PID:
    def __init__(self, kp, ki, kd, *, limit=2.0):
        self.kp, self.ki, self.kd, self.limit = kp, ki, kd, limit
        self.integral = 0.0
        self.last = None

    def __call__(self, error, dt):
        derivative = 0.0 if self.last is None else (error - self.last) / dt
        u = self.kp * error + self.ki * self.integral + self.kd * derivative
        self.last = error
        clipped = min(max(u, -self.limit), self.limit)
        if u == clipped:
            self.integral += error * dt
        return clipped


def tracking_cost(gains, setpoints, dt=0.1):
    controller = PID(*gains)
    x = v = 0.0
    delay = deque([0.0] * 3, maxlen=3)
    cost, effort = 0.0, 0.0
    for t, r in enumerate(setpoints):
        u = controller(r - x, dt)
        delayed = delay[0]
        delay.append(u)
        v += dt * (delayed - 0.8 * v - 1.5 * x)
        x += dt * v
        cost += (r - x) ** 2 * dt * (t + 1) * 0.1
        effort += u * u * dt
    return cost + 0.01 * effort


def example():
    return tracking_cost, (np.array([2.1, 0.8, 0.3]), np.r_[np.zeros(3), np.ones(40)]), 0
