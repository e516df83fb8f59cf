"""COO triplets gathered in dicts, converted to CSR by counting, power iterations of a damped walk."""
import numpy as np


def to_csr(entries, n):
    rows = [[] for _ in range(n)]
    for (i, j), v in sorted(entries.items()):
        rows[i].append((j, v))
    indptr, indices, data = [0], [], []
    for r in rows:
        for j, v in r:
            indices.append(j)
            data.append(v)
        indptr.append(len(indices))
    return np.array(indptr), np.array(indices), np.array(data)


def matvec(csr, x):
    indptr, indices, data = csr
    y = np.zeros(len(indptr) - 1)
    for i in range(len(y)):
        for k in range(indptr[i], indptr[i + 1]):
            y[i] += data[k] * x[indices[k]]
    return y


def score(weights, links, damping):
    n = 1 + max(max(l) for l in links)
    out = np.zeros(n)
    for w, (a, b) in zip(weights, links):
        out[a] += w
    entries = {}
    for w, (a, b) in zip(weights, links):
        entries[b, a] = entries.get((b, a), 0.0) + w / out[a]
    A = to_csr(entries, n)
    p = np.full(n, 1 / n)
    for _ in range(30):
        p = (1 - damping) / n + damping * matvec(A, p)
    return p[0] ** 2 + p[-1]


def example():
    links = [(0, 1), (1, 2), (2, 0), (0, 2), (3, 1), (2, 3), (0, 1)]
    return score, (np.array([1.0, 2.0, 0.5, 1.5, 1.0, 0.7, 0.3]), links, 0.85), (0, 2)
