#!/usr/bin/env python3
"""Makes the small networks of this folder: graphs as exporters of tract write them, data of variables, and recorded numbers.

Each network is a folder: `graph.nnef`, a file of data for each variable, and `io.npz` with the inputs and the outputs, which
numpy computes here from the same data in float64, without the program. The numbers are the same in each run; the graphs are
those of `GRAPHS`, so that a change of one is made here.

    python3 tests/networks/make.py            # writes the folders
    python3 tests/networks/make.py --check    # compares the folders with what would be written
"""

import argparse
import io
import pathlib
import re
import struct
import sys
import zipfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent

PROPERTIES = """fragment tract_core_properties(
) -> (properties: (string, tensor<scalar>)[])
{
  properties = [
    ("tract_target_version", "0.23.9"),
    ("exported_by", "tests/networks/make.py")
  ];
}
"""

# A convolution, a normalization over groups of channels, a convolution of each channel, a branch around it, a mean, a layer.
CNN = """version 1.0;

extension tract_registry tract_core;

%s
fragment smooth( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = 0.5 * x * (1.0 + tract_core_erf(x * 0.7071067811865475));
}

fragment normalized(
    input: tensor<scalar>,
    groups: integer,
    channels: integer,
    epsilon: scalar )
-> ( output: tensor<scalar> )
{
    flat = reshape(input, shape = [1, groups, -1]);
    mean = mean_reduce(flat, axes = [2]);
    scale = rsqrt(mean_reduce(sqr(flat - mean), axes = [2]) + epsilon);
    output = reshape((flat - mean) * scale, shape = [1, channels, -1]);
}

graph network( image ) -> ( scores )
{
    image = tract_core_external(shape = [1, 2, 8, 8], datum_type = 'f32');
    first_weight = variable<scalar>(label = 'first.weight', shape = [4, 2, 3, 3]);
    first_bias = variable<scalar>(label = 'first.bias', shape = [4]);
    first = conv(image, first_weight, first_bias, dilation = [1, 1], padding = [(1, 1), (1, 1)], stride = [1, 1], groups = 1, border = 'constant');
    flat = reshape(first, shape = [1, 4, 64]);
    even = normalized(flat, groups = 2, channels = 4, epsilon = 0.00001);
    features = relu(reshape(even, shape = [1, 4, 8, 8]));
    depth_weight = variable<scalar>(label = 'depth.weight', shape = [4, 1, 3, 3]);
    depth_bias = variable<scalar>(label = 'depth.bias', shape = [4]);
    depth = conv(features, depth_weight, depth_bias, dilation = [1, 1], padding = [(1, 1), (1, 1)], stride = [1, 1], groups = 4, border = 'constant');
    both = add(features, smooth(depth));
    small = max_pool(both, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)], stride = [1, 1, 2, 2], dilation = [1, 1, 1, 1], border = 'ignore');
    mean = squeeze(mean_reduce(small, axes = [2, 3]), axes = [2, 3]);
    last_weight = variable<scalar>(label = 'last.weight', shape = [5, 4]);
    last_bias = variable<scalar>(label = 'last.bias', shape = [5]);
    row = unsqueeze(last_bias, axes = [0]);
    scores = softmax(linear(mean, last_weight, row), axes = [1]);
}
""" % PROPERTIES

# A recurrent layer as a scan, and a layer after it.
GRU = """version 1.0;

extension tract_registry tract_core;

%s
fragment step(
    h: tensor<scalar>,
    at_r: tensor<scalar>,
    at_z: tensor<scalar>,
    at_n: tensor<scalar>,
    w_r: tensor<scalar>,
    w_z: tensor<scalar>,
    w_n: tensor<scalar>,
    b_n: tensor<scalar> )
-> ( h_next: tensor<scalar> )
{
    r = sigmoid(at_r + matmul(h, w_r, transposeB = true));
    z = sigmoid(at_z + matmul(h, w_z, transposeB = true));
    n = tanh(at_n + r * (matmul(h, w_n, transposeB = true) + b_n));
    h_next = (1.0 - z) * n + z * h;
}

graph network( steps ) -> ( scores, state )
{
    steps = tract_core_external(shape = [5, 1, 3], datum_type = 'f32');
    zero = variable<scalar>(label = 'zero', shape = [1, 1, 4]);
    i_r = variable<scalar>(label = 'i.r', shape = [1, 4, 3]);
    i_z = variable<scalar>(label = 'i.z', shape = [1, 4, 3]);
    i_n = variable<scalar>(label = 'i.n', shape = [1, 4, 3]);
    h_r = variable<scalar>(label = 'h.r', shape = [1, 4, 4]);
    h_z = variable<scalar>(label = 'h.z', shape = [1, 4, 4]);
    h_n = variable<scalar>(label = 'h.n', shape = [1, 4, 4]);
    b_n = variable<scalar>(label = 'b.n', shape = [1, 1, 4]);
    start = tile(zero, repeats = [1, 1, 1]);
    by_r = matmul(steps, i_r, transposeB = true);
    by_z = matmul(steps, i_z, transposeB = true);
    by_n = matmul(steps, i_n, transposeB = true);
    (states, state) = tract_core_scan(
        body = "step",
        scan = [("at_r", by_r, 0, 1), ("at_z", by_z, 0, 1), ("at_n", by_n, 0, 1)],
        full = [("w_r", h_r), ("w_z", h_z), ("w_n", h_n), ("b_n", b_n)],
        state = [("h", start, "h_next")],
        output = [("h_next", "full", 0, 1), ("h_next", "last", 0, 1)],
        skip = 0
    );
    last_weight = variable<scalar>(label = 'last.weight', shape = [6, 4]);
    weight = unsqueeze(last_weight, axes = [0]);
    last_bias = variable<scalar>(label = 'last.bias', shape = [6]);
    bias = unsqueeze(last_bias, axes = [0, 1]);
    scores = tract_core_log_softmax(linear(states, weight, bias), axes = [2]);
}
""" % PROPERTIES

# A block of a transformer: a normalization, attention of two heads, and a layer, both with what they were given added.
ATTENTION = """version 1.0;

extension tract_registry tract_core;

%s
fragment norm( x: tensor<scalar>, scale: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = x * rsqrt(mean_reduce(sqr(x), axes = [2]) + 0.00001) * scale;
}

fragment heads( x: tensor<scalar>, w: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = transpose(reshape(matmul(x, w), shape = [1, 4, 2, 3]), axes = [0, 2, 1, 3]);
}

fragment attention(
    x: tensor<scalar>,
    q: tensor<scalar>,
    k: tensor<scalar>,
    v: tensor<scalar> )
-> ( y: tensor<scalar> )
{
    scores = matmul(heads(x, q), heads(x, k), transposeB = true) * 0.5773502691896258;
    y = reshape(transpose(matmul(softmax(scores, axes = [3]), heads(x, v)), axes = [0, 2, 1, 3]), shape = [1, 4, 6]);
}

graph network( tokens ) -> ( features )
{
    tokens = tract_core_external(shape = [1, 4, 6], datum_type = 'f32');
    first_scale = variable<scalar>(label = 'first.scale', shape = [1, 1, 6]);
    q = variable<scalar>(label = 'q', shape = [1, 6, 6]);
    k = variable<scalar>(label = 'k', shape = [1, 6, 6]);
    v = variable<scalar>(label = 'v', shape = [1, 6, 6]);
    seen = tokens + attention(norm(tokens, first_scale), q, k, v);
    second_scale = variable<scalar>(label = 'second.scale', shape = [1, 1, 6]);
    wide = variable<scalar>(label = 'wide', shape = [1, 6, 8]);
    narrow = variable<scalar>(label = 'narrow', shape = [1, 8, 6]);
    features = seen + matmul(tract_core_silu(matmul(norm(seen, second_scale), wide)), narrow);
}
""" % PROPERTIES


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def convolved(x, weight, bias, groups):
    """A convolution of 3 x 3 with one item of zeros around."""
    _, channels, height, width = x.shape
    padded, taken = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), channels // groups
    found = np.zeros((1, len(weight), height, width))
    for out, filters in enumerate(weight):
        first = out // (len(weight) // groups) * taken
        for row, column in np.ndindex(height, width):
            window = padded[0, first:first + taken, row:row + 3, column:column + 3]
            found[0, out, row, column] = (window * filters).sum() + bias[out]
    return found


def cnn(data, image):
    # numpy has no error function; the one of the standard library is for single numbers.
    import math
    erf = np.vectorize(math.erf)
    flat = convolved(image, data["first.weight"], data["first.bias"], 1).reshape(1, 2, -1)
    even = (flat - flat.mean(2, keepdims=True)) / np.sqrt(flat.var(2, keepdims=True) + 1e-5)
    features = np.maximum(even.reshape(1, 4, 8, 8), 0)
    depth = convolved(features, data["depth.weight"], data["depth.bias"], 4)
    both = features + 0.5 * depth * (1 + erf(depth * 0.7071067811865475))
    small = both.reshape(1, 4, 4, 2, 4, 2).max((3, 5))
    return {"scores": softmax(small.mean((2, 3)) @ data["last.weight"].T + data["last.bias"], 1)}


def gru(data, steps):
    h, states = data["zero"][0], []
    for x in steps:
        r = sigmoid(x @ data["i.r"][0].T + h @ data["h.r"][0].T)
        z = sigmoid(x @ data["i.z"][0].T + h @ data["h.z"][0].T)
        n = np.tanh(x @ data["i.n"][0].T + r * (h @ data["h.n"][0].T + data["b.n"][0]))
        h = (1 - z) * n + z * h
        states.append(h)
    scores = softmax(np.stack(states) @ data["last.weight"].T + data["last.bias"], 2)
    return {"scores": np.log(scores), "state": h[None]}


def attention(data, tokens):
    def norm(x, scale):
        return x / np.sqrt((x * x).mean(2, keepdims=True) + 1e-5) * scale

    def heads(x, weight):
        return (x @ weight).reshape(1, 4, 2, 3).transpose(0, 2, 1, 3)

    even = norm(tokens, data["first.scale"])
    q, k, v = (heads(even, data[name]) for name in "qkv")
    weights = softmax(q @ k.transpose(0, 1, 3, 2) * 0.5773502691896258, 3)
    seen = tokens + (weights @ v).transpose(0, 2, 1, 3).reshape(1, 4, 6)
    wide = norm(seen, data["second.scale"]) @ data["wide"]
    return {"features": seen + wide * sigmoid(wide) @ data["narrow"]}


GRAPHS = {"cnn": (CNN, cnn), "gru": (GRU, gru), "attention": (ATTENTION, attention)}


def dat(data):
    """A file of data of NNEF with items of float32."""
    extents = list(data.shape) + [0] * (8 - data.ndim)
    header = struct.pack("<2sBBII8III", b"\x4e\xef", 1, 0, data.nbytes, data.ndim, *extents, 32, 0)
    return header.ljust(128, b"\0") + data.tobytes()


def npz(tensors):
    """An archive of tensors, the same for the same tensors: numpy would write the time."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, tensor in tensors.items():
            file = io.BytesIO()
            np.save(file, tensor)
            archive.writestr(zipfile.ZipInfo(name + ".npy"), file.getvalue())
    return out.getvalue()


def network(name):
    """The files of a network, by name."""
    graph, compute = GRAPHS[name]
    random = np.random.RandomState(len(graph))
    given, extents = re.search(r"(\w+) = tract_core_external\(shape = (\[.*?\])", graph).groups()
    labels = re.findall(r"label = '(.*?)', shape = (\[.*?\])", graph)
    shapes = {label: [int(extent) for extent in re.findall(r"\d+", shape)] for label, shape in [(given, extents), *labels]}
    tensors = {label: random.uniform(-1, 1, shape).astype(np.float32) for label, shape in shapes.items()}
    wide = {label: tensor.astype(np.float64) for label, tensor in tensors.items()}
    outputs = compute(wide, wide[given])
    recorded = {given: tensors[given]} | {output: found.astype(np.float32) for output, found in outputs.items()}
    data = {label + ".dat": dat(tensors[label]) for label, _ in labels}
    return {"graph.nnef": graph.encode(), "io.npz": npz(recorded), **data}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    args = parser.parse_args()
    wrong = []
    for name in GRAPHS:
        for file, content in network(name).items():
            path = HERE / name / file
            if args.check:
                wrong += [] if path.is_file() and path.read_bytes() == content else [path]
            else:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content)
    for path in wrong:
        print(f"{path} is not what this script writes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
