"""Models a second in one process: this module, onnx.inliner, nnef.parse_string, and a process a model: compare.py FOLDER."""

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


def inlined(path):
    """What the module does with a model of ONNX, by the packages of ONNX."""
    return onnx.inliner.inline_local_functions(onnx.load(path)).SerializeToString()


def flattened(path):
    result = nnef_flatten.flatten(path)
    return result.to_bytes() if isinstance(result, nnef_flatten.Model) else result.to_text()


def quietly(function, path):
    try:
        function(path)
    except Exception:  # a model that is wrong
        pass


def rate(function, paths, repeat=3):
    """Models a second: the best of some rounds."""
    best = 0.0
    for _ in range(repeat):
        start = time.perf_counter()
        for path in paths:
            quietly(function, path)
        best = max(best, len(paths) / (time.perf_counter() - start))
    return best


def threads(function, paths, workers):
    """Models a second with a number of threads, each of which takes its share."""
    shares = [paths[i::workers] for i in range(workers)]
    best = 0.0
    for _ in range(3):
        with ThreadPoolExecutor(workers) as pool:
            start = time.perf_counter()
            list(pool.map(lambda share: [quietly(function, path) for path in share], shares))
            best = max(best, len(paths) / (time.perf_counter() - start))
    return best


def main(folder):
    paths = sorted(Path(folder).iterdir())
    models = [path for path in paths if path.suffix == ".onnx"]
    documents = [path for path in paths if path.suffix == ".nnef"]
    rows = [
        ("models of ONNX, nnef_flatten.flatten", rate(flattened, models)),
        ("models of ONNX, nnef_flatten.check", rate(nnef_flatten.check, models)),
        ("models of ONNX, onnx.load + onnx.inliner + SerializeToString", rate(inlined, models)),
        ("documents of NNEF, nnef_flatten.flatten", rate(flattened, documents)),
        ("documents of NNEF, nnef.parse_file", rate(lambda path: nnef.parse_file(str(path)), documents)),
        ("both, a process of the command each", rate(lambda path: subprocess.run([command(), path], stdout=-3, stderr=-3), paths[:200], 1)),
        ("both, one thread", threads(flattened, paths, 1)),
        ("both, two threads", threads(flattened, paths, 2)),
    ]
    for what, per_second in rows:
        print(f"{what:62} {per_second:9.0f} /s {1e6 / per_second:9.1f} us")


if __name__ == "__main__":
    main(*sys.argv[1:])
