"""The likelihood of DNA on a tree by Felsenstein's pruning: the tree is a nested tuple, the model Kimura's two rates."""

from functools import reduce

import numpy as np

TREE = ((("human", 0), ("chimp", 1), 2), ("gorilla", 3), 4)
CODE = {"A": 0, "G": 1, "C": 2, "T": 3}


def transition_matrix(kappa, t):
    d = 4.0 / (kappa + 2.0)
    e1 = np.exp(-d * t)
    e2 = np.exp(-d * (kappa + 1.0) / 2.0 * t)
    same, ts, tv = 0.25 + 0.25 * e1 + 0.5 * e2, 0.25 + 0.25 * e1 - 0.5 * e2, 0.25 - 0.25 * e1
    return np.array([[same, ts, tv, tv], [ts, same, tv, tv], [tv, tv, same, ts], [tv, tv, ts, same]])


def partial(node, lengths, kappa, site, sequences):
    name, *rest = node
    if isinstance(name, str):
        leaf = np.zeros(4)
        leaf[CODE[sequences[name][site]]] = 1.0
        return transition_matrix(kappa, lengths[rest[0]]) @ leaf
    *children, branch = node
    inside = reduce(np.multiply, [partial(child, lengths, kappa, site, sequences) for child in children])
    return transition_matrix(kappa, lengths[branch]) @ inside


def log_likelihood(lengths, kappa, sequences):
    sites = len(next(iter(sequences.values())))
    total = 0.0
    for site in range(sites):
        total += np.log(0.25 * np.sum(partial(TREE, lengths, kappa, site, sequences)))
    return total


def example():
    sequences = {"human": "AGCTTGA", "chimp": "AGCTTGG", "gorilla": "ACCTAGA"}
    return log_likelihood, (np.array([0.1, 0.15, 0.2, 0.3, 0.05]), 2.0, sequences), (0, 1)
