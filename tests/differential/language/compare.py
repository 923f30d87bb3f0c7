"""Flat graphs up to names of inner tensors and copies: what each named tensor is computed by, and all operations."""
import collections
import hashlib

from .evaluate import Literal, Tensor

COPIES = ("copy", "idn")


def digest(*parts):
    return hashlib.md5(repr(parts).encode()).hexdigest()


def plain(value):
    """A value that is not a tensor: numbers with their type, lists and tuples alike."""
    if isinstance(value, (list, tuple)):
        return tuple(plain(item) for item in value)
    return type(value).__name__, repr(value)


def key_of(name, dtype, inputs, attributes):
    attributes = sorted((key, plain(value)) for key, value in attributes.items())
    return digest(name, dtype, sorted(inputs.items()), attributes)


class Own:
    """The graph of the evaluator."""

    def __init__(self, values):
        self.keys, self.operations = {}, collections.Counter()
        self.named = {name: self.key(value) for name, value in values.items()}

    def key(self, value):
        if isinstance(value, Tensor):
            return self.of_operation(value.operation)
        if isinstance(value, Literal):
            return plain(value.value)
        if isinstance(value, (list, tuple)):
            return tuple(self.key(item) for item in value)
        return plain(value)

    def of_operation(self, operation):
        known = self.keys.get(id(operation))
        if known is None:
            inputs = {name: self.key(value) for name, value in operation.inputs.items()}
            if operation.name in COPIES:
                known = inputs["x"]
            else:
                known = key_of(operation.name, operation.dtype, inputs, operation.attributes)
                if operation.name == "external":
                    known = digest("external", len(self.keys))
                self.operations[known] += operation.name != "external"
            self.keys[id(operation)] = known
        return known


class Flat:
    """The graph that the program wrote as JSON."""

    def __init__(self, graph):
        self.named, self.operations = {}, collections.Counter()
        for operation in graph["operations"]:
            inputs = {name: self.key(value) for name, value in operation["inputs"].items()}
            name, outputs = operation["name"], list(operation["outputs"].values())
            if name in COPIES:
                key = inputs["x"]
            elif name == "external":
                key = digest("external", len(self.named))
            else:
                key = key_of(name, operation["dtype"], inputs, operation["attributes"])
                self.operations[key] += 1
            self.named[outputs[0]] = key

    def key(self, value):
        if isinstance(value, str):
            return self.named[value]
        return tuple(self.key(item) for item in value) if isinstance(value, list) else plain(value)


def difference(values, outputs, graph):
    """What differs between the values of the graph's names and a flat graph; none if nothing does."""
    own, flat = Own(values), Flat(graph)
    if graph["outputs"] != outputs:
        return "outputs %r, %r are right" % (graph["outputs"], outputs)
    for name, key in own.named.items():
        if flat.named.get(name) != key:
            return "`%s` is computed otherwise" % name
    if own.operations != flat.operations:
        return "%d operations, %d are right" % (sum(flat.operations.values()), sum(own.operations.values()))
    return None
