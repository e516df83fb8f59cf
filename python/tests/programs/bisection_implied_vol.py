"""Implied volatility by bisection and then Newton, from Black and Scholes with math.erf."""

import math

import numpy as np


def norm_cdf(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def black_scholes(S, K, T, r, sigma, kind="call"):
    d1 = (math.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    if kind == "call":
        return S * norm_cdf(d1) - K * math.exp(-r * T) * norm_cdf(d2)
    return K * math.exp(-r * T) * norm_cdf(-d2) - S * norm_cdf(-d1)


def vega(S, K, T, r, sigma):
    d1 = (math.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * math.sqrt(T))
    return S * math.exp(-0.5 * d1**2) / math.sqrt(2 * math.pi) * math.sqrt(T)


def implied_vol(price, S, K, T, r, kind="call"):
    lo, hi = 0.01, 2.0
    for _ in range(10):
        mid = 0.5 * (lo + hi)
        if black_scholes(S, K, T, r, mid, kind) > price:
            hi = mid
        else:
            lo = mid
    sigma = 0.5 * (lo + hi)
    for _ in range(6):
        sigma = sigma - (black_scholes(S, K, T, r, sigma, kind) - price) / vega(S, K, T, r, sigma)
    return sigma


def smile_slope(prices, S, strikes, T=0.5, r=0.01):
    vols = [implied_vol(p, S, k, T, r) for p, k in zip(prices, strikes)]
    return (vols[-1] - vols[0]) / (strikes[-1] - strikes[0]) * 100 + sum(vols)


def example():
    return smile_slope, (np.array([12.1, 6.5, 3.1]), 100.0, [90.0, 100.0, 110.0]), (0, 1)
