"""`break` and `continue` as flags: what comes after them in a step runs only where neither was met."""

import ast
import copy

from . import flow


def without_breaks(loop, label):
    """A function that gives the same loop without `break` and `continue`, over the steps of that name; None where it has none, or where
    they stand inside something other than `if`."""
    found = _leaves(loop.body)
    if not found or flow.escapes(_plain(loop.body)):
        return None
    stop, skip = f"{label()}_stop", f"{label()}_skip"

    def build(steps):
        node = flow.copied(loop)
        body = _guarded(node.body, stop, skip, _flags(found, stop, skip))
        if ast.Continue in found:
            body.insert(0, _set(skip, False))
        if ast.Break not in found:
            node.body = body
            if steps is not None:
                node.iter = ast.Name(steps, ast.Load())
            return [node]
        if isinstance(node, ast.While):
            node.test = ast.BoolOp(ast.And(), [ast.UnaryOp(ast.Not(), ast.Name(stop, ast.Load())), node.test])
            node.body = body
        else:
            item = f"{stop}_item"
            body.insert(0, ast.Assign([node.target], ast.Name(item, ast.Load())))
            node.target, node.iter = ast.Name(item, ast.Store()), ast.Name(steps, ast.Load())
            node.body = [ast.If(ast.UnaryOp(ast.Not(), ast.Name(stop, ast.Load())), body, [])]
        return [_set(stop, False), node]

    return build


def _leaves(statements):
    """The kinds of statements that leave a step, through branches alone."""
    found = set()
    for statement in statements:
        if isinstance(statement, (ast.Break, ast.Continue)):
            found.add(type(statement))
        elif isinstance(statement, ast.If):
            found |= _leaves(statement.body) | _leaves(statement.orelse)
    return found


def _plain(statements):
    """The statements with those that leave a step taken out: what is still an escape cannot be composed."""
    result = []
    for statement in statements:
        if isinstance(statement, (ast.Break, ast.Continue)):
            continue
        if isinstance(statement, ast.If):
            statement = ast.copy_location(ast.If(statement.test, _plain(statement.body), _plain(statement.orelse)), statement)
        result.append(statement)
    return result


def _guarded(statements, stop, skip, flags):
    result = []
    for k, statement in enumerate(statements):
        if isinstance(statement, (ast.Break, ast.Continue)):
            return [*result, ast.copy_location(_set(stop if isinstance(statement, ast.Break) else skip, True), statement)]
        if isinstance(statement, ast.If) and _leaves([statement]):
            # The same names are bound on both sides.
            statement.body = _guarded(statement.body, stop, skip, flags)
            statement.orelse = _guarded(statement.orelse, stop, skip, flags)
            rest = _guarded(statements[k + 1 :], stop, skip, flags)
            after = [ast.copy_location(ast.If(copy.deepcopy(flags), rest, []), rest[0])] if rest else []
            return [*result, statement, *after]
        result.append(statement)
    return result


def _flags(found, stop, skip):
    """Whether neither was met in this step."""
    names = [name for name, kind in ((stop, ast.Break), (skip, ast.Continue)) if kind in found]
    tests = [ast.UnaryOp(ast.Not(), ast.Name(name, ast.Load())) for name in names]
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def _set(name, value):
    return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))
