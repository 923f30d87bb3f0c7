"""What onnxruntime is known to answer differently, for random_calls.py. Each row has a call that has to differ."""
import math

import numpy as np

from calls_nnef import NnefCall
from calls_onnx import ML, Call


class Row:
    """Engines and operators (a name that ends in * is a prefix) that differ for calls of which `where` is true, and why.

    `how` is a part of the difference that is told.
    """

    def __init__(self, engines, operators, where, how, reason, witness):
        self.engines, self.operators, self.where, self.how = engines.split(), operators.split(), where, how
        self.reason, self.witness = reason, witness

    def covers(self, engine, call, why):
        name = call.operator
        named = any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in self.operators)
        return engine in self.engines and named and self.how in why and self.where(call)


def not_finite(call):
    return not np.isfinite(call.items()).all()


def with_nan(call):
    return np.isnan(call.items()).any()


def beyond(bits):
    """Whether an operand has integers of more bits."""
    def found(call):
        return any(operand.dtype.kind in "iu" and operand.size and
                   max(abs(int(operand.min())), abs(int(operand.max()))) >= 2**bits for operand in call.arrays())
    return found


NAN, INF = math.nan, math.inf
f32 = np.float32


def floats(*items):
    return np.array(items, f32)


def padded_same(call):
    return call.attributes.get("auto_pad", "").startswith("SAME") and bool(call.attributes.get("dilations"))


def padded_wide(call):
    """Whether a window may lie in the padding alone."""
    attributes = call.attributes
    size = attributes["kernel_shape"]
    wide = [pad >= size[at % len(size)] for at, pad in enumerate(attributes.get("pads", []))]
    return any(wide) or bool(attributes.get("dilations")) or bool(attributes.get("ceil_mode"))


def ends_backward(call):
    """Whether a section runs backward to the greatest integer."""
    ends = call.operands[2].tolist()
    steps = call.operands[4].tolist() if len(call.operands) > 4 else [1] * len(ends)
    return any(step < 0 and end >= 2**31 - 1 for end, step in zip(ends, steps))


def places(mode):
    """Whether places of the result are found in this way."""
    return lambda call: call.attributes.get("coordinate_transformation_mode") == mode


def crops(call):
    return call.attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize"


def double(call):
    return call.operands[0].dtype == np.float64


def scalar(call):
    return call.operands[0].ndim == 0


def empty(call):
    return call.operands[0].size == 0


def extreme(call):
    """Whether integers are so large that their sum may have more bits."""
    operand = call.operands[0]
    return operand.dtype.kind == "i" and beyond(8 * operand.dtype.itemsize - 3)(call)


def leaves_gaps(call):
    """Whether a stride of a transposed convolution is larger than its window, so that the padding would be negative."""
    attributes = call.attributes
    kernel = call.operands[1].shape[2:]
    strides = attributes.get("strides", [1] * len(kernel))
    spans = [(size - 1) * step + 1 for size, step in zip(kernel, attributes.get("dilations", [1] * len(kernel)))]
    return attributes.get("auto_pad", "").startswith("SAME") and any(span < step for span, step in zip(spans, strides))


def one(operator, *items, results=1, opset=21, **attributes):
    """A call with one operand of floats."""
    return Call(operator, [floats(*items)], attributes, results, opset=opset)


def image(*items):
    side = int(len(items) ** 0.5)
    return floats(*items).reshape(1, 1, side, side)



DOCUMENTED = [
    # ---- Operators.
    Row("ort", "ArgMax ArgMin Hardmax Clip GlobalMaxPool MaxPool MaxRoiPool ReduceMax ReduceMin RoiAlign Unique TopK ScatterElements ScatterND Max Min", with_nan, "",
        "its comparisons with NaN depend on the order of items", one("ReduceMax", 1, NAN, 2)),
    Row("ort", "Clip MaxRoiPool GlobalMaxPool", not_finite, "", "the least float stands for -inf",
        Call("Clip", [floats(-INF, -1), None, np.array(1.875, f32)], known=[2])),
    Row("ort", "LSTM GRU RNN", not_finite, "", "it leaves out states that are 0, and its activations limit their operand", Call("RNN", [
        np.ones([1, 1, 1], f32), np.ones([1, 1, 1], f32), np.full([1, 1, 1], -INF, f32)], {"hidden_size": 1}, 2)),
    Row("ort", "DFT BatchNormalization InstanceNormalization GroupNormalization LayerNormalization RMSNormalization MeanVarianceNormalization LRN DeformConv QuantizeLinear "
        "LpNormalization Softmax LogSoftmax ReduceLogSumExp GridSample Einsum ConvTranspose Det STFT AffineGrid", not_finite, "",
        "infinities meet in another order of operations", Call("InstanceNormalization", [
            image(0, 1, 2, 3), floats(INF), floats(0)])),
    Row("ort", "Sign Selu Celu Det Upsample CumSum CumProd DFT NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss RoiAlign Resize ReduceMax ReduceMin ReduceSum MaxPool "
        "AveragePool Where LayerNormalization", lambda call: True,
        "sign of zero", "the sign of a zero", one("Sign", -0.0)),
    Row("ort", "Sign", with_nan, "", "the sign of NaN is 0 in 16 bits", Call("Sign", [np.array([NAN], np.float16)])),
    Row("ort", "Einsum", lambda call: True, "sign of zero", "a product without a sum is added to 0",
        Call("Einsum", [floats(-0.125), floats(0.0)], {"equation": "i,i->i"})),
    Row("ort", "Normalizer", lambda call: call.attributes.get("norm", "MAX") == "MAX", "", "the greatest item is divided by with its sign",
        Call("Normalizer", [floats(-0.625, 0.75, -0.875).reshape(1, 3)], domain=ML)),
    Row("ort", "Pow", extreme, "", "powers of integers are computed in 64-bit floats, which are converted without limits",
        Call("Pow", [np.array([2**31 - 1], np.int32), floats(2)])),
    Row("ort", "NonZero", scalar, "shape", "a number counts as a list of one",
        Call("NonZero", [np.array(3, f32)])),
    Row("ort", "ReduceMean", empty, "", "the mean of nothing is 0", Call("ReduceMean", [np.zeros([0], f32)])),
    Row("ort", "ReduceSum ReduceL1 ReduceSumSquare", extreme, "", "sums of integers saturate",
        Call("ReduceSum", [np.array([2**31 - 1, 1], np.int32), np.array([0])], known=[1])),
    Row("ort", "Gelu", double, "", "its constants have 32 bits",
        Call("Gelu", [np.array([1.875])], {"approximate": "tanh"})),
    Row("ort", "ConvTranspose", leaves_gaps, "shape", "negative automatic padding is left out",
        Call("ConvTranspose", [np.ones([1, 1, 3], f32), np.ones([1, 1, 1], f32)], {"strides": [2], "auto_pad": "SAME_LOWER"})),
    Row("ort", "LpPool AveragePool MaxPool", padded_same, "", "automatic padding ignores dilations",
        Call("LpPool", [image(*range(16))], {"auto_pad": "SAME_LOWER", "dilations": [2, 2], "kernel_shape": [3, 3], "strides": [2, 2]}, opset=18)),
    Row("ort", "MaxPool", padded_wide, "", "a window without items gives the least float, and another index",
        Call("MaxPool", [image(1)], {"kernel_shape": [2, 2], "dilations": [2, 1], "pads": [1, 1, 1, 0]}, 2)),
    Row("ort", "Slice", ends_backward, "shape", "the greatest integer ends a section that runs backward at the start",
        Call("Slice", [floats(1, 2, 3), np.array([2]), np.array([2**63 - 1]), np.array([0]), np.array([-1])], known=[1, 2, 3, 4])),
    Row("ort", "Resize", lambda call: call.operands[0].dtype.kind in "iu", "", "integers are truncated, not rounded",
        Call("Resize", [np.array([4, 4, 3, 4, 0, 1], np.uint8).reshape(1, 2, 1, 3), None, None, np.array([1, 2, 6, 6])], {
            "mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"}, known=[1, 3], opset=19)),
    Row("ort", "Resize", crops, "", "axes with a factor of 1 are not cropped, and cubic curves do not end at the edge",
        Call("Resize", [image(1, 2, 3, 4), floats(0, 0, 0.25, 0.25, 1, 1, 1.25, 1.25), floats(1, 1, 1, 1)], {
            "mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0}, known=[1, 2], opset=19)),
    Row("ort", "Resize", places("align_corners"), "", "corners are aligned to the whole number of items, where the standard has the extent times the scale",
        Call("Resize", [image(1, 2, 3, 4, 5, 6, 7, 8, 9), None, floats(1, 1, 1.5, 1.5)], {
            "mode": "cubic", "coordinate_transformation_mode": "align_corners"}, known=[1, 2], opset=19)),
    Row("ort", "Resize", places("pytorch_half_pixel"), "", "the place of a single item is 0, where the reference of the standard has -0.5",
        Call("Resize", [image(1, 2, 3, 5), None, None, np.array([1, 1, 1, 6])], {
            "mode": "cubic", "coordinate_transformation_mode": "pytorch_half_pixel"}, known=[1, 3], opset=19)),
    Row("ort", "Resize Upsample RoiAlign", not_finite, "", "items with a weight of 0 are multiplied, or left out", Call("Resize", [
        floats(0.625, INF, -1.5, -0.25).reshape(1, 1, 4, 1), None, None, np.array([1, 1, 7, 7])], {"mode": "linear"}, known=[1, 3], opset=19)),
    Row("ort", "MeanVarianceNormalization", lambda call: True, "nan", "nothing is added to a deviation of 0",
        Call("MeanVarianceNormalization", [image(-0.75, -0.75, -0.75, -0.75)])),
    Row("ort", "DynamicQuantizeLinear", not_finite, "", "the range of such items is open", one("DynamicQuantizeLinear", NAN, 1, results=3)),
    Row("ort", "DynamicQuantizeLinear", lambda call: not call.operands[0].any(), "", "the scale of zeros is 1", one("DynamicQuantizeLinear", 0, 0, results=3)),
    Row("ort", "GridSample", lambda call: call.attributes.get("padding_mode") == "border", "",
        "both coordinates of a point move to the border if one is outside",
        Call("GridSample", [image(0, -1, 4, 3, 4, -5, 12, 7, 8, -9, 20, 11, 12, -13, 28, 15), floats(-1.9, -1.1).reshape(1, 1, 1, 2)], {"mode": "cubic", "padding_mode": "border"}, opset=20)),
    # ---- NNEF.
    Row("ort", "min max relu min_reduce max_reduce clamp literals types", with_nan, "", "a comparison with NaN chooses an operand in NNEF",
        NnefCall("min", {"x": floats(NAN), "y": floats(1)}, "min(x, y)", [0])),
    Row("ort", "sqrt rsqrt", lambda call: True, "", "the powers 0.5 and -0.5 of -0 are those of 0, and those of -inf those of inf",
        NnefCall("sqrt", {"x": floats(-0.0)}, "sqrt(x)", [0])),
    Row("ort", "multilinear_upsample* area_downsample local_* l1_normalization l2_normalization moments deconv* debox* box avg_pool separable_* upsample_borders",
        not_finite, "", "items with a weight of 0 are multiplied, or left out", NnefCall("multilinear_upsample", {
            "x": floats(-INF, 1, 2).reshape(1, 1, 3)}, "multilinear_upsample(x, factor = [3], method = 'asymmetric', border = 'constant')", [0])),
    Row("ort", "selu sign round local_* avg_pool mean_reduce prelu", lambda call: True, "sign of zero", "the sign of a zero",
        NnefCall("selu", {"x": floats(-0.0)}, "selu(x, alpha = 1.5, lambda = 0.9)", [0])),
    Row("ort", "argmax_reduce argmin_reduce max_pool*", with_nan, "", "its comparisons with NaN depend on the order of items",
        NnefCall("argmax_reduce", {"x": floats(0.5, NAN, 0.25)}, "argmax_reduce(x, axes = [0])", [0])),
    Row("ort", "max_pool*", lambda call: "'ignore'" in call.text, "", "a window without items gives the least float",
        NnefCall("max_pool", {"x": floats(1).reshape(1, 1)}, "max_pool(x, size = [1, 1], border = 'ignore', padding = [(0, 0), (1, 0)], stride = [], dilation = [])", [0])),
    Row("ort", "add_n", lambda call: True, "sign of zero", "the specification adds 0 at the end",
        NnefCall("add_n", {"x0": floats(-0.0)}, "add_n([x0])", [0])),
    Row("ort", "debox*", lambda call: True, "sign of zero", "the zeros of padding are summands",
        NnefCall("debox_borders", {"x": floats(1, 1.5, 0.75, 0.5, 0, -0.0, 0.5, 0.75).reshape(2, 4)},
                 "debox(x, size = [1, 1], normalize = true, padding = [(0, 0), (2, 2)], stride = [2, 2], dilation = [2, 1], border = 'ignore')", [0])),
    Row("run", "cast types", not_finite, "refused", "infinities and NaN are no integers",
        NnefCall("cast", {"x": floats(INF)}, "cast<integer>(x)", [0])),
]
