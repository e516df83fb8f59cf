"""Rewrites a function's source so that all that has a meaning goes through `runtime`; lines stay the user's own.

Calls, loads and stores of what is not a local name, branches, loops, operators, displays and errors are sent there. Code objects are
rewritten once. What has no source that is the code that runs is not rewritten: it is traced as it runs.
"""

import ast
import functools
import types

from . import errors, flow, leave, source
from .iterators import foreign

_UNTOUCHED = {"super", "locals", "globals", "vars", "dir", "eval", "exec"}
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_SIGNS = (ast.USub, ast.UAdd, ast.Invert)
_rewritten = {}
_codes = set()


class Scope:
    """Where a function finds the names that are not its own: cells, then globals."""

    def __init__(self, names, cells):
        self.globals, self.cells = names, cells


def is_rewritten(function):
    return function.__code__ in _codes


def rewrite(function):
    """The rewritten function: same globals, same closure cells, same defaults, same lines; None where it has no source."""
    code = function.__code__
    if code in _codes:
        return function
    key = code, code.co_filename  # code is equal to that of another file
    if key not in _rewritten:
        _rewritten[key] = _compile(function)
    new = _rewritten[key]
    if new is None:
        return None
    from . import runtime

    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    extra = {"_rg": types.CellType(runtime), "_rg_scope": types.CellType(Scope(function.__globals__, cells))}
    closure = tuple({**cells, **extra}[name] for name in new.co_freevars)
    defaults = function.__defaults__ and tuple(map(foreign, function.__defaults__))
    made = types.FunctionType(new, function.__globals__, function.__name__, defaults, closure)
    made.__kwdefaults__ = function.__kwdefaults__ and {name: foreign(value) for name, value in function.__kwdefaults__.items()}
    made.__qualname__ = function.__qualname__
    made.__dict__.update(function.__dict__)
    return made


def _compile(function):
    code = function.__code__
    found = source.definition(code, function.__globals__)
    if found is None:
        return None
    node = leave.copied(found.node)
    if found.owner is not None:
        _mangle(node, found.owner)
    if isinstance(node, ast.Lambda):
        body = ast.copy_location(ast.Return(node.body), node.body)
        node = ast.copy_location(_definition("_rg_function", node.args, [body]), node)
    node.name = "_rg_function"  # a function that calls itself finds itself by its own name where it did before
    free = list(code.co_freevars)
    rewritten = _reader(node)(node, set(), set(free)).definition(top=True)
    arguments = ast.arguments([], [ast.arg(name) for name in [*free, "_rg", "_rg_scope"]], None, [], [], None, [])
    factory = _definition("_rg_factory", arguments, [rewritten, *ast.parse(f"return {rewritten.name}").body])
    module = ast.Module([ast.copy_location(factory, node)], [])
    _place_missing(module)
    try:
        outer = _inner(compile(module, code.co_filename, "exec", dont_inherit=True), "_rg_factory")
    except SyntaxError as error:
        raise errors.Unsupported(f"`{function.__name__}` is nested too deeply ({error.msg}); use functions", position(code)) from None
    result = _inner(outer, rewritten.name)
    result = result.replace(co_name=code.co_name)
    _remember(result)
    return result


def _place_missing(node, line=1, column=0, end_line=1, end_column=0):
    """As `ast.fix_missing_locations`: parts without a place have that of what they are part of."""
    if "lineno" in node._attributes:
        fields = node.__dict__
        line, column = fields.setdefault("lineno", line), fields.setdefault("col_offset", column)
        if fields.get("end_lineno") is None:
            node.end_lineno = end_line
        if fields.get("end_col_offset") is None:
            node.end_col_offset = end_column
        end_line, end_column = node.end_lineno, node.end_col_offset
    for child in flow.children(node):
        _place_missing(child, line, column, end_line, end_column)


def _definition(name, arguments, body):
    node = ast.FunctionDef(name, arguments, body, [])
    if "type_params" in ast.FunctionDef._fields:
        node.type_params = []
    return node


def _inner(code, name):
    return next(item for item in code.co_consts if isinstance(item, types.CodeType) and item.co_name == name)


def _remember(code):
    _codes.add(code)
    for item in code.co_consts:
        if isinstance(item, types.CodeType) and not item.co_name.isidentifier() or isinstance(item, types.CodeType) and "_rg" in item.co_freevars:
            _remember(item)


def _mangle(node, owner):
    """Private names, as a class gives them to its methods."""
    prefix = "_" + owner.lstrip("_")
    private = lambda name: name.startswith("__") and not name.endswith("__") and "." not in name and prefix != "_"
    for item in flow.nodes(node):
        for field in ("id", "attr", "arg", "name"):
            name = getattr(item, field, None)
            if isinstance(name, str) and private(name):
                setattr(item, field, prefix + name)
        if isinstance(item, (ast.Global, ast.Nonlocal)):
            item.names = [prefix + name if private(name) else name for name in item.names]


def _has(node, kinds):
    return any(isinstance(item, kinds) for item in flow.nodes(node))


class _Function(ast.NodeTransformer):
    """Rewrites one function. `enclosing` are names of functions around it, `free` those that it got from closures."""

    def __init__(self, node, enclosing, free):
        self.node = node
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        body = node.body if isinstance(node.body, list) else [node.body]
        declared = [item for item in _scope(body) if isinstance(item, (ast.Global, ast.Nonlocal))]
        self.declared = {name: type(item) for item in declared for name in item.names}
        own = {item.arg for item in every if item} | set(flow.stored(body)) | _comprehension_targets(body)
        foreign = {name for name, kind in self.declared.items() if kind is ast.Global or name not in enclosing}
        self.locals = (enclosing | own) - foreign - (free - own)
        self.captured = flow.captured(node)
        self.count = 0

    def definition(self, top):
        node = self.node
        if top:
            node.decorator_list, node.returns = [], None
            node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
            node.args.kw_defaults = [default and ast.Constant(None) for default in node.args.kw_defaults]
            for item in flow.nodes(node.args):
                if isinstance(item, ast.arg):
                    item.annotation = None
        self._lower(node)
        self.locals |= {name for name in flow.stored(node.body) if name.startswith("_rg_")}
        rebound = sorted((_rebound_inside(node.body) & self.locals) - set(self.declared))
        node.body = self.block(node.body, set(self.captured))
        if rebound:
            read = ast.Tuple([ast.Name(name, ast.Load()) for name in rebound], ast.Load())
            node.body.insert(0, _at(ast.Expr(_call("own", _lambda(read))), node.body[0], missing=True))
        return node

    def _lower(self, node):
        """One way out of every body, and flags for names that may have no value."""
        unsure = self._unsure(node)
        if unsure:
            node.body = _Flags(unsure).body(node.body)
            self.locals |= {_flag(name) for name in unsure}
        node.body = leave.lowered(node.body)

    def _unsure(self, node):
        """Own names that may be read before they are bound, by the order of statements alone."""
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        own = set(flow.stored(node.body)) - {item.arg for item in every if item} - set(self.declared) - self.captured
        handlers = {item.name for item in _scope(node.body) if isinstance(item, ast.ExceptHandler)}
        return (flow.flow(flow.copied_all(node.body))[0] & own) - handlers

    def stored(self, node):
        """Local names that statements bind, with the line of the last binding."""
        return {name: line for name, line in flow.stored(node).items() if name not in self.declared}

    # Statements: each block knows which names matter after each of its statements.

    def block(self, statements, live):
        result = []
        for statement, after in zip(statements, flow.live_after(statements, live)):
            self.live = after | self.captured
            new = self.visit(statement)
            result.extend(new if isinstance(new, list) else [new])
        return result

    def visit_For(self, node):
        live, stops = set(self.live), getattr(node, "stops", ())
        body = node.body
        steps = self.visit(node.iter)
        targets = self.stored(node.target)
        # Every step binds its targets first, so that they matter at the end of one only where they do after the loop.
        inside = (flow.flow(body)[0] - set(targets)) | live | set(stops)
        names = {**{name: node.lineno for name in targets}, **self.stored(body)}
        uses, kills = flow.flow(body)
        kills = set() if stops else kills | set(targets)
        # What functions inside read may be read in any step, before it is bound there.
        exposed = ((uses - set(targets)) | (live - kills) | set(stops) | self.captured) & set(names)
        rebound = set(targets) | flow.rebound(body)
        label = self._label()
        stores = []
        target = self._target(node.target, stores)
        item = _at(ast.Assign([target], _method(label, "item")), node, missing=True)
        appended = _appended(body)
        inner = [item, *stores, *self.block(body, inside)]
        if stops:
            guard = ast.If(self._condition(leave.none_of(stops, node)), inner, [])
            inner = self._branch(node, self._label(), guard.test, names, exposed | set(names) & inside, set(names) & inside, (guard.body, []))
        return self._control(node, "loop", label, [steps], names, exposed, live, rebound, stops, inner, appended)

    def visit_If(self, node):
        live = set(self.live)
        test = self._condition(node.test)
        names = self.stored([*node.body, *node.orelse])
        exposed = (flow.flow(node.body)[0] | flow.flow(node.orelse)[0] | live) & set(names)
        label = self._label()
        sides = self.block(node.body, live), self.block(node.orelse, live)
        return self._branch(node, label, test, names, exposed, live, sides)

    def _branch(self, node, label, test, names, exposed, live, sides):
        """A branch: one side after the other, of which a known condition takes one."""
        bind = self._bind(label, names, node)
        result = [self._start(node, "branch", label, [test], names, exposed, live, set(), (), ())]
        for side, statements in zip((True, False), sides):
            failed = ast.ExceptHandler(_name("Exception"), None, [ast.Expr(_method(label, "failed"))])
            tried = ast.Try(statements or [ast.Pass()], [failed], [], [])
            body = [*bind, tried, ast.Expr(_method(label, "done", _locals()))]
            result.append(_at(ast.If(_method(label, "enter", ast.Constant(side)), body, []), node, missing=True))
        return [*result, *bind]

    def visit_While(self, node):
        live, stops = set(self.live), getattr(node, "stops", ())
        inside = flow.live_before([node], live) | live
        uses = flow.loaded(node.test) | flow.flow(node.body)[0]
        names = self.stored([node.test, *node.body])
        exposed = (uses | live) & set(names)
        counted, before = self._counted(node)
        appended = _appended(node.body)
        label = self._label()
        rebound = flow.rebound(node.body)
        ask = ast.Expr(_method(label, "test", self._condition(node.test), _locals()))
        body = self.block(node.body, inside)
        step = ast.If(ast.Attribute(_name(label), "inside", ast.Load()), [*self._bind(label, names, node), *body], [])
        inner = [_at(ask, node, missing=True), _at(step, node, missing=True)]
        return [*before, *self._control(node, "conditional", label, [counted], names, exposed, live, rebound, stops, inner, appended)]

    def _counted(self, node):
        """A function that counts the steps of a `while` by running what its condition depends on, where that is arithmetic on names."""
        slice_ = flow.condition_slice(node)
        if slice_ is None:
            return ast.Constant(None), []
        names, statements = slice_
        arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
        count = ast.parse("_rg_count += 1\nif _rg_count > _rg_most: return None").body
        loop = ast.While(node.test, [*statements, *count], [])
        body = [*ast.parse("_rg_count, _rg_most = 0, 10_000_000").body, loop, *ast.parse("return _rg_count").body]
        function = _at(_definition("_rg_counted", arguments, flow.copied_all(body)), node, missing=True)
        for item in flow.nodes(function):
            if "lineno" in item._attributes and "lineno" not in item.__dict__:
                _at(item, node, missing=True)
        return ast.Tuple([_names(names, order=True), ast.Name("_rg_counted", ast.Load())], ast.Load()), [function]

    def _label(self):
        self.count += 1
        return f"_rg_{self.count}"

    def _start(self, node, kind, label, operands, names, exposed, live, rebound, stops, appended):
        facts = [ast.Constant(tuple(names.items())), _names(exposed & set(names)), _names(set(names) & live), _names(rebound & set(names)), ast.Constant(appended)]
        where = ast.Constant((label, node.lineno))
        call = _call(kind, *operands, *facts, _names(stops), where, _locals())
        start = ast.Assign([ast.Name(label, ast.Store())], call)
        return _at(start, node, missing=True)

    def _control(self, node, kind, label, operands, names, exposed, live, rebound, stops, body, appended):
        """A loop: traced as often as `again` says, with its names bound anew each time."""
        start = self._start(node, kind, label, operands, names, exposed, live, rebound, stops, appended)
        caught = ast.Attribute(_name(label), "caught", ast.Load())
        failed = ast.ExceptHandler(caught, None, [ast.Expr(_method(label, "retry"))])
        tried = ast.Try([*body, ast.Expr(_method(label, "done", _locals()))], [failed], [], [])
        bind = self._bind(label, names, node)
        steps = ast.While(_method(label, "again"), [*bind, tried], [])
        return [start, _at(steps, node, missing=True), *bind]

    def _condition(self, test):
        """A condition, with `and`, `or` and `not` of what may be traced: only its truth matters."""
        if isinstance(test, ast.BoolOp) and not _has(test, ast.NamedExpr):
            name = "both" if isinstance(test.op, ast.And) else "either"
            first, *rest = test.values
            result = self._condition(first)
            for value in rest:
                result = _call(name, result, _lambda(self._condition(value)))
            return _at(result, test, missing=True)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return _at(_call("negate", self._condition(test.operand)), test, missing=True)
        return self.visit(test)

    @staticmethod
    def _bind(label, names, node):
        """Statements that bind names to what a loop or branch says; they may stand in several places."""
        found = []
        for name in names:
            # if label.has("name"): name = label["name"]
            # elif label.drops("name"): name = None; del name
            key, stored = ast.Constant(name), ast.Name(name, ast.Store())
            drop = [ast.Assign([stored], ast.Constant(None)), ast.Delete([ast.Name(name, ast.Del())])]
            otherwise = ast.If(_method(label, "drops", key), drop, [])
            bound = ast.Assign([stored], ast.Subscript(_name(label), key, ast.Load()))
            found.append(_at(ast.If(_method(label, "has", key), [bound], [otherwise]), node, missing=True))
        return found

    def visit_With(self, node):
        live = set(self.live)
        for item in node.items:
            item.context_expr = _at(_call("context", self.visit(item.context_expr)), item.context_expr, missing=True)
        node.body = self.block(node.body, live)
        return node

    def visit_Try(self, node):
        live = set(self.live) | set().union(*(flow.loaded(item) for item in [*node.handlers, *node.orelse, *node.finalbody]))
        kinds = [self.visit(leave.copied(handler.type)) if handler.type else ast.Name("BaseException", ast.Load()) for handler in node.handlers]
        label = self._label()
        attempt = self._attempt(node, label, set(self.live)) if kinds else None
        node.body = self.block(node.body, live)
        if kinds:
            where = ast.Constant((label, node.lineno))
            node.body += [_at(ast.Expr(_call("tried", ast.Name(label, ast.Load()), ast.Tuple(kinds, ast.Load()), where)), node, missing=True)]
        for handler in node.handlers:
            handler.body = [_at(ast.Expr(_call("caught")), handler), *self.block(handler.body, live)]
        node.orelse, node.finalbody = self.block(node.orelse, live), self.block(node.finalbody, live)
        start = _at(ast.Assign([ast.Name(label, ast.Store())], _call("trying")), node)
        if attempt is None:
            return [start, node]
        needed = _call("is_needed", ast.Constant((label, node.lineno)))
        return [start, _at(ast.If(needed, attempt, [node]), node, missing=True)]

    def _attempt(self, node, label, live):
        """A `try` whose body may fail when the program runs: a function of what it binds, which says whether it does, and a branch."""
        names = sorted(self.stored(flow.copied_all(node.body)))
        kinds = lambda: [leave.copied(handler.type) if handler.type else ast.Name("BaseException", ast.Load()) for handler in node.handlers]
        body, fine, error = (f"_rg_{name}_{label[4:]}" for name in ("body", "fine", "error"))
        arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
        function = _at(_definition(body, arguments, flow.copied_all(node.body)), node, missing=True)
        handled = ast.parse(f"raise {error}").body
        for handler, kind in reversed(list(zip(node.handlers, kinds()))):
            bound = [ast.Assign([ast.Name(handler.name, ast.Store())], ast.Name(error, ast.Load()))] if handler.name else []
            match = ast.Call(ast.Attribute(ast.Name("_rg", ast.Load()), "handles", ast.Load()), [ast.Name(error, ast.Load()), kind], [])
            handled = [ast.If(match, [*bound, *flow.copied_all(handler.body)], handled)]
        branch = ast.If(ast.Name(fine, ast.Load()), [*flow.copied_all(node.body), *flow.copied_all(node.orelse)], handled)
        branch = _at(branch, node, missing=True)
        after = flow.copied_all(node.finalbody)
        caught = lambda: ast.Tuple([self.visit(kind) for kind in kinds()], ast.Load())
        found = ast.Tuple([ast.Name(fine, ast.Store()), ast.Name(error, ast.Store())], ast.Store())
        call = _call("attempt", ast.Name(body, ast.Load()), _names(names, order=True), caught(), _locals())
        asked = _at(ast.Assign([found], call), node, missing=True)
        end = _at(ast.Expr(_call("attempted", ast.Name(label, ast.Load()), caught())), node, missing=True)
        function = self.visit(function)
        self.live = live
        statements = self.block([branch, *after], live)
        self.live = live
        return [function, asked, *statements, end]

    def visit_Raise(self, node):
        if node.exc is None:
            return node
        cause = self.visit(node.cause) if node.cause else ast.Constant(None)
        check = _at(ast.Expr(_call("raised", _lambda(self.visit(node.exc)))), node, missing=True)
        return [check, _at(ast.If(_call("raises"), [_at(ast.Raise(_call("exception"), cause if node.cause else None), node, missing=True)], []), node, missing=True)]

    def visit_Assert(self, node):
        message = self.visit(node.msg) if node.msg else ast.Constant(None)
        return _at(ast.Expr(_call("check", self._condition(node.test), _lambda(message))), node, missing=True)

    def visit_Match(self, node):
        live = set(self.live)
        node.subject = self.visit(node.subject)
        if any(isinstance(item, ast.MatchClass) for case in node.cases for item in flow.nodes(case.pattern)):
            node.subject = _at(_call("matched", node.subject), node.subject)
        for case in node.cases:
            case.guard = self.visit(case.guard) if case.guard else None
            case.body = self.block(case.body, live)
        return node

    def visit_Starred(self, node):
        if isinstance(node.ctx, ast.Load):
            node.value = _at(_call("unpacked", self.visit(node.value)), node.value, missing=True)
        return node

    def visit_Assign(self, node):
        value = self.visit(node.value)
        if any(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets) and not isinstance(value, ast.Tuple):
            value = _at(_call("unpacked", value), node.value, missing=True)
        stores, targets = [], []
        for target in node.targets:
            targets.append(self._target(target, stores))
        node.targets, node.value = targets, value
        return [node, *stores] if stores else node

    def visit_AnnAssign(self, node):
        if node.value is None:
            return _at(ast.Pass(), node)
        return self.visit_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def _target(self, target, stores):
        """A target with all but local names replaced by names that are stored afterwards."""
        if isinstance(target, (ast.Tuple, ast.List)):
            target.elts = [self._target(item, stores) for item in target.elts]
            return target
        if isinstance(target, ast.Starred):
            target.value = self._target(target.value, stores)
            return target
        if isinstance(target, ast.Name) and target.id not in self.declared:
            return target
        name = f"{self._label()}_value"
        if isinstance(target, ast.Name):
            call = self._store_declared(target.id, ast.Name(name, ast.Load()))
        elif isinstance(target, ast.Subscript):
            call = _call("store", self.visit(target.value), self._index(target.slice), ast.Name(name, ast.Load()))
        else:
            call = _call("store_attribute", self.visit(target.value), ast.Constant(target.attr), ast.Name(name, ast.Load()))
        stores.append(_at(ast.Expr(call), target, missing=True))
        return ast.copy_location(ast.Name(name, ast.Store()), target)

    def _store_declared(self, name, value):
        if self.declared[name] is ast.Global:
            return _call("store_global", ast.Name("_rg_scope", ast.Load()), ast.Constant(name), value)
        return _call("store_cell", _lambda(ast.Name(name, ast.Load())), ast.Constant(name), value)

    def visit_AugAssign(self, node):
        operator = ast.Constant(_OPERATORS.index(type(node.op)))
        walrus = _has(node.value, ast.NamedExpr)
        value = self.visit(node.value)
        target = node.target
        if isinstance(target, ast.Name):
            call = _call("augment", operator, self.visit(ast.copy_location(ast.Name(target.id, ast.Load()), target)), value)
            if target.id in self.declared:
                return _at(ast.Expr(self._store_declared(target.id, call)), node, missing=True)
            return _at(ast.Assign([ast.Name(target.id, ast.Store())], call), node, missing=True)
        # Python reads the target before it evaluates what is added.
        if walrus:
            return self._augmented(node, operator, target, value)
        if isinstance(target, ast.Subscript):
            call = _call("augment_item", operator, self.visit(target.value), self._index(target.slice), _lambda(value))
        else:
            call = _call("augment_attribute", operator, self.visit(target.value), ast.Constant(target.attr), _lambda(value))
        return _at(ast.Expr(call), node, missing=True)

    def _augmented(self, node, operator, target, value):
        """The same where what is added binds names: step by step, because they are names of this function."""
        owner, key, old, added = (f"{self._label()}_value" for _ in range(4))
        load = lambda name: ast.Name(name, ast.Load())
        item = isinstance(target, ast.Subscript)
        steps = [(owner, self.visit(target.value)), (key, self._index(target.slice) if item else ast.Constant(target.attr))]
        steps += [(old, _call("load" if item else "attribute", load(owner), load(key))), (added, value)]
        made = [ast.Assign([ast.Name(name, ast.Store())], step) for name, step in steps]
        made.append(ast.Expr(_call("augment_loaded", operator, load(owner), load(key), load(old), load(added), ast.Constant(item))))
        return [_at(step, node, missing=True) for step in made]

    def visit_Delete(self, node):
        result = []
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                call = _call("delete_item", self.visit(target.value), self._index(target.slice))
            elif isinstance(target, ast.Attribute):
                call = _call("delete_attribute", self.visit(target.value), ast.Constant(target.attr))
            elif isinstance(target, ast.Name) and target.id in self.declared:
                call = _call("refuse_delete", ast.Constant(target.id))
            else:
                result.append(ast.copy_location(ast.Delete([target]), node))
                continue
            result.append(_at(ast.Expr(call), node, missing=True))
        return result

    # Expressions

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in _UNTOUCHED:
            node.args = [self.visit(item) for item in node.args]
            node.keywords = [ast.keyword(item.arg, self.visit(item.value)) for item in node.keywords]
            return node
        arguments = [self.visit(item) for item in node.args]
        keywords = [ast.keyword(item.arg, self.visit(item.value)) for item in node.keywords]
        call = _call("call", self.visit(node.func), *arguments)
        call.keywords = keywords
        return _at(call, node, missing=True)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id not in self.locals and not node.id.startswith("_rg"):
            scope = ast.Name("_rg_scope", ast.Load())
            return _at(_call("outer", scope, ast.Constant(node.id), ast.Name(node.id, ast.Load())), node, missing=True)
        return node

    def visit_Attribute(self, node):
        node.value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            return _at(_call("attribute", node.value, ast.Constant(node.attr)), node, missing=True)
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

    def visit_BinOp(self, node):
        operator = ast.Constant(_OPERATORS.index(type(node.op)))
        return _at(_call("binary", operator, self.visit(node.left), self.visit(node.right)), node, missing=True)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            return _at(_call("negate", self._condition(node.operand)), node, missing=True)
        if isinstance(node.operand, ast.Constant):
            return node
        return _at(_call("unary", ast.Constant(_SIGNS.index(type(node.op))), self.visit(node.operand)), node, missing=True)

    def visit_IfExp(self, node):
        test = self._condition(node.test)
        if _has(node, ast.NamedExpr):
            return ast.copy_location(ast.IfExp(_at(_call("test", test), node, missing=True), self.visit(node.body), self.visit(node.orelse)), node)
        return _at(_call("choose", test, _lambda(self.visit(node.body)), _lambda(self.visit(node.orelse))), node, missing=True)

    def visit_BoolOp(self, node):
        if _has(node, ast.NamedExpr):
            node.values = [_at(_call("test", self.visit(item)), item, missing=True) for item in node.values]
            return node
        name = "conjunction" if isinstance(node.op, ast.And) else "disjunction"
        first, *rest = node.values
        result = self.visit(first)
        for value in rest:
            result = _call(name, result, _lambda(self.visit(value)))
        return _at(result, node, missing=True)

    def visit_Compare(self, node):
        if len(node.ops) > 1 and not _has(node, ast.NamedExpr):
            left, parts = node.left, []
            for k, (op, right) in enumerate(zip(node.ops, node.comparators)):
                if k < len(node.ops) - 1:
                    name = f"{self._label()}_value"
                    following = ast.Name(name, ast.Load())
                    right = ast.NamedExpr(ast.Name(name, ast.Store()), right)
                parts.append((left, op, right))
                left = following
            compared = [self._compared(*part) for part in parts]
            result = compared[-1]
            for part in reversed(compared[:-1]):
                result = _call("conjunction", part, _lambda(result))
            return _at(result, node, missing=True)
        if len(node.ops) == 1:
            return _at(self._compared(node.left, node.ops[0], node.comparators[0]), node, missing=True)
        return self.generic_visit(node)

    def _compared(self, left, op, right):
        none = [isinstance(item, ast.Constant) and item.value is None for item in (left, right)]
        left, right = self.visit(left), self.visit(right)
        if isinstance(op, (ast.Is, ast.IsNot)) and any(none):
            asked = _call("is_none", right if none[0] else left)
            return asked if isinstance(op, ast.Is) else _call("negate", asked)
        if isinstance(op, (ast.Is, ast.IsNot)):
            asked = _call("identical", left, right)
            return asked if isinstance(op, ast.Is) else _call("negate", asked)
        if isinstance(op, (ast.In, ast.NotIn, ast.Eq, ast.NotEq)):
            return _call({ast.In: "contains", ast.NotIn: "lacks", ast.Eq: "equal", ast.NotEq: "unequal"}[type(op)], left, right)
        return _call("ordered", ast.Constant(_ORDERS.index(type(op))), left, right)

    def visit_NamedExpr(self, node):
        node.value = self.visit(node.value)
        return node

    def _made(self, node):
        return _at(_call("made", self.generic_visit(node)), node, missing=True)

    def visit_List(self, node):
        return self._made(node) if isinstance(node.ctx, ast.Load) else self.generic_visit(node)

    visit_Dict = visit_Set = lambda self, node: self._made(node)

    def _comprehension(self, node):
        for part in node.generators:
            part.iter = _at(_call("iterated", self.visit(part.iter)), part.iter, missing=True)
            part.ifs = [_at(_call("test", self._condition(item)), item, missing=True) for item in part.ifs]
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                setattr(node, field, self.visit(getattr(node, field)))
        return _at(_call("generator" if isinstance(node, ast.GeneratorExp) else "made", node), node, missing=True)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_JoinedStr(self, node):
        parts = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(part)
                continue
            source = ast.Constant(ast.unparse(part.value))
            spec = self.visit(part.format_spec) if part.format_spec else ast.Constant("")
            parts.append(ast.Tuple([self.visit(part.value), ast.Constant(part.conversion), spec, source], ast.Load()))
        return _at(_call("joined", *parts), node, missing=True)

    def visit_FunctionDef(self, node):
        node.decorator_list = [self.visit(item) for item in node.decorator_list]
        node.args.defaults = [self.visit(item) for item in node.args.defaults]
        node.args.kw_defaults = [item and self.visit(item) for item in node.args.kw_defaults]
        node.returns = None
        if any(isinstance(item, ast.Await) for item in _scope(node.body)):
            return node
        live = self.live
        result = _reader(node)(node, self.locals, set()).definition(top=False)
        self.live = live
        return result

    def visit_Lambda(self, node):
        inner = _Function(node, self.locals, set())
        node.args.defaults = [self.visit(item) for item in node.args.defaults]
        node.args.kw_defaults = [item and self.visit(item) for item in node.args.kw_defaults]
        inner.count = self.count + 1000
        node.body = inner.visit(node.body)
        return node

    def visit_AsyncFunctionDef(self, node):
        return node

    def visit_ClassDef(self, node):
        return node

    def visit_Global(self, node):
        # Stores go through the runtime; loads find the name without the declaration unless a store stands in the same function.
        return node


class _Generator(_Function):
    """Rewrites a generator: what it computes, loads, stores and calls. Its loops and branches stay Python's, since it stops wherever it yields: their
    conditions have to be known."""

    def _lower(self, node):
        pass

    def block(self, statements, live):
        self.live = set(live) | self.captured
        found = [self.visit(statement) for statement in statements]
        return [item for new in found for item in (new if isinstance(new, list) else [new])]

    def visit_For(self, node):
        stores = []
        node.iter = _at(_call("iterated", self.visit(node.iter)), node.iter, missing=True)
        node.target = self._target(node.target, stores)
        node.body, node.orelse = [*stores, *self.block(node.body, ())], self.block(node.orelse, ())
        return node

    def visit_If(self, node):
        node.test = _at(_call("test", self._condition(node.test)), node.test, missing=True)
        node.body, node.orelse = self.block(node.body, ()), self.block(node.orelse, ())
        return node

    visit_While = visit_If

    def visit_YieldFrom(self, node):
        node.value = _at(_call("iterated", self.visit(node.value)), node.value, missing=True)
        return node

    def visit_Try(self, node):
        for handler in node.handlers:
            handler.type = self.visit(handler.type) if handler.type else None
            handler.body = [_at(ast.Expr(_call("caught")), handler, missing=True), *self.block(handler.body, ())]
        node.body, node.orelse, node.finalbody = self.block(node.body, ()), self.block(node.orelse, ()), self.block(node.finalbody, ())
        return node


def _reader(node):
    """What reads a function."""
    return _Generator if any(isinstance(item, (ast.Yield, ast.YieldFrom)) for item in _scope(node.body)) else _Function


def _appended(body):
    """Names that a loop appends to, with the number of places: lists that may grow by as many items in a step."""
    called = [item.func for statement in body for item in flow.walk(statement) if isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute)]
    names = [function.value.id for function in called if function.attr == "append" and isinstance(function.value, ast.Name)]
    return tuple((name, names.count(name)) for name in dict.fromkeys(names))


def _flag(name):
    return f"_rg_has_{name}"


class _Flags(ast.NodeTransformer):
    """Notes in a flag whether a name is bound, and asks the flag where the name is read: one that a branch or a loop binds perhaps."""

    def __init__(self, names):
        self.names = names

    def body(self, statements):
        start = [ast.Assign([ast.Name(_flag(name), ast.Store())], ast.Constant(False)) for name in sorted(self.names)]
        return [_at(item, statements[0], missing=True) for item in start] + self.block(statements)

    def block(self, statements):
        result = []
        for statement in statements:
            bound = sorted(self.names & set(flow.stored(flow.copied(_head(statement)))))
            deletes = isinstance(statement, ast.Delete)
            if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name) and statement.target.id in self.names:
                read = ast.copy_location(ast.Name(statement.target.id, ast.Load()), statement)
                result.append(ast.copy_location(ast.Expr(self.visit(read)), statement))
            flags = [_at(ast.Assign([ast.Name(_flag(name), ast.Store())], ast.Constant(not deletes)), statement, missing=True) for name in bound]
            new = self.visit(statement)
            if isinstance(new, (ast.For, ast.With)):
                new.body = flags + new.body
                flags = []
            result += [new, *flags]
        return result

    def generic_visit(self, node):
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, field, self.block(value))
            elif isinstance(value, list):
                setattr(node, field, [self.visit(item) if isinstance(item, ast.AST) else item for item in value])
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
        return node

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load) or node.id not in self.names:
            return node
        return _at(_call("bound", ast.Name(_flag(node.id), ast.Load()), ast.Constant(node.id), _lambda(ast.Name(node.id, ast.Load()))), node, missing=True)

    def visit_NamedExpr(self, node):
        """What `:=` binds may be read in the same statement."""
        self.generic_visit(node)
        if node.target.id not in self.names:
            return node
        flag = ast.NamedExpr(ast.Name(_flag(node.target.id), ast.Store()), ast.Constant(True))
        return _at(ast.Subscript(ast.Tuple([flag, node], ast.Load()), ast.Constant(1), ast.Load()), node, missing=True)

    def _comprehension(self, node):
        own = {item.id for part in node.generators for item in flow.nodes(part.target) if isinstance(item, ast.Name)}
        names, self.names = self.names, self.names - own
        self.generic_visit(node)
        self.names = names
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_FunctionDef(self, node):
        return node

    visit_Lambda = visit_ClassDef = visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ListComp(self, node):
        """Names of a comprehension are its own; only what it goes over first is read outside of it."""
        own = {item.id for generator in node.generators for item in flow.nodes(generator.target) if isinstance(item, ast.Name)}
        first, outer = self.visit(node.generators[0].iter), self.names
        node.generators[0].iter, self.names = ast.Constant(None), self.names - own
        self.generic_visit(node)
        node.generators[0].iter, self.names = first, outer
        return node

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp


def _head(statement):
    """What a statement binds by itself, without the statements inside it."""
    if isinstance(statement, ast.For):
        return ast.Tuple([statement.target, statement.iter], ast.Load())
    if isinstance(statement, (ast.If, ast.While)):
        return statement.test
    if isinstance(statement, ast.With):
        return ast.With(statement.items, [])
    return ast.Pass() if isinstance(statement, (ast.Try, ast.Match)) else statement


def _scope(body):
    """The nodes of a function, without those of functions inside it."""
    todo = list(body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, flow.SCOPES):
            todo += flow.children(node)


def _rebound_inside(body):
    """Names that functions inside a function declare `nonlocal`."""
    return {name for statement in body for item in flow.nodes(statement) if isinstance(item, ast.Nonlocal) for name in item.names}


def _comprehension_targets(body):
    nodes = [item for statement in body for item in flow.nodes(statement) if isinstance(item, ast.comprehension)]
    return {item.id for node in nodes for item in flow.nodes(node.target) if isinstance(item, ast.Name)}


def _call(name, *arguments):
    function = ast.Attribute(ast.Name("_rg", ast.Load()), name, ast.Load())
    return ast.Call(function, list(arguments), [])


def _lambda(body):
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), body)


def _names(names, order=False):
    return ast.Constant(tuple(names if order else sorted(names)))


def _name(name):
    return ast.Name(name, ast.Load())


def _method(label, name, *arguments):
    """What a loop or branch is asked for."""
    return ast.Call(ast.Attribute(_name(label), name, ast.Load()), list(arguments), [])


def _locals():
    return ast.Call(_name("locals"), [], [])


def _at(new, node, missing=False):
    """The new node at the place of an old one; `missing` leaves parts alone that have their own place: all of their parts have one, too."""
    line, column = node.lineno, node.col_offset
    # Of a statement Python would give some instructions to its last line. Of an expression the end is where carets end.
    end = (node.end_lineno, node.end_col_offset) if isinstance(node, ast.expr) else (line, column)
    todo = [new]
    while todo:
        item = todo.pop()
        if "lineno" in item._attributes:
            fields = item.__dict__
            if missing and "lineno" in fields:
                continue
            fields["lineno"], fields["col_offset"] = line, column
            fields["end_lineno"], fields["end_col_offset"] = end
        todo += flow.children(item)
    return new


def position(code):
    return (code.co_filename, code.co_firstlineno)


def unread(function):
    """Why a function is traced as it runs."""
    return errors.Unsupported(
        f"the source of `{function.__name__}` cannot be read, or is not what runs: a condition or loop on traced values needs it", position(function.__code__)
    )
