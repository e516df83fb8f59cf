"""Carbon through pools with a matrix of transfers, turnover by temperature (Q10), spun up to near equilibrium."""

import numpy as np

POOLS = ["litter", "active", "slow", "passive"]


def transfer_matrix(k, f):
    n = len(POOLS)
    A = np.diag(-k)
    flows = {("litter", "active"): f[0], ("active", "slow"): f[1], ("slow", "passive"): f[2], ("slow", "active"): f[3]}
    for (src, dst), share in flows.items():
        A[POOLS.index(dst), POOLS.index(src)] += share * k[POOLS.index(src)]
    return A


def q10(T, base=2.0, ref=15.0):
    return base ** ((T - ref) / 10)


def spin_up(A, litterfall, temps, years):
    C = np.linalg.solve(-A * np.mean([q10(T) for T in temps]), litterfall)
    for y in range(years):
        for T in temps:
            C = C + (litterfall + q10(T) * (A @ C)) / len(temps)
    return C


def total_carbon(k, f, temps, npp):
    litterfall = np.zeros(len(POOLS))
    litterfall[POOLS.index("litter")] = npp
    C = spin_up(transfer_matrix(k, f), litterfall, temps, years=3)
    assert np.all(C >= 0), "negative carbon"
    return C.sum()


def example():
    return total_carbon, (np.array([1.2, 0.8, 0.1, 0.01]), np.array([0.5, 0.3, 0.1, 0.2]), [5.0, 12.0, 20.0, 10.0], 2.0), (0, 1, 3)
