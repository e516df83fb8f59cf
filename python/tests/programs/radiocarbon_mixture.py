"""A calibration curve read by interpolation, dates as a mixture with outliers; the posterior over a grid of years."""

import math

import numpy as np


def calibrate(year, curve):
    years, values, errors = zip(*curve)
    return np.interp(year, years, values), np.interp(year, years, errors)


def log_density(age, sigma, year, curve, outlier=0.05, spread=4.0):
    mean, error = calibrate(year, curve)
    s2 = sigma**2 + error**2
    core = np.exp(-0.5 * (age - mean) ** 2 / s2) / np.sqrt(2 * math.pi * s2)
    wide = np.exp(-0.5 * (age - mean) ** 2 / (spread**2 * s2)) / np.sqrt(2 * math.pi * spread**2 * s2)
    return np.log((1 - outlier) * core + outlier * wide)


def expected_year(ages, sigma, curve):
    grid = np.arange(100, 401, 10)
    logp = np.zeros(len(grid))
    for i, year in enumerate(grid):
        logp[i] = sum(log_density(age, sigma, year, curve) for age in ages)
    p = np.exp(logp - logp.max())
    p /= p.sum()
    return p @ grid * 0.01


def example():
    curve = [(100, 180.0, 12.0), (200, 240.0, 10.0), (300, 390.0, 15.0), (400, 430.0, 11.0)]
    return expected_year, (np.array([250.0, 270.0, 300.0]), 20.0, curve), (0, 1)
