"""What a graph consists of: operations and tensors."""

from __future__ import annotations

from ._findings import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ._graph import Graph


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
