"""Models a second: this module, the packages of ONNX and Khronos, a process of the command for each: compare.py FOLDER.

Time is that of the processor, of child processes too, so that other load on the machine matters little; only threads are
measured by the clock.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nnef
import onnx
import onnx.inliner

import nnef_flatten
from nnef_flatten.__main__ import command

ROUNDS = 5


def inlined(path):
    """What the module does with a model of ONNX, by the packages of ONNX."""
    return onnx.inliner.inline_local_functions(onnx.load(path)).SerializeToString()


def flattened(path):
    result = nnef_flatten.flatten(path)
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


def threads(paths):
    """Models a second by the clock with one and with two threads, which take turns."""
    best = {1: 0.0, 2: 0.0}
    for _ in range(2 * ROUNDS):
        for count in best:
            shares = [paths[i::count] for i in range(count)]
            with ThreadPoolExecutor(count) as pool:
                start = time.perf_counter()
                list(pool.map(lambda share: each(flattened, share), shares))
                best[count] = max(best[count], len(paths) / (time.perf_counter() - start))
    return best


def main(folder):
    paths = [path for path in sorted(Path(folder).iterdir()) if accepted(path)]
    models = [path for path in paths if path.suffix == ".onnx"]
    documents = [path for path in paths if path.suffix == ".nnef"]
    programs = {
        "ONNX: nnef_flatten.flatten": (flattened, models),
        "ONNX: nnef_flatten.check": (nnef_flatten.check, models),
        "ONNX: onnx.load, onnx.inliner, SerializeToString": (inlined, models),
        "ONNX: the command, a process each": (by_command, models[:100]),
        "NNEF: nnef_flatten.flatten": (flattened, documents),
        "NNEF: nnef_flatten.check": (nnef_flatten.check, documents),
        "NNEF: nnef.parse_file": (parsed, documents),
        "NNEF: the command, a process each": (by_command, documents[:100]),
    }
    print("| what | models a second | microseconds |\n|---|---|---|")
    for name, rate in rates(programs).items():
        print(f"| {name} | {rate:.0f} | {1e6 / rate:.0f} |")
    one, two = threads(paths).values()
    print(f"\nOne thread {one:.0f}, two threads {two:.0f} models a second: {two / one:.2f} x")


if __name__ == "__main__":
    main(*sys.argv[1:])
