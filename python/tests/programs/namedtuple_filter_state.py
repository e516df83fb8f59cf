"""A complementary filter of angle and bias, its state a namedtuple that is replaced in each step."""

import collections

import numpy as np

State = collections.namedtuple("State", "angle bias steps")


def update(state, gyro, tilt, gain):
    predicted = state.angle + 0.02 * (gyro - state.bias)
    error = tilt - predicted
    if abs(error) > 1.0:
        return state._replace(angle=predicted, steps=state.steps + 1)
    return State(predicted + gain[0] * error, state.bias - gain[1] * error, state.steps + 1)


def mismatch(gain, gyro, tilt):
    state = State(tilt[0], 0.0, 0)
    total = 0.0
    for g, a in zip(gyro, tilt):
        state = update(state, g, a, gain)
        total += (state.angle - a) ** 2
    angle, bias, steps = state
    return total / steps + bias**2


def example():
    t = np.linspace(0, 2, 25)
    tilt = np.sin(t) + 0.01 * np.cos(40 * t)
    tilt[11] += 4.0
    return mismatch, (np.array([0.2, 0.05]), np.cos(t) * 4 + 0.3, tilt), (0, 1, 2)
