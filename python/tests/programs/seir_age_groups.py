"""An epidemic in age groups with a contact matrix and a lockdown by a smooth switch."""

import numpy as np
from collections import namedtuple

Params = namedtuple("Params", "beta sigma gamma drop t_lock")


def lockdown(t, p):
    return 1 - p.drop / (1 + np.exp(-2 * (t - p.t_lock)))


def step(S, E, I, R, contacts, p, t, dt):
    N = S + E + I + R
    lam = p.beta * lockdown(t, p) * contacts @ (I / N)
    dS = -lam * S
    dE = lam * S - p.sigma * E
    dI = p.sigma * E - p.gamma * I
    dR = p.gamma * I
    return S + dt * dS, E + dt * dE, I + dt * dI, R + dt * dR


def attack_rate(p, contacts, population, days=20, dt=0.5):
    S = population * 0.99
    E = np.zeros_like(population)
    I = population * 0.01
    R = np.zeros_like(population)
    peak = 0.0
    t = 0.0
    while t < days:
        S, E, I, R = step(S, E, I, R, contacts, p, t, dt)
        peak = max(peak, I.sum())
        t += dt
    print("finished at", days, "days")
    return R.sum() / population.sum() + 1e-3 * peak


def example():
    contacts = np.array([[3.0, 1.0, 0.5], [1.0, 2.5, 0.7], [0.5, 0.7, 1.5]])
    return attack_rate, (Params(0.15, 0.25, 0.2, 0.6, 10.0), contacts, np.array([200.0, 500.0, 300.0])), (0, 1)
