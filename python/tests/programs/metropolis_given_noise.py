"""Metropolis with proposals and uniforms that are given; the mean of the chain against the width of its prior."""

import numpy as np


def log_posterior(theta, data, prior_width):
    mu, log_s = theta
    ll = -0.5 * np.sum(((data - mu) / np.exp(log_s)) ** 2) - len(data) * log_s
    return ll - 0.5 * np.sum((theta / prior_width) ** 2)


def chain(start, data, prior_width, noise, uniforms, scale=0.3):
    theta = start
    lp = log_posterior(theta, data, prior_width)
    samples, accepted = [], 0
    for eps, u in zip(noise, uniforms):
        prop = theta + scale * eps
        lp_prop = log_posterior(prop, data, prior_width)
        if np.log(u) < lp_prop - lp:
            theta, lp = prop, lp_prop
            accepted += 1
        samples.append(theta)
    return np.array(samples), accepted / len(noise)


def statistic(start, data, prior_width, noise, uniforms):
    samples, rate = chain(start, data, prior_width, noise, uniforms)
    burned = samples[len(samples) // 4 :]
    return burned.mean(axis=0) @ np.array([1.0, 2.0]) + burned.var()


def example():
    rng = np.random.default_rng(8)
    return statistic, (np.array([0.2, 0.1]), rng.normal(0.5, 1.2, 10), 3.0, rng.normal(size=(24, 2)), rng.random(24)), 0
