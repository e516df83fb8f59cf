"""The oscillators for 50,000 steps of 160 kB: states of 8 GB in all, under 64 MB, and with a disk under 16 MB."""

from contender import WITH_DISK
from programs import oscillators

SIZES = {"50,000 × 10,000": dict(steps=50_000, n=10_000, budgets=("64 MB", "16 MB" + WITH_DISK))}
SMALL = dict(steps=900, n=50, budgets=("40 kB", "12 kB" + WITH_DISK))


def program(random, steps, n, budgets):
    return oscillators.program(random, steps, n, budgets=budgets)
