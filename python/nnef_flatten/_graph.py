"""Flat graphs and flat models."""

from __future__ import annotations

from ._findings import Call, Finding, FlattenError, read
from ._inputs import with_data
from ._native import Refused
from ._options import spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from . import _native
    from ._inputs import Opened

# Notebooks show larger graphs as their summary: browsers are slow with such pictures.
_MOST_DRAWN = 2000


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

    For a notation that needs more than the graph, the input is flattened again.
    """

    # Without a table of attributes, an object is made in a tenth of the time of a small model.
    __slots__ = ("__weakref__", "_keywords", "_origin", "_source", "_told", "notation")

    def __init__(self, opened: Opened, keywords: _native.Keywords, notation: str, findings: str) -> None:
        self._source, self._origin, _ = opened
        self._keywords = keywords
        self.notation: str = notation
        """The notation of the input, such as `nnef` or `onnx`."""
        self._told = findings

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

    def convert(self, to: str) -> bytes:
        """The input in an output notation, as the command writes it with `--to`; a path is read again."""
        from . import _native

        try:
            return _native.convert(self._source, self._keywords, to)[0]
        except Refused as refused:
            raise FlattenError(read(refused.args[0])) from None
        except ValueError as error:
            raise ValueError(spelled(str(error))) from None

    def to_onnx(self) -> Any:
        """An `onnx.ModelProto`."""
        import onnx

        return onnx.ModelProto.FromString(self.to_bytes())

    def to_bytes(self) -> bytes:
        """A model of ONNX in protobuf."""
        return self.convert("onnx")

    def to_nnef(self) -> Any:
        """An `nnef.Graph`. If the input was one, variables keep their data."""
        import nnef

        return with_data(nnef.parse_string(self.convert("nnef").decode()), self._origin)

    def to_json(self) -> str:
        """The graph as JSON, in the form of `nnef.Graph`."""
        return self.convert("json").decode()

    def to_html(self) -> str:
        """A page for browsers with an interactive picture."""
        return self.convert("html").decode()

    def to_svg(self) -> str:
        """A picture."""
        return self.convert("svg").decode()

    def to_dot(self) -> str:
        """A picture in the notation of Graphviz."""
        return self.convert("dot").decode()

    def to_pandas(self) -> Any:
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
        return self.convert("nnef").decode()

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        if len(self) > _MOST_DRAWN:
            import html

            return f"<pre>{html.escape(repr(self))}</pre>"
        return f'<div style="overflow: auto; max-height: 40em">{self.graph.to_svg()}</div>'


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

    __slots__ = ("_native",)

    def __init__(
        self, native: _native.Graph, opened: Opened, keywords: _native.Keywords, notation: str, findings: str
    ) -> None:
        super().__init__(opened, keywords, notation, findings)
        self._native = native

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
        self, content: bytes, opened: Opened, keywords: _native.Keywords, notation: str, findings: str
    ) -> None:
        super().__init__(opened, keywords, notation, findings)
        self._content = content
        self._view: Graph | None = None

    def to_bytes(self) -> bytes:
        """The model in protobuf."""
        return self._content if self.notation == "onnx" else self.convert("onnx")

    def to_text(self) -> str:
        """The model in the text notation of ONNX."""
        content = self._content if self.notation == "onnxtxt" else self.convert("onnxtxt")
        return content.decode()

    @property
    def graph(self) -> Graph:
        """The graph of the flat model, with the operators of ONNX."""
        if self._view is None:
            from . import _native

            name = "<flat model>"
            source = _native.Source.memory(name, self._content)
            keywords = _native.Keywords((f"--from={self.notation}",))
            native, findings = _native.load(source, keywords)
            self._view = Graph(native, (source, None, ""), keywords, self.notation, findings)
        return self._view

    def __repr__(self) -> str:
        graph = self.graph
        return f"<model of {self.notation}: {graph.inputs} to {graph.outputs}, {len(graph)} operations>"
