"""The verbs of the module."""

from __future__ import annotations

from . import _native
from ._arrays import encoded, named
from ._diff import Difference
from ._findings import Finding, read, refusing
from ._graph import Graph, Model
from ._inputs import opened
from ._options import CHECKING, COMPARING, FLATTENING, LANGUAGE, READING, keywords, merged, settled
from ._result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, TypeVar, Union, overload

    import numpy as np
    import numpy.typing as npt
    import onnx
    from typing_extensions import TypeAlias, Unpack

    from ._inputs import NnefGraph, Opened
    from ._options import Checking, Comparing, Extent, Flattening, Language, Notation, Passes, Reading

    # What does not tell its notation by its type.
    Untyped: TypeAlias = Union[str, os.PathLike[str], bytes, bytearray, memoryview]
    Input: TypeAlias = Union[Untyped, onnx.ModelProto, NnefGraph, Graph, Model]
    T = TypeVar("T")
else:

    def overload(function):
        """Without types there is nothing to choose."""
        return function


def _described(function: T) -> T:
    """Flattens, with the signature and the documentation of a function whose body is not used.

    Python fills in the defaults of 37 parameters, and a table of them, in 4 microseconds, a third of what a small model
    takes; a call mostly gives none of them.
    """

    def flatten(x: Input, **options: Any) -> Graph | Model:
        given, asked = _given(x, options, FLATTENING)
        parsed = keywords("", asked, FLATTENING)
        notation, made, findings = refusing(_native.flatten, given[0], parsed)
        if isinstance(made, bytes):
            return Model(made, given, asked, parsed, notation, findings)
        return Graph(made, given, asked, parsed, notation, findings)

    flatten.__doc__ = function.__doc__
    # By this name other processes find it.
    flatten.__qualname__ = "flatten"
    # For `inspect.signature` and `help`.
    flatten.__wrapped__ = function  # type: ignore[attr-defined]
    return flatten  # type: ignore[return-value]


def _given(x: Any, options: Mapping[str, Any], known: Sequence[str]) -> tuple[Opened, Mapping[str, Any]]:
    """What an input is made of, with its options: a result stands for its input, with those that it was made with."""
    options = settled(options)
    if isinstance(x, Result):
        return x._opened, merged(x._options, options, known)
    return opened(x), options


@overload
def flatten(x: Untyped, *, from_: Literal["onnx", "onnxtxt"], **options: Unpack[Passes]) -> Model: ...


@overload
def flatten(
    x: Untyped, *, from_: Literal["nnef", "nnef-draft", "loops", "pnnx", "ncnn"], **options: Unpack[Passes]
) -> Graph: ...


@overload
def flatten(x: Untyped, **options: Unpack[Flattening]) -> Graph | Model: ...


@overload
def flatten(x: Model | onnx.ModelProto, **options: Unpack[Flattening]) -> Model: ...


@overload
def flatten(x: Graph, **options: Unpack[Flattening]) -> Graph | Model: ...


@overload
def flatten(x: NnefGraph, **options: Unpack[Flattening]) -> Graph: ...


@_described
def flatten(
    x: Input,
    *,
    lower: str | Sequence[str] | None = None,
    keep: str | Sequence[str] = (),
    set: Mapping[str, Extent] | None = None,
    input_shape: Mapping[str, Sequence[Extent]] | None = None,
    bind: Mapping[str, npt.ArrayLike | os.PathLike[str]] | None = None,
    fold: bool = False,
    share: bool = False,
    simplify: bool | str | Sequence[str] = False,
    simplify_except: str | Sequence[str] = (),
    merge: bool | str | Sequence[str] = False,
    opset: int | None = None,
    keep_tensors: str | Sequence[str] = (),
    fold_growth: int | str | None = None,
    drop_bitcasts: bool = False,
    outputs: str | Sequence[str] = (),
    inputs_at: str | Sequence[str] = (),
    unroll: bool = False,
    max_trips: int | None = None,
    flat: bool = False,
    keep_unused: bool = False,
    strict: bool = False,
    fragments: Sequence[str | os.PathLike[str]] = (),
    outline: bool = False,
    annotate: bool = False,
    provenance: bool = False,
    from_: Notation | None = None,
    production: Literal["model", "graph", "function", "node"] | None = None,
    limits: Literal["default", "untrusted"] | None = None,
    max_ops: int | None = None,
    max_depth: int | None = None,
    max_length: int | None = None,
    max_memory: int | None = None,
    max_text: int | None = None,
    max_files: int | None = None,
    max_unpacked: int | None = None,
    max_items: int | None = None,
    max_work: int | None = None,
) -> Graph | Model:
    """Flattens an input: a `Model` for a model of ONNX, a `Graph` for any other.

    A result of this module stands for its input, with the options that it was made with.

    The keyword arguments are the options of the command, of the same names and meanings; one that has no effect on the
    input is refused with a `ValueError` that says what it is for. Lists are sequences, and what has names a dictionary:
    `keep=["gelu", "lstm"]`, `set={"S": 5, "T": "2*S+1"}`, `input_shape={"image": [1, 3, "H", "W"]}`, and
    `bind={"mask": [1, 0], "scale": numpy.ones(3), "rate": pathlib.Path("rate.npy")}`.

    * `lower`: What to expand: custom fragments and functions (default), standard compounds too, nothing, or only the
      named operations (`DOMAIN.*`: those of a domain of ONNX)
    * `keep`: Operations that are not expanded
    * `set`: Give a dimension symbol a value, as in S=5, or an expression on others, as in T=2*S+1
    * `input_shape`: Override the shape of a graph input, as in image=1,3,224,224 or tokens=1,S
    * `bind`: Make a graph input a constant with this value: JSON, as in rate=16000 or mask=[1,0], or a .npy file
    * `fold`: Compute operations on constants; their results become constants
    * `share`: Merge equal operations
    * `simplify`: Remove and join what changes no result, exactly; fold and share are parts of it
    * `simplify_except`: Rules that simplify does not use
    * `merge`: Merge normalizations, scales and sums into the weights of a model of ONNX, which changes rounding
    * `opset`: Write a model of ONNX for another version of the standard operator set, later or earlier
    * `keep_tensors`: Tensors of the flat model that simplify, fold, share and merge keep, with what computes them
    * `fold_growth`: The most bytes by which a constant that is computed may be larger than what it replaces [default:
      1KiB, and 0 in a quantized model]
    * `drop_bitcasts`: Remove reshapes and transposes that move nothing in memory, and join chains of others
    * `outputs`: Keep only what these tensors of the flat graph need; they become the outputs
    * `inputs_at`: Make these tensors of the flat graph inputs, and drop what only they need
    * `unroll`: Unroll loops and scans
    * `max_trips`: The maximum number of trips of a loop whose trip count depends on run-time data [default: none]
    * `flat`: Refuse loops that cannot be unrolled
    * `keep_unused`: Keep operations that no output needs
    * `strict`: Accept only what the standard allows: tolerated deviations become errors
    * `fragments`: A file of additional declarations, which may replace standard ones
    * `outline`: Write repeated structure once, as fragments of NNEF or functions of a model of ONNX, and calls of them
    * `annotate`: Write types and shapes beside each statement of NNEF, or into a model of ONNX
    * `provenance`: Record the functions that each node of a model of ONNX was copied from, as metadata of the node
    * `from_`: The notation of the input [default: auto]
    * `production`: The part of a model that an ONNX text contains [default: model]
    * `limits`: A set of limits; the other options replace single ones [default: default]
    * `max_ops`: The maximum number of emitted operations [default: 10000000]
    * `max_depth`: The maximum depth of nested calls [default: 1048576]
    * `max_length`: The maximum number of items of an array that is computed or written, and of characters of such a
      string [default: 10000000]
    * `max_memory`: The maximum memory in use by all that is done with an input [default: 768MiB]
    * `max_text`: The maximum size of a text [default: 2GiB]
    * `max_files`: The maximum number of files and folders of an archive, and of a folder whose files are all listed
      [default: 200000]
    * `max_unpacked`: The size that a compressed model may unpack to, whatever its own size [default: 8GiB]
    * `max_items`: The maximum number of tensor items at a time in an evaluation, 8 bytes each [default: those of
      max_memory, and of the data]
    * `max_work`: The maximum number of elementary steps of an evaluation [default: 200000000000]

    >>> import nnef_flatten
    >>> text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [8]); y = sigmoid(x) * (2.0 + 1.0); }"
    >>> [operation.name for operation in nnef_flatten.flatten(text)]
    ['external', 'sigmoid', 'mul']
    >>> nnef_flatten.flatten(text, input_shape={"x": ["N"]})["y"].shape
    ['N']
    >>> nnef_flatten.flatten(text, provenance=True)
    Traceback (most recent call last):
      ...
    ValueError: provenance does not apply to documents of NNEF 1.0: it is for onnx or onnxtxt
    """
    raise NotImplementedError


def simplify(x: Untyped | Model | onnx.ModelProto, **options: Unpack[Flattening]) -> Model:
    """Flattens a model of ONNX, and removes and joins what changes no result: `flatten` with `simplify=True`.

    `simplify=["identity", "casts"]` uses these rules only, `simplify_except=["share"]` all others.

    >>> import nnef_flatten
    >>> text = '''<ir_version: 10, opset_import: ["" : 21]>
    ... g (float[N, 2] x) => (float[N, 2] y) { a = Identity (x) b = Neg (a) c = Neg (b) y = Exp (c) }'''
    >>> [operation.name for operation in nnef_flatten.simplify(text)]
    ['Exp']
    """
    options.setdefault("simplify", True)
    result = flatten(x, **options)
    if not isinstance(result, Model):
        raise ValueError("simplify is for models of ONNX")
    return result


def load(x: Input, **options: Unpack[Reading]) -> Graph:
    """The graph that is written in an input: nothing is expanded. Models of ONNX have their own operators.

    >>> import nnef_flatten
    >>> text = '''version 1.0;
    ... extension KHR_enable_fragment_definitions;
    ... fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = exp(x); }
    ... graph G( x ) -> ( y ) { x = external(shape = [N]); y = f(x); }'''
    >>> [operation.name for operation in nnef_flatten.load(text.replace("N", "2"))]
    ['external', 'f']
    """
    given, asked = _given(x, options, READING)
    parsed = keywords("", asked, READING).unexpanded()
    notation, native, findings = refusing(_native.load, given[0], parsed)
    return Graph(native, given, asked, parsed, notation, findings, loaded=True)


def check(x: Input, **options: Unpack[Checking]) -> list[Finding]:
    """Checks an input completely, its expansion and its data included. Returns the findings, errors first.

    >>> import nnef_flatten
    >>> text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = mystery(x); }"
    >>> [(finding.severity, finding.code, finding.message) for finding in nnef_flatten.check(text)]
    [('warning', 'E0401', 'operation `mystery` is not declared')]
    """
    parsed = keywords("check", options, CHECKING)
    source, parsed = _looked_at(x, options, parsed)
    return read(refusing(_native.check, source, parsed))


def diff(a: Input, b: Input, **options: Unpack[Comparing]) -> Difference:
    """Compares two inputs as flat graphs, with their data. Names of inner tensors do not count.

    `values=True` finds the largest difference between data, `renamed=True` the tensors that have other names.

    >>> import nnef_flatten
    >>> text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); t = exp(x); y = leaky_relu(t, alpha = 0.1); }"
    >>> nnef_flatten.diff(text, nnef_flatten.flatten(text)).equal
    True
    >>> for change in nnef_flatten.diff(text, text.replace("0.1", "0.2")):
    ...     print(change.what, change.a.operation, change.part, change.old, change.new)
    attribute leaky_relu alpha 0.1 0.2
    """
    parsed = keywords("diff", options, COMPARING)
    both = [_looked_at(x, options, parsed) for x in (a, b)]
    return Difference(*refusing(_native.diff, *both, parsed))


def _looked_at(
    x: Input, options: Mapping[str, Any], parsed: _native.Keywords
) -> tuple[_native.Source, _native.Keywords]:
    """An input that is checked or compared; a result has its options of flattening: it is looked at as it is."""
    if not isinstance(x, Result):
        return opened(x)[0], parsed
    more = {name: value for name, value in options.items() if name in FLATTENING}
    return x._opened[0], x._as_made(keywords("", merged(x._options, more, FLATTENING), FLATTENING))


def run(
    x: Input,
    inputs: Mapping[str, npt.ArrayLike] | Sequence[npt.ArrayLike] | npt.ArrayLike | None = None,
    **options: Unpack[Language],
) -> dict[str, np.ndarray[Any, Any]]:
    """Evaluates a graph, a model or any input on arrays. Returns the arrays of its outputs.

    `inputs` are arrays by name. A single array is that of the only input, and a list has one for each input, in their
    order. A graph or a model is evaluated with the data of the input that it was made of, and with its options; further
    ones are added.

    >>> import nnef_flatten
    >>> graph = nnef_flatten.flatten("version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = x * x; }")
    >>> nnef_flatten.run(graph, {"x": [1.5, 2.0]})
    {'y': array([2.25, 4. ], dtype=float32)}
    >>> nnef_flatten.run(graph, [1.5, 2.0])
    {'y': array([2.25, 4. ], dtype=float32)}
    """
    import io

    import numpy as np

    is_result = isinstance(x, Result)
    given, asked = _given(x, options, FLATTENING if is_result else LANGUAGE)
    # A result has options of flattening.
    parsed = keywords("", asked, FLATTENING) if is_result else keywords("run", asked, LANGUAGE)
    bound: Mapping[str, Any] = asked.get("bind") or {}
    arrays = encoded(named(inputs, lambda: [name for name in _input_names(x, given, parsed) if name not in bound]))
    outputs, _ = refusing(_native.evaluate, given[0], parsed, arrays, None if is_result else "json")
    return {name: np.load(io.BytesIO(array), allow_pickle=False) for name, array in outputs}


def _input_names(x: Input, given: Opened, parsed: _native.Keywords) -> list[str]:
    if isinstance(x, Result):
        return x.inputs
    return refusing(_native.load, given[0], parsed.unexpanded())[1].inputs
