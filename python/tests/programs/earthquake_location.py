"""An earthquake located by Geiger's iteration with stations as namedtuples, travel times in two layers by the earlier phase."""

from collections import namedtuple

import numpy as np

Station = namedtuple("Station", ["name", "x", "y", "delay"])


def travel_time(x, y, z, station, v1, v2, depth):
    d = np.sqrt((x - station.x) ** 2 + (y - station.y) ** 2)
    direct = np.sqrt(d**2 + z**2) / v1
    critical = np.arcsin(v1 / v2)
    head = d / v2 + (2 * depth - z) * np.cos(critical) / v1
    return min(direct, head) + station.delay


def residuals(source, stations, picks, model):
    x, y, z, t0 = source
    return np.array([picks[s.name] - t0 - travel_time(x, y, z, s, **model) for s in stations])


def locate(stations, picks, model, start, n_iter=6, eps=1e-3):
    m = np.array(start)
    for _ in range(n_iter):
        r = residuals(m, stations, picks, model)
        J = np.zeros((len(r), 4))
        for k in range(4):
            dm = np.zeros(4)
            dm[k] = eps
            J[:, k] = (residuals(m + dm, stations, picks, model) - residuals(m - dm, stations, picks, model)) / (2 * eps)
        m = m - np.linalg.solve(J.T @ J + 1e-3 * np.eye(4), J.T @ r)
    return m


def rms(model, picks, stations, start):
    m = locate(stations, picks, model, start)
    return np.sqrt(np.mean(residuals(m, stations, picks, model) ** 2))


def example():
    stations = [Station("A", 0.0, 10.0, 0.05), Station("B", 12.0, 3.0, 0.0), Station("C", -8.0, -5.0, 0.1), Station("D", 4.0, -14.0, 0.0), Station("E", -15.0, 6.0, 0.02)]
    model = {"v1": 5.8, "v2": 8.0, "depth": 30.0}
    picks = {"A": 2.4, "B": 2.75, "C": 2.4, "D": 3.2, "E": 3.5}
    return rms, (model, picks, stations, [0.5, 0.5, 8.0, 0.3]), (0, 1)
