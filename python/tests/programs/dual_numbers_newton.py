"""Forward mode with a user's dual numbers inside of Newton's method: operators, __float__-free comparisons, a property."""
import numpy as np


class Dual:
    __slots__ = ("re", "du")

    def __init__(self, re, du=0.0):
        self.re, self.du = re, du

    @classmethod
    def lift(cls, other):
        return other if isinstance(other, cls) else cls(other)

    def __add__(self, o):
        o = Dual.lift(o)
        return Dual(self.re + o.re, self.du + o.du)

    __radd__ = __add__

    def __neg__(self):
        return Dual(-self.re, -self.du)

    def __sub__(self, o):
        return self + (-Dual.lift(o))

    def __rsub__(self, o):
        return Dual.lift(o) - self

    def __mul__(self, o):
        o = Dual.lift(o)
        return Dual(self.re * o.re, self.re * o.du + self.du * o.re)

    __rmul__ = __mul__

    def __truediv__(self, o):
        o = Dual.lift(o)
        return Dual(self.re / o.re, (self.du * o.re - self.re * o.du) / o.re**2)

    def __pow__(self, n):
        return Dual(self.re**n, n * self.re ** (n - 1) * self.du)

    def exp(self):
        e = np.exp(self.re)
        return Dual(e, e * self.du)


def kepler_like(x, a, b):
    return x**3 * a - (x * b).exp() / (1 + x * x) - 2


def root(a, b):
    x = 1.5
    for _ in range(12):
        y = kepler_like(Dual(x, 1.0), a, b)
        x = x - y.re / y.du
    return x


def example():
    return root, (1.2, 0.4), (0, 1)
