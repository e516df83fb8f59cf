"""Mean-field Ising on a ring with damping until the change is small; free energy per site."""
import numpy as np


def free_energy(J, h, T, n=12, damping=0.6, tol=1e-13):
    m = np.linspace(0.1, 0.9, n)
    nbr = [((i - 1) % n, (i + 1) % n) for i in range(n)]
    for sweep in range(500):
        field = np.array([h[i] + J * sum(m[j] for j in nbr[i]) for i in range(n)])
        new = damping * m + (1 - damping) * np.tanh(field / T)
        err = np.max(np.abs(new - m))
        m = new
        if err < tol:
            break
    else:
        raise ArithmeticError("mean field did not converge")
    energy = sum(-J * m[i] * m[(i + 1) % n] - h[i] * m[i] for i in range(n))
    entropy = -np.sum((1 + m) / 2 * np.log((1 + m) / 2) + (1 - m) / 2 * np.log((1 - m) / 2))
    return (energy - T * entropy) / n


def example():
    return free_energy, (0.4, 0.3 + 0.1 * np.cos(np.arange(12)), 1.5), (0, 1, 2)
