"""A rollout of a pole on a cart with a linear policy, returns discounted backwards, a value baseline; noise given."""

import numpy as np


class CartPole:
    gravity, length, dt = 9.8, 0.5, 0.05

    def __init__(self):
        self.reset()

    def reset(self):
        self.state = np.array([0.0, 0.0, 0.05, 0.0])
        self.steps = 0
        return self.state

    def step(self, force):
        x, v, theta, omega = self.state
        sin, cos = np.sin(theta), np.cos(theta)
        temp = (force + 0.05 * omega**2 * sin) / 1.1
        alpha = (self.gravity * sin - cos * temp) / (self.length * (4.0 / 3.0 - 0.1 * cos**2 / 1.1))
        acc = temp - 0.05 * alpha * cos / 1.1
        self.state = self.state + self.dt * np.array([v, acc, omega, alpha])
        self.steps += 1
        reward = 1.0 - theta**2 - 0.1 * x**2
        done = self.steps >= 15
        return self.state, reward, done, {}


def discount(rewards, gamma=0.97):
    returns, running = [], 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        returns.insert(0, running)
    return np.array(returns)


def objective(policy, critic, noise):
    env = CartPole()
    obs = env.reset()
    rewards, values, done = [], [], False
    i = 0
    while not done:
        values.append(critic @ np.append(obs, 1.0))
        action = np.tanh(policy @ obs + 0.1 * noise[i]) * 5
        obs, reward, done, info = env.step(action)
        rewards.append(reward)
        i += 1
    returns = discount(rewards)
    advantage = returns - np.array(values)
    return -returns[0] + 0.5 * np.mean(advantage**2)


def example():
    rng = np.random.default_rng(8)
    return objective, (np.array([0.1, 0.3, 2.0, 0.6]), np.zeros(5) + 0.1, rng.normal(size=20)), (0, 1)
