"""Measures what becomes of the weights of ONNX models; prints a Markdown table.

    cargo build --profile fast --bin nnef-flatten
    python3 bench/weights.py --program target/fast/nnef-flatten

Needs the packages onnx and numpy. Models are made: products of 100 MB in 32 and in 16 bits, and a BERT of 434 MB. A copy of
the file (`cp`) and onnx.printer take turns with the program; figures are the least times of all turns, on the clock and of
processors, and the largest memory. `--only NAME,…` chooses models, `--keep FOLDER` keeps them for other measurements.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnx.printer
from onnx import TensorProto, helper, numpy_helper

TURNS = 3


class Maker:
    """Collects the nodes and the constants of a model."""

    def __init__(self):
        self.nodes, self.constants, self.random = [], [], numpy.random.default_rng(7)

    def weight(self, name, shape, dtype=numpy.float32):
        items = self.random.standard_normal(shape, dtype=numpy.float32) * numpy.float32(0.02)
        return self.constant(name, items.astype(dtype))

    def constant(self, name, items):
        self.constants.append(numpy_helper.from_array(items, name))
        return name

    def node(self, operator, inputs, output, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def model(self, inputs, outputs):
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, self.constants)
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)])


def products(layers, width, dtype):
    """A model of products with square matrices."""
    make, x = Maker(), "x"
    for i in range(layers):
        x = make.node("MatMul", [x, make.weight(f"w{i}", (width, width), dtype)], f"p{i}")
        x = make.node("Add", [x, make.weight(f"b{i}", (width,), dtype)], f"a{i}")
        x = make.node("Relu", [x], f"r{i}")
    of = helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))
    info = helper.make_tensor_value_info
    return make.model([info("x", of, [4, width])], [info(x, of, [4, width])])


def bert(layers=12, hidden=768, inner=3072, heads=12, words=30522, length=16):
    """An encoder with the weights of BERT base."""
    make = Maker()
    ids = "ids"
    x = make.node("Gather", [make.weight("words", (words, hidden)), ids], "word")
    x = make.node("Add", [x, make.weight("places", (length, hidden))], "embedded")
    split = make.constant("split", numpy.array([1, length, heads, hidden // heads], dtype=numpy.int64))
    joined = make.constant("joined", numpy.array([1, length, hidden], dtype=numpy.int64))
    scale = make.constant("scale", numpy.array((hidden // heads) ** -0.5, dtype=numpy.float32))
    half, one = (make.constant(name, numpy.array(value, dtype=numpy.float32)) for name, value in (("half", 0.5), ("one", 1)))
    root = make.constant("root", numpy.array(0.5**0.5, dtype=numpy.float32))

    def dense(x, name, inputs, outputs):
        product = make.node("MatMul", [x, make.weight(f"{name}_w", (inputs, outputs))], f"{name}_p")
        return make.node("Add", [product, make.weight(f"{name}_b", (outputs,))], f"{name}_y")

    def norm(x, name):
        scaling = make.constant(f"{name}_s", numpy.ones(hidden, dtype=numpy.float32))
        return make.node("LayerNormalization", [x, scaling, make.weight(f"{name}_o", (hidden,))], f"{name}_n", axis=-1)

    for i in range(layers):
        parts = []
        for part, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
            y = make.node("Reshape", [dense(x, f"{part}{i}", hidden, hidden), split], f"{part}{i}_r")
            parts.append(make.node("Transpose", [y], f"{part}{i}_t", perm=order))
        scores = make.node("Mul", [make.node("MatMul", parts[:2], f"s{i}"), scale], f"s{i}_s")
        mixed = make.node("MatMul", [make.node("Softmax", [scores], f"s{i}_p", axis=-1), parts[2]], f"m{i}")
        mixed = make.node("Reshape", [make.node("Transpose", [mixed], f"m{i}_t", perm=[0, 2, 1, 3]), joined], f"m{i}_r")
        x = norm(make.node("Add", [x, dense(mixed, f"o{i}", hidden, hidden)], f"c{i}"), f"c{i}")
        y = dense(x, f"f{i}", hidden, inner)
        gate = make.node("Add", [make.node("Erf", [make.node("Mul", [y, root], f"g{i}_r")], f"g{i}_e"), one], f"g{i}_o")
        y = make.node("Mul", [make.node("Mul", [y, gate], f"g{i}_m"), half], f"g{i}")
        x = norm(make.node("Add", [x, dense(y, f"h{i}", inner, hidden)], f"d{i}"), f"d{i}")
    info = helper.make_tensor_value_info
    inputs = [info(ids, TensorProto.INT64, [1, length])]
    return make.model(inputs, [info(x, TensorProto.FLOAT, [1, length, hidden])])


MODELS = {
    "products": lambda: products(25, 1024, numpy.float32),
    "half": lambda: products(25, 1448, numpy.float16),
    "bert": bert,
}


def timed(command):
    """Seconds on the clock and of processors, peak MB, and status of a command.

    A small process starts it: a child's peak includes that of its parent.
    """
    launch = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch.py")
    done = subprocess.run([sys.executable, launch, "1", *command], capture_output=True, text=True, check=True)
    seconds, memory, status, spent = done.stdout.split()
    return float(seconds), float(spent), int(memory) / 1024, status


def printed(file):
    """Seconds on the clock and of processors in which onnx.printer prints a model that is loaded."""
    code = (
        "import sys, time, onnx, onnx.printer\nmodel = onnx.load(sys.argv[1])\nstart = time.perf_counter(), time.process_time()\n"
        "open(sys.argv[2], 'w').write(onnx.printer.to_text(model))\n"
        "print(time.perf_counter() - start[0], time.process_time() - start[1])"
    )
    out = file + ".printed"
    done = subprocess.run([sys.executable, "-c", code, file, out], capture_output=True, text=True, check=True)
    os.unlink(out)
    seconds, spent = map(float, done.stdout.split())
    return seconds, spent


def measure(program, name, file, folder, turns, with_printer):
    copy, nnef, text = (os.path.join(folder, part) for part in ("copy.onnx", "nnef/", "text.onnxtxt"))
    tasks = {
        "cp": ["cp", file, copy],
        "ONNX to NNEF": [program, "-q", file, "--to", "nnef", "-o", nnef],
        "ONNX to text, one thread": [program, "-q", file, "--to", "onnxtxt", "--threads", "1", "-o", text],
        "ONNX to text": [program, "-q", file, "--to", "onnxtxt", "-o", text],
        "page": [program, "-q", file, "--to", "html", "-o", os.path.join(folder, "page.html")],
    }
    if name == "bert":
        tasks["ONNX to NNEF, --verify"] = [program, "-q", file, "--to", "nnef", "--verify", "-o", nnef]
    best = {}
    for _ in range(turns):
        for task, command in tasks.items():
            shutil.rmtree(nnef, ignore_errors=True)
            for left in (copy, text):
                if os.path.exists(left):
                    os.unlink(left)
            seconds, spent, memory, status = timed(command)
            known = best.get(task, (seconds, spent, 0, status))
            best[task] = (min(seconds, known[0]), min(spent, known[1]), max(memory, known[2]), status)
    if with_printer:
        best["onnx.printer, the model loaded"] = (*printed(file), 0, "0")
    size = os.path.getsize(file) / 1e6
    for task, (seconds, spent, memory, status) in best.items():
        ratio = seconds / best["cp"][0]
        end = "" if status == "0" else f" (status {status})"
        times = f"{seconds:.2f} s | {ratio:.2f} | {spent:.2f} s"
        print(f"| {name}, {size:.0f} MB | {task}{end} | {times} | {memory:.0f} MB |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the command")
    parser.add_argument("--only", help="names of models")
    parser.add_argument("--keep", help="a folder for the models, which are used again")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--printer", action="store_true", help="also measure onnx.printer")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(MODELS)
    print("| model | task | on the clock | × cp | of processors | memory |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=options.keep) as folder:
        for name in names:
            file = os.path.join(options.keep or folder, f"{name}.onnx")
            if not os.path.exists(file):
                onnx.save(MODELS[name](), file)
            measure(os.path.abspath(options.program), name, file, folder, options.turns, options.printer)


if __name__ == "__main__":
    main()
