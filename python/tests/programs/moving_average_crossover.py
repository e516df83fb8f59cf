"""A smooth trading rule from two exponential averages, with drawdown by a running maximum, Sharpe's ratio out."""

import numpy as np


def ema(x, span):
    alpha = 2.0 / (span + 1.0)
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = alpha * x[i] + (1 - alpha) * out[i - 1]
    return out


def backtest(prices, fast, slow, sharpness=20.0, cost=1e-3):
    signal = np.tanh(sharpness * (ema(prices, fast) / ema(prices, slow) - 1))
    returns = np.diff(prices) / prices[:-1]
    turnover = np.abs(np.diff(signal, prepend=0.0))[:-1]
    pnl = signal[:-1] * returns - cost * turnover
    equity = np.cumprod(1 + pnl)
    drawdown = 1 - equity / np.maximum.accumulate(equity)
    return pnl, equity, drawdown


def utility(spans, prices):
    pnl, equity, drawdown = backtest(prices, *spans)
    sharpe = pnl.mean() / pnl.std() * np.sqrt(252)
    return sharpe - 2 * drawdown.max()


def example():
    rng = np.random.default_rng(70)
    prices = 100 * np.exp(np.cumsum(0.01 * rng.normal(size=40)))
    return utility, (np.array([4.0, 12.0]), prices), (0, 1)
