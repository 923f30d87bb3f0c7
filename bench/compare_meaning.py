"""Measures nnef-flatten and its peers on the meaning of ONNX models; prints a Markdown table.

    cargo build --release
    cargo build --release --manifest-path benches/Cargo.toml --target-dir target --bins
    python3 bench/compare_meaning.py --target target --models FOLDER [--size 1.9]

Compares the inference of types and shapes with onnx.shape_inference, folding with onnxslim and onnxsim, and the expansion of
standard operators with onnx.inliner, on every FOLDER/*/model.onnx. Each figure is the least CPU
time of all turns. A peer that is not installed or that raises on a model is left out there. With --size, a
model of as many gigabytes is flattened and copied.
"""
import argparse
import contextlib
import glob
import io
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import onnx
import onnx.helper
import onnx.inliner
import onnx.shape_inference

# The turns of a pass that takes long, and those of one that ends within milliseconds and is slower at first.
TURNS, WARM_TURNS = 5, 100
PASSES = {"infer": ["onnx"], "fold": ["onnxslim", "onnxsim"], "lower": ["onnx"]}


def timed(function):
    """The CPU seconds of a call, without those of copying its model between Python and C++; none if it raises."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        start = time.process_time()
        try:
            function()
        except Exception:  # noqa: BLE001: peers raise all kinds of exceptions
            return None
        return time.process_time() - start


def lowered(model):
    """The model with its functions and the standard operators that have a body expanded."""
    inlined = onnx.inliner.inline_local_functions(model)
    return onnx.inliner.inline_selected_functions(inlined, [], exclude=True, inline_schema_functions=True)


def peers():
    """The functions of the peers by pass and name."""
    found = {
        ("infer", "onnx"): lambda model: onnx.shape_inference.infer_shapes(model, data_prop=True),
        ("lower", "onnx"): lowered,
    }
    try:
        import onnxslim

        found["fold", "onnxslim"] = onnxslim.slim
    except ImportError:
        print("onnxslim is not installed", file=sys.stderr)
    try:
        import onnxsim

        found["fold", "onnxsim"] = onnxsim.simplify
    except ImportError:
        print("onnxsim is not installed", file=sys.stderr)
    return found


def ours(program, file, turns=TURNS):
    """The least CPU seconds of each pass that accepts the model. Each has a process of its own, since the peers' turns of a
    pass follow each other, too."""
    found = {}
    for name in PASSES:
        done = subprocess.run([program, file, str(turns), name], capture_output=True, text=True)
        seconds = [float(value) for value in re.findall(rf"^{name}=([\d.]+)$", done.stdout, re.MULTILINE)]
        if done.returncode == 0 and len(seconds) == turns:
            found[name] = min(seconds)
    return found


def compare(program, models):
    """The pairs of seconds, ours and those of a peer, by pass and peer."""
    pairs = {}
    for file in models:
        own = ours(program, file, WARM_TURNS)
        model = onnx.load(file)
        copied = min(timed(lambda: onnx.ModelProto.FromString(model.SerializeToString())) for _ in range(WARM_TURNS))
        for (name, peer), function in peers().items():
            if name not in own:
                continue
            runs, start = [], time.monotonic()
            while len(runs) < TURNS or (len(runs) < WARM_TURNS and time.monotonic() < start + 1.0):
                given = onnx.ModelProto.FromString(model.SerializeToString())
                runs.append(timed(lambda: function(given)))
                if runs[-1] is None:
                    break
            if None not in runs:
                pairs.setdefault((name, peer), []).append((own[name], max(min(runs) - copied, 0.0)))
    return pairs


def chain(count):
    """A model with as many nodes, in which shapes are computed."""
    text = "".join(
        f"s{i} = Shape (x{i}) r{i} = Reshape (x{i}, s{i}) x{i + 1} = Gelu (r{i})\n" for i in range(count // 3)
    )
    head = '<ir_version: 10, opset_import: ["" : 21]>\n'
    return onnx.parser.parse_model(f"{head}g (float[2, 3] x0) => (float[2, 3] x{count // 3}) {{\n{text}}}")


def growth(program, folder):
    """The exponent of the time as a function of the number of nodes, by pass: 1 is linear. Each run has a process of its
    own, as the command has: memory that is used again is faster than new memory."""
    figures = []
    for count in (30_000, 300_000):
        file = os.path.join(folder, f"chain{count}.onnx")
        onnx.save(chain(count), file)
        runs = [ours(program, file, 1) for _ in range(TURNS)]
        figures.append({name: min(run[name] for run in runs) for name in runs[0]})
    return {name: math.log10(figures[1][name] / figures[0][name]) for name in figures[0]}


def large(command, folder, size):
    """Seconds of copying a large model and of flattening it, and the peak memory in MB."""
    import numpy

    weights = [numpy.zeros(int(size * 1e9) // 40, dtype=numpy.float32) for _ in range(10)]
    nodes = "".join(f"x{i + 1} = l.f (x{i}, w{i})\n" for i in range(10))
    text = (
        '<ir_version: 10, opset_import: ["" : 21, "l" : 1]>\n'
        f"g (float[1] x0) => (float[N] x10) {{\n{nodes}}}\n"
        '<domain: "l", opset_import: ["" : 21]> f (a, b) => (c) { t = Mul (a, b) c = Neg (t) }\n'
    )
    model = onnx.parser.parse_model(text)
    for i, weight in enumerate(weights):
        model.graph.initializer.append(onnx.numpy_helper.from_array(weight, f"w{i}"))
    source, copy, flat = (os.path.join(folder, name) for name in ("large.onnx", "copy.onnx", "flat.onnx"))
    onnx.save(model, source)
    del model, weights
    launch = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch.py")
    copies, runs, memory = [], [], 0
    for _ in range(TURNS):
        start = time.perf_counter()
        shutil.copyfile(source, copy)
        copies.append(time.perf_counter() - start)
        # Pages that are not on the disk yet would delay the other program.
        os.unlink(copy)
        done = subprocess.run(
            [sys.executable, launch, "1", command, "-q", source, "-o", flat], capture_output=True, text=True, check=True
        )
        os.unlink(flat)
        seconds, peak, status, _ = done.stdout.split()
        assert status == "0"
        runs.append(float(seconds))
        memory = max(memory, int(peak) / 1024)
    return min(copies), min(runs), memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="target", help="cargo's target folder")
    parser.add_argument("--models", required=True, help="a folder with model.onnx in folders")
    parser.add_argument("--size", type=float, default=0.0, help="gigabytes of the large model; 0 for none")
    options = parser.parse_args()
    command = os.path.join(options.target, "release", "nnef-flatten")
    program = os.path.join(options.target, "release", "onnx_passes")
    models = sorted(glob.glob(os.path.join(options.models, "*", "model.onnx")))
    print("| pass | peer | models | ratio of all | median | least |\n|---|---|---|---|---|---|")
    for (name, peer), pairs in compare(program, models).items():
        ratios = [theirs / own for own, theirs in pairs]
        total = sum(theirs for _, theirs in pairs) / sum(own for own, _ in pairs)
        print(f"| {name} | {peer} | {len(pairs)} | {total:.1f} | {statistics.median(ratios):.1f} | {min(ratios):.1f} |")
    with tempfile.TemporaryDirectory() as folder:
        for name, factor in growth(program, folder).items():
            print(f"| {name}, exponent of the time | | | {factor:.2f} | | |")
        if options.size:
            copied, seconds, memory = large(command, folder, options.size)
            print(f"| {options.size} GB: {seconds:.2f} s, {memory:.0f} MB | cp: {copied:.2f} s | | {seconds / copied:.2f} | | |")


if __name__ == "__main__":
    main()
