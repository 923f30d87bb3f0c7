"""What engines are known to answer differently, for random_calls.py. Each row has a call that has to differ."""
import math

import numpy as np

from calls_onnx import Call


class Row:
    """Engines and operators (a name that ends in * is a prefix) that differ for calls of which `where` is true, and why.

    `how` is a part of the difference that is told.
    """

    def __init__(self, engines, operators, where, how, reason, witness):
        self.engines, self.operators, self.where, self.how = engines.split(), operators.split(), where, how
        self.reason, self.witness = reason, witness

    def covers(self, engine, call, why):
        name = call.operator
        named = any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in self.operators)
        return engine in self.engines and named and self.how in why and self.where(call)


def always(call):
    return True


def not_finite(call):
    return not np.isfinite(call.items()).all()


def with_nan(call):
    return np.isnan(call.items()).any()


def zeros(call):
    """Whether a result may be a zero whose sign depends on the order of operations."""
    return (call.items() == 0).any()


def empty(call):
    return any(operand is not None and operand.size == 0 for operand in call.operands)


def beyond(bits):
    """Whether an operand has integers of more bits."""
    def found(call):
        return any(operand is not None and operand.dtype.kind in "iu" and operand.size and
                   max(abs(int(operand.min())), abs(int(operand.max()))) >= 2**bits for operand in call.operands)
    return found


NAN, INF = math.nan, math.inf
f32 = np.float32


def floats(*items):
    return np.array(items, f32)


DOCUMENTED = []
