"""Semi-Markov CRF: log partition over segments of bounded length, minus the score of a labelled segmentation."""
import numpy as np


def logsumexp(v):
    v = np.asarray(v)
    m = v.max()
    return m + np.log(np.exp(v - m).sum())


def nll(params, obs, segments):
    T, D = obs.shape
    W, A, dur = params["W"], params["A"], params["dur"]
    K, L = W.shape[0], dur.shape[1]
    cum = np.zeros((T + 1, K))
    cum[1:] = np.cumsum(obs @ W.T, axis=0)
    alpha = np.full((T + 1, K), -np.inf)
    alpha[0, :] = 0
    for t in range(1, T + 1):
        for k in range(K):
            terms = []
            for l in range(1, min(L, t) + 1):
                seg = cum[t, k] - cum[t - l, k] + dur[k, l - 1]
                if t == l:
                    terms.append(seg)
                else:
                    terms.append(logsumexp([alpha[t - l, j] + A[j, k] for j in range(K)]) + seg)
            alpha[t, k] = logsumexp(terms)
    score, prev = 0.0, None
    for (start, stop, lab) in segments:
        score += cum[stop, lab] - cum[start, lab] + dur[lab, stop - start - 1]
        if prev is not None:
            score += A[prev, lab]
        prev = lab
    return logsumexp(alpha[T]) - score


def example():
    r = np.random.RandomState(0)
    params = dict(W=r.randn(3, 4), A=0.5 * r.randn(3, 3), dur=0.1 * r.randn(3, 4))
    return nll, (params, r.randn(9, 4), [(0, 2, 1), (2, 5, 0), (5, 9, 2)]), 0
