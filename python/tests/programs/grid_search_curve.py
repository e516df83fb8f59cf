"""A dose response with np.vectorize-free scalar code mapped by list comprehension, area by trapezoids, EC50 by scanning."""

import math

import numpy as np


def response(dose, bottom, top, log_ec50, slope):
    if dose == 0:
        return bottom
    return bottom + (top - bottom) / (1 + math.exp(-slope * (math.log10(dose) - log_ec50)))


def area_under_curve(params, doses):
    values = [response(d, *params) for d in doses]
    x = [math.log10(d) if d > 0 else -3.0 for d in doses]
    return sum((x[i + 1] - x[i]) * (values[i] + values[i + 1]) / 2 for i in range(len(x) - 1))


def crossing(params, doses, level):
    previous = None
    for d in doses[1:]:
        v = response(d, *params)
        if previous is not None and (previous[1] - level) * (v - level) <= 0:
            d0, v0 = previous
            w = (level - v0) / (v - v0)
            return math.log10(d0) + w * (math.log10(d) - math.log10(d0))
        previous = (d, v)
    return float("nan")


def summary(params, doses):
    half = 0.5 * (params[0] + params[1])
    return area_under_curve(params, doses) + crossing(params, doses, half)


def example():
    return summary, (np.array([0.1, 1.2, 0.25, 2.5]), [0.0, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 100.0]), 0
