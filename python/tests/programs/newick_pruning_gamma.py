"""Felsenstein pruning from a Newick string parsed inside of the function; four gamma-like rate classes."""
import re
import numpy as np


def parse(newick):
    tokens = re.findall(r"[(),;]|[A-Za-z]+|:\d+", newick)
    pos = 0

    def node():
        nonlocal pos
        if tokens[pos] == "(":
            pos += 1
            kids = [node()]
            while tokens[pos] == ",":
                pos += 1
                kids.append(node())
            pos += 1
            out = {"kids": kids}
        else:
            out = {"name": tokens[pos]}
            pos += 1
        if tokens[pos].startswith(":"):
            out["edge"] = int(tokens[pos][1:])
            pos += 1
        return out

    return node()


def transition(t, kappa):
    # K80
    e1 = np.exp(-4 * t / (kappa + 2)); e2 = np.exp(-2 * t * (kappa + 1) / (kappa + 2))
    same, ts, tv = 0.25 + 0.25 * e1 + 0.5 * e2, 0.25 + 0.25 * e1 - 0.5 * e2, 0.25 - 0.25 * e1
    return np.array([[same, tv, ts, tv], [tv, same, tv, ts], [ts, tv, same, tv], [tv, ts, tv, same]])


def partial(tree, seqs, lengths, kappa, rate):
    if "name" in tree:
        return np.eye(4)[["ACGT".index(ch) for ch in seqs[tree["name"]]]]
    L = 1.0
    for kid in tree["kids"]:
        P = transition(rate * np.exp(lengths[kid["edge"]]), kappa)
        L = L * (partial(kid, seqs, lengths, kappa, rate) @ P.T)
    return L


def loglik(lengths, kappa, newick, seqs):
    tree = parse(newick)
    site = sum(partial(tree, seqs, lengths, kappa, r).dot(np.full(4, .25)) for r in (0.2, 0.6, 1.2, 2.0)) / 4
    return np.log(site).sum()


def example():
    return loglik, (-1.5 + 0.1 * np.arange(6.0), 2.0, "((human:0,chimp:1):2,(mouse:3,rat:4):5);", {"human": "ACGTACGTAA", "chimp": "ACGTACGAAA", "mouse": "ACTTGCGTCA", "rat": "GCTTGCGTCA"}), (0, 1)
