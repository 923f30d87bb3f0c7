#!/usr/bin/env python3
"""Compares `nnef-flatten check` with onnx.checker and onnxruntime on mutations of whole ONNX models.

    python3 tests/interop/onnx_mutations.py --bin target/release/nnef-flatten [--count N] [--seed N] [-v]

A mutation deletes, duplicates, exchanges or changes a field of any message of a model, at any depth: the fields are
those of the protobuf descriptors. A part of the mutations changes bytes of the file. The models are those below, the
examples of this repository and small ones of onnx's own operator tests.

Three verdicts are compared: that of `onnx.checker.check_model` on the file, whether onnxruntime creates a session, and
that of `check`. What onnx.checker refuses has to be refused. What both others accept has to be accepted; here onnx.checker
infers types and shapes, too (`full_check`), since `check` looks at types. The test fails if a verdict differs for which
there is no reason in `ACCEPTED` or `REFUSED`. What only the inference refuses is counted, but has no limit.
"""

import argparse
import collections
import contextlib
import json
import multiprocessing
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import warnings

import numpy
import onnx
import onnx.backend.test.case.node
from google.protobuf.descriptor import FieldDescriptor
from onnx import helper, numpy_helper, parser

warnings.filterwarnings("ignore")

# Patterns of the messages of onnx where only `check` accepts, and why it does.
ACCEPTED = {
    r"Unable to parse proto": "parts of a model that stay encoded are not read, so that what is wrong in them is not seen",
}

# Patterns of the messages of `check` where only it refuses, and why it does.
REFUSED = {
    r"E2030 an attribute has no name \(functions": "nothing can refer to an attribute of a function that has no name",
    r"E2051 `\w+`: .* (cannot be broadcast|do not go together|has the rank)": "the node fails when it runs; onnx compares fewer shapes",
    r"E2047 the sparse tensor": "onnx does not look at the items of sparse tensors",
    r"E2010 an attribute has several values": "which of the values counts is not said",
}

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "onnx"

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


def sparse():
    values = helper.make_tensor("w", onnx.TensorProto.FLOAT, [2], [1.0, 2.0])
    linear = helper.make_sparse_tensor(values, helper.make_tensor("", onnx.TensorProto.INT64, [2], [1, 3]), [2, 3])
    other = helper.make_tensor("v", onnx.TensorProto.FLOAT, [2], [3.0, 4.0])
    places = helper.make_tensor("", onnx.TensorProto.INT64, [2, 2], [0, 1, 1, 2])
    coordinates = helper.make_sparse_tensor(other, places, [2, 3])
    dense = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 3])
    nodes = [
        helper.make_node("Constant", [], ["c"], sparse_value=coordinates),
        helper.make_node("Add", ["x", "w"], ["t"]),
        helper.make_node("Mul", ["t", "c"], ["y"]),
    ]
    result = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph(nodes, "sparse", [dense], [result], sparse_initializer=[linear])
    graph.node[1].name = "layer.1/add"
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)])


def attributes():
    """A call of a function that takes attributes of every kind, and a node of another domain."""
    tensor = helper.make_tensor("t", onnx.TensorProto.FLOAT, [1], [1.0])
    inner = parser.parse_graph("g (float[1] a) => (float[1] b) { b = Neg (a) }")
    kind = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [1])
    indices = helper.make_tensor("i", onnx.TensorProto.INT64, [1], [0])
    given = {
        "f": 1.5, "i": 2, "s": "text", "t": tensor, "g": inner, "tp": kind, "st": helper.make_sparse_tensor(tensor, indices, [3]),
        "fs": [1.5, 2.5], "is": [1, 2], "ss": ["a", "b"], "ts": [tensor], "gs": [inner],
    }  # fmt: skip
    model = parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21, "loc" : 1]>
        net (float[1] x) => (float[1] y) { y = loc.call (x) }
        <domain: "loc", opset_import: ["" : 21]> call <f, i, s, t, g, tp, st, fs, is, ss, ts, gs> (v) => (r) {
            c = Constant <value: tensor = @t> () e = Elu <alpha: float = @f> (v) r = Add (e, c)
        }"""
    )
    model.graph.node[0].attribute.extend(helper.make_attribute(name, value) for name, value in given.items())
    model.functions[0].value_info.append(helper.make_tensor_value_info("e", onnx.TensorProto.FLOAT, [1]))
    return model


def decorate(model):
    """Adds what most models have beside graph and functions."""
    model.metadata_props.add(key="author", value="someone")
    model.metadata_props.add(key="license", value="none")
    model.doc_string = "documentation"
    for graph in [model.graph]:
        graph.value_info.append(helper.make_tensor_value_info("unused_value", onnx.TensorProto.FLOAT, [1, "N"]))
        graph.quantization_annotation.add(tensor_name="x").quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="x")
        for i, node in enumerate(graph.node):
            node.name = node.name or f"node/{i}"
            node.metadata_props.add(key="place", value="here")


def seeds(chance):
    models = {name: parser.parse_model(text) for name, text in TEXTS.items()}
    models |= {"sparse": sparse(), "attributes": attributes()}
    models |= {path.stem: parser.parse_model(path.read_text()) for path in sorted(EXAMPLES.glob("*.onnxtxt"))}
    for name, model in models.items():
        fill(model)
        if name != "functions":
            decorate(model)
    with contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
        cases = onnx.backend.test.case.node.collect_testcases(None)
    small = [case for case in cases if case.model is not None and case.model.ByteSize() < 4000]
    for case in chance.sample(sorted(small, key=lambda case: case.name), 40):
        models[case.name] = case.model
    return models


def each_message(message, found):
    found.append(message)
    for field, value in message.ListFields():
        if field.message_type:
            for inner in value if field.is_repeated else [value]:
                each_message(inner, found)
    return found


def scalar(chance, field, model_texts, old=None):
    kinds = FieldDescriptor
    if field.enum_type:
        return chance.choice(field.enum_type.values).number
    if field.cpp_type in (kinds.CPPTYPE_FLOAT, kinds.CPPTYPE_DOUBLE):
        return chance.choice([0.0, -1.5, 1e30, float("nan"), float("inf")])
    if field.type == kinds.TYPE_BYTES:
        old = old or b""
        return chance.choice([b"", old + b"x", old[:-1], old * 2, b"\x00\x00\x80\x3f", b"text"])
    if field.cpp_type == kinds.CPPTYPE_STRING:
        return chance.choice(["", (old or "") + "x", chance.choice(model_texts), chance.choice(model_texts)])
    big = 2**62 if field.cpp_type in (kinds.CPPTYPE_INT64, kinds.CPPTYPE_UINT64) else 2**30
    numbers = [0, 1, 2, 3, 7, 99, big, (old or 0) + 1, chance.randrange(30)]
    if field.cpp_type not in (kinds.CPPTYPE_UINT64, kinds.CPPTYPE_UINT32):
        numbers += [-1, -big]
    return chance.choice(numbers)


def change(chance, message, field, texts, alike):
    """Changes a field of a message. Returns what was done, or none if nothing can be done."""
    value = getattr(message, field.name)
    if not field.is_repeated:
        if message.HasField(field.name) and chance.random() < 0.4:
            message.ClearField(field.name)
            return "delete"
        if field.message_type:
            other = chance.choice([None, *alike.get(field.message_type.full_name, [])])
            value.CopyFrom(other) if other is not None else value.SetInParent()
            return "exchange"
        setattr(message, field.name, scalar(chance, field, texts, value))
        return "change"
    action = chance.choice(["delete", "delete", "duplicate", "exchange", "add", "clear", "reverse"])
    if action == "add" or not len(value):
        if field.message_type:
            other = chance.choice([None, *alike.get(field.message_type.full_name, [])])
            value.add().CopyFrom(other) if other is not None else value.add()
        else:
            value.append(scalar(chance, field, texts))
        return "add"
    i = chance.randrange(len(value))
    if action == "delete":
        del value[i]
    elif action == "clear":
        message.ClearField(field.name)
    elif action == "duplicate":
        value.append(value[i]) if not field.message_type else value.add().CopyFrom(value[i])
    elif action == "reverse":
        items = list(value)[::-1]
        message.ClearField(field.name)
        getattr(message, field.name).extend(items)
    elif field.message_type:
        value[i].CopyFrom(chance.choice(alike[field.message_type.full_name]))
    else:
        value[i] = scalar(chance, field, texts, value[i])
    return action


def mutate(chance, model):
    """A model with a mistake, as bytes, and what was changed."""
    if chance.random() < 0.08:
        return change_bytes(chance, model.SerializeToString())
    model = type(model).FromString(model.SerializeToString())
    messages = each_message(model, [])
    texts = sorted({text for text in re.findall(r'"([^"]*)"', str(model)) if len(text) < 40})
    alike = collections.defaultdict(list)
    for message in messages:
        copy = type(message)()
        copy.CopyFrom(message)
        alike[message.DESCRIPTOR.full_name].append(copy)
    # One half of the choices is among places, the other among kinds of messages, so that rare ones are not missed.
    if chance.random() < 0.5:
        message = chance.choice(messages)
    else:
        kind = chance.choice(sorted(alike))
        message = chance.choice([each for each in messages if each.DESCRIPTOR.full_name == kind])
    # Fields that are there are more often changed than others added.
    present = [field for field, _ in message.ListFields()]
    fields = present if present and chance.random() < 0.7 else message.DESCRIPTOR.fields
    field = chance.choice(list(fields))
    done = change(chance, message, field, texts or ["x"], alike)
    return model.SerializeToString(), f"{done} {message.DESCRIPTOR.name}.{field.name}"


def change_bytes(chance, data):
    data = bytearray(data)
    at = chance.randrange(len(data))
    action = chance.choice(["flip", "delete", "insert", "truncate"])
    if action == "flip":
        data[at] ^= 1 << chance.randrange(8)
    elif action == "delete":
        del data[at]
    elif action == "insert":
        data.insert(at, chance.randrange(256))
    else:
        del data[at:]
    return bytes(data), f"{action} byte"


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


class Tally:
    """Models on which verdicts differ, among those that must have one verdict, but for known reasons."""

    def __init__(self, what, known=()):
        self.what, self.known, self.total, self.different = what, known, 0, []

    def unknown(self):
        """Those for which there is no reason."""
        return [sample for sample in self.different if not any(re.search(pattern, sample) for pattern in self.known)]

    def add(self, is_different, sample):
        self.total += 1
        if is_different:
            self.different.append(sample)

    def percent(self):
        return 100 * len(self.different) / max(1, self.total)

    def show(self, shown):
        print(f"{self.what}: {len(self.different)} of {self.total}, {self.percent():.2f} %")
        for sample in self.different[:shown]:
            print(f"    {sample}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--bin", required=True)
    arguments.add_argument("--count", type=int, default=1500, help="mutations")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--keep", type=pathlib.Path, help="a folder for the models")
    arguments.add_argument("-v", action="store_true", help="all disagreements")
    arguments = arguments.parse_args()
    chance = random.Random(arguments.seed)
    known = seeds(chance)
    with tempfile.TemporaryDirectory() as folder:
        folder = arguments.keep or pathlib.Path(folder)
        folder.mkdir(exist_ok=True)
        told = {}
        for name, model in known.items():
            path = folder / f"{name}.onnx"
            path.write_bytes(model.SerializeToString())
            told[str(path)] = f"{name}: unchanged"
        names = sorted(known)
        for i in range(arguments.count):
            # The models made for this test have more kinds of messages than those of operators.
            name = chance.choice(names if chance.random() < 0.3 else sorted({*TEXTS, "sparse", "attributes"}))
            data, what = mutate(chance, known[name])
            path = folder / f"{i}.onnx"
            path.write_bytes(data)
            told[str(path)] = f"{name} ({i}): {what}"
        paths = list(told)
        theirs = verdicts(paths, folder)
        ours, strict = check(arguments.bin, paths), check(arguments.bin, paths, "--strict")

    accepted = Tally("onnx.checker refuses, `check` accepts", ACCEPTED)
    accepted_strictly = Tally("  of which with --strict")
    refused = Tally("onnx.checker and onnxruntime accept, `check` refuses", REFUSED)
    refused_strictly = Tally("  of which with --strict")
    inferred = Tally("only the inference of onnx.checker refuses, `check` accepts")
    crashes = 0
    for path, what in told.items():
        if theirs[path] is None:
            crashes += 1
            continue
        basic, full, session = theirs[path]
        sample = f"{what}: {(basic or full or '')[:150]}{'' if session is None else ' | onnxruntime: ' + session[:120]}"
        if basic:
            accepted.add(not ours[path], sample)
            accepted_strictly.add(not strict[path], sample)
        elif full:
            inferred.add(not ours[path], sample)
        elif session is None:
            refused.add(bool(ours[path]), f"{what}: {'; '.join(ours[path])[:200]}")
            refused_strictly.add(bool(strict[path]), f"{what}: {'; '.join(strict[path])[:200]}")
    print(f"{len(known)} models, {arguments.count} mutations, {crashes} of which end onnx or onnxruntime")
    for tally in [accepted, accepted_strictly, refused, refused_strictly, inferred]:
        tally.show(1000 if arguments.v else 10 if tally in (accepted, refused) else 0)
    wrong = accepted.unknown() + refused.unknown()
    for sample in wrong:
        print(f"no reason is known: {sample}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
