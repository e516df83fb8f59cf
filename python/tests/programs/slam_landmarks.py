"""Range and bearing SLAM by an extended Kalman filter that adds a landmark to its state when it first sees it."""

import numpy as np


def predict(x, P, u, q, dt=0.5):
    v, w = u
    th = x[2]
    x = x.copy()
    x[:3] += np.array([v * dt * np.cos(th), v * dt * np.sin(th), w * dt])
    G = np.eye(len(x))
    G[0, 2] = -v * dt * np.sin(th)
    G[1, 2] = v * dt * np.cos(th)
    Q = np.zeros_like(P)
    Q[:3, :3] = q * np.eye(3)
    return x, G @ P @ G.T + Q


def augment(x, P, z):
    r, phi = z
    m = np.array([x[0] + r * np.cos(phi + x[2]), x[1] + r * np.sin(phi + x[2])])
    n = len(x)
    Pn = 10.0 * np.eye(n + 2)
    Pn[:n, :n] = P
    return np.append(x, m), Pn


def update(x, P, z, j, R):
    d = x[3 + 2 * j : 5 + 2 * j] - x[:2]
    q = d @ d
    sq = np.sqrt(q)
    h = np.array([sq, np.arctan2(d[1], d[0]) - x[2]])
    H = np.zeros((2, len(x)))
    H[:, :3] = np.array([[-d[0] / sq, -d[1] / sq, 0], [d[1] / q, -d[0] / q, -1]])
    H[:, 3 + 2 * j : 5 + 2 * j] = np.array([[d[0] / sq, d[1] / sq], [-d[1] / q, d[0] / q]])
    S = H @ P @ H.T + R
    K = P @ H.T @ np.linalg.inv(S)
    nu = z - h
    nu[1] = np.arctan2(np.sin(nu[1]), np.cos(nu[1]))
    return x + K @ nu, (np.eye(len(x)) - K @ H) @ P, 0.5 * (nu @ np.linalg.solve(S, nu) + np.log(np.linalg.det(S)))


def nll(log_noise, controls, observations):
    q, r = np.exp(log_noise)
    x, P = np.zeros(3), 0.01 * np.eye(3)
    index = {}
    total = 0.0
    for u, seen in zip(controls, observations):
        x, P = predict(x, P, u, q)
        for name, z in seen:
            z = np.array(z)
            if name not in index:
                index[name] = len(index)
                x, P = augment(x, P, z)
                continue
            x, P, cost = update(x, P, z, index[name], r * np.eye(2))
            total += cost
    return total


def example():
    controls = [(1.0, 0.1), (1.0, 0.1), (0.8, -0.2), (1.0, 0.0)]
    observations = [[("a", (3.0, 0.4))], [("a", (2.6, 0.45)), ("b", (2.0, -0.3))], [("b", (1.7, -0.4))], [("a", (1.7, 0.9)), ("b", (1.2, -0.5))]]
    return nll, (np.array([-4.0, -3.0]), controls, observations), 0
