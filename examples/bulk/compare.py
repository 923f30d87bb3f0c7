"""Models a second: this module, the packages of ONNX and Khronos, a process of the command for each: compare.py FOLDER.

Time is that of the processor, of child processes too, so that other load on the machine matters little; only threads are
measured by the clock.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nnef
import onnx
import onnx.inliner

import nnef_flatten
from nnef_flatten.__main__ import command

ROUNDS = 5

# The numbers of calls in models of several sizes, and how many calls the models of a size have together.
CALLS = (2, 13, 100, 1000)
CALLS_TOGETHER = 2000

MODEL = """
<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
g (float[2] t0) => (float[2] t{calls}) {{ {body} }}
<domain: "local", opset_import: ["" : 17]> scaled (a) => (b) {{ s = Add (a, a) b = Mul (s, a) }}
"""


def inlined(path):
    """What the module does with a model of ONNX, by the packages of ONNX."""
    return inlined_model(onnx.load(path))


def inlined_bytes(content):
    return inlined_model(onnx.load_from_string(content))


def inlined_model(model):
    return onnx.inliner.inline_local_functions(model).SerializeToString()


def flattened(x):
    """A path, bytes or a model."""
    result = nnef_flatten.flatten(x)
    return result.to_bytes() if isinstance(result, nnef_flatten.Model) else result.to_text()


def parsed(path):
    return nnef.parse_file(str(path))


def by_command(path):
    return subprocess.run([command(), path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def accepted(path):
    return not any(finding.is_error for finding in nnef_flatten.check(path))


def used():
    """The processor's time of this process and of its children."""
    of_children = os.times()
    return time.process_time() + of_children.children_user + of_children.children_system


def each(function, paths):
    for path in paths:
        function(path)


def rates(programs):
    """Models a second of programs that take turns: the best of some rounds."""
    best = {}
    for _ in range(ROUNDS):
        for name, (function, paths) in programs.items():
            start = used()
            each(function, paths)
            best[name] = max(best.get(name, 0), len(paths) / (used() - start))
    return best


def sized(calls):
    """A model with a number of calls of a function, one after the other."""
    body = " ".join(f"t{i + 1} = local.scaled (t{i})" for i in range(calls))
    return onnx.parser.parse_model(MODEL.format(calls=calls, body=body)).SerializeToString()


def print_sizes():
    """Microseconds for a model by the number of its calls, from files, bytes and objects, by this module and by ONNX."""
    print("\n| calls | bytes | flatten: bytes | ModelProto | file | onnx: bytes | ModelProto | file | × for files |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for calls in CALLS:
            content = sized(calls)
            paths = [Path(folder) / f"{calls}_{i}.onnx" for i in range(CALLS_TOGETHER // calls)]
            for path in paths:
                path.write_bytes(content)
            contents = [path.read_bytes() for path in paths]
            objects = [onnx.load_from_string(content) for content in contents]
            inputs = {"bytes": contents, "ModelProto": objects, "file": paths}
            theirs = {"bytes": inlined_bytes, "ModelProto": inlined_model, "file": inlined}
            programs = {("flatten", kind): (flattened, items) for kind, items in inputs.items()}
            programs |= {("onnx", kind): (theirs[kind], items) for kind, items in inputs.items()}
            each_rate = rates(programs)
            times = " | ".join(f"{1e6 / rate:.0f}" for rate in each_rate.values())
            ratio = each_rate["flatten", "file"] / each_rate["onnx", "file"]
            print(f"| {calls} | {len(content)} | {times} | {ratio:.1f} |")


def without_lock(seconds):
    """A function that works for a time without the interpreter's lock, and does nothing else: what threads can gain."""
    block = bytes(1 << 20)
    start = time.perf_counter()
    hashlib.sha256(block)
    part = block[: max(4096, int(len(block) * seconds / (time.perf_counter() - start)))]
    return lambda _: hashlib.sha256(part)


def threads(programs):
    """Calls a second by the clock with one and with two threads, which take turns; another load on the machine is
    avoided by many short rounds, of which the best counts."""
    best = {}
    for _ in range(10 * ROUNDS):
        for name, (function, items) in programs.items():
            for count in (1, 2):
                shares = [items[i::count] for i in range(count)]
                with ThreadPoolExecutor(count) as pool:
                    start = time.perf_counter()
                    list(pool.map(lambda share, function=function: each(function, share), shares))
                    rate = len(items) / (time.perf_counter() - start)
                best[name, count] = max(best.get((name, count), 0), rate)
    return best


def print_threads(inputs):
    """What two threads gain on inputs, beside work of the same time that only holds no lock."""
    programs = {}
    for name, items in inputs.items():
        rate = max(rates({name: (flattened, items)}).values())
        programs[name] = (flattened, items)
        programs[f"{name}: as long, without the lock"] = (without_lock(1 / rate), items)
    best = threads(programs)
    print("\n| what | microseconds, one thread | × with two threads |\n|---|---|---|")
    for name in programs:
        one, two = best[name, 1], best[name, 2]
        print(f"| {name} | {1e6 / one:.0f} | {two / one:.2f} |")


def main(folder):
    paths = [path for path in sorted(Path(folder).iterdir()) if accepted(path)]
    models = [path for path in paths if path.suffix == ".onnx"]
    documents = [path for path in paths if path.suffix == ".nnef"]
    contents = [path.read_bytes() for path in models]
    objects = [onnx.load_from_string(content) for content in contents]
    texts = [path.read_text() for path in documents]
    programs = {
        "ONNX: nnef_flatten.flatten": (flattened, models),
        "ONNX: nnef_flatten.check": (nnef_flatten.check, models),
        "ONNX: onnx.load, onnx.inliner, SerializeToString": (inlined, models),
        "ONNX in memory: nnef_flatten.flatten": (flattened, contents),
        "ONNX in memory: onnx.load_from_string, onnx.inliner, SerializeToString": (inlined_bytes, contents),
        "ONNX as ModelProto: nnef_flatten.flatten": (flattened, objects),
        "ONNX as ModelProto: onnx.inliner, SerializeToString": (inlined_model, objects),
        "ONNX: the command, a process each": (by_command, models[:100]),
        "NNEF: nnef_flatten.flatten": (flattened, documents),
        "NNEF: nnef_flatten.check": (nnef_flatten.check, documents),
        "NNEF: nnef.parse_file": (parsed, documents),
        "NNEF: the command, a process each": (by_command, documents[:100]),
    }
    print("| what | models a second | microseconds |\n|---|---|---|")
    for name, rate in rates(programs).items():
        print(f"| {name} | {rate:.0f} | {1e6 / rate:.0f} |")
    print_sizes()
    times = 1 + 500 // len(contents)
    print_threads({"ONNX in memory": times * contents, "NNEF in memory": times * texts})


if __name__ == "__main__":
    main(*sys.argv[1:])
