"""Rewrites a function's source so that its loops, branches, stores and calls go through `runtime`; lines stay the user's own."""

import ast
import inspect
import types

from . import errors, flow, leave

_UNTOUCHED = {"super", "locals", "globals", "vars", "dir", "eval", "exec"}
_rewritten = {}
_codes = set()


def rewrite(function):
    """The rewritten function: same globals, same closure cells, same defaults, same lines."""
    code = function.__code__
    if code in _codes:
        return function
    new = _rewritten.get(code)
    if new is None:
        new = _rewritten[code] = _compile(function)
    from . import runtime

    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    cells["__rg"] = types.CellType(runtime)
    closure = tuple(cells[name] for name in new.co_freevars)
    made = types.FunctionType(new, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    return made


def _compile(function):
    node, file = _definition(function)
    free = [name for name in function.__code__.co_freevars]
    rewritten = _Function(node, set(), set(free)).definition(top=True)
    arguments = ast.arguments([], [ast.arg(name) for name in [*free, "__rg"]], None, [], [], None, [])
    factory = ast.FunctionDef("__rg_factory", arguments, [rewritten, *ast.parse(f"return {rewritten.name}").body], [])
    if "type_params" in ast.FunctionDef._fields:
        factory.type_params = []
    module = ast.Module([ast.copy_location(factory, node)], [])
    ast.fix_missing_locations(module)
    compiled = compile(module, file, "exec", dont_inherit=True)
    outer = _inner(compiled, "__rg_factory")
    result = _inner(outer, rewritten.name)
    _remember(result)
    return result


def _inner(code, name):
    return next(item for item in code.co_consts if isinstance(item, types.CodeType) and item.co_name == name)


def _remember(code):
    _codes.add(code)
    for item in code.co_consts:
        if isinstance(item, types.CodeType):
            _remember(item)


def _definition(function):
    """The parsed definition of a function, with the lines of its file."""
    name = getattr(function, "__name__", repr(function))
    code = function.__code__
    pos = (code.co_filename, code.co_firstlineno)
    if name == "<lambda>":
        raise errors.Unsupported("a lambda has no body whose source could be read; write it as a `def`", pos)
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise errors.Unsupported(f"`{name}` is a generator or coroutine", pos)
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        message = f"the source of `{name}` cannot be read; define it in a file or a notebook cell"
        raise errors.Unsupported(message, pos) from None
    # An indented definition is put under an `if`, so that columns and multi-line strings stay as they are.
    indented = lines[0][:1].isspace()
    tree = ast.parse(("if True:\n" if indented else "") + "".join(lines))
    ast.increment_lineno(tree, first - (2 if indented else 1))
    found = [item for item in ast.walk(tree) if isinstance(item, ast.FunctionDef) and item.name == code.co_name]
    if not found:
        raise errors.Unsupported(f"the source of `{name}` could not be found where Python says it is", pos)
    return found[0], code.co_filename


class _Function(ast.NodeTransformer):
    """Rewrites one function. `enclosing` are names of functions around it, `free` those that it got from closures."""

    def __init__(self, node, enclosing, free):
        self.node = node
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        body = node.body if isinstance(node.body, list) else [node.body]
        self.locals = enclosing | {item.arg for item in every if item} | set(flow.stored(body)) | _comprehension_targets(body)
        self.locals -= free
        self.captured = flow.captured(node)
        self.count = 0

    def definition(self, top):
        node = self.node
        if top:
            node.decorator_list, node.returns = [], None
            node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
            node.args.kw_defaults = [default and ast.Constant(None) for default in node.args.kw_defaults]
            for item in ast.walk(node.args):
                if isinstance(item, ast.arg):
                    item.annotation = None
        node.body = self.block(node.body, set(self.captured))
        return node

    # Statements: each block knows which names matter after each of its statements.

    def block(self, statements, live):
        result = []
        for statement, after in zip(statements, flow.live_after(statements, live)):
            self.live = after | self.captured
            new = self.visit(statement)
            result.extend(new if isinstance(new, list) else [new])
        return result

    def visit_For(self, node):
        guarded = leave.without_breaks(node, self._label) if not node.orelse else None
        if guarded is None:
            return self._for(node)
        # A loop over a range cannot be left before its end, so its steps do nothing from there on; other loops are plain Python.
        steps = f"{self._label()}_steps"
        take = ast.Assign([ast.Name(steps, ast.Store())], node.iter)
        node.iter = ast.copy_location(ast.Name(steps, ast.Load()), node)
        plain, live = flow.copied(node), set(self.live)
        result = self.block([_at(take, node, missing=True)], live | {steps})
        self.live = live
        inner = self.block([_filled(item, node) for item in guarded(steps)], live)
        self.live = live
        choose = ast.If(_call("is_range", ast.Name(steps, ast.Load())), inner, [self._for(plain)])
        return [*result, _at(choose, node, missing=True)]

    def _for(self, node):
        live = set(self.live)
        escape = ("else", node.orelse[0].lineno) if node.orelse else flow.escapes(node.body)
        inside = flow.live_before(node.body, live | flow.flow(node.body)[0]) | live
        source = self.visit(node.iter)
        if escape:
            node.iter = _at(_call("iterate", source, ast.Constant(escape[0]), ast.Constant(escape[1])), source, missing=True)
            node.body, node.orelse = self.block(node.body, inside), self.block(node.orelse, live)
            return node
        targets = flow.stored(node.target)
        names = {**flow.stored(node.body), **{name: node.lineno for name in targets if name not in flow.stored(node.body)}}
        uses, kills = flow.flow(node.body)
        kills |= set(targets)
        exposed = ((uses - set(targets)) | (live - kills)) & set(names)
        label = self._label()
        item = _at(ast.Assign([node.target], _expression(f"{label}.item()", node)), node, missing=True)
        return self._control(node, "loop", label, source, names, exposed, live, [item, *self.block(node.body, inside)])

    def visit_If(self, node):
        live = set(self.live)
        test = self._condition(node.test)
        if flow.escapes([*node.body, *node.orelse]):
            node.test = _at(_call("test", test, ast.Constant("if")), test, missing=True)
            node.body, node.orelse = self.block(node.body, live), self.block(node.orelse, live)
            return node
        names = flow.stored([*node.body, *node.orelse])
        exposed = (flow.flow(node.body)[0] | flow.flow(node.orelse)[0] | live) & set(names)
        label = self._label()
        inner = ast.If(_expression(f"{label}.side", node), self.block(node.body, live), self.block(node.orelse, live))
        return self._control(node, "branch", label, test, names, exposed, live, [_at(inner, node, missing=True)])

    def _label(self):
        self.count += 1
        return f"__rg_{self.count}"

    def _control(self, node, kind, label, operand, names, exposed, live, body):
        """A loop or branch: traced as often as `again` says, with its names bound anew each time."""
        bind = self._bind(label, names)
        facts = [ast.Constant(tuple(names.items())), _names(exposed), _names(set(names) & live), _expression("locals()", node)]
        start = ast.Assign([ast.Name(label, ast.Store())], _call(kind, operand, *facts))
        steps = ast.While(_expression(f"{label}.again()", node), [*_parse(bind, node), *body, *_parse([f"{label}.done(locals())"], node)], [])
        return [_at(start, node, missing=True), _at(steps, node, missing=True), *_parse(bind, node)]

    def visit_While(self, node):
        guarded = leave.without_breaks(node, self._label) if not node.orelse else None
        if guarded is not None:
            live = set(self.live)
            return self.block([_filled(item, node) for item in guarded(None)], live)
        live = set(self.live)
        inside = flow.live_before([node], live) | live
        escape = ("else", node.orelse[0].lineno) if node.orelse else flow.escapes(node.body)
        uses = flow.loaded(node.test) | flow.flow(node.body)[0]
        test = self._condition(node.test)
        if escape:
            node.test = _at(_call("test", test, ast.Constant(escape[0])), test, missing=True)
            node.body, node.orelse = self.block(node.body, inside), self.block(node.orelse, live)
            return node
        names = flow.stored(node.body)
        label = self._label()
        bind = self._bind(label, names)
        facts = [ast.Constant(tuple(names.items())), _names((uses | live) & set(names)), _names(set(names) & live)]
        start = ast.Assign([ast.Name(label, ast.Store())], _call("conditional", *facts))
        ask = ast.Expr(ast.Call(_expression(f"{label}.test", node), [test, _expression("locals()", node)], []))
        body = [*_parse(bind, node), *self.block(node.body, inside), *_parse([f"{label}.done(locals())"], node)]
        step = ast.If(_expression(f"{label}.inside", node), body, [])
        steps = ast.While(_expression(f"{label}.again()", node), [*_parse(bind, node), ask, step], [])
        return [_at(start, node, missing=True), _at(steps, node, missing=True), *_parse(bind, node)]

    def _condition(self, test):
        """A condition, with `and`, `or` and `not` of what may be traced."""
        if isinstance(test, ast.BoolOp):
            name = "both" if isinstance(test.op, ast.And) else "either"
            first, *rest = test.values
            result = self._condition(first)
            for value in rest:
                nothing = ast.arguments([], [], None, [], [], None, [])
                result = _call(name, result, ast.Lambda(nothing, self._condition(value)))
            return _at(result, test, missing=True)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return _at(_call("negate", self._condition(test.operand)), test, missing=True)
        return self.visit(test)

    @staticmethod
    def _bind(label, names):
        """Statements that bind names to what a loop or branch says."""
        return [
            f"if {label}.has({name!r}): {name} = {label}[{name!r}]\nelif {label}.drops({name!r}): {name} = None; del {name}" for name in names
        ]

    def visit_With(self, node):
        live = set(self.live)
        node.items = [self.visit(item) for item in node.items]
        node.body = self.block(node.body, live)
        return node

    def visit_Try(self, node):
        live = set(self.live) | set().union(*(flow.loaded(item) for item in [*node.handlers, *node.orelse, *node.finalbody]))
        node.body = self.block(node.body, live)
        for handler in node.handlers:
            handler.body = self.block(handler.body, live)
        node.orelse, node.finalbody = self.block(node.orelse, live), self.block(node.finalbody, live)
        return node

    def visit_Assign(self, node):
        value = self.visit(node.value)
        stores, targets = [], []
        for target in node.targets:
            targets.append(self._target(target, stores))
        node.targets, node.value = targets, value
        return [node, *stores] if stores else node

    def visit_AnnAssign(self, node):
        if node.value is None:
            return node
        return self.visit_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def _target(self, target, stores):
        """A target with its subscripts and attributes replaced by names that are stored afterwards."""
        if isinstance(target, (ast.Tuple, ast.List)):
            target.elts = [self._target(item, stores) for item in target.elts]
            return target
        if isinstance(target, ast.Starred):
            target.value = self._target(target.value, stores)
            return target
        if isinstance(target, ast.Name):
            return target
        name = f"{self._label()}_value"
        if isinstance(target, ast.Subscript):
            call = _call("store", self.visit(target.value), self._index(target.slice), ast.Name(name, ast.Load()))
        else:
            call = _call("store_attribute", self.visit(target.value), ast.Constant(target.attr), ast.Name(name, ast.Load()))
        stores.append(_at(ast.Expr(call), target, missing=True))
        return ast.copy_location(ast.Name(name, ast.Store()), target)

    def visit_AugAssign(self, node):
        operator = ast.Constant(type(node.op).__name__)
        value = self.visit(node.value)
        target = node.target
        if isinstance(target, ast.Name):
            call = _call("augment", operator, ast.Name(target.id, ast.Load()), value)
            return _at(ast.Assign([ast.Name(target.id, ast.Store())], call), node, missing=True)
        if isinstance(target, ast.Subscript):
            call = _call("augment_item", operator, self.visit(target.value), self._index(target.slice), value)
        else:
            call = _call("augment_attribute", operator, self.visit(target.value), ast.Constant(target.attr), value)
        return _at(ast.Expr(call), node, missing=True)

    def visit_Delete(self, node):
        result = []
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                result.append(_at(ast.Expr(_call("delete_item", self.visit(target.value), self._index(target.slice))), node, missing=True))
            else:
                result.append(ast.copy_location(ast.Delete([target]), node))
        return result

    # Expressions

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in _UNTOUCHED:
            return self.generic_visit(node)
        callee = node.func
        if isinstance(callee, ast.Attribute):
            callee.value = self.visit(callee.value)
        elif not isinstance(callee, ast.Name):
            callee = self.visit(callee)
        arguments = [self.visit(item) for item in node.args]
        keywords = [ast.keyword(item.arg, self.visit(item.value)) for item in node.keywords]
        call = _call("call", callee, *arguments)
        call.keywords = keywords
        return _at(call, node, missing=True)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id not in self.locals and not node.id.startswith("__rg"):
            return _at(_call("outer", ast.Name(node.id, ast.Load()), ast.Constant(node.id)), node, missing=True)
        return node

    def visit_Attribute(self, node):
        node.value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            return _at(_call("outer", node, ast.Constant(node.attr)), node, missing=True)
        return node

    def visit_Subscript(self, node):
        if isinstance(node.ctx, ast.Load):
            return _at(_call("load", self.visit(node.value), self._index(node.slice)), node, missing=True)
        return self.generic_visit(node)

    def _index(self, node):
        """The expression of an index, with slices as calls."""
        if isinstance(node, ast.Slice):
            bounds = [self.visit(item) if item else ast.Constant(None) for item in (node.lower, node.upper, node.step)]
            return _at(_call("slice", *bounds), node, missing=True)
        if isinstance(node, ast.Tuple):
            return ast.copy_location(ast.Tuple([self._index(item) for item in node.elts], ast.Load()), node)
        return self.visit(node)

    def visit_FunctionDef(self, node):
        node.decorator_list = [self.visit(item) for item in node.decorator_list]
        node.args.defaults = [self.visit(item) for item in node.args.defaults]
        node.args.kw_defaults = [item and self.visit(item) for item in node.args.kw_defaults]
        live = self.live
        result = _Function(node, self.locals, set()).definition(top=False)
        self.live = live
        return result

    def visit_Lambda(self, node):
        inner = _Function(node, self.locals, set())
        node.body = inner.visit(node.body)
        return node

    def visit_AsyncFunctionDef(self, node):
        raise errors.Unsupported("async functions are not supported", None)

    def visit_ClassDef(self, node):
        return node


def _comprehension_targets(body):
    nodes = [item for statement in body for item in ast.walk(statement) if isinstance(item, ast.comprehension)]
    return {item.id for node in nodes for item in ast.walk(node.target) if isinstance(item, ast.Name)}


def _call(name, *arguments):
    function = ast.Attribute(ast.Name("__rg", ast.Load()), name, ast.Load())
    return ast.Call(function, list(arguments), [])


def _names(names):
    return ast.Constant(tuple(sorted(names)))


def _expression(source, node):
    return _at(ast.parse(source, mode="eval").body, node)


def _parse(sources, node):
    return [_at(statement, node) for source in sources for statement in ast.parse(source).body]


def _at(new, node, missing=False):
    """The new node at the place of an old one; `missing` leaves parts alone that have their own place: all of their parts have one, too."""
    todo = [new]
    while todo:
        item = todo.pop()
        if "lineno" in item._attributes:
            if missing and hasattr(item, "lineno"):
                continue
            _put(item, node)
        todo.extend(ast.iter_child_nodes(item))
    return new


def _filled(new, node):
    """A statement of which any part may have no place: those get the place of the old node."""
    for item in ast.walk(new):
        if "lineno" in item._attributes and not hasattr(item, "lineno"):
            _put(item, node)
    return new


def _put(item, node):
    ast.copy_location(item, node)
    item.end_lineno, item.end_col_offset = item.lineno, item.col_offset
