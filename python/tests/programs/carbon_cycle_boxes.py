"""A carbon cycle of boxes joined by fluxes that are given as a list of records, run forwards by years, with a feedback of temperature."""

from collections import defaultdict, namedtuple

import numpy as np

Flux = namedtuple("Flux", "source target rate feedback")

FLUXES = [
    Flux("atmosphere", "land", 0.12, 0.01),
    Flux("land", "atmosphere", 0.05, 0.02),
    Flux("atmosphere", "surface", 0.14, 0.0),
    Flux("surface", "atmosphere", 0.10, 0.015),
    Flux("surface", "deep", 0.03, 0.0),
    Flux("deep", "surface", 0.002, 0.0),
]


def warming(co2, sensitivity):
    return sensitivity * np.log2(co2 / 590.0)


def run(stocks, scale, sensitivity, emissions):
    stocks = dict(stocks)
    history = defaultdict(list)
    for year, e in enumerate(emissions):
        T = warming(stocks["atmosphere"], sensitivity)
        change = defaultdict(float)
        for flux, s in zip(FLUXES, scale):
            moved = s * flux.rate * stocks[flux.source] * (1 + flux.feedback * T)
            change[flux.source] -= moved
            change[flux.target] += moved
        change["atmosphere"] += e
        for box in stocks:
            stocks[box] += change[box] * 0.5
            history[box].append(stocks[box])
        history["T"].append(T)
    return history


def peak_warming(scale, sensitivity, emissions):
    start = {"atmosphere": 600.0, "land": 2000.0, "surface": 900.0, "deep": 37000.0}
    history = run(start, scale, sensitivity, emissions)
    return max(history["T"]) + 1e-3 * np.std(history["surface"])


def example():
    return peak_warming, (np.ones(6) + 0.1 * np.arange(6), 3.0, np.linspace(2, 12, 15)), (0, 1, 2)
