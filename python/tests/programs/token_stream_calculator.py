"""A formula in words, read by a tokeniser that is a generator and a recursive parser that looks one token ahead; its variables are the arguments."""

import numpy as np


def tokens(text):
    word = ""
    for letter in text:
        if letter.isalnum() or letter in "._":
            word += letter
            continue
        if word:
            yield word
            word = ""
        if not letter.isspace():
            yield letter
    if word:
        yield word


class Parser:
    def __init__(self, text, names):
        self.stream = tokens(text)
        self.names = names
        self.look = next(self.stream, None)

    def take(self):
        token, self.look = self.look, next(self.stream, None)
        return token

    def expression(self):
        value = self.term()
        while self.look in ("+", "-"):
            if self.take() == "+":
                value = value + self.term()
            else:
                value = value - self.term()
        return value

    def term(self):
        value = self.factor()
        while self.look in ("*", "/"):
            value = value * self.factor() if self.take() == "*" else value / self.factor()
        return value

    def factor(self):
        token = self.take()
        if token == "(":
            value = self.expression()
            self.take()
            return value
        if token == "-":
            return -self.factor()
        if token == "exp":
            self.take()
            value = np.exp(self.expression())
            self.take()
            return value
        return self.names[token] if token in self.names else float(token)


def evaluate(a, b, c):
    return Parser("exp(-(a*b - 2.5)/4) + c*(a + -b/(1 + c*c)) - 0.5", {"a": a, "b": b, "c": c}).expression()


def example():
    return evaluate, (1.3, -0.7, 2.1), (0, 1, 2)
