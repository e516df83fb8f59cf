"""The chance to win a match from the chances of a point: recursion with a memo, a tie-break, sets as nested calls."""

import numpy as np


def game(p):
    q = 1 - p
    deuce = p**2 / (p**2 + q**2)
    return p**4 * (1 + 4 * q + 10 * q**2) + 20 * (p * q) ** 3 * deuce


def set_win(pa, pb, games=6):
    memo = {}

    def win(a, b, serving):
        if (a, b, serving) in memo:
            return memo[a, b, serving]
        if a >= games and a - b >= 2:
            return 1.0
        if b >= games and b - a >= 2:
            return 0.0
        if a == b == games:
            return 0.5 * (pa + 1 - pb)
        hold = game(pa) if serving else 1 - game(pb)
        value = hold * win(a + 1, b, not serving) + (1 - hold) * win(a, b + 1, not serving)
        memo[a, b, serving] = value
        return value

    return win(0, 0, True)


def match(pa, pb, best_of=3):
    need = best_of // 2 + 1
    s = set_win(pa, pb)

    def go(x, y):
        return 1.0 if x == need else 0.0 if y == need else s * go(x + 1, y) + (1 - s) * go(x, y + 1)

    return go(0, 0)


def example():
    return match, (0.62, 0.58), (0, 1)
