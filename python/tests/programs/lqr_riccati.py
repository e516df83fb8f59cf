"""The gain of a discrete regulator by iterating Riccati's equation to convergence, and the cost of its closed loop."""

import numpy as np


def dare(A, B, Q, R, max_iter=500, tol=1e-12):
    P = Q
    for i in range(max_iter):
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        Pn = Q + A.T @ P @ (A - B @ K)
        if np.max(np.abs(Pn - P)) < tol:
            P = Pn
            break
        P = Pn
    else:
        raise RuntimeError("Riccati iteration did not converge")
    return P, K


def closed_loop_cost(mass, damping, r, x0, dt=0.1, steps=20):
    A = np.array([[1, dt], [0, 1 - damping * dt / mass]])
    B = np.array([[0], [dt / mass]])
    Q = np.diag([1.0, 0.1])
    P, K = dare(A, B, Q, np.array([[r]]))
    x, J = x0, 0.0
    for _ in range(steps):
        u = -K @ x
        J += x @ Q @ x + r * u @ u
        x = A @ x + B @ u
    return J


def example():
    return closed_loop_cost, (1.3, 0.4, 0.5, np.array([1.0, 0.2])), (0, 1, 2, 3)
