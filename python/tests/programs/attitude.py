"""A satellite's attitude as a quaternion class with operators, integrated with its angular rates."""

import numpy as np


class Quaternion:
    def __init__(self, w, v):
        self.w, self.v = w, v

    def __mul__(self, other):
        return Quaternion(self.w * other.w - self.v @ other.v, self.w * other.v + other.w * self.v + np.cross(self.v, other.v))

    @property
    def conjugate(self):
        return Quaternion(self.w, -self.v)

    def normalised(self):
        n = np.sqrt(self.w**2 + self.v @ self.v)
        return Quaternion(self.w / n, self.v / n)

    def rotate(self, x):
        return (self * Quaternion(0.0, x) * self.conjugate).v


def pointing_error(rates, inertia, target, dt=0.05, steps=10):
    q = Quaternion(1.0, np.zeros(3))
    omega = rates
    for _ in range(steps):
        torque = -np.cross(omega, inertia * omega)
        omega = omega + dt * torque / inertia
        q = (q * Quaternion(1.0, 0.5 * dt * omega)).normalised()
    return 1.0 - q.rotate(np.array([0.0, 0.0, 1.0])) @ target


def example():
    return pointing_error, (np.array([0.3, 0.5, 0.1]), np.array([1.0, 1.5, 2.0]), np.array([0.0, 0.6, 0.8])), (0, 1)
