"""The shallow ice of a glacier on a sloping bed: diffusivity by staggered slopes, mass balance by height, thickness not below zero."""

import numpy as np

RHO_G = 9.0
N_GLEN = 3


def diffusivity(h, s, dx, A):
    hm = 0.5 * (h[1:] + h[:-1])
    slope = np.diff(s) / dx
    return 2 * A / (N_GLEN + 2) * RHO_G**N_GLEN * hm ** (N_GLEN + 2) * np.abs(slope) ** (N_GLEN - 1)


def volume(A, ela, gradient, nx=20, years=12, dt=0.05):
    x = np.linspace(0, 5, nx)
    dx = x[1] - x[0]
    bed = 1.0 - 0.2 * x
    h = np.zeros(nx) + 0.05
    t = 0
    while t < years:
        s = bed + h
        D = diffusivity(h, s, dx, A)
        q = -D * np.diff(s) / dx
        balance = np.clip(gradient * (s - ela), -0.1, 0.05)
        dhdt = balance.copy()
        dhdt[1:-1] -= np.diff(q) / dx
        dhdt[0] = balance[0] - q[0] / dx
        dhdt[-1] = 0.0
        h = np.maximum(h + dt * dhdt, 0.0)
        t = t + dt
    return np.trapezoid(h, x)


def example():
    return volume, (0.01, 0.63, 0.1), (0, 1, 2)
