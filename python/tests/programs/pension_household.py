"""A household over years: brackets of tax from a list, savings with bounds, early exit when the money is gone."""

import numpy as np

BRACKETS = [(0, 0.0), (10, 0.2), (40, 0.35), (80, 0.45)]


def tax(income):
    owed = 0.0
    for (low, rate), (high, _) in zip(BRACKETS, BRACKETS[1:] + [(float("inf"), None)]):
        if income > low:
            owed += rate * (min(income, high) - low)
    return owed


def lifetime_utility(saving_rate, growth, income, retirement=10, gamma=2.0):
    wealth, utility = 5.0, 0.0
    for year in range(25):
        earned = income[year] if year < retirement else 0.0
        net = earned - tax(earned)
        if year < retirement:
            saved = saving_rate * net
            consumption = net - saved
            wealth = (wealth + saved) * (1 + growth)
        else:
            consumption = wealth / max(25 - year, 1) * (1 + 0.02 * year)
            wealth = (wealth - consumption) * (1 + growth)
        if wealth <= 0:
            return utility - 10.0
        utility += 0.97**year * (consumption ** (1 - gamma) - 1) / (1 - gamma)
    return utility


def example():
    return lifetime_utility, (0.3, 0.03, 30 + 8.0 * np.arange(25)), (0, 1, 2)
