"""Sends expressions round: as ONNX to pnnx's own converter, and the file that it writes back to us.

Random expressions become models of ONNX, which the program of the package pnnx turns into `.pnnx.param` files with an
expression of its own making. What we compute of that file has to be what we compute of the expression. Needs numpy and
pnnx; operations that pnnx folds or writes wrongly are left out.

    python3 tests/interop/pnnx_converter.py --bin target/release/nnef-flatten --count 25
"""

import argparse
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy

UNARY = ("abs", "neg", "floor", "ceil", "sqrt", "exp", "log", "sin", "cos", "atan", "tanh", "sign", "reciprocal")
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum", "pow")
SIZE = 6


def converter():
    """The path of the program of the package pnnx."""
    return str(pathlib.Path(importlib.util.find_spec("pnnx").origin).parent / "pnnx")


def expression(depth):
    """The text of a random expression."""
    if depth == 0 or random.random() < 0.15:
        return f"@{random.randrange(3)}"
    if random.random() < 0.4:
        return f"{random.choice(UNARY)}({expression(depth - 1)})"
    literal = repr(round(random.uniform(0.25, 3.0), 3))
    x, y = expression(depth - 1), literal if random.random() < 0.3 else expression(depth - 1)
    return f"{random.choice(BINARY)}({x},{y})"


def call(*command, cwd=None):
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def compare(program, folder, text):
    """Whether both ways agree; none where pnnx does not make one expression of it."""
    arity = 1 + max(int(part[0]) for part in text.split("@")[1:])
    inputs = numpy.float32(numpy.random.uniform(0.25, 2.0, (arity, SIZE)))
    (folder / "operands.json").write_text(json.dumps(inputs.tolist()))
    told = json.loads(call(program, "expr", "--to", "json", "--inputs", str(folder / "operands.json"), "--", text))
    shapes = [part for _ in range(arity) for part in ("--shape", str(SIZE))]
    (folder / "m.onnxtxt").write_text(call(program, "expr", "--to", "onnxtxt", *shapes, "--", text))
    call(program, str(folder / "m.onnxtxt"), "-o", str(folder / "m.onnx"))
    (folder / "m.pnnx.param").unlink(missing_ok=True)
    subprocess.run([converter(), "m.onnx"], cwd=folder, capture_output=True, timeout=120)
    param = folder / "m.pnnx.param"
    if not param.exists() or param.read_text().count("pnnx.Expression") != 1:
        return None
    lines = [line.split() for line in param.read_text().splitlines() if line.startswith("pnnx.Input")]
    # Operands that are not used are not inputs of the model of ONNX; those that are keep their order.
    used = sorted({int(part[0]) for part in text.split("@")[1:]})
    if len(lines) not in (len(used), arity):
        return None
    numbers = range(arity) if len(lines) == arity else used
    named = {f"v_{line[4]}": inputs[k].tolist() for line, k in zip(lines, numbers)}
    (folder / "inputs.json").write_text(json.dumps(named))
    found = json.loads(call(program, "run", str(param), "--inputs", str(folder / "inputs.json")))
    found = [numpy.array(output["data"], dtype=float) for output in found["outputs"].values()]
    wanted = numpy.array(told["value"], dtype=float)
    if [one.size for one in found] != [wanted.size] or not numpy.allclose(found[0].reshape(-1), wanted.reshape(-1), rtol=1e-4, atol=1e-5, equal_nan=True):
        sys.exit(f"{text}: {wanted}, and of {param.read_text()}: {found}")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=25)
    options = parser.parse_args()
    program = str(pathlib.Path(options.bin).resolve())
    random.seed(7)
    numpy.random.seed(7)
    agree = 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.count * 3):
            text = expression(4)
            if "@" in text and text[0] != "@" and compare(program, pathlib.Path(folder), text):
                agree += 1
            if agree == options.count:
                break
    print(f"{agree} expressions came back from pnnx with the same values")
    if agree < options.count:
        sys.exit("too few expressions became one expression of pnnx")


if __name__ == "__main__":
    main()
