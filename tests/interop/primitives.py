#!/usr/bin/env python3
"""Compares the results of `nnef-flatten run` with numpy, for every primitive of NNEF 1.0.

usage: primitives.py --bin PATH [--count N] [--seed S] [-v]

Each case is a document with one operation and random operands, shapes, strides, paddings,
dilations and groups. What is expected comes from code that is written another way than the
evaluator: windows are slices of an array padded by numpy, transposed windows scatter instead of
gathering, interpolation is `numpy.interp` along one axis after the other. Where torch is installed,
it has to agree as well. Exit status 0 when all agree, 1 when some differ, 0 with the word
`skipped` when numpy is not installed.
"""
import argparse, itertools, math, os, subprocess, sys, tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(0)
try:
    import torch
except ImportError:
    torch = None

MODES = {"constant": "constant", "replicate": "edge", "reflect": "reflect", "reflect-even": "symmetric"}
CASES = {}


def case(*names):
    """Registers a maker of cases: (inputs, call, expected outputs)."""
    def register(maker):
        for name in names:
            CASES[name] = maker
        return maker
    return register


class Source:
    """Random choices."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def pick(self, items):
        return items[self.int(0, len(items) - 1)]

    def flag(self):
        return bool(self.int(0, 1))

    def shape(self, low=1, high=4, extent=4):
        return [self.int(1, extent) for _ in range(self.int(low, high))]

    def tensor(self, shape, low=-2.0, high=2.0):
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def axes(self, rank):
        return sorted(self.rng.permutation(rank)[:self.int(1, rank)].tolist())


def trailing(array, rank):
    """NNEF aligns first axes: missing ones at the end have extent 1."""
    return array.reshape(array.shape + (1,) * (rank - array.ndim))


def aligned(*arrays):
    rank = max(array.ndim for array in arrays)
    return [trailing(array, rank) for array in arrays]


def literal(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'%s'" % value
    if isinstance(value, tuple):
        return "(%s)" % ", ".join(map(literal, value))
    if isinstance(value, (list, np.ndarray)):
        return "[%s]" % ", ".join(map(literal, value))
    return repr(value)


def call(name, tensors, **attributes):
    return "%s(%s)" % (name, ", ".join(list(tensors) + ["%s = %s" % (k, literal(v)) for k, v in attributes.items()]))


# ---------------------------------------------------------------- item by item
UNARY = {
    "copy": (lambda x: x, -2, 2), "neg": (lambda x: -x, -2, 2), "rcp": (lambda x: 1 / x, 0.2, 2),
    "exp": (np.exp, -2, 2), "log": (np.log, 0.1, 3), "sin": (np.sin, -4, 4), "cos": (np.cos, -4, 4),
    "tan": (np.tan, -1, 1), "sinh": (np.sinh, -2, 2), "cosh": (np.cosh, -2, 2), "tanh": (np.tanh, -2, 2),
    "asin": (np.arcsin, -1, 1), "acos": (np.arccos, -1, 1), "atan": (np.arctan, -4, 4),
    "asinh": (np.arcsinh, -3, 3), "acosh": (np.arccosh, 1, 4), "atanh": (np.arctanh, -0.9, 0.9),
    "abs": (np.abs, -2, 2), "sign": (np.sign, -2, 2), "floor": (np.floor, -4, 4), "ceil": (np.ceil, -4, 4),
    "round": (lambda x: np.floor(x + 0.5), -4, 4),
    "sqr": (np.square, -2, 2), "sqrt": (np.sqrt, 0, 4), "rsqr": (lambda x: x ** -2.0, 0.3, 2),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.3, 4), "log2": (np.log2, 0.1, 4),
    "relu": (lambda x: np.maximum(x, 0), -2, 2), "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -4, 4),
    "softplus": (lambda x: np.log1p(np.exp(x)), -4, 4), "elu": (lambda x: np.where(x < 0, np.expm1(x), x), -2, 2),
    "gelu": (lambda x: x / (1 + np.exp(-1.702 * x)), -2, 2), "silu": (lambda x: x / (1 + np.exp(-x)), -2, 2),
}


@case(*UNARY)
def unary(s, name):
    f, low, high = UNARY[name]
    x = s.tensor(s.shape(0, 4), low, high)
    return {"x": x}, call(name, ["x"]), [f(x.astype(np.float64))]


BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power, "min": np.minimum,
          "max": np.maximum, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
          "eq": np.equal, "ne": np.not_equal, "and": np.logical_and, "or": np.logical_or}


def broadcastable(s, count, make):
    shape = s.shape(0, 4)
    arrays = []
    for _ in range(count):
        own = [1 if s.int(0, 3) == 0 else extent for extent in shape][:s.int(0, len(shape))]
        arrays.append(make(own))
    return arrays


@case(*BINARY)
def binary(s, name):
    if name in ("and", "or"):
        make = lambda shape: s.rng.integers(0, 2, shape).astype(bool)
    elif name in ("eq", "ne", "lt", "le", "gt", "ge"):
        make = lambda shape: s.rng.integers(-2, 3, shape).astype(np.float32)
    else:
        make = lambda shape: s.tensor(shape, 0.2, 2)
    x, y = (np.asarray(a) for a in broadcastable(s, 2, make))
    a, b = aligned(x, y)
    a, b = (v if v.dtype == bool else v.astype(np.float64) for v in (a, b))
    return {"x": x, "y": y}, call(name, ["x", "y"]), [BINARY[name](a, b)]


@case("not")
def negation(s, name):
    x = np.asarray(s.rng.integers(0, 2, s.shape()).astype(bool))
    return {"x": x}, "not(x)", [~x]


@case("select")
def select(s, name):
    c, x, y = (np.asarray(a) for a in broadcastable(s, 3, lambda shape: s.tensor(shape)))
    c = np.asarray(c > 0)
    return {"c": c, "x": x, "y": y}, "select(c, x, y)", [np.where(*aligned(c, x, y))]


@case("cast")
def cast(s, name):
    x = np.asarray(s.tensor(s.shape(), -4, 4))
    to, f = s.pick([("integer", lambda v: np.trunc(v).astype(np.int64)), ("logical", lambda v: v != 0), ("scalar", lambda v: v)])
    return {"x": x}, "cast<%s>(x)" % to, [f(x)]


@case("constant")
def constant(s, name):
    shape = s.shape()
    value = s.tensor(shape).astype(np.float64)
    single = s.flag()
    values = [3.5] if single else value.ravel().tolist()
    return {}, call(name, [], shape=shape, value=values), [np.full(shape, 3.5) if single else value]


# ---------------------------------------------------------------- windows
def window(s, extents, size, transposed=False):
    """Random parameters of a window over some axes that fit, and the padding that applies."""
    while True:
        stride = [s.int(1, 3) for _ in size]
        dilation = [s.int(1, 2) for _ in size]
        covered = [(f - 1) * d + 1 for f, d in zip(size, dilation)]
        padding = [(s.int(0, 2), s.int(0, 2)) for _ in size] if s.int(0, 3) else []
        if transposed:
            if padding:
                out = [(e - 1) * t + c - p - q for e, t, c, (p, q) in zip(extents, stride, covered, padding)]
                applied = padding
            else:
                out = [e * t for e, t in zip(extents, stride)]
                applied = automatic(out, covered, stride)
            if min(out, default=1) < 1:
                continue
        else:
            applied = padding or automatic(extents, covered, stride)
            out = [(e + p + q - c) // t + 1 for e, t, c, (p, q) in zip(extents, stride, covered, applied)]
            if any(e + p + q < c for e, c, (p, q) in zip(extents, covered, applied)):
                continue
        given = {"padding": padding, "stride": stride, "dilation": dilation}
        if all(t == 1 for t in stride) and s.flag():
            given.pop("stride")
        if all(d == 1 for d in dilation) and s.flag():
            given.pop("dilation")
        return given, applied, stride, dilation, out


def automatic(up, covered, stride):
    totals = [max((-(-e // t) - 1) * t + c - e, 0) for e, t, c in zip(up, stride, covered)]
    return [(t // 2, t - t // 2) for t in totals]


def border(s, applied, extents, modes=MODES):
    """A border mode that numpy's padding supports: a mirror cannot be wider than the input."""
    fits = lambda mode: not mode.startswith("reflect") or all(max(p) < e for p, e in zip(applied, extents))
    return s.pick([mode for mode in modes if fits(mode)])


def taps(padded, size, stride, dilation, out):
    """For each item of a window: its index, and the input items below it at all positions."""
    for k in itertools.product(*map(range, size)):
        yield k, padded[tuple(slice(i * d, i * d + (o - 1) * t + 1, t) for i, d, t, o in zip(k, dilation, stride, out))]


@case("conv", "deconv")
def convolution(s, name):
    transposed, spatial = name == "deconv", s.int(0, 3)
    batch, groups = s.int(1, 2), s.pick([1, 1, 2, 3])
    inner, outer = s.int(1, 3), s.int(1, 3)
    extents = [s.int(1, 6) for _ in range(spatial)]
    size = [s.int(1, 3) for _ in range(spatial)]
    given, applied, stride, dilation, out = window(s, extents, size, transposed)
    x = s.tensor([batch, groups * inner] + extents)
    w = s.tensor([groups * inner, outer] + size) if transposed else s.tensor([groups * outer, inner] + size)
    channels = groups * outer
    bias = s.pick([np.zeros((), np.float32), s.tensor([1, channels]), s.tensor([1, 1])])
    mode = "constant" if transposed else border(s, applied, extents)
    written = 0 if groups == (len(w) if transposed else groups * inner) and inner == 1 and s.flag() else groups
    y = np.zeros([batch, channels] + out)
    if transposed:
        whole = [(e - 1) * t + (f - 1) * d + 1 for e, t, f, d in zip(extents, stride, size, dilation)]
        whole = [max(wh, p + o) for wh, o, (p, _) in zip(whole, out, applied)]
        full = np.zeros([batch, channels] + whole)
        for b, g, i, o in itertools.product(range(batch), range(groups), range(inner), range(outer)):
            for k in itertools.product(*map(range, size)):
                place = tuple(slice(j * d, j * d + (e - 1) * t + 1, t) for j, d, e, t in zip(k, dilation, extents, stride))
                full[(b, g * outer + o) + place] += x[b, g * inner + i].astype(np.float64) * float(w[(g * inner + i, o) + k])
        y = full[(slice(None), slice(None)) + tuple(slice(p, p + o) for (p, _), o in zip(applied, out))]
    else:
        padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0)] + list(applied), mode=MODES[mode])
        for b, g, i, o in itertools.product(range(batch), range(groups), range(inner), range(outer)):
            for k, met in taps(padded[b, g * inner + i], size, stride, dilation, out):
                y[b, g * outer + o] += met * float(w[(g * outer + o, i) + k])
    expected = y + (bias if bias.ndim == 0 else bias.reshape([1, -1] + [1] * spatial))
    if torch and mode == "constant" and 1 <= spatial and all(p == q for p, q in applied):
        functions = torch.nn.functional
        f = getattr(functions, "conv%s%dd" % ("_transpose" if transposed else "", spatial))
        b = torch.from_numpy(np.broadcast_to(bias.reshape(-1), (channels,)).copy())
        pad = [p for p, _ in applied]
        found = f(torch.from_numpy(x), torch.from_numpy(w), b, stride=stride, padding=pad, dilation=dilation, groups=groups)
        if list(found.shape) == list(expected.shape):
            assert np.abs(found.numpy() - expected).max() < 1e-4, "torch disagrees with the expectation"
    if transposed and s.flag():
        given["output_shape"] = [batch, channels] + out
        down = [(o + p + q - ((f - 1) * d + 1)) // t + 1 for o, (p, q), f, d, t in zip(out, applied, size, dilation, stride)]
        # With 0 groups, the result has one filter for each of the channels that are stated.
        if down != extents or written == 0 and outer != 1:
            given.pop("output_shape")
    return {"x": x, "w": w, "b": bias}, call(name, "xwb", border=mode, groups=written, **given), [expected]


@case("box", "avg_pool")
def box(s, name):
    extents = s.shape(1, 4, 5)
    size = [s.int(1, 3) for _ in extents]
    given, applied, stride, dilation, out = window(s, extents, size)
    x = s.tensor(extents)
    normalize = name == "avg_pool" or s.flag()
    mode = s.pick(["ignore", border(s, applied, extents)])
    pad = lambda v: np.pad(v.astype(np.float64), applied, mode=MODES.get(mode, "constant"))
    total = sum(met for _, met in taps(pad(x), size, stride, dilation, out))
    count = sum(met for _, met in taps(pad(np.ones_like(x)), size, stride, dilation, out))
    if normalize:
        with np.errstate(invalid="ignore"):
            total = total / (count if mode == "ignore" else math.prod(size))
    extra = {"normalize": normalize} if name == "box" else {}
    return {"x": x}, call(name, "x", size=size, border=mode, **given, **extra), [total]


@case("debox")
def debox(s, name):
    extents = s.shape(1, 3, 4)
    size = [s.int(1, 3) for _ in extents]
    given, applied, stride, dilation, out = window(s, extents, size, True)
    x, normalize = s.tensor(extents), s.flag()
    y = scatter(x, None, size, stride, dilation, applied, out)
    return {"x": x}, call(name, "x", size=size, normalize=normalize, **given), [y / math.prod(size) if normalize else y]


def scatter(x, index, size, stride, dilation, applied, out):
    """Adds each item to what its window covers, or to the item of the window that an index names."""
    y = np.zeros(out)
    for at in itertools.product(*map(range, x.shape)):
        for n, k in enumerate(itertools.product(*map(range, size))):
            if index is not None and index[at] != n:
                continue
            place = tuple(a * t + j * d - p for a, t, j, d, (p, _) in zip(at, stride, k, dilation, applied))
            if all(0 <= i < o for i, o in zip(place, out)):
                y[place] += x[at]
    return y


@case("argmax_pool", "max_pool", "max_pool_with_index", "sample")
def maxima(s, name):
    extents = s.shape(1, 4, 5)
    size = [s.int(1, 3) for _ in extents]
    given, applied, stride, dilation, out = window(s, extents, size)
    x = s.tensor(extents)
    mode = s.pick(["constant", "ignore", border(s, applied, extents)])
    fill = {"constant_values": -np.inf} if mode == "ignore" else {}
    padded = np.pad(x.astype(np.float64), applied, mode=MODES.get(mode, "constant"), **fill)
    met = np.stack([m for _, m in taps(padded, size, stride, dilation, out)])
    if name == "sample":
        index = s.rng.integers(0, len(met), out)
        expected = np.take_along_axis(met, index[None], 0)[0]
        return {"x": x, "i": index}, call(name, "xi", size=size, border=mode, **given), [expected]
    index = met.argmax(0)
    values = met.max(0)
    expected = {"argmax_pool": [index], "max_pool": [values], "max_pool_with_index": [values, index]}[name]
    return {"x": x}, call(name, "x", size=size, border=mode, **given), expected


@case("desample")
def desample(s, name):
    extents = s.shape(1, 3, 4)
    size = [s.int(1, 3) for _ in extents]
    given, applied, stride, dilation, out = window(s, extents, size, True)
    x, index = s.tensor(extents), s.rng.integers(0, math.prod(size), extents)
    y = scatter(x, index, size, stride, dilation, applied, out)
    return {"x": x, "i": index}, call(name, "xi", size=size, **given), [y]


# ---------------------------------------------------------------- resampling
def positions(method, count, extent):
    i = np.arange(count, dtype=np.float64)
    if method == "asymmetric":
        return i * extent / count
    if method == "symmetric":
        return (i + 0.5) * extent / count - 0.5
    return np.zeros(1) if count == 1 else i * (extent - 1) / (count - 1)


def along(x, axis, at):
    """Linear interpolation along one axis; beyond the ends their values continue."""
    return np.apply_along_axis(lambda row: np.interp(at, np.arange(len(row)), row), axis, x)


@case("multilinear_upsample")
def upsample(s, name):
    spatial = s.int(1, 3)
    x = s.tensor([s.int(1, 2), s.int(1, 2)] + [s.int(1, 4) for _ in range(spatial)])
    factor = [s.int(1, 3) for _ in range(spatial)]
    method, mode = s.pick(["symmetric", "asymmetric", "aligned"]), s.pick(["replicate", "constant"])
    y = x.astype(np.float64)
    for axis, f in enumerate(factor, 2):
        extent = y.shape[axis]
        at = positions(method, extent * f, extent)
        if mode == "constant":
            y, at = np.pad(y, [(1, 1) if i == axis else (0, 0) for i in range(y.ndim)]), at + 1
        y = along(y, axis, at)
    return {"x": x}, call(name, "x", factor=factor, method=method, border=mode), [y]


# ---------------------------------------------------------------- reductions
REDUCTIONS = {"sum_reduce": np.sum, "mean_reduce": np.mean, "max_reduce": np.max, "min_reduce": np.min,
              "any_reduce": np.any, "all_reduce": np.all}


@case("argmax_reduce", "argmin_reduce", "softmax", *REDUCTIONS)
def reduction(s, name):
    x = s.tensor(s.shape())
    if name in ("any_reduce", "all_reduce"):
        x = np.asarray(x > 0)
    axes = s.axes(x.ndim)
    extra = {}
    v = x if x.dtype == bool else x.astype(np.float64)
    if name == "softmax":
        e = np.exp(v - v.max(tuple(axes), keepdims=True))
        y = e / e.sum(tuple(axes), keepdims=True)
    elif name in REDUCTIONS:
        y = REDUCTIONS[name](v, axis=tuple(axes), keepdims=True)
        if name == "sum_reduce" and s.flag():
            extra, y = {"normalize": True}, v.mean(tuple(axes), keepdims=True)
    else:
        moved = np.moveaxis(v, axes, range(-len(axes), 0))
        flat = moved.reshape(moved.shape[:v.ndim - len(axes)] + (-1,))
        y = (flat.argmax(-1) if name == "argmax_reduce" else flat.argmin(-1))
        y = y.reshape([1 if i in axes else e for i, e in enumerate(x.shape)])
    return {"x": x}, call(name, "x", axes=axes, **extra), [y]


# ---------------------------------------------------------------- shapes
@case("reshape")
def reshape(s, name):
    x = s.tensor(s.shape())
    start = s.int(0, x.ndim)
    count = s.int(0, x.ndim - start)
    middle = list(x.shape[start:start + count])
    wanted = s.pick([middle, [-1], middle[::-1], [1] + middle])
    y = x.reshape(list(x.shape[:start]) + ([math.prod(middle)] if wanted == [-1] else wanted) + list(x.shape[start + count:]))
    written = [0 if wanted is middle and s.flag() else e for e in wanted]
    return {"x": x}, call(name, "x", shape=written, axis_start=start, axis_count=count), [y]


@case("squeeze", "unsqueeze")
def squeezing(s, name):
    x = s.tensor(s.shape())
    axes = s.axes(x.ndim)
    wide = np.expand_dims(x, axes)
    given, y = (wide, x) if name == "squeeze" else (x, wide)
    return {"x": given}, call(name, "x", axes=axes), [y]


@case("transpose")
def transpose(s, name):
    x = s.tensor(s.shape())
    axes = s.rng.permutation(s.int(0, x.ndim)).tolist()
    return {"x": x}, call(name, "x", axes=axes), [x.transpose(axes + list(range(len(axes), x.ndim)))]


@case("concat", "stack")
def joining(s, name):
    shape = s.shape()
    axis = s.int(0, len(shape) - (name == "concat"))
    def part():
        own = list(shape)
        if name == "concat":
            own[axis] = s.int(1, 3)
        return s.tensor(own)
    parts = {"x%d" % i: part() for i in range(s.int(1, 3))}
    join = np.concatenate if name == "concat" else np.stack
    return parts, "%s([%s], axis = %d)" % (name, ", ".join(parts), axis), [join(list(parts.values()), axis)]


@case("split", "unstack")
def parting(s, name):
    shape = s.shape()
    axis = s.int(0, len(shape) - 1)
    if name == "unstack":
        x = s.tensor(shape)
        return {"x": x}, call(name, "x", axis=axis), [list(np.moveaxis(x, axis, 0))]
    ratios, unit = [s.int(1, 3) for _ in range(s.int(1, 3))], s.int(1, 2)
    shape[axis] = sum(ratios) * unit
    x = s.tensor(shape)
    parts = np.split(x, np.cumsum(ratios)[:-1] * unit, axis)
    return {"x": x}, call(name, "x", axis=axis, ratios=ratios), [parts]


@case("slice")
def slicing(s, name):
    x = s.tensor(s.shape(1, 4, 6))
    axes = s.axes(x.ndim)
    begin, end, stride, index = [], [], [], [slice(None)] * x.ndim
    for axis in axes:
        extent, step = x.shape[axis], s.pick([1, 1, 2, 3, -1, -2])
        first, last = sorted(s.rng.integers(0, extent + 1, 2).tolist())
        if step < 0:
            first, last = min(last, extent - 1), first - 1
            last = min(first, last)
            index[axis] = slice(first, None if last < 0 else last, step)
            last = last - extent if last < 0 else last
        else:
            if last == 0:
                last = extent
            index[axis] = slice(first, last, step)
            if s.flag() and last == extent:
                last = s.pick([0, extent + 7])
            if s.flag() and first > 0 and first < extent:
                first -= extent
        begin.append(first); end.append(last); stride.append(step)
    y = x[tuple(index)]
    if 0 in y.shape:
        return None
    extra = {} if all(t == 1 for t in stride) and s.flag() else {"stride": stride}
    return {"x": x}, call(name, "x", axes=axes, begin=begin, end=end, **extra), [y]


@case("pad")
def padding(s, name):
    x = s.tensor(s.shape())
    pads = [(s.int(0, 3), s.int(0, 3)) for _ in x.shape]
    mode = border(s, pads, x.shape)
    extra = {"constant_values": 1.5} if mode == "constant" else {}
    return {"x": x}, call(name, "x", padding=pads, border=mode, value=1.5), [np.pad(x, pads, mode=MODES[mode], **extra)]


@case("tile")
def tile(s, name):
    x = s.tensor(s.shape())
    repeats = [s.int(1, 3) for _ in x.shape]
    return {"x": x}, call(name, "x", repeats=repeats), [np.tile(x, repeats)]


@case("gather")
def gather(s, name):
    x = s.tensor(s.shape())
    axis = s.int(0, x.ndim - 1)
    index = np.asarray(s.rng.integers(0, x.shape[axis], s.shape(0, 2)))
    return {"x": x, "i": index}, call(name, "xi", axis=axis), [np.take(x, index, axis)]


# ---------------------------------------------------------------- matrices, variables
@case("matmul")
def matmul(s, name):
    batch = s.shape(0, 2) if s.flag() else []
    own = lambda: [1 if s.int(0, 2) == 0 else e for e in batch]
    m, k, n = (s.int(1, 5) for _ in range(3))
    ta, tb = s.flag(), s.flag()
    a = s.tensor(own() + ([k, m] if ta else [m, k]))
    b = s.tensor(own() + ([n, k] if tb else [k, n]))
    turn = lambda v, t: (np.swapaxes(v, -1, -2) if t else v).astype(np.float64)
    return {"a": a, "b": b}, call(name, "ab", transposeA=ta, transposeB=tb), [turn(a, ta) @ turn(b, tb)]


@case("linear")
def linear(s, name):
    m, k, n = (s.int(1, 5) for _ in range(3))
    x, w, b = s.tensor([m, k]), s.tensor([n, k]), s.tensor([1, n])
    return {"x": x, "w": w, "b": b}, "linear(x, w, b)", [x.astype(np.float64) @ w.T + b]


# ---------------------------------------------------------------- regions
def regions(s):
    spatial = s.int(1, 2)
    x = s.tensor([2, s.int(1, 2)] + [s.int(3, 6) for _ in range(spatial)])
    count = s.int(1, 3)
    low = np.stack([s.rng.uniform(0, e - 2, count) for e in x.shape[2:]], 1)
    high = np.stack([s.rng.uniform(l + 1, e, count) for l, e in zip(low.T, x.shape[2:])], 1)
    return x, np.concatenate([low, high], 1).astype(np.float32), s.rng.integers(0, 2, [count, 1]), spatial


@case("avg_roi_pool", "max_roi_pool")
def roi_pool(s, name):
    x, rois, batch, spatial = regions(s)
    size = [s.int(1, 2) for _ in range(spatial)]
    fold = np.mean if name[0] == "a" else np.max
    y = np.zeros([len(rois), x.shape[1]] + size)
    for r, roi in enumerate(rois):
        corners = np.floor(roi.astype(np.float64) + 0.5).astype(int)
        for cell in itertools.product(*map(range, size)):
            index = []
            for axis, (i, n) in enumerate(zip(cell, size)):
                first, extent = corners[axis], corners[axis + spatial] - corners[axis]
                begin = first + i * (extent // n)
                index.append(slice(begin, begin - (-extent // n)))
            items = x[batch[r, 0]][(slice(None),) + tuple(index)].reshape(x.shape[1], -1).astype(np.float64)
            y[(r, slice(None)) + cell] = fold(items, 1) if items.shape[1] else 0
    return {"x": x, "r": rois, "i": batch}, call(name, "xri", output_size=size), [y]


@case("roi_resample", "avg_roi_align", "max_roi_align")
def roi_resample(s, name):
    x, rois, batch, spatial = regions(s)
    size, method = [s.int(1, 3) for _ in range(spatial)], s.pick(["symmetric", "asymmetric", "aligned"])
    rate = [s.int(1, 2) for _ in size] if name != "roi_resample" else [1] * spatial
    rows = []
    for r, roi in enumerate(rois.astype(np.float64)):
        y = x[batch[r, 0]].astype(np.float64)
        for axis, (n, m) in enumerate(zip(size, rate)):
            y = along(y, axis + 1, roi[axis] + positions(method, n * m, roi[axis + spatial] - roi[axis]))
        if name != "roi_resample":
            cells = y.reshape([len(y)] + [e for pair in zip(size, rate) for e in pair])
            inner = tuple(range(2, cells.ndim, 2))
            y = cells.mean(inner) if name[0] == "a" else cells.max(inner)
        rows.append(y)
    extra = {"method": method} if name == "roi_resample" else {"sampling_rate": rate, "resize_method": method}
    return {"x": x, "r": rois, "i": batch}, call(name, "xri", output_size=size, **extra), [np.stack(rows)]


# ---------------------------------------------------------------- running
KINDS = {"f": "scalar", "i": "integer", "b": "logical"}


def document(inputs, invocation, expected):
    given = inputs or {"unused": np.zeros(1, np.float32)}
    lines = ["    %s = external<%s>(shape = %s);" % (k, KINDS[v.dtype.kind], list(v.shape)) for k, v in given.items()]
    if isinstance(expected[0], list):
        names = ["y%d" % i for i in range(len(expected[0]))]
        targets = "[%s]" % ", ".join(names)
    else:
        names = ["y%d" % i for i in range(len(expected))]
        targets = ", ".join(names)
    lines.append("    %s = %s;" % (targets, invocation))
    return "version 1.0;\ngraph G( %s ) -> ( %s )\n{\n%s\n}\n" % (", ".join(given), ", ".join(names), "\n".join(lines)), names


def check(binary, folder, made):
    inputs, invocation, expected = made
    text, names = document(inputs, invocation, expected)
    given, found = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
    np.savez(given, **{k: v for k, v in inputs.items()})
    run = subprocess.run([binary, "run", "-q", "--inputs", given, "-o", found, "-"], input=text, capture_output=True, text=True)
    if run.returncode:
        return "%s\n%s" % (run.stderr, text)
    wanted = expected[0] if isinstance(expected[0], list) else expected
    with np.load(found) as outputs:
        for name, want in zip(names, wanted):
            want, got = np.asarray(want), outputs[name]
            if got.shape != want.shape:
                return "shape %s, expected %s\n%s" % (got.shape, want.shape, text)
            if got.dtype.kind != want.dtype.kind:
                return "type %s, expected %s\n%s" % (got.dtype, want.dtype, text)
            got, want = got.astype(np.float64), want.astype(np.float64)
            with np.errstate(invalid="ignore"):
                apart = np.abs(got - want) / np.maximum(1, np.abs(want))
            apart = np.where((got == want) | np.isnan(got) & np.isnan(want), 0, apart)
            if apart.size and not apart.max() <= 1e-5:
                return "differs by %g\n%s" % (apart.max(), text)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=20, help="cases of each operation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one operation")
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    total = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, maker in CASES.items():
            if args.only and name != args.only:
                continue
            done = 0
            source = Source([args.seed, sum(name.encode())])
            while done < args.count:
                made = maker(source, name)
                if made is None:
                    continue
                done += 1
                total += 1
                why = check(args.bin, folder, made)
                if why:
                    wrong += 1
                    print("== %s: %s" % (name, why))
            if args.v:
                print("%-22s %d cases" % (name, done))
    print("%d operations, %d cases, %d differ%s" % (len(CASES), total, wrong, "" if torch else " (without torch)"))
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main())
