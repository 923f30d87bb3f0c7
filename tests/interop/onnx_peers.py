#!/usr/bin/env python3
"""Flattens models of ONNX with nnef-flatten, onnx.inliner, onnxslim and onnxsim, and tells what each makes of them.

Two sets of models: those with functions (folders with `model.onnx` and `io.npz` below --models), and exports without
functions (files that `models.json` of --exports lists with their inputs), which nnef-flatten gets with `--fold --share`.
onnxsim is asked to inline functions, which it does not by default. Of each program and set: how many models it fails on,
in how many it leaves functions, how many of its results onnxruntime does not load, and how many give other numbers.

Needs the Python packages numpy, onnx and onnxruntime; onnxslim and onnxsim are left out where they are not installed. Fails
if nnef-flatten does not flatten every model to one with the same numbers.

    python3 tests/interop/onnx_peers.py --bin target/fast/nnef-flatten [-v]
"""

import argparse
import collections
import contextlib
import importlib.util
import io
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnx.helper
import onnx.inliner
import onnxruntime

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared"
COLUMNS = ["fails", "functions left", "not loaded", "other numbers"]
TYPES = {"float16": numpy.float16, "float": numpy.float32, "double": numpy.float64, "bool": numpy.bool_}


def flatten(binary, *options):
    def call(source, target):
        run = subprocess.run([binary, "-q", *options, source, "-o", target], capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(run.stderr.strip())
    return call


def inliner(source, target):
    onnx.save(onnx.inliner.inline_local_functions(onnx.load(source)), target)


def onnxslim(source, target):
    import onnxslim as package

    onnx.save(package.slim(onnx.load(source)), target)


def onnxsim(source, target):
    import onnxsim as package

    onnx.save(package.simplify(onnx.load(source), inline_functions=True)[0], target)


def installed(calls):
    return {name: call for name, call in calls.items() if name.startswith(("nnef", "onnx.")) or importlib.util.find_spec(name)}


def session(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def compute(path, inputs, names):
    """The outputs of a model by name; inputs that it does not have any more are left out."""
    runs = session(path)
    taken = {value.name for value in runs.get_inputs()}
    return dict(zip(names, runs.run(names, {name: value for name, value in inputs.items() if name in taken})))


def with_functions(folder):
    """The models with functions: name, path, inputs and outputs."""
    for path in sorted(folder.glob("*/model.onnx")):
        data = path.parent / "io.npz"
        data = numpy.load(data) if data.exists() else {}
        parts = [{key[len(start):]: data[key] for key in data if key.startswith(start)} for start in ("in:", "out:")]
        yield path.parent.name, path, *parts


def exports(folder):
    """The exports: name, path, inputs, and the outputs that onnxruntime computes."""
    described = folder / "models.json"
    for name, row in sorted(json.loads(described.read_text()).items()) if described.exists() else ():
        random, inputs = numpy.random.default_rng(0), {}
        runs = session(folder / name)
        for value in runs.get_inputs():
            given, dtype = row["inputs"][value.name], value.type.removeprefix("tensor(").removesuffix(")")
            items = random.standard_normal(given["shape"]) if "shape" in given else numpy.array(given["values"])
            inputs[value.name] = items.astype(TYPES.get(dtype, dtype))
        names = [value.name for value in runs.get_outputs()]
        try:
            wanted = compute(folder / name, inputs, names)
        except onnxruntime.capi.onnxruntime_pybind11_state.Fail as error:
            # `com.microsoft.nchwc` is a layout of the processors that a model was optimized for.
            print(f"skipped: {name}, which onnxruntime does not compute here: {str(error)[:200]}", file=sys.stderr)
            continue
        yield name, folder / name, inputs, wanted


def same(found, wanted):
    if not isinstance(wanted, numpy.ndarray):
        return True  # sequences and maps of classifiers
    if wanted.dtype.kind in "fc":
        return found.shape == wanted.shape and numpy.allclose(found, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)
    return numpy.array_equal(found, wanted)


def judge(call, path, inputs, wanted, folder):
    """What is wrong with the result: one of the columns with its reason, or nothing."""
    target = str(pathlib.Path(folder) / "result.onnx")
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            call(str(path), target)
    except Exception as error:  # whatever a program raises is its failure
        return "fails", error
    left = onnx.load(target).functions
    if left:
        return "functions left", ", ".join(function.name for function in left)
    try:
        found = compute(target, inputs, list(wanted)) if wanted else {}
    except Exception as error:
        return "not loaded", error
    other = [name for name, value in found.items() if not same(value, wanted[name])]
    return ("other numbers", ", ".join(other)) if other else (None, "")


def compare(title, calls, models, verbose):
    """Prints the table of a set of models; returns whether nnef-flatten is right about all of them."""
    print(f"\n| {len(models)} {title} | right | {' | '.join(COLUMNS)} |")
    print("|---|" + "---|" * (len(COLUMNS) + 1))
    right = True
    for program, call in calls.items():
        counts = collections.Counter()
        with tempfile.TemporaryDirectory() as folder:
            for name, *model in models:
                column, reason = judge(call, *model, folder)
                counts[column] += 1
                ours = program.startswith("nnef-flatten")
                right &= not (ours and column)
                if column and (verbose or ours):
                    print(f"{program}: {name}: {column}: {str(reason)[:160]}".replace("\n", " "), file=sys.stderr)
        print(f"| {program} | {counts[None]} | {' | '.join(str(counts[column]) for column in COLUMNS)} |")
    return right


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True)
    arguments.add_argument("--models", type=pathlib.Path, default=SHARED / "models-onnx")
    arguments.add_argument("--exports", type=pathlib.Path, default=SHARED / "simplify")
    arguments.add_argument("-v", "--verbose", action="store_true", help="tell each model and its reason")
    arguments = arguments.parse_args()
    onnxruntime.set_default_logger_severity(4)
    peers = installed({"onnxslim": onnxslim, "onnxsim": onnxsim})
    sets = [
        ("models with functions", list(with_functions(arguments.models)),
         {"nnef-flatten": flatten(arguments.bin), "onnx.inliner": inliner, **peers}),
        ("exports", list(exports(arguments.exports)),
         {"nnef-flatten --fold --share": flatten(arguments.bin, "--fold", "--share"), **peers}),
    ]
    found = [compare(title, calls, models, arguments.verbose) for title, models, calls in sets if models]
    return 0 if found and all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
