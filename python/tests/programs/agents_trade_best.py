"""Traders meet in rounds: the richer of two sells to the poorer, prices move with what is traded; objects chosen by who is richer."""

import numpy as np


class Trader:
    def __init__(self, wealth, stock):
        self.wealth, self.stock = wealth, stock
        self.trades = 0

    def value(self, price):
        return self.wealth + self.stock * price


def simulate(wealth, stock, rate):
    traders = [Trader(w, s) for w, s in zip(wealth, stock)]
    price = 1.0
    for k in range(12):
        a, b = traders[k % len(traders)], traders[(k + 1 + k // 4) % len(traders)]
        if a.value(price) > b.value(price):
            buyer, seller = a, b
        else:
            buyer, seller = b, a
        amount = rate * seller.stock
        buyer.stock += amount
        seller.stock -= amount
        buyer.wealth -= amount * price
        seller.wealth += amount * price
        buyer.trades += 1
        price *= 1.0 + 0.05 * np.tanh(amount)
    total = sum(t.value(price) ** 2 for t in traders)
    return total * price


def example():
    return simulate, (np.array([3.0, 1.2, 2.1, 0.7]), np.array([1.0, 2.5, 0.4, 1.7]), 0.2), (0, 1, 2)
