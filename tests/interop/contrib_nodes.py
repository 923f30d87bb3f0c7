"""Random nodes of the operators of onnxruntime, for contrib_operators.py."""
import random

import numpy as np

MICROSOFT = "com.microsoft"
VERSIONS = [12, 13, 17, 18, 21]
GENERATORS = {}


class Node:
    """A random node: its operands by position (None is left out), its attributes, and what is a constant of the model."""

    def __init__(self, name, source, version):
        self.name, self.source, self.version = name, source, version
        self.domain, self.operands, self.attributes = MICROSOFT, [], {}
        self.outputs, self.constant, self.step, self.tolerance = 1, set(), False, 1e-5
        self.wanted = None

    def chance(self, share=0.5):
        return self.source.random() < share

    def size(self, low=1, high=5):
        return self.source.randint(low, high)

    def shape(self, low=1, high=4):
        return [self.size() for _ in range(self.source.randint(low, high))]

    def floats(self, *shape, low=-2.0, high=2.0, dtype=np.float32):
        numbers = np.random.default_rng(self.source.randrange(1 << 30)).uniform(low, high, shape)
        return numbers.astype(dtype)

    def ints(self, *shape, low=0, high=9, dtype=np.int32):
        numbers = np.random.default_rng(self.source.randrange(1 << 30)).integers(low, high + 1, shape)
        return numbers.astype(dtype)

    def codes(self, *shape, dtype=np.uint8):
        """Of signed ones half of the range: on processors without dot products of bytes, onnxruntime adds two products of a byte
        with a signed one in 16 bits, and what does not fit there is cut off."""
        info = np.iinfo(dtype)
        low, high = (-64, 63) if dtype == np.int8 else (info.min, info.max)
        return self.ints(*shape, low=low, high=high, dtype=dtype)

    def give(self, *operands):
        self.operands += operands
        return len(self.operands) - 1

    def keep(self, *positions):
        """Operands that are constants of the model."""
        self.constant |= set(positions)

    def set(self, **attributes):
        self.attributes.update({key: value for key, value in attributes.items() if value is not None})

    def maybe(self, value, share=0.5):
        return value if self.chance(share) else None

    def scale(self):
        return np.float32(self.source.uniform(0.01, 0.1))

    def quantized(self, *shape, dtype=np.uint8):
        """Codes, a scale, and a zero point. onnxruntime does not take codes without one."""
        return self.codes(*shape, dtype=dtype), self.scale(), self.zero(dtype)

    def zero(self, dtype):
        return np.array(self.ints(low=100, high=150)) .astype(dtype) if dtype == np.uint8 else \
            np.array(self.ints(low=-20, high=20)).astype(dtype)


def operator(name=None, **others):
    def add(function):
        GENERATORS[name or function.__name__] = (function, others)
        return function
    return add


# ---- Activations and products.

def activation(node):
    shape = node.shape()
    node.give(node.floats(*shape))
    return shape


@operator("Gelu")
def gelu(node):
    activation(node)


@operator("QuickGelu")
def quick_gelu(node):
    activation(node)
    node.set(alpha=node.maybe(node.source.uniform(0.5, 2.0)))


@operator("BiasGelu")
def bias_gelu(node):
    shape = node.shape(2, 3)
    node.give(node.floats(*shape), node.floats(shape[-1]))


@operator("FastGelu")
def fast_gelu(node):
    shape = node.shape(2, 3)
    node.give(node.floats(*shape), node.maybe(node.floats(shape[-1])))


def product(node, batches=True):
    rank = node.source.randint(2, 4)
    batch = [node.size() for _ in range(rank - 2)]
    m, k, n = node.size(), node.size(), node.size()
    turn_a, turn_b = node.chance(), node.chance()
    a, b = batch + ([k, m] if turn_a else [m, k]), batch + ([n, k] if turn_b else [k, n])
    batch_a, batch_b = (batches and rank > 2 and node.chance(0.3) for _ in range(2))
    # The first axis of such an operand stands behind those of batches when it is multiplied.
    for is_moved, shape in ((batch_a, a), (batch_b, b)):
        if is_moved:
            shape[:-1] = [shape[-2], *shape[:-2]]
    node.give(node.floats(*a), node.floats(*b))
    node.set(transA=int(turn_a) or None, transB=int(turn_b) or None, alpha=node.maybe(node.source.uniform(0.2, 2.0)))
    if batches:
        node.set(transBatchA=int(batch_a) or None, transBatchB=int(batch_b) or None)


@operator("FusedMatMul")
def fused_mat_mul(node):
    product(node)


@operator("TransposeMatMul")
def transpose_mat_mul(node):
    product(node, batches=False)


ACTIVATIONS = [("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.3]), ("Clip", [-0.5, 0.8]),
               ("HardSigmoid", [0.3, 0.4])]


@operator("FusedConv")
def fused_conv(node):
    n, groups, c, m, k = node.size(1, 2), node.size(1, 2), node.size(1, 3), node.size(1, 3), node.size(1, 3)
    h, w = node.size(4, 7), node.size(4, 7)
    name, parameters = node.source.choice(ACTIVATIONS)
    strides, pads = [node.size(1, 2)] * 2, [node.size(0, 1)] * 4
    spread = [(extent + 2 * pad - k) // stride + 1 for extent, pad, stride in zip((h, w), pads, strides)]
    node.give(node.floats(n, c * groups, h, w), node.floats(m * groups, c, k, k), node.maybe(node.floats(m * groups)))
    if node.chance(0.4):
        node.give(node.floats(n, m * groups, *spread))
    node.set(activation=name, activation_params=parameters or None, group=groups, strides=strides, pads=pads,
             kernel_shape=node.maybe([k, k]))


@operator("FusedGemm")
def fused_gemm(node):
    m, k, n, turn_a, turn_b = node.size(), node.size(), node.size(), node.chance(), node.chance()
    name, parameters = node.source.choice([("Relu", []), ("LeakyRelu", [0.3]), ("Tanh", []), ("Sigmoid", []), ("Elu", [0.5])])
    node.give(node.floats(*((k, m) if turn_a else (m, k))), node.floats(*((n, k) if turn_b else (k, n))))
    if node.chance():
        node.give(node.floats(*node.source.choice([(n,), (m, n), (1, n), (m, 1)])))
        node.set(beta=node.maybe(0.5))
    node.set(activation=name, transA=int(turn_a), transB=int(turn_b), alpha=node.maybe(1.5),
             activation_alpha=parameters[0] if parameters else None)


@operator("CDist")
def distances(node):
    k = node.size()
    node.give(node.floats(node.size(), k), node.floats(node.size(), k))
    node.set(metric=node.source.choice(["euclidean", "sqeuclidean"]))
    node.tolerance = 1e-4


# ---- Normalizations.

@operator("SimplifiedLayerNormalization")
def simplified(node):
    node.domain = ""
    shape = node.shape(2, 3)
    axis = node.source.choice([-1, len(shape) - 1])
    node.give(node.floats(*shape), node.floats(shape[-1]))
    node.set(axis=axis, epsilon=node.maybe(1e-3), stash_type=1)
    node.outputs = node.source.choice([1, 2])


@operator("LayerNormalization")
def layer(node):
    node.domain = ""
    shape = node.shape(2, 3)
    axis = node.source.choice([-1, 1])
    node.give(node.floats(*shape), node.floats(*shape[axis:]), node.maybe(node.floats(*shape[axis:])))
    node.set(axis=axis, epsilon=node.maybe(1e-3))
    node.outputs = node.source.choice([1, 3])


def skipped(node, simplified):
    shape = [node.size(), node.size(), node.size(2, 6)]
    node.give(node.floats(*shape), node.floats(*node.source.choice([shape, shape, [1, *shape[1:]], shape[1:]])))
    node.give(node.floats(shape[-1]))
    if not simplified:
        node.give(node.maybe(node.floats(shape[-1])))
    node.give(node.maybe(node.floats(shape[-1])))
    node.set(epsilon=node.source.choice([1e-5, 1e-3]))
    node.outputs = node.source.choice([1, 4])
    node.wanted = [0, 3] if node.outputs == 4 else [0]


@operator("SkipLayerNormalization")
def skip(node):
    skipped(node, False)


@operator("SkipSimplifiedLayerNormalization")
def skip_simplified(node):
    skipped(node, True)


@operator("EmbedLayerNormalization")
def embedding(node):
    n, s, h = node.size(), node.size(1, 4), node.size(2, 6)
    segments, mask = node.chance(), node.chance()
    node.give(node.ints(n, s, high=6), node.ints(n, s, high=1) if segments else None, node.floats(7, h), node.floats(5, h),
              node.floats(2, h) if segments else None, node.floats(h), node.floats(h),
              node.ints(n, s, high=1) if mask else None)
    if node.chance(0.3):
        node.give(node.ints(n, s, high=4))
    node.set(epsilon=1e-5)
    node.outputs = 3 if node.chance() else 2
    if node.outputs == 3:
        node.set(mask_index_type=1)


@operator("QEmbedLayerNormalization")
def quantized_embedding(node):
    n, s, h = node.size(), node.size(1, 4), node.size(2, 6)
    names = [(7, h), (5, h), (2, h), (h,), (h,)]
    tables = [node.codes(*shape) for shape in names]
    scales, zeros = [node.scale() for _ in names], [node.zero(np.uint8) for _ in names]
    node.give(node.ints(n, s, high=6), node.ints(n, s, high=1), *tables, node.maybe(node.ints(n, s, high=1)), *scales, *zeros)
    node.set(epsilon=1e-5)
    node.outputs = 2


# ---- Attention.

def seen(node, axes, n, s, total):
    """A mask with two or three axes. Each place sees the first one, since what sees nothing has no softmax."""
    mask = node.ints(n, total, high=1) if axes == "2" else node.ints(n, s, total, high=1)
    mask[..., 0] = 1
    return mask


def mask_of(node, n, s, total, past):
    kinds = [None, "2", "3", "ends", "both"] if not past else [None, "2", "3"]
    kind = node.source.choice(kinds)
    if kind is None:
        return None
    if kind in ("2", "3"):
        mask = seen(node, kind, n, s, total)
    elif kind == "ends":
        mask = node.ints(n, low=1, high=total)
    else:
        mask = np.concatenate([node.ints(n, low=total, high=total), node.ints(n, low=0, high=total - 1)])
    return mask.astype(np.int32)


@operator("Attention")
def attention(node):
    n, s, heads, size, hidden = node.size(1, 3), node.size(1, 4), node.size(1, 3), node.size(2, 4), node.size(2, 5)
    past = node.size(1, 3) if node.chance(0.3) else 0
    width = heads * size
    own = width if past else heads * node.size(2, 4)
    node.give(node.floats(n, s, hidden), node.floats(hidden, 2 * width + own), node.maybe(node.floats(2 * width + own), 0.8),
              mask_of(node, n, s, past + s, past), node.floats(2, n, heads, past, size) if past else None)
    if not past and node.chance(0.3):
        node.give(node.floats(node.source.choice([1, n]), node.source.choice([1, heads]), s, s))
    if own != width or node.chance(0.3):
        node.set(qkv_hidden_sizes=[width, width, own])
    node.set(num_heads=heads, unidirectional=int(node.chance()), scale=node.maybe(0.4, 0.3),
             mask_filter_value=node.maybe(-5000.0, 0.2))
    node.outputs = 2 if past else 1
    node.keep(1, 2)


@operator("QAttention")
def quantized_attention(node):
    n, s, heads, size, hidden = node.size(1, 3), node.size(1, 4), node.size(1, 3), node.size(2, 4), node.size(2, 5)
    past = node.size(1, 3) if node.chance(0.3) else 0
    width, kind = 3 * heads * size, node.source.choice([np.uint8, np.int8])
    node.give(node.codes(n, s, hidden), node.codes(hidden, width, dtype=kind), node.floats(width), node.scale(), node.scale(),
              node.maybe(node.ints(n, low=1, high=s)) if not past else None, node.zero(np.uint8), node.zero(kind))
    if past:
        node.give(node.floats(2, n, heads, past, size))
        node.outputs = 2
    node.set(num_heads=heads, unidirectional=int(node.chance()))
    node.keep(1, 4, 7)
    # Scores are sums in 32 bits that reach hundreds; the exponential enlarges how they are rounded.
    node.tolerance = 1e-4


@operator("MultiHeadAttention")
def multi_head(node):
    n, s, keys, heads, size, own = (node.size(1, 3), node.size(1, 4), node.size(1, 4), node.size(1, 3), node.size(2, 4),
                                    node.size(2, 4))
    form = node.source.choice(["plain", "plain", "past", "four"])
    width = heads * size
    if form == "past":
        keys, own, past = s, size, node.size(1, 3)
    else:
        past, own = 0, size if form == "four" else own
    total = past + keys
    flat = form != "four"
    node.give(node.floats(n, s, width),
              node.floats(n, keys, width) if flat else node.floats(n, heads, keys, size),
              node.floats(n, keys, heads * own) if flat else node.floats(n, heads, keys, own),
              node.floats(2 * width + heads * own) if flat and node.chance() else None)
    mask = node.source.choice([None, "2", "3"])
    if mask:
        mask = seen(node, mask, n, s, total)
    node.give(mask, node.maybe(node.floats(node.source.choice([1, n]), node.source.choice([1, heads]), s, total), 0.3))
    if past:
        node.give(node.floats(n, heads, past, size), node.floats(n, heads, past, size))
    node.set(num_heads=heads, scale=node.maybe(0.4, 0.3), unidirectional=int(form == "past" and node.chance()))
    node.outputs = 3 if flat and (past or node.chance(0.3)) else 1


@operator("GroupQueryAttention")
def grouped(node):
    groups, times, size = node.size(1, 2), node.size(1, 3), node.source.choice([16, 32])
    heads, past = groups * times, node.source.choice([0, 0, 2, 4])
    n, s = (node.size(1, 2), node.size(1, 5)) if not past else (node.source.choice([1, 2]), 1)
    packed, rotary, total = node.chance(0.3), node.chance(), past + s
    if packed:
        node.give(node.floats(n, s, (heads + 2 * groups) * size), None, None)
    else:
        node.give(node.floats(n, s, heads * size), node.floats(n, s, groups * size), node.floats(n, s, groups * size))
    node.give(node.floats(n, groups, past, size), node.floats(n, groups, past, size),
              np.full([n], total - 1, np.int32), np.array(total, np.int32))
    node.keep(6)
    if rotary:
        node.give(node.floats(16, size // 2, low=-1, high=1), node.floats(16, size // 2, low=-1, high=1))
    if node.chance(0.4):
        node.operands += [None] * (9 - len(node.operands))
        node.give(node.ints(n, s, high=9, dtype=np.int64) if rotary and node.chance() else None,
                  node.maybe(node.floats(1, node.source.choice([1, heads]), s, total)), node.maybe(node.floats(heads)))
    node.set(num_heads=heads, kv_num_heads=groups, do_rotary=int(rotary), rotary_interleaved=node.maybe(1, 0.3),
             scale=node.maybe(0.3, 0.3), local_window_size=node.maybe(2, 0.3), softcap=node.maybe(3.0, 0.3),
             smooth_softmax=node.maybe(1, 0.2))
    node.outputs = 3


@operator("RotaryEmbedding")
def rotary(node):
    n, s, heads, size = node.size(1, 3), node.size(1, 4), node.size(1, 3), node.source.choice([4, 8])
    part = node.chance(0.3)
    rotated = size // 2 if part else size
    flat = node.chance()
    node.give(node.floats(n, s, heads * size) if flat else node.floats(n, heads, s, size),
              node.ints(n, s, high=7, dtype=np.int64) if node.chance() else node.ints(1, high=3, dtype=np.int64),
              node.floats(12, rotated // 2), node.floats(12, rotated // 2))
    node.set(interleaved=int(node.chance()))
    if part:
        node.set(num_heads=heads, rotary_embedding_dim=rotated)


# ---- Codes.

@operator("MatMulNBits")
def bits(node):
    width, block = node.source.choice([4, 4, 8, 2]), node.source.choice([16, 32])
    m, k, n = node.size(), node.source.choice([16, 32, 40, 64]), node.size(1, 6)
    blocks = -(-k // block)
    node.give(node.floats(m, k), node.codes(n, blocks, block * width // 8), node.floats(n, blocks, low=0.001, high=0.01))
    if node.chance():
        packed = -(-blocks * width // 8)
        node.give(node.codes(n, packed))
    else:
        node.give(None)
    if node.chance(0.3):
        node.give(None, node.floats(n))
    node.set(K=k, N=n, bits=width, block_size=block)
    node.keep(1, 2, 3)


@operator("MatMulBnb4")
def bnb4(node):
    m, k, n, block = node.size(), 32, node.size(1, 6), 16
    node.give(node.floats(m, k), node.codes(n * k // 2), node.floats(n * k // block, low=0.1, high=1))
    node.set(K=k, N=n, block_size=block, quant_type=node.source.choice([0, 1]))
    node.keep(1, 2)


@operator("GatherBlockQuantized")
def gather_blocks(node):
    width, block, rows, columns = node.source.choice([4, 8]), 16, node.size(2, 6), node.source.choice([32, 64])
    blocks = columns // block
    node.give(node.codes(rows, columns * width // 8), node.ints(*node.shape(1, 2), high=rows - 1, dtype=np.int64),
              node.floats(rows, blocks, low=0.01, high=0.1), node.maybe(node.codes(rows, -(-blocks * width // 8))))
    node.set(bits=width, block_size=block, gather_axis=0, quantize_axis=1)
    node.keep(0, 2, 3)


@operator("MatMulIntegerToFloat")
def to_float(node):
    m, k, n, kind = node.size(), node.size(), node.size(), node.source.choice([np.uint8, np.int8])
    columns = node.chance()
    node.give(node.codes(m, k), node.codes(k, n, dtype=kind), node.scale(),
              node.floats(n, low=0.01, high=0.1) if columns else node.scale(), node.maybe(node.zero(np.uint8)),
              node.maybe(node.zero(kind)), node.maybe(node.floats(n)))


@operator("DynamicQuantizeMatMul")
def dynamic(node):
    m, k, n, kind = node.size(), node.size(), node.size(), node.source.choice([np.uint8, np.int8])
    node.give(node.floats(m, k), node.codes(k, n, dtype=kind),
              node.floats(n, low=0.01, high=0.1) if node.chance() else node.scale(), node.maybe(node.zero(kind)),
              node.maybe(node.floats(n)))


@operator("QGemm")
def quantized_gemm(node):
    m, k, n, turn_a, turn_b = node.size(), node.size(), node.size(), node.chance(), node.chance()
    node.give(node.codes(*((k, m) if turn_a else (m, k))), node.scale(), node.zero(np.uint8),
              node.codes(*((n, k) if turn_b else (k, n))), node.scale(), node.zero(np.uint8),
              node.maybe(node.ints(n, low=-50, high=50)))
    if node.chance():
        node.give(np.float32(node.source.uniform(0.2, 2)), node.zero(np.uint8))
        node.step = True
    node.set(transA=int(turn_a), transB=int(turn_b), alpha=node.source.uniform(0.5, 1.5))


@operator("MatMulInteger16")
def integer16(node):
    m, k, n = node.size(), node.size(), node.size()
    node.give(node.ints(m, k, low=-900, high=900, dtype=np.int16), node.ints(k, n, low=-900, high=900, dtype=np.int16))


def linear(node):
    kind = node.source.choice([np.uint8, np.int8])
    node.step = True
    return kind


def broadcast(node):
    shape = node.shape(1, 3)
    return shape, node.source.choice([shape, shape, shape[1:], [1] * len(shape)])


@operator("QLinearAdd")
def add(node):
    kind, (a, b) = linear(node), broadcast(node)
    node.give(*node.quantized(*a, dtype=kind), *node.quantized(*b, dtype=kind), node.scale(), node.zero(kind))


@operator("QLinearMul")
def mul(node):
    add(node)


@operator("QLinearSigmoid")
def sigmoid(node):
    kind = linear(node)
    node.give(*node.quantized(*node.shape(), dtype=kind), np.float32(1 / 256), node.zero(kind))
    node.keep(1, 2, 3, 4)


@operator("QLinearLeakyRelu")
def leaky(node):
    sigmoid(node)
    node.set(alpha=node.maybe(0.2))


@operator("QLinearSoftmax")
def softmax(node):
    kind, shape = linear(node), node.shape(2, 3)
    node.give(*node.quantized(*shape, dtype=kind), np.float32(1 / 256), np.array(0 if kind == np.uint8 else -128, kind))
    old = node.chance(0.3)
    node.set(opset=12 if old else 13, axis=1 if old else node.source.choice([-1, len(shape) - 1]))
    node.keep(1, 2, 3, 4)


@operator("QLinearConcat")
def concat(node):
    kind, shape = linear(node), node.shape(2, 3)
    axis = node.source.randrange(len(shape))
    node.give(node.scale(), node.zero(kind))
    for _ in range(node.size(1, 3)):
        own = [node.size() if i == axis else extent for i, extent in enumerate(shape)]
        node.give(*node.quantized(*own, dtype=kind))
    node.keep(*(i for i in range(len(node.operands)) if i < 2 or i % 3 != 2))
    node.set(axis=axis)


@operator("QLinearAveragePool")
def average(node):
    kind, last = linear(node), node.chance(0.3)
    n, c, h, w, k = node.size(1, 2), node.size(1, 3), node.size(4, 6), node.size(4, 6), node.size(1, 3)
    node.give(*node.quantized(*((n, h, w, c) if last else (n, c, h, w)), dtype=kind), node.scale(), node.zero(kind))
    node.set(kernel_shape=[k, k], strides=node.maybe([2, 2]), pads=[min(1, k - 1)] * 4 if node.chance() else None,
             count_include_pad=node.maybe(1), channels_last=int(last) or None)
    node.keep(1, 2, 3, 4)


@operator("QLinearGlobalAveragePool")
def global_average(node):
    kind, last = linear(node), node.chance()
    node.give(*node.quantized(*node.shape(4, 4), dtype=kind), node.scale(), node.zero(kind))
    node.set(channels_last=int(last))
    node.keep(1, 2, 3, 4)


@operator("QLinearWhere")
def where(node):
    kind, shape = linear(node), node.shape(1, 3)
    node.give(node.ints(*shape, high=1).astype(bool), *node.quantized(*shape, dtype=kind),
              *node.quantized(*shape, dtype=kind), node.scale(), node.zero(kind))
    node.keep(2, 3, 5, 6, 7, 8)


@operator("QLinearConv")
def convolution(node):
    node.step = True
    last = node.chance()
    n, c, m, h, w, k = node.size(1, 2), node.size(1, 3), node.size(1, 3), node.size(4, 6), node.size(4, 6), node.size(1, 3)
    node.give(*node.quantized(*((n, h, w, c) if last else (n, c, h, w))),
              *node.quantized(m, c, k, k), np.float32(0.5), node.zero(np.uint8), node.maybe(node.ints(m, low=-99)))
    node.set(channels_last=int(last), kernel_shape=[k, k], pads=[1, 1, 1, 1], strides=node.maybe([2, 2]))
    node.keep(*range(1, 9))


@operator("QuantizeLinear")
def quantize(node):
    kind, shape = node.source.choice([np.uint8, np.int8, np.int16, np.uint16]), node.shape(2, 3)
    columns = node.chance(0.4)
    axis = node.source.randrange(len(shape))
    extent = [shape[axis]] if columns else []
    node.give(node.floats(*shape), node.floats(*extent, low=0.01, high=0.1), node.ints(*extent, low=0, high=20).astype(kind))
    node.set(axis=axis if columns else None)
    node.step = True


@operator("DequantizeLinear")
def dequantize(node):
    kind, shape = node.source.choice([np.uint8, np.int8, np.int16, np.uint16, np.int32]), node.shape(2, 3)
    columns = node.chance(0.4)
    axis = node.source.randrange(len(shape))
    extent = [shape[axis]] if columns else []
    zero = np.zeros(extent, kind) if kind == np.int32 else node.ints(*extent, low=0, high=20).astype(kind)
    node.give(node.ints(*shape, low=0, high=100).astype(kind), node.floats(*extent, low=0.01, high=0.1), zero)
    node.set(axis=axis if columns else None)


@operator("DynamicQuantizeLSTM")
def lstm(node):
    steps, size, hidden, ways = node.size(), node.size(), node.size(), node.source.choice(["forward", "reverse", "bidirectional"])
    count = 2 if ways == "bidirectional" else 1
    kind, columns = node.source.choice([np.uint8, np.int8]), node.chance()
    extent = [count, 4 * hidden] if columns else [count]
    zero = np.full(extent, 0 if kind == np.int8 else 128, kind)
    node.give(node.floats(steps, 1, size), node.codes(count, size, 4 * hidden, dtype=kind),
              node.codes(count, hidden, 4 * hidden, dtype=kind), node.maybe(node.floats(count, 8 * hidden)), None,
              node.maybe(node.floats(count, 1, hidden)), node.maybe(node.floats(count, 1, hidden)),
              node.maybe(node.floats(count, 3 * hidden), 0.3),
              node.floats(*extent, low=0.001, high=0.01), zero, node.floats(*extent, low=0.001, high=0.01), zero)
    node.set(hidden_size=hidden, direction=ways)
    node.outputs = 3
    node.keep(1, 2, 8, 9, 10, 11)
    # onnxruntime approximates the activations, and a state next to the middle of two codes gets another one.
    node.tolerance = 2e-2


@operator("NhwcMaxPool")
def nhwc(node):
    node.give(node.codes(*node.shape(1, 1), node.size(4, 6), node.size(4, 6), node.size()))
    node.set(kernel_shape=[2, 2], strides=node.maybe([2, 2]), pads=node.maybe([1, 1, 1, 1]))


# ---- Arrangement.

@operator("ExpandDims")
def expand(node):
    shape = node.shape()
    node.give(node.floats(*shape), np.array(node.source.randint(-len(shape) - 1, len(shape)), np.int32))
    if node.version < 13 or node.chance():
        node.keep(1)


@operator("Trilu", first=14)
def triangle(node):
    node.give(node.floats(*node.shape(2, 3)), node.maybe(np.array(node.source.randint(-2, 2), np.int64)))
    node.set(upper=node.maybe(int(node.chance())))


@operator("Range")
def range_of(node):
    kind = node.source.choice([np.float32, np.int32, np.int64])
    form = node.source.choice([(), (1,)])
    make = lambda value: np.full(form, value, kind)
    node.give(make(node.size(0, 3)), make(node.size(4, 9)), node.maybe(make(node.size(1, 2))))


@operator("Pad")
def pad(node):
    shape = [node.size(3, 5) for _ in range(node.size(1, 3))]
    mode = node.source.choice([None, "constant", "reflect", "edge"])
    node.give(node.floats(*shape), node.ints(2 * len(shape), low=0, high=2, dtype=np.int64))
    if mode in (None, "constant"):
        node.give(node.maybe(node.floats(*node.source.choice([(), (1,)]))))
    node.set(mode=mode)


@operator("GatherND")
def gather(node):
    shape, kind = node.shape(2, 3), node.source.choice([np.int32, np.int64])
    depth, outer = node.size(1, len(shape)), node.shape(1, 2)
    columns = [node.ints(*outer, high=extent - 1, dtype=kind) for extent in shape[:depth]]
    node.give(node.floats(*shape), np.stack(columns, -1))


@operator("Unique")
def unique(node):
    node.give(node.ints(node.size(1, 9), high=4).astype(np.float32))
    node.outputs = 3


@operator("GridSample", first=16)
def grid(node):
    n, c = node.size(1, 2), node.size(1, 3)
    node.give(node.floats(n, c, node.size(2, 5), node.size(2, 5)), node.floats(n, node.size(), node.size(), 2, low=-1.2, high=1.2))
    mode = node.source.choice(["bilinear", "nearest", "bicubic"])
    # At the border onnxruntime moves the place of a bicubic sample; run, as the standard, the items around it.
    paddings = ["zeros", "reflection"] if mode == "bicubic" else ["zeros", "border", "reflection"]
    node.set(mode=mode, align_corners=node.maybe(1), padding_mode=node.source.choice(paddings))


@operator("Inverse", first=13)
def inverse(node):
    size = node.size(1, 6)
    numbers = node.floats(*node.shape(1, 1), size, size)
    node.give((numbers + np.eye(size, dtype=np.float32) * 4)[..., node.source.sample(range(size), size)])


def made(name, seed, version):
    function, others = GENERATORS[name]
    node = Node(name, random.Random(f"{name} {seed}"), max(version, others.get("first", 0)))
    function(node)
    while node.operands and node.operands[-1] is None:
        node.operands.pop()
    return node
