"""Reflectance of a stack of thin films by characteristic matrices in real arithmetic (pairs for complex numbers)."""

import numpy as np


def cmul(a, b):
    return (a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0])


def cadd(a, b):
    return (a[0] + b[0], a[1] + b[1])


def cabs2(a):
    return a[0] ** 2 + a[1] ** 2


def matmul(A, B):
    return [[cadd(cmul(A[i][0], B[0][j]), cmul(A[i][1], B[1][j])) for j in range(2)] for i in range(2)]


def layer(n, d, wavelength):
    delta = 2 * np.pi * n * d / wavelength
    c, s = np.cos(delta), np.sin(delta)
    return [[(c, 0.0), (0.0, s / n)], [(0.0, s * n), (c, 0.0)]]


def reflectance(indices, thicknesses, wavelength, n0=1.0, ns=1.52):
    M = [[(1.0, 0.0), (0.0, 0.0)], [(0.0, 0.0), (1.0, 0.0)]]
    for n, d in zip(indices, thicknesses):
        M = matmul(M, layer(n, d, wavelength))
    B = cadd(M[0][0], (M[0][1][0] * ns, M[0][1][1] * ns))
    C = cadd(M[1][0], (M[1][1][0] * ns, M[1][1][1] * ns))
    num = (n0 * B[0] - C[0], n0 * B[1] - C[1])
    den = (n0 * B[0] + C[0], n0 * B[1] + C[1])
    return cabs2(num) / cabs2(den)


def mean_reflectance(thicknesses, indices):
    return np.mean([reflectance(indices, thicknesses, w) for w in np.linspace(450, 650, 7)])


def example():
    return mean_reflectance, (np.array([95.0, 130.0, 60.0]), np.array([1.38, 2.1, 1.6])), (0, 1)
