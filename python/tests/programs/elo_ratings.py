"""Elo ratings by player, updated game by game; how well they predict, by the factor K."""

import numpy as np


def expected(a, b):
    return 1 / (1 + 10 ** ((b - a) / 400))


def log_loss(k, home_advantage, games):
    ratings = {}
    loss = 0.0
    for home, away, result in games:
        for player in (home, away):
            if player not in ratings:
                ratings[player] = 1500.0
        p = expected(ratings[home] + home_advantage, ratings[away])
        loss -= np.log(p) if result else np.log(1 - p)
        delta = k * (result - p)
        ratings[home] += delta
        ratings[away] -= delta
    return loss / len(games)


def example():
    games = [("ann", "bob", 1), ("bob", "eve", 0), ("eve", "ann", 1), ("ann", "eve", 1), ("bob", "ann", 0), ("eve", "bob", 1)]
    return log_loss, (24.0, 30.0, games), (0, 1)
