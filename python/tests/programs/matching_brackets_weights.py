"""The weight of nested structures in a string of brackets by an interval table: the inside algorithm of a toy RNA fold."""

import numpy as np

PAIRS = {("A", "U"), ("U", "A"), ("G", "C"), ("C", "G"), ("G", "U"), ("U", "G")}


def partition(sequence, energies):
    n = len(sequence)
    Q = np.ones((n + 1, n + 1))
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            total = Q[i, j - 1] if j > i else 1.0
            for k in range(i, j - 2):
                if (sequence[k], sequence[j]) in PAIRS:
                    kind = "GC" if {sequence[k], sequence[j]} == {"G", "C"} else "other"
                    before = Q[i, k - 1] if k > i else 1.0
                    total = total + before * Q[k + 1, j - 1] * np.exp(-energies[kind])
            Q[i, j] = total
    return np.log(Q[0, n - 1])


def free_energy(strong, weak):
    return -partition("GGACUUAGCC", {"GC": strong, "other": weak})


def example():
    return free_energy, (-1.2, -0.4), (0, 1)
