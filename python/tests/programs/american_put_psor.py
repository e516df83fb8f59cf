"""American put: Crank-Nicolson with projected SOR, counts its sweeps; spot by interpolation on the grid."""
import numpy as np


def price(S0, K, r, sigma, T, M=12, N=3, omega=1.3, tol=1e-8):
    Smax = 3 * 100.0
    dS = Smax / M
    dt = T / N
    S = np.arange(M + 1) * dS
    payoff = np.maximum(K - S, 0)
    V = payoff.copy()
    j = np.arange(1, M)
    a = 0.25 * dt * (sigma ** 2 * j ** 2 - r * j)
    b = -0.5 * dt * (sigma ** 2 * j ** 2 + r)
    cc = 0.25 * dt * (sigma ** 2 * j ** 2 + r * j)
    sweeps = 0
    for n in range(N):
        rhs = a * V[:-2] + (1 + b) * V[1:-1] + cc * V[2:]
        error = 1.0
        while error > tol:
            error = 0.0
            for i in range(1, M):
                gs = (rhs[i - 1] + a[i - 1] * V[i - 1] + cc[i - 1] * V[i + 1]) / (1 - b[i - 1])
                new = max(payoff[i], V[i] + omega * (gs - V[i]))
                error += (new - V[i]) ** 2
                V[i] = new
            sweeps += 1
            if sweeps > 2000:
                raise RuntimeError("PSOR did not converge")
    return np.interp(S0, S, V)


def example():
    return price, (97.0, 100.0, 0.05, 0.3, 1.0), (0, 1, 2, 3, 4)
