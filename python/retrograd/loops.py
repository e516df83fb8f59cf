"""Loops and branches while they are traced.

What a body carries is found while it is traced: names that it rebinds, arrays from outside that it reads or changes in place under
whatever name, and contents of lists, dicts and objects that it changes. What has to be known from the start of the body (a wider element
type, other contents) is noted by its line, and the body is traced again. A loop that cannot be a loop of the Program, because a step needs
its index as a Python value or changes the kind of something, is unrolled.

A rebound name is carried *by value*. That is right as long as nobody can tell the difference, so aliases are checked: an array that
two names share and one of them changes is either carried as one object, or refused; it is never silently two.
"""

import sys

import numpy as np

from . import effects, errors, tree, views
from .array import Array, demand_all, describe, entangle, is_weak, lift, result_dtype, traced
from .layout import is_row_major
from .trace import DTYPES, NUMPY, Frame, Retry, current

_RETRACES = 30


class Unset:
    """What a function returns, before it does."""

    def __repr__(self):
        return "<no value yet>"


UNSET = Unset()


class Control:
    """What rewritten source asks of a loop or a branch."""

    def __init__(self, facts, stops, where, scope):
        names, self.exposed, self.live, self.rebound = facts
        self.lines = dict(names)
        self.stops, self.where = stops, where
        self.pos = errors.here()
        self.scope = dict(scope)  # `locals()` is one dict that changes
        self.bound = {}
        self.rebinds = True
        self.finished = False

    def has(self, name):
        return name in self.bound

    def drops(self, name):
        return self.rebinds and name not in self.bound

    def __getitem__(self, name):
        return self.bound[name]

    def at(self, name):
        """The line that binds a name last."""
        return (self.pos[0], self.lines.get(name, self.pos[1]))

    def flagged(self, name):
        """Whether a flag says if a name has a value, so that it may be anything where it has none."""
        return name.startswith("_rg_") or f"_rg_has_{name}" in self.lines

    def stopped(self, scope):
        return any(scope.get(name) is True for name in self.stops)

    def retry(self):
        """An exception that goes to a loop around ends this one."""
        raise sys.exc_info()[1]

    def note(self):
        """What was found out about this line before."""
        return current().notes.setdefault((self.pos[0], *self.where), Note())


class Note:
    """What was found out about a loop: whether it is unrolled, how many first steps are, and what it carries how."""

    def __init__(self):
        self.unrolled = False
        self.peeled = 0
        self.types = {}  # by path and start: element type, weak
        self.unordered = set()  # by path and start: what is not row-major after a step
        self.by_value = {}  # by name: whether it is another object after a step


class Index:
    """The index of a loop as the source of integers: to know it in Python, the loop is unrolled."""

    def __init__(self, loop):
        self._loop, self._depth = loop, len(current().frames)

    def depth(self):
        return self._depth

    def loop(self):
        return self._loop

    def demand(self):
        self._loop.note().unrolled = True


class Steps(Control):
    """A loop over anything whose steps are not those of a loop of the Program: ordinary Python, unrolled."""

    def __init__(self, items, stops):
        self.items, self.stops = iter(items), stops
        self.bound, self.rebinds = {}, False
        self.finished = False

    def again(self):
        if self.finished:
            return False
        try:
            self.next = next(self.items)
        except StopIteration:
            return False
        current().copied(self)
        return True

    def item(self):
        return self.next

    def done(self, scope):
        self.finished = self.stopped(scope)


class Leaf:
    """One array or number of what is carried: as it was before the loop, the box that stands for it in the body, its element type."""

    def __init__(self, before, path, note, by_value):
        self.before, self.path = before, path
        self.fixed = not by_value and isinstance(before, Array) and not before._scalar
        self.key = (path, dtype_of(before), is_weak(before), shape_of(before))
        self.dtype, self.weak = note.types.get(self.key, self.key[1:3])
        self.ordered = lies_in_order(before) and self.key not in note.unordered
        self.box = self.after = None

    def is_array(self):
        return isinstance(self.before, Array) and not self.before._scalar


class Slot:
    """A name, or the contents of a container, that a loop carries."""

    def __init__(self, name, value, structure, leaves, effect=None):
        self.name, self.value, self.structure, self.leaves, self.effect = name, value, structure, leaves, effect

    def boxed(self):
        return tree.unflatten(self.structure, [leaf.before if leaf.fixed else leaf.box for leaf in self.leaves])


class Loop(Control):
    """A loop of the Program, over steps that are counted."""

    kind = "for"

    def __init__(self, steps, facts, stops, where, scope):
        super().__init__(facts, stops, where, scope)
        self.steps = steps
        self.known = steps.known()
        self.next_step = 0
        self.changed, self.poisoned = {}, {}
        self.contents = {}
        self.attempts = 0
        self.restarts = self.plain = False
        self.finished = self.known == 0
        self.rebinds = False
        self.mode = "plain" if self.known == 1 or self.note().unrolled and self.known is not None else "rolled"

    # Steps in plain Python: those of an unrolled loop, and the first ones of others

    def again(self):
        if self.finished:
            return False
        if self.mode == "plain" or self.next_step < self.note().peeled and self.known is not None:
            self.plain = True
            self._as_it_is()
            current().copied(self)
            return True
        return self._open()

    def item(self):
        return self.steps.at(self.next_step) if self.plain else self.steps.item(self.index, self.next_step)

    def done(self, scope):
        if not self.plain:
            self._close(scope)
            return
        self.scope = dict(scope)
        self.next_step += 1
        self.finished = self.next_step == self.known or self.stopped(scope)

    def retry(self):
        if self._is_mine(sys.exc_info()[1]):
            if self.note().unrolled:
                self.mode = "plain"
            self._restart()

    def _is_mine(self, error):
        """Whether this loop is to be traced again; else the error goes on. A name that has no value yet may have one after the first step."""
        frame, rolled = getattr(self, "frame", None), not self.plain
        if frame is not None and frame in current().frames:
            current().unwind(frame)
        if isinstance(error, NameError):
            if not rolled or self.known is None or self.note().peeled:
                raise error
            self.note().peeled = 1
            return True
        if error.loop is not self:
            raise error
        return True

    def _restart(self):
        """The names are again as before the step."""
        self.rebinds, self.bound = True, {name: self.scope[name] for name in self.lines if name in self.scope}
        self.restarts = True

    def _as_it_is(self):
        """Names of a step in plain Python are what they are, unless the step starts anew."""
        if not self.restarts:
            self.rebinds, self.bound = False, {}
        self.restarts = False

    # A loop of the Program

    def _open(self):
        self.plain = False
        self.attempts += 1
        if self.attempts > _RETRACES:
            raise errors.InternalError("the carries of this loop do not settle; please report it", self.pos)
        self._find_slots()
        trace = current()
        trace.traced_body(self)
        count = trace.constant(np.int64(self.known - self.next_step)) if self.known is not None else self.steps.count.handle()
        index, params, _ = trace.tracer.begin_for(count, self._starts(), self.pos)
        source = Index(self)
        # A count that follows from indices around is known where they are.
        around = frozenset() if self.known is not None else trace.derived.get(count)
        if around is not None and (around or self.known is not None):
            trace.derived[index] = around | {source}
        self._enter(params, source if self.known is not None else None)
        self.index = traced(index, weak=True)
        return True

    def _find_slots(self):
        """What is carried: names by what they are before the loop."""
        note = self.note()
        self.slots, self.kept = [], {}
        names = dict.fromkeys([*self.exposed, *(self.live if self.known is None else ())])
        for name in names:
            if name in self.scope and self.scope[name] is not UNSET:
                self._candidate(name, self.scope[name], note)
        for effect in self.contents.values():
            values, structure = effect.shallow()
            leaves = [Leaf(value, f"{effect.name}{key}", note, True) if is_data(value) else Kept(value) for key, value in zip(effect.keys(), values)]
            self.slots.append(Slot(None, None, structure, leaves, effect))

    def _candidate(self, name, value, note):
        leaves, structure = tree.flatten(value)
        if leaves and all(is_data(leaf) for leaf in leaves):
            by_value = note.by_value.get(name, name in self.rebound)
            paths = tree.paths(value, name)
            self.slots.append(Slot(name, value, structure, [Leaf(leaf, path, note, by_value) for leaf, path in zip(leaves, paths)]))
        else:
            self.kept[name] = value

    def _leaves(self):
        return [leaf for slot in self.slots for leaf in slot.leaves if not leaf.fixed]

    def _starts(self):
        trace = current()
        return [views.convert(trace, lift(leaf.before), leaf.dtype) for leaf in self._leaves()]

    def _enter(self, params, source=None):
        """Opens a body in which all that is carried is a parameter."""
        trace = current()
        self.frame = Frame(self.kind, self.pos, self)
        trace.push(self.frame)
        for leaf, param in zip(self._leaves(), params):
            start = trace.derived.get(lift(leaf.before)) if leaf.dtype == "i64" and not isinstance(leaf.before, np.ndarray) else None
            if source is not None and start is not None:
                trace.derived[param] = start | {source}
            leaf.box = traced(param, scalar=not leaf.is_array(), ordered=leaf.ordered, weak=leaf.weak)
            trace.boxes[id(leaf.box)] = (leaf.box, self, leaf)
        for root in self.changed:
            trace.claim(root)
        for root, message in self.poisoned.items():
            root.poison(message)
        self.bound = dict(self.kept)
        for slot in self.slots:
            if slot.effect is None:
                self.bound[slot.name] = slot.boxed()
            else:
                self.frame.effects[slot.effect.key()] = slot.effect.again()
                slot.effect.write(slot.boxed())
        self.rebinds = True

    def change(self, root):
        """An array whose known elements were read in the body, and that it changes after: it is carried from the start."""
        self.changed[root] = None
        raise Retry(self)

    def _close(self, scope):
        if not self._settle(scope):
            current().unwind(self.frame)
            self._restart()
            return
        self._check_aliases()
        self._finish(scope)

    def _settle(self, scope):
        settled = self._settle_poison()
        for name in list(self.kept):
            settled &= self._settle_kept(name, scope)
        for slot in self.slots:
            settled &= self._settle_slot(slot, scope)
        carried = {slot.effect.key() for slot in self.slots if slot.effect is not None}
        for key, effect in self.frame.effects.items():
            if key not in carried:
                settled &= self._settle_effect(key, effect)
        self.last = {}
        for name in self.live:
            if name not in self.kept and not any(slot.name == name for slot in self.slots):
                settled &= self._settle_last(name, scope)
        return settled

    def _settle_poison(self):
        """Arrays that the body makes unknown are unknown from its start, if it reads them."""
        frame = self.frame
        found = {root: root._poison for root in frame.mutated if root._poison is not None}
        new = [root for root in found if root not in self.poisoned and (root in frame.roots or root in frame.read)]
        self.poisoned.update({root: found[root] for root in new})
        self.unknown = found
        return not new

    def _settle_slot(self, slot, scope):
        """Compares what is carried at the end of the body with its start; False where the body must be traced again."""
        if slot.effect is not None:
            ends, found = slot.effect.shallow()
        elif slot.name not in scope:
            raise errors.Unsupported(f"`{slot.name}` is deleted in a loop", self.at(slot.name))
        else:
            ends, found = tree.flatten(scope[slot.name])
        name = slot.name if slot.effect is None else slot.effect.name
        if found != slot.structure or slot.effect is None and not all(is_data(end) for end in ends):
            return self._cannot(errors.ShapeError(f"`{name}` changes its kind in the loop: from {kind_of(slot.boxed())} to {kind_of(scope.get(name))}", self.at(name)))
        settled = True
        for leaf, end in zip(slot.leaves, ends):
            settled &= self._settle_leaf(slot, leaf, end)
        return settled

    def _settle_leaf(self, slot, leaf, end):
        leaf.after = end
        if leaf.fixed:
            if end is leaf.before:
                return True
            if not isinstance(leaf, Leaf) or not is_data(end):
                return self._cannot(errors.Unsupported(f"`{slot.effect.name if slot.effect else slot.name}` holds another object after a step", self.pos))
            self.note().by_value[slot.name] = True
            return False
        if end is leaf.box and leaf.is_array() and leaf.box._changes > 0 and slot.effect is None and self.note().by_value.get(slot.name) is None:
            self.note().by_value[slot.name] = False
            return False
        if not is_data(end):
            return self._cannot(errors.ShapeError(f"`{leaf.path}` changes its kind in the loop", self.at(slot.name)))
        if shape_of(end) != leaf.box.shape:
            start = "a number" if not leaf.box.shape else f"shape {leaf.box.shape}"
            message = f"`{leaf.path}` changes its shape in the loop: expected {start}, found shape {shape_of(end)}; start it as an array of its final shape"
            return self._cannot(errors.ShapeError(message, self.at(slot.name)))
        common, weak = result_dtype(leaf.box, end), leaf.weak and is_weak(end)
        if (common, weak) != (leaf.dtype, leaf.weak):
            if leaf.is_array():
                message = f"`{leaf.path}` changes its element type in the loop: expected {leaf.dtype}, found {dtype_of(end)}"
                return self._cannot(errors.DTypeError(message, self.at(slot.name)))
            self._widen(leaf, common, weak)
            return False
        if leaf.ordered and not lies_in_order(end):
            self.note().unordered.add(leaf.key)
            return False
        return True

    def _widen(self, leaf, dtype, weak):
        """Notes a wider element type of what is carried, also by the loops around that carry the same: one of them is traced again, once."""
        boxes, loop = current().boxes, self
        self.note().types[leaf.key] = (dtype, weak)
        while (known := boxes.get(id(leaf.before))) is not None and known[0] is leaf.before:
            _, loop, leaf = known
            loop.note().types[leaf.key] = (dtype, weak)
        if loop is not self:
            raise Retry(loop)

    def _cannot(self, error):
        """What is not a loop of the Program is one after its first step, or is unrolled; where the count is not known, it is refused."""
        note = self.note()
        self._demand_count()
        if self.known is None or note.unrolled:
            raise error
        note.unrolled, note.peeled = note.peeled > 0 or self.known - self.next_step <= 2, 1
        raise Retry(self)

    def unroll(self, error):
        """Each step is traced by itself, where the count is known; else what needs it is refused."""
        self._demand_count()
        if self.known is None:
            raise error
        self.note().unrolled = True
        raise Retry(self)

    def _demand_count(self):
        """A count that follows from integer arguments or indices around can be had, to unroll the loop."""
        count = getattr(getattr(self, "steps", None), "count", None)
        sources = current().derived.get(count.handle()) if self.known is None and isinstance(count, Array) else None
        if sources:
            self.note().unrolled = True
            demand_all(sources)

    def _settle_kept(self, name, scope):
        """A name of another kind (None, a function) must not change."""
        if name in scope and scope[name] is self.kept[name]:
            return True
        if name not in self.exposed and self.known is None:
            self.kept.pop(name)
            current().unbound[name] = f"`{name}` is first bound in a loop that may take no step (at line {self.lines[name]}); bind it before the loop"
            return True
        kind = kind_of(self.kept[name])
        message = f"`{name}` is a {kind} before the loop at line {self.pos[1]} and something else after a step; only arrays and numbers may change"
        return self._cannot(errors.Unsupported(message, self.at(name)))

    def _settle_effect(self, key, effect):
        """What the body changes of Python besides names is carried from its start, if it stays of one form."""
        if not effect.carries():
            self.unroll(errors.Unsupported(f"{effect.what()} in a loop whose count is not known while tracing, or in a `while`", effect.pos))
        self.contents[key] = effect
        return False

    def _settle_last(self, name, scope):
        """A name that the body binds first, and that is read after the loop."""
        if name not in scope or scope[name] is UNSET:
            return True
        if name == "_rg_value" or self.known is None or self.flagged(name) and not self._surely(name, scope):
            return self._settle_first(name, scope[name])
        ends, structure = tree.flatten(scope[name])
        # Each starts as zeros that nothing reads.
        self.last[name] = (structure, ends)
        return True

    def _surely(self, name, scope):
        """Whether every step binds a name."""
        return name.startswith("_rg_") or scope.get(f"_rg_has_{name}") is True

    def _settle_first(self, name, value):
        """A name without a value before the loop, in which it may be bound in any step, or in none."""
        if not self.flagged(name):
            current().unbound[name] = f"`{name}` is first bound in a loop that may take no step (at line {self.lines[name]}); bind it before the loop"
            return True
        leaves, structure = tree.flatten(value)
        if not all(is_data(leaf) for leaf in leaves):
            return self._cannot(errors.Unsupported(f"a {kind_of(value)} is returned from inside of a loop; return arrays and numbers", self.at(name)))
        self.scope[name] = tree.unflatten(structure, [zeros_like(leaf) for leaf in leaves])
        self.exposed = tuple(dict.fromkeys([*self.exposed, name]))
        return False

    def _check_aliases(self):
        frame = self.frame
        mutated = {root: None for root, param in frame.roots.items() if root._value != param}
        named = [(slot, leaf) for slot in self.slots for leaf in slot.leaves if not leaf.fixed and leaf.is_array()]
        swapped = any(leaf.box._changes > 0 for _, leaf in named)
        starts = [leaf.before.root() for _, leaf in named]
        ends = [leaf.after.root() if isinstance(leaf.after, Array) else None for _, leaf in named]
        start_ids, end_ids = [id(root) for root in starts], [id(root) for root in ends if root is not None]
        for k, (slot, leaf) in enumerate(named):
            outside = ends[k] is not None and ends[k]._frame is not frame
            shared = starts[k] in mutated or (outside and ends[k] in mutated)
            if swapped:
                view = leaf.before._parent is not None or (ends[k] is not None and leaf.after._parent is not None)
                shared |= view or outside or start_ids.count(id(starts[k])) > 1 or end_ids.count(id(ends[k])) > 1
            if shared:
                raise errors.Unsupported(
                    f"`{leaf.path}` is rebound in the loop while its array is changed in place, also under another name; copy it with .copy()",
                    self.at(slot.name),
                )
        self.swapped = [(leaf.path, leaf.before.root()) for _, leaf in named] if swapped else []

    def _finish(self, scope):
        trace, frame = current(), self.frame
        leaves = self._leaves()
        nexts = [views.convert(trace, lift(leaf.after), leaf.dtype) for leaf in leaves]
        lasts = [end for _, ends in self.last.values() for end in ends if isinstance(end, Array) and end.payload() is None]
        last_handles = [end.handle() for end in lasts]
        # Handles are read before, since to read an outer array is to carry it.
        roots = list(frame.roots.items())
        nexts += [param if root._poison is not None else root._value for root, param in roots]
        changed = [root._value != param and root._poison is None for root, param in roots]
        for end, handle in zip(lasts, last_handles):
            trace.tracer.carry(frame.depth, trace.constant_at(frame.depth - 1, np.zeros(end.shape, end.dtype)))
            nexts.append(handle)
        results = self._end(trace, nexts)
        trace.pop(frame)
        self._restore(roots, changed, results[len(leaves) :])
        for leaf in leaves:
            leaf.passed = leaf.is_array() and leaf.after is leaf.box and leaf.box._changes == 0
        # A loop that may take no step leaves the arrays that were there before.
        sources = [[leaf.after] if self.known else [leaf.after, leaf.before] for leaf in leaves]
        # One that is exchanged with others, or perhaps stays what it is, may be any of those that were there before.
        arrays = [leaf for leaf in leaves if leaf.is_array()]
        boxes = {id(leaf.box) for leaf in arrays}
        from_before = lambda end: any(id(root) in boxes for root in _reached([end]))
        for leaf, source in zip(leaves, sources):
            if leaf.after is not leaf.box and from_before(leaf.after):
                source += [other.before for other in arrays]
        sources += [[end, *(other.before for other in arrays)] if from_before(end) else [end] for end in lasts]
        first = len(leaves) + len(roots)
        boxes = dict(zip([*map(id, leaves), *map(id, lasts)], result_boxes(results[: len(leaves)] + results[first:], sources)))
        self.bound = dict(self.kept)
        for slot in self.slots:
            values = [leaf.before if leaf.fixed or getattr(leaf, "passed", False) else boxes[id(leaf)] for leaf in slot.leaves]
            if slot.effect is None:
                self.bound[slot.name] = tree.unflatten(slot.structure, values)
            else:
                effects.change(slot.effect.owner, slot.effect.name, slot.effect.pos)
                slot.effect.write(tree.unflatten(slot.structure, values))
        for name, (structure, ends) in self.last.items():
            self.bound[name] = tree.unflatten(structure, [boxes.get(id(end), end) for end in ends])
        self.finished = self.rebinds = True

    def _restore(self, roots, changed, results):
        """Outer arrays after the loop: as they were, or as it leaves them."""
        frame = self.frame
        unknown = dict(self.unknown)
        for root, state in frame.mutated.items():
            root.restore(state)
        for effect in reversed(frame.effects.values()):
            effect.restore()
        for (root, _), change, result in zip(roots, changed, results):
            if change:
                root.set(result)
        for root, message in unknown.items():
            root.poison(message)
        for name, root in self.swapped:
            root.changes()  # for arrays that may share its memory
            root.poison(f"the array that `{name}` was before the loop at line {self.pos[1]} is exchanged and changed in it; copy it before the loop")

    def _end(self, trace, nexts):
        return trace.tracer.end_for(nexts)


class Kept:
    """A part of a container that is no array or number, and stays what it is."""

    fixed = True

    def __init__(self, before):
        self.before = before


class While(Loop):
    """A `while`: ordinary Python as long as its condition is known, from then on a loop of the Program. Where its condition follows from Python
    numbers alone, the steps are counted first."""

    kind = "while"

    def __init__(self, counted, facts, stops, where, scope):
        Control.__init__(self, facts, stops, where, scope)
        self.known, self.next_step = None, 0
        self.changed, self.poisoned, self.contents = {}, {}, {}
        self.attempts = 0
        self.restarts = False
        self.traced = self.inside = self.rebinds = False
        self.plain = True
        self.counted = None
        note = self.note()
        if counted is not None and not note.unrolled:
            count = _count(counted, self.scope)
            if count is not None and count > 1:
                self.counted = self.known = count
                self.kind, self.plain = "for", False

    def again(self):
        if self.finished:
            return False
        if self.counted is not None:
            if self.mode_plain():
                return True
            return self._open_counted()
        if not self.traced:
            self._as_it_is()
            return True
        self._find_slots()
        self.attempts += 1
        if self.attempts > _RETRACES:
            raise errors.InternalError("the carries of this loop do not settle; please report it", self.pos)
        current().traced_body(self)
        self._enter(current().tracer.begin_while(self._starts(), self.pos))
        self.inside = False
        return True

    def mode_plain(self):
        """A counted loop that is unrolled after all is ordinary Python again."""
        if self.next_step < self.note().peeled and not self.note().unrolled:
            self.plain, self.inside = True, False
            self._as_it_is()
            return True
        if not self.note().unrolled:
            return False
        self.counted = self.known = None
        self.kind, self.plain = "while", True
        self._as_it_is()
        return True

    def _open_counted(self):
        self.plain, self.attempts = False, self.attempts + 1
        if self.attempts > _RETRACES:
            raise errors.InternalError("the carries of this loop do not settle; please report it", self.pos)
        self._find_slots()
        trace = current()
        trace.traced_body(self)
        index, params, _ = trace.tracer.begin_for(trace.constant(np.int64(self.known - self.next_step)), self._starts(), self.pos)
        self._enter(params, Index(self))
        return True

    def test(self, condition, scope):
        """The condition, at the start of every step; the body follows where `inside` says so."""
        if self.counted is not None and not self.plain:
            self.inside = True
            return
        if not self.traced and not is_traced(condition):
            self.inside = bool(condition)
            self.finished = not self.inside
            if self.inside:
                current().copied(self)
            self.bound, self.rebinds = {}, False
            return
        predicate = truth(condition, self.pos)
        if not self.traced:
            self.traced, self.inside = True, False
            self.scope = dict(scope)
            self.rebinds, self.bound = True, {name: scope[name] for name in self.lines if name in scope}
            return
        trace = current()
        handle = lift(predicate)
        frame = self.frame
        if any(root._value != param for root, param in frame.roots.items()) or frame.effects.keys() - {slot.effect.key() for slot in self.slots if slot.effect}:
            raise errors.Unsupported("the condition of a `while` changes something in place", self.pos)
        roots = list(frame.roots)
        frame.undo()
        params = trace.tracer.begin_while_body(handle)
        trace.pop(frame)
        count = len(self._leaves())
        self._enter(params[:count])
        for root, param in zip(roots, params[count:]):
            self.frame.mutated.setdefault(root, root.state())
            root._value, root._const = param, None
            root._version += 1
            self.frame.roots[root] = param
        self.frame.roots = {**{root: self.frame.roots[root] for root in roots}, **self.frame.roots}
        self.inside = True

    def done(self, scope):
        if self.counted is not None and not self.plain:
            self._close(scope)
        elif self.counted is not None:
            self.scope, self.next_step = dict(scope), self.next_step + 1
        elif not self.traced:
            self.scope = dict(scope)
        elif self.inside:
            self._close(scope)

    def retry(self):
        if self._is_mine(sys.exc_info()[1]):
            self._restart()

    def _end(self, trace, nexts):
        return trace.tracer.end_for(nexts) if self.counted is not None else trace.tracer.end_while(nexts)[:-1]


def _count(counted, scope):
    """How many steps a `while` takes, by running what its condition depends on; None where that is not Python numbers alone."""
    names, function = counted
    values = [scope.get(name, UNSET) for name in names]
    if any(type(value) not in (bool, int, float) for value in values):
        return None
    try:
        return function(*values)
    except (ArithmeticError, ValueError, TypeError):
        return None


def is_traced(value):
    return isinstance(value, Array) and value.payload() is None


def truth(condition, pos):
    """A condition as one bool; of an array it is ambiguous."""
    if not isinstance(condition, Array):
        return bool(condition)
    if condition.size != 1:
        raise errors.ShapeError(f"the truth of an array with more than one element is ambiguous: {describe(condition)}", pos)
    condition = np.reshape(condition, ())[()] if condition.shape else condition
    return condition if condition.dtype.kind == "b" else condition != 0


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
        made = join.boxes(results)
        for root, result in zip(roots, results[len(join.sources) :]):
            root.set(result)
        for root, message in unknown.items():
            root.poison(message)
        self.bound = {name: build(made) for name, build in names.items()}
        for effect, build in contents:
            effects.change(effect.owner, effect.name, effect.pos)
            effect.write(build(made))
        trace.frame.raised |= all(side.raised for side in self.sides)


class Side:
    """One side of a branch at its end: what names are, arrays and contents that it changed; handles are of its own body."""

    def __init__(self, frame, ends):
        self.raised = frame.raised
        self.ends, self.values = ends, {}
        for name, value in ends.items():
            leaves, structure = tree.flatten(value)
            self.values[name] = (structure, [(leaf, lift(leaf) if is_data(leaf) else None) for leaf in leaves])
        self.roots = {root: (root._value if root._const is None else root.handle(), root._poison) if root._poison is None else (None, root._poison) for root in frame.mutated}
        self.contents = {}
        for key, effect in frame.effects.items():
            values, structure = effect.shallow()
            self.contents[key] = (effect, structure, [(value, lift(value) if is_data(value) else None) for value in values])


class Join:
    """What the two sides of a branch result in together."""

    def __init__(self, branch, then, other):
        self.branch, self.then, self.other = branch, then, other
        self.first, self.second, self.dtypes, self.sources = [], [], [], []

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
        if structure != other_structure:
            self._differ(errors.ShapeError(f"`{shown(name)}` differs in kind between the branches: {kind_of(self.then.ends[name])} and {kind_of(self.other.ends[name])}", branch.at(name)))
        names[name] = self._joined(name, structure, list(zip(leaves, others)))

    def effect(self, key):
        """Adds the contents of a container that a side changed."""
        effect = (self.then.contents.get(key) or self.other.contents.get(key))[0]
        values, structure = effect.before_values()
        before = (effect, structure, [(value, lift_outside(value) if is_data(value) else None) for value in values])
        a, b = self.then.contents.get(key, before), self.other.contents.get(key, before)
        if self.then.raised or self.other.raised:
            a, b = (b, b) if self.then.raised else (a, a)
        if a[1] != b[1]:
            self._differ(errors.Unsupported(f"{effect.what()} under a traced condition, of which one side leaves another form than the other", effect.pos))
        return effect, self._joined(effect.name, a[1], list(zip(a[2], b[2])))

    def _joined(self, name, structure, pairs):
        """Adds the leaves that differ; gives the function from boxes of results to the value."""
        places = []
        for (a, first), (b, second) in pairs:
            if a is b and (first is not None) == (second is not None) or same_constant(a, b):
                places.append(a)
                continue
            if first is None and second is None:
                self._differ(errors.ShapeError(f"`{shown(name)}` differs in kind between the branches: {kind_of(a)} and {kind_of(b)}", self.branch.at(name)))
            if not (is_data(a) and is_data(b)):
                self._differ(errors.ShapeError(f"`{shown(name)}` differs in kind between the branches: {kind_of(a)} and {kind_of(b)}", self.branch.at(name)))
            if shape_of(a) != shape_of(b):
                self._differ(errors.ShapeError(f"`{shown(name)}` differs in shape between the branches: {shape_of(a)} and {shape_of(b)}", self.branch.at(name)))
            places.append(Place(len(self.sources)))
            self.first.append(first)
            self.second.append(second)
            self.dtypes.append(result_dtype(a, b))
            self.sources.append([leaf for leaf, handle in ((a, first), (b, second)) if handle is not None])
        return lambda made: tree.unflatten(structure, [made[place.number] if isinstance(place, Place) else place for place in places])

    def _differ(self, error):
        """Sides that do not join need a condition that is known, if it can be."""
        trace = current()
        sources = trace.derived.get(self.branch.predicate)
        trace.unwind(self.branch.frame)
        if sources:
            demand_all(sources)
        raise error

    def boxes(self, results):
        return result_boxes(results, self.sources)


class Place:
    def __init__(self, number):
        self.number = number


def shown(name):
    return "the result" if name == "_rg_value" else name


def lift_outside(value):
    """The handle of a value as it is around a branch."""
    return value.handle() if isinstance(value, Array) else current().constant_at(current().frame.depth - 1, np.asarray(value))


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
    facts = ((("_rg_value", pos[1]),), (), ("_rg_value",), ())
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
        branch.side = side is first
        branch.done({"_rg_value": value})
    return branch.bound["_rg_value"]


def result_boxes(results, sources):
    """Boxes for results of control flow. Each may be one of its sources, at the end of a body: what two sources share, their boxes
    may share too, and with what lives on outside."""
    boxes, known = [], {}
    for result, source in zip(results, sources):
        alone = len(source) == 1 and isinstance(source[0], Array)
        box = known.get(id(source[0])) if alone else None
        if box is None:
            scalar = not any(isinstance(item, Array) and not item._scalar for item in source)
            ordered = all(map(lies_in_order, source))
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


def lies_in_order(value):
    """Whether a value is row-major in memory, as numbers are."""
    return not isinstance(value, Array) or value._scalar or is_row_major(value._shadow)


def zeros_like(leaf):
    """A value of the kind of another, to start with."""
    if isinstance(leaf, Array) and not leaf._scalar:
        return traced(current().constant(np.zeros(leaf.shape, leaf.dtype)), scalar=False)
    zero = NUMPY[dtype_of(leaf)].type(0)
    return zero.item() if is_weak(leaf) else zero


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


