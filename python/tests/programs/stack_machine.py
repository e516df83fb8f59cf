"""A stack machine runs a small program of instructions; values are pushed and popped on a list, jumps go by an integer counter."""

import numpy as np

PROGRAM = [
    ("push", 0), ("push", 1), ("mul",), ("sin",), ("store", 2), ("push", 2), ("push", 3), ("add",), ("dup",), ("mul",), ("store", 3),
    ("count",), ("jump", 0), ("push", 3), ("push", 2), ("sub",),
]


def run(memory, rounds=4):
    memory = list(memory)
    stack, at, counter = [], 0, 0
    while at < len(PROGRAM):
        op, *operand = PROGRAM[at]
        at += 1
        if op == "push":
            stack.append(memory[operand[0]])
        elif op == "store":
            memory[operand[0]] = stack.pop()
        elif op == "dup":
            stack.append(stack[-1])
        elif op == "sin":
            stack.append(np.sin(stack.pop()))
        elif op == "count":
            counter += 1
        elif op == "jump":
            if counter < rounds:
                at = operand[0]
        else:
            right, left = stack.pop(), stack.pop()
            stack.append({"mul": left * right, "add": left + right, "sub": left - right}[op])
    return stack[-1] + 0.1 * memory[3]


def example():
    return run, (np.array([0.4, 1.1, 0.2, -0.3]),), (0,)
