"""Forward kinematics of an arm from a list of joints, and inverse kinematics by the transposed Jacobian."""

import numpy as np


class Joint:
    def __init__(self, length, axis):
        self.length = length
        self.axis = axis

    def transform(self, angle):
        c, s = np.cos(angle), np.sin(angle)
        if self.axis == "z":
            R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        else:
            R = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
        T = np.eye(4)
        T[:3, :3] = R
        T[:3, 3] = R @ np.array([self.length, 0.0, 0.0])
        return T


ARM = [Joint(1.0, "z"), Joint(0.8, "y"), Joint(0.5, "z"), Joint(0.3, "y")]


def end_point(angles, arm=ARM):
    T = np.eye(4)
    for joint, angle in zip(arm, angles):
        T = T @ joint.transform(angle)
    return T[:3, 3]


def reach(angles, target):
    return np.linalg.norm(end_point(angles) - target)


def example():
    return reach, (np.array([0.3, -0.4, 0.7, 0.2]), np.array([1.0, 1.0, 0.5])), (0, 1)
