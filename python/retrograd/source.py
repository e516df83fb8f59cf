"""The source of a function: found by its position, and held against the code that runs. Where they differ, there is none."""

import __future__

import ast
import collections
import functools
import inspect
import linecache
import sys

from . import flow

Definition = collections.namedtuple("Definition", "node owner")
Definition.__doc__ = """The parsed definition of a function, with the lines of its file, and the name of the class around it or None."""

_FUTURE = functools.reduce(lambda flags, name: flags | getattr(__future__, name).compiler_flag, __future__.all_feature_names, 0)
_NOT_READ = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_files = {}


def definition(code, scope):
    """The definition of a code object, or None; `scope` are the globals of its function."""
    if code.co_flags & _NOT_READ:
        return None
    text = _text(code.co_filename, scope)
    if text is None:
        return None
    file = _files.get((code.co_filename, text))
    if file is None:
        file = _files[code.co_filename, text] = _File(text)
    return file.find(code, _is_in_memory(code.co_filename))


def _is_in_memory(name):
    """Whether the source is a cell of a notebook or a line of the interpreter: nobody edits it after it ran, and a notebook compiles it in a way of its own."""
    entry = linecache.cache.get(name)
    return entry is not None and len(entry) == 4 and entry[1] is None


def _text(name, scope):
    """The text of a file, of a cell of a notebook, of a line of the interpreter or of `python -c`."""
    lines = linecache.getlines(name, scope)
    if lines:
        return "".join(lines)
    words = list(getattr(sys, "orig_argv", ()))
    if name == "<string>" and "-c" in words and words[-1] != "-c":
        return words[words.index("-c") + 1]
    return None


class _File:
    """A text that was read once: its functions by their first line and name."""

    def __init__(self, text):
        self.text, self.nodes, self.codes = text, None, {}

    def find(self, code, in_memory):
        if self.nodes is None:
            self.nodes = _functions(self.text)
        candidates = self.nodes.get((code.co_firstlineno, code.co_name), ())
        if not candidates or not in_memory and not _is_asserting(code) and code not in self._compiled(code.co_flags & _FUTURE):
            return None
        return candidates[0] if len(candidates) == 1 else _around(code, candidates)

    def _compiled(self, flags):
        """All code objects that the text compiles to."""
        if flags not in self.codes:
            found = self.codes[flags] = set()
            try:
                todo = [compile(self.text, "<retrograd>", "exec", flags=flags, dont_inherit=True)]
            except (SyntaxError, ValueError):
                return found
            while todo:
                code = todo.pop()
                found.add(code)
                todo += [item for item in code.co_consts if isinstance(item, type(code))]
        return self.codes[flags]


def _is_asserting(code):
    """Whether pytest has rewritten the assertions of a function, which is then another code; it reads the same source."""
    return "@pytest_ar" in code.co_names


def _functions(text):
    """Definitions and lambdas of a text, by (first line, name)."""
    found = {}
    try:
        todo = [(ast.parse(text), None)]
    except (SyntaxError, ValueError):
        return found
    while todo:
        node, owner = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            decorators = getattr(node, "decorator_list", ())
            first = min([node.lineno, *(item.lineno for item in decorators)])
            found.setdefault((first, getattr(node, "name", "<lambda>")), []).append(Definition(node, owner))
        owner = node.name if isinstance(node, ast.ClassDef) else owner
        todo += [(child, owner) for child in flow.children(node)]
    return found


def _around(code, candidates):
    """Which of several functions that begin on one line a code object is: the innermost one around all of its positions."""
    if not hasattr(code, "co_positions"):
        return None
    places = [(line, column) for line, _, column, _ in code.co_positions() if line is not None and column is not None]
    places = [place for place in places if place != (code.co_firstlineno, 0)]
    around = []
    for candidate in candidates:
        node = candidate.node
        body = node.body if isinstance(node.body, list) else [node.body]
        begin, end = (body[0].lineno, body[0].col_offset), (body[-1].end_lineno, body[-1].end_col_offset)
        if places and all(begin <= place <= end for place in places):
            around.append((begin, candidate))
    return max(around, key=lambda item: item[0])[1] if around else None
