"""Measures single operators of ONNX that are bound by memory, beside one thread of onnxruntime; prints a Markdown table.

    cargo build --profile fast --bin nnef-flatten
    python3 bench/operators.py --program target/fast/nnef-flatten

Needs the packages onnx, onnxruntime and numpy. A model has an operator once or eleven times on one operand of a million items;
the difference of the processor times is that of ten, without reading and starting. Figures are the least of all turns.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ITEMS, MORE, TURNS = (1000, 1000), 10, 3
F, I = TensorProto.FLOAT, TensorProto.INT64

# The operator, the type of its operand, its constants, its attributes, and the type of its first result.
ROWS = {
    "Cast to float16": ("Cast", F, [], {"to": TensorProto.FLOAT16}, TensorProto.FLOAT16),
    "QuantizeLinear": ("QuantizeLinear", F, [numpy.float32(0.02), numpy.uint8(7)], {}, TensorProto.UINT8),
    "integer Mul": ("Mul", I, [numpy.int64(7)], {}, I),
    "CumSum": ("CumSum", F, [numpy.int64(1)], {}, F),
    "TopK": ("TopK", F, [numpy.array([10], dtype=numpy.int64)], {}, F),
    "Erf": ("Erf", F, [], {}, F),
}


def model(row, count):
    """A model with as many of an operator, of whose results single items are outputs."""
    operator, of, constants, attributes, result = row
    names = [f"c{i}" for i in range(len(constants))]
    stored = [numpy_helper.from_array(numpy.asarray(items), name) for items, name in zip(constants, names)]
    bounds = {"start": [0, 0], "end": [1, 1]}
    stored += [numpy_helper.from_array(numpy.array(items, dtype=numpy.int64), name) for name, items in bounds.items()]
    nodes, outputs = [], []
    for i in range(count):
        results = [f"y{i}"] + ([f"i{i}"] if operator == "TopK" else [])
        nodes.append(helper.make_node(operator, ["x", *names], results, **attributes))
        nodes.append(helper.make_node("Slice", [results[0], "start", "end"], [f"z{i}"]))
        outputs.append(helper.make_tensor_value_info(f"z{i}", result, [1, 1]))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", of, ITEMS)], outputs, stored)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


def ours(program, files, operand):
    """Seconds of ten operators."""
    times = {}
    for count, file in files.items():
        for _ in range(TURNS):
            child = subprocess.Popen([program, "-q", "run", file, "--inputs", operand], stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            assert child.returncode == 0, file
            times.setdefault(count, []).append(usage.ru_utime + usage.ru_stime)
    return min(times[1 + MORE]) - min(times[1])


def theirs(files, x):
    """Seconds of ten operators in onnxruntime."""
    options, times = onnxruntime.SessionOptions(), {}
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for count, file in files.items():
        session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        for _ in range(TURNS + 2):
            start = time.process_time()
            session.run(None, {"x": x})
            times.setdefault(count, []).append(time.process_time() - start)
    return min(times[1 + MORE]) - min(times[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, action="append", help="the command; several are compared")
    options = parser.parse_args()
    random = numpy.random.default_rng(3)
    print("| operator | program | ns an item | onnxruntime | × |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, row in ROWS.items():
            files = {}
            for count in (1, 1 + MORE):
                files[count] = os.path.join(folder, f"{count}.onnx")
                onnx.save(model(row, count), files[count])
            x = random.standard_normal(ITEMS).astype(numpy.float32)
            x = (x * 1000).astype(numpy.int64) if row[1] == I else x
            operand = os.path.join(folder, "x.npz")
            numpy.savez(operand, x=x)
            peer = theirs(files, x)
            for program in options.program:
                own = ours(os.path.abspath(program), files, operand)
                scale = 1e9 / MORE / x.size
                cells = (name, os.path.basename(program), own * scale, peer * scale, own / peer)
                print("| {} | {} | {:.1f} | {:.2f} | {:.1f} |".format(*cells), flush=True)


if __name__ == "__main__":
    main()
