#!/usr/bin/env python3
"""Writes the models of all operators for other versions of the operator set, and asks onnx.checker and onnxruntime about them.

    python3 tests/interop/onnx_opset.py --bin target/fast/nnef-flatten [--versions 8,11,13,17,21] [--every 1]

The models are those of tests/operators, whose results are in expected.json. What `--opset` writes has to pass the full check of
onnx.checker, and to compute the same in onnxruntime, if that has the operators of the version. onnx.version_converter gets the same
models: how many each of them writes, and how many of these are right, is told at the end. Needs the packages numpy, onnx and
onnxruntime.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import onnx.version_converter
import onnxruntime

from onnx_operators import EXPECTED, cases, close, form, text_of

VERSIONS = [8, 9, 11, 13, 17, 18, 21, 24]


def array(stored):
    """A tensor of expected.json."""
    dtype = object if stored["dtype"] == "string" else stored["dtype"]
    return np.array([float(x) if isinstance(x, str) and dtype is not object else x for x in stored["data"]],
                    dtype=dtype).reshape(stored["shape"])


def typed(model, outputs):
    """The model with types of its outputs, which the texts leave out."""
    for output in model.graph.output:
        found = array(outputs[output.name])
        element = onnx.TensorProto.STRING if found.dtype == object else onnx.helper.np_dtype_to_tensor_dtype(found.dtype)
        output.CopyFrom(onnx.helper.make_tensor_value_info(output.name, element, [None] * found.ndim))
    return model


def verdict(model, version, case):
    """Whether a written model is right: empty if it is, else why not; none if onnxruntime cannot tell."""
    written = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    if written != [version]:
        return f"the operator set is {written}"
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:
        return f"onnx.checker: {str(error).splitlines()[0]}"
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    names = [output.name for output in model.graph.output]
    inputs = {name: array(stored) for name, stored in case["inputs"].items()}
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        found = session.run(names, inputs)
    except Exception:
        return None
    for name, value in zip(names, found):
        if not close(case["outputs"][name], form(value)):
            return f"onnxruntime: {name} is {np.asarray(value)!r}, right is {case['outputs'][name]}"
    return ""


def written_by(program, model, version):
    """What the program writes, or its message."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = (pathlib.Path(folder) / name for name in ("in.onnx", "out.onnx"))
        onnx.save(model, source)
        result = subprocess.run([program, "-q", "--opset", str(version), source, "-o", target],
                                capture_output=True, text=True)
        return onnx.load(target) if result.returncode == 0 else result.stderr


def converted(model, version):
    """What the converter of onnx writes, or its message."""
    try:
        return onnx.version_converter.convert_version(model, version)
    except Exception as error:
        return str(error)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="the program")
    parser.add_argument("--versions", help="the versions of the operator set", default=",".join(map(str, VERSIONS)))
    parser.add_argument("--every", type=int, default=1, help="only each of so many models")
    options = parser.parse_args()
    expected = json.loads(EXPECTED.read_text())
    models = []
    for name, opset, graph in list(cases())[::options.every]:
        if not opset.startswith("ml"):
            models.append((name, int(opset), typed(onnx.parser.parse_model(text_of(opset, graph)), expected[name]["outputs"])))
    told = {who: collections.Counter() for who in ("nnef-flatten", "onnx.version_converter")}
    wrong = []

    def compared(work):
        (name, opset, model), version = work
        return name, opset, version, written_by(options.bin, model, version), converted(model, version)

    works = [(model, int(version)) for model in models for version in options.versions.split(",")
             if int(version) != model[1]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, opset, version, *results in pool.map(compared, works):
            # What the checker refuses whoever wrote it is not right for it in the source's version, either.
            other = verdict(results[1], version, expected[name]) if not isinstance(results[1], str) else ""
            for who, result in zip(told, results):
                way = "up" if version > opset else "down"
                if isinstance(result, str):
                    told[who][way, "refused"] += 1
                    if who == "nnef-flatten" and "E2055" not in result:
                        wrong.append(f"{name} {version}: {result}")
                    continue
                why = verdict(result, version, expected[name])
                if why and why.startswith("onnx.checker") and why == other:
                    why = None
                told[who][way, "not run" if why is None else "wrong" if why else "right"] += 1
                if why and who == "nnef-flatten":
                    wrong.append(f"{name} from {opset} to {version}: {why}")
    print(f"{len(models)} models, {len(works)} of them in other versions")
    for who, counts in told.items():
        for way in ("up", "down"):
            parts = [f"{counts[way, what]} {what}" for what in ("right", "not run", "refused", "wrong")]
            print(f"{who}, {way}: {', '.join(parts)}")
    # What is refused, or run by nobody, is not wrong: at least as much is right as of the other program.
    ours, theirs = (sum(counts[way, "right"] for way in ("up", "down")) for counts in told.values())
    if not ours or ours < theirs:
        wrong.append(f"only {ours} models are right, and {theirs} of onnx.version_converter")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
