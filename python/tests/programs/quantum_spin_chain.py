"""Ground state of a Heisenberg chain from Kronecker products and imaginary time; energy, magnetisation, correlation."""

import numpy as np

SX = np.array([[0, 0.5], [0.5, 0]])
SZ = np.diag([0.5, -0.5])
SP = np.array([[0.0, 1.0], [0.0, 0.0]])


def op_at(op, site, n):
    out = np.eye(1)
    for i in range(n):
        out = np.kron(out, op if i == site else np.eye(2))
    return out


def hamiltonian(J, delta, field, n):
    H = np.zeros((2**n, 2**n))
    for i in range(n - 1):
        flip = op_at(SP, i, n) @ op_at(SP.T, i + 1, n)
        H += J[i] * (0.5 * (flip + flip.T) + delta * op_at(SZ, i, n) @ op_at(SZ, i + 1, n))
    for i in range(n):
        H -= field * op_at(SX, i, n)
    return H


def ground_state(H, tau=0.3, steps=40):
    psi = np.ones(len(H)) + 0.1 * np.arange(len(H))
    propagator = np.eye(len(H)) - tau * H + 0.5 * tau**2 * H @ H
    for _ in range(steps):
        psi = propagator @ psi
        psi /= np.sqrt(psi @ psi)
    return psi


def observable(J, delta, field, n=3):
    H = hamiltonian(J, delta, field, n)
    psi = ground_state(H)
    corr = op_at(SZ, 0, n) @ op_at(SZ, n - 1, n)
    return psi @ H @ psi + psi @ corr @ psi


def example():
    return observable, (np.array([1.0, 0.7]), 0.8, 0.2), (0, 1, 2)
