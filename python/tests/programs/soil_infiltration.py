"""Richards' equation by van Genuchten's curves: implicit steps by Picard's iteration on a column."""

import numpy as np


def van_genuchten(psi, p):
    m = 1 - 1 / p["n"]
    se = np.where(psi < 0, (1 + (p["alpha"] * np.abs(np.minimum(psi, -1e-9))) ** p["n"]) ** (-m), 1.0)
    theta = p["theta_r"] + (p["theta_s"] - p["theta_r"]) * se
    K = p["Ks"] * np.sqrt(se) * (1 - (1 - se ** (1 / m)) ** m) ** 2
    C = p["alpha"] * m * p["n"] * (p["theta_s"] - p["theta_r"]) * se ** (1 / m + 1) * (p["alpha"] * np.abs(psi)) ** (p["n"] - 1)
    return theta, K, C


def column(p, psi0, flux_in, dz=5.0, dt=0.5, steps=4):
    psi = psi0.copy()
    n = len(psi)
    for _ in range(steps):
        theta_old, _, _ = van_genuchten(psi, p)
        guess = psi
        for picard in range(3):
            theta, K, C = van_genuchten(guess, p)
            Km = 0.5 * (K[1:] + K[:-1])
            A = np.zeros((n, n))
            b = np.zeros(n)
            for i in range(n):
                A[i, i] += C[i] / dt
                b[i] += C[i] * guess[i] / dt - (theta[i] - theta_old[i]) / dt
                if i > 0:
                    A[i, i] += Km[i - 1] / dz**2
                    A[i, i - 1] -= Km[i - 1] / dz**2
                    b[i] += Km[i - 1] / dz
                else:
                    b[i] += flux_in / dz
                if i < n - 1:
                    A[i, i] += Km[i] / dz**2
                    A[i, i + 1] -= Km[i] / dz**2
                    b[i] -= Km[i] / dz
                else:
                    b[i] -= K[i] / dz
            guess = np.linalg.solve(A, b)
        psi = guess
    return psi


def stored_water(p, psi0, flux_in):
    return np.sum(van_genuchten(column(p, psi0, flux_in), p)[0]) * 5.0


def example():
    p = dict(alpha=0.02, n=1.8, theta_r=0.06, theta_s=0.43, Ks=1.5)
    return stored_water, (p, np.array([-60.0, -70.0, -80.0, -90.0]), 0.4), (0, 1, 2)
