"""A shop with an (s, S) policy: integer days, orders under way in a queue, costs of holding and of lost sales."""

import numpy as np


def yearly_cost(policy, demand, price):
    low, high = policy
    stock, cost = high, 0.0
    pipeline = [0.0, 0.0]
    for day in range(len(demand)):
        arriving = pipeline.pop(0)
        stock = stock + arriving
        sold = min(stock, demand[day])
        cost += 0.1 * (stock - sold) + price * (demand[day] - sold)
        stock = stock - sold
        order = 0.0
        if stock + sum(pipeline) < low:
            order = high - stock - sum(pipeline)
            cost += 0.5 + 0.2 * order
        pipeline.append(order)
    return cost / len(demand)


def example():
    return yearly_cost, (np.array([2.3, 6.1]), np.array([1.2, 0.7, 2.6, 1.9, 0.4, 3.3, 1.1, 2.2, 0.9, 1.7]), 1.5), (0, 1, 2)
