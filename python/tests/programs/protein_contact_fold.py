"""A chain of residues placed by internal angles, energies by pairs of residue kinds from a string; folded by torsions."""

import numpy as np

SEQUENCE = "HPPHHPHP"
PAIR = {("H", "H"): 1.0, ("H", "P"): 0.2, ("P", "H"): 0.2, ("P", "P"): -0.3}


def place(angles, bond=1.0):
    points = [np.zeros(3), np.array([bond, 0.0, 0.0])]
    direction = np.array([1.0, 0.0, 0.0])
    normal = np.array([0.0, 0.0, 1.0])
    for theta, phi in angles:
        side = np.cross(normal, direction)
        turned = np.cos(theta) * direction + np.sin(theta) * (np.cos(phi) * side + np.sin(phi) * normal)
        normal = np.cross(direction, turned)
        normal = normal / np.sqrt(normal @ normal + 1e-9)
        direction = turned
        points.append(points[-1] + bond * direction)
    return np.array(points)


def energy(angles, depth, kinds=SEQUENCE):
    xyz = place(angles)
    total = 0.0
    for i, a in enumerate(kinds):
        for j in range(i + 2, len(kinds)):
            d = np.linalg.norm(xyz[i] - xyz[j])
            e = PAIR[a, kinds[j]]
            total += depth * ((0.9 / d) ** 8 - e * np.exp(-((d - 1.4) ** 2)))
    return total + 0.1 * np.sum(angles**2)


def example():
    rng = np.random.default_rng(10)
    return energy, (0.6 + 0.3 * rng.normal(size=(6, 2)), 0.5), (0, 1)
