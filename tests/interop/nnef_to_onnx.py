#!/usr/bin/env python3
"""Compares models of ONNX that are made from NNEF, run by onnxruntime, with `nnef-flatten run`.

usage: nnef_to_onnx.py --bin PATH [--count N] [--seed S] [--only OPERATION] [-v]

Each case is a document with one operation and random operands and attributes: those of primitives.py, and further ones
here for compounds. Its model has to pass onnx.checker with shapes inferred, and to give the numbers of the evaluator. Each
row of the table of rules in docs/nnef-to-onnx.md has cases, but those that are refused, which have to be refused. Then whole models
below --models are translated and, where `io.npz` lies beside them, run. Needs the packages numpy, onnx, onnxruntime.
"""
import argparse, collections, json, os, pathlib, re, shutil, struct, subprocess, sys, tempfile

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import primitives
from primitives import CASES, Source, broadcastable, call, case, document

HERE = pathlib.Path(__file__).resolve().parent.parent.parent
# The operations of the standard, and what exporters write for inputs.
STANDARD = set(re.findall(r"^fragment (\w+)", (HERE / "src/library/std/nnef-1.0.nnef").read_text(), re.M))
SOURCES = ("tract_core_external",)
# Refused, but in a row with operations that are not; and what tract itself does not run.
NOT_COMPARED = ("tract_core_einsum_q", "tract_core_qmatmul", "tract_core_matmul")
# Compared by the tests of the library, since their bodies are fragments.
BODIES = ("tract_core_scan",)


def literal_or_tensor(s, make):
    return s.pick([make([]), make([1, s.int(1, 3)])])


@case("clamp")
def clamp(s, name):
    x, a, b = (np.asarray(v) for v in broadcastable(s, 3, s.tensor))
    return {"x": x, "a": a, "b": b}, "clamp(x, a, b)", [x]


@case("softabs", "leaky_relu", "selu")
def with_scalars(s, name):
    x = s.tensor(s.shape(0, 4))
    given = {"softabs": {"epsilon": 0.1}, "leaky_relu": {"alpha": 0.3}}.get(name)
    given = s.pick([{}, {"alpha": 1.5, "lambda": 0.9}]) if given is None else given
    return {"x": x}, call(name, "x", **given), [x]


@case("prelu")
def prelu(s, name):
    x, alpha = (np.asarray(v) for v in broadcastable(s, 2, s.tensor))
    return {"x": x, "a": alpha}, "prelu(x, a)", [x]


@case("add_n")
def add_n(s, name):
    parts = broadcastable(s, s.int(1, 4), s.tensor)
    given = {"x%d" % i: np.asarray(part) for i, part in enumerate(parts)}
    return given, "add_n([%s])" % ", ".join(given), [parts[0]]


@case("copy_n")
def copy_n(s, name):
    x = s.tensor(s.shape())
    count = s.int(1, 3)
    return {"x": x}, "copy_n(x, times = %d)" % count, [[x] * count]


@case("batch_normalization")
def batch_normalization(s, name):
    x = s.tensor(s.shape(2, 4))
    shape = s.pick([[1, x.shape[1]], [1, x.shape[1]] + [1] * (x.ndim - 2), [1], [x.shape[0]]])
    given = {"x": x, "m": s.tensor(shape), "v": s.tensor(shape, 0.2, 2), "o": s.tensor(shape), "s": s.tensor(shape)}
    return given, call(name, "xmvos", epsilon=0.01), [x]


@case("local_response_normalization", "local_mean_normalization", "local_variance_normalization",
      "local_contrast_normalization")
def local_normalization(s, name):
    x = s.tensor(s.shape(1, 4, 5), 0.2, 2)
    size = [s.int(1, 3) for _ in x.shape]
    if x.ndim >= 3 and s.flag():
        size = [1, s.int(1, 5)] + [1] * (x.ndim - 2)
    given = {"alpha": 0.5, "beta": 0.75, "bias": 1.5} if "response" in name else {}
    if "variance" in name or "contrast" in name:
        given = {"bias": 0.5, "epsilon": 0.1}
    return {"x": x}, call(name, "x", size=size, **given), [x]


@case("l1_normalization", "l2_normalization", "moments")
def along_axes(s, name):
    x = s.tensor(s.shape())
    given = {} if name == "moments" else {"bias": 0.1, "epsilon": 0.2}
    return {"x": x}, call(name, "x", axes=s.axes(x.ndim), **given), [x] * (2 if name == "moments" else 1)


@case("nearest_downsample", "area_downsample", "nearest_upsample")
def resampled(s, name):
    spatial = s.int(1, 3)
    factor = [s.int(1, 4) for _ in range(spatial)]
    up = name == "nearest_upsample"
    x = s.tensor([s.int(1, 2), s.int(1, 3)] + [s.int(1, 3) * (1 if up else f) for f in factor])
    return {"x": x}, call(name, "x", factor=factor), [x]


@case("multilinear_upsample_borders")
def upsample_borders(s, name):
    made = primitives.upsample(s, "multilinear_upsample")
    text = re.sub("border = '[^']*'", "border = '%s'" % s.pick(["reflect", "reflect-even", "constant"]), made[1])
    return made[0], text, made[2]


@case("rms_pool")
def rms_pool(s, name):
    made = primitives.box(s, "avg_pool")
    return made[0], made[1].replace("avg_pool", "rms_pool"), made[2]


@case("separable_conv", "separable_deconv")
def separable(s, name):
    channels, out, spatial = s.int(1, 3), s.int(1, 3), s.int(1, 2)
    size = [s.int(1, 3) for _ in range(spatial)]
    plane, point = s.tensor([channels, 1] + size), s.tensor([out, channels] + [1] * spatial)
    x = s.tensor([s.int(1, 2), channels if name == "separable_conv" else out] + [s.int(3, 6) for _ in size])
    return {"x": x, "w": plane, "p": point}, call(name, "xwp", stride=[s.int(1, 2) for _ in size]), [x]


@case("deconv_borders")
def deconv_borders(s, name):
    made = primitives.convolution(s, "deconv")
    mode = s.pick(["replicate", "reflect", "reflect-even", "ignore"])
    return made[0], made[1].replace("'constant'", "'%s'" % mode), made[2]


@case("debox_borders")
def debox_borders(s, name):
    made = primitives.debox(s, "debox")
    mode = s.pick(["replicate", "reflect", "reflect-even", "ignore"])
    return made[0], made[1][:-1] + ", border = '%s')" % mode, made[2]


@case("min_max_linear_quantize", "zero_point_linear_quantize", "linear_quantize", "logarithmic_quantize")
def quantize(s, name):
    x = s.tensor(s.shape(), -3, 3)
    if name == "zero_point_linear_quantize":
        return {"x": x}, call(name, ["x", "3", "0.02"], bits=8, signed=s.flag(), symmetric=False), [x]
    if name == "logarithmic_quantize":
        return {"x": np.abs(x) + 0.1}, call(name, ["x", "4.0"], bits=4), [x]
    given = {"signed": s.flag(), "symmetric": s.flag()} if name[0:3] == "min" else {}
    return {"x": x}, call(name, ["x", "-2.0", "2.0"], bits=8, **given), [x]


@case("integers")
def integers(s, name):
    x, y = (np.asarray(v) for v in broadcastable(s, 2, lambda shape: s.rng.integers(1, 9, shape)))
    op = s.pick(["add", "sub", "mul", "lt", "eq", "min", "max", "div"])
    mixed = s.flag() and op != "div"
    return {"x": x, "y": y.astype(np.float32) if mixed else y}, "%s(x, y)" % op, [x]


@case("types")
def types(s, name):
    """Operands of other types than the operation declares, which checks allow."""
    items = lambda: s.pick([s.rng.integers(0, 3, (2, 3)), s.tensor([2, 3]).round(), s.rng.integers(0, 2, (2, 3)).astype(bool)])
    binary = ["add", "sub", "mul", "min", "max", "eq", "ne", "and", "or"]
    single = ["any_reduce(x, axes = [1])", "all_reduce(x, axes = [0])", "max_reduce(x, axes = [1])", "not(x)", "neg(x)",
              "sum_reduce(x, axes = [0])", "argmax_reduce(x, axes = [1])", "concat([x, y], axis = 1)", "stack([x, y], axis = 0)",
              "add_n([x, y])", "select(x, y, 1.0)", "select(x, 0.5, y)"]
    text = s.pick([op + "(x, y)" for op in binary] + single)
    return {"x": items(), "y": items()}, text, [np.zeros((2, 3))]


@case("literals")
def literals(s, name):
    x = s.tensor(s.shape())
    return {"x": x}, s.pick(["add(x, 1.5)", "sub(2.0, x)", "pow(2.0, x)", "select(gt(x, 0.0), x, -1.0)", "min(x, 0.5)"]), [x]


@case("tract_core_external", "tract_core_erf", "erf", "tract_core_softmax", "tract_core_log_softmax")
def of_vendors(s, name):
    x = s.tensor(s.shape(1, 4))
    axis = s.int(0, x.ndim - 1)
    text = {"tract_core_external": "copy(x)", "tract_core_erf": "tract_core_erf(x)", "erf": "erf_v9(x)"}
    return {"x": x}, text.get(name, "%s(x, axes = [%d])" % (name, axis)), [x]


@case("tract_core_round_even", "tract_core_hard_swish")
def by_item_of_vendors(s, name):
    x = s.tensor(s.shape(1, 4), -8, 8)
    return {"x": np.round(x * 2) / 2}, "%s(x)" % name, [x]


# tract runs the steps of these models with floats of 16 bits only.
@case("tract_transformers_causal_conv1d_update", "tract_qwen35_causal_conv1d_update")
def causal_conv(s, name):
    channels = s.int(1, 5)
    x, w, h = s.tensor([1, channels, 1]), s.tensor([channels, 4]), s.tensor([1, channels, 4])
    return {"x": x, "w": w, "h": h}, "%s(x, w, h)" % name, [x, h]


@case("tract_transformers_gdn_recurrent", "tract_qwen35_gdn_recurrent")
def gated_delta(s, name):
    batch, heads, width = s.int(1, 2), s.int(1, 3), s.int(1, 4)
    row, one = [batch, heads, width], [batch, heads]
    given = {"q": s.tensor(row), "k": s.tensor(row), "v": s.tensor(row), "g": s.tensor(one), "b": s.tensor(one)}
    given["h"] = s.tensor(row + [width])
    return given, "%s(q, k, v, g, b, h)" % name, [given["q"], given["h"]]


@case("HardSigmoid")
def hard_sigmoid(s, name):
    x = s.tensor(s.shape(1, 4), -4, 4)
    return {"x": x}, s.pick(["HardSigmoid_v3(x, alpha = 0.3)", "HardSigmoid(x)"]), [x]


@case("mean_variance_normalization")
def mean_variance(s, name):
    x = s.tensor(s.shape(2, 4))
    shape = [1, x.shape[1]]
    return {"x": x, "s": s.tensor(shape), "o": s.tensor(shape)}, call(name, "xso", axes=s.axes(x.ndim), epsilon=0.01), [x]


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else None


def computed(path, feed):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options)
    wanted = {value.name: value.type for value in session.get_inputs()}
    kinds = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(bool)": bool}
    feed = {key: value.astype(kinds[wanted[key]]) for key, value in feed.items() if key in wanted}
    return dict(zip([value.name for value in session.get_outputs()],
                    session.run(None, feed)))


def apart(got, want):
    if got.shape != want.shape:
        return "shape %s, wanted %s" % (got.shape, want.shape)
    if got.dtype.kind != want.dtype.kind:
        return "type %s, wanted %s" % (got.dtype, want.dtype)
    got, want = got.astype(np.float64), want.astype(np.float64)
    # The maximum of no items is the least float in onnxruntime.
    got, want = (np.where(np.isneginf(items), np.finfo(np.float32).min, items) for items in (got, want))
    with np.errstate(invalid="ignore"):
        error = np.abs(got - want) / np.maximum(1, np.abs(want))
    error = np.where((got == want) | np.isnan(got) & np.isnan(want), 0, error)
    return "differs by %g" % error.max() if error.size and not error.max() <= 1e-4 else None


def check(binary, folder, made):
    inputs, invocation, expected = made
    text, names = document(inputs, invocation, expected)
    if invocation.startswith(("tract_transformers_", "tract_qwen35_")):
        text = text.replace(";", ";\nextension tract_registry tract_transformers;", 1)
    if "tract_core_external" in folder:
        text = text.replace("external<scalar>(", "tract_core_external(").replace("]);", "], datum_type = 'f32');", 1)
    given, found, model = (os.path.join(folder, name) for name in ("in.npz", "out.npz", "model.onnx"))
    feed = inputs or {"unused": np.zeros(1, np.float32)}
    np.savez(given, **feed)
    if run([binary, "run", "-q", "--inputs", given, "-o", found, "-"], text):
        return "refused", "the evaluator refuses\n" + text
    why = run([binary, "-q", "--to", "onnx", "-", "-o", model], text)
    if why:
        return "refused", "%s\n%s" % (why, text)
    try:
        outputs = computed(model, feed)
    except Exception as error:  # whatever onnxruntime does not like
        return "wrong", "%s\n%s" % (error, text)
    with np.load(found) as wanted:
        for name in names:
            why = apart(outputs[name], wanted[name])
            if why:
                return "wrong", "%s: %s\n%s" % (name, why, text)
    return "right", None


def rules():
    """The rows of the table of rules: names, and whether they are refused."""
    section = (HERE / "docs/nnef-to-onnx.md").read_text().partition("\n## Rules\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| [^|]*\|$", section, re.M)
    assert rows, "docs/nnef-to-onnx.md has no table of rules"
    return {name: what.startswith("refused") for name, what in rows}


def operations(args, folder):
    table, counts, failed = rules(), collections.Counter(), 0
    # What has no case: inputs and data are in every case, and states are refused. Operations of registries are compared
    # with tract, unless they are refused.
    registries = re.findall(r"\w+", (HERE / "tests/interop/registry_ops.py").read_text())
    elsewhere = {"external", "update", "variable", *NOT_COMPARED, *BODIES, *registries}
    compared = lambda name: name in CASES or name in elsewhere or (table[name] and name.startswith("tract_"))
    missing = [name for name in table if not compared(name)]
    assert not missing, "no cases for %s" % missing
    for name, maker in CASES.items():
        if args.only and name != args.only:
            continue
        place = os.path.join(folder, name)
        os.mkdir(place)
        source, done = Source([args.seed, sum(name.encode())]), 0
        refused = 0
        while done < args.count:
            made = maker(source, name)
            if made is None:
                continue
            done += 1
            found, why = check(args.bin, place, made)
            refused += found == "refused"
            wanted = "refused" if table.get(name) else "right"
            counts[found] += 1
            if found == "refused" and ("windows over" in why or "covers no item" in why):
                continue  # More axes with windows than operators of ONNX have, or maxima without a place.
            if found != wanted:
                failed += 1
                print("== %s: %s" % (name, why))
        if args.v:
            print("%-30s %d cases, %d refused" % (name, done, refused))
    print("onnx: %d operations, %d cases give the same numbers, %d are refused, %d failed" % (
        len(CASES), counts["right"], counts["refused"], failed))
    return failed + (not counts["right"])


def listed(args, source):
    """The flat graph of a model, if it can be had."""
    done = subprocess.run([args.bin, "-q", "--unroll", "--to", "json", str(source)], capture_output=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def with_random_data(args, source, graph, folder):
    """A copy of a model with random data for its variables; none if they are too many."""
    operations = [operation for operation in graph["operations"] if operation["name"] == "variable"]
    shapes = {op["attributes"]["label"]: (op["attributes"]["shape"], op["dtype"]) for op in operations}
    if not shapes or sum(np.prod(shape) for shape, _ in shapes.values()) > args.most:
        return None
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    shutil.copy(source, place / "graph.nnef")
    rng = np.random.default_rng(0)
    for label, (shape, dtype) in shapes.items():
        data = rng.uniform(0.01, 0.1, shape).astype(np.float32)
        bits, kind, data = {"integer": (64, 4, data.astype(np.int64)), "logical": (8, 5, data > 0)}.get(dtype, (32, 0, data))
        extents = list(shape) + [0] * (8 - len(shape))
        header = struct.pack("<2sBBII8III", b"\x4e\xef", 1, 0, data.nbytes, len(shape), *extents, bits, kind)
        path = place / (label + ".dat")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(header.ljust(128, b"\0") + data.tobytes())
    return place / "graph.nnef"


def random_feed(path):
    """Random inputs of a model; none where extents are open."""
    kinds = {1: np.float32, 7: np.int64, 9: bool}
    feed = {}
    for value in onnx.load(path).graph.input:
        tensor = value.type.tensor_type
        shape = [dim.dim_value for dim in tensor.shape.dim]
        if not all(shape):
            return None
        feed[value.name] = np.random.default_rng(1).uniform(0, 1, shape).astype(kinds[tensor.elem_type])
    return feed


def evaluated(args, source, feed, folder):
    given, found = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
    np.savez(given, **feed)
    try:
        done = subprocess.run([args.bin, "run", "-q", "--inputs", given, "-o", found, str(source)], capture_output=True, timeout=args.patience)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        return None
    with np.load(found) as outputs:
        return dict(outputs)


def model(args, source, folder):
    """What becomes of a model: refused, translated, runs, or numbers that agree."""
    target, data = os.path.join(folder, "model.onnx"), source.parent / "io.npz"
    command = [args.bin, "-q", "--unroll", "--to", "onnx", "-o", target]
    why, used = run([*command, str(source)], None), source
    if why and "E2092" in why:
        graph = listed(args, source)
        used = graph and with_random_data(args, source, graph, folder)
        if not used:
            return "refused", "too large to be tried with random data"
        why = run([*command, str(used)], None)
    if why:
        return "refused", why.splitlines()[0]
    onnx.checker.check_model(target, full_check=True)
    if used is source and data.exists():
        with np.load(data) as arrays:
            feed = wanted = dict(arrays)
    else:
        feed = random_feed(target)
        wanted = feed and evaluated(args, used, feed, folder)
    if feed is None:
        onnxruntime.InferenceSession(target)
        return "translated", None
    outputs = computed(target, feed)
    if wanted is None:
        return "runs", None
    for key, value in outputs.items():
        why = apart(value, wanted[key])
        assert not why, "%s %s" % (key, why)
    return "agrees", None


def models(args, folder):
    """Translates whole models, and runs those that have numbers, and others with random ones."""
    counts, failed, standard = collections.Counter(), 0, collections.Counter()
    for source in sorted(args.models.glob("*/graph.nnef")):
        graph = listed(args, source)
        names = {operation["name"] for operation in graph["operations"]} if graph else {"?"}
        own = all(name in STANDARD or name in SOURCES for name in names)
        try:
            found, why = model(args, source, folder)
        except Exception as error:
            found, why = "failed", error
        counts[found] += 1
        standard[found] += own
        failed += found == "failed"
        if args.v or found == "failed":
            print("%s%s%s: %s%s" % ("== " if found == "failed" else "", source.parent.name, " (standard)" if own else "", found, ": %s" % why if why else ""))
        for path in pathlib.Path(folder).glob("tmp*"):
            shutil.rmtree(path, ignore_errors=True)
    tell = lambda counts: ", ".join("%s %d" % (what, counts[what]) for what in ("agrees", "runs", "translated", "refused", "failed"))
    print("onnx: %d models: %s; of %d with standard operations only: %s" % (
        sum(counts.values()), tell(counts), sum(standard.values()), tell(standard)))
    return failed + (bool(counts) and not counts["agrees"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=10, help="cases of each operation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one operation")
    parser.add_argument("--models", type=pathlib.Path, default=HERE.parent / "shared" / "models")
    parser.add_argument("--no-models", action="store_true")
    parser.add_argument("--most", type=float, default=3e7, help="numbers of a model that random data are made for")
    parser.add_argument("--patience", type=float, default=5, help="seconds for the evaluator to run a model")
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    onnxruntime.set_default_logger_severity(4)
    with tempfile.TemporaryDirectory() as folder:
        failed = operations(args, folder)
        if not args.only and not args.no_models:
            if not args.models.is_dir():
                print(f"skipped: no models in {args.models}")
            failed += models(args, folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
