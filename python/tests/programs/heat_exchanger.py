"""A counterflow exchanger as a two-point problem: shooting on the outlet temperature by the secant method."""

import numpy as np


def march(T_hot_out, inlet, flows, UA, n=12):
    """From the cold inlet: what the hot inlet would have to be."""
    Th, Tc = T_hot_out, inlet["cold"]
    dA = UA / n
    for _ in range(n):
        q = dA * (Th - Tc)
        Th, Tc = Th + q / flows["hot"], Tc + q / flows["cold"]
    return Th, Tc


def shoot(inlet, flows, UA, tol=1e-10):
    a, b = 30.0, 60.0
    fa = march(a, inlet, flows, UA)[0] - inlet["hot"]
    fb = march(b, inlet, flows, UA)[0] - inlet["hot"]
    for i in range(20):
        if abs(fb) < tol:
            break
        a, b, fa = b, b - fb * (b - a) / (fb - fa), fb
        fb = march(b, inlet, flows, UA)[0] - inlet["hot"]
    return b


def effectiveness(UA, flows, inlet):
    out = shoot(inlet, flows, UA)
    cmin = min(flows.values())
    return flows["hot"] * (inlet["hot"] - out) / (cmin * (inlet["hot"] - inlet["cold"]))


def example():
    return effectiveness, (3.0, {"hot": 2.0, "cold": 2.5}, {"hot": 80.0, "cold": 20.0}), (0, 1, 2)
