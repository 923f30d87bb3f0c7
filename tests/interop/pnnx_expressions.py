"""Compares values of expressions with those that ncnn computes.

Random expressions of operations that ncnn handles as torch does become networks of its layers UnaryOp and
BinaryOp, by the numbers that pnnx writes. Needs numpy and ncnn.

    python3 tests/interop/pnnx_expressions.py --bin target/release/nnef-flatten --count 100
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import ncnn
import numpy

UNARY = {
    "abs": 0, "neg": 1, "floor": 2, "ceil": 3, "square": 4, "sqrt": 5, "rsqrt": 6, "exp": 7, "log": 8, "sin": 9,
    "cos": 10, "atan": 14, "reciprocal": 15, "tanh": 16, "log10": 17, "trunc": 19, "sign": 20, "expm1": 21,
    "sinh": 22, "asinh": 23, "cosh": 24, "log1p": 27,
}
BINARY = {"add": 0, "sub": 1, "mul": 2, "div": 3, "maximum": 4, "minimum": 5, "pow": 6, "atan2": 10, "fmod": 12,
          "logaddexp": 14, "floor_divide": 15}
# The operation with its operands exchanged, for a literal in front.
EXCHANGED = {"add": 0, "sub": 7, "mul": 2, "div": 8, "maximum": 4, "minimum": 5, "pow": 9, "atan2": 11, "fmod": 13,
             "logaddexp": 14, "floor_divide": 16}
SIZE = 4


def expression(depth):
    """An expression as nested tuples."""
    if depth == 0 or random.random() < 0.15:
        return ("@", random.randrange(3))
    if random.random() < 0.45:
        return (random.choice(list(UNARY)), expression(depth - 1))
    literal = ("#", round(random.uniform(0.25, 3.0), 3))
    x, y = expression(depth - 1), expression(depth - 1)
    kind = random.random()
    return (random.choice(list(BINARY)), literal if kind < 0.2 else x, literal if kind > 0.7 else y)


def text(tree):
    if tree[0] == "@":
        return f"@{tree[1]}"
    if tree[0] == "#":
        return repr(tree[1])
    return f"{tree[0]}({','.join(text(operand) for operand in tree[1:])})"


def network(tree):
    """The lines of a network of ncnn; every use of a tensor has a blob of its own."""
    uses = {k: [] for k in range(3)}
    layers = []

    def blob(tree):
        if tree[0] == "@":
            uses[tree[1]].append(f"in{tree[1]}_{len(uses[tree[1]])}")
            return uses[tree[1]][-1]
        name, operands = tree[0], tree[1:]
        if name in UNARY:
            inputs, params = [blob(operands[0])], f"0={UNARY[name]}"
        elif operands[1][0] == "#":
            inputs, params = [blob(operands[0])], f"0={BINARY[name]} 1=1 2={operands[1][1]:e}"
        elif operands[0][0] == "#":
            inputs, params = [blob(operands[1])], f"0={EXCHANGED[name]} 1=1 2={operands[0][1]:e}"
        else:
            inputs, params = [blob(operand) for operand in operands], f"0={BINARY[name]}"
        out = f"t{len(layers)}"
        kind = "UnaryOp" if name in UNARY else "BinaryOp"
        layers.append(f"{kind} {out} {len(inputs)} 1 {' '.join(inputs)} {out} {params}")
        return out

    out = blob(tree)
    head = []
    for k, names in uses.items():
        if names:
            head.append(f"Input in{k} 0 1 in{k}")
            head.append(f"Split split{k} 1 {len(names)} in{k} {' '.join(names)}")
    blobs = len(layers) + sum(1 + len(names) for names in uses.values() if names)
    return f"7767517\n{len(head) + len(layers)} {blobs}\n" + "\n".join(head + layers) + "\n", out, uses


def computed_by_ncnn(tree, operands, scratch):
    param, out, uses = network(tree)
    path = pathlib.Path(scratch) / "net.param"
    path.write_text(param)
    net = ncnn.Net()
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
    if net.load_param(str(path)) != 0:
        return None
    empty = pathlib.Path(scratch) / "net.bin"
    empty.write_bytes(b"")
    net.load_model(str(empty))
    extractor = net.create_extractor()
    for k, names in uses.items():
        if names:
            extractor.input(f"in{k}", ncnn.Mat(operands[k]).clone())
    status, value = extractor.extract(out)
    return numpy.array(value).copy() if status == 0 else None


def computed_here(program, tree, operands, scratch):
    path = pathlib.Path(scratch) / "operands.json"
    path.write_text(json.dumps([operand.astype(float).tolist() for operand in operands]))
    run = subprocess.run([program, "expr", "--to", "json", "--inputs", str(path), "--", text(tree)], capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{text(tree)}: {run.stderr}")
    return numpy.array(json.loads(run.stdout)["value"], dtype=float)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    random.seed(args.seed)
    compared = skipped = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        while compared + skipped < args.count:
            tree = expression(random.randrange(1, 4))
            if tree[0] in "@#" or all(operand[0] == "#" for operand in tree[1:]):
                continue
            operands = [numpy.random.default_rng(compared + 7 * k).uniform(0.2, 2.0, SIZE).astype(numpy.float32) for k in range(3)]
            theirs = computed_by_ncnn(tree, operands, scratch)
            ours = computed_here(args.bin, tree, operands, scratch)
            # In 32 bits steps fall on the other side, and large numbers overflow.
            fine = theirs is not None and numpy.isfinite(ours).all() and abs(ours).max() < 1e4
            if not fine or any(step in text(tree) for step in ("floor", "ceil", "trunc", "fmod", "sign")) and abs(theirs - ours).max() > 1e-3:
                skipped += 1
                continue
            compared += 1
            if not numpy.allclose(theirs, ours, rtol=2e-3, atol=2e-3):
                failed += 1
                print(f"{text(tree)}: {theirs} by ncnn, {ours} here")
    print(f"{compared - failed} of {compared} expressions have ncnn's values, {skipped} were not comparable")
    return 1 if failed or compared < skipped else 0


if __name__ == "__main__":
    sys.exit(main())
