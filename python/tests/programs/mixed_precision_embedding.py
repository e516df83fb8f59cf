"""Embeddings by fancy indexing, negative sampling with given indices, np.add.at for counts, log-sigmoid written stably."""
import numpy as np


def log_sigmoid(z):
    return np.minimum(z, 0) - np.log1p(np.exp(-np.abs(z)))


def skipgram(E, C, centers, contexts, negatives):
    v = E[centers]
    pos = np.einsum("nd,nd->n", v, C[contexts])
    neg = np.einsum("nd,nkd->nk", v, C[negatives])
    freq = np.zeros(len(E), dtype=np.int64)
    np.add.at(freq, contexts, 1)
    w = 1.0 / np.sqrt(freq[contexts])
    return -(w * (log_sigmoid(pos) + log_sigmoid(-neg).sum(-1))).sum() / w.sum()


def example():
    r = np.random.default_rng(0)
    return skipgram, (r.normal(size=(7, 3)), r.normal(size=(7, 3)), r.integers(0, 7, 9), r.integers(0, 7, 9), r.integers(0, 7, (9, 2))), (0, 1)
