"""Writes Python programs in which arrays have several names: aliases, views of views, masked values, items of lists that grow, values that may be
None, attributes, items of dicts, lists and tuples, arguments and results of functions, names that are swapped or passed on from step to step; and
changes them in place under one name or another. All that lives is read at the end, each with a weight of its own. Rows and columns are of different
matrices: `m[1] = m[:, 2]` reads what it has just written in NumPy 2.4, where `m[1] = m[:, 2] * 1` does not."""

import random

HEAD = """import numpy as np
class Box:
    def __init__(self, v):
        self.v, self.u = v, v
    def bump(self, k):
        self.v += k
    def give(self):
        return self.v
    def take(self, v):
        self.u = v
def same(v):
    return v
def either(v, w, k):
    return v if k else w
def perhaps(v, q):
    if q > 0.3:
        return v
def window(v):
    return v[::-1]
def scale(v, k=2.0):
    v *= k
    return v
def write(v, w):
    v[1:] = w[:-1]
def both(v, w):
    v += 1.0
    w *= 0.5
    return w, v
def f(x, s, n):
    a, b, c, d = x * 0.5, np.cos(x), x[::-1], x
    m, h = np.outer(x, x) * 0.1, np.outer(x, b)
    p, q, r = m[1], h[:, 2], h.T[1]
    k = x > 0.1
    u, v, w = x[k], x[k] * 2.0, b[k]
    box, table, xs, pair = Box(a), {"a": a, "b": b * 1.0}, [x * 2.0, b], (a, x * 3.0)
    log, e, g, o, t = [x * 1.5], x * 1.0, x * 0.1, perhaps(x * 1.25, s), 0.0
"""

TAIL = """    total = s + 2.0 * t + 3.0 * np.sum(np.sin(a)) + 5.0 * np.sum(b * b) + 7.0 * np.sum(np.cos(c)) + 11.0 * np.sum(d * x)
    total += 13.0 * np.sum(np.sin(m)) + 83.0 * np.sum(h * h) + 17.0 * np.sum(p) + 19.0 * np.sum(q * q) + 23.0 * np.sum(r)
    total += 29.0 * np.sum(u) + 31.0 * np.sum(v * v) + 37.0 * np.sum(np.sin(w)) + 41.0 * np.sum(box.v) + 43.0 * np.sum(np.cos(box.u))
    total += sum(47.0 * np.sum(np.sin(item)) for item in table.values()) + sum(53.0 * np.sum(item * item) for item in xs)
    total += 59.0 * np.sum(pair[0]) + 61.0 * np.sum(np.sin(pair[1])) + sum(67.0 * np.sum(item) for item in log) + 71.0 * np.sum(e) + 73.0 * np.sum(g * g)
    if o is not None:
        total += 79.0 * np.sum(o)
    return total
"""


class Writer:
    """Writes a function of a vector `x`, a number `s` and an integer `n`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.depth, self.loops, self.labels = [], 1, [], 0

    def pick(self, *options):
        return self.random.choice(options)

    def add(self, line):
        self.lines.append("    " * self.depth + line)

    def name(self):
        """A name of an array of five numbers."""
        return self.pick("a", "b", "c", "d", "e", "g")

    def array(self):
        """Something that is an array of five numbers, under whatever name."""
        if self.random.random() < 0.5:
            return self.name()
        row = self.pick("1", "-1", "n % 5", *self.loops)
        return self.pick("p", "q", "r", "x", "m[0]", f"m[{row}]", "h[:, 3]", "h.T[2]", "box.v", "box.u", "table['a']", "table['b']", "xs[0]", "xs[-1]",
                         "pair[0]", "pair[1]", "log[-1]", "log[0]", "o", "box.give()")

    def value(self):
        return self.pick("0.5", "s", "t", f"{self.array()}", f"{self.array()} * 0.5", f"np.sin({self.array()})", f"{self.array()}[::-1]", f"0.5 * {self.array()} + {self.array()}")

    def masked(self):
        return self.pick("u", "v", "w")

    def masked_value(self):
        return self.pick("0.5", "s", self.masked(), f"{self.masked()} * 0.5", f"np.sin({self.masked()})", f"{self.array()}[k]", "x[k] + u")

    def test(self):
        return self.pick("s > 0.5", "np.sum(a) > 0.0", "x[0] < 0.2", "n > 1", "t < s", "x[1] > x[2]", *(f"{i} == 1" for i in self.loops), *(f"x[{i}] > 0" for i in self.loops))

    def block(self, most):
        self.depth += 1
        for _ in range(self.random.randint(1, most)):
            self.statement()
        self.depth -= 1

    def statement(self):
        kind = self.random.random()
        if kind < 0.16:
            self.add(f"{self.pick(self.name(), self.name(), 'box.v', 'box.u', 'xs[0]', 'p', 'q', 'o', 'c', 'd')} = {self.alias()}")
        elif kind < 0.36:
            self.change()
        elif kind < 0.46:
            self.change_masked()
        elif kind < 0.58:
            self.hold()
        elif kind < 0.68:
            self.add(self.pick(f"s = 0.5 * np.sin(s + np.sum({self.array()}))", f"t += 0.1 * np.sum({self.array()})", f"t = t + 0.1 * {self.array()}[1]", f"s = s * 0.5 + np.sum({self.masked()}) * 0.1"))
        elif kind < 0.8 or self.depth > 3:
            if self.depth > 3:
                self.change()
                return
            self.add(f"if {self.test()}:")
            self.block(2)
            if self.random.random() < 0.4:
                self.add("else:")
                self.block(2)
        else:
            self.loop()

    def alias(self):
        return self.pick(
            self.array(), self.array(), self.array(), f"same({self.array()})", f"either({self.array()}, {self.array()}, {self.pick('s > 0.4', 'n > 1')})",
            f"window({self.array()})", f"scale({self.array()})", f"{self.array()}[...]", f"{self.array()}.reshape(5)", f"np.asarray({self.array()})", f"{self.array()}.T",
            f"np.ravel({self.array()})", f"{self.array()}.copy()", f"{self.array()} + 0.5", f"{self.array()}[::-1][::-1]", f"perhaps({self.array()}, {self.pick('0.7', 's')})",
            f"{self.array()} if {self.test()} else {self.array()}", f"np.where({self.array()} > 0, {self.array()}, 0.1)", f"np.atleast_1d({self.array()})", f"np.squeeze({self.array()})",
        )

    def change(self):
        """An array changes in place."""
        a, index = self.array(), self.pick("0", "-1", "2", *self.loops)
        a = {"box.give()": "box.v", "pair[0]": "a", "pair[1]": "b"}.get(a, a)
        sliced = self.pick(":3", "1:4", "::2", "::-1", "3:0:-1", ":", "...")
        self.add(self.pick(
            f"{a} {self.pick('+=', '*=', '-=')} {self.pick('0.5', '2.0', 's', self.value())}", f"{a} += 1.0", f"{a} *= 0.5", f"{a}[{index}] {self.pick('=', '+=', '*=')} {self.pick('0.5', 's', 't')}",
            f"{a}[{sliced}] {self.pick('=', '+=', '*=')} {self.pick('0.5', 's')}", f"{a}[...] = {self.value()}", f"{a}[:] = {self.value()}", f"{a}[::-1] = {self.value()}",
            f"np.add({self.array()}, 1.0, out={a})", f"np.multiply({self.array()}, {self.array()}, out={a})", f"np.copyto({a}, {self.array()})", f"{a}.fill(s)", f"scale({a}, 0.5)",
            f"write({a}, {self.array()})", f"both({a}, {self.array()})", f"{a}[k] = 0.25", f"{a}[k] *= 0.5", f"{a}[{a} > 0.5] = 0.5", f"np.sin({a}, out={a})",
            f"{a}, {self.name()} = both({a}, {self.array()})", f"{self.name()} = np.add({a}, 0.5, out={a})", f"for item in ({a}, {self.array()}): item += 0.5",
        ))

    def change_masked(self):
        """A masked value changes in place, or gets another name."""
        a, b = self.masked(), self.masked()
        self.add(self.pick(
            f"{a} = {b}", f"{a} = {b}", f"{a} {self.pick('+=', '*=', '-=')} {self.masked_value()}", f"{a} += 1.0", f"{a} = {a} * 0.5", f"{a}[...] = {self.masked_value()}", f"{a}[:] = {self.masked_value()}",
            f"np.add({a}, 0.5, out={b})", f"np.multiply({a}, {b}, out={b})", f"{a} = same({b})", f"scale({a}, 0.5)", f"{a}, {b} = {b}, {a}", f"{self.array()}[k] {self.pick('=', '+=')} {a}", f"{a} = {self.array()}[k]",
            f"{a} = scale({b})", f"both({a}, {b})", f"{a} = {b}.copy()", f"table2 = [{a}, {b}]; table2[0] += 0.5", f"{a}.fill(s)", f"np.copyto({a}, {b})", f"{a} = {b} if {self.test()} else {a}",
        ))

    def hold(self):
        """Objects and containers hold other arrays, or change those that they hold."""
        a, b = self.array(), self.array()
        self.add(self.pick(
            f"box.v = {a}", f"box.take({a})", "box.bump(0.5)", f"box.v, box.u = box.u, box.v", "box = Box(a)", f"table['a'] = {a}", "table['a'], table['b'] = table['b'], table['a']", "table['a'] += 0.5",
            f"xs[0] = {a}", "xs[0], xs[-1] = xs[-1], xs[0]", f"xs = [{a}, {b}]", f"xs.append({a})", "xs.pop() if len(xs) > 1 else None", "xs[0] *= 0.5", f"pair = ({a}, {b})", "pair = pair[::-1]",
            f"log.append({a})", f"log.append({a} * 0.5)", f"log.append({a}.copy())", "log[-1] += 0.5", f"log[0] = {a}", f"a, b = b, a", "d, e = e, d + 1.0", "a, b, c = b, c, a", f"m[1] = {a}", f"h[:, n % 5] = {a}", "m, h = h.T, m.T", "m *= 0.5", "p = m[2]", "q = h.T[1]",
            "for item in xs: item += 0.5", "for item in table.values(): item *= 0.5", "for i_, item in enumerate(log): item += i_", f"o = perhaps({a}, s)", "o = None if s > 0.5 else a",
        ))

    def loop(self):
        self.labels += 1
        name = f"i{self.labels}"
        kind = self.random.random()
        if kind < 0.6:
            self.add(f"for {name} in {self.pick('range(3)', 'range(n)', 'range(5)', 'range(2)', 'range(4, 0, -1)')}:")
            self.loops.append(name)
        elif kind < 0.8:
            self.add(f"{name} = 0")
            self.add(f"while {name} < {self.pick('3', 'n')}{self.pick('', ' and np.sum(a * a) < 20.0')}:")
            self.add(f"    {name} += 1")
        else:
            self.add(f"for {name} in {self.pick('m', 'xs', '(a, b)', '[a, x]', 'zip(a, b)', 'x', 'h.T')}:")
        self.block(3)
        if name in self.loops:
            self.loops.remove(name)

    def program(self):
        for _ in range(self.random.randint(3, 8)):
            self.statement()
        return HEAD + "\n".join(self.lines) + "\n" + TAIL

    @staticmethod
    def is_smooth(_text):
        return True
