"""Flat graphs and flat models."""

from __future__ import annotations

from . import _native as compiled
from ._findings import refusing
from ._options import FLATTENING, keywords
from ._result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ._inputs import Opened


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

    def __init__(
        self,
        native: compiled.Graph | None,
        opened: Opened,
        options: Mapping[str, Any],
        keywords: compiled.Keywords,
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
        # That of a graph that was pickled is made when it is asked for.
        if native is not None:
            self._native = native

    def _as_made(self, parsed: compiled.Keywords) -> compiled.Keywords:
        return parsed.unexpanded() if self._loaded else parsed

    def __getattr__(self, name: str) -> Any:
        if name != "_native":
            raise AttributeError(f"a graph has no attribute {name!r}")
        verb = compiled.load if self._loaded else compiled.flatten
        made = refusing(verb, self._opened[0], self._keywords)[1]
        if not isinstance(made, compiled.Graph) or _digest_of(made) != self._digest:
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
        """The graph as JSON; `convert("nnef-json")` has the fields of `nnef.Graph`."""
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
    """A flat model of ONNX. It is the model that was given, with its functions expanded and what the options ask for.

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
        keywords: compiled.Keywords,
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
            opened = compiled.Source.memory("<flat model>", self._content), None
            options = {"from_": self.notation}
            parsed = keywords("", options, FLATTENING).unexpanded()
            _, native, findings = compiled.load(opened[0], parsed)
            self._view = Graph(native, opened, options, parsed, self.notation, findings, loaded=True)
        return self._view

    def __repr__(self) -> str:
        graph = self.graph
        return f"<model of {self.notation}: {graph.inputs} to {graph.outputs}, {len(graph)} operations>"


def _digest_of(native: compiled.Graph) -> bytes:
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
