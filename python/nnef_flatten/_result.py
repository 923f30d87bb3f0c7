"""What flat graphs and flat models have in common: they are walked, and converted."""

from __future__ import annotations

import os

from . import _native
from ._findings import Finding, read, refusing
from ._inputs import with_data
from ._options import SAVING, keywords
from ._walk import Operation, Operations, Tensor, Tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Literal, overload

    import numpy.typing as npt
    import onnx
    import pandas as pd

    from ._graph import Graph
    from ._inputs import NnefGraph, Opened
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


class Result:
    """What an input became: a graph that can be walked, and its conversions.

    For a notation that needs more than the graph, the input is flattened again. A result cannot change: a copy is the
    result itself.
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
        if not isinstance(name, str) or not name:
            raise ValueError(f"a path is a text that is not empty, not {name!r}")
        # To the command, this is standard output.
        output = "./-" if name == "-" else name
        self._write({"output": output, "to": to, "verify": bool(verify)})

    def verify(
        self,
        inputs: Mapping[str, npt.ArrayLike] | Sequence[npt.ArrayLike] | npt.ArrayLike | None = None,
        *,
        to: str | None = None,
        seed: int = 0,
    ) -> Verification:
        """Writes the result, reads it back, and evaluates it and the input on the same arrays; those not given are random.

        `inputs` are those of `run`.

        What differs by more than the tolerance of its type raises `FlattenError` with the code E0830.

        >>> import nnef_flatten
        >>> text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x) * 2.0; }"
        >>> nnef_flatten.flatten(text, fold=True).verify()
        <verified: 2 items, the largest difference is 0.0>
        """
        import tempfile

        from ._arrays import named, write_arrays
        from ._verification import told

        given = named(inputs, lambda: self.inputs)
        with tempfile.TemporaryDirectory() as folder:
            arrays = None
            if given:
                arrays = os.path.join(folder, "inputs.npz")
                write_arrays(arrays, given)
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

        model: onnx.ModelProto = onnx.ModelProto.FromString(self.to_bytes())
        return model

    def to_bytes(self) -> bytes:
        """A model of ONNX in protobuf."""
        return self.convert("onnx")

    def to_nnef(self) -> NnefGraph:
        """An `nnef.Graph`. If the input was one, variables keep their data."""
        import nnef

        graph: NnefGraph = with_data(nnef.parse_string(self.convert("nnef")), self._opened[1])
        return graph

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
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" style="{_FRAME}"></iframe>'
