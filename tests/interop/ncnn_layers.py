"""Compares what networks of ncnn compute here with what ncnn computes.

Each case is a network of one or a few layers with random weights, whose text and weights are written here. Needs numpy
and ncnn.

    python3 tests/interop/ncnn_layers.py --bin target/release/nnef-flatten

With --record, small networks on which both agree are written for `tests/notations/layers.rs`, with what ncnn computes:

    python3 tests/interop/ncnn_layers.py --bin target/release/nnef-flatten --record tests/notations/ncnn.json
"""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import ncnn
import numpy


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--kind", default="", help="only layers with this in their kind")
    parser.add_argument("--seed", type=int, default=7, help="of weights and operands")
    parser.add_argument("--record", type=Path, help="a file for small networks, and what ncnn computes")
    return parser.parse_args()


# The weights of the cases below depend on the seed.
ARGUMENTS = arguments()
RANDOM = numpy.random.RandomState(ARGUMENTS.seed)

# Layers that round a product, which ncnn computes in 32 bits: near the middle of two integers it may be the other one.
ROUNDING = {"Quantize", "Requantize"}


def raw(*shape):
    """Weights without a tag."""
    return ("raw", RANDOM.uniform(-1, 1, shape).astype("float32"))


def tagged(*shape):
    """Weights with a tag, which are 32-bit floats."""
    return ("tag", RANDOM.uniform(-1, 1, shape).astype("float32"))


def halves(*shape):
    """Weights with a tag, which are 16-bit floats."""
    return ("half", RANDOM.uniform(-1, 1, shape).astype("float16"))


def positive(*shape):
    """Weights without a tag, above 0."""
    return ("raw", RANDOM.uniform(0.5, 2, shape).astype("float32"))


def scales(*shape):
    """Scales of quantizations, without a tag."""
    return ("raw", RANDOM.uniform(60, 127, shape).astype("float32"))


def codes(*shape):
    """Weights with a tag, which are integers of 8 bits."""
    return ("codes", RANDOM.randint(-127, 128, shape).astype("int8"))


class Integers(tuple):
    """The shape of an operand of integers of 32 bits."""


def integers(*shape):
    return Integers(shape)


def operand(shape):
    """Random items of an operand."""
    if isinstance(shape, Integers):
        return RANDOM.randint(-100, 100, shape).astype("int32")
    return RANDOM.uniform(-1, 1, shape).astype("float32")


def stored(weights):
    """The bytes of weights in a file."""
    kind, array = weights
    data = array.tobytes()
    if kind in ("half", "codes"):
        data += b"\0" * (-len(data) % 4)
    tags = {"raw": b"", "tag": struct.pack("<I", 0), "half": struct.pack("<I", 0x01306B47),
            "codes": struct.pack("<I", 0x000D4B38)}
    return tags[kind] + data


A = (6, 9, 11)
M = (5, 7)
V = (8,)
Q = (3, 4, 5, 6)

# Name of the layer, its parameters, shapes of its operands, its weights, number of its results.
CASES = [
    ("UnaryOp", f"0={op}", [A], [], 1) for op in (0, 1, 2, 3, 4, 7, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22, 23, 24)
] + [
    ("BinaryOp", f"0={op}", [A, A], [], 1) for op in (0, 1, 2, 3, 4, 5, 7, 8, 10, 11, 12, 13, 14, 15, 16)
] + [
    ("BinaryOp", f"0={op} 1=1 2={b}", [M], [], 1) for op, b in ((0, 1.5), (1, 0.25), (2, -2.0), (7, 1.0), (8, 2.0), (4, 0.0), (9, 2.0))
] + [
    ("BinaryOp", "0=2", shapes, [], 1)
    for shapes in ([A, (6,)], [A, (11,)], [(6,), A], [A, (6, 9)], [M, (5,)], [M, (7,)], [A, (1, 9, 1)], [A, (1,)],
                   [Q, (3,)], [Q, (6,)], [Q, (3, 4)], [Q, (3, 4, 5)], [(3, 4, 5), Q], [M, (1, 7)], [(5, 1), (1, 7)])
] + [
    ("Eltwise", "0=0", [A, A, A], [], 1),
    ("Eltwise", "0=1", [A, A], [], 1),
    ("Eltwise", "0=1 -23301=2,0.5,2.0", [A, A], [], 1),
    ("Eltwise", "0=2", [M, M], [], 1),
    ("AbsVal", "", [A], [], 1),
    ("BNLL", "", [A], [], 1),
    ("CELU", "0=1.5", [A], [], 1),
    ("Clip", "0=-0.5 1=0.25", [A], [], 1),
    ("Clip", "1=0.25", [A], [], 1),
    ("Dropout", "0=0.5", [A], [], 1),
    ("ELU", "0=0.5", [A], [], 1),
    ("ELU", "", [A], [], 1),
    ("Erf", "", [A], [], 1),
    ("Exp", "1=0.5 2=0.25", [A], [], 1),
    ("Exp", "0=2.0 1=0.5", [A], [], 1),
    ("GELU", "", [A], [], 1),
    ("GELU", "0=1", [A], [], 1),
    ("HardSigmoid", "", [A], [], 1),
    ("HardSwish", "0=0.1666667 1=0.5", [A], [], 1),
    ("Log", "2=3.0", [A], [], 1),
    ("Log", "0=10.0 2=3.0", [A], [], 1),
    ("Mish", "", [A], [], 1),
    ("Power", "0=2.0 1=0.5 2=3.0", [A], [], 1),
    ("PReLU", "0=1", [A], [raw(1)], 1),
    ("PReLU", "0=6", [A], [raw(6)], 1),
    ("PReLU", "0=5", [M], [raw(5)], 1),
    ("PReLU", "0=8", [V], [raw(8)], 1),
    ("ReLU", "", [A], [], 1),
    ("ReLU", "0=0.25", [A], [], 1),
    ("SELU", "", [A], [], 1),
    ("Shrink", "0=0.125 1=0.25", [A], [], 1),
    ("Sigmoid", "", [A], [], 1),
    ("Softplus", "", [A], [], 1),
    ("Swish", "", [A], [], 1),
    ("TanH", "", [A], [], 1),
    ("Threshold", "0=0.25", [A], [], 1),
    ("Split", "", [A], [], 3),
    ("Convolution", "0=4 1=3 5=1 6=216", [A], [tagged(216), raw(4)], 1),
    ("Convolution", "0=4 1=3 5=1 6=216", [A], [halves(216), raw(4)], 1),
    ("Convolution", "0=4 1=3 11=2 3=2 13=1 4=1 14=2 15=0 16=1 5=1 6=144 9=2 -23310=1,0.1", [A], [tagged(144), raw(4)], 1),
    ("Convolution", "0=4 1=3 2=2 4=2 5=0 6=216 9=1", [A], [tagged(216)], 1),
    ("Convolution", "0=4 1=3 3=2 4=-233 6=216 9=3 -23310=2,-0.5,0.5", [A], [tagged(216)], 1),
    ("Convolution", "0=4 1=4 3=2 4=-234 6=384 9=4", [A], [tagged(384)], 1),
    ("Convolution", "0=4 1=1 6=24 9=5", [A], [tagged(24)], 1),
    ("Convolution", "0=4 1=1 6=24 9=6 -23310=2,0.2,0.5", [A], [tagged(24)], 1),
    ("Convolution1D", "0=4 1=3 3=2 4=1 5=1 6=60", [M], [tagged(60), raw(4)], 1),
    ("Convolution3D", "0=2 1=2 21=3 4=1 24=0 5=1 6=72", [Q], [tagged(72), raw(2)], 1),
    ("ConvolutionDepthWise", "0=6 1=3 4=1 5=1 6=54 7=6", [A], [tagged(54), raw(6)], 1),
    ("ConvolutionDepthWise", "0=8 1=3 4=1 5=1 6=216 7=2 9=1", [A], [tagged(216), raw(8)], 1),
    ("Deconvolution", "0=4 1=3 3=2 4=1 18=1 5=1 6=216", [A], [tagged(216), raw(4)], 1),
    ("Deconvolution", "0=4 1=3 11=2 3=2 5=0 6=144 9=1", [A], [tagged(144)], 1),
    ("Deconvolution1D", "0=4 1=3 3=2 5=1 6=60", [M], [tagged(60), raw(4)], 1),
    ("DeconvolutionDepthWise", "0=4 1=3 3=2 5=1 6=108 7=2", [A], [tagged(108), raw(4)], 1),
    ("DeconvolutionDepthWise", "0=6 1=3 3=2 4=1 5=1 6=54 7=6", [A], [tagged(54), raw(6)], 1),
    ("Pooling", "0=0 1=2 2=2", [A], [], 1),
    ("Pooling", "0=0 1=3 2=2 3=1", [A], [], 1),
    ("Pooling", "0=0 1=3 2=2 5=1", [A], [], 1),
    ("Pooling", "0=0 1=3 2=2 5=2", [A], [], 1),
    ("Pooling", "0=0 1=2 2=2 5=3", [A], [], 1),
    ("Pooling", "0=1 1=3 2=2 3=1", [A], [], 1),
    ("Pooling", "0=1 1=3 2=2 3=1 5=1 6=1", [A], [], 1),
    ("Pooling", "0=1 1=3 2=2 3=1 6=1", [A], [], 1),
    ("Pooling", "0=1 1=3 2=2 5=2", [A], [], 1),
    ("Pooling", "0=1 1=2 2=2 5=3", [A], [], 1),
    ("Pooling", "0=1 1=3 11=2 2=2 12=1", [A], [], 1),
    ("Pooling", "0=0 4=1", [A], [], 1),
    ("Pooling", "0=1 4=1", [A], [], 1),
    ("Pooling", "0=1 7=1 8=3 18=4", [A], [], 1),
    ("Pooling", "0=0 7=1 8=-233 18=4", [A], [], 1),
    ("Pooling1D", "0=0 1=3 2=2 3=1", [M], [], 1),
    ("Pooling1D", "0=1 1=3 2=2 3=1 5=1", [M], [], 1),
    ("Pooling3D", "0=0 1=2 2=2", [Q], [], 1),
    ("BatchNorm", "0=6 1=0.001", [A], [raw(6), raw(6), positive(6), raw(6)], 1),
    ("BatchNorm", "0=8 1=0.001", [V], [raw(8), raw(8), positive(8), raw(8)], 1),
    ("BatchNorm", "0=5", [M], [raw(5), raw(5), positive(5), raw(5)], 1),
    ("Scale", "0=6 1=1", [A], [raw(6), raw(6)], 1),
    ("Scale", "0=8", [V], [raw(8)], 1),
    ("Scale", "0=-233", [A, (6,)], [], 1),
    ("Bias", "0=6", [A], [raw(6)], 1),
    ("LayerNorm", "0=11 1=0.00001", [A], [raw(11), raw(11)], 1),
    ("LayerNorm", "0=99 1=0.00001 2=0", [A], [], 1),
    ("LayerNorm", "0=99", [A], [raw(99), raw(99)], 1),
    ("LayerNorm", "0=7", [M], [raw(7), raw(7)], 1),
    ("LayerNorm", "0=8", [V], [raw(8), raw(8)], 1),
    ("RMSNorm", "0=11 1=0.00001", [A], [raw(11)], 1),
    ("RMSNorm", "0=7 2=0", [M], [], 1),
    ("GroupNorm", "0=3 1=6 2=0.00001", [A], [raw(6), raw(6)], 1),
    ("GroupNorm", "0=5 1=5 3=0", [M], [], 1),
    ("InstanceNorm", "0=6 1=0.00001", [A], [raw(6), raw(6)], 1),
    ("InstanceNorm", "0=6 2=0", [A], [], 1),
    ("LRN", "0=0 1=5 2=0.5 3=0.75 4=2.0", [A], [], 1),
    ("InnerProduct", "0=4 1=1 2=2376 9=1", [A], [tagged(2376), raw(4)], 1),
    ("InnerProduct", "0=4 2=28", [M], [tagged(28)], 1),
    ("InnerProduct", "0=4 1=1 2=32", [V], [halves(32), raw(4)], 1),
    ("MatMul", "", [M, (7, 3)], [], 1),
    ("MatMul", "0=1", [M, (3, 7)], [], 1),
    ("MatMul", "0=1", [A, (6, 4, 11)], [], 1),
    ("MatMul", "", [(7,), (7, 3)], [], 1),
    ("MatMul", "", [V, V], [], 1),
] + [
    ("MatMul", "", shapes, [], 1)
    for shapes in ([(3, 4, 5), (5, 2)], [(4, 5), (3, 5, 2)], [(1, 4, 5), (3, 5, 2)], [(5,), (3, 5, 2)], [(3, 4, 5), (5,)],
                   [(2, 3, 4, 5), (5, 2)], [(2, 3, 4, 5), (3, 5, 2)], [(2, 1, 4, 5), (1, 3, 5, 2)], [(4, 5), (2, 3, 5, 2)],
                   [(4, 5), (5,)], [(2, 3, 4, 5), (5,)], [(5,), (2, 3, 5, 2)])
] + [
    ("GridSample", f"0={kind} 1={beyond} 2={aligned}", [(3, 4, 5), (5, 6, 2)], [], 1)
    for kind in (1, 2, 3) for beyond in (1, 2, 3) for aligned in (0, 1)
] + [
    ("MVN", f"0={deviation} 1={across} 2=0.01", [A], [], 1) for deviation in (0, 1) for across in (0, 1)
] + [
    ("Spectrogram", settings, [(40,)], [], 1)
    for settings in ("0=16", "0=16 1=1", "0=16 1=2 4=1", "0=16 1=2 4=2 7=1", "0=16 1=2 7=2 4=1", "0=16 1=2 5=0",
                     "0=16 1=2 8=0", "0=16 1=2 6=0", "0=16 1=2 6=1", "0=16 1=2 3=12 4=1", "0=16 1=1 2=5")
] + [
    ("InverseSpectrogram", settings, [(9, 11, 2)], [], 1)
    for settings in ("0=16 1=1", "0=16 1=1 4=1", "0=16 1=1 4=1 7=1", "0=16 1=1 7=2 4=1", "0=16 1=1 4=2")
] + [
    ("GridSample", "3=1", [(3, 4, 5), (2, 5, 6)], [], 1),
    ("GridSample", "", [(3, 4, 5, 6), (2, 3, 4, 3)], [], 1),
    ("DeformableConv2D", "0=5 1=3 4=1 5=1 6=270", [A, (18, 9, 11)], [tagged(270), raw(5)], 1),
    ("DeformableConv2D", "0=5 1=3 11=2 2=2 3=2 13=1 4=2 14=1 6=180 9=1", [A, (12, 9, 6), (6, 9, 6)], [tagged(180)], 1),
    ("ROIAlign", "0=2 1=3 2=0.9 3=2 4=1 5=1", [A, (4,)], [], 1),
    ("ROIAlign", "0=2 1=3 2=0.9 3=2 5=0", [A, (4,)], [], 1),
    ("ROIAlign", "0=2 1=3 2=1.5 3=3 4=1 5=0", [A, (4,)], [], 1),
    ("ROIAlign", "0=3 1=2 2=3.5 5=0", [A, (4,)], [], 1),
    ("ROIPooling", "0=3 1=2 2=0.5", [A, (4,)], [], 1),
    ("ROIPooling", "0=2 1=3 2=9.5", [A, (4,)], [], 1),
    ("PSROIPooling", "0=3 1=2 2=2.5 3=2", [(12, 9, 11), (4,)], [], 1),
    ("PSROIPooling", "0=2 1=3 2=9.5 3=1", [A, (4,)], [], 1),
    ("PriorBox", "-23300=2,10.0,20.0 -23301=2,30.0,50.0 -23302=2,2.0,3.0 9=-233 10=-233 13=0.5", [A, (3, 64, 80)], [], 1),
    ("PriorBox", "-23300=1,30.0 -23302=1,2.0 7=0 8=1 9=100 10=80 11=8.0 12=16.0 13=0.25 3=0.3", [A], [], 1),
    ("CopyTo", "0=1 1=2 2=3", [A, (2, 3, 4)], [], 1),
    ("CopyTo", "-23309=2,2,-4 -23311=2,1,-1", [A, (6, 3, 4)], [], 1),
    ("CopyTo", "-23309=1,3 -23311=1,0", [M, (2, 7)], [], 1),
    ("Diag", "0=1", [V], [], 1),
    ("Diag", "0=-1", [M], [], 1),
    ("Diag", "", [M], [], 1),
    ("StatisticsPooling", "", [A], [], 1),
    ("StatisticsPooling", "0=1", [A], [], 1),
    ("Cast", "0=1 1=1", [A], [], 1),
    ("Packing", "0=1", [A], [], 1),
    ("Quantize", "0=1", [A], [scales(1)], 1),
    ("Quantize", "0=6", [A], [scales(6)], 1),
    ("Dequantize", "0=1", [integers(*V)], [positive(1)], 1),
    ("Dequantize", "0=5 1=1", [integers(*M)], [positive(5), raw(1)], 1),
    ("Dequantize", "0=6 1=6", [integers(*A)], [positive(6), raw(6)], 1),
    ("Requantize", "", [integers(*V)], [positive(1), positive(1)], 1),
    ("Requantize", "0=6 1=1 2=6 3=2 -23304=1,0.25", [integers(*A)], [positive(6), positive(1), raw(6)], 1),
    ("Requantize", "0=1 1=5 2=1 3=1", [integers(*M)], [positive(1), positive(5), raw(1)], 1),
    ("Convolution", "0=4 1=3 4=1 5=1 6=216 8=2 9=1", [A], [tagged(216), raw(4), scales(4), scales(1)], 1),
    ("Convolution", "0=4 1=3 4=1 5=1 6=216 8=2", [A], [codes(216), raw(4), scales(4), scales(1)], 1),
    ("Convolution", "0=4 1=3 4=1 5=1 6=216 8=102", [A], [tagged(216), raw(4), scales(4), scales(1), scales(1)], 1),
    ("ConvolutionDepthWise", "0=6 1=3 4=1 5=1 6=54 7=6 8=1", [A], [tagged(54), raw(6), scales(6), scales(1)], 1),
    ("ConvolutionDepthWise", "0=6 1=3 4=1 5=1 6=54 7=6 8=2", [A], [tagged(54), raw(6), scales(1), scales(1)], 1),
    ("InnerProduct", "0=5 1=1 2=40 8=2 9=1", [V], [tagged(40), raw(5), scales(5), scales(1)], 1),
    ("InnerProduct", "0=3 1=1 2=21 8=2", [M], [tagged(21), raw(3), scales(3), scales(1)], 1),
    ("Gemm", "", [M, (7, 3)], [], 1),
    ("Gemm", "0=0.5 1=2.0 3=1", [M, (3, 7), (3,)], [], 1),
    ("Gemm", "2=1", [M, (5, 3), (7,)], [], 1),
    ("Gemm", "2=0 3=1 4=0 5=1 6=1 7=0 8=3 9=7 10=4", [M], [tagged(21), tagged(3)], 1),
    ("Gemm", "2=0 3=1 5=1 6=1 7=0 8=3 9=7 10=-1", [M], [tagged(21)], 1),
    ("Gemm", "4=1 6=1 7=4 9=5 10=1", [(5, 3)], [tagged(20), tagged(4)], 1),
    ("Gemm", "4=1 2=1 5=0 6=1 7=4 9=5 8=3 10=3", [(5, 3)], [tagged(20), tagged(12)], 1),
    ("Concat", "", [A, A], [], 1),
    ("Concat", "0=1", [A, (6, 2, 11)], [], 1),
    ("Concat", "0=-1", [M, (5, 3)], [], 1),
    ("Slice", "-23300=2,2,-233", [A], [], 2),
    ("Slice", "-23300=3,-233,-233,-233 1=1", [A], [], 3),
    ("Slice", "-23302=2,2,-3 1=-1", [A], [], 3),
    ("Reshape", "0=11 1=-1", [A], [], 1),
    ("Reshape", "0=0 1=3 2=-1", [A], [], 1),
    ("Reshape", "0=-1", [A], [], 1),
    ("Reshape", "0=6 1=5 11=2 2=-1", [Q], [], 1),
    ("Flatten", "", [A], [], 1),
    ("Flatten", "", [Q], [], 1),
    ("Squeeze", "-23303=1,1", [(6, 1, 11)], [], 1),
    ("Squeeze", "0=1 1=1 2=1", [(6, 1, 11)], [], 1),
    ("ExpandDims", "-23303=1,0", [M], [], 1),
    ("ExpandDims", "-23303=2,0,-1", [V], [], 1),
    ("Crop", "-23309=1,1 -23310=1,-233 -23311=1,0", [A], [], 1),
    ("Crop", "-23309=2,-8,2 -23310=2,-1,5 -23311=2,-1,1", [A], [], 1),
    ("Crop", "0=1 1=2 2=0 3=-233 4=5 5=-233 6=2", [A], [], 1),
    ("Padding", "0=1 1=2 2=3 3=0 4=0 5=0.5", [A], [], 1),
    ("Padding", "0=1 1=2 2=3 3=0 4=1", [A], [], 1),
    ("Padding", "0=1 1=2 2=3 3=0 4=2", [A], [], 1),
    ("Padding", "0=1 2=3 5=0.5 7=1 8=2", [A], [], 1),
    ("Padding", "2=2 3=1", [M], [], 1),
    ("Padding", "2=2 3=1", [V], [], 1),
    ("Tile", "0=0 1=2", [A], [], 1),
    ("Tile", "-23302=2,2,3", [A], [], 1),
    ("Tile", "-23302=3,2,1,3", [M], [], 1),
    ("Softmax", "0=0 1=1", [A], [], 1),
    ("Softmax", "0=-1 1=1", [A], [], 1),
    ("Softmax", "0=1 1=1", [M], [], 1),
    ("Softmax", "0=0", [V], [], 1),
    ("PixelShuffle", "0=2", [(8, 3, 5)], [], 1),
    ("Reorg", "0=2", [(3, 4, 6)], [], 1),
    ("ShuffleChannel", "0=2", [A], [], 1),
    ("ShuffleChannel", "0=2 1=1", [A], [], 1),
    ("Interp", "0=1 1=2.0 2=2.0", [A], [], 1),
    ("Interp", "0=1 3=5 4=17", [A], [], 1),
    ("Interp", "0=1 1=1.5 2=1.5", [A], [], 1),
    ("Interp", "0=2 1=2.0 2=2.0", [A], [], 1),
    ("Interp", "0=2 3=5 4=17", [A], [], 1),
    ("Interp", "0=2 3=13 4=17 6=1", [A], [], 1),
    ("Interp", "0=3 3=13 4=17", [A], [], 1),
] + [
    ("Permute", f"0={order}", [A], [], 1) for order in range(6)
] + [
    ("Permute", f"0={order}", [M], [], 1) for order in range(2)
] + [
    ("Permute", f"0={order}", [Q], [], 1) for order in range(24)
] + [
    ("Reduction", f"0={op} 1=0 -23303=1,{axis} 4={keep} 5=1", [A], [], 1)
    for op in (0, 1, 2, 3, 4, 5, 7, 8, 10) for axis, keep in ((0, 0), (-1, 1))
] + [
    ("Reduction", "0=3 1=1", [A], [], 1),
    ("Reduction", "0=0 1=1 2=0.5 4=1", [A], [], 1),
    ("Reduction", "0=3 1=0 -23303=2,1,2 4=0 5=1", [A], [], 1),
    ("Reshape", '6="*(0w,0h),0c"', [A], [], 1),
    ("Reshape", '6="//(0w,11),-1,6"', [A], [], 1),
    ("Reshape", '12=0 13=0 6="3,198,0n"', [A], [], 1),
    ("Reshape", '6="1w,1h,-1"', [A, (9, 11)], [], 1),
    ("Noop", "", [A], [], 1),
    ("GLU", "0=0", [A], [], 1),
    ("GLU", "0=-1", [(5, 8)], [], 1),
    ("CumulativeSum", "0=0", [A], [], 1),
    ("CumulativeSum", "0=-1", [M], [], 1),
    ("Flip", "-23300=1,0", [A], [], 1),
    ("Flip", "-23300=2,1,-1", [A], [], 1),
    ("Unfold", "1=3 11=2 3=2 13=1", [A], [], 1),
    ("Unfold", "1=3 2=2 4=1 15=0 14=2 16=1", [A], [], 1),
    ("Fold", "1=2 3=2 20=6 21=4", [(12, 6)], [], 1),
    ("Fold", "1=3 4=1 20=3 21=4", [(18, 12)], [], 1),
    ("Normalize", "0=1 4=1 1=1 2=0.001 3=1", [A], [raw(1)], 1),
    ("Normalize", "0=0 4=1 1=0 2=0.001 9=1 3=6", [A], [raw(6)], 1),
    ("Normalize", "0=1 4=0 1=0 2=0.001 9=2 3=6", [A], [raw(6)], 1),
    ("RotaryEmbed", "", [(3, 4, 6), (4, 3), (4, 3)], [], 1),
    ("RotaryEmbed", "0=1", [(3, 4, 6), (4, 3), (4, 3)], [], 1),
    ("SDPA", "", [(4, 5, 6), (4, 7, 6), (4, 7, 3)], [], 1),
    ("SDPA", "5=1 6=0.25", [(4, 5, 6), (2, 7, 6), (2, 7, 3), (5, 7)], [], 1),
    ("SDPA", "5=1", [(4, 5, 6), (4, 7, 6), (4, 7, 3), (4, 5, 7)], [], 1),
    ("MultiHeadAttention", "0=8 1=2 2=64", [(5, 8)], [tagged(64), raw(8)] * 4, 1),
    ("MultiHeadAttention", "0=4 1=2 2=24 3=3 4=5", [(7, 6), (5, 3), (5, 5)],
     [tagged(24), raw(4), tagged(12), raw(4), tagged(20), raw(4), tagged(24), raw(6)], 1),
    ("MultiHeadAttention", "0=8 1=2 2=64 5=1 6=0.3", [(5, 8), (5, 5)], [tagged(64), raw(8)] * 4, 1),
] + [
    ("LSTM", f"0=3 1={48 * n} 2={way}", [(5, 4)], [tagged(48 * n), tagged(12 * n), tagged(36 * n)], results)
    for way, n, results in ((0, 1, 1), (1, 1, 1), (2, 2, 1), (2, 2, 3))
] + [
    ("LSTM", "0=2 1=48 3=3", [(5, 4)], [tagged(48), tagged(12), tagged(24), tagged(6)], 1),
    ("LSTM", "0=3 1=48", [(5, 4), (1, 3), (1, 3)], [tagged(48), tagged(12), tagged(36)], 3),
] + [
    ("GRU", f"0=3 1={36 * n} 2={way}", [(5, 4)], [tagged(36 * n), tagged(12 * n), tagged(27 * n)], results)
    for way, n, results in ((0, 1, 1), (1, 1, 1), (2, 2, 1), (2, 2, 2))
] + [
    ("RNN", f"0=3 1={12 * n} 2={way}", [(5, 4)], [tagged(12 * n), tagged(3 * n), tagged(9 * n)], results)
    for way, n, results in ((0, 1, 1), (1, 1, 1), (2, 2, 2))
]


def heads(x, weights, count):
    """The rows of heads, by weights and a bias."""
    (_, weight), (_, bias) = weights
    rows = x @ weight.reshape(len(bias), -1).T + bias
    return rows.reshape(len(x), count, -1).transpose(1, 0, 2)


ATTENTION = [tagged(64), raw(8)] * 4
CROSS = [tagged(24), raw(4), tagged(12), raw(4), tagged(20), raw(4), tagged(24), raw(6)]

# Layers with caches: the name, parameters, shapes of the operands of two steps, weights, and the caches behind the first one.
# Those of ncnn have forms of its own, which it makes and reads.
CACHED = [
    ("SDPA", "7=1", [(4, 5, 6), (4, 5, 6), (4, 5, 3)], [(4, 2, 6), (4, 2, 6), (4, 2, 3)], [], lambda x: x[1:3]),
    ("SDPA", "5=1 7=1", [(4, 7, 6), (2, 7, 6), (2, 7, 3), (7, 7)], [(4, 1, 6), (2, 1, 6), (2, 1, 3), (1, 8)], [],
     lambda x: x[1:3]),
    ("MultiHeadAttention", "0=8 1=2 2=64 7=1", [(3, 8)], [(2, 8)], ATTENTION,
     lambda x: [heads(x[0], ATTENTION[2:4], 2), heads(x[0], ATTENTION[4:6], 2)]),
    ("MultiHeadAttention", "0=8 1=2 2=64 5=1 7=1", [(3, 8), (3, 3)], [(2, 8), (2, 5)], ATTENTION,
     lambda x: [heads(x[0], ATTENTION[2:4], 2), heads(x[0], ATTENTION[4:6], 2)]),
    ("MultiHeadAttention", "0=4 1=2 2=24 3=3 4=5 7=1", [(7, 6), (5, 3), (5, 5)], [(2, 6), (5, 3), (5, 5)], CROSS,
     lambda x: [heads(x[1], CROSS[2:4], 2), heads(x[2], CROSS[4:6], 2)]),
]

# Layers with weights that are only read here: the name, parameters, and the number of bytes of all weights.
READ = [
    ("RNN", "0=3 1=12", 4 + 48 + 4 + 12 + 4 + 36),
    ("GRU", "0=3 1=72 2=2", 4 + 288 + 4 + 96 + 4 + 216),
    ("LSTM", "0=3 1=48", 4 + 192 + 4 + 48 + 4 + 144),
    ("LSTM", "0=2 1=48 3=3", 4 + 192 + 4 + 48 + 4 + 96 + 4 + 24),
    ("MultiHeadAttention", "0=4 1=2 2=24 3=3 4=5", 4 + 96 + 16 + 4 + 48 + 16 + 4 + 80 + 16 + 4 + 96 + 24),
    ("Embed", "0=3 1=5 2=1 3=15", 4 + 60 + 12),
    ("DeformableConv2D", "0=2 1=3 5=1 6=36", 4 + 144 + 8),
    ("Quantize", "0=3", 12),
    ("Dequantize", "0=3 1=3", 24),
    ("Requantize", "0=3 1=3 2=3", 36),
    ("Normalize", "3=3", 12),
    ("MemoryData", "0=3 1=2 2=2 21=0", 4 + 48),
    ("MemoryData", "0=3 1=2 11=2 2=2", 96),
]


def network(kind, parameters, shapes, results):
    """The text of a network of one layer."""
    lines = []
    for k, shape in enumerate(shapes):
        keys = {0: "", 1: "0", 2: "10", 3: "210", 4: ["2", "11", "1", "0"]}[len(shape)]
        sizes = " ".join(f"{key}={size}" for key, size in zip(keys, shape))
        lines.append(f"Input in{k} 0 1 in{k} {sizes}".rstrip())
    bottoms = " ".join(f"in{k}" for k in range(len(shapes)))
    tops = " ".join(f"out{k}" for k in range(results))
    lines.append(f"{kind} layer {len(shapes)} {results} {bottoms} {tops} {parameters}".rstrip())
    return f"7767517\n{len(lines)} {len(shapes) + results}\n" + "\n".join(lines) + "\n"


def read_by_ncnn(path):
    """A network as ncnn reads it, if it does."""
    net = ncnn.Net()
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
    net.opt.use_vulkan_compute = False
    net.opt.use_winograd_convolution = False
    read = net.load_param(str(path)) == 0 and net.load_model(str(path.with_suffix(".bin"))) == 0
    return net if read else None


def by_ncnn(path, operands, results):
    """The outputs of ncnn."""
    net = read_by_ncnn(path)
    if net is None:
        return None
    extractor = net.create_extractor()
    for k, operand in enumerate(operands):
        extractor.input(f"in{k}", ncnn.Mat(operand).clone())
    return [numpy.array(extractor.extract(f"out{k}")[1]) for k in range(results)]


def second_step(path, steps):
    """The first output of ncnn in a second step, with the caches of the first one."""
    net, caches, keeps = read_by_ncnn(path), [ncnn.Mat(), ncnn.Mat()], []
    if net is None:
        return None
    for operands in steps:
        extractor = net.create_extractor()
        extractor.set_kvcache_max_seqlen_hint(64)
        given = [ncnn.Mat(operand).clone() for operand in operands] + caches
        for k, operand in enumerate(given):
            extractor.input(f"in{k}", operand)
        # What an extractor has belongs to it.
        keeps.append((extractor, given))
        output = numpy.array(extractor.extract("out0")[1]).copy()
        caches = [extractor.extract(f"out{k}", 1)[1] for k in (1, 2)]
    return [output]


def by_us(command, path, operands, results):
    """The outputs of the command, or its message."""
    inputs = {f"in{k}": operand.tolist() for k, operand in enumerate(operands)}
    path.with_suffix(".json").write_text(json.dumps(inputs))
    words = [command, "run", "-q", "--message-format", "json", str(path), "--inputs", str(path.with_suffix(".json"))]
    run = subprocess.run(words, capture_output=True, text=True)
    if run.returncode != 0:
        return run.stderr
    found = list(json.loads(run.stdout)["outputs"].values())
    return [numpy.array(output["data"]).reshape(output["shape"]) for output in found]


def agree(kind, a, b):
    """Whether two results are the same."""
    if a.shape != b.shape:
        return False
    if kind in ROUNDING and abs(a - b).max() <= 1:
        return (a != b).mean() <= 0.01
    return numpy.allclose(a, b, 1e-3, 1e-4, equal_nan=True)


# Layers of which tests have enough that follows from definitions.
WELL_KNOWN = {"BinaryOp", "Reduction", "UnaryOp"}
# The most numbers of a network that is recorded.
SMALL = 500


def nested(array):
    """Nested lists of an array, with as many digits as 32-bit floats have."""
    return [nested(part) for part in array] if array.ndim else float(f"{array:.7g}")


class Record:
    """Networks with their operands and what ncnn computes, one a line."""

    def __init__(self):
        self.lines = []

    def add(self, path, operands, outputs):
        """Adds the network at a path, if it is small."""
        text, data = path.read_text(), path.with_suffix(".bin").read_bytes()
        kind = text.splitlines()[-1].split()[0]
        numbers = len(data) // 4 + sum(array.size for array in [*operands, *outputs])
        if numbers <= SMALL and kind not in WELL_KNOWN and kind not in ROUNDING:
            self.lines.append(json.dumps({"network": text, "weights": data.hex(), "inputs": list(map(nested, operands)),
                                          "outputs": list(map(nested, outputs))}))

    def write(self, path):
        path.write_text("[\n" + ",\n".join(self.lines) + "\n]\n")


def main():
    args = ARGUMENTS
    record = Record()
    command, failed = args.bin, 0
    cases = [case for case in CASES if args.kind in case[0]]
    cached = [case for case in CACHED if args.kind in case[0]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.param"
        for kind, parameters, shapes, weights, results in cases:
            path.write_text(network(kind, parameters, shapes, results))
            path.with_suffix(".bin").write_bytes(b"".join(map(stored, weights)))
            operands = [operand(shape) for shape in shapes]
            theirs = by_ncnn(path, operands, results)
            ours = by_us(command, path, operands, results)
            where = f"{kind} {parameters} {shapes}"
            if theirs is None or isinstance(ours, str):
                failed += 1
                print(f"{where}: {'not read by ncnn' if theirs is None else ours[:300]}")
                continue
            for a, b in zip(theirs, ours):
                if not agree(kind, a, b):
                    failed += 1
                    apart = numpy.nanmax(abs(a - b)) if a.shape == b.shape else f"{a.shape} {b.shape}"
                    print(f"{where}: differs by {apart}")
                    break
            else:
                record.add(path, operands, theirs)
        for kind, parameters, first, second, weights, made in cached:
            steps = [[operand(shape) for shape in shapes] for shapes in (first, second)]
            path.with_suffix(".bin").write_bytes(b"".join(map(stored, weights)))
            path.write_text(network(kind, parameters, [()] * (len(first) + 2), 3))
            theirs = second_step(path, steps)
            caches = [cache.astype("float32") for cache in made(steps[0])]
            path.write_text(network(kind, parameters, second + [cache.shape for cache in caches], 3))
            ours = by_us(command, path, steps[1] + caches, 3)
            where = f"{kind} {parameters} {first} then {second}"
            if theirs is None or isinstance(ours, str):
                failed += 1
                print(f"{where}: {'not read by ncnn' if theirs is None else ours[:300]}")
            elif theirs[0].shape != ours[0].shape or not numpy.allclose(theirs[0], ours[0], 1e-3, 1e-4):
                failed += 1
                print(f"{where}: differs")
            else:
                record.add(path, steps[1] + caches, theirs)
        for kind, parameters, size in READ:
            path.write_text(network(kind, parameters, [] if kind == "MemoryData" else [V], 1))
            for length in (size, size - 4):
                path.with_suffix(".bin").write_bytes(bytes(length))
                net = ncnn.Net()
                theirs = net.load_param(str(path)) == 0 and net.load_model(str(path.with_suffix(".bin"))) == 0
                ours = subprocess.run([command, "check", "-q", str(path)], capture_output=True).returncode == 0
                if not theirs == ours == (length == size):
                    failed += 1
                    print(f"{kind} {parameters}: {length} of {size} bytes, ncnn {theirs}, here {ours}")
    if args.record:
        record.write(args.record)
    count = len(cases) + len(cached) + len(READ)
    print(f"{count - failed} of {count} networks are those of ncnn")
    sys.exit(failed > 0 or not count)


if __name__ == "__main__":
    main()
