"""Loops while they are traced.

What a body carries is found while it is traced: names that it rebinds, arrays from outside that it reads or changes in place under
whatever name, and contents of lists, dicts and objects that it changes. What has to be known from the start of the body (a wider element
type, other contents) is noted by its line, and the body is traced again. A loop that cannot be a loop of the Program, because a step needs
its index as a Python value or changes the kind of something, is unrolled.

A rebound name is carried *by value*. That is right as long as nobody can tell the difference, so aliases are checked: an array that
two names share and one of them changes is either carried as one object, or refused; it is never silently two.
"""

import sys

import numpy as np

from . import bounds, draws, effects, errors, lists, tree, views
from .array import Array, demand_all, kind_of_all, lift, local, traced
from .chosen import may_overlap
from .control import UNSET, Control, dtype_of, is_data, is_traced, joined_dtype, kind_of, lies_in_order, reached, result_boxes, rounds, shape_of, zeros_like
from .iterators import Walk
from .maybe import Maybe, like
from .loose import Loose, kind_of_items
from .oneof import OneOf, is_object, is_option, is_there, number_of, outlives, union
from .ranges import UNKNOWN
from .slots import Kept, Leaf, LooseList, Slot, is_carried
from .trace import COPIES, EXCHANGES, Frame, Retry, current

RETRACES = 30


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

    def is_beside(self):
        return True


class Guess(Index):
    """The same for what a loop carries from a known start: it follows from the index where a step makes it of known numbers, which is not known yet."""


class Steps(Control):
    """A loop over anything whose steps are not those of a loop of the Program: ordinary Python, unrolled."""

    def __init__(self, items, stops):
        self.items, self.stops = Walk(items), stops
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
        if any(is_traced(scope.get(name)) for name in self.stops):
            self.items.may_end()


class Loop(Control):
    """A loop of the Program, over steps that are counted."""

    kind = "for"
    decides = ()  # names of Python numbers that say how often it runs: known in every step, where it is unrolled

    def __init__(self, steps, facts, stops, where, scope):
        super().__init__(facts, stops, where, scope)
        self.steps = steps
        self.known = steps.known()
        self.next_step = 0
        self._starts_anew()
        self.plain = False
        self.finished = self.known == 0
        self.rebinds = False
        self.mode = "plain" if self.known == 1 or self.note().unrolled and self.known is not None else "rolled"

    def _starts_anew(self):
        """Nothing is known of the body yet: arrays that it changes or makes unknown, contents and lists that it carries."""
        self.changed, self.poisoned, self.contents, self.varying = {}, {}, {}, {}
        self.grown, self.growth, self.lists = {}, {}, []  # by identity: what is known of a list that grows, by how much per step; those in the body
        self.draws, self.drawn, self.generators = [], {}, []  # what a step draws of random numbers, those of all steps, and what draws them
        self.loose = {}  # by identity: a list whose length is traced, its items before the loop, and what is known of them
        self.attempts = 0
        # Whether the body is traced again in any case, and whether what is known of names at its end may be wrong.
        self.restarts = self.stale = self.misled = False

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
        # Names are what the step made of them, also where it was traced again.
        self.rebinds, self.bound = False, {}

    def taken(self):
        """After the loop: how many steps it took, None where those are all that there are; UNKNOWN where a traced condition may have ended it."""
        unsure = self.stops and self.known != 0 and (not self.plain or any(is_traced(self.scope.get(name)) for name in self.stops))
        return UNKNOWN if not self.finished or unsure else self.next_step if self.plain else None

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
        if self.stale and not isinstance(error, Retry):
            return True
        if isinstance(error, NameError):
            if not rolled or self.known is None or self.note().peeled:
                raise error
            self.note().peeled = 1
            return True
        if error.loop is not self:
            raise error
        return True

    @property
    def caught(self):
        """What may end a step; where it is traced again, also what it raises, as what it knew may have been wrong."""
        return (Retry, Exception) if self.stale else Control.caught

    def _restart(self):
        """The names are again as before the step."""
        self.stale = self.misled = False
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
        if self.attempts > RETRACES:
            raise errors.InternalError("the carries of this loop do not settle; please report it", self.pos)
        self._find_slots()
        self._find_lists()
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
        self.index._bounds = (0, self._most())
        return True

    def _find_slots(self):
        """What is carried: names by what they are before the loop."""
        note = self.note()
        self.slots, self.kept = [], {}
        names = dict.fromkeys([*self.exposed, *(self.live if self.known is None else ())])
        for name in names:
            if name in self.scope and self.scope[name] is not UNSET:
                self._candidate(name, self._optional(name, self.scope[name]), note)
        for effect in self.contents.values():
            values, structure = effect.shallow()
            paths = [f"{effect.name}{key}" for key in effect.keys()]
            values = [self._optional(path, value) for path, value in zip(paths, values)]
            leaves = [Leaf(value, path, note, note.by_value.get(path, True)) if is_carried(value) else Kept(value) for path, value in zip(paths, values)]
            self.slots.append(Slot(None, None, structure, leaves, effect))

    def _optional(self, path, value):
        """What is one of several objects after a step is so from the start."""
        options = self._options(path)
        return value if not options or not (type(value) is OneOf or is_option(value)) else OneOf(union(value, *options), number_of(value))

    def _becomes(self, path, before, end):
        """Notes that something that is carried is one of several objects; whether it may be."""
        if not all((type(item) is OneOf or is_option(item)) and outlives(item) for item in (before, end)):
            return False
        self._note_options(path, before, end, *self._options(path))
        return True

    def _options(self, path):
        """The objects of which something that is carried is known to be one; those that another trace made, or a body that has ended, are others now."""
        mark, options = self.note().options.get(path, (None, ()))
        return tuple(option for option in options if not is_object(option) or mark is current().mark and is_there(option))

    def _note_options(self, path, *values):
        self.note().options[path] = (current().mark, union(*values))

    def _find_lists(self):
        """Lists that grow in the body, as far as that is known: by their names, or from the attempt before."""
        self._find_loose()
        if self.known is None:
            return
        for name, (step, kind, margin) in self.note().lists.items():
            owner = self.scope.get(name)
            if type(owner) is list and id(owner) not in self.growth and lists.growing(owner) is None and all(map(kind.takes, owner)):
                self.grown[id(owner)], self.growth[id(owner)] = lists.Grown(owner, name, kind, margin), step
        for name, step in self.note().growth.items():
            if lists.growing(self.scope.get(name)) is not None:
                self.growth.setdefault(id(self.scope[name]), step)
        for name, step in self.appended:
            if id(self.scope.get(name)) not in self.loose:
                self._guess(name, self.scope.get(name), step)
        count = self.known - self.next_step
        if self.draws and not self.drawn:
            self.drawn, self.generators = draws.ahead(self.draws, count)
        self.lists = [grown.start(self.growth[key], count) for key, grown in self.grown.items()]

    def _find_loose(self):
        """Lists whose length is traced, which hold their items in arrays from before the loop on."""
        for item in self.loose.values():
            effects.change(item.owner, item.name)
            item.owner[:] = item.before
            count = None if self.known is None else len(item.before) + item.margin * (self.known - self.next_step)
            item.made = Loose(item.owner, item.name, item.before, item.kind, count, self)

    def loosen(self, owner, name, item=None, kind=None):
        """A list that the body appends to under a traced condition, or of whose items one is of another kind: the loop is traced again."""
        known = self.loose.get(id(owner))
        if kind is None:
            try:
                kind = known.kind.with_item(item)
            except lists.Mixed:
                raise errors.Unsupported("a list that grows under a traced condition holds items of different kinds", errors.here()) from None
        if known is None:
            current().unwind(self.frame)
            known = self.loose[id(owner)] = LooseList(owner, name, list(owner), kind)
        elif known.kind.parts == kind.parts:
            raise errors.Unsupported(f"a change of the list `{name}` under a traced condition that is not supported; append to it", errors.here())
        known.kind = kind
        for names in (self.grown, self.growth):
            names.pop(id(owner), None)
        self.note().still.update(key for key, value in self.scope.items() if value is owner)
        for key in [key for key, value in self.scope.items() if value is owner]:
            self.note().lists.pop(key, None)
            self.note().growth.pop(key, None)
        raise Retry(self)

    def _settle_loose(self):
        """A step may append more items than there is memory for."""
        settled = True
        for item in self.loose.values():
            if item.made.used > item.margin and self.known is not None:
                item.margin, settled = item.made.used, False
        return settled

    def _guess(self, name, owner, step):
        """A list that the source appends to: it is taken to grow, so that its items can be read by traced indices from the start."""
        if type(owner) is not list or id(owner) in self.growth or name in self.note().still:
            return
        if lists.growing(owner) is not None:
            self.growth[id(owner)] = step
        elif owner and effects.owner(owner) is not None and not self._stays_known(owner):
            try:
                self.grown[id(owner)], self.growth[id(owner)] = lists.Grown(owner, name, lists.Kind(owner), step), step
            except lists.Mixed:
                pass

    def _stays_known(self, items):
        """Whether a list holds no traced number, so that it is better known in Python, step by step, as long as there are not too many."""
        return not any(isinstance(leaf, Array) for leaf in tree.flatten(items)[0]) and self.known - self.next_step <= COPIES

    def grow(self, owner):
        """A list is read by a traced index: where the source appends to it, the loop is traced again with a list that grows."""
        for name, step in self.appended:
            if self.scope.get(name) is owner and owner and id(owner) not in self.growth and self.known and name not in self.note().still and not self._stays_known(owner):
                try:
                    self.grown[id(owner)], self.growth[id(owner)] = lists.Grown(owner, name, lists.Kind(owner), step), step
                except lists.Mixed:
                    return
                self._note_list(owner)
                raise Retry(self)

    def _candidate(self, name, value, note):
        if type(value) is list and name not in self.rebound:
            # By `+=` alone: the list is what it is, and its contents change.
            self.kept[name] = value
            return
        leaves, structure = tree.flatten(value)
        if leaves and all(is_carried(leaf) for leaf in leaves):
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

    def _enter(self, params, source=None, roots=()):
        """Opens a body in which all that is carried is a parameter; `roots` are outer arrays that are already."""
        trace = current()
        self.frame = Frame(self.kind, self.pos, self)
        self.overflows = trace.overflows
        trace.push(self.frame)
        for root in roots:
            self.frame.mutated.setdefault(root, root.state())
            root._value, root._const = roots[root], None
            root._version += 1
            self.frame.roots[root] = roots[root]
        for leaf, param in zip(self._leaves(), params):
            counts = leaf.dtype == "i64" or leaf.path in self.decides
            guessed = leaf.weak is True and leaf.dtype == "f64"
            start = trace.derived.get(lift(leaf.before)) if (counts or guessed) and not isinstance(leaf.before, np.ndarray) else None
            if source is not None and start is not None:
                trace.derived[param] = start | {source if counts else Guess(self)}
            leaf.box = traced(param, scalar=not leaf.is_array(), ordered=leaf.ordered, weak=leaf.weak)
            trace.boxes[id(leaf.box)] = (leaf.box, self, leaf)
            if leaf.is_integer():
                leaf.limits = bounds.assumed(leaf.before, self.note().bounds.get(leaf.key), self._most())
                leaf.box._bounds, leaf.box._growth = leaf.limits, bounds.Growth(leaf)
        for root in self._changing():
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
        for known in self.lists:
            self.frame.effects[id(known.owner)] = effects.Effect(known.owner, known.name, self.pos)
            known.begin(self)
        self.rebinds = True

    def _changing(self):
        """Outer arrays that are carried from the start of the body."""
        return {**self.changed, **dict.fromkeys(root for item in self.loose.values() for root in item.made.roots())}

    def change(self, root):
        """An array whose known elements were read in the body, and that it changes after: it is carried from the start,
        when the body is traced again. First it is traced to its end, for all arrays of which that is so."""
        self.changed[root] = None
        self.stale = self.misled = True

    def vary(self, root):
        """An array that something in the body took to be the same in every step changes: the same."""
        self.varying[root] = None
        self.stale = self.misled = True

    def _close(self, scope):
        if self.misled or not self._settle(scope) or self.stale:
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
        settled &= self._settle_lists() and self._settle_draws() and self._settle_loose()
        carried = {slot.effect.key() for slot in self.slots if slot.effect is not None} | {id(known.owner) for known in self.lists}
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
            ends, found = tree.flatten(like(slot.value, scope[slot.name]))
        name = slot.name if slot.effect is None else slot.effect.name
        if found != slot.structure or slot.effect is None and not all(is_data(end) or outlives(end) and (is_carried(end) or leaf.options and is_option(end)) for leaf, end in zip(slot.leaves, ends)):
            return self._cannot(errors.ShapeError(f"`{name}` changes its kind in the loop: from {kind_of(slot.boxed())} to {kind_of(scope.get(name))}", self.at(name)))
        settled = True
        for leaf, end in zip(slot.leaves, ends):
            settled &= self._settle_leaf(slot, leaf, end)
        return settled

    def _settle_leaf(self, slot, leaf, end):
        if leaf.options is not None and (type(end) is OneOf or is_option(end)) and outlives(end):
            if len(union(end, *leaf.options)) > len(leaf.options):
                self._note_options(leaf.path, end, *leaf.options)
                return False
            end = number_of(end)
        elif leaf.fixed and end is not leaf.before and slot.effect is not None and self._becomes(self._path_in(slot, leaf), leaf.before, end):
            return False
        leaf.after = end
        if leaf.fixed:
            if end is leaf.before:
                return True
            if not isinstance(leaf, Leaf) or not is_data(end):
                return self._cannot(errors.Unsupported(f"`{slot.effect.name if slot.effect else slot.name}` holds another object after a step", self.pos))
            self.note().by_value[slot.name or leaf.path] = True
            return False
        if end is leaf.box and leaf.is_array() and leaf.box._changes > 0 and self.note().by_value.get(slot.name or leaf.path) is None:
            self.note().by_value[slot.name or leaf.path] = False
            return False
        if not is_data(end):
            return self._cannot(errors.ShapeError(f"`{leaf.path}` changes its kind in the loop", self.at(slot.name)))
        if shape_of(end) != leaf.box.shape:
            start = "a number" if not leaf.box.shape else f"shape {leaf.box.shape}"
            message = f"`{leaf.path}` changes its shape in the loop: expected {start}, found shape {shape_of(end)}; start it as an array of its final shape"
            return self._cannot(errors.ShapeError(message, self.at(slot.name)))
        common, weak = joined_dtype(leaf.box, end), not leaf.is_array() and kind_of_all([leaf.box, end], self)
        if not leaf.is_array() and rounds(leaf.before, common):
            message = f"`{leaf.path}` is a Python float before the loop and float32 after a step, so that its digits depend on the steps; convert it"
            return self._cannot(errors.DTypeError(message, self.at(slot.name)))
        if (common, weak) != (leaf.dtype, leaf.weak):
            if leaf.is_array():
                message = f"`{leaf.path}` changes its element type in the loop: expected {leaf.dtype}, found {dtype_of(end)}"
                return self._cannot(errors.DTypeError(message, self.at(slot.name)))
            return self._widen(leaf, common, weak)
        if leaf.ordered and not lies_in_order(end):
            self.note().unordered.add(leaf.key)
            return False
        return self._settle_bounds(leaf, end) if leaf.is_integer() else True

    def _path_in(self, slot, leaf):
        return f"{slot.effect.name}{slot.effect.keys()[next(k for k, other in enumerate(slot.leaves) if other is leaf)]}"

    def _settle_bounds(self, leaf, end):
        """Holds what an integer was taken to be against what a step makes of it. Where checks may go away with what is known now, the body is traced again."""
        limits, found = bounds.found(leaf, end, self._most())
        noted = self.note().bounds
        if noted.get(leaf.key) == "any":
            return True
        if limits[0] < leaf.limits[0] or limits[1] > leaf.limits[1]:
            noted[leaf.key] = "any"
            return False
        noted[leaf.key] = found
        return not (current().overflows > self.overflows and bounds.is_tight(limits) and not bounds.is_tight(leaf.limits))

    def _most(self):
        """The steps that there can be."""
        return bounds.STEPS if self.known is None else min(self.known, bounds.STEPS)

    def _widen(self, leaf, dtype, weak):
        """Notes a wider element type of what is carried, also by the loops around that carry the same: one of them is
        traced again, once. Deep inside, the second loop from outside is traced again instead of this, so that no body
        is traced once more for each loop that it is in. Whether the rest of the body can go on."""
        boxes, loop = current().boxes, self
        self.note().types[leaf.key] = leaf.wider = (dtype, weak)
        while (known := boxes.get(id(leaf.before))) is not None and known[0] is leaf.before:
            _, loop, leaf = known
            loop.note().types[leaf.key] = (dtype, weak)
        if loop is not self:
            raise Retry(loop)
        around = [frame.loop for frame in current().frames if frame.loop is not None]
        if self in around[:2]:
            return False
        around[1].stale = True
        return True

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
        if self.kept[name] is None and type(scope.get(name)) is Maybe:
            leaves, structure = tree.flatten(scope[name])
            self.scope[name] = tree.unflatten(structure, [self._zeros_like(leaf) for leaf in leaves])
            return False
        if name in scope and self._becomes(name, self.kept[name], scope[name]):
            if type(self.scope[name]) is OneOf:
                self.scope[name] = OneOf(self._options(name), self.scope[name].number)
            return False
        if name not in self.exposed and self.known is None:
            self.kept.pop(name)
            current().unbound[name] = f"`{name}` is first bound in a loop that may take no step (at line {self.lines[name]}); bind it before the loop"
            return True
        kind = kind_of(self.kept[name])
        message = f"`{name}` is a {kind} before the loop at line {self.pos[1]} and something else after a step; only arrays and numbers may change"
        return self._cannot(errors.Unsupported(message, self.at(name)))

    def _settle_effect(self, key, effect):
        """What the body changes of Python besides names is carried from its start, if it stays of one form."""
        known = lists.growing(effect.owner)
        if type(known) is Loose:
            raise errors.Unsupported(f"{effect.what()}, whose length is traced, in a loop around the one that appends to it", effect.pos)
        if known is not None:
            return self._settle_growth(key, known.added() - effect.before[0].added, effect)
        if not effect.carries():
            if self._grows(key, effect):
                return False
            self._loosens(effect)
            self.unroll(errors.Unsupported(f"{effect.what()} in a loop whose count is not known while tracing, or in a `while`", effect.pos))
        self.contents[key] = effect
        return False

    def _loosens(self, effect):
        """A list that a `while` of traced length appends to: its length is traced, too."""
        self._demand_count()
        kind = kind_of_items([effect.before, effect.owner]) if self.known is None and type(effect.owner) is list and len(effect.owner) > len(effect.before) else None
        made = effects.owner(effect.owner)
        if kind is not None and made is not None and made in current().frames:
            outermost = next(frame.loop for frame in current().frames[made.depth + 1 :] if frame.loop is not None)
            outermost.loosen(effect.owner, effect.name, kind=kind)

    def _grows(self, key, effect):
        """Notes a list of which every step leaves more items than it found, or fewer, if they are of one kind."""
        owner, before = effect.owner, effect.before
        self._demand_count()
        if type(owner) is not list:
            return False
        step = len(owner) - len(before)
        if self.known is None or len(before) + step * (self.known - self.next_step) < 0 or self._stays_known([*before, *owner]):
            return False
        try:
            kind = lists.Kind([*before, *owner])
        except lists.Mixed:
            return False
        self.grown[key], self.growth[key] = lists.Grown(owner, effect.name, kind, max(step, 1)), step
        self._note_list(owner)
        return True

    def _note_list(self, owner):
        grown = self.grown[id(owner)]
        for name, value in self.scope.items():
            if value is owner:
                self.note().lists[name] = (self.growth[id(owner)], grown.kind, grown.margin)
                self.note().growth[name] = self.growth[id(owner)]

    def _settle_growth(self, key, step, effect):
        """A list that a loop around has growing: as many more items in every step of this one."""
        if self.growth.get(key, 0) == step:
            return True
        if self.known is None:
            self.unroll(errors.Unsupported(f"{effect.what()} in a loop whose count is not known while tracing, or in a `while`", effect.pos))
        self.growth[key] = step
        for name, value in self.scope.items():
            if value is effect.owner:
                self.note().growth[name] = step
        return False

    def _settle_lists(self):
        settled = True
        for known in self.lists:
            if not known.is_safe():
                self.unroll(None)
            if known.added() == 0 != self.growth[id(known.owner)]:
                del self.grown[id(known.owner)], self.growth[id(known.owner)]
                # It was found to grow before a condition was known that says that it does not.
                names = [name for name, value in self.scope.items() if value is known.owner]
                self.note().still.update(names)
                for name in names:
                    self.note().lists.pop(name, None)
                    self.note().growth.pop(name, None)
                settled = False
            elif known.added() != self.growth[id(known.owner)]:
                self.growth[id(known.owner)] = known.added()
                self._note_list(known.owner)
                settled = False
        return settled

    def _settle_draws(self):
        """Random numbers are drawn by the outermost loop inside of the body that made the generator."""
        outside = [site for site in self.frame.draws if self._is_outermost(site)]
        if outside and len(outside) < len(self.frame.draws):
            self.unroll(None)
        if draws.same(self.draws, outside):
            return True
        self.draws, self.drawn = outside, {}
        return False

    def _is_outermost(self, site):
        while isinstance(site, draws.Nest):
            site = site.sites[0]
        made = effects.owner(site.generator)
        return (made.depth if made.open else 0) == self.frame.depth - 1

    def regrow(self, known, item):
        """A list that grows takes more items in a step than there is memory for, or items of another kind."""
        grown = self.grown[id(known.owner)]
        try:
            kind = grown.kind.with_item(item)
        except lists.Mixed:
            self.unroll(None)
        self.grown[id(known.owner)] = lists.Grown(known.owner, grown.name, kind, max(grown.margin, known.added() + 1))
        self._note_list(known.owner)
        raise Retry(self)

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
        self.scope[name] = tree.unflatten(structure, [self._zeros_like(leaf) for leaf in leaves])
        self.exposed = tuple(dict.fromkeys([*self.exposed, name]))
        return False

    def _zeros_like(self, leaf):
        """Zeros that are known before the loop."""
        zeros = zeros_like(leaf)
        if isinstance(zeros, Array):
            zeros._frame = current().frames[self.frame.depth - 1]
        return zeros

    def _check_aliases(self):
        frame = self.frame
        mutated = {root: None for root, param in frame.roots.items() if root._value != param}
        named = [(slot, leaf) for slot in self.slots for leaf in slot.leaves if not leaf.fixed and leaf.is_array()]
        swapped = any(leaf.box._changes > 0 for _, leaf in named)
        starts = [leaf.before.root() for _, leaf in named]
        ends = [leaf.after.root() if isinstance(leaf.after, Array) else None for _, leaf in named]
        start_ids, end_ids = [id(root) for root in starts], [id(root) for root in ends if root is not None]
        for k, (slot, leaf) in enumerate(named):
            # What a loop or a branch inside resulted in may be any of the arrays that it was made of.
            foreign = [root for root in reached([leaf.after]) if root._frame is not frame]
            outside = len(foreign) > 0
            shared = starts[k] in mutated or any(root in mutated for root in foreign)
            if swapped:
                view = leaf.before._parent is not None or len(reached([leaf.before])) > 1 or (ends[k] is not None and leaf.after._parent is not None)
                shared |= any(may_overlap(leaf.after, other.after) for _, other in named if other is not leaf and isinstance(other.after, Array))
                shared |= view or outside or start_ids.count(id(starts[k])) > 1 or end_ids.count(id(ends[k])) > 1
            if shared:
                message = f"`{leaf.path}` is rebound in the loop while its array is changed in place, also under another name; copy it with .copy()"
                error = errors.Unsupported(message, self.at(slot.name))
                if self.known is not None and self.known > EXCHANGES:
                    raise error
                self.unroll(error)
        self.swapped = [(leaf.path, leaf.before.root()) for _, leaf in named] if swapped else []

    def _finish(self, scope):
        trace, frame = current(), self.frame
        leaves = self._leaves()
        nexts = [views.convert(trace, lift(leaf.after), leaf.dtype) for leaf in leaves]
        lasts = [end for _, ends in self.last.values() for end in ends if isinstance(end, Array) and end.payload() is None]
        last_handles = [end.handle() for end in lasts]
        known = [end for _, ends in self.last.values() for end in ends if isinstance(end, Array) and end.payload() is not None and end.root()._frame is frame]
        elements = {id(end): end.payload().copy() for end in known}
        # Handles are read before, since to read an outer array is to carry it.
        roots = list(frame.roots.items())
        nexts += [param if root._poison is not None else root._value for root, param in roots]
        changed = [root._value != param and root._poison is None for root, param in roots]
        for end, handle in zip(lasts, last_handles):
            trace.tracer.carry(frame.depth, trace.constant_at(frame.depth - 1, np.zeros(end.shape, end.dtype)))
            nexts.append(handle)
        moved = [(lists.growing(effect.owner), self.growth[key]) for key, effect in frame.effects.items() if self.growth.get(key) and key not in self.grown]
        results = self._end(trace, nexts)
        trace.pop(frame)
        for k, leaf in enumerate(leaves):
            if leaf.wider:
                results[k] = views.convert(trace, results[k], leaf.wider[0])
        self._restore(roots, changed, results[len(leaves) :])
        for leaf in leaves:
            leaf.passed = leaf.is_array() and leaf.after is leaf.box and leaf.box._changes == 0
        # A loop that may take no step leaves the arrays that were there before.
        sources = [[leaf.after] if self.known else [leaf.after, leaf.before] for leaf in leaves]
        # One that is exchanged with others, or perhaps stays what it is, may be any of those that were there before.
        arrays = [leaf for leaf in leaves if leaf.is_array()]
        boxes = {id(leaf.box) for leaf in arrays}
        from_before = lambda end: any(id(root) in boxes for root in reached([end]))
        for leaf, source in zip(leaves, sources):
            if leaf.after is not leaf.box and from_before(leaf.after):
                source += [other.before for other in arrays]
        sources += [[end, *(other.before for other in arrays)] if from_before(end) else [end] for end in lasts]
        first = len(leaves) + len(roots)
        boxes = dict(zip([*map(id, leaves), *map(id, lasts)], result_boxes(results[: len(leaves)] + results[first:], sources, self)))
        for leaf in leaves:
            if leaf.is_integer() and leaf.wider is None:
                boxes[id(leaf)]._bounds, boxes[id(leaf)]._growth = bounds.carried(leaf, self._most(), bool(self.known))
        self.bound = dict(self.kept)
        for slot in self.slots:
            values = [leaf.value(leaf.before if leaf.fixed or getattr(leaf, "passed", False) else boxes[id(leaf)]) for leaf in slot.leaves]
            if slot.effect is None:
                self.bound[slot.name] = effects.joined(tree.unflatten(slot.structure, values))
            else:
                effects.change(slot.effect.owner, slot.effect.name, slot.effect.pos)
                slot.effect.write(tree.unflatten(slot.structure, values))
        steps = 0 if self.known is None else self.known - self.next_step
        for known in self.lists:
            known.finish(self.growth[id(known.owner)], steps, lambda root: self._outside(root, leaves, boxes))
        for known, step in moved:
            known.move(step * steps)
        if self.draws:
            draws.settle(self.generators)
        elif frame.draws:
            trace.frame.draws.append(draws.Nest(steps, frame.draws))
        for name, (structure, ends) in self.last.items():
            made = {key: local(value) for key, value in elements.items()}
            self.bound[name] = effects.joined(tree.unflatten(structure, [boxes.get(id(end), made.get(id(end), end)) for end in ends]))
        self.finished = self.rebinds = True

    def _outside(self, root, leaves, boxes):
        """The arrays after the loop that an array of the body may be."""
        found = [root] if root._frame is not self.frame else []
        for leaf in leaves:
            if leaf.is_array() and leaf.box is root:
                found += [leaf.before.root(), boxes[id(leaf)]]
            elif isinstance(leaf.after, Array) and leaf.after.root() is root and not boxes[id(leaf)]._scalar:
                found.append(boxes[id(leaf)])
        return found

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
                root.become(result)
        for root, message in unknown.items():
            root.poison(message)
        for name, root in self.swapped:
            root.changes()  # for arrays that may share its memory
            current().exchanged[id(root)] = (root, self.note(), self.known)
            root.poison(f"the array that `{name}` was before the loop at line {self.pos[1]} is exchanged and changed in it; copy it before the loop")

    def _end(self, trace, nexts):
        return trace.tracer.end_for(nexts)
