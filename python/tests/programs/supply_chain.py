"""An inventory under an (s, S) policy made smooth, over several products, costs gathered in a defaultdict."""

from collections import defaultdict

import numpy as np


def smooth_step(x, k=4.0):
    return 1 / (1 + np.exp(-k * x))


def run(policy, demand, lead=2):
    s, S = policy
    stock = S
    pipeline = [0.0] * lead
    costs = defaultdict(float)
    for d in demand:
        stock += pipeline.pop(0)
        sold = min(stock, d)
        costs["lost"] += 5.0 * (d - sold)
        stock -= sold
        costs["holding"] += 0.2 * stock
        position = stock + sum(pipeline)
        order = smooth_step(s - position) * (S - position)
        costs["ordering"] += 1.0 * smooth_step(order - 0.5) + 0.1 * order
        pipeline.append(order)
    return costs


def total_cost(policies, demands):
    total = 0.0
    for policy, demand in zip(policies, demands):
        costs = run(policy, demand)
        total += sum(costs.values())
    return total


def example():
    rng = np.random.default_rng(48)
    return total_cost, ([(3.0, 7.3), (2.2, 5.1)], rng.gamma(2.0, 1.0, size=(2, 10))), (0, 1)
