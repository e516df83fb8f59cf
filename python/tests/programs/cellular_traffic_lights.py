"""Cars on a ring as integers and phases as floats: integer positions move by known rules, waiting costs are smooth in the phases."""

import numpy as np


def simulate(phases, green):
    positions = [0, 3, 7]
    cost = 0.0
    for tick in range(16):
        for car in range(len(positions)):
            ahead = (positions[car] + 1) % 10
            if ahead in positions:
                cost += 0.05 * green
                continue
            light = phases[ahead % len(phases)]
            openness = 1 / (1 + np.exp(-8 * (np.cos(0.7 * tick + light) - green)))
            cost += (1 - openness) * (1 + car)
            if tick % 3 != car:
                positions[car] = ahead
    return cost / 16


def example():
    return simulate, (np.array([0.1, 1.3, 2.2]), 0.2), (0, 1)
