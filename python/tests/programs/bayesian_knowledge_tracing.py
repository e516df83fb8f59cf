"""Knowledge tracing of students: per skill parameters in dicts, answers as strings, predictions accumulated while the belief moves."""

import numpy as np

ANSWERS = {"ann": [("add", 1), ("add", 0), ("mul", 1), ("add", 1)], "bob": [("mul", 0), ("mul", 1), ("add", 1)]}


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def trace(answers, prior, learn, guess, slip):
    belief = {skill: prior[skill] for skill in prior}
    log_likelihood = 0.0
    for skill, correct in answers:
        known = belief[skill]
        p_correct = known * (1 - slip) + (1 - known) * guess
        log_likelihood += np.log(p_correct if correct else 1 - p_correct)
        if correct:
            posterior = known * (1 - slip) / p_correct
        else:
            posterior = known * slip / (1 - p_correct)
        belief[skill] = posterior + (1 - posterior) * learn[skill]
    return log_likelihood, belief


def objective(raw):
    prior = {k: sigmoid(v) for k, v in raw["prior"].items()}
    learn = {k: sigmoid(v) for k, v in raw["learn"].items()}
    guess, slip = 0.3 * sigmoid(raw["guess"]), 0.2 * sigmoid(raw["slip"])
    total = 0.0
    mastery = {}
    for student, answers in sorted(ANSWERS.items()):
        ll, belief = trace(answers, prior, learn, guess, slip)
        total += ll
        mastery[student] = min(belief.values())
    return -total + 0.1 * sum(mastery.values())


def example():
    raw = {"prior": {"add": -0.2, "mul": -0.8}, "learn": {"add": -1.0, "mul": -1.5}, "guess": 0.1, "slip": -0.5}
    return objective, (raw,), 0
