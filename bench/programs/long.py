"""The oscillators for 50,000 steps of 160 kB: states of 8 GB in all, under 64 MB."""

from programs import oscillators

SIZES = {"50,000 × 10,000": dict(steps=50_000, n=10_000, budget="64 MB")}
SMALL = dict(steps=900, n=50, budget="40 kB")


def program(random, steps, n, budget):
    return oscillators.program(random, steps, n, budgets=(budget,))
