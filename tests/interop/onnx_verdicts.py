"""What scripts share that compare `nnef-flatten check` with onnx.checker and onnxruntime: models to change, and verdicts."""

import argparse
import contextlib
import json
import multiprocessing
import os
import pathlib
import subprocess
import tempfile
import warnings

import numpy
import onnx
import onnx.backend.test.case.node
from onnx import numpy_helper, parser

warnings.filterwarnings("ignore")

TEXTS = {
    "functions": """<ir_version: 10, opset_import: ["" : 21, "loc" : 1]>
        net (float[N, 4] x, float[4, 4] w) => (float[N, 4] y, float[N, 4] z)
        <float[4] b = {1, 2, 3, 4}, int64[1] axes = {1}> {
            h = loc.dense <scale = 2.0> (x, w, b)
            y, z = loc.pair (h, x)
        }
        <domain: "loc", opset_import: ["" : 21, "loc" : 1]>
        dense <scale: float = 1.0> (a, m, c) => (r) {
            p = MatMul (a, m)
            q = Add (p, c)
            r = loc.leaky <slope: float = @scale> (q)
        }
        <domain: "loc", opset_import: ["" : 21]>
        leaky <slope> (v) => (r) { r = LeakyRelu <alpha: float = @slope> (v) }
        <domain: "loc", opset_import: ["" : 21]>
        pair (a, b) => (s, d) { s = Add (a, b) d = Sub (a, b) }""",
    "control": """<ir_version: 9, opset_import: ["" : 17]>
        net (float[2, 3] x, bool c, int64 n) => (float[2, 3] y, float[2, 3] last, float[K, 2, 3] all) {
            t = Relu (x)
            y = If (c) <
                then_branch = one () => (float[2, 3] p) <float[3] w = {1, 2, 3}> { p = Mul (t, w) },
                else_branch = two () => (float[2, 3] q) { u = Neg (t) q = Exp (u) }
            >
            last, all = Loop (n, c, x) <
                body = step (int64 i, bool k, float[2, 3] s) => (bool k2, float[2, 3] s2, float[2, 3] o) {
                    k2 = Identity (k) s2 = Add (s, t) o = Abs (s2)
                }
            >
        }""",
    "network": """<ir_version: 8, producer_name: "exporter", model_version: 1, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
        net (float[1, 3, 8, 8] x) => (float[1, 2] y, int64[K] s)
        <float[2, 3, 3, 3] w, float[2] b = {0.5, 1.5}, int64[2] shape = {1, -1}, float[32, 2] m> {
            c = Conv <auto_pad = "SAME_UPPER", strides = [2, 2]> (x, w, b)
            r = Clip (c)
            p = MaxPool <kernel_shape = [2, 2], strides = [1, 1], pads = [0, 0, 1, 1]> (r)
            f = Reshape (p, shape)
            g = Gemm <alpha = 0.5, transB = 0> (f, m)
            y = Softmax <axis = -1> (g)
            s = Shape (p)
        }""",
    "sequences": """<ir_version: 8, opset_import: ["" : 18]>
        net (float[2] a, seq(float[2]) q, optional(float[2]) o) => (float[2] y, seq(float[2]) s, float[2] e) {
            s = SequenceConstruct (a, a)
            i = Constant <value_int = 0> ()
            y = SequenceAt (q, i)
            e = OptionalGetElement (o)
        }""",
    "constants": """<ir_version: 9, opset_import: ["" : 19]>
        net (float[2] x) => (float[2] y, int64[2] k, double[1] d, bool[2] t, string[1] u) {
            c = Constant <value = float[2] {1.0, 2.0}> ()
            y = Add (x, c)
            k = Constant <value_ints = [1, 2]> ()
            f = Constant <value_floats = [1.5]> ()
            d = Cast <to = 11> (f)
            t = Less (x, c)
            u = Constant <value_strings = ["one"]> ()
        }""",
}  # fmt: skip


def fill(model):
    """Gives constants that the text only declares random elements."""
    chance = numpy.random.RandomState(1)
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and not tensor.float_data and not tensor.raw_data:
            elements = chance.rand(*tensor.dims).astype(numpy.float32)
            tensor.CopyFrom(numpy_helper.from_array(elements, tensor.name))


def written():
    """The models of `TEXTS`, whose constants have elements."""
    models = {name: parser.parse_model(text) for name, text in TEXTS.items()}
    for model in models.values():
        fill(model)
    return models


def cases(most):
    """onnx's own operator tests with models below so many bytes, in the order of their names."""
    with contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
        found = onnx.backend.test.case.node.collect_testcases(None)
    small = (case for case in found if case.model is not None and case.model.ByteSize() < most)
    return sorted(small, key=lambda case: case.name)


def arguments(about, count, unit):
    """The options of a script, to which it adds its own."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=count, help=unit)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the models that are made")
    parser.add_argument("-v", action="store_true", help="all differences, and how often each reason counts")
    return parser


@contextlib.contextmanager
def folder_of(options):
    """The folder for models: one that stays if there is an option for it."""
    with tempfile.TemporaryDirectory() as made:
        folder = options.keep or pathlib.Path(made)
        folder.mkdir(exist_ok=True)
        yield folder


def first_line(error):
    return next((line for line in str(error).splitlines() if line.strip()), repr(error))


def judge(paths, out):
    """Writes the verdicts of onnx.checker, basic and full, and of onnxruntime on each file as a line of JSON."""
    import onnxruntime

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    onnxruntime.set_default_logger_severity(4)

    def run(path):
        onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    with open(out, "a") as lines:
        for path in paths:
            found = []
            for judge_one in [
                lambda path: onnx.checker.check_model(path),
                lambda path: onnx.checker.check_model(path, full_check=True),
                run,
            ]:
                # Where a judge ends the process, this line tells which file it was.
                try:
                    judge_one(path)
                    found.append(None)
                except Exception as error:
                    # A session may lack an implementation of what is right.
                    found.append(None if "NOT_IMPLEMENTED" in str(error) else first_line(error))
            lines.write(json.dumps([path, *found]) + "\n")
            lines.flush()


def verdicts(paths, folder, judge=judge):
    """The verdicts on files: path -> (basic, full, onnxruntime); none of a file on which a judge crashes."""
    context = multiprocessing.get_context("fork")
    halves = [paths[0::2], paths[1::2]]
    outs = [folder / f"{judge.__name__}{i}.verdicts" for i in range(2)]
    for out in outs:
        out.unlink(missing_ok=True)

    def started(half, out):
        process = context.Process(target=judge, args=(half, out))
        process.start()
        return process

    found = {}
    running = [(started(half, out), half, out) for half, out in zip(halves, outs)]
    while running:
        process, half, out = running.pop(0)
        process.join()
        done = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
        found |= {line[0]: line[1:] for line in done}
        left = half[sum(path in found for path in half) :]
        if left:
            found[left[0]] = None
            running.append((started(left[1:], out), left[1:], out))
    return found


def check(binary, paths, *options):
    """The codes of the errors of each file; an empty list for a file that is accepted."""
    found = {path: [] for path in paths}
    for start in range(0, len(paths), 500):
        part = paths[start : start + 500]
        command = [binary, "check", "--message-format", "json", *options, "--from", "onnx", *part]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode in (0, 1), f"exit status {run.returncode}\n{run.stderr[-1000:]}"
        for line in run.stderr.splitlines():
            each = json.loads(line)
            if each.get("severity") == "error":
                found[each["file"]].append(f"{each['code']} {each['message']}")
    return found
