#!/usr/bin/env python3
"""Outlines models, flattens the result, and compares with the flat model.

Models are `graph.nnef`, `model.onnx` and `*.pnnx.param` below the folders. `nnef-flatten diff` compares graphs and data up to the
names of inner tensors. Models of ONNX with `io.npz` are also computed by onnxruntime, flat and outlined. With --sizes, the sizes
of the texts are written as rows of a table. Needs the Python packages numpy, onnx and onnxruntime for the numbers.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile


def call(binary, *words, accepted=(0,)):
    run = subprocess.run([binary, "-q", *map(str, words)], capture_output=True, text=True)
    if run.returncode not in accepted:
        raise RuntimeError(f"{' '.join(map(str, words))}: {(run.stderr or run.stdout).strip()[:300]}")
    return run


def compared(binary, flat, outlined):
    call(binary, "diff", flat, outlined)


def computed(path, feed):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # The same kernels in both models.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options)
    return session.run(None, {item.name: feed[item.name] for item in session.get_inputs() if item.name in feed})


def same_numbers(model, flat, outlined):
    import numpy

    values = model.parent / "io.npz"
    if not values.exists():
        return False
    data = numpy.load(values)
    feed = {key[3:]: data[key] for key in data if key.startswith("in:")}
    if not feed:
        # Other folders have other names: their graphs are compared, not their numbers.
        return False
    for wanted, found in zip(computed(flat, feed), computed(outlined, feed)):
        assert numpy.array_equal(wanted, found, equal_nan=wanted.dtype.kind in "fc"), "other numbers"
    return True


def of_onnx(binary, model, folder):
    """Sizes of the graphs in text, and whether numbers were compared."""
    flat, outlined = folder / "flat.onnx", folder / "outlined.onnx"
    call(binary, model, "--lower", "custom", "-o", flat)
    call(binary, model, "--lower", "custom", "--outline", "-o", outlined)
    compared(binary, flat, outlined)
    numbers = same_numbers(model, flat, outlined)
    sizes = []
    for path in (flat, outlined):
        text = call(binary, path, "--to", "onnxtxt", "--lower", "none").stdout
        # Weights are not a part of the structure.
        sizes.append(len(re.sub(r"= *\{[^{}]*\}", "", text)))
    return sizes, numbers


def of_text(binary, model, folder):
    """Sizes of the texts of NNEF."""
    flat, outlined = folder / "flat.nnef", folder / "outlined.nnef"
    made = call(binary, model, "--to", "nnef", "-o", flat, accepted=(0, 1))
    if made.returncode:
        return None
    call(binary, model, "--to", "nnef", "--outline", "-o", outlined)
    compared(binary, flat, outlined)
    return [path.stat().st_size for path in (flat, outlined)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="target/release/nnef-flatten")
    parser.add_argument("--shared", default="../shared", type=pathlib.Path)
    parser.add_argument("--folders", default="models,models-onnx,models-pnnx,translate")
    parser.add_argument("--sizes", action="store_true", help="write a table of sizes")
    arguments = parser.parse_args()
    done = failed = with_numbers = smaller = 0
    for folder in arguments.folders.split(","):
        models = [path for name in ("graph.nnef", "model.onnx", "*.param") for path in (arguments.shared / folder).rglob(name)]
        for model in sorted(models):
            with tempfile.TemporaryDirectory() as made:
                made = pathlib.Path(made)
                try:
                    all_sizes = []
                    if model.suffix == ".onnx":
                        sizes, numbers = of_onnx(arguments.bin, model, made)
                        with_numbers += numbers
                        all_sizes.append(("onnxtxt", sizes))
                    all_sizes.append(("nnef", of_text(arguments.bin, model, made)))
                except Exception as error:  # pylint: disable=broad-except
                    failed += 1
                    print(f"{model}: {str(error)[:400]}")
                    continue
            for notation, sizes in all_sizes:
                if sizes:
                    done += 1
                    smaller += sizes[1] < sizes[0]
                    if arguments.sizes and sizes[1] < sizes[0]:
                        name = model.parent.name if model.suffix != ".param" else model.name
                        print(f"| {name} | {notation} | {sizes[0]} | {sizes[1]} | {sizes[0] / sizes[1]:.1f} |")
    print(f"{done} models were outlined, {smaller} of them are smaller; numbers of {with_numbers} were compared, {failed} failed")
    sys.exit(failed > 0 or not smaller or ("models-onnx" in arguments.folders and not with_numbers))


if __name__ == "__main__":
    main()
