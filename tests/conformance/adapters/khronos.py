"""Khronos' parser: the C++ of NNEF-Tools as the package `nnef` wraps it, with its shape inference."""

import re

import nnef
import numpy

from serve import Refused, serve


def value(item):
    """A value of the parser as JSON; constants of tensors are plain numbers."""
    if isinstance(item, nnef.Identifier):
        return str(item)
    if isinstance(item, dict):
        return {key: value(part) for key, part in item.items()}
    if isinstance(item, (list, tuple)):
        return [value(part) for part in item]
    if isinstance(item, numpy.ndarray):
        return value(item.tolist())
    return item.item() if isinstance(item, numpy.generic) else item


def parsed(text, **options):
    try:
        return nnef.parse_string(text, **options)
    except nnef.Error as error:
        at = re.search(r"\[(\d+):\d+\]", str(error))
        raise Refused(str(error), int(at.group(1)) if at else None) from error


def graph(stdin, fields):
    """Everything that has a body is expanded."""
    text = stdin.decode()
    custom = re.findall(r"^fragment\s+(\w+)", text, re.M)
    made = parsed(text, lowered=custom + list(nnef.StandardOperations))
    operations = [{"name": op.name, "dtype": op.dtype, "inputs": value(dict(op.inputs)),
                   "attributes": value(dict(op.attribs)), "outputs": value(dict(op.outputs))} for op in made.operations]
    return {"inputs": list(made.inputs), "outputs": list(made.outputs), "operations": operations, "tensors": {}}


def check(stdin, fields):
    made = parsed(stdin.decode())
    try:
        nnef.infer_shapes(made)
    except nnef.Error as error:
        raise Refused(str(error)) from error
    return {}


if __name__ == "__main__":
    serve({"nnef/graph": graph, "nnef/check": check})
