"""Returns of a strategy, its cumulated wealth, drawdowns by running maxima and a penalty on turnover."""

import numpy as np


def backtest(weights, returns, fee):
    held = np.abs(weights) / np.sum(np.abs(weights))
    wealth = [1.0]
    for r in returns:
        gross = held * (1.0 + r)
        grown = gross.sum()
        turnover = np.abs(gross / grown - weights / np.sum(weights)).sum()
        wealth.append(wealth[-1] * grown * (1.0 - fee * turnover))
        held = gross / grown
    wealth = np.array(wealth)
    peak = np.maximum.accumulate(wealth)
    drawdown = (peak - wealth) / peak
    return np.log(wealth[-1]) - np.max(drawdown) - 0.1 * np.sqrt(np.mean(drawdown**2))


def example():
    rng = np.random.default_rng(17)
    return backtest, (np.array([0.5, 0.3, 0.2]), 0.03 * rng.normal(size=(14, 3)) + 0.004, 0.01), (0, 1, 2)
