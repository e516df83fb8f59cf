"""Loops and branches while they are traced.

What a body carries is found by tracing it: the names that it rebinds, and the arrays from outside that it changes in place under
whatever name. A trace that finds more than it was given is abandoned and the body is traced again, until nothing new is found. What was found
is the first guess when the body around is traced again, so that a nest is traced as often as its loops together, not as their product.

A rebound name is carried *by value*. That is right as long as nobody can tell the difference, so aliases are checked: an array that
two names share and one of them changes is either carried as one object, or refused; it is never silently two.
"""

import numpy as np

from . import errors, tree, views
from .array import Array, describe, entangle, is_weak, lift, result_dtype, traced
from .ranges import count_of, item_of
from .trace import DTYPES, NUMPY, Frame, Memory, current

_RETRACES = 30


class Control:
    """What rewritten source asks of a loop or a branch."""

    def __init__(self, names, exposed, live, scope):
        self.lines = dict(names)
        self.exposed, self.live = exposed, live
        self.scope = dict(scope)  # `locals()` is one dict that changes
        self.bound = {}
        self.rebinds = True

    def has(self, name):
        return name in self.bound

    def drops(self, name):
        return self.rebinds and name not in self.bound

    def __getitem__(self, name):
        return self.bound[name]

    def at(self, name):
        """The line that binds a name last."""
        return (self.pos[0], self.lines[name])


class Steps(Control):
    """A loop over anything but a range: ordinary Python, unrolled."""

    def __init__(self, items):
        self.items = iter(items)
        self.bound, self.rebinds = {}, False

    def again(self):
        try:
            self.next = next(self.items)
        except StopIteration:
            return False
        return True

    def item(self):
        return self.next

    def done(self, _scope):
        pass


class Leaf:
    """One array or number of a carried name: as it was before the loop, the box that stands for it in the body, its element type."""

    def __init__(self, before):
        self.before = before
        self.fixed = False
        self.never_fixed = False
        self.dtype, self.weak = dtype_of(before), is_weak(before)
        self.start = (self.dtype, self.weak, self.is_array())
        self.box = None
        self.after = None

    def is_array(self):
        return isinstance(self.before, Array) and not self.before._scalar


class Loop(Control):
    """A loop of the Program."""

    def __init__(self, steps, names, exposed, live, scope, pos):
        super().__init__(names, exposed, live, scope)
        self.steps, self.pos = steps, pos
        self.memory, self.guessed, self.logged = current().frame.recall(pos), {}, {}
        self.count, self.known = count_of(steps)
        self.roots = {}  # by identity: `==` of arrays is traced
        self.poisoned = {}
        self.last = {}
        self.attempts = 0
        self.finished = self.known == 0
        self.rebinds = not self.finished
        self.carried, self.kept = {}, {}
        for name in exposed:
            if name in scope:
                self._candidate(name, scope[name])
        if self.known is None:
            for name in live:
                if name in scope and name not in exposed:
                    self._candidate(name, scope[name])
        self._guess()

    def _guess(self):
        """Begins with what was found when the body around was traced before."""
        if self.memory.found is None:
            return
        carried, last, places = self.memory.found
        for name, (_, leaves) in self.carried.items():
            known = carried.get(name, [])
            for leaf, (start, *found) in zip(leaves, known if len(known) == len(leaves) else []):
                if start == (leaf.dtype, leaf.weak, leaf.is_array()):
                    leaf.fixed, leaf.never_fixed, leaf.dtype, leaf.weak = found
        self.last = {name: (*known, None) for name, known in last.items() if name not in self.carried and name not in self.kept}
        for root in map(current().at, places):
            if root is not None and root._parent is None and root._poison is None:
                self.roots.setdefault(root)
                self.guessed[root] = None

    def _remember(self):
        carried = {
            name: [(leaf.start, leaf.fixed, leaf.never_fixed, leaf.dtype, leaf.weak) for leaf in leaves] for name, (_, leaves) in self.carried.items()
        }
        self.memory.found = carried, {name: known[:2] for name, known in self.last.items()}, [current().place(root) for root in self.roots]

    def _candidate(self, name, value):
        leaves, structure = tree.flatten(value)
        if all(is_data(leaf) for leaf in leaves):
            self.carried[name] = (structure, [Leaf(leaf) for leaf in leaves])
        else:
            self.kept[name] = value

    def _leaves(self):
        return [leaf for _, leaves in self.carried.values() for leaf in leaves if not leaf.fixed]

    def again(self):
        if self.finished:
            return False
        self.attempts += 1
        if self.attempts > _RETRACES:
            raise errors.InternalError("the carries of this loop do not settle; please report it", self.pos)
        index, params, _ = current().tracer.begin_for(self.count, self._starts(), self.pos)
        self._enter("for", params)
        self.index = traced(index, weak=True)
        return True

    def _starts(self):
        """Handles of all that is carried, as it is before the loop."""
        trace = current()
        starts = [views.convert(trace, lift(leaf.before), leaf.dtype) for leaf in self._leaves()]
        starts += [trace.constant(np.zeros(shape, NUMPY[dtype])) for dtype, shape, _ in self._last_types()]
        return starts + [root.handle() for root in self.roots]

    def _enter(self, kind, params, part="body"):
        """Opens a body in which all that is carried is a parameter."""
        for root in self.guessed:
            if root not in self.logged:
                self.logged[root] = root.log()
        self.frame = Frame(kind, self.pos, self.scope.items(), self.memory.inside.setdefault(part, Memory(self.pos)))
        current().push(self.frame)
        for root, param in zip(self.roots, params[len(params) - len(self.roots) :]):
            self.frame.mutated[root] = root.state()
            if root in self.guessed:
                self.guessed[root] = param
            root._value, root._const = param, None
            root._version += 1
        for root, message in self.poisoned.items():
            root.poison(message)
        for leaf, param in zip(self._leaves(), params):
            leaf.box = traced(param, scalar=not leaf.is_array(), weak=leaf.weak)
        self.bound = dict(self.kept)
        for name, (structure, leaves) in self.carried.items():
            self.bound[name] = tree.unflatten(structure, [leaf.before if leaf.fixed else leaf.box for leaf in leaves])

    def _last_types(self):
        return [kind for _, kinds, _ in self.last.values() for kind in kinds if kind is not None]

    def item(self):
        return item_of(self.steps, self.index)

    def done(self, scope):
        trace = current()
        settled = self._find_roots()
        for name in list(self.carried):
            settled &= self._settle(name, scope)
        for name in list(self.kept):
            settled &= self._settle_kept(name, scope)
        for name in self.live:
            if name not in self.carried and name not in self.kept:
                settled &= self._settle_last(name, scope)
        self._remember()
        if settled:
            self._check_aliases()
            self._finish(trace, scope)
        else:
            for root, state in self.frame.mutated.items():
                root.restore(state)
            trace.pop(self.frame)
            trace.tracer.abandon()

    def _find_roots(self):
        """Arrays from outside that the body changes are carried; those that it makes unknown are unknown from its start."""
        unchanged = [root for root, param in self.guessed.items() if root._poison is None and root._value is param]
        for root in unchanged:
            self.roots.pop(root, None)
            for frame in self.logged[root]:
                frame.mutated.pop(root)
        self.guessed = {}
        before = (len(self.roots) + len(unchanged), len(self.poisoned))
        for root in self.frame.mutated:
            if any(root is other for other in unchanged):
                continue
            if root._poison is None:
                self.roots.setdefault(root)
            else:
                self.poisoned.setdefault(root, root._poison)
                self.roots.pop(root, None)
        return (len(self.roots), len(self.poisoned)) == before

    def _settle(self, name, scope):
        """Compares a carried name at the end of the body with its start; False where the body must be traced again."""
        structure, leaves = self.carried[name]
        if name not in scope:
            raise errors.Unsupported(f"`{name}` is deleted in a loop", self.at(name))
        ends, found = tree.flatten(scope[name])
        if found != structure or not all(is_data(end) for end in ends):
            raise errors.ShapeError(f"`{name}` changes its kind in the loop: from {kind_of(self.bound[name])} to {kind_of(scope[name])}", self.at(name))
        settled = True
        for path, leaf, end in zip(tree.paths(scope[name], name), leaves, ends):
            settled &= self._settle_leaf(path, name, leaf, end)
        return settled

    def _settle_leaf(self, path, name, leaf, end):
        leaf.after = end
        if leaf.fixed:
            if end is leaf.before:
                return True
            leaf.fixed, leaf.never_fixed = False, True
            return False
        if end is leaf.box and not leaf.never_fixed:
            leaf.fixed = True
            return False
        if shape_of(end) != leaf.box.shape:
            start = "a number" if not leaf.box.shape else f"shape {leaf.box.shape}"
            raise errors.ShapeError(
                f"`{path}` changes its shape in the loop: expected {start}, found shape {shape_of(end)}; start it as an array of its final shape",
                self.at(name),
            )
        common, weak = result_dtype(leaf.box, end), leaf.weak and is_weak(end)
        if (common, weak) != (leaf.dtype, leaf.weak):
            if leaf.is_array():
                raise errors.DTypeError(f"`{path}` changes its element type in the loop: expected {leaf.dtype}, found {dtype_of(end)}", self.at(name))
            leaf.dtype, leaf.weak = common, weak
            return False
        return True

    def _settle_kept(self, name, scope):
        """A name of another kind (None, a function) must not change, unless every step binds it before reading it."""
        if name in scope and scope[name] is self.kept[name]:
            return True
        kind = kind_of(self.kept.pop(name))
        current().unbound[name] = f"`{name}` is a {kind} before the loop at line {self.pos[1]} and something else after a step; only arrays and numbers may change"
        return False

    def _settle_last(self, name, scope):
        """A name that the body binds first, and that is read after the loop."""
        if self.known is None:
            current().unbound[name] = (
                f"`{name}` is first bound in a loop that may take no step (at line {self.lines[name]}); bind it before the loop"
            )
            return True
        if name not in scope:
            return self.last.pop(name, None) is None
        ends, structure = tree.flatten(scope[name])
        kinds = [(dtype_of(end), shape_of(end), end._scalar) if isinstance(end, Array) and end.payload() is None else None for end in ends]
        known = self.last.get(name)
        self.last[name] = (structure, kinds, ends)
        return known is not None and known[:2] == (structure, kinds) or not any(kinds)

    def _check_aliases(self):
        frame = self.frame
        named = [(name, leaf) for name, (_, leaves) in self.carried.items() for leaf in leaves if not leaf.fixed and leaf.is_array()]
        swapped = any(leaf.box._version > 0 for _, leaf in named)
        starts = [leaf.before.root() for _, leaf in named]
        ends = [leaf.after.root() if isinstance(leaf.after, Array) else None for _, leaf in named]
        start_ids, end_ids = [id(root) for root in starts], [id(root) for root in ends if root is not None]
        for k, (name, leaf) in enumerate(named):
            outside = ends[k] is not None and ends[k]._frame is not frame
            shared = starts[k] in frame.mutated or (outside and ends[k] in frame.mutated)
            if swapped:
                view = leaf.before._parent is not None or (ends[k] is not None and leaf.after._parent is not None)
                shared |= view or outside or start_ids.count(id(starts[k])) > 1 or end_ids.count(id(ends[k])) > 1
            if shared:
                raise errors.Unsupported(
                    f"`{name}` is rebound in the loop while its array is changed in place, also under another name; copy it with .copy()",
                    self.at(name),
                )
        self.swapped = [(name, leaf.before.root()) for name, leaf in named] if swapped else []

    def _finish(self, trace, scope):
        leaves = self._leaves()
        nexts = [views.convert(trace, lift(leaf.after), leaf.dtype) for leaf in leaves]
        lasts = [end for _, kinds, ends in self.last.values() for kind, end in zip(kinds, ends) if kind is not None]
        nexts += [end.handle() for end in lasts]
        nexts += [root.handle() for root in self.roots]
        results = self._end(trace, nexts)
        trace.pop(self.frame)
        for root, result in zip(self.roots, results[len(results) - len(self.roots) :]):
            root.restore(self.frame.mutated[root])
            root.set(result)
        for root, message in self.poisoned.items():
            root.restore(self.frame.mutated[root])
            root.poison(message)
        for name, root in self.swapped:
            root.poison(f"the array that `{name}` was before the loop at line {self.pos[1]} is exchanged and changed in it; copy it before the loop")
        # A loop that may take no step leaves the arrays that were there before.
        sources = [[leaf.after] if self.known else [leaf.after, leaf.before] for leaf in leaves] + [[end] for end in lasts]
        made = iter(result_boxes(results, sources))
        self.bound = dict(self.kept)
        for name, (structure, leaves) in self.carried.items():
            self.bound[name] = tree.unflatten(structure, [leaf.before if leaf.fixed else next(made) for leaf in leaves])
        for name, (structure, kinds, ends) in self.last.items():
            self.bound[name] = tree.unflatten(structure, [end if kind is None else next(made) for kind, end in zip(kinds, ends)])
        self.finished = True


    def _end(self, trace, nexts):
        return trace.tracer.end_for(nexts)


class While(Loop):
    """A `while`: ordinary Python as long as its condition is known, from then on a loop of the Program."""

    def __init__(self, names, exposed, live, pos):
        Control.__init__(self, names, exposed, live, {})
        self.pos, self.known = pos, None
        self.memory, self.guessed, self.logged = current().frame.recall(pos), {}, {}
        self.roots, self.poisoned, self.last, self.carried, self.kept = {}, {}, {}, {}, {}
        self.attempts = 0
        self.traced = self.finished = self.inside = self.rebinds = False

    def again(self):
        if self.finished or not self.traced:
            return not self.finished
        self.attempts += 1
        if self.attempts > _RETRACES:
            raise errors.InternalError("the carries of this loop do not settle; please report it", self.pos)
        self._enter("while", current().tracer.begin_while(self._starts(), self.pos), "condition")
        self.inside = False
        return True

    def test(self, condition, scope):
        """The condition, at the start of every step; the body follows where `inside` says so."""
        if not self.traced and not (isinstance(condition, Array) and condition.payload() is None):
            self.inside = bool(condition)
            self.finished = not self.inside
            return
        predicate = truth(condition, self.pos)
        if not self.traced:
            self.traced = self.rebinds = True
            self.inside = False
            self.scope = dict(scope)
            self.bound = {name: scope[name] for name in self.lines if name in scope}
            for name in dict.fromkeys([*self.exposed, *self.live]):
                if name in scope:
                    self._candidate(name, scope[name])
            self._guess()
            return
        trace, handle = current(), lift(predicate)
        changed = [root for root in self.frame.mutated if root not in self.roots and root not in self.poisoned]
        if changed:
            raise errors.Unsupported("the condition of a `while` changes an array in place", self.pos)
        for root, state in self.frame.mutated.items():
            root.restore(state)
        params = trace.tracer.begin_while_body(handle)
        trace.pop(self.frame)
        self._enter("while", params)
        self.inside = True

    def done(self, scope):
        if self.traced:
            super().done(scope)

    def _end(self, trace, nexts):
        return trace.tracer.end_while(nexts)[:-1]


def truth(condition, pos):
    """A condition as one bool; of an array it is ambiguous."""
    if not isinstance(condition, Array):
        return bool(condition)
    if condition.shape:
        raise errors.ShapeError(f"the truth of an array with more than one element is ambiguous: {describe(condition)}", pos)
    return condition if condition.dtype.kind == "b" else condition != 0


class Branch(Control):
    """An `if`. A known condition takes its side; a traced one traces both and joins what they bind and change."""

    def __init__(self, condition, names, exposed, live, scope, pos):
        super().__init__(names, exposed, live, scope)
        self.pos = pos
        self.traced = isinstance(condition, Array) and condition.payload() is None
        self.rebinds = self.traced
        self.finished = False
        self.joined = None
        self.ends = {}
        self.memory, self.guesses = current().frame.recall(pos), False
        if self.traced:
            self.condition = truth(condition, pos)
            self.side = None
            self._guess()
        else:
            self.side = bool(condition)

    def _guess(self):
        """Begins with what the `if` resulted in when the body around was traced before."""
        if self.memory.found is not None:
            names, places = self.memory.found
            roots = [current().at(place) for place in places]
            if all(root is not None and root._parent is None and root._poison is None for root in roots):
                self.joined, self.guesses = (names, roots, {}), True

    def _is_possible(self, ends):
        """Whether a side can have the results that are guessed."""
        wanted = [(name, types) for name, types in self.joined[0].items() if types is not None]
        leaves = [(tree.flatten(ends[name])[0], types) for name, types in wanted if name in ends]
        return len(leaves) == len(wanted) and all(len(found) == len(types) and all(map(is_data, found)) for found, types in leaves)

    def _is_confirmed(self):
        """Whether what was guessed is what the two sides result in."""
        found, self.guesses = self._join(), False
        (names, roots, _), (known_names, known_roots, _) = found, self.joined
        same = names == known_names and len(roots) == len(known_roots) and all(a is b for a, b in zip(roots, known_roots)) and not found[2]
        self.joined = found
        return same

    def again(self):
        if self.finished:
            return False
        if not self.traced:
            self.finished = True
            return True
        trace = current()
        if self.side is None:
            self.attempt = {}
            trace.tracer.begin_if(self.condition.handle(), self.pos)
            self.side = True
        side = self.memory.inside.setdefault(self.side, Memory(self.pos))
        self.frame = Frame("if", self.pos, self.scope.items(), side)
        trace.push(self.frame)
        self.bound = {name: self.scope[name] for name in self.lines if name in self.scope}
        return True

    def done(self, scope):
        if not self.traced:
            return
        trace, frame = current(), self.frame
        ends = {name: scope[name] for name in self.live if name in scope}
        if self.guesses and not self._is_possible(ends):
            self.joined, self.guesses = None, False
        results = self._results(ends, frame) if self.joined else []
        changed = {root: root._poison for root in frame.mutated}
        self.attempt[self.side] = (ends, self._kinds(ends), changed, self._sources(ends))
        for root, state in frame.mutated.items():
            root.restore(state)
        if self.side:
            trace.tracer.begin_else(results)
            trace.pop(frame)
            self.side = False
        elif self.joined and (not self.guesses or self._is_confirmed()):
            results = trace.tracer.end_if(results)
            trace.pop(frame)
            self._finish(results)
        else:
            trace.tracer.abandon()
            trace.pop(frame)
            self.joined = self.joined or self._join()
            self.side = None

    def _kinds(self, ends):
        return {name: tree.flatten(value)[1] for name, value in ends.items()}

    def _sources(self, ends):
        return {name: tree.flatten(value)[0] for name, value in ends.items()}

    def _join(self):
        """(names with their structure and types, roots): what the `if` results in."""
        (then, kinds, changed, leaves), (other, other_kinds, also, other_leaves) = self.attempt[True], self.attempt[False]
        names = {}
        for name in self.live:
            if name not in then or name not in other:
                if name in then or name in other:
                    current().unbound[name] = f"`{name}` is bound in one branch of the `if` at line {self.pos[1]} only; bind it before the `if`"
                continue
            if then[name] is other[name]:
                names[name] = None
                continue
            if kinds[name] != other_kinds[name] or not all(map(is_data, leaves[name] + other_leaves[name])):
                raise errors.ShapeError(f"`{name}` differs in kind between the branches: {kind_of(then[name])} and {kind_of(other[name])}", self.at(name))
            types = []
            for path, a, b in zip(tree.paths(then[name], name), leaves[name], other_leaves[name]):
                if shape_of(a) != shape_of(b):
                    raise errors.ShapeError(f"`{path}` differs in shape between the branches: {shape_of(a)} and {shape_of(b)}", self.at(name))
                types.append(result_dtype(a, b))
            names[name] = types
        poisoned = {root: message for root, message in [*changed.items(), *also.items()] if message is not None}
        return names, [root for root in {**changed, **also} if root not in poisoned], poisoned

    def _results(self, ends, frame):
        trace = current()
        names, roots, _ = self.joined
        handles = []
        for name, types in names.items():
            if types is not None:
                handles += [views.convert(trace, lift(leaf), dtype) for leaf, dtype in zip(tree.flatten(ends[name])[0], types)]
        return handles + [root.handle() for root in roots]

    def _finish(self, results):
        names, roots, poisoned = self.joined
        self.memory.found = None if poisoned else (names, [current().place(root) for root in roots])
        (then, structures, _, leaves), (_, _, _, others) = self.attempt[True], self.attempt[False]
        sources = [[a, b] for name, types in names.items() if types is not None for a, b in zip(leaves[name], others[name])]
        for root, result in zip(roots, results[len(sources) :]):
            root.set(result)
        for root, message in poisoned.items():
            root.poison(message)
        made = iter(result_boxes(results, sources))
        self.bound = {
            name: then[name] if types is None else tree.unflatten(structures[name], [next(made) for _ in types]) for name, types in names.items()
        }
        self.finished = True


def result_boxes(results, sources):
    """Boxes for results of control flow. Each may be one of its sources, at the end of a body: what two sources share, their boxes
    may share too, and with what lives on outside."""
    boxes, known = [], {}
    for result, source in zip(results, sources):
        alone = len(source) == 1 and isinstance(source[0], Array)
        box = known.get(id(source[0])) if alone else None
        if box is None:
            scalar = not any(isinstance(item, Array) and not item._scalar for item in source)
            ordered = all(not isinstance(item, Array) or item._shadow is not None for item in source)
            box = traced(result, scalar=scalar, ordered=ordered, weak=all(map(is_weak, source)))
            if alone:
                known[id(source[0])] = box
        boxes.append(box)
    reached = [_reached(source) for source in sources]
    for k, box in enumerate(boxes):
        for root in reached[k]:
            if root._frame.open and root._poison is None and not box._scalar:
                entangle(box, root)
        for j in range(k):
            if boxes[j] is not box and any(root in reached[j] for root in reached[k]):
                entangle(boxes[j], box)
    return boxes


def _reached(sources):
    """The roots that arrays are, view, or may share memory with; by identity."""
    roots = [item.root() for item in sources if isinstance(item, Array) and not item._scalar]
    return dict.fromkeys([*roots, *(other for root in roots for other in root._entangled or ())])


def is_data(value):
    """Arrays and numbers."""
    if isinstance(value, Array):
        return True
    return isinstance(value, (bool, int, float, np.generic)) and np.asarray(value).dtype in DTYPES


def dtype_of(value):
    return DTYPES.get(value.dtype if isinstance(value, Array) else np.asarray(value).dtype, "f64")


def shape_of(value):
    return value.shape if isinstance(value, Array) else np.shape(value)


def kind_of(value):
    return describe(value) if isinstance(value, Array) else type(value).__name__
