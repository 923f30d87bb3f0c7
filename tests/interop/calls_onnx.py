"""Random calls of the standard operators of ONNX, for random_calls.py.

Each maker takes a source of random choices and the name of an operator, and returns a call that the standard allows: with
random ranks, extents (0 and 1 among them), element types, attributes, and items (ties, infinities, NaN, both zeros and the
limits of integers among them). Returns none if its choices do not fit together.
"""
import math

import numpy as np

from primitives import Source

MAKERS = {}
FLOATS = [np.float32] * 6 + [np.float64, np.float16]
SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
NUMBERS = FLOATS + SIGNED + UNSIGNED
ALL = NUMBERS + [np.bool_]
# Items that are rarely among random ones.
EDGES = [0.0, -0.0, math.nan, math.inf, -math.inf, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -3.0]


def floats_of(arrays):
    """The items of the arrays that have floats."""
    parts = [array.reshape(-1).astype(np.float64) for array in arrays if array.dtype.kind == "f"]
    return np.concatenate(parts) if parts else np.zeros(0)


class Call:
    """An operator, its operands (none where one is omitted), attributes, and number of results.

    `known` has the positions of the operands that are constants of every model.
    """

    def __init__(self, operator, operands, attributes=None, results=1, known=(), opset=21, domain=""):
        self.operator, self.results, self.opset, self.domain = operator, results, opset, domain
        self.operands = [None if operand is None else np.asarray(operand) for operand in operands]
        self.attributes = {key: value for key, value in (attributes or {}).items() if value is not None}
        self.known = set(known)

    def arrays(self):
        """The operands that are given."""
        return [operand for operand in self.operands if operand is not None]

    def items(self):
        """The items of all operands that are floats."""
        return floats_of(self.arrays())

    def __str__(self):
        operands = ", ".join("" if operand is None else "%s%s %s%s" % (
            operand.dtype, list(operand.shape), np.array2string(operand.reshape(-1), threshold=60, separator=","),
            " known" if at in self.known else "") for at, operand in enumerate(self.operands))
        return "%s-%d %s (%s)" % (self.operator, self.opset, self.attributes, operands)


class Draw(Source):
    """Random choices for calls. With `edge`, items are often those of `EDGES` and the limits of integers."""

    def __init__(self, seed):
        super().__init__(seed)
        self.edge = False

    def chance(self, part):
        return bool(self.rng.random() < part)

    def extents(self, low=0, high=4, extent=4, empty=0.05):
        shape = [self.int(1, extent) for _ in range(self.int(low, high))]
        if shape and self.chance(empty):
            shape[self.int(0, len(shape) - 1)] = 0
        return shape

    def array(self, shape, dtype=np.float32, low=-2.0, high=2.0):
        dtype = np.dtype(dtype)
        if dtype.kind == "b":
            return self.rng.integers(0, 2, shape).astype(bool)
        if dtype.kind in "iu":
            return self.integers(shape, dtype, 0 if dtype.kind == "u" else int(low * 2), int(high * 2))
        items = (self.rng.integers(int(low * 8), int(high * 8) + 1, shape) / 8).astype(dtype)
        if self.edge:
            mask = self.rng.random(shape) < 0.4
            items = np.where(mask, self.rng.choice(EDGES, shape).astype(dtype), items)
        return np.asarray(items, dtype)

    def integers(self, shape, dtype=np.int64, low=-4, high=4):
        items = self.rng.integers(low, high + 1, shape).astype(dtype)
        if self.edge:
            limits = np.iinfo(dtype)
            choices = np.array([limits.min, limits.max, limits.max - 1, 0, 1], dtype)
            items = np.where(self.rng.random(shape) < 0.3, self.rng.choice(choices, shape), items)
        return np.asarray(items, dtype)

    def indices(self, shape, extent, negative=True, dtype=np.int64):
        return self.rng.integers(-extent if negative else 0, extent, shape).astype(dtype)

    def axis(self, rank):
        return self.int(-rank, rank - 1)

    def some_axes(self, rank):
        return [axis - rank if self.flag() else axis for axis in self.rng.permutation(rank)[:self.int(1, rank)].tolist()]

    def maybe(self, value, part=0.5):
        return value if self.chance(part) else None

    def together(self, count, dtype, make=None):
        """Operands that broadcast to one shape."""
        shape = self.extents()
        arrays = []
        for _ in range(count):
            own = [1 if self.chance(0.25) else extent for extent in shape][self.int(0, len(shape)) if self.flag() else 0:]
            arrays.append((make or self.array)(own, dtype))
        return arrays


def makes(*names):
    def register(maker):
        MAKERS.update((name, maker) for name in names)
        return maker
    return register


def one_by_one(known, start=0):
    return list(range(start, start + known))


# ---------------------------------------------------------------- item by item
ATTRIBUTES = {"Elu": ["alpha"], "Celu": ["alpha"], "LeakyRelu": ["alpha"], "Selu": ["alpha", "gamma"],
              "HardSigmoid": ["alpha", "beta"], "ThresholdedRelu": ["alpha"], "Shrink": ["lambd", "bias"], "Swish": ["alpha"]}
FLOAT_UNARY = """Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Reciprocal Round Sigmoid Sin Sinh Sqrt Tan
    Tanh Softplus Softsign Mish HardSwish Elu Celu LeakyRelu Selu HardSigmoid ThresholdedRelu Shrink Gelu Swish""".split()
NEWER = {"Swish": 24, "CumProd": 26}


@makes(*FLOAT_UNARY)
def unary(s, op):
    attributes = {key: s.maybe(s.pick([0.25, 0.5, 1.0, 1.5, 0.0, -0.5])) for key in ATTRIBUTES.get(op, [])}
    if op == "Gelu":
        attributes = {"approximate": s.maybe(s.pick(["tanh", "none"]))}
    if op == "Celu" and attributes["alpha"] == 0:
        return None
    dtype = np.float32 if op == "Celu" else s.pick(FLOATS)
    return Call(op, [s.array(s.extents(), dtype, -4, 4)], attributes, opset=NEWER.get(op, 21))


@makes("Abs", "Neg", "Sign", "Relu", "Identity", "IsNaN", "IsInf")
def signs(s, op):
    types = {"Abs": NUMBERS, "Sign": NUMBERS, "Identity": ALL}.get(op, FLOATS if op[:2] == "Is" else FLOATS + SIGNED)
    attributes = {key: s.maybe(s.int(0, 1)) for key in ("detect_negative", "detect_positive")} if op == "IsInf" else {}
    return Call(op, [s.array(s.extents(), s.pick(types), -4, 4)], attributes)


def nonzero(s):
    def make(shape, dtype):
        items = s.array(shape, dtype)
        if np.dtype(dtype).kind in "iu":
            items = np.where(items == 0, np.array(3, dtype), items)
            items = np.where(items == np.array(-1).astype(dtype), np.array(2, dtype), items)
        return np.asarray(items, dtype)
    return make


@makes("Add", "Sub", "Mul", "Div", "Mod", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "PRelu")
def binary(s, op):
    dtype = s.pick({"Equal": ALL, "PRelu": FLOATS}.get(op, NUMBERS))
    a, b = s.together(2, dtype)
    if op in ("Div", "Mod"):
        b = nonzero(s)(b.shape, dtype)
    if op == "PRelu":
        b = s.array([1 if s.chance(0.25) else e for e in a.shape][s.int(0, a.ndim):], dtype)
    attributes = {}
    if op == "Mod":
        attributes["fmod"] = 1 if np.dtype(dtype).kind == "f" else s.maybe(s.int(0, 1))
    return Call(op, [a, b], attributes)


@makes("And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift", "Not", "BitwiseNot")
def bits(s, op):
    dtype = s.pick(UNSIGNED + (SIGNED if op != "BitShift" else [])) if op[:3] == "Bit" else np.bool_
    if op[-3:] == "Not":
        return Call(op, [s.array(s.extents(), dtype)])
    a, b = s.together(2, dtype)
    if op == "BitShift":
        # What a shift by all bits gives is open.
        return Call(op, [a, np.asarray(b % (8 * b.dtype.itemsize), dtype)], {"direction": s.pick(["LEFT", "RIGHT"])})
    return Call(op, [a, b])


@makes("Pow")
def power(s, op):
    one, two = s.pick(FLOATS + [np.int32, np.int64]), s.pick(FLOATS + [np.int32, np.int64])
    a, b = s.together(2, one)
    b = s.array(b.shape, two)
    if a.dtype.kind == "i" or b.dtype.kind == "i":
        b = np.asarray(np.clip(np.nan_to_num(b), 0, 4).round(), two)
    return Call(op, [a, b])


@makes("Max", "Min", "Sum", "Mean")
def variadic(s, op):
    return Call(op, s.together(s.int(1, 3), s.pick(FLOATS if op in ("Sum", "Mean") else NUMBERS)))


@makes("Where")
def where(s, op):
    a, b, c = s.together(3, s.pick(ALL))
    return Call(op, [s.array(c.shape, np.bool_), a, b])


@makes("Clip")
def clip(s, op):
    x = s.array(s.extents(), s.pick(NUMBERS), -4, 4)
    limits = [s.maybe(s.array([], x.dtype)), s.maybe(s.array([], x.dtype))]
    return Call(op, [x, *limits], known=s.pick([[], [1, 2]]))


ONNX_TYPES = {np.float32: 1, np.uint8: 2, np.int8: 3, np.uint16: 4, np.int16: 5, np.int32: 6, np.int64: 7, np.bool_: 9,
              np.float16: 10, np.float64: 11, np.uint32: 12, np.uint64: 13}


@makes("Cast", "CastLike")
def cast(s, op):
    x, to = s.array(s.extents(), s.pick(ALL), -4, 4), s.pick(ALL)
    if x.dtype.kind == "f" and np.dtype(to).kind in "iu":
        # What is out of range is open.
        low = 0 if np.dtype(to).kind == "u" else -100
        x = np.asarray(np.clip(np.nan_to_num(x, posinf=100, neginf=-100), low, 100), x.dtype)
    if op == "CastLike":
        return Call(op, [x, s.array([s.int(0, 2)], to)])
    return Call(op, [x], {"to": ONNX_TYPES[to]})


# ---------------------------------------------------------------- reductions
REDUCED = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()


@makes(*["Reduce" + name for name in REDUCED])
def reduction(s, op):
    types = FLOATS * 2 + [np.int32, np.int64]
    if op in ("ReduceMax", "ReduceMin"):
        types = types + [np.uint8, np.int8, np.bool_]
    if op in ("ReduceMean", "ReduceLogSum", "ReduceLogSumExp", "ReduceL2"):
        types = FLOATS
    x = s.array(s.extents(0, 4, 3, 0.1), s.pick(types))
    attributes = {"keepdims": s.maybe(s.int(0, 1)), "noop_with_empty_axes": s.maybe(s.int(0, 1))}
    axes = np.array(s.some_axes(x.ndim) if x.ndim and s.chance(0.8) else [], np.int64)
    if op in ("ReduceMax", "ReduceMin") and x.size == 0:
        return None
    if x.dtype == np.bool_ and s.flag():
        return Call(op, [x, axes], attributes, known=[1], opset=20)
    if s.chance(0.2):
        old = dict(attributes, axes=axes.tolist() or None)
        del old["noop_with_empty_axes"]
        if op == "ReduceSum" or x.dtype == np.bool_:
            return Call(op, [x, s.maybe(axes)], attributes, known=[1], opset=20 if x.dtype == np.bool_ else 13)
        return Call(op, [x], old, opset=13)
    return Call(op, [x, s.maybe(axes, 0.8)], attributes, known=[1])


@makes("ArgMax", "ArgMin")
def places(s, op):
    x = s.array(s.extents(1, 4, 4, 0), s.pick(FLOATS + [np.int32, np.int64, np.int8, np.uint8]))
    return Call(op, [x], {"axis": s.maybe(s.axis(x.ndim)), "keepdims": s.maybe(s.int(0, 1)),
                          "select_last_index": s.maybe(s.int(0, 1))})


@makes("TopK")
def top(s, op):
    x = s.array(s.extents(1, 3, 5, 0), s.pick(FLOATS + [np.int32, np.int64]))
    axis = s.axis(x.ndim)
    count = np.array([s.int(0 if s.chance(0.1) else 1, x.shape[axis])], np.int64)
    return Call(op, [x, count], {"axis": axis, "largest": s.maybe(s.int(0, 1))}, 2, known=[1])


@makes("CumSum", "CumProd")
def cumulative(s, op):
    x = s.array(s.extents(1, 3, 5), s.pick(FLOATS + [np.int32, np.int64]))
    axis = np.array(s.axis(x.ndim), s.pick([np.int32, np.int64]))
    return Call(op, [x, axis], {"exclusive": s.maybe(s.int(0, 1)), "reverse": s.maybe(s.int(0, 1))}, known=[1],
                opset=NEWER.get(op, 21))


@makes("Softmax", "LogSoftmax", "Hardmax")
def softmax(s, op):
    x = s.array(s.extents(1, 4), s.pick(FLOATS))
    return Call(op, [x], {"axis": s.maybe(s.axis(x.ndim))}, opset=s.pick([21, 21, 11]))


# ---------------------------------------------------------------- arrangement
@makes("Concat")
def concat(s, op):
    dtype, shape = s.pick(ALL), s.extents(1, 4)
    axis = s.axis(len(shape))
    parts = []
    for _ in range(s.int(1, 3)):
        shape[axis] = s.int(0 if s.chance(0.2) else 1, 3)
        parts.append(s.array(shape, dtype))
    return Call(op, parts, {"axis": axis})


@makes("Split")
def split(s, op):
    x = s.array(s.extents(1, 4, 6), s.pick(ALL))
    axis = s.axis(x.ndim)
    count = s.int(1, 3)
    extent = x.shape[axis]
    if s.flag():
        cuts = sorted(s.int(0, extent) for _ in range(count - 1))
        sizes = np.diff([0] + cuts + [extent])
        return Call(op, [x, np.array(sizes, np.int64)], {"axis": axis}, count, known=[1])
    if extent < count or math.ceil(extent / count) * (count - 1) >= extent:
        return None
    return Call(op, [x], {"axis": s.maybe(axis) if axis in (0, -x.ndim) else axis, "num_outputs": count}, count)


@makes("Slice")
def slices(s, op):
    x = s.array(s.extents(1, 4, 6), s.pick(ALL))
    axes = s.some_axes(x.ndim)
    wide = lambda: s.pick([s.int(-8, 8), s.int(-8, 8), 2**63 - 1, -2**63 + 1])
    kind = s.pick([np.int32, np.int64])
    limit = np.iinfo(kind)
    lists = [[wide() for _ in axes], [wide() for _ in axes], axes, [s.pick([1, 1, 2, -1, -2, 3]) for _ in axes]]
    lists = [np.array(np.clip(items, limit.min, limit.max), kind) for items in lists]
    if s.chance(0.2):
        lists = [items[:x.ndim] for items in lists[:2]]
    elif s.chance(0.3):
        lists = lists[:3]
    return Call(op, [x, *lists], known=[1, 2, 3, 4])


@makes("Gather", "GatherElements", "GatherND")
def gather(s, op):
    x = s.array(s.extents(1, 4, 4, 0), s.pick(ALL))
    kind = s.pick([np.int32, np.int64])
    axis = s.axis(x.ndim)
    known = s.pick([[], [1]])
    if op == "Gather":
        return Call(op, [x, s.indices(s.extents(0, 2, 3), x.shape[axis], True, kind)], {"axis": s.maybe(axis) if axis == 0 else axis}, known=known)
    if op == "GatherElements":
        shape = [s.int(1, e) for e in x.shape]
        shape[axis] = s.int(0 if s.chance(0.1) else 1, 5)
        return Call(op, [x, s.indices(shape, x.shape[axis], True, kind)], {"axis": axis}, known=known)
    batch = s.int(0, x.ndim - 1)
    deep = s.int(1, x.ndim - batch)
    shape = list(x.shape[:batch]) + s.extents(0, 2, 3) + [deep]
    index = np.stack([s.indices(shape[:-1], x.shape[batch + at]) for at in range(deep)], -1)
    return Call(op, [x, index], {"batch_dims": batch}, known=known)


@makes("ScatterElements", "ScatterND")
def scatter(s, op):
    x = s.array(s.extents(1, 3, 4, 0), s.pick(FLOATS + [np.int32, np.int64]))
    known = s.pick([[], [1]])
    how = s.pick(["none", "add", "mul", "max", "min"])
    if op == "ScatterElements":
        axis = s.axis(x.ndim)
        shape = [s.int(1, e) for e in x.shape]
        index = np.argsort(s.rng.random(shape), axis) if how == "none" else s.indices(shape, x.shape[axis], False)
        index = index.astype(np.int64)
        if s.flag():
            index = index - x.shape[axis]
        return Call(op, [x, index, s.array(shape, x.dtype)], {"axis": axis, "reduction": s.maybe(how) if how == "none" else how}, known=known, opset=18)
    deep = s.int(1, x.ndim)
    many = s.int(0 if s.chance(0.1) else 1, 3)
    count = int(np.prod(x.shape[:deep]))
    flat = s.rng.permutation(count)[:many] if how == "none" else s.rng.integers(0, count, many)
    index = np.stack(np.unravel_index(flat, x.shape[:deep]), -1).astype(np.int64)
    if s.flag():
        index = index - np.array(x.shape[:deep])
    updates = s.array([len(flat)] + list(x.shape[deep:]), x.dtype)
    return Call(op, [x, index, updates], {"reduction": how}, known=known, opset=18)


@makes("Pad")
def pad(s, op):
    mode = s.pick(["constant", "reflect", "edge", "wrap"])
    x = s.array(s.extents(1, 4, 4, 0.05 if mode == "constant" else 0), s.pick(FLOATS + [np.int32, np.int64, np.uint8, np.bool_]))
    axes = s.some_axes(x.ndim)
    given = s.chance(0.3)
    used = [axis % x.ndim for axis in axes] if given else list(range(x.ndim))
    def amounts(extent):
        high = {"constant": 3, "reflect": extent - 1, "edge": 3, "wrap": extent}[mode]
        low = -1 if s.chance(0.3) and extent > 3 else 0
        return s.int(low, max(high, 0)), s.int(low, max(high, 0))
    pairs = [amounts(x.shape[axis]) for axis in used]
    pads = np.array([pair[0] for pair in pairs] + [pair[1] for pair in pairs], np.int64)
    value = s.maybe(s.array([], x.dtype)) if mode == "constant" else None
    return Call(op, [x, pads, value] + ([np.array(axes, np.int64)] if given else []), {"mode": s.maybe(mode) if mode == "constant" else mode}, known=[1, 2, 3])


@makes("Tile", "Expand", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Shape", "Size")
def arrangement(s, op):
    x = s.array(s.extents(0, 4), s.pick(ALL))
    if op == "Tile":
        repeats = [s.int(0 if s.chance(0.1) else 1, 3) for _ in x.shape]
        return Call(op, [x, np.array(repeats, np.int64)], known=[1])
    if op == "Expand":
        shape = s.extents(0, 2) + list(x.shape)
        shape = [1 if s.chance(0.3) else e for e in shape][0 if s.flag() else s.int(0, len(shape)):]
        if x.ndim and s.chance(0.3):
            x = x[tuple(slice(0, 1) if s.flag() else slice(None) for _ in x.shape)]
        return Call(op, [x, np.array(shape, np.int64)], known=[1])
    if op == "Reshape":
        shape = list(x.shape)
        zero = None
        kind = s.int(0, 3)
        if kind == 0:
            shape = [x.size]
        elif kind == 1 and len(shape) > 1:
            shape = shape[:-2] + [shape[-2] * shape[-1]]
        elif kind == 2:
            shape = [1] + shape
        if shape and s.flag() and x.size:
            shape[s.int(0, len(shape) - 1)] = -1
        elif kind == 3 and s.flag():
            shape = [0 if s.flag() else e for e in shape]
        elif 0 in shape:
            zero = 1
        return Call(op, [x, np.array(shape, np.int64)], {"allowzero": zero}, known=[1])
    if op == "Transpose":
        return Call(op, [x], {"perm": s.maybe(s.rng.permutation(x.ndim).tolist(), 0.8) if x.ndim else None})
    if op == "Squeeze":
        ones = [axis for axis, e in enumerate(x.shape) if e == 1]
        if not ones or s.chance(0.2):
            return Call(op, [x])
        axes = [axis - x.ndim if s.flag() else axis for axis in ones[:s.int(1, len(ones))]]
        return Call(op, [x, np.array(axes, np.int64)], known=[1])
    if op == "Unsqueeze":
        more = s.int(1, 2)
        rank = x.ndim + more
        axes = [axis - rank if s.flag() else axis for axis in s.rng.permutation(rank)[:more].tolist()]
        return Call(op, [x, np.array(axes, np.int64)], known=[1])
    if op == "Flatten":
        return Call(op, [x], {"axis": s.maybe(s.int(-x.ndim, x.ndim)) if x.ndim else s.maybe(0)})
    if op == "Shape":
        return Call(op, [x], {"start": s.maybe(s.int(-5, 5)), "end": s.maybe(s.int(-5, 5))})
    return Call(op, [x])


@makes("DepthToSpace", "SpaceToDepth")
def blocks(s, op):
    block, n, c, h, w = s.int(1, 3), s.int(0 if s.chance(0.1) else 1, 2), s.int(1, 3), s.int(1, 3), s.int(1, 3)
    if op == "SpaceToDepth":
        return Call(op, [s.array([n, c, h * block, w * block], s.pick(FLOATS))], {"blocksize": block})
    return Call(op, [s.array([n, c * block * block, h, w], s.pick(FLOATS))], {"blocksize": block, "mode": s.maybe(s.pick(["DCR", "CRD"]))})


@makes("Trilu", "EyeLike", "OneHot", "Range", "ConstantOfShape", "ReverseSequence", "Compress", "NonZero", "Unique", "CenterCropPad")
def sources(s, op):
    if op == "Trilu":
        return Call(op, [s.array(s.extents(2, 4), s.pick(ALL)), s.maybe(np.array(s.int(-5, 5), np.int64))], {"upper": s.maybe(s.int(0, 1))}, known=[1])
    if op == "EyeLike":
        return Call(op, [s.array(s.extents(2, 2), s.pick(FLOATS + [np.int32, np.int64]))], {"k": s.maybe(s.int(-4, 4)), "dtype": s.maybe(s.pick([1, 7, 11]))})
    if op == "OneHot":
        depth = s.int(1, 4)
        shape = s.extents(0, 3, 3)
        return Call(op, [s.indices(shape, depth + 1), np.array(s.pick([depth, [depth]]), np.int64), s.array([2], s.pick([np.float32, np.int64]))], {"axis": s.maybe(s.axis(len(shape) + 1))}, known=s.pick([[1], [1, 2]]))
    if op == "Range":
        kind = s.pick([np.float32, np.float64, np.int32, np.int64, np.int16])
        step = s.pick([1, 2, -1, -3, 0.5] if np.dtype(kind).kind == "f" else [1, 2, -1, -3])
        return Call(op, [np.array(s.int(-4, 4), kind), np.array(s.int(-4, 6), kind), np.array(step, kind)], known=[0, 1, 2])
    if op == "ConstantOfShape":
        import onnx
        value = s.maybe(onnx.numpy_helper.from_array(s.array([1], s.pick(ALL))))
        return Call(op, [np.array(s.extents(0, 3), np.int64)], {"value": value}, known=[0])
    if op == "ReverseSequence":
        x = s.array(s.extents(2, 4, 4, 0), s.pick(FLOATS))
        batch = s.int(0, 1)
        return Call(op, [x, np.array([s.int(1, x.shape[1 - batch]) for _ in range(x.shape[batch])], np.int64)], {"batch_axis": batch, "time_axis": 1 - batch})
    if op == "Compress":
        x = s.array(s.extents(1, 3), s.pick(ALL))
        axis = s.maybe(s.axis(x.ndim))
        extent = x.size if axis is None else x.shape[axis]
        return Call(op, [x, s.array([s.int(0, extent)], np.bool_)], {"axis": axis}, known=s.pick([[], [1]]))
    if op == "NonZero":
        return Call(op, [s.array(s.extents(0, 3), s.pick([np.float32, np.int32, np.int64, np.bool_, np.uint8]))])
    if op == "Unique":
        x = s.array(s.extents(1, 3, 4, 0), s.pick([np.float32, np.int64, np.int8, np.float64]))
        return Call(op, [x], {"axis": s.maybe(s.axis(x.ndim)), "sorted": s.maybe(s.int(0, 1))}, s.int(1, 4))
    x = s.array(s.extents(1, 3), s.pick([np.float32, np.int64]))
    axes = s.some_axes(x.ndim)
    given = s.flag()
    return Call(op, [x, np.array([s.int(1, 6) for _ in (axes if given else x.shape)], np.int64)], {"axes": axes if given else None}, known=[1])


# ---------------------------------------------------------------- windows
def window(s, extents, transposed=False):
    """Attributes of a window along axes, with at least one place; and its extents."""
    rank = len(extents)
    size = [s.int(1, 3) for _ in extents]
    attributes = {"strides": s.maybe([s.int(1, 3 if transposed else 4) for _ in extents]), "dilations": s.maybe([s.int(1, 2) for _ in extents], 0.3)}
    kind = s.int(0, 3)
    if kind == 0:
        attributes["auto_pad"] = s.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
    elif kind == 1:
        attributes["pads"] = [s.int(0, 2) for _ in range(2 * rank)]
    dilations = attributes["dilations"] or [1] * rank
    pads = attributes.get("pads") or [0] * 2 * rank
    if not transposed and attributes.get("auto_pad", "VALID") == "VALID":
        for at, extent in enumerate(extents):
            if extent + pads[at] + pads[rank + at] < (size[at] - 1) * dilations[at] + 1:
                return None
    return size, attributes


def image(s, most=6):
    """Extents of a batch of images: batch, channels, space."""
    return [s.int(0 if s.chance(0.05) else 1, 2), s.int(1, 3)] + [s.int(1, most) for _ in range(s.pick([1, 2, 2, 2, 3]))]


@makes("Conv", "ConvInteger", "ConvTranspose", "QLinearConv")
def convolution(s, op):
    shape = image(s)
    groups = s.pick([1, 1, 2, 3])
    each, out = s.int(1, 2), s.int(1, 2)
    shape[1] = groups * each
    found = window(s, shape[2:], op == "ConvTranspose")
    if not found:
        return None
    size, attributes = found
    attributes["group"] = s.maybe(groups) if groups == 1 else groups
    attributes["kernel_shape"] = s.maybe(size)
    if op == "ConvTranspose":
        strides, dilations = (attributes[key] or [1] * len(size) for key in ("strides", "dilations"))
        if "pads" in attributes:
            attributes["pads"] = [min(p, 1) for p in attributes["pads"]]
        attributes["output_padding"] = s.maybe([s.int(0, max(st, d) - 1) for st, d in zip(strides, dilations)], 0.3)
        if s.chance(0.25) and "pads" not in attributes:
            attributes["output_shape"] = [(e - 1) * st + (k - 1) * d + 1 + s.int(-1, 1) for e, st, k, d in zip(shape[2:], strides, size, dilations)]
            if min(attributes["output_shape"]) < 1:
                return None
        kind = s.pick(FLOATS[:7])
        x, w = s.array(shape, kind), s.array([groups * each, out] + size, kind)
        return Call(op, [x, w, s.maybe(s.array([groups * out], kind))], attributes, opset=s.pick([21, 11]))
    w = [groups * out, each] + size
    if op == "Conv":
        kind = s.pick(FLOATS[:7])
        return Call(op, [s.array(shape, kind), s.array(w, kind), s.maybe(s.array([groups * out], kind))], attributes)
    if op == "ConvInteger":
        zeros = [s.maybe(np.array(s.int(0, 5), np.uint8)), s.maybe(np.array(s.int(0, 5), np.uint8))]
        return Call(op, [s.array(shape, np.uint8), s.array(w, np.uint8), *zeros], attributes, known=[2, 3])
    point = lambda: np.array(s.int(0, 9), np.uint8)
    scale = lambda: np.array(s.pick([0.25, 0.5, 1.0, 0.3]), np.float32)
    bias = s.maybe(s.integers([groups * out], np.int32) if not s.edge else np.zeros(groups * out, np.int32))
    return Call(op, [s.array(shape, np.uint8), scale(), point(), s.array(w, np.uint8), scale(), point(), scale(), point(), bias], attributes, known=[1, 2, 4, 5, 6, 7])


@makes("MaxPool", "AveragePool", "LpPool")
def pool(s, op):
    shape = image(s)
    found = window(s, shape[2:])
    if not found:
        return None
    size, attributes = found
    attributes["kernel_shape"] = size
    attributes["ceil_mode"] = s.maybe(s.int(0, 1))
    if "pads" in attributes:
        if s.flag():
            attributes["pads"] = [min(p, size[at % len(size)] - 1) for at, p in enumerate(attributes["pads"])]
        dilations = attributes["dilations"] or [1] * len(size)
        if any(e + attributes["pads"][i] + attributes["pads"][i + len(size)] < (k - 1) * d + 1 for i, (e, k, d) in enumerate(zip(shape[2:], size, dilations))):
            return None
    if op == "AveragePool":
        attributes["count_include_pad"] = s.maybe(s.int(0, 1))
    if op == "LpPool":
        attributes["p"] = s.maybe(s.int(1, 3))
    results = 1
    kind = s.pick(FLOATS[:7])
    if op == "MaxPool":
        results = s.pick([1, 1, 2])
        kind = s.pick(FLOATS[:7] + [np.int8, np.uint8])
        attributes["storage_order"] = s.maybe(s.int(0, 1)) if results == 2 else None
    return Call(op, [s.array(shape, kind)], attributes, results, opset=s.pick([21, 22] if op != "LpPool" else [18]))


@makes("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "LRN")
def over_space(s, op):
    attributes = {"p": s.maybe(s.int(1, 3))} if op == "GlobalLpPool" else {}
    if op == "LRN":
        attributes = {"size": s.int(1, 5), "alpha": s.maybe(0.5), "beta": s.maybe(0.5), "bias": s.maybe(2.0)}
    return Call(op, [s.array(image(s), s.pick(FLOATS[:7]))], attributes)


@makes("MaxUnpool", "MaxRoiPool", "RoiAlign", "GridSample", "AffineGrid", "Col2Im", "DeformConv")
def spatial(s, op):
    n, c, h, w = s.int(1, 2), s.int(1, 2), s.int(2, 5), s.int(2, 5)
    x = s.array([n, c, h, w])
    if op == "MaxUnpool":
        index = np.stack([np.stack([s.rng.permutation(h * w * 4)[:h * w].reshape(h, w) + (i * c + j) * h * w * 4 for j in range(c)]) for i in range(n)])
        return Call(op, [x, index.astype(np.int64)], {"kernel_shape": [2, 2], "strides": [2, 2]})
    if op == "MaxRoiPool":
        rois = [[s.int(0, n - 1), a := s.int(0, w - 1), b := s.int(0, h - 1), s.int(a, w - 1), s.int(b, h - 1)] for _ in range(s.int(1, 3))]
        return Call(op, [x, np.array(rois, np.float32)], {"pooled_shape": [s.int(1, 3), s.int(1, 3)], "spatial_scale": s.maybe(s.pick([1.0, 0.5]))})
    if op == "RoiAlign":
        rois = [[a := s.int(0, 2 * w) / 4, b := s.int(0, 2 * h) / 4, a + s.int(0, 12) / 4, b + s.int(0, 12) / 4] for _ in range(s.int(0 if s.chance(0.1) else 1, 3))]
        rois = np.array(rois, np.float32).reshape(-1, 4)
        return Call(op, [x, rois, s.indices([len(rois)], n, False)], {"output_height": s.maybe(s.int(1, 3)), "output_width": s.maybe(s.int(1, 3)), "sampling_ratio": s.maybe(s.int(0, 3)), "mode": s.maybe(s.pick(["avg", "max"])), "spatial_scale": s.maybe(s.pick([0.5, 1.0, 2.0])), "coordinate_transformation_mode": s.maybe(s.pick(["half_pixel", "output_half_pixel"]))})
    if op == "GridSample":
        grid = (s.rng.integers(-12, 13, [n, s.int(1, 3), s.int(1, 3), 2]) / 8).astype(np.float32)
        mode = s.pick(["linear", "nearest", "cubic"])
        return Call(op, [x, grid], {"mode": s.maybe(mode) if mode == "linear" else mode, "padding_mode": s.maybe(s.pick(["zeros", "border", "reflection"])), "align_corners": s.maybe(s.int(0, 1))}, opset=20)
    if op == "AffineGrid":
        flat = s.flag()
        theta = s.array([n, 2, 3] if flat else [n, 3, 4])
        return Call(op, [theta, np.array([n, c, h, w] if flat else [n, c, h, w, 2], np.int64)], {"align_corners": s.maybe(s.int(0, 1))}, known=[1])
    size = [s.int(1, 2), s.int(1, 2)]
    if op == "Col2Im":
        return Call(op, [s.array([n, c * size[0] * size[1], (h - size[0] + 1) * (w - size[1] + 1)]), np.array([h, w], np.int64), np.array(size, np.int64)], known=[1, 2])
    out = s.int(1, 2)
    offset = s.array([n, 2 * size[0] * size[1], h - size[0] + 1, w - size[1] + 1])
    return Call(op, [x, s.array([out, c] + size), offset, s.maybe(s.array([out]))], {"kernel_shape": size})


@makes("Resize")
def resize(s, op):
    x = s.array([1, s.int(1, 2)] + [s.int(1, 5) for _ in range(s.pick([1, 2, 2, 2]))], s.pick([np.float32] * 4 + [np.float64, np.uint8]))
    mode = s.pick(["nearest", "linear", "cubic"])
    if mode == "cubic":
        x = s.array([1, 1, s.int(2, 5), s.int(2, 5)])
    where = s.pick(["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"])
    attributes = {"mode": s.maybe(mode) if mode == "nearest" else mode, "coordinate_transformation_mode": s.maybe(where) if where == "half_pixel" else where}
    if mode == "nearest":
        attributes["nearest_mode"] = s.maybe(s.pick(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]))
    if mode == "cubic":
        attributes.update(cubic_coeff_a=s.maybe(-0.5), exclude_outside=s.maybe(s.int(0, 1)))
    if where == "tf_crop_and_resize":
        attributes["extrapolation_value"] = s.maybe(9.0)
    elif mode != "nearest" and s.chance(0.3) and x.dtype == np.float32:
        attributes["antialias"] = 1
    roi = None
    if where == "tf_crop_and_resize":
        begin = [0.0, 0.0] + [s.pick([0.0, 0.25, -0.25]) for _ in x.shape[2:]]
        roi = np.array(begin + [1.0, 1.0] + [s.pick([1.0, 0.75, 1.25]) for _ in x.shape[2:]], np.float32)
    if s.flag():
        scales = [1.0, 1.0] + [s.pick([1.0, 2.0, 0.5, 1.5, 0.6, 2.5, 3.0]) for _ in x.shape[2:]]
        if any(int(e * f) < 1 for e, f in zip(x.shape, scales)):
            return None
        return Call(op, [x, roi, np.array(scales, np.float32)], attributes, known=[1, 2], opset=19)
    sizes = list(x.shape[:2]) + [s.int(1, 7) for _ in x.shape[2:]]
    return Call(op, [x, roi, None, np.array(sizes, np.int64)], attributes, known=[1, 3], opset=19)


# ---------------------------------------------------------------- products
@makes("MatMul", "MatMulInteger", "QLinearMatMul")
def products(s, op):
    m, k, n = s.int(1, 4), s.int(0 if s.chance(0.08) and op == "MatMul" else 1, 4), s.int(1, 4)
    batch = s.extents(0, 2, 3)
    part = lambda: [1 if s.chance(0.3) else e for e in batch][s.int(0, len(batch)):]
    a, b = part() + [m, k], part() + [k, n]
    if op == "MatMul":
        if s.chance(0.2):
            a = [k]
        if s.chance(0.2):
            b = [k]
        kind = s.pick(FLOATS[:7] + [np.int32, np.int64])
        return Call(op, [s.array(a, kind), s.array(b, kind)])
    one, two = s.pick([np.uint8, np.int8]), s.pick([np.uint8, np.int8])
    point = lambda kind: np.array(s.int(0, 5), kind)
    if op == "MatMulInteger":
        return Call(op, [s.array(a, one), s.array(b, two), s.maybe(point(one)), s.maybe(point(two))], known=[2, 3])
    scale = lambda: np.array(s.pick([0.25, 0.5, 1.0, 0.3]), np.float32)
    return Call(op, [s.array(a, one), scale(), point(one), s.array(b, two), scale(), point(two), scale(), point(one)], known=[1, 2, 4, 5, 6, 7])


@makes("Gemm")
def gemm(s, op):
    m, k, n = s.int(1, 4), s.int(0 if s.chance(0.08) else 1, 4), s.int(1, 4)
    kind = s.pick(FLOATS[:7])
    ta, tb = s.int(0, 1), s.int(0, 1)
    c = s.maybe(s.array(s.pick([[], [1], [n], [1, n], [m, 1], [m, n], [1, 1]]), kind))
    return Call(op, [s.array([k, m] if ta else [m, k], kind), s.array([n, k] if tb else [k, n], kind), c], {"transA": s.maybe(ta) if not ta else ta, "transB": s.maybe(tb) if not tb else tb, "alpha": s.maybe(0.5), "beta": s.maybe(s.pick([0.25, 0.0]))})


EQUATIONS = ["ij,jk->ik", "ij,jk", "ii->i", "ii", "i,i", "i,j->ij", "bij,bjk->bik", "...ij,...jk->...ik", "...i->...", "ij->ji",
             "ijk->", "i j , j k -> i k", "ij,kj,kl->il", "bii->bi", "...ij,j->...i", "ij,ij->ij", "i...,i...->...", "ij...->ji..."]


def random_equation(s):
    """An equation of one to three terms: letters that are repeated or absent, ellipses, blanks, with or without a result."""
    terms = [[s.pick("ijk") for _ in range(s.int(0, 3))] for _ in range(s.int(1, 3))]
    for term in terms:
        if s.chance(0.3):
            term.insert(s.int(0, len(term)), "...")
    letters = sorted({part for term in terms for part in term} - {"..."})
    equation = ",".join("".join(term) for term in terms)
    if s.chance(0.7):
        result = [letter for letter in s.rng.permutation(letters) if s.flag()] if letters else []
        if any("..." in term for term in terms) and s.chance(0.8):
            result.insert(s.int(0, len(result)), "...")
        equation += "->" + "".join(result)
    if s.chance(0.2):
        equation = "".join(part + s.pick(["", " "]) if part not in ".->" else part for part in equation)
    return equation


@makes("Einsum")
def einsum(s, op):
    equation = s.pick(EQUATIONS) if s.flag() else random_equation(s)
    extent = {letter: s.int(0 if s.chance(0.03) else 1, 3) for letter in "bijkl"}
    more = s.extents(0, 2, 3, 0)
    operands = []
    for term in equation.replace(" ", "").split("->")[0].split(","):
        shape = []
        for part in term.replace("...", "."):
            shape += [1 if s.chance(0.2) else e for e in more] if part == "." else [extent[part]]
        operands.append(s.array(shape, s.pick([np.float32])))
    return Call(op, operands, {"equation": equation})


@makes("Det")
def det(s, op):
    n = s.int(1, 3)
    return Call(op, [s.array(s.extents(0, 2, 3) + [n, n])])


# ---------------------------------------------------------------- normalization
@makes("BatchNormalization", "InstanceNormalization", "GroupNormalization", "LpNormalization", "MeanVarianceNormalization", "LayerNormalization", "RMSNormalization")
def normalization(s, op):
    shape = image(s, 4)
    kind = s.pick(FLOATS[:7])
    c = shape[1]
    epsilon = s.maybe(s.pick([1e-3, 0.1]))
    if op == "BatchNormalization":
        return Call(op, [s.array(shape, kind), s.array([c], kind), s.array([c], kind), s.array([c], kind), np.abs(s.array([c], kind))], {"epsilon": epsilon}, opset=15)
    if op == "InstanceNormalization":
        return Call(op, [s.array(shape), s.array([c]), s.array([c])], {"epsilon": epsilon})
    if op == "GroupNormalization":
        groups = s.int(1, 2)
        shape[1] *= groups
        return Call(op, [s.array(shape), s.array([shape[1]]), s.array([shape[1]])], {"num_groups": groups, "epsilon": epsilon})
    if op == "LpNormalization":
        return Call(op, [s.array(shape, kind)], {"axis": s.maybe(s.axis(len(shape))), "p": s.maybe(s.int(1, 2))})
    if op == "MeanVarianceNormalization":
        return Call(op, [s.array([2, c, s.int(1, 3), s.int(1, 3)])], {"axes": s.maybe([0, 1, 2, 3] if s.flag() else [0, 2, 3])})
    axis = s.int(-len(shape), len(shape) - 1)
    tail = shape[axis:] if axis < 0 else shape[axis:]
    attributes = {"axis": s.maybe(axis) if axis == -1 else axis, "epsilon": epsilon}
    if op == "RMSNormalization":
        return Call(op, [s.array(shape), s.array(tail)], attributes, opset=23)
    return Call(op, [s.array(shape), s.array(tail), s.maybe(s.array(tail))], attributes, s.pick([1, 1, 3]), opset=17)


# ---------------------------------------------------------------- quantization
@makes("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear")
def quantization(s, op):
    shape = s.extents(1, 3)
    if op == "DynamicQuantizeLinear":
        return Call(op, [s.array(shape)], results=3) if 0 not in shape else None
    kind = s.pick([np.uint8, np.int8, np.uint16, np.int16])
    axis = s.axis(len(shape))
    per = [shape[axis]] if s.flag() else []
    attributes = {"axis": axis} if per else {}
    scale = np.asarray(s.rng.choice([0.25, 0.5, 1.0, 0.3, 0.01], per), np.float32)
    point = s.maybe(s.array(per, kind))
    if op == "DequantizeLinear":
        if s.chance(0.2):
            return Call(op, [s.array(shape, np.int32), scale], attributes, known=[1])
        return Call(op, [s.array(shape, kind), scale, point], attributes, known=[1, 2])
    return Call(op, [s.array(shape, np.float32, -4, 4), scale, point], attributes, known=[1, 2])


# ---------------------------------------------------------------- others
@makes("NonMaxSuppression")
def suppression(s, op):
    n, c, boxes = s.int(1, 2), s.int(1, 2), s.int(1, 4)
    corner = s.rng.integers(0, 8, [n, boxes, 4]) / 4
    scores = s.rng.integers(0, 8, [n, c, boxes]) / 8
    return Call(op, [corner.astype(np.float32), scores.astype(np.float32), s.maybe(np.array([s.int(0, 3)], np.int64), 0.9), s.maybe(np.array([s.int(0, 4) / 4], np.float32)), s.maybe(np.array([0.25], np.float32))], {"center_point_box": s.maybe(s.int(0, 1))}, known=[2, 3, 4])


@makes("RNN", "GRU", "LSTM")
def recurrent(s, op):
    length, batch, width, hidden = s.int(1, 3), s.int(1, 2), s.int(1, 3), s.int(1, 3)
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    direction = s.pick(["forward", "reverse", "bidirectional"])
    count = 2 if direction == "bidirectional" else 1
    operands = [s.array([length, batch, width]), s.array([count, gates * hidden, width]), s.array([count, gates * hidden, hidden]),
                s.maybe(s.array([count, 2 * gates * hidden])), s.maybe(np.array([s.int(1, length) for _ in range(batch)], np.int32), 0.3),
                s.maybe(s.array([count, batch, hidden]))]
    attributes = {"hidden_size": hidden, "direction": s.maybe(direction) if count == 1 and direction == "forward" else direction,
                  "clip": s.maybe(1.5, 0.2)}
    if op == "GRU":
        attributes["linear_before_reset"] = s.maybe(s.int(0, 1))
    if op == "LSTM":
        operands += [s.maybe(s.array([count, batch, hidden])), s.maybe(s.array([count, 3 * hidden]))]
    return Call(op, operands, attributes, 3 if op == "LSTM" else 2)


@makes("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss")
def loss(s, op):
    n, c = s.int(1, 3), s.int(1, 3)
    more = s.extents(0, 2, 3, 0)
    attributes = {"reduction": s.maybe(s.pick(["none", "mean", "sum"])), "ignore_index": s.maybe(s.int(0, c - 1))}
    return Call(op, [s.array([n, c] + more), s.indices([n] + more, c, False), s.maybe(np.abs(s.array([c])))], attributes)


@makes("HannWindow", "HammingWindow", "BlackmanWindow", "DFT")
def signal(s, op):
    if op == "DFT":
        x = s.array([s.int(1, 2), s.int(1, 5), s.pick([1, 2])])
        return Call(op, [x, s.maybe(np.array(s.int(1, 6), np.int64)), np.array(s.pick([1, -2]), np.int64)], {"inverse": s.maybe(s.int(0, 1)) if x.shape[-1] == 2 else None}, known=[1, 2], opset=20)
    return Call(op, [np.array(s.int(1, 8), np.int64)], {"periodic": s.maybe(s.int(0, 1))}, known=[0])


# ---------------------------------------------------------------- attention and caches
@makes("Attention")
def attention(s, op):
    batch, length, keys, width, values = (s.int(1, n) for n in (2, 3, 3, 3, 3))
    heads = s.int(1, 2)
    groups = heads * s.int(1, 2)
    mask = None
    if s.flag():
        shape = [1 if s.chance(0.3) else e for e in (batch, groups, length)] + [keys]
        mask = s.array(shape[s.int(0, 2):], s.pick([np.float32, np.bool_]))
        if mask.dtype == np.bool_:
            # What a row without keys gives is open.
            mask[..., 0] = True
    attributes = {"is_causal": s.maybe(s.int(0, 1)) if length == keys else None, "scale": s.maybe(0.5), "softcap": s.maybe(2.0, 0.2)}
    return Call(op, [s.array([batch, groups, length, width]), s.array([batch, heads, keys, width]), s.array([batch, heads, keys, values]), mask],
                attributes, opset=23)


@makes("RotaryEmbedding")
def rotary(s, op):
    batch, heads, length, half, most = s.int(1, 2), s.int(1, 2), s.int(1, 3), s.int(1, 3), s.int(1, 4)
    rotated = s.int(1, half)
    flat = s.chance(0.3)
    attributes = {"interleaved": s.maybe(s.int(0, 1)), "rotary_embedding_dim": 2 * rotated if rotated < half else None}
    if flat or rotated < half:
        attributes["num_heads"] = heads
    table = lambda: s.array([most, rotated])
    shape = [batch, length, heads * 2 * half] if flat else [batch, heads, length, 2 * half]
    return Call(op, [s.array(shape), table(), table(), s.indices([batch, length], most, False)], attributes, opset=23)


@makes("TensorScatter")
def cache(s, op):
    shape = s.extents(3, 4, 4, 0)
    axis = s.int(1, len(shape) - 1)
    update = list(shape)
    update[axis] = s.int(1, shape[axis])
    mode = s.pick(["linear", "circular"])
    last = shape[axis] - 1 if mode == "circular" else shape[axis] - update[axis]
    starts = np.array([s.int(0, last) for _ in range(shape[0])], np.int64)
    kind = s.pick([np.float32, np.int64])
    return Call(op, [s.array(shape, kind), s.array(update, kind), s.maybe(starts) if mode == "linear" else starts],
                {"axis": axis - len(shape) if s.flag() else axis, "mode": s.maybe(mode) if mode == "linear" else mode}, opset=24)


@makes("SwiGLU")
def gated(s, op):
    x = s.array(s.extents(), s.pick(FLOATS[:7]))
    return Call(op, [x, s.array(x.shape, x.dtype)], {"alpha": s.maybe(0.5)}, opset=28)


# ---------------------------------------------------------------- older and rarer operators
@makes("Dropout", "Upsample", "Scatter", "STFT", "MelWeightMatrix", "BitCast")
def rare(s, op):
    if op == "Dropout":
        x = s.array(s.extents(), s.pick(FLOATS))
        return Call(op, [x, s.maybe(np.array(0.5, np.float32))], results=s.int(1, 2), known=[1], opset=13)
    if op == "Upsample":
        x = s.array([1, s.int(1, 2), s.int(1, 4), s.int(1, 4)])
        factors = np.array([1, 1, s.pick([1.0, 2.0, 3.0]), s.pick([1.0, 2.0, 3.0])], np.float32)
        return Call(op, [x, factors], {"mode": s.maybe(s.pick(["nearest", "linear"]))}, known=[1], opset=9)
    if op == "Scatter":
        x = s.array(s.extents(1, 3, 4, 0), s.pick(FLOATS + [np.int32, np.int64]))
        axis = s.axis(x.ndim)
        shape = [s.int(1, e) for e in x.shape]
        index = np.argsort(s.rng.random(shape), axis).astype(np.int64)
        return Call(op, [x, index, s.array(shape, x.dtype)], {"axis": s.maybe(axis) if axis == 0 else axis}, known=s.pick([[], [1]]), opset=10)
    if op == "STFT":
        length, frame = s.int(4, 8), s.int(2, 4)
        window = s.maybe(s.array([frame]))
        return Call(op, [s.array([s.int(1, 2), length, 1]), np.array(s.int(1, 3), np.int64), window, np.array(frame, np.int64)],
                    {"onesided": s.maybe(s.int(0, 1))}, known=[1, 3], opset=17)
    if op == "MelWeightMatrix":
        low = s.pick([0.0, 20.0])
        scalars = [np.array(s.int(1, 5), np.int64), np.array(s.pick([8, 16]), np.int64), np.array(s.pick([8000, 16000]), np.int64),
                   np.array(low, np.float32), np.array(s.pick([2000.0, 4000.0]), np.float32)]
        return Call(op, scalars, {"output_datatype": s.maybe(s.pick([1, 11]))}, known=range(5), opset=17)
    of = {np.float32: [np.int32, np.uint32], np.int64: [np.float64, np.uint64], np.uint8: [np.int8]}
    one = s.pick(list(of))
    return Call(op, [s.array(s.extents(), one)], {"to": ONNX_TYPES[s.pick(of[one])]}, opset=26)


# ---------------------------------------------------------------- machine learning and training
ML = "ai.onnx.ml"
TRAINING = "ai.onnx.preview.training"


@makes("Binarizer", "Scaler", "Normalizer", "Imputer", "ArrayFeatureExtractor", "LabelEncoder", "OneHotEncoder", "FeatureVectorizer")
def features(s, op):
    x = s.array([s.int(1, 3), s.int(1, 4)])
    columns = x.shape[1]
    floats = lambda count: [s.int(-8, 8) / 4 for _ in range(count)]
    if op == "Binarizer":
        return Call(op, [x], {"threshold": s.maybe(0.25)}, domain=ML)
    if op == "Scaler":
        return Call(op, [x], {"offset": floats(s.pick([1, columns])), "scale": floats(s.pick([1, columns]))}, domain=ML)
    if op == "Normalizer":
        return Call(op, [x], {"norm": s.maybe(s.pick(["MAX", "L1", "L2"]))}, domain=ML)
    if op == "Imputer":
        return Call(op, [x], {"imputed_value_floats": floats(s.pick([1, columns])), "replaced_value_float": s.pick([math.nan, 0.5])}, domain=ML)
    if op == "ArrayFeatureExtractor":
        return Call(op, [x, s.indices([s.int(1, 3)], columns, False)], known=s.pick([[], [1]]), domain=ML)
    if op == "LabelEncoder":
        items = s.integers(s.extents(1, 2), np.int64, 0, 4)
        return Call(op, [items], {"keys_int64s": [0, 1, 3], "values_floats": floats(3), "default_float": s.maybe(-1.5)}, domain=ML)
    if op == "OneHotEncoder":
        return Call(op, [s.rng.integers(0, 4, s.extents(1, 2, 3, 0))], {"cats_int64s": [0, 1, 2], "zeros": s.maybe(1)}, domain=ML)
    y = s.array([x.shape[0], s.int(1, 3)])
    return Call(op, [x, y], {"inputdimensions": [columns, y.shape[1]]}, domain=ML)


@makes("LinearRegressor", "LinearClassifier", "TreeEnsembleRegressor")
def models(s, op):
    s.edge = False
    rows, columns, targets = s.int(1, 3), s.int(1, 3), s.int(1, 3)
    x = s.array([rows, columns])
    transform = s.maybe(s.pick(["NONE", "LOGISTIC", "SOFTMAX"]))
    numbers = lambda count: (s.rng.integers(-8, 9, count) / 4).tolist()
    if op == "LinearRegressor":
        return Call(op, [x], {"coefficients": numbers(columns * targets), "intercepts": s.maybe(numbers(targets)), "targets": targets}, domain=ML)
    if op == "LinearClassifier":
        targets += 1
        return Call(op, [x], {"coefficients": numbers(columns * targets), "intercepts": numbers(targets), "classlabels_ints": list(range(targets)),
                              "post_transform": transform}, 2, domain=ML)
    trees = s.int(1, 3)
    mode = s.pick(["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"])
    # Each tree has a root with two leaves.
    nodes = {"nodes_treeids": [tree for tree in range(trees) for _ in range(3)], "nodes_nodeids": [0, 1, 2] * trees,
             "nodes_modes": [mode, "LEAF", "LEAF"] * trees, "nodes_truenodeids": [1, 0, 0] * trees, "nodes_falsenodeids": [2, 0, 0] * trees,
             "nodes_featureids": [part for _ in range(trees) for part in (s.int(0, columns - 1), 0, 0)],
             "nodes_values": [part for _ in range(trees) for part in (s.int(-4, 4) / 4, 0.0, 0.0)]}
    leaves = {"target_treeids": [tree for tree in range(trees) for _ in range(2)], "target_nodeids": [1, 2] * trees,
              "target_ids": [s.int(0, targets - 1) for _ in range(2 * trees)], "target_weights": numbers(2 * trees)}
    return Call(op, [x], {**nodes, **leaves, "n_targets": targets, "aggregate_function": s.maybe(s.pick(["SUM", "AVERAGE", "MIN", "MAX"]))}, domain=ML)


@makes("Adagrad", "Adam", "Momentum")
def optimizer(s, op):
    shape = s.extents(0, 2, 3, 0)
    count = {"Adagrad": 3, "Adam": 4, "Momentum": 3}[op]
    attributes = {"Adagrad": {"decay_factor": s.maybe(0.5), "epsilon": s.maybe(0.25), "norm_coefficient": s.maybe(0.5)},
                  "Adam": {"alpha": s.maybe(0.5), "beta": s.maybe(0.75), "epsilon": s.maybe(0.25), "norm_coefficient": s.maybe(0.5)},
                  "Momentum": {"alpha": 0.5, "beta": 0.75, "mode": s.pick(["standard", "nesterov"]), "norm_coefficient": 0.5}}[op]
    tensors = [s.array(shape) for _ in range(count)]
    # Sums of squares are not negative.
    tensors[2:] = [np.abs(tensor) for tensor in tensors[2:]]
    return Call(op, [np.array(0.5, np.float32), np.array(s.int(0, 3), np.int64), *tensors], attributes, count - 1, domain=TRAINING)


def calls(seed, count, only=None):
    """As many random calls: every operator in turn, ordinary items and those at the edges of types."""
    names = [name for name in MAKERS if not only or name in only]
    made, turn = [], 0
    while len(made) < count:
        name = names[turn % len(names)]
        s = Draw([seed, turn, sum(name.encode())])
        s.edge = s.chance(0.35)
        turn += 1
        call = MAKERS[name](s, name)
        if call is not None:
            made.append(call)
    return made
