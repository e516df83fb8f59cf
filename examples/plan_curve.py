"""What memory is worth to a gradient: predicted seconds against bytes, from the least budget to none.

    ./run examples/plan_curve.py
"""

import numpy as np

import retrograd as rg


def loss(s, theta):
    for i in range(1000):
        s[1:-1] = 0.25 * s[:-2] + 0.5 * s[1:-1] + 0.25 * s[2:]
        s = s + 0.01 * np.tanh(theta * s)
    return np.sum(s**2)


random = np.random.default_rng(0)
s, theta = random.standard_normal(1000), random.standard_normal(1000)
plan = rg.value_and_grad(loss, argnums=(0, 1), budget="200 kB").plan(s, theta)

print(f"{plan.bytes_peak} bytes, about {1e3 * plan.seconds:.1f} ms, at most {100 * plan.gap:.0f} % above what this memory allows")
for point in plan.curve:
    print(f"{point.bytes:>10} bytes {1e3 * point.seconds:8.1f} ms{' <- this plan' if point.chosen else ''}")
for loop in plan.data["loops"]:
    print(f"{loop['line']}: {loop['schedule']}, {loop['forward_steps']} forward steps")
