#!/usr/bin/env python3
"""Compares what tract computes of flattened models of ONNX with the numbers that the models gave before.

usage: onnx_tract.py --bin PATH [--models FOLDER] [-v]

Models are folders with `model.onnx` and `io.npz`. tract reads no functions, so that most of them are nothing for it before
they are flattened. A model that it cannot load afterwards is named with the reason and counts neither way. Exit status 0
when all others agree, 1 when some differ, 0 with the word `skipped` when tract or numpy is not installed.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import tract
except (ImportError, OSError) as error:
    print(f"skipped: {error}")
    sys.exit(0)


# Models of which tract computes something else than onnxruntime and onnx, whoever flattens them.
KNOWN = {"torch_isx": "tract takes x * 0 for 0, also where x is infinite"}


def runnable(file, inputs):
    """A model with the shapes and types of its inputs, and how many outputs it has."""
    model = tract.onnx().load(str(file))
    for i in range(model.input_count()):
        value = inputs[model.input_name(i)]
        shape = ",".join(str(extent) for extent in value.shape)
        kinds = {"float32": "f32", "float64": "f64", "int64": "i64", "int32": "i32", "bool": "bool"}
        fact = ",".join(filter(None, [shape, kinds[str(value.dtype)]]))
        model.set_input_fact(i, fact)
    # What the model says of outputs may depend on symbols that the inputs have no more.
    for i in range(model.output_count()):
        model.set_output_fact(i, None)
    names = [model.input_name(i) for i in range(model.input_count())]
    outputs = [model.output_name(i) for i in range(model.output_count())]
    return model.into_model().into_runnable(), names, outputs


def compare(binary, folder, work):
    """`same`, `differs`, or why tract cannot tell."""
    data = np.load(folder / "io.npz")
    flat = work / "flat.onnx"
    done = subprocess.run([binary, "-q", folder / "model.onnx", "-o", flat], capture_output=True, text=True)
    if done.returncode:
        return f"differs: {done.stderr}"
    inputs = {key[3:]: data[key] for key in data if key.startswith("in:")}
    wanted = [data[key] for key in data if key.startswith("out:")]
    try:
        model, names, outputs = runnable(flat, inputs)
        found = [value.to_numpy() for value in model.run([np.array(inputs[name], order="C") for name in names])]
    except Exception as error:
        return " ".join(str(error).split())[:200]
    if len(found) != len(wanted):
        return f"differs: {len(found)} outputs"
    for name, a, b in zip(outputs, found, wanted):
        if not np.allclose(np.asarray(a, dtype=float), np.asarray(b, dtype=float), rtol=1e-3, atol=1e-4, equal_nan=True):
            return f"differs: {name}"
    return "same"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--models", default="../shared/models-onnx")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    folders = sorted(path.parent for path in pathlib.Path(options.models).glob("*/model.onnx"))
    counts = {"same": 0, "differs": 0, "not loaded": 0}
    with tempfile.TemporaryDirectory() as work:
        for folder in folders:
            if not (folder / "io.npz").exists():
                continue
            verdict = compare(options.bin, folder, pathlib.Path(work))
            if verdict.startswith("differs") and folder.name in KNOWN:
                verdict = KNOWN[folder.name]
            kind = verdict.split(":")[0]
            counts[kind if kind in counts else "not loaded"] += 1
            if options.v or kind == "differs":
                print(f"{folder.name}: {verdict}")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    sys.exit(1 if counts["differs"] else 0)


if __name__ == "__main__":
    main()
