"""Which names a piece of source reads before it writes them, writes, and surely writes."""

import ast
import functools

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


_NO_PARTS = {"ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment"}


@functools.cache
def _part_fields(kind):
    """The fields of a kind of node that may hold nodes, `ast.Load()`, `ast.Add()` and their like left out."""
    return () if kind is ast.Constant else tuple(name for name in kind._fields if name not in _NO_PARTS)


def children(node):
    """The parts of a node as by `ast.iter_child_nodes`, but for `ast.Load()`, `ast.Add()` and their like."""
    found, fields = [], node.__dict__
    for name in _part_fields(type(node)):
        value = fields.get(name)
        if type(value) is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def nodes(node):
    """A node and all parts of it."""
    todo = [node]
    for node in todo:
        todo += children(node)
    return todo


def copied(node):
    """A copy to be changed, of which nothing is noted."""
    kind = type(node)
    if kind is list:
        return [copied(item) for item in node]
    if not isinstance(node, ast.AST) or not kind._fields and not kind._attributes:
        return node  # `ast.Load()` and its like say nothing but what they are
    result = kind.__new__(kind)
    fields = result.__dict__
    fields.update(node.__dict__)
    fields.pop("_notes", None)
    for name in _part_fields(kind):
        value = fields.get(name)
        if type(value) is list or isinstance(value, ast.AST):
            fields[name] = copied(value)
    return result


def _noted(find):
    """Finds something out about a node once: all questions come before the node is rewritten."""

    def found(node):
        notes = node.__dict__.setdefault("_notes", {})
        if find.__name__ not in notes:
            notes[find.__name__] = find(node)
        return notes[find.__name__]

    return found


def stored(node):
    """Names that statements bind, with the line of the last binding; nested functions keep theirs to themselves."""
    return {name: line for item in (node if isinstance(node, list) else [node]) for name, line in _stored(item).items()}


@_noted
def _stored(node):
    return {name: getattr(item, "lineno", 0) for item in walk(node) for name in _bindings(item)}


def _bindings(node):
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return [node.id]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.alias):
        return [(node.asname or node.name).split(".")[0]]
    if isinstance(node, ast.ExceptHandler) and node.name:
        return [node.name]
    return []


def walk(node):
    """The nodes of a scope, without the insides of nested scopes and the targets of comprehensions."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, ast.comprehension):
            todo += [*reversed(node.ifs), node.iter]
        elif not isinstance(node, SCOPES):
            todo += reversed(children(node))


@_noted
def loaded(node):
    """Names that a node reads, nested functions included."""
    names = set()
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
        names.add(node.id)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        names.add(node.target.id)
    for child in children(node):
        names |= loaded(child)
    if isinstance(node, COMPREHENSIONS):
        names -= {item.id for part in node.generators for item in nodes(part.target) if isinstance(item, ast.Name)}
    return names


def captured(node):
    """Names that functions inside a function read: they may read them at any time."""
    inner = [item for item in nodes(node) if isinstance(item, SCOPES) and item is not node]
    return {name for item in inner for name in loaded(item)}


def flow(statements):
    """(uses, kills): names read before they are surely bound, and names that are surely bound at the end."""
    uses, kills = set(), set()
    for statement in statements:
        more_uses, more_kills = _statement(statement)
        uses |= more_uses - kills
        kills |= more_kills
    return uses, kills


def live_after(statements, live):
    """For each statement the names whose values matter after it, given those that matter after all."""
    result = []
    for statement in reversed(statements):
        result.append(live)
        live = live_before([statement], live)
    return result[::-1]


def live_before(statements, live):
    """Names whose values matter before the statements, given those that matter after them."""
    uses, kills = flow(statements)
    return uses | (live - kills)


@_noted
def _statement(node):
    if isinstance(node, ast.If):
        then, other = flow(node.body), flow(node.orelse)
        # A side that leaves says nothing about what is bound after.
        kills = other[1] if _leaves(node.body) else then[1] if _leaves(node.orelse) else then[1] & other[1]
        return loaded(node.test) | then[0] | other[0], kills | set(stored(node.test))
    if isinstance(node, (ast.For, ast.AsyncFor)):
        targets = set(stored(node.target))
        uses, _ = flow(node.body)
        return loaded(node.iter) | (uses - targets) | flow(node.orelse)[0] | loaded(node.target), set()
    if isinstance(node, ast.While):
        return loaded(node.test) | flow(node.body)[0] | flow(node.orelse)[0], set()
    if isinstance(node, (ast.With, ast.AsyncWith)):
        uses, kills = flow(node.body)
        targets = {name for item in node.items if item.optional_vars for name in stored(item.optional_vars)}
        return {name for item in node.items for name in loaded(item.context_expr)} | (uses - targets), kills | targets
    if isinstance(node, ast.Try):
        parts = [node.body, node.orelse, node.finalbody, *(handler.body for handler in node.handlers)]
        return {name for part in parts for name in flow(part)[0]} | {n for p in parts for s in p for n in loaded(s)}, set()
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return loaded(node), {node.name}
    if isinstance(node, (ast.Delete, ast.Match)):
        return loaded(node), set()
    return loaded(node), set(stored(node))


def _leaves(statements):
    return any(isinstance(item, (ast.Return, ast.Break, ast.Continue, ast.Raise)) for item in statements)


def rebound(statements):
    """Names that are bound otherwise than by `name += …`, which leaves an array where it is."""
    todo, found = list(statements), set()
    while todo:
        node = todo.pop()
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            todo.append(node.value)
            continue
        found.update(_bindings(node))
        if isinstance(node, ast.comprehension):
            todo += [*node.ifs, node.iter]
        elif not isinstance(node, SCOPES):
            todo += children(node)
    return found


_NUMBERS = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context, ast.Call)
_CALLED = {"abs", "min", "max", "float", "int", "round"}


def condition_slice(loop):
    """(names, statements): what the condition of a `while` depends on inside its body, where that is arithmetic on names alone; else None."""
    if not _is_arithmetic(loop.test):
        return None
    needed, chosen = loaded(loop.test) - _CALLED, []
    changed = True
    while changed:
        changed = False
        for statement in loop.body:
            if statement in chosen or not needed & set(stored(statement)):
                continue
            target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else getattr(statement, "target", None)
            simple = isinstance(statement, (ast.Assign, ast.AugAssign)) and isinstance(target, ast.Name) and _is_arithmetic(statement.value)
            if not simple:
                return None
            chosen.append(statement)
            needed |= loaded(statement.value) - _CALLED
            changed = True
    if not chosen:
        return None
    return sorted(needed), [statement for statement in loop.body if statement in chosen]


def _is_arithmetic(node):
    for item in nodes(node):
        if not isinstance(item, _NUMBERS):
            return False
        if isinstance(item, ast.Call) and not (isinstance(item.func, ast.Name) and item.func.id in _CALLED and not item.keywords):
            return False
    return True


def copied_all(nodes):
    return [copied(node) for node in nodes]
