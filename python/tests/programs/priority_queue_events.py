"""A hospital: arrivals and service times are data, servers in a heap keyed by known order, waiting times by max."""
import collections
import numpy as np

Job = collections.namedtuple("Job", ["arrival", "service", "kind"])


def waits(jobs, speed):
    free = {"A": 0.0, "B": 0.0}
    history = collections.OrderedDict()
    for n, job in enumerate(jobs):
        start = max(job.arrival, free[job.kind])
        free[job.kind] = start + job.service / speed[job.kind]
        history.setdefault(job.kind, []).append(start - job.arrival)
    return history


def objective(arrivals, services, speeds, kinds):
    jobs = [Job(*t) for t in zip(np.cumsum(arrivals), services, kinds)]
    speed = dict(zip(sorted(set(kinds)), speeds))
    h = waits(jobs, speed)
    per = {k: sum(v) / len(v) for k, v in h.items()}
    worst = max(per.values())
    return worst + 0.5 * sum(per.values()) + sum(c**2 for c in speeds) * 0.1


def example():
    rng = np.random.default_rng(8)
    return objective, (rng.exponential(0.5, 12), rng.exponential(0.8, 12), np.array([1.2, 0.9]), "ABAABABBABAA"), (0, 1, 2)
