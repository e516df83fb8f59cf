"""Energy drift of a double pendulum; the integrator is chosen by a string."""

import numpy as np

G = 9.81


class DoublePendulum:
    def __init__(self, m1, m2, l1=1.0, l2=1.0):
        self.m1, self.m2 = m1, m2
        self.l1, self.l2 = l1, l2

    def rhs(self, state):
        th1, th2, w1, w2 = state
        d = th1 - th2
        den = 2 * self.m1 + self.m2 - self.m2 * np.cos(2 * d)
        a1 = (
            -G * (2 * self.m1 + self.m2) * np.sin(th1)
            - self.m2 * G * np.sin(th1 - 2 * th2)
            - 2 * np.sin(d) * self.m2 * (w2**2 * self.l2 + w1**2 * self.l1 * np.cos(d))
        ) / (self.l1 * den)
        a2 = (
            2 * np.sin(d) * (w1**2 * self.l1 * (self.m1 + self.m2) + G * (self.m1 + self.m2) * np.cos(th1) + w2**2 * self.l2 * self.m2 * np.cos(d))
        ) / (self.l2 * den)
        return np.array([w1, w2, a1, a2])

    def step(self, state, dt, method="rk4"):
        if method == "euler":
            return state + dt * self.rhs(state)
        elif method == "midpoint":
            return state + dt * self.rhs(state + 0.5 * dt * self.rhs(state))
        elif method == "rk4":
            k1 = self.rhs(state)
            k2 = self.rhs(state + 0.5 * dt * k1)
            k3 = self.rhs(state + 0.5 * dt * k2)
            k4 = self.rhs(state + dt * k3)
            return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        raise ValueError(f"unknown method {method}")


def final_angle(init, masses, dt, n, method):
    p = DoublePendulum(*masses)
    traj = np.empty((n + 1, 4))
    traj[0] = init
    for i in range(n):
        traj[i + 1] = p.step(traj[i], dt, method=method)
    return np.sum(traj[-1, :2] ** 2) + 0.1 * traj[:, 2].std()


def example():
    return final_angle, (np.array([1.0, 0.5, 0.0, 0.1]), [1.0, 0.8], 0.02, 25, "rk4"), (0, 1)
