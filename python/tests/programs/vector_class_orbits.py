"""Bodies as objects with vectors that have operators of their own; a leapfrog moves them and energies are properties."""

import dataclasses

import numpy as np


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, number):
        return Vector(self.x * number, self.y * number)

    __rmul__ = __mul__

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __abs__(self):
        return np.sqrt(self.x**2 + self.y**2)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y


@dataclasses.dataclass
class Body:
    mass: float
    place: Vector
    speed: Vector

    @property
    def kinetic(self):
        return 0.5 * self.mass * (self.speed @ self.speed)


def pull(a, b):
    gap = b.place - a.place
    return (a.mass * b.mass / (abs(gap) ** 3 + 0.05)) * gap


def drift(masses, speed):
    bodies = [Body(masses[0], Vector(0.0, 0.0), Vector(0.0, -0.2)), Body(masses[1], Vector(1.0, 0.0), Vector(0.0, speed)), Body(masses[2], Vector(-1.5, 0.3), Vector(0.1, -speed))]
    for _ in range(20):
        forces = [Vector(0.0, 0.0) for _ in bodies]
        for i in range(len(bodies)):
            for j in range(i):
                force = pull(bodies[i], bodies[j])
                forces[i] += force
                forces[j] += -force
        for body, force in zip(bodies, forces):
            body.speed += (0.05 / body.mass) * force
            body.place += 0.05 * body.speed
    return sum(body.kinetic for body in bodies) + abs(bodies[1].place - bodies[0].place)


def example():
    return drift, (np.array([1.0, 0.3, 0.2]), 0.9), (0, 1)
