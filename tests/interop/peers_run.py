"""Gives the document on standard input to a program, and prints what it makes of it: `peers_run.py HOW`."""

import os
import re
import struct
import sys
import tempfile


def line(text):
    """The end of a message as one line."""
    return " ".join(str(text).split("Stack backtrace")[0].split())[-220:]


def khronos(text):
    import nnef
    custom = re.findall(r"^fragment\s+(\w+)", text, re.M)
    graph = nnef.parse_string(text, lowered=custom + list(nnef.StandardOperations))
    for op in graph.operations:
        if op.name not in ("external", "variable"):
            part = lambda items: ", ".join("%s = %s" % item for item in items.items())
            print("%s = %s(%s)" % (", ".join(map(str, op.outputs.values())), op.name,
                                   ", ".join(filter(None, [part(op.inputs), part(op.attribs)]))))
    print("outputs: %s" % ", ".join(graph.outputs))


def khronos_shapes(text):
    import nnef
    graph = nnef.parse_string(text)
    nnef.infer_shapes(graph)
    print("accepted")


def tensor_file(path, array):
    extents = list(array.shape) + [0] * (8 - array.ndim)
    header = struct.pack("<BBBBII8III", 0x4E, 0xEF, 1, 0, array.nbytes, array.ndim, *extents, 32, 0)
    with open(path, "wb") as file:
        file.write(header.ljust(128, b"\0") + array.tobytes())


def tract(text):
    import numpy
    import tract as reader
    shapes = {name: [int(part) for part in shape.split(",")] for name, shape in
              re.findall(r"(\w+) = (?:external|variable)(?:<scalar>)?\(shape = \[([\d, ]+)\]", text)}
    arrays = {name: numpy.arange(1, 1 + numpy.prod(shape), dtype="float32").reshape(shape) for name, shape in shapes.items()}
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "graph.nnef"), "w", encoding="utf-8") as file:
            file.write(text)
        for name, label in re.findall(r"(\w+) = variable.*label = '(\w+)'", text):
            tensor_file(os.path.join(folder, label + ".dat"), arrays[name])
        runnable = reader.nnef().load(folder).into_runnable()
        for result in runnable.run([arrays[name] for name in re.findall(r"(\w+) = external", text)]):
            print(result.to_numpy().round(4).tolist())


def fragments_of_torch_to_nnef(text):
    """A document with the fragments that the exporter puts before it, as Khronos' parser reads it."""
    import importlib.metadata
    import nnef
    names = re.findall(r"# fragment (\w+)", text)
    files = {file.name: file.locate() for file in importlib.metadata.files("torch_to_nnef") if "op/fragment" in str(file)}
    for name in names:
        with open(files[name + ".nnef"], encoding="utf-8") as file:
            text = text.replace("# fragment %s\n" % name, file.read())
    nnef.parse_string(text)
    print("accepted")


def fragments_of_nnef_tools(text):
    """The shape of a result of a fragment that the converter from ONNX writes into documents, as Khronos' parser has it."""
    import importlib.metadata
    import nnef
    [path] = [file.locate() for file in importlib.metadata.files("nnef_tools") if file.name == "onnx_to_nnef.py"]
    with open(path, encoding="utf-8") as file:
        source = file.read()
    names = re.findall(r"# fragment (\w+)", text)
    for name in names:
        fragment = re.search(r'"""\n(fragment %s\(.*?\n)"""' % name, source, re.S)
        text = text.replace("# fragment %s\n" % name, fragment[1])
    graph = nnef.parse_string(text, lowered=names)
    nnef.infer_shapes(graph)
    print("y: shape %s" % graph.tensors["y"].shape)


def onnx_parser(text):
    import onnx.parser
    from google.protobuf import text_format
    print(text_format.MessageToString(onnx.parser.parse_node(text), as_one_line=True))


def onnx_text(text):
    """What is left of a model after printing and reading it again."""
    import onnx.parser
    import onnx.printer
    print(onnx.printer.to_text(onnx.parser.parse_model(text)))


def onnx_packed(text):
    import onnx.numpy_helper
    import onnx.parser
    print(onnx.numpy_helper.to_array(onnx.parser.parse_node(text).attribute[0].t).tolist())


def onnx_inliner(text):
    import onnx.inliner
    import onnx.parser
    import onnx.printer
    model = onnx.inliner.inline_local_functions(onnx.parser.parse_model(text))
    print("\n".join(onnx.printer.to_text(node).strip() for node in model.graph.node))
    try:
        onnx.checker.check_model(model)
    except Exception as error:  # noqa: BLE001
        print("onnx.checker: " + line(error))


def pnnx(text):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance", "adapters"))
    import pnnx_converter
    made = pnnx_converter.convert(text.strip().encode(), {"shapes": ["[3,4]"] * 2})
    print("\n".join("expr=" + expression for expression in made["expressions"]))


if __name__ == "__main__":
    try:
        globals()[sys.argv[1]](sys.stdin.read())
    except Exception as error:  # noqa: BLE001
        print("%s: %s" % (type(error).__name__, line(error)))
