"""A Lindenmayer system rewrites a string; a turtle walks along it with angle and shrinkage as parameters."""

import numpy as np

RULES = {"F": "F[+F]F[-F]", "+": "+", "-": "-", "[": "[", "]": "]"}


def walk(word, angle, shrink):
    place, heading, length = np.zeros(2), 1.2, 1.0
    stack, tips = [], []
    for letter in word:
        if letter == "F":
            place = place + length * np.array([np.cos(heading), np.sin(heading)])
        elif letter == "+":
            heading += angle
        elif letter == "-":
            heading -= angle
        elif letter == "[":
            stack.append((place, heading, length))
            length = length * shrink
        else:
            tips.append(place)
            place, heading, length = stack.pop()
    return np.array(tips)


def spread(angle, shrink):
    word = "F"
    for _ in range(2):
        word = "".join(RULES[letter] for letter in word)
    tips = walk(word, angle, shrink)
    centre = tips.mean(axis=0)
    return np.sum((tips - centre) ** 2) + np.linalg.norm(centre)


def example():
    return spread, (0.5, 0.7), (0, 1)
