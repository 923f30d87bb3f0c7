"""Static types (3.3.1, 3.3.2): "integer", "scalar", "logical", "string", "?", ("tensor", element), ("array", item),
("tuple", items), and "[]", the type of the empty array. The element of a tensor is None where none is declared."""
from .syntax import BUILTINS

ORDER = ("<", "<=", ">", ">=", "==", "!=")


def is_tensor(ty):
    """Whether a type is that of one tensor."""
    return ty[0] == "tensor"


def is_array(ty):
    """Whether a type is that of an array."""
    return ty[0] == "array" or ty == "[]"


def castable(given, wanted):
    """Whether a value converts to a type (3.3.2)."""
    if given == wanted or wanted == "?":
        return True
    if is_tensor(wanted):
        element = given[1] if is_tensor(given) else given
        anything = wanted[1] in (None, "?", "") or element in (None, "?")
        return (is_tensor(given) or isinstance(given, str)) and given != "[]" and (anything or element == wanted[1])
    if wanted[0] == "array":
        return given == "[]" or given[0] == "array" and castable(given[1], wanted[1])
    if wanted[0] == "tuple" and given[0] == "tuple" and len(given[1]) == len(wanted[1]):
        return all(castable(a, b) for a, b in zip(given[1], wanted[1]))
    return False


def common(a, b):
    """The type that both convert to."""
    if castable(a, b):
        return b
    if castable(b, a):
        return a
    if a[0] == b[0] == "array":
        return ("array", common(a[1], b[1]))
    if a[0] == b[0] == "tuple":
        return ("tuple", tuple(common(x, y) for x, y in zip(a[1], b[1])))
    raise TypeError("%r and %r have no common type" % (a, b))


def instantiated(ty, generic):
    """A type with `?` replaced."""
    if ty == "?":
        return generic
    if is_tensor(ty):
        return ("tensor", generic) if ty[1] == "?" else ty
    if ty[0] == "array":
        return ("array", instantiated(ty[1], generic))
    if ty[0] == "tuple":
        return ("tuple", tuple(instantiated(item, generic) for item in ty[1]))
    return ty


def bound(formal, actual):
    """The type that `?` in a formal type stands for, given an actual type."""
    if formal == "?" and isinstance(actual, str) and actual != "[]":
        return actual
    if is_tensor(formal):
        return (actual[1] if is_tensor(actual) else actual) if formal[1] == "?" and actual != "[]" else None
    if formal[0] == "array" and actual[0] == "array":
        return bound(formal[1], actual[1])
    if formal[0] == "tuple" and actual[0] == "tuple":
        return next(filter(None, map(bound, formal[1], actual[1])), None)
    return None


class Typer:
    """Types of the expressions of a body, by the identity of their nodes."""

    def __init__(self, fragments):
        self.fragments, self.types, self.generics = fragments, {}, {}

    def type(self, node, scope):
        found = getattr(self, "of_" + node[0].replace("for", "comprehension"))(node, scope)
        self.types[id(node)] = found
        return found

    def of_int(self, node, scope):
        return "integer"

    def of_real(self, node, scope):
        return "scalar"

    def of_logical(self, node, scope):
        return "logical"

    def of_string(self, node, scope):
        return "string"

    def of_name(self, node, scope):
        return scope[node[1]]

    def of_array(self, node, scope):
        item = None
        for part in node[1]:
            ty = self.type(part, scope)
            item = ty if item is None else common(item, ty)
        return "[]" if item is None else ("array", item)

    def of_tuple(self, node, scope):
        return ("tuple", tuple(self.type(item, scope) for item in node[1]))

    def of_unary(self, node, scope):
        return self.type(node[2], scope)

    def of_binary(self, node, scope):
        op, left, right = node[1], self.type(node[2], scope), self.type(node[3], scope)
        tensors = [ty for ty in (left, right) if is_tensor(ty)]
        if op == "in":
            return "logical"
        if op in ORDER + ("&&", "||"):
            return ("tensor", "logical") if tensors else "logical"
        if tensors:
            return tensors[0]
        if op == "+" and is_array(left):
            return common(left, right)
        return left

    def of_select(self, node, scope):
        self.type(node[1], scope)
        return common(self.type(node[2], scope), self.type(node[3], scope))

    def of_index(self, node, scope):
        base = self.type(node[1], scope)
        self.type(node[2], scope)
        if base[0] == "tuple":
            return base[1][node[2][1]]
        return "string" if base == "string" else "?" if base == "[]" else base[1]

    def of_slice(self, node, scope):
        for part in node[2:]:
            if part:
                self.type(part, scope)
        return self.type(node[1], scope)

    def of_comprehension(self, node, scope):
        inner = dict(scope)
        for name, iterable in node[1]:
            ty = self.type(iterable, scope)
            inner[name] = "?" if ty == "[]" else ty[1]
        if node[2]:
            self.type(node[2], inner)
        return ("array", self.type(node[3], inner))

    def of_call(self, node, scope):
        _, name, generic, arguments = node
        if name in BUILTINS:
            self.type(arguments[0][1], scope)
            results = {"length_of": "integer", "extent": "integer"}
            return ("array", "integer") if name in ("range_of", "shape_of") else results.get(name, name)
        fragment = self.fragments[name]
        if generic is None and fragment.generic not in (None, "?"):
            generic = fragment.generic
        for place, (given, value) in enumerate(arguments):
            formal = fragment.params[place][1] if given is None else dict(
                (param, ty) for param, ty, _ in fragment.params)[given]
            actual = self.type(value, scope)
            if generic is None and fragment.generic:
                generic = bound(formal, actual)
        self.generics[id(node)] = generic
        results = [instantiated(ty, generic) for _, ty in fragment.results]
        return results[0] if len(results) == 1 else ("tuple", tuple(results))
