#!/usr/bin/env python3
"""Flattens models of ONNX, and compares with onnx and onnxruntime.

Of each model: the flat one has no function, passes onnx.checker, and gives the numbers in `io.npz`; flattening it again
changes no byte; with --unroll it gives the same numbers; without --lower the protobuf file stays as it is, and its text is read back as the same model. Needs the
Python packages numpy, onnx and onnxruntime. Models are folders with `model.onnx` below --models; without them only
examples/onnx is used.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import google.protobuf.message
import numpy
import onnx
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent.parent.parent


def flatten(binary, source, target, *options):
    run = subprocess.run([binary, "-q", *options, source, "-o", target], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr.strip()
    return target


def numbers(flat, data):
    """Compares what onnxruntime computes with what the model gave before. Gives of how many outputs."""
    session = onnxruntime.InferenceSession(flat)
    feed = {key[3:]: data[key] for key in data if key.startswith("in:")}
    names = [key[4:] for key in data if key.startswith("out:")]
    for name, value in zip(names, session.run(names, feed)):
        wanted = data["out:" + name]
        assert value.shape == wanted.shape, f"another shape: {name}"
        if wanted.dtype.kind in "fc":
            assert numpy.allclose(value, wanted, rtol=1e-4, atol=1e-5, equal_nan=True), f"other numbers: {name}"
        else:
            assert numpy.array_equal(value, wanted), f"other numbers: {name}"
    return len(names)


def without_names_of_storage(model):
    """A model whose constant tensors are told by their values, and whose documentation is left out."""
    def clean(message):
        if isinstance(message, onnx.NodeProto):
            # A text says nothing about whether an empty domain is written down.
            message.domain = message.domain
        for field, value in message.ListFields():
            if field.name in ("doc_string", "metadata_props") and not isinstance(message, onnx.ModelProto):
                message.ClearField(field.name)
            elif field.message_type:
                for item in [value] if isinstance(value, google.protobuf.message.Message) else list(value):
                    if isinstance(item, onnx.TensorProto) and item.data_location == onnx.TensorProto.DEFAULT:
                        item.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(item), item.name))
                    else:
                        clean(item)
        return message
    return clean(model)


def check(binary, source, folder):
    flat = flatten(binary, source, str(folder / "flat.onnx"))
    model = onnx.load(flat)
    assert not model.functions, "functions are left"
    onnx.checker.check_model(model)
    data = pathlib.Path(source).parent / "io.npz"
    unrolled = flatten(binary, source, str(folder / "unrolled.onnx"), "--unroll")
    onnx.checker.check_model(unrolled)
    if data.exists():
        assert numbers(flat, numpy.load(data)) and numbers(unrolled, numpy.load(data)), "no numbers are recorded"
    again = flatten(binary, flat, str(folder / "again.onnx"))
    assert pathlib.Path(flat).read_bytes() == pathlib.Path(again).read_bytes(), "flattening again changes something"
    same = flatten(binary, source, str(folder / "same.onnx"), "--lower", "none")
    text = flatten(binary, source, str(folder / "same.onnxtxt"), "--lower", "none")
    back = flatten(binary, text, str(folder / "back.onnx"), "--lower", "none")
    original = onnx.load(source) if source.endswith(".onnx") else onnx.load(same)
    assert onnx.load(same) == original, "something is lost"
    assert without_names_of_storage(onnx.load(back)) == without_names_of_storage(original), "the text is another model"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bin", required=True)
    arguments.add_argument("--models", type=pathlib.Path, default=HERE.parent / "shared" / "models-onnx")
    arguments = arguments.parse_args()
    onnxruntime.set_default_logger_severity(3)
    if not arguments.models.is_dir():
        print(f"skipped: no models in {arguments.models}, only the examples are used")
    sources = [*sorted(arguments.models.glob("*/model.onnx")), *sorted(HERE.glob("examples/onnx/*.onnxtxt"))]
    failed = 0
    for source in sources:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(arguments.bin, str(source), pathlib.Path(folder))
            except Exception as error:  # whatever goes wrong is one model's failure
                failed += 1
                name = source.parent.name if source.name == "model.onnx" else source.name
                print(f"{name}: {error}")
    print(f"onnx: {len(sources) - failed} of {len(sources)} models agree")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
