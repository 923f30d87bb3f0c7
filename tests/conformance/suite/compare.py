"""Equality of numbers, of flat graphs and of texts of expressions."""

import cmath
import json
import math
import re


def near(got, want, most):
    """Equal floats, both not a number, or finite ones that are at most so far apart."""
    if got == want or got != got and want != want:
        return True
    return math.isfinite(got) and math.isfinite(want) and abs(got - want) <= most


def close(got, want, tolerance=1e-4):
    """Equal numbers, also nested; a wanted null stands for anything."""
    if want is None:
        return True
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(close(g, w, tolerance) for g, w in zip(got, want))
    if isinstance(want, bool):
        return bool(got) == want
    if isinstance(want, str) or isinstance(got, str):
        try:
            got, want = float(got), float(want)
        except (TypeError, ValueError):
            return got == want
    if got is None or isinstance(got, list):
        return False
    return near(got, want, tolerance * max(1.0, abs(want)))


def same(a, b, tolerance=1e-6):
    """Equal values of attributes: kinds differ, floats are compared as of 32 bits."""
    if isinstance(a, bool) or isinstance(b, bool):
        return type(a) is type(b) and a == b
    if isinstance(a, float) and isinstance(b, float):
        return near(a, b, tolerance * max(1.0, abs(a), abs(b)))
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return set(a) == set(b) and all(same(a[key], b[key], tolerance) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b))
    return a == b


def plain(value):
    """Tuples as arrays, string constants bare."""
    if isinstance(value, dict) and set(value) == {"tuple"}:
        return [plain(item) for item in value["tuple"]]
    if isinstance(value, dict) and set(value) == {"str"}:
        return value["str"]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


class Canonical:
    """A flat graph without copies, its inner tensors renamed %1, %2, … in the order of production."""

    def __init__(self, inputs, outputs, operations):
        self.copied = {}
        kept = [part for part in map(self.without_copies, operations) if part]
        self.names, self.count = {name: name for name in inputs}, len(inputs)
        self.operations = [self.renamed(operation) for operation in kept]
        self.results = [self.rename(self.source(plain(name))) for name in outputs]

    def source(self, value):
        """The tensor that a chain of copies copies."""
        if isinstance(value, list):
            return [self.source(item) for item in value]
        while isinstance(value, str) and value in self.copied:
            value = self.copied[value]
        return value

    def without_copies(self, operation):
        inputs = {key: self.source(plain(value)) for key, value in operation["inputs"].items()}
        if operation["op"] in ("copy", "idn"):
            self.copied[next(iter(operation["outputs"].values()))] = next(iter(inputs.values()))
            return None
        return dict(operation, inputs=inputs)

    def rename(self, value):
        if isinstance(value, list):
            return [self.rename(item) for item in value]
        if not isinstance(value, str):
            return value
        if value not in self.names:
            self.names[value] = "%%%d" % (len(self.names) - self.count + 1)
        return self.names[value]

    def renamed(self, operation):
        inputs = {key: self.rename(value) for key, value in operation["inputs"].items()}
        outputs = {key: self.rename(value) for key, value in plain(operation["outputs"]).items()}
        return {"op": operation["op"], "dtype": operation.get("dtype"), "inputs": inputs,
                "attributes": plain(operation["attributes"]), "outputs": outputs}


def graph_difference(got, want, with_types):
    """What differs between two canonical graphs; none if nothing does."""
    if len(got.operations) != len(want.operations):
        return "%d operations, %d are right" % (len(got.operations), len(want.operations))
    for mine, right in zip(got.operations, want.operations):
        if right["dtype"] is None or not with_types:
            mine, right = dict(mine, dtype=None), dict(right, dtype=None)
        if not same(mine, right):
            return "operation %s, right is %s" % (json.dumps(mine)[:150], json.dumps(right)[:150])
    return None if same(got.results, want.results) else "results %s, right are %s" % (got.results, want.results)


LITERAL = re.compile(r"(?<![\w.@%])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[+-](?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?j|j)?(?![\w.])")


def literals(text):
    """The text with its numbers replaced by their kind, and the numbers: 1e-05 and 0.00001 are one float, 1 and 1.0
    are two numbers."""
    values = []

    def one(match):
        number = match.group()
        if number.endswith("j"):
            values.append(complex(number))
            return "#c"
        whole = re.fullmatch(r"[+-]?\d+", number)
        values.append(int(number) if whole else float(number))
        return "#i" if whole else "#f"

    return LITERAL.sub(one, text), values


def same_text(got, want, tolerance=0.0):
    """Equal texts of expressions (or trees and lists of them), whatever the spelling of the numbers in them."""
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(same_text(g, w, tolerance) for g, w in zip(got, want))
    if not isinstance(want, str) or not isinstance(got, str):
        return got == want
    (a, x), (b, y) = literals(got), literals(want)
    return a == b and all(g == w or cmath.isfinite(g) and cmath.isfinite(w) and abs(g - w) <= tolerance * max(1.0, abs(w))
                          for g, w in zip(x, y))


def nested(flat, shape):
    """Items in row-major order as an array of a shape."""
    if not shape:
        return flat[0] if isinstance(flat, list) else flat
    step = len(flat) // shape[0] if shape[0] else 0
    return [nested(flat[k * step:(k + 1) * step], shape[1:]) for k in range(shape[0])]


def filled(value, shape):
    """An array of one value."""
    return [filled(value, shape[1:]) for _ in range(shape[0])] if shape else value


def leaves(value):
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, list) else [value]
