"""Spikes of a Hodgkin-Huxley neuron with gates by exponential Euler; rates with their removable singularity."""

import numpy as np


def vtrap(x, y):
    return np.where(np.abs(x / y) < 1e-6, y * (1 - x / y / 2), x / (np.exp(np.where(np.abs(x / y) < 1e-6, 1.0, x / y)) - 1))


def rates(V):
    am = 0.1 * vtrap(-(V + 40), 10)
    bm = 4 * np.exp(-(V + 65) / 18)
    ah = 0.07 * np.exp(-(V + 65) / 20)
    bh = 1 / (1 + np.exp(-(V + 35) / 10))
    an = 0.01 * vtrap(-(V + 55), 10)
    bn = 0.125 * np.exp(-(V + 65) / 80)
    return (am, bm), (ah, bh), (an, bn)


def simulate(g, I_ext, T=5.0, dt=0.05):
    V = -65.0
    m, h, n = 0.05, 0.6, 0.32
    gna, gk, gl = g["Na"], g["K"], g["leak"]
    trace = []
    for k in range(int(T / dt)):
        gates = []
        for (a, b), x in zip(rates(V), (m, h, n)):
            tau = 1 / (a + b)
            inf = a * tau
            gates.append(inf + (x - inf) * np.exp(-dt / tau))
        m, h, n = gates
        I = gna * m**3 * h * (V - 50) + gk * n**4 * (V + 77) + gl * (V + 54.4)
        V = V + dt * (I_ext - I)
        trace.append(V)
    return np.array(trace)


def objective(g, I_ext):
    v = simulate(g, I_ext)
    return np.mean((v + 60.0) ** 2) / 100


def example():
    return objective, ({"Na": 120.0, "K": 36.0, "leak": 0.3}, 9.0), (0, 1)
