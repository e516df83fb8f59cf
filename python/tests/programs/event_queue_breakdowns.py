"""Machines break down and are repaired: events in a heap, times from given hazards, costs that are discounted."""

import heapq

import numpy as np


def cost(hazards, repair, draws, horizon=6.0):
    events = [(float(k) * 0.01, k) for k in range(3)]
    used = [0, 0, 0]
    order = []
    while events:
        when, machine = heapq.heappop(events)
        order.append(machine)
        used[machine] += 1
        if when + 1.0 + 0.3 * machine < horizon:
            heapq.heappush(events, (when + 1.0 + 0.3 * machine, machine))
    total, clock = 0.0, np.zeros(3)
    for number, machine in enumerate(order):
        clock[machine] += -np.log(draws[number % len(draws)]) / hazards[machine]
        total += repair[machine] * np.exp(-0.1 * clock[machine])
    return total + np.dot(used, hazards)


def example():
    return cost, (np.array([0.8, 1.3, 0.5]), np.array([2.0, 1.0, 4.0]), np.array([0.3, 0.7, 0.5, 0.9, 0.2])), (0, 1, 2)
