"""Leaf photosynthesis and stomata solved together by a damped fixed point, over an array of light levels."""

import numpy as np


def assimilation(ci, light, vcmax, jmax):
    gamma, km = 42.75, 710.0
    J = jmax * light / (light + 2.1 * jmax)
    ac = vcmax * (ci - gamma) / (ci + km)
    aj = J / 4 * (ci - gamma) / (ci + 2 * gamma)
    theta = 0.95
    b = ac + aj
    return (b - np.sqrt(b**2 - 4 * theta * ac * aj)) / (2 * theta)


def couple(light, leaf, ca=400.0, vpd=1.5, rd=1.0):
    ci = np.full_like(light, 0.7 * ca)
    for i in range(15):
        A = assimilation(ci, light, leaf["vcmax"], leaf["jmax"]) - rd
        gs = leaf["g0"] + 1.6 * (1 + leaf["g1"] / np.sqrt(vpd)) * np.maximum(A, 0.01) / ca
        new = ca - 1.6 * A / gs
        ci = 0.5 * ci + 0.5 * new
    return A, gs


def water_use_efficiency(leaf, light):
    A, gs = couple(light, leaf)
    return A.sum() / gs.sum() / 100


def example():
    leaf = {"vcmax": 60.0, "jmax": 110.0, "g0": 0.01, "g1": 4.0}
    return water_use_efficiency, (leaf, np.linspace(200, 1500, 6)), (0, 1)
