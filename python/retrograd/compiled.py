"""Machine code for arguments of fixed types: runs, what they take, and files of it."""

import collections
import contextlib
import copy
import json
import os
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _native, errors, statics, store
from .arguments import Fixed, Signature, Spec, row_major
from .external import answering
from .options import Options, directory
from .outcome import Outcome, unboxed
from .plan import Plan

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_native.forked)

_NOTHING = contextlib.nullcontext()

CacheInfo = collections.namedtuple("CacheInfo", "hits misses kept capacity")
CacheInfo.__doc__ = """Compilations of this process that were found, that were not, that are kept, and that can be."""


class Progress(collections.namedtuple("Progress", "fraction part parts step steps")):
    """How far a run is: `fraction` from 0 to 1; the step of the outermost loop that runs, which is number `part` (from 0) of `parts`; the way
    back of a loop counts as one of its own. `steps` is None where only the end of the loop will tell."""

    __slots__ = ()

    def __str__(self):
        return f"{self.fraction:.0%}, loop {self.part + 1} of {self.parts}, step {self.step}" + ("" if self.steps is None else f" of {self.steps}")


class Stats:
    """What a run took: `bytes_peak`, `bytes_spilled` on disk, `seconds` in machine code, and, from `count`, loop `nests`, `calls` of routines, `bytes_read` and
    `bytes_written` (else None)."""

    __slots__ = ("bytes_peak", "seconds", "bytes_spilled", "nests", "calls", "bytes_read", "bytes_written")

    def __init__(self, bytes_peak, seconds, bytes_spilled, counts=(None, None, None, None)):
        self.bytes_peak, self.seconds, self.bytes_spilled = bytes_peak, seconds, bytes_spilled
        self.nests, self.calls, self.bytes_read, self.bytes_written = counts

    def __repr__(self):
        known = ((name, getattr(self, name)) for name in self.__slots__)
        return f"Stats({', '.join(f'{name}={value}' for name, value in known if value is not None)})"


class Times:
    """What a compilation took: `stages`, a dict from `trace`, `opt`, `diff`, `freeze`, `plan`, `lower`, `jit` to seconds, and `seconds` of all of
    them. `cached` says that all but the trace was found in the cache."""

    def __init__(self, trace_seconds, executable):
        stages, self.cached = executable.times()
        self.stages = {"trace": trace_seconds, **dict(stages)}

    @property
    def seconds(self):
        return sum(self.stages.values())

    def __repr__(self):
        stages = ", ".join(f"{name} {1e3 * seconds:.2f} ms" for name, seconds in self.stages.items())
        return f"Times({stages}{', the rest found in the cache' if self.cached else ''}; together {1e3 * self.seconds:.2f} ms)"


class Compiled:
    """Machine code for arguments of fixed types.

    `plan` and `times` say what it will do and what the compilation took, `stats` what the last run took.
    """

    _types = None  # of what it read from outside, where it was loaded

    def __init__(self, signature, key, outcome, executable, single, progress, look=None, aux=None, whole=None):
        self._signature, self._key, self.outcome, self._executable = signature, key, outcome, executable
        self._single, self._progress, self._look, self._aux = single, _reporter(progress), look, aux
        self._prints = outcome.prints
        self._outside = getattr(outcome, "outside", None)
        self._static = tuple(getattr(outcome, "static", {}).items())
        self.hidden, self._frozen = tuple(self._outside.names()) if self._outside is not None else (), None
        self._taken, self.times, self.plan = None, None, Plan(executable, getattr(outcome, "unrolled", {}), self.hidden, whole)
        self._is_current = self._outside.fast_guard() if self._outside is not None else None
        self._direct = self._native_call()

    @staticmethod
    def of(transformed, arguments, varying=()):
        """The function compiled for arguments of these types; `varying` are places of numbers outside of it that change."""
        begin = time.perf_counter()
        outcome, options = transformed._outcome(arguments, varying), transformed.options
        traced = time.perf_counter() - begin
        what = transformed.wanted, outcome.leaves, options.exact
        make = lambda strategy: store.compile(outcome.program, what, strategy, options, outcome.externals)
        executable, whole = make(options.strategy)
        if outcome.fates and options.strategy.name in ("auto", "user"):
            executable, whole = make(options.strategy.with_values(Plan(executable, whole=whole).named_fates(outcome.fates)))
        aux = transformed._aux if transformed.wants_aux() else None
        shown = options.progress, transformed.look
        compiled = Compiled(transformed.signature(), arguments.key, outcome, executable, transformed.single(), *shown, aux, whole)
        compiled.program, compiled.times, compiled.names = outcome.program, Times(traced, executable), arguments.names()
        return compiled

    @property
    def name(self):
        return self._signature.name

    @property
    def threads(self):
        """How many threads a run has: as many as were asked for, or one where its arrays are too small to share."""
        return self._executable.threads

    @property
    def backend(self):
        """Who made the machine code: a name, a version and, of a library, its path."""
        return self._executable.backend

    @property
    def stats(self):
        """What the last run took; None before the first."""
        return None if self._taken is None else Stats(*self._taken)

    def __call__(self, *args, **kwargs):
        if not kwargs and (ran := self.run_directly(args)) is not None:
            return ran[0]
        given = {name: kwargs.pop(name) for name in self.hidden if name in kwargs and name not in self._signature.names}
        arguments = self._bind(args, kwargs)
        for k, value in self._static:
            leaf = arguments.leaves[k][0]
            if not statics.same(leaf, value):
                found = "another" if np.ndim(value) else statics.shown(leaf.item())
                raise errors.ArgumentError(f"{self.name}() was compiled for {statics.shown(value)} as an argument that decides about its Program, found {found}")
        if self._outside is not None and (place := self._outside.changed()) is not None:
            raise errors.ArgumentError(f"{self.name}() was compiled for another value of `{place.name}`, which it reads from outside; compile it again")
        result = self._run(arguments, [], writes=True, given=given)
        return result if self._aux is None else (result, self._aux(args, kwargs))

    def count(self, *args, **kwargs):
        """Runs once, in a form of the code that counts, and returns what that took: a `Stats` with loop nests, calls and bytes moved.

        Bytes are those of loads, stores and copies as the compiler wrote them; some of them stay in registers and caches.
        """
        inputs = self._bind(args, kwargs).arrays() + self._hidden_values()
        with answering():
            return Stats(*self._executable.counting().count(inputs))

    def __reduce__(self):
        """By the file that `save` writes."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "compiled.rgx")
            self.save(path)
            with open(path, "rb") as file:
                return _loaded, (file.read(), self.backend.split()[0], self.threads)

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"<{self.name}() compiled by {self.backend}, peak {self.plan.bytes_peak} bytes>"

    def save(self, path, freeze=False):
        """Writes it to a file, which `rg.load` reads without tracing, differentiating or planning again.

        The file holds no machine code: that is made on loading, so that the file serves on any machine with the same version of Retrograd.
        Arrays that the function reads from outside (`hidden` names them) are part of it with `freeze=True`, as they are now; else they are further arguments of what is
        loaded, by their names: `rg.load(path)(x, W=W)`, or `(x, **{"model.W": W})`.
        """
        if self.outcome.externals:
            called = ", ".join(dict.fromkeys(f"{site.external.name}()" for site in self.outcome.externals))
            raise errors.Unsupported(f"{self.name}() calls {called} when it runs, which is part of this process; what calls an external function cannot be saved")
        if self.outcome.writes:
            raise errors.Unsupported(f"{self.name}() changes its arguments, which a file cannot say; return what it changes")
        if self._prints.sites:
            raise errors.Unsupported(f"{self.name}() prints, which a file cannot hold; take `print` out of it, or use rg.probe")
        if self._aux is not None:
            raise errors.Unsupported(f"{self.name}() returns something besides its Jacobian by running Python again; it cannot be saved with has_aux=True")
        note = {"signature": self._signature.to_json(), "key": _key_to_json(self._key), "outcome": self.outcome.to_json(), "single": self._single}
        freeze = freeze or self._frozen is not None
        values = self._hidden_values() if freeze or self._outside is not None else self._types
        note["hidden"] = [[name, str(value.dtype), list(value.shape), value.tobytes().hex() if freeze else None] for name, value in zip(self.hidden, values)]
        note["static"] = [[k, statics.to_json(value)] for k, value in self._static]
        self._executable.save(os.fspath(path), json.dumps(note))

    def is_current(self):
        """Whether all that it read from outside is as it was."""
        return self._is_current is None or self._is_current() and (not self.hidden or self._outside.values() is not None)

    def frozen(self):
        """The same with what it reads from outside as that is now."""
        values = [np.array(value) for value in self._hidden_values()]
        other = copy.copy(self)
        other._frozen, other._outside, other._is_current, other._direct = values, None, None, None
        return other

    def _hidden_values(self, given=None):
        """What it reads from outside as inputs: as frozen, or as it is now, but for those that are given by name."""
        if not self.hidden:
            return []
        given = given or {}
        values = self._frozen if self._frozen is not None else self._outside.values() if self._outside is not None else [given.get(name) for name in self.hidden]
        if values is None:
            raise errors.ArgumentError(f"{self.name}() was compiled for other types of {', '.join(self.hidden)}, which it reads from outside; compile it again")
        if self._frozen is None and self._outside is None:
            missing = [name for name in self.hidden if name not in given]
            if missing:
                raise errors.ArgumentError(f"{self.name}() was saved with {', '.join(missing)} as further arguments, which it read from outside: give them by name")
        return [row_major(self._given(name, given[name], value)) if name in given else row_major(value) for name, value in zip(self.hidden, values)]

    def _given(self, name, value, like):
        """An array that is given for one from outside, held against its type."""
        array, like = np.asarray(value), self._types[self.hidden.index(name)] if self._types is not None else like
        if array.shape != tuple(like.shape) or array.dtype != like.dtype:
            raise errors.ArgumentError(f"`{name}`, which {self.name}() reads from outside, is {like.dtype} of shape {tuple(like.shape)}; found {array.dtype} of shape {array.shape}")
        return array

    def _bind(self, args, kwargs):
        arguments = self._signature.bind(args, kwargs)
        if arguments.key != self._key:
            found = ", ".join(f"{name}[{','.join(map(str, shape))}]" if shape else name for name, shape, _ in arguments.types)
            raise errors.ArgumentError(f"{self.name}() was compiled for arguments of other types, found {found}")
        return arguments

    def _native_call(self):
        """The call without Python in between, where arguments are arrays and floats, and nobody looks on."""
        types, structures, _, keywords = self._key
        number = lambda dtype, shape, scalar: dtype == "f64" and scalar == "python"
        plain = lambda dtype, shape, scalar: dtype != "bool" and scalar == ""
        nested = keywords or any(structure is not None for structure in structures)
        nested = nested or self._static or self._prints.sites or self.outcome.writes or self.outcome.externals
        if nested or self._look is not None or self._aux is not None or not all(plain(*ty) or number(*ty) for ty in types):
            return None
        hidden = [False] * len(self.hidden)
        return _native.Direct(self._executable, [number(*ty) for ty in types] + hidden)

    def run_directly(self, args):
        """The result in a list, where these are arguments of the very types that this was compiled for; else None, and `_run` says what is wrong."""
        if self._direct is None or self._is_current is not None and not self._is_current():
            return None
        if self.hidden:
            values = self._outside.values()
            if values is None:
                return None
            args = (*args, *values)
        if (ran := self._direct(args, self._progress)) is None:
            return None
        self._taken = ran[1:]
        return [self.outcome.assemble(ran[0], self._single, unboxed)]

    def _run(self, arguments, seeds, writes=False, given=None):
        """`writes` where the caller sees what the function changes of its arguments."""
        if writes and self.outcome.writes:
            self.outcome.writes.check(arguments)
        inputs = arguments.arrays() + self._hidden_values(given)
        if seeds:
            inputs += seeds
        with answering() if self.outcome.externals else _NOTHING:
            if self._look is not None or self._prints.sites:
                results = self._executable.run_observed(inputs, self._prints.look(self._look))
            else:
                results, *self._taken = self._executable.run(inputs, self._progress)
        if self.outcome.writes:
            results, more = results[: len(self.outcome.types)], results[len(self.outcome.types) :]
            if writes:
                self.outcome.writes.apply(arguments, more)
                for number, k in self.outcome.writes.returned.items():
                    results[number] = arguments.leaves[k][0]
        return self.outcome.assemble(results, self._single, unboxed)


class Variants:
    """What a function was compiled to for arguments of the same types: for values of integers that decide about it, and for what it read from
    outside. The least recently used is forgotten."""

    capacity = 64

    def __init__(self, name):
        self.name, self.made, self.changes, self.varying, self.warned = name, [], collections.Counter(), set(), False
        self.lock = threading.Lock()  # of the order of those made; nothing is compiled while it is held

    def find(self, arguments):
        """The one for these arguments, as all is outside now; None where there is none."""
        with self.lock:
            return self._find(arguments)

    def _find(self, arguments):
        for k, compiled in enumerate(self.made):
            if all(statics.same(arguments.leaves[number][0], value) for number, value in compiled._static if isinstance(arguments.leaves[number][0], (np.ndarray, np.generic))):
                if compiled.is_current():
                    if k:
                        self.made.insert(0, self.made.pop(k))
                    return compiled
                self._note(compiled)
        return None

    def _note(self, compiled):
        """Counts that a number outside has changed: one that does so again is an input from then on."""
        place = compiled._outside.changed()
        if place is not None:
            self.changes[place.identity()] += 1
            if self.changes[place.identity()] > 1:
                self.varying.add(place.identity())

    def add(self, compiled):
        with self.lock:
            self.made.insert(0, compiled)
            forgotten = len(self.made) > self.capacity and self.made.pop()
        if forgotten:
            if not self.warned:
                self.warned = True
                found = ", ".join(f"`{compiled.names[number]}`" for number, _ in compiled._static) or "what it reads from outside"
                _warn(f"{self.name}() was compiled for more than {self.capacity} values of {found}, each by itself: a shape, an index or a branch depends on it")
        return compiled

    def __getattr__(self, name):
        if name.startswith("__") or not self.__dict__.get("made"):
            raise AttributeError(name)
        return getattr(self.made[0], name)


_warned = set()


def _warn(message):
    """A warning at the line that called."""
    file, line = errors.here() or ("<unknown>", 1)
    warnings.warn_explicit(message, UserWarning, file, line)


KINDS = 256  # of arguments, by types and what is static, that a function is compiled for at a time


def forget(cache, arguments):
    """Of compilations for values of static arguments no more are kept than for those of integers, and of all kinds of arguments not too many."""
    if len(cache) > KINDS:
        del cache[next(iter(cache))]
        if arguments.name not in _warned:
            _warned.add(arguments.name)
            _warn(f"{arguments.name}() was compiled for more than {KINDS} kinds of arguments; objects that it is given are compared by identity")
    static = [path for structure, _, _, path in arguments.parts if isinstance(structure and structure[0], Fixed)]
    if not static:
        return
    alike = [key for key in cache if key[0] == arguments.key[0] and key[2:] == arguments.key[2:]]
    if len(alike) > Variants.capacity:
        del cache[alike[0]]
        if arguments.name not in _warned:
            _warned.add(arguments.name)
            names = ", ".join(f"`{path}`" for path in static)
            _warn(f"{arguments.name}() was compiled for more than {Variants.capacity} values of {names}, static by static_argnums or static_argnames")


def load(
    path: str | os.PathLike[str], backend: str = "cranelift", threads: int | None = None, spill: str | os.PathLike[str] | None = None,
    progress: Callable[["Progress"], Any] | None = None,
) -> "Compiled":
    """What `save` wrote, as machine code by this back end: called as the function that was saved, with the same bits and the same peak.

        rg.value_and_grad(loss).compile(x).save("loss.rgx")
        value, gradient = rg.load("loss.rgx")(x)

    A file that is damaged, cut off, or of another version of Retrograd is an error, and so is one that holds no valid program: it is verified
    when it is loaded. Memory was planned before it was saved; what was planned to spill goes to the directory `spill`.
    """
    options = Options({"backend": backend, "threads": threads, "progress": progress})
    executable = _native.load(os.fspath(path), options.machine(), directory("spill", spill))
    text = executable.note()
    if text is None:
        raise errors.ArgumentError(f"{path} was not saved from Python; `retrograd run` runs it, and `Saved::load` in Rust")
    try:
        note = json.loads(text)
        signature, outcome = Signature.from_json(note["signature"]), Outcome.from_json(note["outcome"])
        compiled = Compiled(signature, _key_from_json(note["key"]), outcome, executable, note["single"], progress)
        hidden = note.get("hidden", [])
        compiled._types = [Spec(tuple(shape), dtype) for _, dtype, shape, _ in hidden]
        if all(data is not None for *_, data in hidden):
            compiled._frozen = [np.frombuffer(bytes.fromhex(data), dtype).reshape(shape) for _, dtype, shape, data in hidden]
        compiled._static, compiled.hidden = tuple((k, statics.from_json(value)) for k, value in note.get("static", [])), tuple(name for name, *_ in hidden)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise errors.ArgumentError(f"{path} does not say what its function takes and returns; save it anew") from error
    if hidden or compiled._static:
        compiled._direct = None
    return compiled


def _loaded(content, backend, threads):
    """What was pickled."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "compiled.rgx")
        with open(path, "wb") as file:
            file.write(content)
        return load(path, backend.lower(), threads)


def cache_info() -> CacheInfo:
    """What the cache of compilations did: a function that is traced again, from the same lines to the same Program, is not compiled again."""
    return CacheInfo(*_native.cache_info())


def cache_clear() -> None:
    """Forgets all compilations, and counts from 0; functions that were compiled keep theirs."""
    _native.cache_clear()


def _reporter(progress):
    return None if progress is None else lambda *fields: progress(Progress(*fields))


def _key_to_json(key):
    types, structures, positional, keywords = key
    return [types, [Outcome.structure_to_json(structure) for structure in structures], positional, keywords]


def _key_from_json(saved):
    types, structures, positional, keywords = saved
    types = tuple((dtype, tuple(shape), scalar) for dtype, shape, scalar in types)
    return types, tuple(Outcome.structure_from_json(structure) for structure in structures), positional, tuple(keywords)
