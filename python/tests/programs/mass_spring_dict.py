"""Masses and springs held in dicts by name, forces by **kwargs, an in-place integrator that changes the dict."""

import numpy as np


def spring(a, b, *, k, rest, damping=0.1):
    d = b["x"] - a["x"]
    length = np.sqrt(np.sum(d**2))
    rel = np.dot(b["v"] - a["v"], d / length)
    return (k * (length - rest) + damping * rel) * d / length


def integrate(bodies, springs, dt):
    forces = {name: np.array([0.0, -9.81]) * body["m"] for name, body in bodies.items()}
    for (a, b), options in springs.items():
        f = spring(bodies[a], bodies[b], **options)
        forces[a] = forces[a] + f
        forces[b] = forces[b] - f
    for name, body in bodies.items():
        if body.get("fixed", False):
            continue
        body["v"] = body["v"] + dt * forces[name] / body["m"]
        body["x"] = body["x"] + dt * body["v"]


def swing(stiffness, masses, steps=15, dt=0.02):
    bodies = {
        "anchor": {"x": np.zeros(2), "v": np.zeros(2), "m": 1.0, "fixed": True},
        "upper": {"x": np.array([0.8, -0.6]), "v": np.zeros(2), "m": masses[0]},
        "lower": {"x": np.array([1.6, -1.0]), "v": np.array([0.0, 0.5]), "m": masses[1]},
    }
    springs = {
        ("anchor", "upper"): dict(k=stiffness[0], rest=1.0),
        ("upper", "lower"): dict(k=stiffness[1], rest=0.9, damping=0.2),
    }
    for _ in range(steps):
        integrate(bodies, springs, dt)
    return np.linalg.norm(bodies["lower"]["x"])


def example():
    return swing, (np.array([60.0, 40.0]), [1.0, 0.7]), (0, 1)
