"""Bonds on a trinomial tree of short rates, its drift fitted to a curve, then a callable bond."""

import numpy as np


def tree_price(a, sigma, curve, coupon, strike, dt=0.5):
    n = len(curve)
    jmax = 3
    dr = sigma * np.sqrt(3 * dt)
    js = np.arange(-jmax, jmax + 1)
    pu = 1 / 6 + 0.5 * ((a * js * dt) ** 2 - a * js * dt)
    pm = 2 / 3 - (a * js * dt) ** 2
    pd = 1 / 6 + 0.5 * ((a * js * dt) ** 2 + a * js * dt)
    value = np.full(2 * jmax + 1, 100.0 + coupon)
    for step in reversed(range(n)):
        r = curve[step] + js * dr
        disc = np.exp(-r * dt)
        up = np.append(value[1:], value[-1])
        down = np.insert(value[:-1], 0, value[0])
        cont = disc * (pu * up + pm * value + pd * down)
        if step > 0:
            value = np.minimum(cont, strike) + coupon
        else:
            value = cont
    return value[jmax]


def option_adjusted(a, sigma, curve, coupon=2.0, strike=101.0):
    straight = 0.0
    df = 1.0
    for rate in curve:
        df *= np.exp(-rate * 0.5)
        straight += coupon * df
    straight += 100 * df
    return straight - tree_price(a, sigma, curve, coupon, strike)


def example():
    return option_adjusted, (0.1, 0.012, np.array([0.03, 0.031, 0.033, 0.034, 0.036, 0.037])), (0, 1, 2)
