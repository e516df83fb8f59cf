"""`return`, `break`, `continue` and the `else` of loops as structured control flow: one way out of every body.

What follows a statement that may leave runs in the branch that does not leave, where one branch surely does; else under a flag. So
bodies of loops and branches have one end, which is what a Program can say.
"""

import ast

from . import flow

RETURNED, VALUE = "_rg_returned", "_rg_value"
_LOOPS = (ast.For, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def lowered(body):
    """The body of a function with one `return`, at its end; nothing is changed where nothing leaves early."""
    body = _Binding().block(body)
    if not _needed(body):
        return body
    surely = _always(body)
    returns = any("return" in _exits(statement) for statement in body)
    new = _Lowering().block(body, None)
    if not returns:
        return new
    start = [_set(RETURNED, ast.Constant(False)), _set(VALUE, _runtime("UNSET"))]
    flag = ast.Constant(True) if surely else _name(RETURNED)
    end = ast.Return(ast.Call(_runtime("returned"), [_name(VALUE), flag], []))
    return _placed(start, body[0]) + new + _placed([end], body[-1])


class _Binding:
    """Conditions that bind names by `:=`: that of a `while` is evaluated inside of it, and `and` and `or` are branches, so that a name is bound where it is."""

    def __init__(self):
        self.count = 0

    def block(self, statements):
        return [new for statement in statements for new in self.statement(statement)]

    def statement(self, node):
        if isinstance(node, _SCOPES):
            return [node]
        for field in ("body", "orelse", "finalbody"):
            value = getattr(node, field, None)
            if isinstance(value, list):
                setattr(node, field, self.block(value))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            part.body = self.block(part.body)
        if isinstance(node, ast.While) and _binds_names(node.test):
            leave = ast.If(ast.UnaryOp(ast.Not(), node.test), [*node.orelse, ast.Break()], [])
            leave = _placed([leave], node.test)[0]
            node.test, node.orelse = ast.copy_location(ast.Constant(True), node.test), []
            node.body = [*self.statement(leave), *node.body]
            return [node]
        if isinstance(node, ast.If) and _binds_names(node.test):
            before, node.test = self.condition(node.test)
            return [*before, node]
        return [node]

    def condition(self, test):
        """(Statements before, an expression without `and` and `or`)."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            before, inner = self.condition(test.operand)
            return before, ast.copy_location(ast.UnaryOp(ast.Not(), inner), test)
        if not isinstance(test, ast.BoolOp):
            return [], test
        self.count += 1
        name = f"_rg_condition_{self.count}"
        before, value = self.condition(test.values[0])
        result = [*before, *_placed([_set(name, ast.Call(_runtime("true"), [value], []))], test)]
        for item in test.values[1:]:
            before, value = self.condition(item)
            asked = _name(name) if isinstance(test.op, ast.And) else ast.UnaryOp(ast.Not(), _name(name))
            result += _placed([ast.If(asked, [*before, _set(name, ast.Call(_runtime("true"), [value], []))], [])], test)
        return result, ast.copy_location(_name(name), test)


def _binds_names(test):
    return any(isinstance(item, ast.NamedExpr) for item in ast.walk(test))


class _Loop:
    """The flags of a loop under way."""

    def __init__(self, number):
        self.stop, self.skip = f"_rg_stop_{number}", f"_rg_skip_{number}"


class _Lowering:
    def __init__(self):
        self.count = 0

    def block(self, statements, loop):
        """The statements, without what leaves them; `loop` is the innermost one around."""
        result = []
        for k, statement in enumerate(statements):
            rest = statements[k + 1 :]
            if isinstance(statement, ast.Return):
                value = statement.value or ast.Constant(None)
                return result + _placed([_set(VALUE, value), _set(RETURNED, ast.Constant(True))], statement)
            if isinstance(statement, ast.Break):
                return result + _placed([_set(loop.stop, ast.Constant(True))], statement)
            if isinstance(statement, ast.Continue):
                return result + _placed([_set(loop.skip, ast.Constant(True))], statement)
            exits = _exits(statement)
            if isinstance(statement, ast.If) and exits:
                body_leaves, else_leaves = _always(statement.body), _always(statement.orelse)
                if body_leaves or else_leaves:
                    then = statement.body if body_leaves else statement.body + rest
                    other = statement.orelse if else_leaves else statement.orelse + rest
                    test = ast.If(statement.test, self.block(then, loop) or [ast.Pass()], self.block(other, loop))
                    return result + _placed([test], statement)
            result += self.statement(statement, loop)
            if isinstance(statement, ast.Raise):
                return result
            if exits and rest:
                flags = {"return": RETURNED, "break": loop and loop.stop, "continue": loop and loop.skip}
                guarded = ast.If(_none_of([flags[name] for name in sorted(exits)]), self.block(rest, loop), [])
                return result + _placed([guarded], rest[0])
        return result

    def statement(self, node, loop):
        """A statement that ends at its end, with the statements inside it."""
        if isinstance(node, _LOOPS):
            return self.loop(node, loop)
        if isinstance(node, ast.Match):
            chosen = _as_branches(node, f"_rg_subject_{self._number()}")
            if chosen is not None:
                return self.block(chosen, loop)
            for case in node.cases:
                case.body = self.block(case.body, loop)
            return [node]
        if isinstance(node, (ast.With, ast.If)):
            node.body = self.block(node.body, loop) or _placed([ast.Pass()], node)
        if isinstance(node, ast.If):
            node.orelse = self.block(node.orelse, loop)
        if isinstance(node, ast.Try):
            exits = set().union(*(_exits(item) for item in node.body)) if node.orelse else set()
            node.body = self.block(node.body, loop)
            for handler in node.handlers:
                handler.body = self.block(handler.body, loop)
            node.orelse, node.finalbody = self.block(node.orelse, loop), self.block(node.finalbody, loop)
            if exits:
                flags = {"return": RETURNED, "break": loop and loop.stop, "continue": loop and loop.skip}
                node.orelse = _placed([ast.If(_none_of([flags[name] for name in sorted(exits)]), node.orelse, [])], node)
        return [node]

    def loop(self, node, around):
        inner = set().union(*(_exits(statement) for statement in node.body))
        flags, orelse = _Loop(self._number()), node.orelse
        node.orelse = []
        start, stops = [], []
        if "break" in inner:
            start.append(_set(flags.stop, ast.Constant(False)))
            stops.append(flags.stop)
        if "return" in inner:
            stops.append(RETURNED)
        body = self.block(node.body, flags)
        if "continue" in inner:
            body.insert(0, _set(flags.skip, ast.Constant(False)))
        node.body = _placed(body, node)
        node.stops = tuple(stops)
        if isinstance(node, ast.While) and stops:
            node.test = _placed([ast.Expr(ast.BoolOp(ast.And(), [_none_of(stops), node.test]))], node.test)[0].value
        result = _placed(start, node) + [node]
        if not orelse:
            return result
        # What leaves the `else` leaves the loop around.
        orelse = self.block(orelse, around)
        if stops:
            orelse = _placed([ast.If(_none_of(stops), orelse, [])], orelse[0])
        return result + orelse

    def _number(self):
        self.count += 1
        return self.count


# Builtin classes whose one positional pattern is for the value itself.
_MATCH_THEMSELVES = ("bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")


class _Renamed(ast.NodeTransformer):
    """Names that a pattern binds, in its guard."""

    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        return self.names[node.id]() if isinstance(node.ctx, ast.Load) and node.id in self.names else node


def _binds(names, node):
    """Whether another case, or its guard, reads a name that a failed guard would have bound."""
    return sum(isinstance(item, ast.Name) and item.id in names and isinstance(item.ctx, ast.Load) for case in node.cases for item in flow.nodes(case.pattern)) > 0


def _as_branches(node, subject):
    """A `match` over values and classes as `if` statements, which may be on a traced subject; None where a pattern is another."""
    load = lambda: ast.Name(subject, ast.Load())

    def test(pattern, value, names):
        """The condition of a pattern for a value, which is an expression; what it binds goes to `names`."""
        if isinstance(pattern, ast.MatchValue):
            return ast.Compare(value(), [ast.Eq()], [pattern.value])
        if isinstance(pattern, ast.MatchSingleton):
            return ast.Compare(value(), [ast.Is()], [ast.Constant(pattern.value)])
        if isinstance(pattern, ast.MatchOr):
            bound = [{} for _ in pattern.patterns]
            parts = [test(item, value, own) for item, own in zip(pattern.patterns, bound)]
            return None if any(part is None for part in parts) or any(bound) else ast.BoolOp(ast.Or(), parts)
        if isinstance(pattern, ast.MatchClass):
            itself = isinstance(pattern.cls, ast.Name) and pattern.cls.id in _MATCH_THEMSELVES and len(pattern.patterns) == 1
            if pattern.patterns and not itself:
                return None
            attribute = lambda name: lambda: ast.Attribute(value(), name, ast.Load())
            parts = [ast.Call(ast.Name("isinstance", ast.Load()), [value(), pattern.cls], [])]
            parts += [test(item, value, names) for item in pattern.patterns]
            parts += [test(item, attribute(name), names) for name, item in zip(pattern.kwd_attrs, pattern.kwd_patterns)]
            return None if any(part is None for part in parts) else ast.BoolOp(ast.And(), parts)
        if isinstance(pattern, ast.MatchAs):
            inner = ast.Constant(True) if pattern.pattern is None else test(pattern.pattern, value, names)
            if pattern.name is not None:
                names[pattern.name] = value
            return inner
        return None

    if any(case.guard is not None and any(isinstance(item, ast.NamedExpr) for item in flow.nodes(case.guard)) for case in node.cases):
        return None
    chain = []
    for case in reversed(node.cases):
        names = {}
        condition = test(case.pattern, load, names)
        if condition is None or names and chain and case.guard is not None and _binds(names, node):
            return None
        if case.guard is not None:
            condition = ast.BoolOp(ast.And(), [condition, _Renamed(names).visit(case.guard)])
        bound = _placed([_set(name, value()) for name, value in names.items()], case.body[0])
        chain = _placed([ast.If(condition, bound + case.body, chain)], case.body[0])
    return _placed([_set(subject, node.subject)], node) + chain


def _needed(body):
    """Whether something leaves early, or a loop has an `else`."""
    for k, statement in enumerate(body):
        if not (k == len(body) - 1 and isinstance(statement, ast.Return)) and _exits(statement):
            return True
    return any(isinstance(node, ast.Match) or isinstance(node, _LOOPS) and (node.orelse or any(map(_exits, node.body))) for node in _walk(body))


def _walk(body):
    todo = list(body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _SCOPES):
            todo += flow.children(node)


def _exits(node, in_loop=False):
    """The ways on which a statement may be left besides its end: "return", "break", "continue"."""
    if isinstance(node, ast.Return):
        return {"return"}
    if isinstance(node, (ast.Break, ast.Continue)):
        return set() if in_loop else {type(node).__name__.lower()}
    if isinstance(node, (*_SCOPES, ast.expr)):
        return set()
    if isinstance(node, _LOOPS):
        inside = set().union(*(_exits(item, True) for item in node.body))
        return inside.union(*(_exits(item, in_loop) for item in node.orelse))
    return set().union(*(_exits(child, in_loop) for child in flow.children(node)))


def _always(statements):
    """Whether no way through the statements reaches their end."""
    for statement in statements:
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return True
        if isinstance(statement, ast.If) and statement.orelse and _always(statement.body) and _always(statement.orelse):
            return True
        if isinstance(statement, ast.With) and _always(statement.body):
            return True
        if isinstance(statement, ast.Match) and any(_wild(case) for case in statement.cases) and all(_always(case.body) for case in statement.cases):
            return True
        endless = isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant) and statement.test.value
        if endless and not any("break" in _exits(item) for item in statement.body):
            return True
    return False


def _wild(case):
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def _none_of(flags):
    tests = [ast.UnaryOp(ast.Not(), _name(flag)) for flag in flags]
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def none_of(flags, node):
    """Whether no flag is set, at the place of a node."""
    return _placed([ast.Expr(_none_of(flags))], node)[0].value


def _name(name):
    return ast.Name(name, ast.Load())


def _runtime(name):
    return ast.Attribute(ast.Name("_rg", ast.Load()), name, ast.Load())


def _set(name, value):
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _placed(statements, node):
    """The statements, at the place of a node where they have none."""
    for statement in statements:
        for item in flow.nodes(statement):
            if "lineno" in item._attributes and not hasattr(item, "lineno"):
                ast.copy_location(item, node)
                item.end_lineno, item.end_col_offset = item.lineno, item.col_offset
    return statements


def copied(node):
    """A definition to be changed; the one that was parsed stays as it is."""
    return flow.copied(node)
