"""Felsenstein's pruning algorithm on a tree of tuples, by recursion, with Jukes-Cantor's model."""

import numpy as np

BASES = "ACGT"


def transition(t, rate):
    e = np.exp(-4.0 / 3.0 * rate * t)
    return (0.25 - 0.25 * e) * np.ones((4, 4)) + e * np.eye(4)


def partials(node, lengths, rate, site):
    """Likelihood of what is below a node, given its state."""
    if isinstance(node, str):
        v = np.zeros(4)
        v[BASES.index(site[node])] = 1.0
        return v
    out = np.ones(4)
    for child, k in node:
        out = out * (transition(lengths[k], rate) @ partials(child, lengths, rate, site))
    return out


def log_likelihood(lengths, rate, tree, alignment):
    nsites = len(next(iter(alignment.values())))
    ll = 0.0
    for s in range(nsites):
        site = {name: seq[s] for name, seq in alignment.items()}
        ll += np.log(np.dot(np.full(4, 0.25), partials(tree, lengths, rate, site)))
    return ll


def example():
    tree = (((("human", 0), ("chimp", 1)), 4), ((("mouse", 2), ("rat", 3)), 5))
    alignment = {"human": "ACGTAC", "chimp": "ACGTAA", "mouse": "ACTTCA", "rat": "ACTTCC"}
    return log_likelihood, (np.array([0.1, 0.12, 0.2, 0.18, 0.3, 0.25]), 1.1, tree, alignment), (0, 1)
