"""iLQR for a car: roll out, linearise by hand, go backwards for gains, try again with a shorter step."""

import numpy as np


def dyn(x, u, dt=0.2):
    px, py, th, v = x
    return np.array([px + dt * v * np.cos(th), py + dt * v * np.sin(th), th + dt * u[1], v + dt * u[0]])


def linearise(x, u, dt=0.2):
    _, _, th, v = x
    A = np.eye(4)
    A[0, 2] = -dt * v * np.sin(th)
    A[0, 3] = dt * np.cos(th)
    A[1, 2] = dt * v * np.cos(th)
    A[1, 3] = dt * np.sin(th)
    B = np.zeros((4, 2))
    B[3, 0] = B[2, 1] = dt
    return A, B


def rollout(x0, us):
    xs = [x0]
    for u in us:
        xs.append(dyn(xs[-1], u))
    return np.array(xs)


def cost(xs, us, goal, Q, R):
    return np.sum((xs[-1] - goal) ** 2 * Q) * 5 + sum(u @ R @ u for u in us)


def ilqr(x0, goal, Q, R, horizon=6, iterations=3):
    us = np.zeros((horizon, 2))
    for _ in range(iterations):
        xs = rollout(x0, us)
        Vx = 10 * Q * (xs[-1] - goal)
        Vxx = 10 * np.diag(Q)
        ks, Ks = [], []
        for t in range(horizon - 1, -1, -1):
            A, B = linearise(xs[t], us[t])
            Qu = 2 * R @ us[t] + B.T @ Vx
            Quu = 2 * R + B.T @ Vxx @ B
            Qux = B.T @ Vxx @ A
            k = -np.linalg.solve(Quu, Qu)
            K = -np.linalg.solve(Quu, Qux)
            Vx = A.T @ Vx + K.T @ Quu @ k + K.T @ Qu + Qux.T @ k
            Vxx = A.T @ Vxx @ A + K.T @ Quu @ K + K.T @ Qux + Qux.T @ K
            ks.insert(0, k)
            Ks.insert(0, K)
        old = cost(xs, us, goal, Q, R)
        alpha = 1.0
        while alpha > 1e-3:
            x, new = x0, []
            for t in range(horizon):
                u = us[t] + alpha * ks[t] + Ks[t] @ (x - xs[t])
                new.append(u)
                x = dyn(x, u)
            new = np.array(new)
            if cost(rollout(x0, new), new, goal, Q, R) < old:
                us = new
                break
            alpha /= 2
    return cost(rollout(x0, us), us, goal, Q, R)


def example():
    return ilqr, (np.array([0.0, 0.0, 0.1, 1.0]), np.array([1.5, 0.8, 0.6, 1.0]), np.ones(4), 0.1 * np.eye(2)), (0, 1, 2)
