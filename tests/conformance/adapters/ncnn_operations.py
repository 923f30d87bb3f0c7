"""ncnn: an operation of PNNX as a layer UnaryOp or BinaryOp, by the numbers that pnnx writes."""

import re

import ncnn
import numpy

from serve import Refused, serve

UNARY = "abs neg floor ceil square sqrt rsqrt exp log sin cos tan asin acos atan reciprocal tanh log10 round trunc sign " \
        "expm1 sinh asinh cosh acosh atanh log1p".split()
BINARY = {"add": 0, "sub": 1, "mul": 2, "div": 3, "max": 4, "maximum": 4, "min": 5, "minimum": 5, "pow": 6, "atan2": 10,
          "fmod": 12, "logaddexp": 14, "floor_divide": 15, "remainder": 17}


def layer(name, count):
    if name in UNARY:
        return "UnaryOp op 1 1 in0 out 0=%d" % UNARY.index(name)
    if name in BINARY:
        return "BinaryOp op 2 1 in0 in1 out 0=%d" % BINARY[name]
    if name == "erf":
        return "Erf op 1 1 in0 out"
    raise Refused("no layer for %s of %d operands" % (name, count))


def evaluated(stdin, fields):
    name, operands = re.match(r"\w+", fields["text"]).group(), fields["inputs"]
    inputs = ["Input in%d 0 1 in%d" % (k, k) for k in range(len(operands))]
    lines = inputs + [layer(name, len(operands))]
    text = "7767517\n%d %d\n%s\n" % (len(lines), len(operands) + 1, "\n".join(lines))
    net = ncnn.Net()
    if net.load_param_mem(text) != 0:
        raise Refused("load_param_mem fails")
    extractor = net.create_extractor()
    for k, operand in enumerate(operands):
        extractor.input("in%d" % k, ncnn.Mat(numpy.array(operand, dtype="float32")).clone())
    status, out = extractor.extract("out")
    if status != 0:
        raise Refused("extract gives %d" % status)
    return {"value": [float(x) for x in numpy.array(out)]}


if __name__ == "__main__":
    serve({"pnnx/value": evaluated})
