#!/usr/bin/env python3
"""Compares standard operations in documents with a registry, one by one, with tract (PyPI `tract`).

usage: registry_standard.py --bin PATH [--seeds N] [--onnx] [-v] [NAME…]

tract reads some standard operations differently than the standard defines them: the rows of
`src/graph/deviations.rs`. Here are cases of each row, and of the operations without a row, to show that they
need none. With `--onnx` the translation to ONNX has to compute the same in onnxruntime, unless it is refused. The
other options and the exit status are those of `registry_ops.py`.
"""
import itertools

import numpy as np

from registry_ops import B, F, I, Given, compare_all

EDGES = [-2.5, -1.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, 0.49999997, -0.49999997, 1e30, np.inf, -np.inf, np.nan]
NUMBERS = [-3.0, -1.0, 0.0, -0.0, 0.25, 1.0, 2.0, 7.5, np.inf, -np.inf, np.nan]


def items():
    """Item by item, on values where definitions differ."""
    edges = {"x": Given(EDGES)}
    for name in ("round", "floor", "ceil", "sign", "abs", "neg", "sqr", "sqrt", "rsqr", "rsqrt", "recip", "square",
                 "exp", "log", "log2", "relu", "softplus", "sin", "cos", "copy", "elu"):
        yield name, edges, f"{name}(x)"
    # These are approximated, and NaN is not kept.
    for name in ("sigmoid", "tanh"):
        yield name, {"x": Given(EDGES[:-1])}, f"{name}(x)"
    for name in ("tan", "asin", "acos", "atan", "sinh", "asinh", "atanh"):
        yield name, {"x": F((3, 4), 0.9)}, f"{name}(x)"
    yield "cosh", {"x": F((3, 4), 4)}, "cosh(x)"
    yield "acosh", {"x": F((3, 4), 4, 1.0)}, "acosh(x)"
    yield "leaky_relu", edges, "leaky_relu(x, alpha = 0.1)"
    yield "prelu", edges, "prelu(x, 0.1)"
    yield "softabs", {"x": F((3, 4))}, "softabs(x, epsilon = 0.1)"
    pairs = list(itertools.product(NUMBERS, NUMBERS))
    both = {"x": Given([x for x, _ in pairs]), "y": Given([y for _, y in pairs])}
    for name in ("add", "sub", "mul", "div", "pow", "min", "max"):
        yield name, both, f"{name}(x, y)"
    for name in ("lt", "gt", "le", "ge", "eq", "ne"):
        yield name, both, f"{name}(x, y)"
    yield "clamp", both, "clamp(x, y, 2.0)"
    logicals = {"x": B((4, 5)), "y": B((4, 5))}
    for name in ("and", "or"):
        yield name, logicals, f"{name}(x, y)"
    yield "not", {"x": B((4, 5))}, "not(x)"
    yield "select", {"c": B((4,)), "x": F((4, 5)), "y": F((4, 1, 3))}, "select(c, x, y)"
    whole = {"x": Given([-7, -1, 0, 1, 7], np.int64)}
    for name in ("round", "floor", "ceil", "sign", "abs", "neg", "relu", "sqr", "square"):
        yield name + " of integers", whole, f"{name}(x)"


def windows(rng):
    a, b, c = (int(extent) for extent in rng.integers(4, 8, 3))
    image = {"x": F((2, 3, a, b))}
    padded = "size = [1, 1, 3, 2], padding = [(0, 0), (0, 0), (1, 2), (0, 1)]"
    moved = padded + ", stride = [1, 1, 2, 1], dilation = [1, 1, 1, 2]"
    low = {"x": F((2, 3, a, b), -1.0, -9.0)}
    for border in ("constant", "ignore"):
        yield f"max_pool {border}", low, f"max_pool(x, {moved}, border = '{border}')"
        yield f"max_pool {border} automatic", low, f"max_pool(x, size = [1, 1, 3, 3], stride = [1, 1, 2, 2], border = '{border}')"
        yield f"max_pool_with_index {border}", low, f"max_pool_with_index(x, {moved}, border = '{border}')", 2
        yield f"avg_pool {border}", image, f"avg_pool(x, {moved}, border = '{border}')"
        yield f"rms_pool {border}", image, f"rms_pool(x, {moved}, border = '{border}')"
        yield f"box {border}", image, f"box(x, {moved}, border = '{border}')"
        yield f"box {border} automatic", image, f"box(x, size = [1, 1, 3, 2], stride = [1, 1, 2, 2], border = '{border}', normalize = true)"
    yield "max_pool with large padding", low, "max_pool(x, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (2, 0), (0, 3)])"
    yield "max_pool over channels", image, "max_pool(x, size = [1, 2, 1, 1], padding = [(0, 0), (0, 0), (0, 0), (0, 0)])"
    yield "max_pool over channels and space", image, "max_pool(x, size = [1, 3, 2, 2])"
    yield "box over channels", image, "box(x, size = [1, 3, 2, 1])"
    yield "box over channels with padding", image, "box(x, size = [1, 3, 2, 1], padding = [(0, 0), (1, 1), (0, 0), (0, 0)], normalize = true)"
    yield "avg_pool over batch", image, "avg_pool(x, size = [2, 1, 2, 1])"
    yield "box of rank 3", {"x": F((2, 3, a))}, "box(x, size = [1, 1, 3], stride = [1, 1, 2], normalize = true)"
    yield "local_response_normalization", image, "local_response_normalization(x, size = [1, 3, 1, 1], alpha = 0.5, beta = 0.75, bias = 1.5)"
    yield "local_mean_normalization", image, "local_mean_normalization(x, size = [1, 1, 3, 3])"
    yield "local_variance_normalization", image, "local_variance_normalization(x, size = [1, 1, 3, 3], bias = 0.1, epsilon = 0.2)"
    yield "local_contrast_normalization", image, "local_contrast_normalization(x, size = [1, 1, 3, 3], bias = 0.1, epsilon = 0.2)"
    yield "debox", image, "debox(x, size = [1, 1, 2, 3], stride = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (1, 0)])"
    yield "debox normalized", image, "debox(x, size = [1, 1, 2, 3], stride = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (1, 0)], normalize = true)"
    yield "debox automatic", image, "debox(x, size = [1, 1, 3, 3], stride = [1, 1, 2, 2])"
    yield "debox with output_shape", image, f"debox(x, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)], output_shape = [2, 3, {2 * a + 1}, {2 * b}])"
    yield "debox over channels", image, "debox(x, size = [1, 2, 1, 1], padding = [(0, 0), (0, 0), (0, 0), (0, 0)])"


def convolutions(rng):
    a, b = (int(extent) for extent in rng.integers(4, 8, 2))
    yield "conv", {"x": F((2, 3, a, b)), "f": F((4, 3, 3, 2)), "b": F((1, 4))}, "conv(x, f, b, padding = [(1, 2), (0, 1)], stride = [2, 1], dilation = [1, 2])"
    yield "conv with a bias of rank 1", {"x": F((2, 3, a)), "f": F((4, 3, 3)), "b": F((4,))}, "conv(x, f, b)"
    yield "conv in groups", {"x": F((2, 4, a)), "f": F((6, 2, 3))}, "conv(x, f, stride = [2], groups = 2)"
    yield "conv of each channel", {"x": F((2, 4, a)), "f": F((4, 1, 3))}, "conv(x, f, groups = 0)"
    yield "conv of each channel to several", {"x": F((2, 2, a)), "f": F((4, 1, 3))}, "conv(x, f, groups = 0)"
    none = "padding = [(0, 0)]"
    for stride in (1, 2, 3):
        yield f"deconv {stride}", {"x": F((2, 3, a)), "f": F((4, 3, 3)), "b": F((4,))}, f"deconv(x, f, b, {none}, stride = [{stride}])"
        yield f"deconv square {stride}", {"x": F((2, 3, a)), "f": F((3, 3, 3))}, f"deconv(x, f, {none}, stride = [{stride}])"
        yield f"deconv automatic {stride}", {"x": F((2, 3, a)), "f": F((4, 3, 3))}, f"deconv(x, f, stride = [{stride}])"
        yield f"deconv automatic even {stride}", {"x": F((2, 3, a)), "f": F((4, 3, 4))}, f"deconv(x, f, stride = [{stride}])"
        yield f"deconv automatic small {stride}", {"x": F((2, 3, a)), "f": F((4, 3, 1))}, f"deconv(x, f, stride = [{stride}])"
    yield "deconv padded", {"x": F((2, 3, a, b)), "f": F((4, 3, 3, 4))}, "deconv(x, f, padding = [(1, 0), (0, 2)], stride = [2, 1], dilation = [1, 2])"
    yield "deconv in groups", {"x": F((2, 4, a)), "f": F((6, 2, 3)), "b": F((1, 6))}, f"deconv(x, f, b, {none}, stride = [2], groups = 2)"
    yield "deconv of each channel", {"x": F((2, 4, a)), "f": F((4, 1, 3))}, f"deconv(x, f, {none}, stride = [2], groups = 0)"
    yield "deconv of each channel by number", {"x": F((2, 4, a)), "f": F((4, 1, 3))}, f"deconv(x, f, {none}, stride = [2], groups = 4)"
    for more in (0, 1):
        yield f"deconv with output_shape of space {more}", {"x": F((2, 3, a)), "f": F((4, 3, 3))}, f"deconv(x, f, {none}, stride = [2], output_shape = [{2 * a + 1 + more}])"
        yield f"deconv with output_shape {more}", {"x": F((2, 3, a)), "f": F((4, 3, 3))}, f"deconv(x, f, {none}, stride = [2], output_shape = [2, 4, {2 * a + 1 + more}])"
    yield "separable_conv", {"x": F((2, 3, a)), "p": F((3, 1, 3)), "q": F((4, 3, 1)), "b": F((1, 4))}, "separable_conv(x, p, q, b, stride = [2])"
    yield "separable_deconv", {"x": F((2, 3, a)), "p": F((4, 1, 3)), "q": F((4, 3, 1)), "b": F((1, 4))}, f"separable_deconv(x, p, q, b, {none}, stride = [2])"
    yield "linear", {"x": F((3, 4)), "f": F((5, 4)), "b": F((1, 5))}, "linear(x, f, b)"
    yield "linear with a bias of rank 1", {"x": F((3, 4)), "f": F((5, 4)), "b": F((3,))}, "linear(x, f, b)"
    yield "linear with a bias of rank 1 and one row", {"x": F((1, 4)), "f": F((5, 4)), "b": F((5,))}, "linear(x, f, b)"


def arrangement(rng):
    a, b, c = (int(extent) for extent in rng.integers(3, 6, 3))
    cube = {"x": F((a, b, c))}
    for border in ("constant", "reflect", "replicated", "replicate", "reflect-even"):
        yield f"pad {border}", cube, f"pad(x, padding = [(1, 2), (0, 1), (2, 0)], border = '{border}', value = 0.5)"
    yield "pad of integers", {"x": I((a, b), 9)}, "pad(x, padding = [(1, 2), (0, 1)], value = 3.0)"
    for begin, end in ((0, 0), (1, 0), (1, -1), (0, 2), (2, 3)):
        yield f"slice {begin} {end}", cube, f"slice(x, axes = [1], begin = [{begin}], end = [{end}])"
    yield "slice with a stride", cube, "slice(x, axes = [0, 2], begin = [0, 1], end = [2, 3], stride = [1, 2])"
    yield "slice to the end with a stride", cube, "slice(x, axes = [1], begin = [1], end = [0], stride = [2])"
    yield "slice backwards", cube, "slice(x, axes = [1], begin = [2], end = [0], stride = [-1])"
    yield "reshape", cube, f"reshape(x, shape = [0, {b * c}])"
    yield "reshape rest", cube, f"reshape(x, shape = [0, -1])"
    yield "reshape some axes", cube, f"reshape(x, shape = [{c}, {b}], axis_start = 1, axis_count = 2)"
    yield "reshape some axes with zero", cube, f"reshape(x, shape = [0, {c}, 1], axis_start = 1, axis_count = 2)"
    yield "transpose", cube, "transpose(x, axes = [2, 0, 1])"
    yield "transpose first", cube, "transpose(x, axes = [1, 0])"
    yield "squeeze", {"x": F((1, a, 1))}, "squeeze(x, axes = [2, 0])"
    yield "unsqueeze", cube, "unsqueeze(x, axes = [3, 1])"
    yield "concat", {"x": F((a, b)), "y": F((a, c))}, "concat([x, y], axis = 1)"
    yield "stack", {"x": F((a, b)), "y": F((a, b))}, "stack([x, y], axis = 1)"
    yield "unstack", {"x": F((a, 2))}, "unstack(x, axis = 1)", 2
    yield "tile", cube, "tile(x, repeats = [2, 1, 3])"
    ties = {"x": F((a, b, c), 2, whole=True)}
    for name in ("sum_reduce", "max_reduce", "min_reduce", "mean_reduce"):
        yield name, cube, f"{name}(x, axes = [0, 2])"
    for name in ("argmax_reduce", "argmin_reduce"):
        yield name, ties, f"{name}(x, axes = [1])"
        yield name + " over two axes", ties, f"{name}(x, axes = [1, 2])"
    yield "sum_reduce normalized", cube, "sum_reduce(x, axes = [1], normalize = true)"
    yield "mean_reduce of integers", {"x": I((a, b), 9)}, "mean_reduce(x, axes = [1])"
    for name in ("any_reduce", "all_reduce"):
        yield name, {"x": B((a, b))}, f"{name}(x, axes = [1])"
    yield "moments", cube, "moments(x, axes = [0, 2])", 2
    yield "softmax", cube, "softmax(x)"
    yield "softmax over two axes", cube, "softmax(x, axes = [0, 2])"
    yield "l1_normalization", cube, "l1_normalization(x, axes = [1], bias = 0.1, epsilon = 0.3)"
    yield "l2_normalization", cube, "l2_normalization(x, axes = [1], bias = 0.1, epsilon = 0.3)"
    channels = {name: F((1, b), 1, 0.2) for name in "mvos"}
    yield "batch_normalization", dict(cube, **channels), "batch_normalization(x, m, v, o, s, epsilon = 0.01)"
    yield "matmul", {"x": F((2, a, b)), "y": F((1, c, b))}, "matmul(x, y, transposeB = true)"
    yield "matmul both transposed", {"x": F((a, b)), "y": F((c, a))}, "matmul(x, y, transposeA = true, transposeB = true)"


def cases(rng):
    """Cases: name, inputs, the call, and how many results it has."""
    yield from items()
    yield from windows(rng)
    yield from convolutions(rng)
    yield from arrangement(rng)


if __name__ == "__main__":
    compare_all(__doc__, cases)
