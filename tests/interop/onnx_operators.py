#!/usr/bin/env python3
"""Compares the results in tests/operators/expected.json with those of onnxruntime, or writes them.

    python3 tests/interop/onnx_operators.py [--write] [--bin target/release/nnef-flatten [--seeds N]]

The models are in tests/operators/*.txt, whose README.md describes their form. The inputs are made from the name of a model, and
each output is what onnxruntime computes; for what onnxruntime does not have, it is what the reference evaluator of onnx computes.
tests/evaluation/operators.rs holds the program to them, also without Python. With --bin, the program runs the models on other inputs,
too, as many as --seeds says, and is compared with onnxruntime. Needs the packages numpy, onnx and onnxruntime.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import onnx.reference
import onnxruntime

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "operators"
EXPECTED = FOLDER / "expected.json"
HEADS = {"ml": '"" : 17, "ai.onnx.ml" : 3'}
TEXTS = ["", "a", "Ab", "b c", "ä"]


def cases():
    """The name, the operator sets and the graph of each model."""
    for path in sorted(FOLDER.glob("*.txt")):
        found = []
        for line in path.read_text().splitlines():
            if line and not line[0].isspace():
                head, graph = line.split(": ", 1)
                found.append([*head.split(" "), graph])
            elif line:
                found[-1][2] += "\n" + line
        yield from found


def text_of(opset, graph):
    sets = HEADS.get(opset) or f'"" : {opset}'
    if opset.startswith("ml") and opset not in HEADS:
        sets = f'"" : 21, "ai.onnx.ml" : {opset[2:]}'
    return f"<ir_version: 10, opset_import: [{sets}]>\ng {graph}"


def items(dtype, count, source):
    """Random items: floats are eighths, so that they are exact in all types and in JSON."""
    if dtype.kind == "f":
        return [source.randrange(-16, 17) / 8 for _ in range(count)]
    if dtype.kind == "b":
        return [source.random() < 0.5 for _ in range(count)]
    if dtype.kind == "O":
        return [source.choice(TEXTS) for _ in range(count)]
    return [source.randrange(0 if dtype.kind == "u" else -4, 6) for _ in range(count)]


def inputs_of(name, model, seed=None):
    source = random.Random(name if seed is None else f"{name} {seed}")
    known = {initializer.name for initializer in model.graph.initializer}
    made = {}
    for value in model.graph.input:
        if value.name not in known:
            tensor = value.type.tensor_type
            dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
            shape = [dim.dim_value for dim in tensor.shape.dim]
            array = np.array(items(dtype, int(np.prod(shape)), source), dtype=dtype)
            made[value.name] = array.reshape(shape)
    return made


def run(model, inputs):
    """The program that ran the model, and the outputs."""
    names = [output.name for output in model.graph.output]
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return "onnxruntime", dict(zip(names, session.run(names, inputs)))
    except Exception as error:
        try:
            return "onnx", dict(zip(names, onnx.reference.ReferenceEvaluator(model).run(names, inputs)))
        except Exception as other:
            raise SystemExit(f"{error}\n{other}")


def form(array):
    """A tensor as JSON: its type, its shape, and its items in one list."""
    array = np.asarray(array)
    text = array.dtype.kind in "OUS"
    item = str if text else (lambda x: number(float(x))) if array.dtype.kind == "f" else (lambda x: x.item())
    return {"dtype": "string" if text else array.dtype.name, "shape": list(array.shape),
            "data": [item(x) for x in array.reshape(-1)]}


def number(value):
    return float(f"{value:.7g}") if np.isfinite(value) else str(value)


def close(stored, found):
    """Whether two tensors are equal, floats up to what versions differ in."""
    if (stored["dtype"], stored["shape"]) != (found["dtype"], found["shape"]):
        return False
    if not stored["dtype"].startswith("float"):
        return stored["data"] == found["data"]
    a, b = (np.array([float(x) for x in form["data"]]) for form in (stored, found))
    return np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)


def answer(program, text, inputs):
    """What the program computes: the outputs, or its message."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "model.onnxtxt").write_text(text)
        np.savez(place / "in.npz", **{key: value.astype(str) if value.dtype.kind == "O" else value
                                      for key, value in inputs.items()})
        result = subprocess.run([program, "run", place / "model.onnxtxt", "--inputs", place / "in.npz",
                                 "-o", place / "out.npz"], capture_output=True, text=True)
        if result.returncode:
            return result.stderr
        with np.load(place / "out.npz") as outputs:
            return dict(outputs)


def differing(program, seeds):
    """The models whose outputs on other inputs differ from those of onnxruntime, and the number of comparisons."""
    wrong, count = [], 0
    for name, opset, graph in cases():
        model = onnx.parser.parse_model(text_of(opset, graph))
        for seed in range(seeds):
            inputs = inputs_of(name, model, seed)
            by, wanted = run(model, inputs)
            found = answer(program, text_of(opset, graph), inputs)
            if by == "onnxruntime":
                count += 1
                if isinstance(found, str) or not all(key in found and close(form(value), form(found[key]))
                                                     for key, value in wanted.items()):
                    wrong.append(f"{name}, seed {seed}: {found}\nright is {wanted}")
    return wrong, count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the results instead")
    parser.add_argument("--bin", help="the program to compare on other inputs")
    parser.add_argument("--seeds", type=int, default=2, help="how many other inputs of each model")
    options = parser.parse_args()
    made = {}
    for name, opset, graph in cases():
        if name in made:
            sys.exit(f"two models have the name {name}")
        try:
            model = onnx.parser.parse_model(text_of(opset, graph))
            inputs = inputs_of(name, model)
            by, outputs = run(model, inputs)
        except (Exception, SystemExit) as error:
            sys.exit(f"{name}: {error}")
        made[name] = {"by": by, "inputs": {key: form(value) for key, value in inputs.items()},
                      "outputs": {key: form(value) for key, value in outputs.items()}}
    if options.write:
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(case)}" for name, case in made.items())
        EXPECTED.write_text(f"{{\n{lines}\n}}\n")
        print(f"{len(made)} models, {sum(case['by'] == 'onnx' for case in made.values())} by the reference evaluator")
        return
    stored = json.loads(EXPECTED.read_text())
    wrong = sorted(set(stored) ^ set(made))
    for name in set(stored) & set(made):
        before, now = stored[name], made[name]
        same = before["inputs"] == now["inputs"] and before["outputs"].keys() == now["outputs"].keys()
        if not same or not all(close(before["outputs"][key], now["outputs"][key]) for key in now["outputs"]):
            wrong.append(name)
    if wrong:
        sys.exit(f"the results of these models are others: {' '.join(wrong)}")
    print(f"{len(made)} models have the results of onnxruntime {onnxruntime.__version__}")
    if options.bin:
        wrong, count = differing(options.bin, options.seeds)
        if wrong:
            sys.exit("\n".join(wrong))
        print(f"{count} results on other inputs are equal")
        if count < len(made) * options.seeds // 2:
            sys.exit("onnxruntime computes too few of them")


if __name__ == "__main__":
    main()
