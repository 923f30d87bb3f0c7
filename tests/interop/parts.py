#!/usr/bin/env python3
"""Cuts models at random tensors, and compares the parts with the whole.

One part computes the tensors from the inputs, the other one the outputs from the values of these tensors. Models of ONNX are
folders with `model.onnx` and `io.npz` below --models, and are computed by onnxruntime. As far as they can be translated to NNEF,
that is cut, too, and computed by `nnef-flatten run` on random inputs. Needs the Python packages numpy, onnx and onnxruntime.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime


def call(binary, *words):
    run = subprocess.run([binary, "-q", *map(str, words)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr.strip()[:300]
    return run.stdout


def same(found, wanted, name):
    assert found.shape == wanted.shape, f"another shape: {name}"
    if wanted.dtype.kind in "fc":
        assert numpy.allclose(found, wanted, rtol=1e-4, atol=1e-5, equal_nan=True), f"other numbers: {name}"
    else:
        assert numpy.array_equal(found, wanted), f"other numbers: {name}"


def computed(model, feed, names=None):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options)
    names = names or [output.name for output in session.get_outputs()]
    feed = {item.name: feed[item.name] for item in session.get_inputs() if item.name in feed}
    return dict(zip(names, session.run(names, feed)))


def onnx_parts(binary, model, folder, chosen):
    """Cuts a model of ONNX at up to three tensors; whether it could be cut."""
    data = numpy.load(model.parent / "io.npz")
    feed = {key[3:]: data[key] for key in data if key.startswith("in:")}
    wanted = {key[4:]: data[key] for key in data if key.startswith("out:")}
    flat = folder / "flat.onnx"
    call(binary, model, "-o", flat)
    graph = onnx.load(flat, load_external_data=False).graph
    outputs = {output.name for output in graph.output}
    # A tensor that no output needs cannot be an input of a part.
    needed, inner = set(outputs), []
    for node in reversed(graph.node):
        if any(name in needed for name in node.output):
            inner += [name for name in node.output if name in needed - outputs]
            needed.update(uses(node))
    if not inner:
        return False
    names = sorted(chosen.sample(sorted(set(inner)), min(3, len(set(inner)))))
    first, second = folder / "first.onnx", folder / "second.onnx"
    call(binary, model, "--outputs", ",".join(names), "-o", first)
    onnx.checker.check_model(str(first))
    values = computed(first, feed)
    # A tensor before another one is computed by nothing but the other one's operations.
    while True:
        run = subprocess.run([binary, "-q", model, "--inputs-at", ",".join(names), "-o", second], capture_output=True, text=True)
        dropped = re.findall(r"the tensor `([^`]*)` cannot be an input of the part: none", run.stderr)
        if not dropped:
            break
        names = [name for name in names if name not in dropped]
    assert run.returncode == 0, run.stderr.strip()[:300]
    onnx.checker.check_model(str(second))
    found = computed(second, {**feed, **values}, list(wanted))
    for name, value in wanted.items():
        same(found[name], value, name)
    return True


def uses(node):
    """The names that a node uses, also in graphs inside it."""
    names = set(node.input)
    for attribute in node.attribute:
        for graph in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
            names.update(output.name for output in graph.output)
            for inner in graph.node:
                names.update(uses(inner))
    return names - {""}


def nnef_parts(binary, model, folder, chosen):
    """Translates a model to NNEF, and cuts it at a tensor; whether that was possible."""
    source, model = model, folder / "nnef"
    if subprocess.run([binary, "-q", source, "--to", "nnef", "-o", f"{model}/"], capture_output=True).returncode:
        return False
    text = call(binary, model)
    head = re.search(r"graph \w+\(([^)]*)\) -> \(([^)]*)\)", text)
    inputs, outputs = ([name.strip() for name in part.split(",")] for part in head.groups())
    feed = {}
    generator = numpy.random.default_rng(chosen.randrange(1 << 30))
    for name in inputs:
        shape = re.search(rf"\b{name} = (?:tract_core_)?external(?:<scalar>)?\(.*shape = \[([\d, ]*)\]", text)
        if not shape:
            return False
        feed[name] = generator.random([int(extent) for extent in shape[1].split(",") if extent.strip()], dtype=numpy.float32)
    inner = re.findall(r"^    (\w+) = (?!external|tract_core_external|variable|constant)", text, re.MULTILINE)
    inner = [name for name in inner if name not in outputs]
    if not inner:
        return False
    given, middle, after, whole = (folder / name for name in ("in.npz", "middle.npz", "after.npz", "whole.npz"))
    numpy.savez(given, **feed)
    name = chosen.choice(inner)
    second = subprocess.run([binary, "-q", model, "--inputs-at", name], capture_output=True, text=True)
    if "none of its outputs depends on it" in second.stderr:
        return False
    assert second.returncode == 0, second.stderr.strip()[:300]
    call(binary, "run", model, "--inputs", given, "-o", whole)

    def computed_part(text, values, option, target):
        names = [name.strip() for name in re.search(r"graph \w+\(([^)]*)\)", text)[1].split(",")]
        numpy.savez(given, **{name: values[name] for name in names if name in values})
        call(binary, "run", model, option, name, "--inputs", given, "-o", target)

    computed_part(call(binary, model, "--outputs", name), feed, "--outputs", middle)
    computed_part(second.stdout, {**feed, **numpy.load(middle)}, "--inputs-at", after)
    found = numpy.load(after)
    for name, value in numpy.load(whole).items():
        same(found[name], value, name)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="target/release/nnef-flatten")
    parser.add_argument("--models", default="../shared/models-onnx", type=pathlib.Path)
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--count", default=60, type=int, help="the most models")
    arguments = parser.parse_args()
    models = sorted(path for path in arguments.models.glob("*/model.onnx") if (path.parent / "io.npz").exists())
    failed = 0
    for cut in (onnx_parts, nnef_parts):
        done = 0
        for model in models[: arguments.count]:
            chosen = random.Random(f"{arguments.seed} {model.parent.name}")
            with tempfile.TemporaryDirectory() as folder:
                try:
                    done += cut(arguments.bin, model, pathlib.Path(folder), chosen)
                except Exception as error:  # pylint: disable=broad-except
                    failed += 1
                    print(f"{model}: {str(error)[:400]}")
        print(f"{cut.__name__}: {done} models were cut")
        failed += done == 0
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
