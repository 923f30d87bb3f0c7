#!/usr/bin/env python3
"""Compares operators of onnxruntime (`com.microsoft`) with their bodies, on random nodes.

    python3 tests/interop/contrib_operators.py --bin target/fast/nnef-flatten [--count 20 --seed 1 --only Gelu,Pad]
    python3 tests/interop/contrib_operators.py --bin target/fast/nnef-flatten --models ../shared/models-onnx

Each round makes a node of each operator, with attributes from their domain and with optional operands present or absent, in
models of several nodes. What onnxruntime computes from them is compared with three others: `run`, what `--lower all` writes in
onnxruntime, and the same in `run`. Floats differ by at most 1e-5 of the larger of the number and 1, codes of quantized numbers
by one step, other integers not at all. The shapes that `--annotate` writes must be those of the results. A node that
onnxruntime refuses counts for nothing; at least nine tenths of all nodes must have been compared, and each operator once.

With --models, models of a folder are optimized by onnxruntime at each level, as they are and quantized in three ways, and lowered:
no operator of onnxruntime may be left, except those of `com.microsoft.nchwc`, and the results must be those of the model; where
all values are codes they are not compared. Needs numpy, onnx, onnxruntime.
"""
import argparse
import collections
import logging
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from contrib_nodes import GENERATORS, MICROSOFT, VERSIONS, made
from onnx import helper, numpy_helper


def model_of(nodes, version):
    """A model with these nodes, and the inputs for it."""
    protos, inputs, initializers, outputs, given = [], [], [], [], {}
    for i, node in enumerate(nodes):
        names = []
        for k, operand in enumerate(node.operands):
            name = "" if operand is None else f"n{i}_i{k}"
            names.append(name)
            if operand is None:
                continue
            array = np.asarray(operand)
            if k in node.constant:
                initializers.append(numpy_helper.from_array(array, name))
            else:
                given[name] = array
                inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        wanted = node.wanted or range(node.outputs)
        results = [f"n{i}_o{k}" if k in wanted else "" for k in range(node.outputs)]
        protos.append(helper.make_node(node.name, names, results, f"n{i}", domain=node.domain, **node.attributes))
        outputs += [helper.make_empty_tensor_value_info(name) for name in results if name]
    graph = helper.make_graph(protos, "g", inputs, outputs, initializers)
    sets = [helper.make_opsetid("", version), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=10), given


def runtime(model, inputs, level=onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.log_severity_level = 4
    data = model if isinstance(model, (bytes, str)) else model.SerializeToString()
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = path, pathlib.Path(folder)

    def call(self, *arguments):
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-400:])
        return done

    def run(self, path, inputs):
        np.savez(self.folder / "in.npz", **inputs)
        self.call("run", path, "--inputs", self.folder / "in.npz", "-o", self.folder / "out.npz", "-q")
        with np.load(self.folder / "out.npz") as outputs:
            return dict(outputs)


def difference(node, wanted, found):
    """What is wrong with a result; none if it agrees."""
    wanted, found = np.asarray(wanted), np.asarray(found)
    if wanted.shape != found.shape or wanted.dtype != found.dtype:
        return f"{found.dtype}{list(found.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
    if wanted.dtype.kind == "f":
        distance = np.abs(wanted.astype(float) - found) / np.maximum(np.abs(wanted), 1)
        same = np.isnan(wanted) & np.isnan(found) | (wanted == found)
        worst = float(np.where(same, 0, distance).max(initial=0))
        return None if worst <= node.tolerance else f"differs by {worst:.3g}"
    worst = int(np.abs(wanted.astype(int) - found.astype(int)).max(initial=0))
    return None if worst <= (1 if node.step else 0) else f"differs by {worst}"


def left(path):
    model = onnx.load(path, load_external_data=False)
    found = []

    def visit(nodes):
        for node in nodes:
            if node.domain == MICROSOFT or node.op_type == "SimplifiedLayerNormalization":
                found.append(node.op_type)
            for attribute in node.attribute:
                for graph in [attribute.g, *attribute.graphs]:
                    visit(graph.node)
    visit(model.graph.node)
    for function in model.functions:
        visit(function.node)
    return found


class Report:
    def __init__(self):
        self.agreed, self.wrong, self.refused = collections.Counter(), [], []


def compare(program, nodes, version, report):
    """Compares a model of these nodes; if something fails as a whole, each alone."""
    model, inputs = model_of(nodes, version)
    try:
        wanted = runtime(model, inputs)
    except Exception as error:
        if len(nodes) > 1:
            return each(program, nodes, version, report)
        report.refused.append(f"{nodes[0].name} {version}: {str(error).strip().splitlines()[-1][:200]}")
        return None
    path, flat = program.folder / "model.onnx", program.folder / "flat.onnx"
    onnx.save(model, path)
    try:
        own = program.run(path, inputs)
        program.call(path, "--lower", "all", "-o", flat, "-q")
        rest = left(flat)
        if rest:
            raise RuntimeError(f"{rest} are left")
        lowered, again = runtime(str(flat), inputs), program.run(flat, inputs)
        told = shapes(program.call(path, "--annotate", "--to", "onnxtxt", "-q").stdout)
    except Exception as error:
        if len(nodes) > 1:
            return each(program, nodes, version, report)
        report.wrong.append(f"{nodes[0].name} {version} {nodes[0].attributes}: {str(error)[-400:]}")
        return None
    for i, node in enumerate(nodes):
        mistakes = []
        for k in node.wanted or range(node.outputs):
            name = f"n{i}_o{k}"
            for what, results in (("run", own), ("lowered", lowered), ("run of lowered", again)):
                mistake = difference(node, wanted[name], results[name])
                if mistake:
                    mistakes.append(f"{what}, result {k}: {mistake}")
            if name in told and len(told[name]) != wanted[name].ndim or any(
                    extent.isdigit() and int(extent) != found for extent, found in zip(told.get(name, []), wanted[name].shape)):
                mistakes.append(f"shape {told[name]} of result {k} is {wanted[name].shape}")
        if mistakes:
            given = [None if each is None else f"{np.asarray(each).dtype}{list(np.shape(each))}" for each in node.operands]
            report.wrong.append(f"{node.name} {version} {node.attributes} {given}: {'; '.join(mistakes)}")
        else:
            report.agreed[node.name] += 1
    return None


def each(program, nodes, version, report):
    middle = len(nodes) // 2
    compare(program, nodes[:middle], version, report)
    compare(program, nodes[middle:], version, report)


def shapes(text):
    """The shapes of results in an annotated text, by name."""
    found = {}
    for name, extents in re.findall(r"\b(n\d+_o\d+): \w+\[([^\]]*)\]", text):
        found[name] = [extent.strip() for extent in extents.split(",")] if extents.strip() else []
    return found


def operators(program, arguments):
    report, names = Report(), sorted(GENERATORS)
    if arguments.only:
        names = [name for name in names if name in arguments.only.split(",")]
    total = 0
    for round_ in range(arguments.count):
        seed = arguments.seed * 1000 + round_
        groups = collections.defaultdict(list)
        for place, name in enumerate(names):
            version = VERSIONS[(seed + place) % len(VERSIONS)]
            node = made(name, seed, version)
            groups[max(version, node.version)].append(node)
            total += 1
        for version, nodes in groups.items():
            compare(program, nodes, version, report)
    for text in report.wrong:
        print(text)
    if arguments.refused:
        print("\n".join(report.refused))
    print(f"{sum(report.agreed.values())} of {total} nodes of {len(names)} operators agree, onnxruntime refuses {len(report.refused)}")
    missing = [name for name in names if not report.agreed[name]]
    if missing:
        print(f"not compared: {', '.join(missing)}")
    enough = sum(report.agreed.values()) >= arguments.least * total
    return 1 if report.wrong or missing or not enough else 0


def inputs_of(path):
    """Random inputs of a model: extents that are not numbers are 2, integers are 0 and 1."""
    model, source = onnx.load(path, load_external_data=False), np.random.default_rng(1)
    known, made_ = {each.name for each in model.graph.initializer}, {}
    for value in model.graph.input:
        tensor = value.type.tensor_type
        if value.name not in known:
            dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
            shape = [dim.dim_value or 2 for dim in tensor.shape.dim]
            made_[value.name] = (source.standard_normal(shape) if dtype.kind == "f" else source.integers(0, 2, shape)).astype(dtype)
    return made_


def unlike(path, flat):
    """How the results of a model differ from those of another one; empty if they cannot be computed."""
    try:
        inputs = inputs_of(path)
        wanted = runtime(str(path), inputs)
    except Exception:
        return ""
    found = runtime(str(flat), inputs)
    for name, value in wanted.items():
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub":
            continue
        other = found[name]
        close = value.shape == other.shape and np.allclose(value, other, rtol=1e-3, atol=1e-3, equal_nan=True)
        if not close:
            return f"`{name}` of the lowered model differs"
    return None


def quantized(path, folder):
    """What the quantizers of onnxruntime make of a model, and whether its results are compared: codes differ by a step."""
    from onnxruntime import quantization

    class Once(quantization.CalibrationDataReader):
        def __init__(self):
            self.left = [inputs_of(path)]

        def get_next(self):
            return self.left.pop() if self.left else None

    def bits(made_):
        from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
        quantizer = MatMulNBitsQuantizer(onnx.load(path), block_size=16, is_symmetric=False)
        quantizer.process()
        quantizer.model.save_model_to_file(str(made_))

    codes = quantization.QuantFormat.QOperator
    for name, compared, make in [
            ("dynamic", True, lambda made_: quantization.quantize_dynamic(path, made_)),
            ("codes", False, lambda made_: quantization.quantize_static(path, made_, Once(), quant_format=codes)),
            ("bits", True, bits)]:
        made_ = folder / f"{name}.onnx"
        try:
            make(made_)
        except Exception:
            continue
        yield name, made_, compared


def optimized(program, arguments):
    """Lowers what onnxruntime writes when it optimizes models, as they are and quantized."""
    logging.disable()
    levels = onnxruntime.GraphOptimizationLevel
    every = [levels.ORT_ENABLE_BASIC, levels.ORT_ENABLE_EXTENDED, levels.ORT_ENABLE_ALL]
    counts, wrong = collections.Counter(), []
    for path in sorted(pathlib.Path(arguments.models).glob("**/*.onnx")):
        if path.stat().st_size > 20_000_000:
            continue
        sources = [("", path, True), *quantized(path, program.folder)]
        for (kind, source, compared), level in ((source, level) for source in sources for level in every):
            what = f"{path.parent.name}/{path.name} {kind} {level.name}"
            made_, flat = program.folder / "optimized.onnx", program.folder / "flat.onnx"
            options = onnxruntime.SessionOptions()
            options.graph_optimization_level, options.log_severity_level = level, 4
            options.optimized_model_filepath = str(made_)
            try:
                onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
            except Exception:
                counts["refused by onnxruntime"] += 1
                continue
            try:
                before = left(made_)
                program.call(made_, "--lower", "all", "-o", flat, "-q")
                rest = left(flat)
                mistake = unlike(source, flat) if before and compared and level != levels.ORT_ENABLE_ALL else ""
            except Exception as error:
                wrong.append(f"{what}: {str(error)[-300:]}")
                continue
            counts["models"] += 1
            counts["with operators of onnxruntime"] += bool(before)
            counts["compared"] += mistake is None
            if rest or mistake:
                wrong.append(f"{what}: {mistake} {dict(collections.Counter(rest))}")
            for name in set(before):
                counts[name] += 1
    print("\n".join(wrong))
    print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    return 1 if wrong or not counts["compared"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="target/fast/nnef-flatten")
    parser.add_argument("--count", type=int, default=20, help="rounds, each with a node of each operator")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=0.9, help="the share of nodes that must agree")
    parser.add_argument("--only", help="operators, with commas between them")
    parser.add_argument("--refused", action="store_true", help="also print what onnxruntime refuses")
    parser.add_argument("--models", help="a folder of models that onnxruntime optimizes")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(pathlib.Path(arguments.bin).resolve(), folder)
        sys.exit(optimized(program, arguments) if arguments.models else operators(program, arguments))


if __name__ == "__main__":
    main()
