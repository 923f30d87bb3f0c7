#!/usr/bin/env python3
"""Flattens models of ONNX with nnef-flatten, onnx.inliner, onnxslim and onnxsim, and tells what each makes of them.

For each program: how many models it refuses or ends on, in how many it leaves functions, how many of its results onnxruntime
does not load, and how many give other numbers than the model did. Models are folders with `model.onnx` and `io.npz`
below --models. Needs the Python packages numpy, onnx and onnxruntime; onnxslim and onnxsim are left out where they
are not installed. Fails if nnef-flatten does not flatten every model to one with the same numbers.

    python3 tests/interop/inliners.py --bin target/fast/nnef-flatten [-v]
"""

import argparse
import collections
import contextlib
import importlib.util
import io
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnx.inliner
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent.parent.parent
COLUMNS = ["refused", "functions left", "not loaded", "other numbers"]


def flatten(binary):
    def call(source, target):
        run = subprocess.run([binary, "-q", source, "-o", target], capture_output=True, text=True)
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

    model, _ = package.simplify(onnx.load(source))
    onnx.save(model, target)


def programs(binary):
    found = {"nnef-flatten": flatten(binary), "onnx.inliner": inliner}
    for name, call in [("onnxslim", onnxslim), ("onnxsim", onnxsim)]:
        if importlib.util.find_spec(name):
            found[name] = call
    return found


def same(found, wanted):
    if wanted.dtype.kind in "fc":
        return found.shape == wanted.shape and numpy.allclose(found, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)
    return numpy.array_equal(found, wanted)


def judge(call, source, folder):
    """What is wrong with the result: one of the columns with its reason, or nothing."""
    target = str(folder / "result.onnx")
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            call(str(source), target)
    except Exception as error:  # whatever a program raises is its refusal
        return "refused", error
    left = onnx.load(target).functions
    if left:
        return "functions left", ", ".join(function.name for function in left)
    data = source.parent / "io.npz"
    if not data.exists():
        return None, ""
    data = numpy.load(data)
    names = [key[4:] for key in data if key.startswith("out:")]
    try:
        session = onnxruntime.InferenceSession(target)
        taken = {value.name for value in session.get_inputs()}
        results = session.run(names, {key[3:]: data[key] for key in data if key[:3] == "in:" and key[3:] in taken})
    except Exception as error:
        return "not loaded", error
    other = [name for name, value in zip(names, results) if not same(value, data["out:" + name])]
    return ("other numbers", ", ".join(other)) if other else (None, "")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True)
    arguments.add_argument("--models", type=pathlib.Path, default=HERE.parent / "shared" / "models-onnx")
    arguments.add_argument("-v", "--verbose", action="store_true", help="tell each model and its reason")
    arguments = arguments.parse_args()
    onnxruntime.set_default_logger_severity(4)
    sources = sorted(arguments.models.glob("*/model.onnx"))
    print(f"| of {len(sources)} models | right | {' | '.join(COLUMNS)} |")
    print("|---|" + "---|" * (len(COLUMNS) + 1))
    failed = False
    for name, call in programs(arguments.bin).items():
        counts, notes = collections.Counter(), []
        with tempfile.TemporaryDirectory() as folder:
            for source in sources:
                column, reason = judge(call, source, pathlib.Path(folder))
                counts[column] += 1
                if column:
                    notes.append(f"{name}: {source.parent.name}: {column}: {str(reason).splitlines()[0][:160] if str(reason) else ''}")
        print(f"| {name} | {counts[None]} | {' | '.join(str(counts[column]) for column in COLUMNS)} |")
        if arguments.verbose or name == "nnef-flatten":
            print("".join(f"{note}\n" for note in notes), end="", file=sys.stderr)
        failed |= name == "nnef-flatten" and counts[None] != len(sources)
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
