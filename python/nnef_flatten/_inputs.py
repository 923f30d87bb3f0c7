"""Inputs: texts, paths, bytes, and the objects of the packages `onnx` and `nnef`, which are only imported if used."""

from __future__ import annotations

import os
import sys

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class NnefGraph(Protocol):
        """An `nnef.Graph`: that package tells no types."""

        name: str
        inputs: list[str]
        outputs: list[str]
        operations: list[Any]
        tensors: dict[str, Any]

# An input, and what it came from, which is kept so that graphs of `nnef` keep their data.
Opened = tuple[_native.Source, object]
# A longer text is not the name of a file.
_LONGEST_NAME = 1000


def opened(x: Any) -> Opened:
    """The source that an object stands for."""
    if isinstance(x, str):
        _refuse_name(x)
        return _native.Source.memory("<text>", x.encode("utf-8", "surrogatepass")), None
    if isinstance(x, (bytes, bytearray, memoryview)):
        return _native.Source.memory("<bytes>", bytes(x)), None
    if isinstance(x, os.PathLike):
        return _native.Source.path(os.fsdecode(x)), None
    if hasattr(x, "SerializeToString") and hasattr(x, "opset_import"):
        return _native.Source.memory("<model>", x.SerializeToString()), None
    # If the package was not imported, the object is not one of its graphs.
    nnef = sys.modules.get("nnef")
    if nnef is not None and isinstance(x, nnef.Graph):
        return _native.Source.memory("<graph>", _packed(x, nnef)), x
    kinds = "a text (str), a path (os.PathLike), bytes, an onnx.ModelProto, an nnef.Graph or a result of this module"
    raise TypeError(f"expected {kinds}, not {type(x).__name__}")


def _refuse_name(text: str) -> None:
    """Refuses the name of a file, which is not the text of an input."""
    if len(text) > _LONGEST_NAME or "\n" in text:
        return
    if text.lower().endswith(tuple(_native.ENDINGS)) or (text and os.path.exists(text)):
        cure = f"for the file, give pathlib.Path({text!r})"
        raise ValueError(f"{text!r} is the name of a file, and a str is the text of an input; {cure}")


def _packed(graph: Any, nnef: Any) -> bytes:
    """A graph of `nnef` as a text, or as an archive if its variables have data."""
    body = nnef.format_graph(graph.name, graph.inputs, graph.outputs, graph.operations, graph.tensors)
    text: bytes = ("version 1.0;\n\n" + body).encode()
    variables = {
        operation.attribs["label"]: graph.tensors[operation.outputs["output"]]
        for operation in graph.operations
        if operation.name == "variable"
    }
    if all(tensor.data is None for tensor in variables.values()):
        return text
    import io
    import tarfile

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:

        def add(name: str, content: bytes) -> None:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))

        add("graph.nnef", text)
        for label, tensor in variables.items():
            if tensor.data is not None:
                add(label.lstrip("/") + ".dat", _tensor(tensor, nnef))
    return packed.getvalue()


def _tensor(tensor: Any, nnef: Any) -> bytes:
    """The data of a variable as a file of NNEF; the package writes only to files of the system."""
    import tempfile

    with tempfile.TemporaryFile() as file:
        nnef.write_tensor(file, tensor.data, quantized=bool(tensor.quantization))
        file.seek(0)
        content: bytes = file.read()
        return content


def with_data(graph: Any, source: Any) -> Any:
    """A flat graph of `nnef` with the data and the quantizations of the graph that it was made of."""
    if source is None:
        return graph
    data = {
        operation.attribs["label"]: source.tensors[operation.outputs["output"]].data
        for operation in source.operations
        if operation.name == "variable"
    }
    for operation in graph.operations:
        if operation.name == "variable":
            name = operation.outputs["output"]
            graph.tensors[name] = graph.tensors[name]._replace(data=data.get(operation.attribs["label"]))
    for name, tensor in graph.tensors.items():
        before = source.tensors.get(name)
        if before is not None and before.quantization:
            graph.tensors[name] = tensor._replace(quantization=before.quantization)
    return graph
