"""A pendulum cart as an object with properties, an observer as a subclass that overrides a method and calls its parent."""

import numpy as np


class Cart:
    gravity = 9.81

    def __init__(self, length, damping):
        self.length, self.damping = length, damping
        self._angle, self._rate = 0.4, 0.0

    @property
    def energy(self):
        return 0.5 * (self.length * self._rate) ** 2 + self.gravity * self.length * (1 - np.cos(self._angle))

    @property
    def angle(self):
        return self._angle

    @angle.setter
    def angle(self, value):
        self._angle = value

    def torque(self, t):
        return -self.damping * self._rate

    def step(self, t, h):
        self._rate += h * (-self.gravity / self.length * np.sin(self._angle) + self.torque(t))
        self.angle = self.angle + h * self._rate


class Driven(Cart):
    def __init__(self, length, damping, drive):
        super().__init__(length, damping)
        self.drive = drive

    def torque(self, t):
        return super().torque(t) + self.drive * np.cos(2.0 * t)


def compare(length, damping, drive):
    carts = [Cart(length, damping), Driven(length, damping, drive)]
    total = 0.0
    for k in range(30):
        for cart in carts:
            cart.step(0.02 * k, 0.02)
        total += (carts[0].angle - carts[1].angle) ** 2
    return total + sum(cart.energy for cart in carts)


def example():
    return compare, (1.1, 0.3, 0.7), (0, 1, 2)
