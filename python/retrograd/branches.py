"""Branches while they are traced: a known condition takes its side, a traced one traces both and joins what they bind and change."""

import sys

import numpy as np

from . import effects, errors, lists, tree, views
from .array import Array, demand_all, entangle, kind_of_all, lift, traced
from .chosen import Pieces
from .control import UNSET, Control, dtype_of, is_data, is_traced, joined_dtype, kind_of, lies_in_order, reached, result_boxes, rounds, shape_of, truth
from .maybe import Maybe
from .loose import kind_of_items
from .oneof import OneOf, code, is_option, outlives, union
from .trace import DTYPES, Frame, Retry, current


class Branch(Control):
    """An `if`. A known condition takes its side; a traced one traces both and joins what they bind and change."""

    def __init__(self, condition, facts, stops, where, scope):
        super().__init__(facts, stops, where, scope)
        self.traced = is_traced(condition)
        self.rebinds = self.traced
        self.sides = []
        if self.traced:
            self.condition = truth(condition, self.pos)
        else:
            self.side = bool(condition)

    def enter(self, side):
        """Whether this side runs now: the one of a known condition, or each in turn."""
        if not self.traced:
            return side is self.side
        trace = current()
        if side:
            self.predicate = self.condition.handle()
            trace.tracer.begin_if(self.predicate, self.pos)
            trace.traced_body(self)
        self.side = side
        self.frame = Frame("if", self.pos)
        self.frame.predicate = self.predicate
        trace.push(self.frame)
        self.bound = {name: self.scope[name] for name in self.lines if name in self.scope}
        return True

    def failed(self):
        """An exception on one side of a traced condition: it is raised when the program takes that side."""
        error = sys.exc_info()[1]
        if not self.traced or isinstance(error, (errors.Error, NameError)):
            raise error
        fails(self.frame, error)

    def done(self, scope):
        if not self.traced:
            return
        trace, frame = current(), self.frame
        self.sides.append(Side(frame, {name: scope[name] for name in self.live if name in scope}))
        frame.undo()
        if self.side:
            trace.tracer.begin_else()
            trace.pop(frame)
        else:
            self._join(trace, frame)

    def _join(self, trace, frame):
        join = Join(self, *self.sides)
        names = {}
        for name in self.live:
            join.name(name, names)
        contents = [join.effect(key) for key in {**self.sides[0].contents, **self.sides[1].contents}]
        roots = {**self.sides[0].roots, **self.sides[1].roots}
        unknown = {root: message for side in self.sides for root, (_, message) in side.roots.items() if message is not None}
        roots = [root for root in roots if root not in unknown]
        before = {root: root._value if root._const is None else None for root in roots}
        for root in roots:
            handles = [side.roots[root][0] if root in side.roots else before[root] for side in self.sides]
            if None in handles and root._const is not None:
                start = trace.constant_at(frame.depth - 1, root._const)
                handles = [start if handle is None else handle for handle in handles]
            join.add(handles, DTYPES[root.dtype])
        try:
            results = trace.tracer.end_if(join.first, join.second, join.dtypes)
        except errors.Error:
            trace.unwind(frame)
            raise
        trace.pop(frame)
        derived = [trace.derived.get(handle) for handle in [self.predicate, *join.first, *join.second] if handle is not None]
        if all(item is not None for item in derived):
            trace.derived.update({result: frozenset().union(*derived) for result in results})
        # What the branch changes has changed before it results in what may share memory with that.
        for root, result in zip(roots, results[len(join.sources) :]):
            root.become(result)
        for root, message in unknown.items():
            root.poison(message)
        made = join.boxes(results)
        self.bound = {name: build(made) for name, build in names.items()}
        for effect, build in contents:
            effects.change(effect.owner, effect.name, effect.pos)
            effect.write(build(made))
        trace.frame.raised |= all(side.raised for side in self.sides)


def fails(frame, error):
    """A body ends with an exception: a check that does not hold, at the line that raised it."""
    trace, at, pos = current(), error.__traceback__, None
    if frame not in trace.frames:
        raise error
    while at is not None:
        if not errors.is_hidden(at.tb_frame.f_code.co_filename):
            pos = (at.tb_frame.f_code.co_filename, at.tb_lineno)
        at = at.tb_next
    if trace.frames[-1] is not frame:
        trace.unwind(trace.frames[frame.depth + 1])
    trace.tracer.check(trace.constant(np.bool_(False)), str(error) or type(error).__name__, errors.tag_of(type(error)), pos or frame.pos)
    trace.risk(type(error))
    frame.raised = True


class Side:
    """One side of a branch at its end: what names are, arrays and contents that it changed; handles are of its own body."""

    def __init__(self, frame, ends):
        self.raised, self.frame = frame.raised, frame
        self.ends, self.values = ends, {}
        for name, value in ends.items() if not frame.raised else ():
            leaves, structure = tree.flatten(value)
            self.values[name] = (structure, [(leaf, _lifted(leaf)) for leaf in leaves])
        self.roots = {root: (root._value if root._const is None else root.handle(), root._poison) if root._poison is None else (None, root._poison) for root in ({} if frame.raised else frame.mutated)}
        self.contents = {}
        for key, effect in frame.effects.items() if not frame.raised else ():
            values, structure = effect.shallow()
            self.contents[key] = (effect, structure, [(value, _lifted(value)) for value in values])


class Join:
    """What the two sides of a branch result in together."""

    def __init__(self, branch, then, other):
        self.branch, self.then, self.other = branch, then, other
        self.first, self.second, self.dtypes, self.sources = [], [], [], []
        self.pieces = {}  # by the number of a result: which arrays it may be

    def add(self, handles, dtype):
        self.first.append(None if self.then.raised and None in handles else handles[0])
        self.second.append(handles[1])
        self.dtypes.append(dtype)

    def name(self, name, names):
        """Adds a name, where both sides have it; of a side that raises an error nothing goes on."""
        branch, sides = self.branch, [self.then, self.other]
        present = [side for side in sides if name in side.ends and side.ends[name] is not UNSET and not side.raised]
        if not present:
            if any(name in side.ends and side.ends[name] is UNSET for side in sides):
                names[name] = lambda made: UNSET
            return
        if len(present) == 2 and self.then.ends[name] is self.other.ends[name]:
            value = self.then.ends[name]
            names[name] = lambda made: value
            return
        if len(present) == 1:
            absent = sides[1 - sides.index(present[0])]
            if not absent.raised and not branch.flagged(name):
                current().unbound[name] = f"`{name}` is bound in one branch of the `if` at line {branch.pos[1]} only; bind it before the `if`"
                return
            structure, leaves = present[0].values[name]
            pairs = [((leaf, handle), (leaf, None)) for leaf, handle in leaves]
            if present[0] is self.other:
                pairs = [(b, a) for a, b in pairs]
            names[name] = self._joined(name, structure, pairs)
            return
        (structure, leaves), (other_structure, others) = self.then.values[name], self.other.values[name]
        if structure != other_structure or _is_none(structure, leaves) != _is_none(other_structure, others):
            names[name] = self._perhaps(name, structure, leaves, other_structure, others)
            return
        names[name] = self._joined(name, structure, list(zip(leaves, others)))

    def _perhaps(self, name, *sides):
        """Adds a name that is None on one way, or perhaps; other values have to be alike."""
        forms = [_perhaps(*sides[:2]), _perhaps(*sides[2:])]
        structures = {structure for flag, structure, leaves in forms if leaves is not None}
        if len(structures) != 1 or all(flag is True for flag, _, _ in forms):
            kinds = f"{kind_of(self.then.ends[name])} and {kind_of(self.other.ends[name])}"
            self._differ(errors.ShapeError(f"`{shown(name)}` differs in kind between the branches: {kinds}", self.branch.at(name)))
        (flag, _, leaves), (other_flag, _, others) = forms
        absent = lambda leaves: [(leaf, None) for leaf, _ in leaves]
        pairs = list(zip(absent(others) if leaves is None else leaves, absent(leaves) if others is None else others))
        value = self._joined(name, structures.pop(), pairs)
        flags = [self._joined(name, None, [(f, (f[0], None)) if k == 0 else ((f[0], None), f)]) if type(f) is tuple else f for k, f in enumerate((flag, other_flag))]

        def build(made):
            predicate = traced(self.branch.predicate, scalar=True, weak=True)
            first, second = (f(made) if callable(f) else f for f in flags)
            chosen = np.logical_or(np.logical_and(predicate, first), np.logical_and(np.logical_not(predicate), second))
            chosen._weak = True
            return Maybe(chosen, value(made))

        return build

    def effect(self, key):
        """Adds the contents of a container that a side changed."""
        effect = (self.then.contents.get(key) or self.other.contents.get(key))[0]
        values, structure = effect.before_values()
        before = (effect, structure, [(value, self._as_before(value)) for value in values])
        a, b = self.then.contents.get(key, before), self.other.contents.get(key, before)
        if self.then.raised or self.other.raised:
            a, b = (b, b) if self.then.raised else (a, a)
        if a[1] != b[1] or any(isinstance(x, lists.Mark) and x is not y for (x, _), (y, _) in zip(a[2], b[2])):
            error = errors.Unsupported(f"{effect.what()} under a traced condition, of which one side leaves another form than the other", effect.pos)
            self._differ(error, effect, [[value for value, _ in side[2]] for side in (a, b)])
        return effect, self._joined(effect.name, a[1], list(zip(a[2], b[2])))

    def _as_before(self, value):
        """The handle of a value that a side leaves where it was before the branch."""
        value = value.number if type(value) is OneOf else value
        if not is_data(value):
            return None
        if not isinstance(value, Array):
            return current().constant_at(current().frame.depth - 1, np.asarray(value))
        changes = not value.root()._scalar and any(value.root() in side.roots for side in (self.then, self.other))
        return value._value if value._parent is None and value._const is None and not changes else LATER

    def _joined(self, name, structure, pairs):
        """Adds the leaves that differ; gives the function from boxes of results to the value."""
        places = []
        for (a, first), (b, second) in pairs:
            if a is b and (first is not None) == (second is not None) or same_constant(a, b):
                places.append(a)
                continue
            if _are_options(a, b):
                places.append(self._one_of(a, first, b, second))
                continue
            if first is None and second is None:
                self._differ(errors.ShapeError(f"`{shown(name)}` differs in kind between the branches: {kind_of(a)} and {kind_of(b)}", self.branch.at(name)))
            if not (is_data(a) and is_data(b)):
                self._differ(errors.ShapeError(f"`{shown(name)}` differs in kind between the branches: {kind_of(a)} and {kind_of(b)}", self.branch.at(name)))
            if shape_of(a) != shape_of(b):
                self._differ(errors.ShapeError(f"`{shown(name)}` differs in shape between the branches: {shape_of(a)} and {shape_of(b)}", self.branch.at(name)))
            if rounds(a, dtype_of(b)) or rounds(b, dtype_of(a)):
                self._differ(errors.DTypeError(f"`{shown(name)}` is a Python float on one side of the branch and float32 on the other, so that its digits depend on the way taken; convert it", self.branch.at(name)))
            pieces = self._pieces(a, first, b, second)
            if pieces is not None:
                self.pieces[len(self.sources)] = pieces
            later = a if first is LATER else b if second is LATER else None
            handles = [None if handle is LATER else handle for handle in (first, second)]
            places.append(Place(len(self.sources), later, self.branch.predicate, first is LATER))
            self.first.append(handles[0])
            self.second.append(handles[1])
            self.dtypes.append(joined_dtype(a, b))
            self.sources.append([leaf for leaf, handle in zip((a, b), handles) if handle is not None])
        return lambda made: effects.joined(tree.unflatten(structure, [place.value(made) if isinstance(place, (Place, Option)) else place for place in places]))

    def _pieces(self, a, first, b, second):
        """Which arrays a result is one of, where it is known when it is which."""
        alone = self.then.raised or self.other.raised
        if not all(isinstance(item, Array) and not item._scalar for item in (a, b)) or LATER in (first, second) or None in (first, second) and not alone:
            return None
        return Pieces.of(self, a, b)

    def condition(self, handle, side):
        """Adds a condition of one side, which does not hold on the other; gives its number among the results."""
        never = current().constant_at(current().frame.depth - 1, np.bool_(False))
        self.first.append(handle if side is self.then else never)
        self.second.append(never if side is self.then else handle)
        self.dtypes.append("bool")
        self.sources.append([False])
        return len(self.sources) - 1

    def _one_of(self, a, first, b, second):
        """Adds an object that is one of several."""
        trace = current()
        handles = [trace.constant_at(trace.frame.depth - 1, np.int64(code(item))) if type(item) is not OneOf else handle for item, handle in ((a, first), (b, second))]
        trace.derived.update({handle: frozenset() for item, handle in zip((a, b), handles) if type(item) is not OneOf})
        self.first.append(handles[0])
        self.second.append(handles[1])
        self.dtypes.append("i64")
        self.sources.append([0])
        return Option(len(self.sources) - 1, union(a, b))

    def _differ(self, error, effect=None, contents=()):
        """Sides that do not join need a condition that is known, if it can be; a list that one of them appends to has a traced length from there on."""
        from .loops import Guess

        trace = current()
        sources = trace.derived.get(self.branch.predicate)
        kind = kind_of_items([*contents, effect.before]) if effect is not None and type(effect.owner) is list else None
        made = effects.owner(effect.owner) if effect is not None else None
        trace.unwind(self.branch.frame)
        if sources and (kind is None or not any(isinstance(source, Guess) for source in sources)):
            demand_all(sources)
        if kind is not None and made is not None and made in trace.frames:
            outermost = next((frame.loop for frame in trace.frames[made.depth + 1 :] if frame.loop is not None), None)
            if outermost is not None:
                outermost.loosen(effect.owner, effect.name, kind=kind)
        if sources:
            demand_all(sources)
        around = next((frame.loop for frame in reversed(trace.frames) if frame.loop is not None), None)
        if around is not None and around.known is not None and not around.note().peeled:
            # What is None before the first step, say, is a value after it.
            around.note().peeled = 1
            raise Retry(around)
        raise error

    def boxes(self, results):
        boxes = result_boxes(results, self.sources, exact={number: pieces.exact for number, pieces in self.pieces.items()})
        for number, pieces in self.pieces.items():
            pieces.attach(boxes[number], boxes)
        return boxes


def _is_none(structure, leaves):
    return structure is None and leaves[0][0] is None


def _perhaps(structure, leaves):
    """(flag, structure, leaves) of a value that may be None: the flag is known, or a leaf; there are no leaves where it is None."""
    if _is_none(structure, leaves):
        return False, None, None
    if structure is not None and structure[0] == tree.PERHAPS:
        return leaves[0], structure[1][1], leaves[1:]
    return True, structure, leaves


class Option:
    """Where the number of an object that is one of several is among the results of a branch."""

    def __init__(self, number, options):
        self.number, self.options = number, options

    def value(self, made):
        return OneOf(self.options, made[self.number])


def _are_options(a, b):
    return all((type(item) is OneOf or is_option(item)) and outlives(item) for item in (a, b))


def _lifted(leaf):
    """The handle of a value at the end of a side."""
    return lift(leaf.number) if type(leaf) is OneOf else lift(leaf) if is_data(leaf) else None


# Of an array that a container holds before a branch, on a side that leaves it there: what it is after the branch, which may change it in place.
LATER = object()


class Place:
    """Where a value is among the results of a branch; on the side where it is another one `later`, that is chosen after the branch."""

    def __init__(self, number, later, predicate, first):
        self.number, self.later, self.predicate, self.first = number, later, predicate, first

    def value(self, made):
        box = made[self.number]
        if self.later is None:
            return box
        trace = current()
        handles = [views.convert(trace, lift(item), dtype_of(box)) for item in (self.later, box)]
        args = handles if self.first else handles[::-1]
        condition = views.broadcast(trace, self.predicate, box.shape)
        chosen = traced(trace.op("select", [condition, *args]), scalar=box._scalar, ordered=lies_in_order(box) and lies_in_order(self.later))
        chosen._weak = box._scalar and kind_of_all([box, self.later])
        for root in () if box._scalar else reached([self.later, box]):
            entangle(chosen, root)
        return chosen


def shown(name):
    return "the result" if name == "_rg_value" else name


def same_constant(a, b):
    """Whether two values that are no arrays are one: None, strings, equal numbers."""
    if isinstance(a, Array) or isinstance(b, Array) or type(a) is not type(b):
        return False
    if a is b:
        return True
    if isinstance(a, float):
        return a == b and np.copysign(1.0, a) == np.copysign(1.0, b)
    return isinstance(a, (bool, int, str, bytes)) and a == b


def choose(condition, first, second, pos):
    """`first() if condition else second()`, where the condition is traced."""
    trace, predicate = current(), truth(condition, pos).handle()
    facts = ((("_rg_value", pos[1]),), (), ("_rg_value",), (), ())
    branch = Branch.__new__(Branch)
    Control.__init__(branch, facts, (), ("choice", pos[1]), {})
    branch.traced, branch.predicate, branch.sides, branch.pos = True, predicate, [], pos
    trace.tracer.begin_if(predicate, pos)
    for side in (first, second):
        frame = branch.frame = Frame("if", pos)
        frame.predicate = predicate
        trace.push(frame)
        try:
            value = side()
        except Retry:
            trace.unwind(frame)
            raise
        except Exception as error:
            if isinstance(error, (errors.Error, NameError)):
                raise
            fails(frame, error)
            value = UNSET
        branch.side = side is first
        branch.done({"_rg_value": value})
    return branch.bound["_rg_value"]
