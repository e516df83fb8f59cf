"""A PID controller with saturation that keeps its integral and last error, tuned on a plant."""

import numpy as np


class PID:
    def __init__(self, kp, ki, kd, limit):
        self.kp, self.ki, self.kd, self.limit = kp, ki, kd, limit
        self.integral = 0.0
        self.last = None

    def __call__(self, error, dt):
        self.integral += error * dt
        slope = 0.0 if self.last is None else (error - self.last) / dt
        self.last = error
        u = self.kp * error + self.ki * self.integral + self.kd * slope
        return np.clip(u, -self.limit, self.limit)


def cost(gains, setpoint=1.0, dt=0.05, T=2.0):
    pid = PID(*gains, limit=4.0)
    x, v = 0.0, 0.0
    t, J = 0.0, 0.0
    while t < T:
        u = pid(setpoint - x, dt)
        v += dt * (u - 0.8 * v - x)
        x += dt * v
        J += dt * ((setpoint - x) ** 2 + 0.01 * u**2)
        t += dt
    return J


def example():
    return cost, (np.array([2.0, 0.7, 0.3]),), 0
