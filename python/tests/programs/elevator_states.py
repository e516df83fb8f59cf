"""A lift of strings as states: idle, up, down, open; it moves by an accelerating motor towards calls and pays for time and energy."""

import numpy as np

ACCELERATION = {"idle": 0.0, "up": 1.0, "down": -1.0, "open": 0.0}


def cost(gains, calls):
    state, place, speed, energy, waited = "idle", 0.0, 0.0, 0.0, 0.0
    for target in calls:
        for _ in range(8):
            gap = target - place
            if state == "open":
                state = "idle"
            elif abs(gap) < 0.35:
                state, speed = "open", speed * 0.1
            elif gap > 0:
                state = "up"
            else:
                state = "down"
            force = gains[0] * ACCELERATION[state] - gains[1] * speed
            speed += 0.3 * force
            place += 0.3 * speed
            energy += 0.3 * force**2
            waited += 0.3 * (1.0 if state != "open" else 0.2) * abs(gap)
    return energy * 0.1 + waited


def example():
    return cost, (np.array([0.8, 0.5]), np.array([2.0, 0.7, 3.1])), (0, 1)
