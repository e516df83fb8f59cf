"""Multi object tracking: tracks in a dict by id, greedy association by known order of detections, Kalman updates per track, deaths and births by counts."""
import itertools
import numpy as np


class Track:
    _ids = itertools.count()

    def __init__(self, z, var, ident):
        self.id, self.x, self.P, self.missed = ident, np.array([z, 0.0]), np.diag([var, 1.0]), 0

    def predict(self, q):
        F = np.array([[1.0, 1.0], [0.0, 1.0]])
        self.x = F @ self.x
        self.P = F @ self.P @ F.T + q * np.eye(2)

    def update(self, z, r):
        S = self.P[0, 0] + r
        K = self.P[:, 0] / S
        y = z - self.x[0]
        self.x = self.x + K * y
        self.P = self.P - np.outer(K, self.P[0])
        self.missed = 0
        return -0.5 * (y ** 2 / S + np.log(S))


def likelihood(q, r, frames):
    tracks, total, nxt = {}, 0.0, 0
    for frame in frames:
        for tr in tracks.values():
            tr.predict(q)
        seen = set()
        for ident, z in frame.items():
            if ident not in tracks:
                tracks[ident] = Track(z, r, ident)
                nxt += 1
            else:
                total += tracks[ident].update(z, r)
            seen.add(ident)
        for ident in [i for i in tracks if i not in seen]:
            tracks[ident].missed += 1
            if tracks[ident].missed > 1:
                del tracks[ident]
    return total / nxt + sum(t.x[1] ** 2 for t in tracks.values())


def example():
    frames = [{"a": 0.0, "b": 5.0}, {"a": 1.1, "b": 4.2}, {"a": 1.9}, {"a": 3.2, "c": 9.0}, {"c": 8.5, "a": 4.0}, {"c": 8.1}]
    return likelihood, (0.1, 0.5, frames), (0, 1)
