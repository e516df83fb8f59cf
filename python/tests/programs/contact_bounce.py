"""A ball bouncing down stairs: impacts by a check of its height, restitution and friction, state in a class."""

import numpy as np


class Ball:
    def __init__(self, x, y, vx, vy):
        self.x, self.y, self.vx, self.vy = x, y, vx, vy
        self.bounces = 0

    def move(self, dt, g=9.81):
        self.x += self.vx * dt
        self.y += self.vy * dt - 0.5 * g * dt**2
        self.vy -= g * dt

    def collide(self, floor, restitution, friction):
        if self.y < floor and self.vy < 0:
            self.y = floor + (floor - self.y) * restitution
            self.vy = -restitution * self.vy
            self.vx = (1 - friction) * self.vx
            self.bounces += 1


def stairs(x, width=1.0, height=0.3):
    return -height * np.floor(x / width)


def landing(v0, restitution, friction, n=60, dt=0.02):
    ball = Ball(0.1, 1.0, v0, 0.0)
    energy = []
    for _ in range(n):
        ball.move(dt)
        ball.collide(stairs(ball.x), restitution, friction)
        energy.append(0.5 * (ball.vx**2 + ball.vy**2) + 9.81 * ball.y)
    return ball.x + 0.01 * np.mean(energy)


def example():
    return landing, (2.0, 0.7, 0.1), (0, 1, 2)
