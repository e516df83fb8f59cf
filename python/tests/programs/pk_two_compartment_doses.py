"""A drug in two compartments, doses given at hours of a schedule, concentrations compared where there are samples."""

import numpy as np

SCHEDULE = [(0.0, 100.0), (8.0, 50.0), (16.0, 50.0)]


def simulate(params, hours, dt=0.25, *, schedule=SCHEDULE, bioavailability=0.8):
    ka, ke, k12, k21, V = (params[k] for k in ("ka", "ke", "k12", "k21", "V"))
    gut = central = peripheral = 0.0
    out = {}
    t = 0.0
    pending = list(schedule)
    for step in range(int(hours / dt) + 1):
        while pending and pending[0][0] <= t:
            _, amount = pending.pop(0)
            gut = gut + bioavailability * amount
        if step % 8 == 0:
            out[round(t, 2)] = central / V
        absorbed = ka * gut * dt
        exchange = (k12 * central - k21 * peripheral) * dt
        gut, central, peripheral = gut - absorbed, central + absorbed - ke * central * dt - exchange, peripheral + exchange
        t += dt
    return out


def loss(params, samples):
    predicted = simulate(params, 24.0, bioavailability=params.get("F", 0.7))
    residuals = []
    for hour, c in samples.items():
        residuals.append(np.log(predicted[hour] + 1e-3) - np.log(c))
    return sum(r**2 for r in residuals)


def example():
    params = {"ka": 0.9, "ke": 0.2, "k12": 0.1, "k21": 0.05, "V": 20.0, "F": 0.75}
    return loss, (params, {2.0: 2.1, 6.0: 1.2, 10.0: 2.0, 18.0: 1.7, 22.0: 0.9}), 0
