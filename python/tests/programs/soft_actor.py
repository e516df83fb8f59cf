"""Policy evaluation and a policy gradient in a small grid world: a walk with walls from a string map."""

import numpy as np

WORLD = """
S..#
.#.G
....
"""

MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def parse(world):
    rows = [list(line) for line in world.strip().splitlines()]
    cells = [(i, j) for i, row in enumerate(rows) for j, c in enumerate(row) if c != "#"]
    index = {cell: k for k, cell in enumerate(cells)}
    start = next(c for c in cells if rows[c[0]][c[1]] == "S")
    goal = next(c for c in cells if rows[c[0]][c[1]] == "G")
    return index, start, goal


def softmax(x):
    z = np.exp(x - x.max())
    return z / z.sum()


def policy_value(logits, gamma, step_cost):
    index, start, goal = parse(WORLD)
    n = len(index)
    P = np.zeros((n, n))
    r = np.zeros(n)
    for cell, s in index.items():
        if cell == goal:
            continue
        probs = softmax(logits[s])
        for p, (di, dj) in zip(probs, MOVES):
            nxt = (cell[0] + di, cell[1] + dj)
            t = index.get(nxt, s)
            P[s, t] += p
            r[s] += p * (1.0 if nxt == goal else -step_cost)
    V = np.linalg.solve(np.eye(n) - gamma * P, r)
    return V[index[start]]


def example():
    rng = np.random.default_rng(81)
    return policy_value, (0.5 * rng.normal(size=(10, 4)), 0.9, 0.04), (0, 1, 2)
