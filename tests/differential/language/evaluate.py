"""A lazy evaluator (3.3.3, and `docs/decisions.md` where the text is silent): from a document to its operations.

Values are int, float, bool, str, list, tuple, `Tensor`, and `Literal`: a number in the place of a tensor. Whether an
operator is an operation or arithmetic, and whether a number stands for a tensor, follows from static types.
"""
import math
import re

from .prelude import declared
from .syntax import BUILTINS, Parser
from .types import Typer, is_tensor

OPERATIONS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "^": "pow", "<": "lt", "<=": "le", ">": "gt",
              ">=": "ge", "==": "eq", "!=": "ne", "&&": "and", "||": "or"}
STEPS, ITEMS, EMITTED = 200_000, 5_000, 20_000


class Failed(Exception):
    """The program has an error that shows when it is expanded."""


class Unjudged(Exception):
    """The program is beyond what is compared: too large, or with scalars that are not finite."""


class Literal:
    """A number in the place of a tensor."""

    def __init__(self, value):
        self.value = value


class Operation:
    """An operation of the flat graph."""

    def __init__(self, name, dtype, inputs, attributes):
        self.name, self.dtype, self.inputs, self.attributes = name, dtype, inputs, attributes
        # All operations but sources work item by item.
        self.shape = attributes["shape"] if "shape" in attributes else max(shapes_of(inputs.values()), default=[], key=len)


class Tensor:
    """A result of an operation."""

    def __init__(self, operation, index=0):
        self.operation, self.index = operation, index


def shapes_of(values):
    """The shapes of the tensors among values; numbers have none."""
    for value in values:
        if isinstance(value, Tensor):
            yield value.operation.shape
        elif isinstance(value, list):
            yield from shapes_of(value)


def items_of(tensor, ty):
    """The items of a constant that is given for numbers, nested by its shape."""
    if tensor.operation.name != "constant":
        raise Failed("the items of a tensor are not known")
    shape, items = [tensor.operation.attributes[name] for name in ("shape", "value")]
    if len(items) == 1:
        items = items * math.prod(shape)
    if isinstance(ty, str):
        return items[0]
    for extent in reversed(shape[1:]):
        items = [items[i:i + extent] for i in range(0, len(items), extent)]
    return items


def as_type(value, ty):
    """A value converted to a static type: numbers become literal tensors, and constants numbers."""
    if isinstance(value, Tensor) and not is_tensor(ty) and ty not in ("?", "[]"):
        return items_of(value, ty)
    if is_tensor(ty):
        return value if isinstance(value, (Tensor, Literal)) else Literal(value)
    if ty[0] == "array" and isinstance(value, list):
        return [as_type(item, ty[1]) for item in value]
    if ty[0] == "tuple":
        return tuple(as_type(item, part) for item, part in zip(value, ty[1]))
    return value


def integer(value):
    if not -2**63 <= value < 2**63:
        raise Failed("an integer of more than 64 bits")
    return value


def finite(value):
    if isinstance(value, complex) or not math.isfinite(value):
        raise Unjudged("not a finite scalar")
    return value


def of_integers(op, a, b):
    if op == "/":
        if b == 0:
            raise Failed("division by zero")
        quotient = abs(a) // abs(b)
        return integer(quotient if (a < 0) == (b < 0) else -quotient)
    if op == "^":
        if b < 0:
            raise Failed("a negative exponent")
        if b > 63 and a not in (-1, 0, 1):
            raise Failed("an integer of more than 64 bits")
        return integer(a ** (b % 2 + 2 if a == -1 else min(b, 64)))
    return integer({"+": a + b, "-": a - b, "*": a * b}[op])


def of_scalars(op, a, b):
    try:
        if op == "/":
            if b == 0:
                raise Failed("division by zero")
            return finite(a / b)
        if op == "^":
            return finite(a ** b)
        return finite({"+": a + b, "-": a - b, "*": a * b}[op])
    except (OverflowError, ZeroDivisionError):
        raise Unjudged("not a finite scalar") from None


def repeated(items, count):
    if count < 0:
        raise Failed("a negative number of repetitions")
    if len(items) * count > ITEMS:
        raise Unjudged("too long")
    return items * count


def compared(op, a, b):
    return {"<": lambda: a < b, "<=": lambda: a <= b, ">": lambda: a > b, ">=": lambda: a >= b,
            "==": lambda: a == b, "!=": lambda: a != b}[op]()


def arithmetic(op, a, b):
    """An operator on compile-time values."""
    if op == "in":
        return any(a == item for item in b)
    if op in ("<", "<=", ">", ">=", "==", "!="):
        return compared(op, a, b)
    if isinstance(a, (list, str)):
        if op == "*":
            return repeated(a, b)
        if len(a) + len(b) > ITEMS:
            raise Unjudged("too long")
        return a + b
    return of_integers(op, a, b) if isinstance(a, int) else of_scalars(op, a, b)


def builtin(name, value):
    """A built-in function other than `shape_of`."""
    if name == "length_of":
        return len(value)
    if name == "range_of":
        return list(range(len(value)))
    if name == "logical":
        return bool(value)
    if name == "string":
        text = value if isinstance(value, str) else str(value).lower()
        if isinstance(value, float) and "e" in text:
            raise Unjudged("a scalar with an exponent has several texts")
        return text
    if name == "scalar":
        if isinstance(value, str) and not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?", value):
            raise Failed("not a scalar")
        return finite(float(value))
    if isinstance(value, str) and not re.fullmatch("-?[0-9]+", value):
        raise Failed("not an integer")
    return integer(int(value))


class Frame:
    """A running body: its values, and the statements that are not evaluated yet, by the names that they assign."""

    def __init__(self, typer, values, generic):
        self.typer, self.values, self.generic, self.pending = typer, values, generic, {}


def names_of(target):
    """The names of a left side."""
    return [target[1]] if target[0] == "name" else [name for item in target[1] for name in names_of(item)]


def types_of(target, ty, scope):
    """Adds the names of a left side to the types in scope."""
    if target[0] == "name":
        scope.setdefault(target[1], ty)
        return
    parts = ty[1] if ty[0] == "tuple" else [ty[1]] * len(target[1])
    for item, part in zip(target[1], parts):
        types_of(item, part, scope)


class Evaluator:
    """Evaluates one document. With `eager`, all statements of bodies are evaluated, even if nothing needs them."""

    def __init__(self, text, draft, eager):
        self.draft, self.eager = draft, eager
        fragments, self.graph = Parser(text, draft).document()
        self.fragments = {fragment.name: fragment for fragment in declared(draft) + fragments}
        self.typers, self.steps, self.emitted = {}, 0, 0

    def run(self):
        """The values of the names of the graph."""
        inputs, outputs, body = self.graph
        typer = Typer(self.fragments)
        frame, scope = Frame(typer, {}, None), {}
        for target, value in body:
            types_of(target, typer.type(value, scope), scope)
            self.assign(target, self.value(value, frame, {}), frame)
        return frame.values, outputs

    def typer(self, fragment):
        """The types in a body."""
        if fragment.name not in self.typers:
            typer = Typer(self.fragments)
            scope = {name: ty for name, ty, _ in fragment.params}
            results = dict(fragment.results)
            for target, value in fragment.body:
                ty = typer.type(value, scope)
                if target[0] == "name" and target[1] in results:
                    ty = results[target[1]]
                types_of(target, ty, scope)
            self.typers[fragment.name] = typer
        return self.typers[fragment.name]

    def assign(self, target, value, frame):
        if target[0] == "name":
            frame.values[target[1]] = value
            return
        if len(value) != len(target[1]):
            raise Failed("%d names for %d items" % (len(target[1]), len(value)))
        for item, part in zip(target[1], value):
            self.assign(item, part, frame)

    def named(self, name, frame, inner):
        """The value of a name; its statement is evaluated when the name is needed first."""
        if name in inner:
            return inner[name]
        if name in frame.pending:
            target, value = frame.pending[name]
            for assigned in names_of(target):
                del frame.pending[assigned]
            self.assign(target, self.value(value, frame, {}), frame)
        return frame.values[name]

    def value(self, node, frame, inner):
        self.steps += 1
        if self.steps > STEPS:
            raise Unjudged("too many steps")
        kind = node[0]
        if kind in ("int", "real", "logical", "string"):
            return node[1]
        if kind == "name":
            return self.named(node[1], frame, inner)
        return getattr(self, "eval_" + kind)(node, frame, inner)

    def type(self, node, frame):
        return frame.typer.types[id(node)]

    def eval_array(self, node, frame, inner):
        return as_type([self.value(item, frame, inner) for item in node[1]], self.type(node, frame))

    def eval_tuple(self, node, frame, inner):
        return tuple(self.value(item, frame, inner) for item in node[1])

    def eval_unary(self, node, frame, inner):
        _, op, operand = node
        value = self.value(operand, frame, inner)
        if is_tensor(self.type(operand, frame)):
            return self.emit({"-": "neg", "!": "not", "+": "copy"}[op], None, {"x": value}, {})
        return {"-": lambda: integer(-value) if isinstance(value, int) else -value,
                "!": lambda: not value, "+": lambda: value}[op]()

    def eval_binary(self, node, frame, inner):
        _, op, left, right = node
        tensors = [is_tensor(self.type(side, frame)) for side in (left, right)]
        a = self.value(left, frame, inner)
        if op in OPERATIONS and any(tensors):
            b = self.value(right, frame, inner)
            operands = [value if isinstance(value, (Tensor, Literal)) else Literal(value) for value in (a, b)]
            return self.emit(OPERATIONS[op], None, dict(zip("xy", operands)), {})
        if op in ("&&", "||"):
            return a if a == (op == "||") else self.value(right, frame, inner)
        b = self.value(right, frame, inner)
        return as_type(arithmetic(op, a, b), self.type(node, frame))

    def eval_select(self, node, frame, inner):
        _, condition, yes, no = node
        chosen = yes if self.value(condition, frame, inner) else no
        return as_type(self.value(chosen, frame, inner), self.type(node, frame))

    def eval_index(self, node, frame, inner):
        base, index = self.value(node[1], frame, inner), self.value(node[2], frame, inner)
        if not 0 <= index < len(base):
            raise Failed("index %d of %d items" % (index, len(base)))
        return base[index]

    def eval_slice(self, node, frame, inner):
        base = self.value(node[1], frame, inner)
        begin = 0 if node[2] is None else self.value(node[2], frame, inner)
        end = len(base) if node[3] is None else self.value(node[3], frame, inner)
        if not 0 <= begin <= len(base) or not 0 <= end <= len(base):
            raise Failed("range %d:%d of %d items" % (begin, end, len(base)))
        return base[begin:end] if begin < end else base[:0]

    def eval_for(self, node, frame, inner):
        _, iterators, condition, item = node
        arrays = [self.value(iterable, frame, inner) for _, iterable in iterators]
        if len({len(array) for array in arrays}) > 1:
            raise Failed("arrays of different lengths")
        found = []
        for values in zip(*arrays):
            local = dict(inner, **dict(zip([name for name, _ in iterators], values)))
            if condition is None or self.value(condition, frame, local):
                found.append(self.value(item, frame, local))
        return as_type(found, self.type(node, frame))

    def eval_call(self, node, frame, inner):
        _, name, _, arguments = node
        if name == "shape_of":
            value = self.value(arguments[0][1], frame, inner)
            shape = list(value.operation.shape) if isinstance(value, Tensor) else []
            # In the draft, a tensor has batch and channels at least.
            return shape + [1] * (2 - len(shape)) if self.draft else shape
        if name in BUILTINS:
            return builtin("integer" if name == "extent" else name, self.value(arguments[0][1], frame, inner))
        fragment = self.fragments[name]
        given = {fragment.params[place][0] if key is None else key: value
                 for place, (key, value) in enumerate(arguments)}
        values = {}
        for param, ty, default in fragment.params:
            value = given.get(param, default)
            if param in given:
                values[param] = as_type(self.value(value, frame, inner), ty)
            elif default is not None:
                values[param] = as_type(self.default(default), ty)
        generic = frame.typer.generics.get(id(node))
        generic = frame.generic if generic == "?" else generic
        if fragment.body is None:
            return self.operation(fragment, generic, values)
        return self.call(fragment, generic, values)

    def default(self, node):
        """A literal."""
        if node[0] in ("array", "tuple"):
            items = [self.default(item) for item in node[1]]
            return items if node[0] == "array" else tuple(items)
        return -self.default(node[2]) if node[0] == "unary" else node[1]

    def call(self, fragment, generic, values):
        frame = Frame(self.typer(fragment), values, generic)
        for target, value in fragment.body:
            for name in names_of(target):
                frame.pending[name] = (target, value)
        results = []
        for name, ty in fragment.results:
            value = as_type(self.named(name, frame, {}), ty)
            frame.values[name] = value
            results.append(value)
        if self.eager:
            for name in list(frame.pending):
                if name in frame.pending:
                    self.named(name, frame, {})
        return results[0] if len(results) == 1 else tuple(results)

    def operation(self, fragment, generic, values):
        """An operation without a body."""
        inputs, attributes = {}, {}
        for name, ty, _ in fragment.params:
            leaf = ty[1] if ty[0] == "array" else ty
            if name in values:
                (inputs if is_tensor(leaf) else attributes)[name] = values[name]
        return self.emit(fragment.name, generic, inputs, attributes)

    def emit(self, name, dtype, inputs, attributes):
        self.emitted += 1
        if self.emitted > EMITTED:
            raise Unjudged("too many operations")
        return Tensor(Operation(name, None if self.draft else dtype, inputs, attributes))
