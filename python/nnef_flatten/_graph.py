"""Flat graphs and flat models."""

from __future__ import annotations

import os

from . import _native
from ._findings import Call, Finding, refusing, read
from ._inputs import with_data
from ._options import FLATTENING, SAVING, keywords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Literal, overload

    import nnef
    import numpy.typing as npt
    import onnx
    import pandas as pd

    from ._inputs import Opened
    from ._options import Text
    from ._verification import Verification
else:

    def overload(function):
        """Without types there is nothing to choose."""
        return function


# Notebooks show larger graphs as their summary: browsers are slow with such pictures.
_MOST_DRAWN = 2000
# The frame of the page in notebooks, which scrolls and scales what it shows.
_FRAME = "width: 100%; height: 32em; border: 1px solid #8884"


class Tensor:
    """A tensor of a graph."""

    __slots__ = ("_consumers", "_graph", "_producer", "dtype", "name", "shape")

    def __init__(self, graph: Graph, name: str) -> None:
        self._graph = graph
        self.name = name
        self.dtype: str | None
        """The element type: `scalar`, `integer`, `logical` of NNEF; `float32`, `int64` and others of ONNX and PNNX."""
        self.shape: list[int | str | None] | None
        """The extents: integers, expressions of symbols, or none where they are unknown; none if the rank is."""
        self.dtype, self.shape, self._producer, self._consumers = graph._native.tensor(name)

    @property
    def producer(self) -> Operation | None:
        """The operation that the tensor is a result of: `external` for an input of NNEF, none for one of ONNX."""
        return None if self._producer is None else self._graph.operations[self._producer]

    @property
    def consumers(self) -> list[Operation]:
        """The operations that use the tensor."""
        return [self._graph.operations[index] for index in self._consumers]

    def __repr__(self) -> str:
        shape = "unknown" if self.shape is None else self.shape
        return f"<tensor {self.name}: {self.dtype}, shape {shape}>"


class Operation:
    """An operation of a graph.

    A tensor among the inputs is its name; in an attribute it is `{"tensor": name}`, and an expression of dimension
    symbols `{"symbol": text}`, as in the JSON form.
    """

    __slots__ = ("_graph", "attributes", "dtype", "index", "inputs", "name", "outputs")

    def __init__(self, graph: Graph, index: int) -> None:
        self._graph = graph
        self.index = index
        """The position among the operations of the graph."""
        self.name: str
        """The kind of operation, such as `conv`."""
        self.dtype: str | None
        """The type argument of a generic operation."""
        self.inputs: dict[str, Any]
        """The arguments of tensor parameters: names of tensors, lists of names, or constants."""
        self.attributes: dict[str, Any]
        """The other arguments, defaults included."""
        self.outputs: dict[str, str | list[str]]
        """The names of the results."""
        self.name, self.dtype, self.inputs, self.attributes, self.outputs = graph._native.operation(index)

    @property
    def location(self) -> tuple[str, int, int]:
        """File, line and column of the call in the source that the operation comes from."""
        return self._graph._native.origin(self.index)[0]

    @property
    def calls(self) -> list[Call]:
        """The nested calls of fragments or functions that the operation comes from, the innermost first."""
        return [Call(name, *place) for name, place in self._graph._native.origin(self.index)[1]]

    def __repr__(self) -> str:
        return f"<operation {self.index}: {', '.join(map(str, self.outputs.values()))} = {self.name}>"


class Operations:
    """The operations of a graph, each after those that it depends on; a sequence."""

    __slots__ = ("_graph",)

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __len__(self) -> int:
        return len(self._graph._native)

    def __getitem__(self, index: int) -> Operation:
        count = len(self)
        if not -count <= index < count:
            raise IndexError(index)
        return Operation(self._graph, index % count)

    def __iter__(self) -> Iterator[Operation]:
        return (Operation(self._graph, index) for index in range(len(self)))

    def __reversed__(self) -> Iterator[Operation]:
        return (Operation(self._graph, index) for index in reversed(range(len(self))))


class Tensors:
    """The tensors of a graph by their names; a mapping."""

    __slots__ = ("_graph", "_names")

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._names: list[str] | None = None

    def keys(self) -> list[str]:
        if self._names is None:
            self._names = self._graph._native.tensor_names()
        return self._names

    def values(self) -> list[Tensor]:
        return [Tensor(self._graph, name) for name in self.keys()]

    def items(self) -> list[tuple[str, Tensor]]:
        return [(name, Tensor(self._graph, name)) for name in self.keys()]

    def get(self, name: str, default: Tensor | None = None) -> Tensor | None:
        return Tensor(self._graph, name) if name in self else default

    def __len__(self) -> int:
        return len(self.keys())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._graph._native

    def __getitem__(self, name: str) -> Tensor:
        return Tensor(self._graph, name)


class Result:
    """What an input became: a graph that can be walked, and its conversions.

    For a notation that needs more than the graph, the input is flattened again. A result cannot change: a copy is the result
    itself.
    """

    # Without a table of attributes, an object is made in a tenth of the time of a small model.
    __slots__ = ("__weakref__", "_keywords", "_opened", "_options", "_told", "notation")

    def __init__(
        self, opened: Opened, options: Mapping[str, Any], keywords: _native.Keywords, notation: str, findings: str
    ) -> None:
        self._opened = opened
        self._options = options
        self._keywords = keywords
        self.notation: str = notation
        """The notation of the input, such as `nnef` or `onnx`."""
        self._told = findings

    def __copy__(self) -> Result:
        return self

    def __deepcopy__(self, _: dict[int, Any]) -> Result:
        return self

    @property
    def findings(self) -> list[Finding]:
        """The warnings about the input."""
        return read(self._told)

    @property
    def graph(self) -> Graph:
        """The flat graph; that of a model of ONNX has the operators of ONNX."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """Its name."""
        return self.graph._native.name

    @property
    def inputs(self) -> list[str]:
        """The names of its inputs."""
        return self.graph._native.inputs

    @property
    def outputs(self) -> list[str]:
        """The names of its outputs."""
        return self.graph._native.outputs

    @property
    def operations(self) -> Operations:
        """Its operations, each after those that it depends on."""
        return Operations(self.graph)

    @property
    def tensors(self) -> Tensors:
        """Its tensors by their names."""
        return Tensors(self.graph)

    @property
    def symbols(self) -> dict[str, tuple[str, int] | None]:
        """The dimension symbols, each with the input and the axis that it is the extent of, if there is one."""
        return dict(self.graph._native.symbols())

    def __len__(self) -> int:
        return len(self.graph._native)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)

    def __contains__(self, name: object) -> bool:
        return name in self.tensors

    def __getitem__(self, name: str) -> Tensor:
        return Tensor(self.graph, name)

    @overload
    def convert(self, to: Literal["onnx"]) -> bytes: ...

    @overload
    def convert(self, to: Text) -> str: ...

    @overload
    def convert(self, to: str) -> str | bytes: ...

    def convert(self, to: str) -> str | bytes:
        """The input in an output notation, as the command writes it with `--to`; a path is read again.

        It is a text (`str`), or the bytes of a model of ONNX in protobuf.
        """
        return refusing(_native.convert, self._opened[0], self._keywords, to)[0]

    def save(self, path: str | os.PathLike[str], *, to: str | None = None, verify: bool = False) -> None:
        """Writes the result to a path, as the command does with `-o`: completely or not at all.

        The extension decides what is written, if `to` does not name the notation: `.nnef`, `.onnx`, `.onnxtxt`, `.json`,
        `.html`, `.svg` and others; a folder (`out/`) or an archive (`.tar`, `.tgz`) gets the whole model, data included.
        With `verify=True`, it gets its place only if it computes what its source does.

        >>> import nnef_flatten, pathlib, tempfile
        >>> text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x); }"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     nnef_flatten.flatten(text).save(folder + "/flat.onnx", verify=True)
        ...     nnef_flatten.flatten(pathlib.Path(folder, "flat.onnx"))
        <model of onnx: ['x'] to ['y'], 1 operations>
        """
        name = os.fspath(path)
        # To the command, this is standard output.
        output = "./-" if name == "-" else name
        self._write({"output": output, "to": to, "verify": verify})

    def verify(
        self, inputs: Mapping[str, npt.ArrayLike] | None = None, *, to: str | None = None, seed: int = 0
    ) -> Verification:
        """Writes the result, reads it back, and evaluates it and the input on the same arrays; those not given are random.

        What differs by more than the tolerance of its type raises `FlattenError` with the code E0830.

        >>> import nnef_flatten
        >>> text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x) * 2.0; }"
        >>> nnef_flatten.flatten(text, fold=True).verify()
        <verified: 2 items, the largest difference is 0.0>
        """
        import tempfile

        from ._verification import told, write_arrays

        with tempfile.TemporaryDirectory() as folder:
            arrays = None
            if inputs:
                arrays = os.path.join(folder, "inputs.npz")
                write_arrays(arrays, inputs)
            output = os.path.join(folder, "result")
            asked = {"output": output, "to": to, "verify": True, "inputs": arrays, "seed": seed}
            return told(self._write(asked))

    def _write(self, asked: dict[str, Any]) -> str:
        """Writes the result with further options. Returns the messages as lines of JSON."""
        parsed = keywords("", {**self._options, **asked}, SAVING)
        return refusing(_native.write, self._opened[0], self._as_made(parsed))

    def _as_made(self, parsed: _native.Keywords) -> _native.Keywords:
        """Options, in the way in which the result was made."""
        return parsed

    def stats(self) -> dict[str, Any]:
        """The statistics of the flat graph, as the command tells them with `--stats --message-format json`.

        >>> import nnef_flatten
        >>> text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(relu(x)); }"
        >>> nnef_flatten.flatten(text).stats()["operations"]["after"]["relu"]
        2
        """
        import json

        stats: dict[str, Any] = json.loads(refusing(_native.statistics, self._opened[0], self._keywords))["stats"]
        return stats

    def to_onnx(self) -> onnx.ModelProto:
        """An `onnx.ModelProto`."""
        import onnx

        return onnx.ModelProto.FromString(self.to_bytes())

    def to_bytes(self) -> bytes:
        """A model of ONNX in protobuf."""
        return self.convert("onnx")

    def to_nnef(self) -> nnef.Graph:
        """An `nnef.Graph`. If the input was one, variables keep their data."""
        import nnef

        return with_data(nnef.parse_string(self.convert("nnef")), self._opened[1])

    def to_json(self) -> str:
        """The graph as JSON, in the form of `nnef.Graph`."""
        return self.convert("json")

    def to_html(self) -> str:
        """A page for browsers with an interactive picture."""
        return self.convert("html")

    def to_svg(self) -> str:
        """A picture."""
        return self.convert("svg")

    def to_dot(self) -> str:
        """A picture in the notation of Graphviz."""
        return self.convert("dot")

    def to_pandas(self) -> pd.DataFrame:
        """A `pandas.DataFrame` with a row for each operation."""
        import pandas as pd

        def row(operation: Operation) -> dict[str, Any]:
            results = list(operation.outputs.values())
            name = results[0] if results and isinstance(results[0], str) else None
            tensor = Tensor(self.graph, name) if name is not None else None
            file, line, column = operation.location
            return {
                "operation": operation.name,
                "output": name,
                "dtype": tensor.dtype if tensor else operation.dtype,
                "shape": tensor.shape if tensor else None,
                "inputs": operation.inputs,
                "attributes": operation.attributes,
                "outputs": operation.outputs,
                "calls": [call.name for call in operation.calls],
                "file": file,
                "line": line,
                "column": column,
            }

        return pd.DataFrame([row(operation) for operation in self])

    def to_text(self) -> str:
        """The text: flat NNEF of a graph, the text notation of ONNX of a model."""
        return self.convert("nnef")

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """What notebooks show: the page, in a frame of its own."""
        import html

        if len(self) > _MOST_DRAWN:
            return f"<pre>{html.escape(repr(self))}</pre>"
        page = html.escape(self.graph.to_html())
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="{_FRAME}"></iframe>'


class Graph(Result):
    """A flat graph.

    >>> import nnef_flatten
    >>> graph = nnef_flatten.flatten(
    ...     "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = leaky_relu(x, alpha = 0.1); }")
    >>> graph.inputs, graph.outputs, len(graph)
    (['x'], ['y'], 2)
    >>> graph["y"]
    <tensor y: scalar, shape [2]>
    >>> graph["y"].producer.attributes
    {'alpha': 0.1}
    >>> print(graph.to_text())
    version 1.0;
    <BLANKLINE>
    graph G(x) -> (y)
    {
        x = external(shape = [2]);
        y = leaky_relu(x, alpha = 0.1);
    }
    <BLANKLINE>
    """

    __slots__ = ("_digest", "_loaded", "_native")

    if TYPE_CHECKING:
        # Of a graph that was pickled it is made when it is asked for: `__getattr__`.
        _native: _native.Graph

    def __init__(
        self,
        native: _native.Graph | None,
        opened: Opened,
        options: Mapping[str, Any],
        keywords: _native.Keywords,
        notation: str,
        findings: str,
        loaded: bool = False,
        digest: bytes | None = None,
    ) -> None:
        super().__init__(opened, options, keywords, notation, findings)
        self._loaded = loaded
        """Whether it is what is written in the input, not what that is flattened to."""
        self._digest = digest
        """What tells whether the input is still the one that was pickled."""
        if native is not None:
            self._native = native

    def _as_made(self, parsed: _native.Keywords) -> _native.Keywords:
        return parsed.unexpanded() if self._loaded else parsed

    def __getattr__(self, name: str) -> Any:
        if name != "_native":
            raise AttributeError(f"a graph has no attribute {name!r}")
        verb = _native.load if self._loaded else _native.flatten
        made = refusing(verb, self._opened[0], self._keywords)[1]
        if not isinstance(made, _native.Graph) or _digest_of(made) != self._digest:
            raise ValueError("the input of the graph that was pickled has changed since")
        self._native = made
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        # A graph is made again of its input, which is shorter; a file stays where it is.
        digest = self._digest or _digest_of(self._native)
        return _graph_again, (self._opened, dict(self._options), self.notation, self._told, self._loaded, digest)

    @property
    def graph(self) -> Graph:
        """The graph itself."""
        return self

    def __repr__(self) -> str:
        return f"<graph {self.name}: {len(self)} operations, {self.inputs} to {self.outputs}>"

    def to_text(self) -> str:
        """Flat NNEF."""
        return self._native.write("nnef")

    def to_json(self) -> str:
        """The graph as JSON, in the form of `nnef.Graph`."""
        return self._native.write("json")

    def to_html(self) -> str:
        """A page for browsers with an interactive picture."""
        return self._native.write("html")

    def to_svg(self) -> str:
        """A picture."""
        return self._native.write("svg")

    def to_dot(self) -> str:
        """A picture in the notation of Graphviz."""
        return self._native.write("dot")


class Model(Result):
    """A flat model of ONNX. It is the model that was given, with its functions expanded; nothing else of it changes.

    >>> import nnef_flatten
    >>> model = nnef_flatten.flatten('''
    ...     <ir_version: 10, opset_import: ["" : 21, "local" : 1]>
    ...     g (float[2] x) => (float[2] y) { y = local.twice (x) }
    ...     <domain: "local", opset_import: ["" : 21]> twice (a) => (b) { b = Add (a, a) }
    ... ''')
    >>> model
    <model of onnxtxt: ['x'] to ['y'], 1 operations>
    >>> print(model.to_text())
    <
        ir_version: 10,
        opset_import: ["": 21, "local": 1]
    >
    g (float[2] x) => (float[2] y)
    {
        y = Add (x, x)
    }
    <BLANKLINE>
    """

    __slots__ = ("_content", "_view")

    def __init__(
        self,
        content: bytes,
        opened: Opened,
        options: Mapping[str, Any],
        keywords: _native.Keywords,
        notation: str,
        findings: str,
    ) -> None:
        super().__init__(opened, options, keywords, notation, findings)
        self._content = content
        self._view: Graph | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _model_again, (self._content, self._opened, dict(self._options), self.notation, self._told)

    def to_bytes(self) -> bytes:
        """The model in protobuf."""
        return self._content if self.notation == "onnx" else self.convert("onnx")

    def to_text(self) -> str:
        """The model in the text notation of ONNX."""
        return self._content.decode() if self.notation == "onnxtxt" else self.convert("onnxtxt")

    @property
    def graph(self) -> Graph:
        """The graph of the flat model, with the operators of ONNX."""
        if self._view is None:
            opened = _native.Source.memory("<flat model>", self._content), None
            options = {"from_": self.notation}
            parsed = keywords("", options, FLATTENING).unexpanded()
            _, native, findings = _native.load(opened[0], parsed)
            self._view = Graph(native, opened, options, parsed, self.notation, findings, loaded=True)
        return self._view

    def __repr__(self) -> str:
        graph = self.graph
        return f"<model of {self.notation}: {graph.inputs} to {graph.outputs}, {len(graph)} operations>"


def _digest_of(native: _native.Graph) -> bytes:
    import hashlib

    return hashlib.sha256(native.write("json").encode()).digest()


def _graph_again(
    opened: Opened, options: dict[str, Any], notation: str, findings: str, loaded: bool, digest: bytes
) -> Graph:
    """The graph that was pickled."""
    parsed = keywords("", options, FLATTENING)
    parsed = parsed.unexpanded() if loaded else parsed
    return Graph(None, opened, options, parsed, notation, findings, loaded, digest)


def _model_again(content: bytes, opened: Opened, options: dict[str, Any], notation: str, findings: str) -> Model:
    """The model that was pickled."""
    return Model(content, opened, options, keywords("", options, FLATTENING), notation, findings)
