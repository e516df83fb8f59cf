"""A recurrence of 1000 steps over 10,000 numbers, and its gradient in 1.2 MB."""

import numpy as np

import retrograd as rg


def loss(s, theta):
    for i in range(1000):
        s = s + 0.01 * np.tanh(theta * s)
    return np.sum(s**2)


g = rg.value_and_grad(loss, argnums=(0, 1), budget="1.2 MB")
random = np.random.default_rng(0)
s, theta = random.standard_normal(10_000), random.standard_normal(10_000)

print(g.plan(s, theta))
value, (ds, dtheta) = g(s, theta)
print("value     ", value)
print("d/ds      ", ds[:3], "...")
print("d/dtheta  ", dtheta[:3], "...")
compiled = g.compile(s, theta)
compiled(s, theta)
print("peak       predicted", compiled.plan.bytes_peak, "measured", compiled.stats.bytes_peak, "bytes")
