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

import collections
import pathlib
import random
import re
import sys

import onnx
from google.protobuf.descriptor import FieldDescriptor
from onnx import helper, parser

from onnx_verdicts import TEXTS, arguments, cases, check, fill, folder_of, verdicts, written

# Patterns of the messages of onnx where only `check` accepts, and why it does.
ACCEPTED = {
    r"Unable to parse proto": "parts of a model that stay encoded are not read, so that what is wrong in them is not seen",
}

# Patterns of the messages of `check` where only it refuses, and why it does.
REFUSED = {
    r"E2030 an attribute has no name \(functions": "nothing can refer to an attribute of a function that has no name",
    r"E2051 `\w+`: .* (cannot be broadcast|do not go together|has the rank|is not a single number)": "the node fails when it runs; onnx compares fewer shapes",
    r"E2051 `\w+`: (`kernel_shape` is .*, the weights are|`size` of .* has not 4 or 5 items)": "the node fails when it runs; onnx compares fewer shapes",
    r"E2041 the tensor .* has \d+ elements instead of": "onnx does not count the items of tensors in attributes",
    r"E2047 the sparse tensor": "onnx does not look at the items of sparse tensors",
    r"E2010 an attribute has several values": "which of the values counts is not said",
}

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "onnx"

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
    models = written() | {"sparse": sparse(), "attributes": attributes()}
    models |= {path.stem: parser.parse_model(path.read_text()) for path in sorted(EXAMPLES.glob("*.onnxtxt"))}
    for name, model in models.items():
        fill(model)
        if name != "functions":
            decorate(model)
    for case in chance.sample(cases(4000), 40):
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
    options = arguments(__doc__, 1500, "mutations").parse_args()
    chance = random.Random(options.seed)
    known = seeds(chance)
    with folder_of(options) as folder:
        told = {}
        for name, model in known.items():
            path = folder / f"{name}.onnx"
            path.write_bytes(model.SerializeToString())
            told[str(path)] = f"{name}: unchanged"
        names = sorted(known)
        for i in range(options.count):
            # The models made for this test have more kinds of messages than those of operators.
            name = chance.choice(names if chance.random() < 0.3 else sorted({*TEXTS, "sparse", "attributes"}))
            data, what = mutate(chance, known[name])
            path = folder / f"{i}.onnx"
            path.write_bytes(data)
            told[str(path)] = f"{name} ({i}): {what}"
        paths = list(told)
        theirs = verdicts(paths, folder)
        ours, strict = check(options.bin, paths), check(options.bin, paths, "--strict")

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
    print(f"{len(known)} models, {options.count} mutations, {crashes} of which end onnx or onnxruntime")
    for tally in [accepted, accepted_strictly, refused, refused_strictly, inferred]:
        tally.show(1000 if options.v else 10 if tally in (accepted, refused) else 0)
    wrong = accepted.unknown() + refused.unknown()
    for sample in wrong:
        print(f"no reason is known: {sample}")
    sys.exit(1 if wrong or crashes * 10 > len(told) or not accepted.total or not refused.total else 0)


if __name__ == "__main__":
    main()
