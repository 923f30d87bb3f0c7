"""Measures nnef-flatten and the package onnx on ONNX models; prints a Markdown table.

    cargo build --release
    cargo build --release --manifest-path benches/Cargo.toml --target-dir target --bins
    python3 bench/compare_onnx.py --target target

Needs the package onnx. Both programs take turns; each figure is the least CPU time of all turns. Reading, inlining and
writing are measured separately inside each program; the whole command is measured as a process.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

import onnx
import onnx.inliner
import onnx.parser

HEAD = '<ir_version: 10, opset_import: ["" : 21, "l" : 1]>\n'
TURNS = 5


def chain(count):
    """A model text with a chain of nodes, each with an attribute and two operands."""
    nodes = "".join(f"x{i + 1} = Add <k: int = {i}> (x{i}, x{max(0, i - 3)})\n" for i in range(count))
    return f"{HEAD}g (float[2] x0) => (float[2] x{count}) {{\n{nodes}}}\n"


def calls(count):
    """A model text with calls of one function of two nodes."""
    nodes = "".join(f"x{i + 1} = l.f <k: int = {i}> (x{i})\n" for i in range(count))
    function = '<domain: "l", opset_import: ["" : 21]> f <k> (a) => (b) { t = Op <k: int = @k> (a) b = Add (t, a) }\n'
    return f"{HEAD}g (float[2] x0) => (float[2] x{count}) {{\n{nodes}}}\n{function}"


def doubling(levels):
    """A model text whose flat model has 2 to the power of `levels` nodes."""
    text = f"{HEAD}g (float[2] x) => (float[2] y) {{ y = l.f{levels - 1} (x) }}\n"
    text += '<domain: "l", opset_import: ["" : 21]> f0 (a) => (c) { b = Neg (a) c = Abs (b) }\n'
    for i in range(1, levels):
        body = f"b = l.f{i - 1} (a) c = l.f{i - 1} (b)"
        text += f'<domain: "l", opset_import: ["" : 21, "l" : 1]> f{i} (a) => (c) {{ {body} }}\n'
    return text


def timed(function):
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def stages(program, file):
    """The CPU seconds of each stage, in a separate process."""
    done = subprocess.run([program, file, "2"], capture_output=True, text=True, check=True)
    lines = [dict(re.findall(r"(\w+)=([\d.]+)", line)) for line in done.stdout.splitlines()]
    return {stage: min(float(line[stage]) for line in lines) for stage in ("read", "inline", "write")}


def whole(command):
    """Seconds and peak MB of a command, started by a small process: a child's peak includes that of its parent."""
    launch = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch.py")
    done = subprocess.run([sys.executable, launch, "1", *command], capture_output=True, text=True, check=True)
    seconds, memory, status, _ = done.stdout.split()
    assert status == "0", command
    return float(seconds), int(memory) / 1024


def compare(program, folder, size):
    """The seconds of nnef-flatten and of onnx for each task."""
    texts = {"chain": chain(size), "calls": calls(size)}
    models = {name: onnx.parser.parse_model(text) for name, text in texts.items()}
    for name, text in texts.items():
        with open(os.path.join(folder, f"{name}.onnxtxt"), "w") as file:
            file.write(text)
        onnx.save(models[name], os.path.join(folder, f"{name}.onnx"))
    chain_file, calls_file = (os.path.join(folder, f"{name}.onnx") for name in ("chain", "calls"))
    ours = {"text": [], "load": [], "inline": []}
    peer = {"text": [], "load": [], "inline": []}
    for _ in range(TURNS):
        ours["text"].append(stages(program, os.path.join(folder, "chain.onnxtxt"))["read"])
        peer["text"].append(timed(lambda: onnx.parser.parse_model(texts["chain"]))[0])
        ours["load"].append(stages(program, chain_file)["read"])
        peer["load"].append(timed(lambda: onnx.load(chain_file))[0])
        ours["inline"].append(stages(program, calls_file)["inline"])
        # The package copies the model between Python and C++ as bytes. That is not inlining, so it is subtracted.
        copied = timed(lambda: onnx.ModelProto.FromString(models["calls"].SerializeToString()))[0]
        peer["inline"].append(timed(lambda: onnx.inliner.inline_local_functions(models["calls"]))[0] - copied)
    return {key: (min(ours[key]), min(peer[key])) for key in ours}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="target", help="cargo's target folder")
    parser.add_argument("--sizes", default="1e4,1e5", help="numbers of nodes or calls")
    options = parser.parse_args()
    command = os.path.join(options.target, "release", "nnef-flatten")
    program = os.path.join(options.target, "release", "onnx_stages")
    sizes = [int(float(size)) for size in options.sizes.split(",")]
    names = {"text": "reading text", "load": "reading protobuf", "inline": "inlining calls"}
    print("| what | size | nnef-flatten | onnx | ratio |\n|---|---|---|---|---|")
    growth = {key: [] for key in names}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            for key, (ours, peer) in compare(program, folder, size).items():
                growth[key].append(ours / size)
                print(f"| {names[key]} | {size} | {ours:.4f} s | {peer:.4f} s | {peer / ours:.1f} |", flush=True)
        for key, name in names.items():
            if len(growth[key]) > 1:
                print(f"| {name}, growth of the time for a node | | {growth[key][-1] / growth[key][0]:.2f} | | |")
        file = os.path.join(folder, "doubling.onnxtxt")
        with open(file, "w") as text:
            text.write(doubling(20))
        runs = [whole([command, file, "-o", os.path.join(folder, "flat.onnx")]) for _ in range(TURNS)]
        seconds, memory = min(run[0] for run in runs), max(run[1] for run in runs)
        print(f"| doubling to 2^20 nodes, whole command | | {seconds:.2f} s, {memory:.0f} MB | | |")


if __name__ == "__main__":
    main()
