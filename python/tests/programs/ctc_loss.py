"""CTC loss with an extended label sequence; log-add-exp in nested loops with skips over blanks."""
import numpy as np

NEG = -1e30


def logadd(*xs):
    m = max(xs)
    return m + np.log(sum(np.exp(x - m) for x in xs))


def ctc(logits, labels, blank=0):
    logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    ext = [blank]
    for l in labels:
        ext += [l, blank]
    T, S = len(logp), len(ext)
    alpha = np.full((T, S), NEG)
    alpha[0, 0] = logp[0, blank]
    alpha[0, 1] = logp[0, ext[1]]
    for t in range(1, T):
        for s in range(S):
            terms = [alpha[t - 1, s]]
            if s > 0:
                terms.append(alpha[t - 1, s - 1])
            if s > 1 and ext[s] != blank and ext[s] != ext[s - 2]:
                terms.append(alpha[t - 1, s - 2])
            alpha[t, s] = logadd(*terms) + logp[t, ext[s]]
    return -logadd(alpha[-1, -1], alpha[-1, -2])


def example():
    return ctc, (np.random.default_rng(0).normal(size=(7, 4)), [1, 3, 3]), 0
