"""Path integral control of a cart-pole with noise that is given: rollouts as a vectorised loop, weights by softmin, receding horizon."""
import numpy as np


class CartPole:
    g, mc, mp, l = 9.81, 1.0, 0.1, 0.5

    def __call__(self, s, u):
        x, v, th, w = s[..., 0], s[..., 1], s[..., 2], s[..., 3]
        sin, cos = np.sin(th), np.cos(th)
        tmp = (u + self.mp * self.l * w**2 * sin) / (self.mc + self.mp)
        wd = (self.g * sin - cos * tmp) / (self.l * (4 / 3 - self.mp * cos**2 / (self.mc + self.mp)))
        vd = tmp - self.mp * self.l * wd * cos / (self.mc + self.mp)
        return np.stack([v, vd, w, wd], axis=-1)


def control(s0, noise, lam, plant=CartPole(), steps=3, dt=0.05):
    K, H = noise.shape
    U = np.zeros(H)
    s, total = np.array(s0), 0.0
    for k in range(steps):
        S = np.tile(s, (K, 1))
        cost = np.zeros(K)
        for h in range(H):
            S = S + dt * plant(S, U[h] + noise[:, h])
            cost += S[:, 2] ** 2 + 0.1 * S[:, 0] ** 2 + 1e-3 * (U[h] + noise[:, h]) ** 2
        w = np.exp(-(cost - cost.min()) / lam)
        w /= w.sum()
        U += w @ noise
        s = s + dt * plant(s, U[0])
        total += s[2] ** 2 + 0.1 * s[0] ** 2
        U[:-1] = U[1:]
        U[-1] = 0.0
    return total


def example():
    return control, (np.array([0.1, 0.0, 0.25, 0.0]), np.random.default_rng(3).normal(size=(16, 8)), 0.7), (0, 1, 2)
