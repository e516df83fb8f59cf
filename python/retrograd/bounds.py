"""Which values a Python number can have, as far as that is known while it is traced.

Python's integers do not wrap, those of the Program do: an operation whose result is known to fit in 64 bits needs no check. What a loop
carries is taken to stay small while its body is traced; at the end of the body that is held against what a step adds, times the
steps that there can be.
"""

import math

LEAST, MOST = -(2**63), 2**63 - 1
INTEGERS = (LEAST, MOST)
REALS = (-math.inf, math.inf)

# An integer argument beyond these is another compilation: indices and products of two of them fit in 64 bits.
ARGUMENT = 2**31

# No run takes more steps than this: at 10⁹ in a second it would last 104 days.
STEPS = 2**53

# How large what is carried is taken to be before more is known.
_SMALL = 2**56


class Growth:
    """How far a number is from what a loop carries: `count` times something between `low` and `high`. Or it is none of that, and within `rest`."""

    __slots__ = ("leaf", "low", "high", "count", "rest")

    def __init__(self, leaf, low=0, high=0, count=1, rest=None):
        self.leaf, self.low, self.high, self.count, self.rest = leaf, low, high, count, rest

    def plus(self, low, high, count=1):
        """With another distance on top of it."""
        rest = None if self.rest is None else add(self.rest, Growth(None, low, high, count).span())
        if self.count == count == 1:
            return Growth(self.leaf, self.low + low, self.high + high, 1, rest)
        return Growth(self.leaf, min(self.low, 0) + min(low, 0), max(self.high, 0) + max(high, 0), max(self.count, count), rest)

    def times(self, count):
        """In so many steps; from what a step leaves in `rest`, the next ones go on."""
        result = Growth(self.leaf, self.low, self.high, min(self.count * count, STEPS))
        result.rest = None if self.rest is None else add(self.rest, result.span())
        return result

    def joined(self, other):
        rest = _either(self.rest, other.rest)
        return Growth(self.leaf, min(self.low, other.low), max(self.high, other.high), max(self.count, other.count), rest)

    def span(self):
        """The distance at its least and at its greatest."""
        if self.count == 1:
            return self.low, self.high
        return min(0, self.low * self.count), max(0, self.high * self.count)


def _either(a, b):
    return a if b is None else b if a is None else hull(a, b)


def of(value):
    """(least, greatest) of a number; of floats besides NaN."""
    known = getattr(value, "_bounds", None)
    if known is not None:
        return known
    if hasattr(value, "_bounds"):
        if value.dtype.kind == "f":
            return REALS
        if value.dtype.kind == "b":
            return (0, 1)
        if value.dtype.itemsize == 4:
            return (-(2**31), 2**31 - 1)
        symbol = value._symbol
        low = LEAST if symbol is None or symbol.low is None else max(symbol.low + value._offset, LEAST)
        high = MOST if symbol is None or symbol.high is None else min(symbol.high + value._offset, MOST)
        return (low, high)
    if isinstance(value, float) and math.isnan(value):
        return REALS
    return (value, value) if isinstance(value, float) else (int(value), int(value))


def growth(value):
    return getattr(value, "_growth", None)


def fits(bounds):
    return bounds[0] >= LEAST and bounds[1] <= MOST


def clipped(bounds):
    return (max(bounds[0], LEAST), min(bounds[1], MOST))


def hull(*every):
    return (min(low for low, _ in every), max(high for _, high in every))


def add(a, b):
    return (_finite(a[0] + b[0], -math.inf), _finite(a[1] + b[1], math.inf))


def negative(a):
    return (-a[1], -a[0])


def multiply(a, b):
    ends = [_product(x, y) for x in a for y in b]
    return (min(ends), max(ends))


def absolute(a):
    return (0 if a[0] <= 0 <= a[1] else min(abs(a[0]), abs(a[1])), max(abs(a[0]), abs(a[1])))


def power(a, exponent):
    """a ** exponent for a known integer that is not negative."""
    if not all(isinstance(end, int) for end in a):
        low = 0.0 if exponent % 2 == 0 else -math.inf
        return (low, math.inf)
    ends = [end**exponent for end in a]
    return (0 if exponent % 2 == 0 and a[0] <= 0 <= a[1] and exponent else min(ends), max(ends))


def floor_divide(a, b):
    """Of integers; 0 is none of the divisors, because it is an error."""
    divisors = [d for d in {b[0], b[1], -1, 1} if b[0] <= d <= b[1] and d]
    ends = [end // d for end in a for d in divisors]
    return hull(*((end, end) for end in ends)) if ends else INTEGERS


def remainder(a, b):
    """Of integers: its sign is that of the divisor."""
    low, high = min(b[0] + 1, 0), max(b[1] - 1, 0)
    return (0, min(high, a[1])) if a[0] >= 0 and b[0] > 0 else (low, high)


def _product(x, y):
    return 0 if x == 0 or y == 0 else x * y


def _finite(end, otherwise):
    return otherwise if end != end else end


# What loops carry


def assumed(before, noted, count):
    """The bounds of an integer that a loop carries, while its body is traced: not much more than its start, or as was found out before."""
    start = of(before)
    if noted is None:
        most = max(_SMALL, 2 * max(map(abs, start)))
        return clipped((-most, most))
    return INTEGERS if noted == "any" else clipped(_reached(start, noted.times(count)))


def found(leaf, end, count):
    """(bounds, growth) of what a loop carries, by its value at the end of a step."""
    grown = growth(end)
    if grown is None or grown.leaf is not leaf:
        grown = Growth(leaf, rest=of(end))
    return _reached(of(leaf.before), grown.times(count)), grown


def _reached(start, grown):
    """What is reached from a start."""
    return _either(hull(start, add(start, grown.span())), grown.rest)


def is_tight(bounds):
    return -STEPS <= bounds[0] and bounds[1] <= STEPS


def carried(leaf, count, surely):
    """(bounds, growth) of what a loop has carried, after it; `surely` where it takes a step."""
    limits, grown = found(leaf, leaf.after, count)
    inner, outer = growth(leaf.after), growth(leaf.before)
    if surely and (inner is None or inner.leaf is not leaf):
        return clipped(of(leaf.after)), None
    if outer is None:
        return clipped(limits), None
    grown = grown.times(count)
    result = outer.plus(grown.low, grown.high, grown.count)
    result.rest = _either(result.rest, grown.rest)
    return clipped(limits), result


def joined(sources):
    """(bounds, growth) of what is one of several."""
    limits = hull(*map(of, sources))
    grown = [growth(source) for source in sources]
    known = [item for item in grown if item is not None]
    if not known or any(item.leaf is not known[0].leaf for item in known):
        return limits, None
    result = known[0]
    for item in known[1:]:
        result = result.joined(item)
    rest = [of(source) for source, item in zip(sources, grown) if item is None]
    if rest:
        result = result.joined(Growth(result.leaf, result.low, result.high, result.count, hull(*rest)))
    return limits, result
