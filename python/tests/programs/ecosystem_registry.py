"""An ecosystem of species registered by a decorator, each with a rule of growth; stepped with a season and harvested."""

import numpy as np

RULES = {}


def species(name, **traits):
    def register(rule):
        RULES[name] = (rule, traits)
        return rule

    return register


@species("grass", capacity=10.0)
def grass(n, world, rate, season, capacity):
    return rate * season * n * (1 - n / capacity) - 0.08 * n * world["rabbit"]


@species("rabbit", efficiency=0.3)
def rabbit(n, world, rate, season, efficiency):
    return efficiency * 0.08 * n * world["grass"] * rate - 0.05 * n * world["fox"] - 0.1 * n


@species("fox", efficiency=0.2)
def fox(n, world, rate, season, efficiency):
    return efficiency * 0.05 * n * world["rabbit"] * rate - 0.08 * n


def simulate(rates, start, harvest, days=30, dt=0.2):
    world = dict(start)
    yields = []
    for day in range(days):
        season = 1 + 0.3 * np.sin(2 * np.pi * day / 30)
        change = {name: rule(world[name], world, rates[name], season, **traits) for name, (rule, traits) in RULES.items()}
        world = {name: max(world[name] + dt * change[name], 1e-6) for name in world}
        if day % 10 == 9:
            caught = harvest * world["rabbit"]
            world["rabbit"] -= caught
            yields.append(caught)
    return world, yields


def profit(rates, harvest):
    world, yields = simulate(rates, {"grass": 5.0, "rabbit": 3.0, "fox": 1.0}, harvest)
    return sum(yields) + 0.5 * np.log(world["fox"]) - 0.1 * abs(world["grass"] - 4.0)


def example():
    return profit, ({"grass": 0.8, "rabbit": 1.1, "fox": 0.9}, 0.2), (0, 1)
