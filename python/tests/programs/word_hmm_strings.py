"""A tagger over words: emissions in a nested dict keyed by strings, unknown words by default, forward scores per sentence."""

import numpy as np

TAGS = ("noun", "verb", "other")
TEXT = ["the dog runs", "a cat sees the dog", "birds sing"]


def build(emissions, words):
    table = {tag: {} for tag in TAGS}
    index = {word: k for k, word in enumerate(words)}
    for t, tag in enumerate(TAGS):
        scores = emissions[t] - np.log(np.sum(np.exp(emissions[t])))
        for word, k in index.items():
            table[tag][word] = scores[k]
    return table


def sentence_score(sentence, table, transitions, start):
    alpha = None
    for word in sentence.split():
        emit = np.array([table[tag].get(word, -4.0) for tag in TAGS])
        if alpha is None:
            alpha = start + emit
        else:
            alpha = np.array([np.logaddexp.reduce(alpha + transitions[:, j]) for j in range(len(TAGS))]) + emit
    return np.logaddexp.reduce(alpha)


def corpus_score(emissions, transitions, start):
    vocabulary = sorted({word for line in TEXT for word in line.split()})[:6]
    table = build(emissions, vocabulary)
    total = 0.0
    for number, line in enumerate(TEXT, start=1):
        total += sentence_score(line, table, transitions, start) / number
    return total


def example():
    rng = np.random.default_rng(16)
    return corpus_score, (rng.normal(size=(3, 6)), rng.normal(size=(3, 3)), rng.normal(size=3)), (0, 1, 2)
