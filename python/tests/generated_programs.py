"""Writes Python programs with views, effects, helpers, outer state, breaks, negative steps, states that are strings, and mixed types. Numbers, which may
be float32, meet arithmetic alone: there NumPy's digits are exact."""

import random


MODES = ("'up'", "'down'", "'flat'")


class Writer:
    """Writes a module with helpers, outer state and a function of a vector `x`, a number `s` and an integer `n`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.depth, self.loops, self.labels = [], 1, [], 0
        self.numbers, self.vectors, self.integers = ["s"], ["x"], ["n"]
        self.in_loop = 0

    def pick(self, *options):
        return self.random.choice(options)

    def chance(self, p):
        return self.random.random() < p

    def add(self, line):
        self.lines.append("    " * self.depth + line)

    def index(self):
        if self.loops and self.chance(0.6):
            return f"({self.pick(*self.loops)} + {self.pick(0, 1, 2)}) % 5"
        return self.pick("0", "1", "-1", "2", "-2", "n % 5")

    def number(self, depth=0):
        options = [self.pick(*self.numbers), f"{self.pick(*self.vectors)}[{self.index()}]", "0.5", "3", "OUTER", f"{self.pick(*self.integers)}"]
        options += ["state[0]", "state[1]", "box.a", "table['p']", "c", "WEIGHTS[1]", "SETTINGS.rate"]
        if depth < 2:
            a, b = self.number(depth + 1), self.number(depth + 1)
            options += [f"({a} {self.pick('+', '-', '*')} {b})"] * 4
            options += [f"wave({a})", f"np.sum({self.vector(depth + 1)})", f"({a} if {self.test(depth + 1)} else {b})"]
            options += [f"math.{self.pick('sin', 'tanh', 'exp', 'sqrt', 'log', 'atan')}({a})", f"({a} / ({b}))", f"({a} % 3)", f"({a} // 2)", f"({a}) ** {self.pick(2, 3, 0, 0.5, -1)}"]
            options += [f"{self.integer()} * {a}", f"float({a})", f"np.float32({a})", f"x32[{self.index()}]", f"sum(q * {a} for q in {self.pick('x', 'y', 'xs', '[1.0, s]')})"]
            options += [f"sum([q * 0.5 for q in xs if q is not None])", f"(w1 := {a}) + w1", f"np.linalg.norm({self.vector(depth + 1)})", f"divmod({a}, 2)[1]", f"int({a})", f"round({a})"]
            options += [f"ks[{self.index()}]", f"len({self.pick('xs', 'table', 'x', 'log')})", f"np.array(xs)[-1]", f"np.max({self.vector(depth + 1)})", f"choice({a}, {b})", f"guarded({a})", f"cases({self.integer()})"]
            options += [f"{self.pick('min', 'max')}({a}, {b})", f"abs({a})", f"scaled({a}, {b})", f"box.total({a})", f"early({a})", f"bump({a})", f"(lambda q: q * {b})({a})"]
        return self.pick(*options)

    def integer(self):
        options = ["c", "n", "3", "-2", "count", *self.loops]
        a, b = self.pick(*options), self.pick(*options)
        return self.pick(a, f"({a} {self.pick('+', '-', '*')} {b})", f"({a} // 2)", f"({a} % 3)", f"abs({a})", f"-{a}", f"({a} ** 2)", f"({a} << 1)", f"({a} & 3)", f"int({a} > {b})", f"({a} > {b})", f"2 ** abs({a})" if a in ("3", "-2") else a)

    def vector(self, depth=0):
        options = [self.pick(*self.vectors), "WEIGHTS", f"{self.pick(*self.vectors)}[::-1]", f"m[{self.index()}]", f"m[:, {self.index()}]"]
        if depth < 2:
            options += [f"({self.vector(depth + 1)} {self.pick('+', '-', '*')} {self.vector(depth + 1)})", f"({self.number(depth + 1)} * {self.vector(depth + 1)})"]
            options += [f"np.array([{self.pick(*self.numbers)}, *y[1:4], 0.5])", f"np.array([q * 2.0 for q in x])", f"x32.astype(float)", f"(x * ks)", f"np.roll({self.pick(*self.vectors)}, 1)", f"np.cumsum({self.pick(*self.vectors)})"]
            options += [f"np.sin({self.vector(depth + 1)})", f"np.where({self.vector(depth + 1)} > 0, {self.vector(depth + 1)}, 0.1)", f"{self.pick(*self.vectors)}.copy()"]
        return self.pick(*options)

    def test(self, depth=0):
        a, b = self.number(2), self.number(2)
        options = [f"{a} {self.pick('<', '>', '<=')} {b}", f"{self.pick('n', '3', *self.loops)} % 2 == 0", f"-1 < {a} < {b}", "FLAG"]
        if depth < 2:
            options += [f"({self.test(depth + 1)} {self.pick('and', 'or')} {self.test(depth + 1)})", f"not {self.test(depth + 1)}"]
        return self.pick(*options)

    def block(self, most):
        self.depth += 1
        for _ in range(self.random.randint(1, most)):
            self.statement()
        self.depth -= 1

    def loop(self):
        self.labels += 1
        name = f"i{self.labels}"
        kind = self.random.random()
        if kind < 0.5:
            self.add(f"for {name} in {self.pick('range(3)', 'range(n)', 'range(4, 0, -2)', 'reversed(range(1, 4))', 'range(5)', 'np.arange(3)', 'range(len(x))')}:")
            self.loops.append(name)
        elif kind < 0.7:
            self.add(f"for e{name} in {self.pick('x', 'y', 'WEIGHTS', 'm[0]', '[0.5, 2.0]', 'y[::-1]', 'reversed(y)')}:")
            self.numbers.append(f"e{name}")
        elif kind < 0.85:
            source = self.pick("enumerate(x)", "zip(range(3), y)", "enumerate(y, 1)", "zip(range(5), x[1:])", "enumerate([1.0, 2.0])")
            self.add(f"for {name}, e{name} in {source}:")
            self.loops.append(name)
            self.numbers.append(f"e{name}")
        else:
            self.add(f"{name}, t{name} = 0, 0.0")
            self.add(f"while {self.pick(f'{name} < 3', f't{name} < 1.0', f'{name} < n', f'np.sum(y * y) > 0.5 and {name} < 4', 'True')}:")
            self.depth += 1
            self.add(f"{name} += 1")
            self.add(f"t{name} += 0.3")
            self.add(f"if {name} > 4:")
            self.add("    break")
            self.depth -= 1
            self.loops.append(name)
        self.in_loop += 1
        self.block(4)
        self.in_loop -= 1
        if self.chance(0.15):
            self.add("else:")
            self.add("    s = s * 1.5")
        if name in self.loops:
            self.loops.remove(name)
        if f"e{name}" in self.numbers:
            self.numbers.remove(f"e{name}")

    def statement(self):
        if self.chance(0.15):
            self.more()
            return
        target = self.pick("s", "t", "state[0]", "state[1]", "box.a", "table['p']", "c", "xs[0]")
        kind = self.random.random()
        if kind < 0.2:
            self.add(f"{target} = 0.5 * wave({self.number()})" if target != "c" else f"c = c + {self.pick('1', '2', 'n')}")
        elif kind < 0.3:
            self.add(f"{target} {self.pick('+=', '-=', '*=')} {self.number(1)}" if target != "c" else "c += 1")
        elif kind < 0.4:
            self.add(f"{self.pick('x', 'y')} = 0.5 * {self.vector()}")
        elif kind < 0.5:
            self.add(f"{self.pick('x', 'y')}[{self.index()}] {self.pick('=', '+=', '*=')} {self.number(1)}")
        elif kind < 0.56:
            window = self.pick(":3", "1:4", "::2", "-3:", "3:0:-1", "::-2")
            self.add(f"{self.pick('x', 'y')}[{window}] {self.pick('=', '+=')} {self.number(1)}")
        elif kind < 0.62:
            self.add(self.pick("y = x", "x, y = y, x", "w = m[1]", "w = x[1:4]", "w[0] = s", "w += 1.0", "y = m[2]", "z = y.reshape(5, 1)", "z[2, 0] = t", "m = m.T", "m[0] = y", "m[:, 1] = x", "xs.append(s)", "xs.append(x[0])", "s = s + len(xs)", "s = s + xs[-1]", "s += xs.pop() if len(xs) > 1 else 0.0"))
        elif kind < 0.68:
            self.add(self.pick("tick()", "record(s)", "s = s + tick()", "box.step(0.1)", "box.step(t)", "s = bump(s)", "grow(xs, s)", "change(y)", "change(x[1:])", "s, t = t, s", "pair = (s, t)", "s = s + pair[1]"))
        elif kind < 0.8:
            self.add(f"if {self.test()}:")
            self.block(2)
            if self.chance(0.5):
                self.add("else:")
                self.block(2)
        elif kind < 0.84 and self.in_loop:
            self.add(f"if {self.test()}:")
            self.add(f"    {self.pick('break', 'continue')}")
        elif kind < 0.87:
            self.add(f"if {self.test()}:")
            self.add(f"    return {self.number()}")
        elif self.depth < 4:
            self.loop()
        else:
            self.add("t = t * 0.5")

    def more(self):
        """Statements that are written less often."""
        kind = self.random.random()
        if kind < 0.12:
            self.add(f"count {self.pick('+= 1', '-= 2', f'= {self.integer()}', '*= 2', '+= (s > 0)')}")
        elif kind < 0.24:
            self.add(self.pick("log.append(s)", "log.append(x[0] * t)", "log.insert(0, s)", "log[-1] = t", "log += [s, t]", "log.extend([s])", "log = log[-3:]", "s = s + log.pop() if len(log) > 1 else s"))
        elif kind < 0.34:
            self.add(self.pick("table['q'] = s", "table.update(q=t)", "s = s + table.get('q', 0.5)", "table['p'] += s", "for key in table:\n" + "    " * (self.depth + 1) + "table[key] = table[key] * 0.5", "s = s + sum(table.values())"))
        elif kind < 0.42:
            self.add("try:")
            self.block(2)
            self.add(self.pick("finally:", "except KeyError:"))
            self.block(1)
        elif kind < 0.48:
            self.add(self.pick("with np.errstate(all='ignore'):", "with warnings.catch_warnings():"))
            self.block(2)
        elif kind < 0.56:
            self.add(f"match {self.integer()}:")
            self.depth += 1
            for case in ("0", "1 | 2", "_"):
                self.add(f"case {case}:")
                self.block(1)
            self.depth -= 1
        elif kind < 0.64:
            self.add(self.pick("acc.add(s)", "acc.add(x)", "s = s + acc.mean()", "acc.values.append(t)", "acc.reset() if c > 3 else None", "s = acc(s)"))
        elif kind < 0.72:
            self.add(f"if (w1 := {self.number(1)}) > 0.2:")
            self.depth += 1
            self.add("s = s + 0.1 * w1")
            self.depth -= 1
        elif kind < 0.8:
            self.add(self.pick("a, *rest = y", "(a, b), rest = (s, t), x[1:]", "a = b = s", "a, b = (t, s) if s > t else (s, t)", "s, y[0] = y[0], s", "a, b = divmod(7, 2)"))
        elif kind < 0.88:
            self.add(self.pick("x32[1] = s", "x32 *= 2", "ks[0] += 1", "ks[c % 5] = 3", "y = np.where(ks > 1, y, x)", "y[ks[0] % 5] += 1.0", "x32 = x32 + s"))
        elif kind < 0.94:
            self.add(self.pick("y = np.array(log[-5:] + [0.1] * 5)[:5]", "y = np.stack([x, y])[1]", "m = np.array([x * k for k in range(5)])", "s = s + np.array(log).sum()", "y = np.concatenate([x[:2], y[2:]])", "s = s + max(log)", "y = np.array([f1(q) for q in y])"))
        elif kind < 0.97:
            mode = self.pick("mode", "box.mode")
            self.add(self.pick(
                f"{mode} = {self.pick(*MODES)}", f"{mode} = {self.pick(*MODES)}", f"{mode} = {self.pick(*MODES)} if {self.test()} else {mode}", f"if {mode} == {self.pick(*MODES)}: s = s * 0.5",
                f"s = s + GAINS[{mode}]", f"if {mode} in ('up', 'flat'): t = t + 0.25", "mode, box.mode = box.mode, mode", f"turn = {self.pick('math.sin', 'math.atan', 'f1', 'turn')}", "s = s * 0.5 + turn(s)",
                f"s = s + (1.0 if {mode} is not None and {mode} != 'down' else 2.0)", "turn = math.sin if s > t else f1",
            ))
        else:
            self.add(f"assert {self.test()} or True")

    def program(self):
        for _ in range(self.random.randint(2, 6)):
            self.statement()
        head = """import math
import warnings
import numpy as np
GAINS = {"up": 0.5, "down": -0.25, "flat": 0.125}
OUTER, FLAG, WEIGHTS = 1.5, %s, np.array([0.5, -1.0, 2.0, 0.25, 1.0])
class Settings:
    rate = 0.25
SETTINGS = Settings()
class Box:
    def __init__(self, a):
        self.a, self.count, self.mode = a, 0, "flat"
    def step(self, h):
        self.a = self.a * 0.9 + h
        self.count += 1
    def total(self, k):
        r = 0.0
        for j in range(3):
            r = r + self.a * j + k
        return r
class Acc:
    def __init__(self):
        self.values, self.total = [], 0.0
    def add(self, v):
        self.total = self.total + np.sum(v)
        self.values.append(self.total)
    def mean(self):
        return sum(self.values) / len(self.values) if self.values else 0.0
    def reset(self):
        self.values = []
    def __call__(self, v):
        return v * 0.5 + self.total
def choice(a, b):
    return a if a > b and b == b else b if b > 0 else 0.25
def guarded(a):
    try:
        return math.sqrt(abs(a))
    finally:
        pass
def cases(k):
    match k:
        case 0 | 1:
            return 0.5
        case 3:
            return 1.5
    return -0.5
def f1(q):
    return q * 0.5 if q > 0 else q
def wave(a):
    return a / (1.0 + a * a)
def scaled(a, b):
    return a * 0.5 + b
def early(a):
    if a > 0.3:
        return a * 2.0
    for j in range(3):
        if a * j < -1.0:
            return a
    return 1.0
def grow(xs, a):
    xs.append(a)
def change(v):
    v[0] = v[1] * 0.5
def f(x, s, n):
    y, t, c, m = x * 0.5, s + 1.0, 0, np.outer(x, x) * 0.1
    w, z, pair = y, m, (0.0, 0.0)
    state, table, box, xs = [s, 0.0], {"p": t}, Box(s), [s]
    calls, count, log, acc, w1, a, b, rest = 0, 1, [s], Acc(), s, s, t, x
    mode, turn = "up", math.sin
    x32, ks = np.arange(5, dtype=np.float32) * np.float32(0.25), np.array([1, 0, 2, 3, 1])
    def tick():
        nonlocal calls
        calls += 1
        return calls * 0.1
    def record(a):
        state[1] = state[1] + a
    def bump(a):
        table["p"] = table["p"] * 0.5 + a
        return a + table["p"]
""" % self.pick("True", "False")
        tail = "    return np.sum(np.sin(x)) + np.sum(y * y) + np.sum(np.cos(m)) + s * t + state[0] + state[1] + box.a * box.count + table['p'] + calls + sum(xs) + c + np.sum(w) + np.sum(z) + count * 0.1 + sum(log) + acc.total + w1 + np.sum(x32.astype(float)) + np.sum(ks) + a + sum(rest) + GAINS[mode] + 3.0 * GAINS[box.mode] + 0.1 * turn(0.5)\n"
        return head + "\n".join(self.lines) + "\n" + tail

    @staticmethod
    def is_smooth(text):
        """Whether differences tell a gradient: where nothing is rounded to float32."""
        body = text.split("x32, ks =")[-1].split("return np.sum(np.sin(x))")[0]
        return "x32" not in body.split("\n", 1)[-1] and "float32(" not in body.split("\n", 1)[-1]
