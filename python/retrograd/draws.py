"""Random numbers of a generator with a known seed that the function made: NumPy's own, drawn while the function is traced.

In straight code they are constants. In a loop of known count every step draws others: the first trace of the body notes what a step draws, then all
steps are drawn in order, and the body is traced again with rows of those arrays. So their bytes are constants of the Program, and part of the plan.
"""

import copy
import random

import numpy as np

from . import array, effects, errors
from .array import Array, traced
from .trace import DTYPES, current

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)

# What makes a generator, of a seed.
SEEDED = {
    np.random.default_rng, np.random.RandomState, random.Random, np.random.SeedSequence, np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox,
    np.random.SFC64,
}

_MOST = 2**31  # bytes of what one loop draws


class Site:
    """A place in a body that draws: which method, with which arguments."""

    def __init__(self, generator, name, args, kwargs):
        self.generator, self.name, self.args, self.kwargs = generator, name, args, kwargs

    def draw(self, generator):
        return getattr(generator, self.name)(*self.args, **self.kwargs)

    def same(self, other):
        return isinstance(other, Site) and (self.generator is other.generator, self.name, repr((self.args, self.kwargs))) == (True, other.name, repr((other.args, other.kwargs)))


class Nest:
    """A loop inside that draws."""

    def __init__(self, count, sites):
        self.count, self.sites = count, sites

    def same(self, other):
        return isinstance(other, Nest) and self.count == other.count and same(self.sites, other.sites)


def same(sites, others):
    return len(sites) == len(others) and all(a.same(b) for a, b in zip(sites, others))


def draw(generator, name, args, kwargs):
    """`generator.name(*args, **kwargs)`."""
    trace, frame = current(), effects.owner(generator)
    trace.decide("random numbers that are drawn", None)
    if frame is None:
        raise errors.Unsupported(f"random numbers ({name}) of a generator from outside would be drawn once; pass them as an argument", errors.here())
    site = Site(generator, name, [_known(value, name) for value in args], {key: _known(value, name) for key, value in kwargs.items()})
    bodies = trace.frames[frame.depth + 1 :] if frame.open else trace.frames[1:]
    if not bodies:
        return array.local(site.draw(generator))
    for body in bodies:
        if body.loop is None:
            sources = trace.derived.get(body.predicate)
            if sources:
                # A condition on the index of a loop is known where the loop is unrolled.
                trace.unwind(body)
                array.demand_all(sources)
            raise errors.Unsupported("random numbers under a traced condition; draw them before", errors.here())
        if body.loop.known is None:
            body.loop.unroll(errors.Unsupported("random numbers in a loop whose count is not known while tracing; pass them as an argument", errors.here()))
    key = tuple(len(body.draws) for body in bodies)
    bodies[-1].draws.append(site)
    drawn = bodies[0].loop.drawn.get(key)
    if drawn is None or not drawn[0].same(site):
        return _sample(site)
    rows, kind = drawn[1], drawn[2]
    item = rows[tuple(body.loop.index for body in bodies)]
    if isinstance(item, Array) and kind in (bool, int, float):
        item._weak = True
    return item


def check_seed(function, args, kwargs):
    """A seed is known while tracing."""
    seed = args[0] if args else next(iter(kwargs.values()), None)
    if seed is None:
        raise errors.Unsupported(f"{function.__name__}() without a seed in a traced function would be drawn once; give it a seed", errors.here())
    if isinstance(seed, Array) and seed.payload() is None:
        array.demand(seed)
        raise errors.Unsupported(f"{function.__name__}() with a traced seed; pass the numbers as an argument", errors.here())


def _known(value, name):
    if isinstance(value, Array):
        known = value.payload()
        if known is None:
            array.demand(value)
            raise errors.Unsupported(f"random numbers ({name}) by a traced parameter; scale numbers of a fixed distribution, or pass them as an argument", errors.here())
        if name in ("shuffle", "permuted", "permutation"):
            raise errors.Unsupported(f"{name} of an array of the function; index it by a permutation of integers", errors.here())
        return np.array(known)
    return value


def _sample(site):
    """Something of the kind that a place draws, until the numbers are drawn."""
    value = site.draw(copy.deepcopy(site.generator))
    if np.asarray(value).dtype not in DTYPES:
        raise errors.Unsupported(f"random numbers ({site.name}) of {np.asarray(value).dtype} in a loop", errors.here())
    return traced(current().constant(np.asarray(value)), scalar=not isinstance(value, np.ndarray), weak=type(value) in (bool, int, float))


def ahead(sites, count):
    """Draws all steps of a loop: ({key: (place, rows, class of one)}, generators as they are after it)."""
    moved, rows = {}, {}
    generator = lambda site: moved.setdefault(id(site.generator), (site.generator, copy.deepcopy(site.generator)))[1]

    def run(sites, count, key):
        for _ in range(count):
            for k, site in enumerate(sites):
                if isinstance(site, Nest):
                    run(site.sites, site.count, (*key, k))
                else:
                    rows.setdefault((*key, k), (site, []))[1].append(site.draw(generator(site)))

    run(sites, count, ())
    extents = _extents(sites, (count,), ())
    result = {}
    for key, (site, values) in rows.items():
        whole = np.array(values)
        if whole.nbytes > _MOST:
            raise errors.Unsupported(f"{whole.nbytes} bytes of random numbers in a loop; draw fewer, or pass them as an argument", errors.here())
        result[key] = (site, array.local(whole.reshape(*extents[key], *whole.shape[1:])), type(values[0]))
    return result, list(moved.values())


def _extents(sites, counts, key):
    found = {}
    for k, site in enumerate(sites):
        if isinstance(site, Nest):
            found.update(_extents(site.sites, (*counts, site.count), (*key, k)))
        else:
            found[(*key, k)] = counts
    return found


def settle(generators):
    """The generators as they are after a loop."""
    for generator, after in generators:
        if isinstance(generator, np.random.Generator):
            generator.bit_generator.state = after.bit_generator.state
        elif isinstance(generator, np.random.RandomState):
            generator.set_state(after.get_state())
        else:
            generator.setstate(after.getstate())
