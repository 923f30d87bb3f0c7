#!/usr/bin/env python3
"""Compares the multiply-adds of `--stats` with those of a counter that shares nothing with it.

The counter knows convolutions, their transposes and products of matrices, and takes shapes from `onnx.shape_inference` for models
that are translated to ONNX, and from Khronos' parser for documents that it reads. --models is a folder of models of NNEF. Their
variables get zeros. Needs the Python packages numpy, nnef and onnx.
"""

import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

import nnef
import numpy
import onnx

NAMES = ["resnet50", "resnet50.onnx", "vit_b_16", "bert12", "bert12.onnx", "llama16", "llama16.onnx"]


def run(binary, *words):
    done = subprocess.run([binary, "-q", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr.strip()[:500]
    return done


def stats(binary, model):
    """The multiply-adds that `--stats` tells."""
    done = run(binary, "--stats", "--message-format", "json", "--to", "json", model, "-o", "/dev/null")
    found = [json.loads(line) for line in done.stderr.splitlines() if '"stats"' in line]
    return found[0]["stats"]["multiply_adds"]


def product(extents):
    return math.prod(extents)


def matrices(a, b):
    """The multiply-adds of a product whose operands are multiplied along their last axis and the one before it."""
    a, b = ([1] + a if len(a) == 1 else a), (b + [1] if len(b) == 1 else b)
    return product(numpy.broadcast_shapes(a[:-2], b[:-2])) * a[-2] * a[-1] * b[-1]


def swapped(shape, transposed):
    return shape[:-2] + [shape[-1], shape[-2]] if transposed else shape


def of_einsum(equation, shapes):
    """The multiply-adds of a sum of products of two operands."""
    terms = equation.replace(" ", "").split("->")[0].split(",")
    extents = {}
    for term, shape in zip(terms, shapes):
        assert len(term) == len(shape), equation
        for letter, extent in zip(term, shape):
            extents[letter] = max(extents.get(letter, 1), extent)
    sums = set(extents) - set(equation.split("->")[1])
    return product(extents.values()) * (len(terms) - 1) if sums else 0


def of_onnx(path):
    """The multiply-adds of a model of ONNX."""
    model = onnx.shape_inference.infer_shapes(onnx.load(path), data_prop=True)
    graph = model.graph
    shapes = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    for value in [*graph.input, *graph.value_info, *graph.output]:
        shapes[value.name] = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    total = 0
    for node in graph.node:
        operands = [shapes.get(name) for name in node.input]
        attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
        if node.op_type == "Conv":
            total += product(shapes[node.output[0]]) * product(operands[1][1:])
        elif node.op_type == "ConvTranspose":
            total += product(operands[0]) * product(operands[1][1:])
        elif node.op_type == "MatMul":
            total += matrices(*operands)
        elif node.op_type == "Gemm":
            a, b = swapped(operands[0], attributes.get("transA")), swapped(operands[1], attributes.get("transB"))
            total += matrices(a, b)
        elif node.op_type == "Einsum":
            total += of_einsum(attributes["equation"].decode(), operands)
    return total


def of_khronos(document):
    """The multiply-adds of a document by Khronos' parser; none if that does not read it."""
    try:
        graph = nnef.parse_file(str(document))
        nnef.infer_shapes(graph)
    except (nnef.Error, AssertionError, ValueError, KeyError):
        return None
    total = 0
    for operation in graph.operations:
        def shape(name):
            return list(graph.tensors[operation.inputs[name]].shape)

        if operation.name == "conv":
            output = graph.tensors[operation.outputs["output"]].shape
            total += product(output) * product(shape("filter")[1:])
        elif operation.name == "deconv":
            total += product(shape("input")) * product(shape("filter")[1:])
        elif operation.name == "linear":
            total += matrices(shape("input"), swapped(shape("filter"), True))
        elif operation.name == "matmul":
            a, b = shape("A"), shape("B")
            total += matrices(swapped(a, operation.attribs["transposeA"]), swapped(b, operation.attribs["transposeB"]))
    return total


def with_zeros(binary, model, folder):
    """A copy of a model whose variables have data."""
    shutil.copytree(model, folder, copy_function=shutil.copyfile)
    folder.chmod(0o755)
    graph = json.loads(run(binary, "--to", "nnef-json", model / "graph.nnef").stdout)
    for operation in graph["operations"]:
        if operation["name"] == "variable":
            path = folder / (operation["attribs"]["label"] + ".dat")
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "wb") as file:
                nnef.write_tensor(file, numpy.zeros(operation["attribs"]["shape"], numpy.float32))
    return folder


def compared(binary, name, model, folder):
    """Compares a model, and its translation to ONNX."""
    found = {"nnef": stats(binary, model / "graph.nnef")}
    wanted = {"Khronos' parser": of_khronos(model / "graph.nnef")}
    translated = folder / "model.onnx"
    run(binary, with_zeros(binary, model, folder / "model"), "-o", translated)
    found["onnx"] = stats(binary, translated)
    wanted["shapes of onnx"] = of_onnx(translated)
    print(f"{name}: {found['nnef']:,} in NNEF, {found['onnx']:,} in ONNX; counted", end=" ")
    print(", ".join(f"{count:,} with {by}" for by, count in wanted.items() if count is not None))
    for count in filter(None, wanted.values()):
        for notation, own in found.items():
            assert abs(own - count) <= count / 100, f"{name}: {own} multiply-adds in {notation}, not {count}"
    assert any(wanted.values()), f"{name}: nothing is counted"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path("../shared/models"))
    arguments = parser.parse_args()
    failed = 0
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                compared(arguments.bin, name, arguments.models / name, pathlib.Path(folder))
            except AssertionError as error:
                print(f"{name}: {error}")
                failed += 1
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
