"""Compilations kept on disk, for other processes.

A file holds what `save` writes: a Program and what was decided about it. Its name is a digest of the traced Program
with the lines that it comes from, the options, the version and the machine. It is written under another name and then
renamed, so that whoever reads it finds all of it or nothing; what is damaged is verified, found wrong, and made anew.
"""

import collections
import contextlib
import functools
import os
import threading

from . import _native, errors
from .options import directory as path_of

SUFFIX = ".rgx"
MOST_FILES = 4096
MOST_LOADED = 128

# Without a budget a plan is made for the memory that there is; larger ones are planned each time.
_ALWAYS_THERE = 64 << 20

_lock = threading.Lock()
_loaded = collections.OrderedDict()
_directory = os.environ.get("RETROGRAD_CACHE_DIR") or None


def cache_dir(path: str | os.PathLike[str] | None) -> str | None:
    """Keeps compilations in this directory from here on, also for other processes; None keeps none. Returns the directory before.

    The environment variable RETROGRAD_CACHE_DIR says the same. What is found there is traced, but not differentiated,
    optimised and planned again; bits and peak are the same. Any number of processes may share it. Files are verified
    when they are read, so that a damaged one is made anew; but whoever may write there decides what is computed, so
    let it be a directory of your own. Functions that call `rg.external` or that spill are not kept.

        >>> import tempfile
        >>> before = rg.cache_dir(tempfile.mkdtemp())
        >>> float(rg.grad(lambda x: x**3)(2.0))
        12.0
        >>> _ = rg.cache_dir(before)
    """
    global _directory
    before, _directory = _directory, path_of("cache_dir", path)
    return before


def compile(program, what, strategy, options, calls_host):
    """The executable, and how to have all of its plan where it was found on disk."""
    make = lambda: _native.compile(program, what, strategy.native(), options.limits(), options.machine())
    if _directory is None or options.spill is not None or calls_host:
        return make(), None
    name = _digest(program, what, strategy, options)
    path = os.path.join(_directory, name + SUFFIX)
    found = _found(path, name, options)
    if found is not None:
        return found, make
    executable = make()
    if options.budget is not None or executable.bytes_peak <= _ALWAYS_THERE:
        _keep(executable, path, name)
    return executable, None


def _found(path, name, options):
    key = path, options.machine()
    with _lock:
        if key in _loaded:
            _loaded.move_to_end(key)
            return _loaded[key]
    try:
        executable = _native.load(path, options.machine(), None)
    except errors.Error:  # not there, or damaged
        return None
    if executable.note() != name:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    with _lock:
        _loaded[key] = executable
        if len(_loaded) > MOST_LOADED:
            _loaded.popitem(last=False)
    return executable


def _keep(executable, path, name):
    """Writes a file; a directory that cannot be written is no reason to fail."""
    import tempfile

    with contextlib.suppress(OSError, errors.Error):
        os.makedirs(_directory, mode=0o700, exist_ok=True)
        handle, temporary = tempfile.mkstemp(".tmp", dir=_directory)
        os.close(handle)
        try:
            executable.save(temporary, name)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _forget_oldest()


def _forget_oldest():
    with os.scandir(_directory) as entries:
        files = [entry for entry in entries if entry.name.endswith(SUFFIX)]
    if len(files) <= MOST_FILES:
        return
    times = []
    for entry in files:
        with contextlib.suppress(OSError):
            times.append((entry.stat().st_mtime, entry.path))
    for _, path in sorted(times)[: len(files) - MOST_FILES]:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _digest(program, what, strategy, options):
    import hashlib

    asked = (what, repr(strategy), options.budget, options.machine(), _machine())
    parts = (str(program), program.places(), repr(asked))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@functools.cache
def _machine():
    """The version, and what plans depend on of the machine."""
    import platform

    from . import __version__

    try:
        from numpy._core._multiarray_umath import __cpu_features__ as features
    except ImportError:
        from numpy.core._multiarray_umath import __cpu_features__ as features
    return __version__, platform.machine(), os.cpu_count(), tuple(sorted(name for name, there in features.items() if there))
