#!/usr/bin/env python3
"""Compares what tract computes of flattened models of ONNX with the numbers that the models gave before.

usage: onnx_tract.py --bin PATH [--models FOLDER] [-v]

Models are folders with `model.onnx` and `io.npz`. tract reads no functions, so that most of them are nothing for it before
they are flattened. A model that it cannot load afterwards is named with the reason and counts neither way. Where tract
computes other numbers, it gets the model that onnx.inliner made flat, too: with the same numbers of both it is tract that
differs. Exit status 0 when all others agree, 1 when some differ, 0 with the word `skipped` when a package is not installed.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnx.inliner
    import tract
except (ImportError, OSError) as error:
    print(f"skipped: {error}")
    sys.exit(0)


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


def computed(file, inputs):
    """The names of the outputs, and what tract computes of them."""
    model, names, outputs = runnable(file, inputs)
    return outputs, [value.to_numpy() for value in model.run([np.array(inputs[name], order="C") for name in names])]


def different(outputs, found, wanted):
    """The first output that is not as wanted."""
    if len(found) != len(wanted):
        return f"{len(found)} outputs"
    alike = {"rtol": 1e-3, "atol": 1e-4, "equal_nan": True}
    pairs = [(name, np.asarray(a, float), np.asarray(b, float)) for name, a, b in zip(outputs, found, wanted)]
    return next((name for name, a, b in pairs if a.shape != b.shape or not np.allclose(a, b, **alike)), None)


def is_of_tract(folder, work, inputs, found):
    """Whether tract computes the same of what onnx.inliner made of the model."""
    other = work / "inlined.onnx"
    try:
        onnx.save(onnx.inliner.inline_local_functions(onnx.load(folder / "model.onnx")), other)
        outputs, others = computed(other, inputs)
    except Exception:
        return False
    return different(outputs, others, found) is None


def compare(binary, folder, work):
    """`same`, `differs`, `tract alone`, or why tract cannot tell."""
    data = np.load(folder / "io.npz")
    flat = work / "flat.onnx"
    done = subprocess.run([binary, "-q", folder / "model.onnx", "-o", flat], capture_output=True, text=True)
    if done.returncode:
        return f"differs: {done.stderr}"
    inputs = {key[3:]: data[key] for key in data if key.startswith("in:")}
    wanted = [data[key] for key in data if key.startswith("out:")]
    try:
        outputs, found = computed(flat, inputs)
    except Exception as error:
        return " ".join(str(error).split())[:200]
    name = different(outputs, found, wanted)
    if name is None:
        return "same"
    kind = "tract alone" if is_of_tract(folder, work, inputs, found) else "differs"
    return f"{kind}: {name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--models", default="../shared/models-onnx")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    folders = sorted(path.parent for path in pathlib.Path(options.models).glob("*/model.onnx"))
    counts = {"same": 0, "tract alone": 0, "differs": 0, "not loaded": 0}
    with tempfile.TemporaryDirectory() as work:
        for folder in folders:
            if not (folder / "io.npz").exists():
                continue
            verdict = compare(options.bin, folder, pathlib.Path(work))
            kind = verdict.split(":")[0]
            counts[kind if kind in counts else "not loaded"] += 1
            if options.v or kind != "same":
                print(f"{folder.name}: {verdict}")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    sys.exit(1 if counts["differs"] or not counts["same"] else 0)


if __name__ == "__main__":
    main()
