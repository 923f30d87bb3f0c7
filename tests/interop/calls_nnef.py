"""Random calls of the operations of NNEF, for random_calls.py: the cases of primitives.py and of nnef_to_onnx.py, on other items.

Operands have the items that those cases choose, or in one of three calls also infinities, NaN and both zeros.
"""
import re

import numpy as np

import calls_onnx
import nnef_to_onnx
from primitives import CASES, KINDS, Source

# Regions have to lie within the input, and vendors' operations are not those of the standard.
ORDINARY = ("roi", "tract_", "quantize")


class NnefCall:
    """An operation of NNEF: its name, operands by name, the text of the call, and the number of results."""

    known = ()

    def __init__(self, operator, operands, text, results):
        self.operator, self.operands, self.text, self.results = operator, operands, text, results
        self.is_list = isinstance(results[0], list)

    def arrays(self):
        return list(self.operands.values())

    def items(self):
        return calls_onnx.floats_of(self.arrays())

    def __str__(self):
        return "%s of %s" % (self.text, {name: operand.tolist() for name, operand in self.operands.items()})

    def statement(self, at):
        """The call with names of its own, and those of its results."""
        text = self.text
        for name in self.operands:
            text = re.sub(r"(?<![\w'.])%s(?![\w'])(?!\s*=[^=])" % re.escape(name), "c%dx%s" % (at, name), text)
        count = len(self.results[0]) if self.is_list else len(self.results)
        names = ["c%dy%d" % (at, place) for place in range(count)]
        return "%s = %s;" % ("[%s]" % ", ".join(names) if self.is_list else ", ".join(names), text), names


def document(batch):
    """A document of calls. Shapes are those of the operands."""
    inputs, outputs, lines = [], [], []
    for at, call in batch:
        for name, operand in call.operands.items():
            inputs.append("c%dx%s" % (at, name))
            lines.append("    %s = external<%s>(shape = %s);" % (inputs[-1], KINDS[operand.dtype.kind], list(operand.shape)))
        statement, names = call.statement(at)
        lines.append("    " + statement)
        outputs += names
    if not inputs:
        inputs = ["unused"]
        lines.insert(0, "    unused = external(shape = [1]);")
    return "version 1.0;\nextension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;\ngraph calls(%s) -> (%s)\n{\n%s\n}\n" % (
        ", ".join(inputs), ", ".join(outputs), "\n".join(lines))


def feed_of(batch):
    return {"c%dx%s" % (at, name): operand for at, call in batch for name, operand in call.operands.items()}


def calls(seed, count, only=None):
    names = [name for name in CASES if (not only or name in only) and not name.startswith("tract_")]
    made, turn = [], 0
    while names and len(made) < count:
        name = names[turn % len(names)]
        source = Source([seed, turn, sum(name.encode())])
        turn += 1
        case = CASES[name](source, name)
        if case is None:
            continue
        operands = {key: np.asarray(operand) for key, operand in case[0].items()}
        if source.int(0, 2) == 0 and not any(part in name for part in ORDINARY):
            draw = calls_onnx.Draw([seed, turn])
            for key, operand in operands.items():
                if operand.dtype == np.float32:
                    mask = draw.rng.random(operand.shape) < 0.3
                    operands[key] = np.where(mask, draw.rng.choice(calls_onnx.EDGES, operand.shape).astype(np.float32), operand)
        made.append(NnefCall(name, operands, case[1], case[2]))
    return made
