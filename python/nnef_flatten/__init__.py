"""Flattens neural-network descriptions into graphs of primitive operations.

Reads NNEF (fragments, selects, comprehensions, recursion), models of ONNX (functions), files of PNNX and ncnn, and
networks with loops:

>>> import nnef_flatten
>>> graph = nnef_flatten.flatten('''
...     version 1.0;
...     extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
...     fragment twice( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = x + x; }
...     graph G( x ) -> ( y ) { x = external(shape = [2, 3]); y = twice(twice(x)); }
... ''')
>>> [operation.name for operation in graph]
['external', 'add', 'add']
>>> graph["y"].shape
[2, 3]

An input is a text (`str`), a path (`os.PathLike`: a file, a folder, an archive), `bytes`, an `onnx.ModelProto`, an
`nnef.Graph`, or a result of this module. What is refused raises `FlattenError`, which has the findings.
"""

from ._api import check, diff, flatten, load, run, simplify
from ._diff import Change, Difference, Place
from ._findings import Call, Finding, FlattenError
from ._graph import Graph, Model
from ._native import __version__
from ._verification import Verification
from ._walk import Operation, Tensor

__all__ = [
    "Call",
    "Change",
    "Difference",
    "Finding",
    "FlattenError",
    "Graph",
    "Model",
    "Operation",
    "Place",
    "Tensor",
    "Verification",
    "__version__",
    "check",
    "diff",
    "flatten",
    "load",
    "run",
    "simplify",
]
