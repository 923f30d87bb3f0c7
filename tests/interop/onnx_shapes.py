#!/usr/bin/env python3
"""Compares `nnef-flatten check` with onnx.checker, which infers types and shapes, on models with a changed shape or type.

    python3 tests/interop/onnx_shapes.py --bin target/release/nnef-flatten [--count N] [--seed N] [--models FOLDER] [-v]

One thing of a model is changed: an extent, the rank or the element type of an input, an output, a `value_info` or an
initializer, an item of a constant of integers, or an attribute that decides shapes (axes, pads, kernel_shape, perm, split and
others). The models are onnx's own operator tests, with operands of integers as constants in a half of them, those with
functions and control flow of `onnx_verdicts.py`, and with `--models` all models of a folder, which as they are must not be refused
where onnx.checker accepts them.

What `onnx.checker.check_model(full_check=True)` refuses has to be refused, and what it accepts has to be accepted, except
for what `DOCUMENTED` says. Where only `check` refuses, it is right if onnxruntime does not load the model, or does not run it on
inputs of the declared shapes. The test fails if less than 98 % agree, or if a refusal is wrong.
"""

import collections
import json
import os
import pathlib
import random
import re
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from onnx_shapes_documented import DOCUMENTED
from onnx_verdicts import arguments, cases, check, folder_of, verdicts, written

LEAST = 98.0
INTEGERS = (TensorProto.INT64, TensorProto.INT32)
ELEMENTS = [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL, TensorProto.UINT8]
# Attributes that decide shapes or types.
ATTRIBUTES = """axis axes pads kernel_shape perm split strides dilations group blocksize to shape num_outputs output_shape output_padding
    keepdims transA transB num_heads q_num_heads kv_num_heads hidden_size direction batch_axis time_axis batch_dims size dtype auto_pad
    scan_input_axes scan_output_axes num_scan_inputs start end starts ends equation new_axis k pooled_shape output_height output_width
    stash_type value_ints value_int allowzero noop_with_empty_axes block_size onesided layout exclusive reverse largest sorted""".split()


def of_onnx():
    """onnx's operator tests: the model, and the operands of the first data set."""
    for case in cases(20000):
        if case.data_sets:
            yield case.name, case.model, case.data_sets[0][0]


def with_constants(model, operands):
    """The model with its operands of integers as initializers."""
    model = copied(model)
    known = zip(list(model.graph.input), operands)
    for value, data in known:
        is_list = isinstance(data, numpy.ndarray) and data.size <= 64
        if is_list and value.type.HasField("tensor_type") and value.type.tensor_type.elem_type in INTEGERS:
            model.graph.initializer.append(numpy_helper.from_array(data, value.name))
            model.graph.input.remove(value)
    return model


def without_outputs(model):
    """The model with the extents of its outputs as results, so that nothing is declared of what its nodes compute."""
    model = copied(model)
    graph = model.graph
    made = {name for node in graph.node for name in node.output}
    for value in list(graph.output):
        if value.type.HasField("tensor_type") and value.name in made:
            graph.output.remove(value)
            graph.node.append(helper.make_node("Shape", [value.name], [f"{value.name}_extents"]))
            graph.output.append(helper.make_tensor_value_info(f"{value.name}_extents", TensorProto.INT64, [None]))
    del graph.value_info[:]
    return model


def copied(model):
    return onnx.ModelProto.FromString(model.SerializeToString())


def seeds(folder):
    """Models by name, in groups of which each gets an equal share of the changes."""
    groups = {"operators": {}, "written": {}, "real": {}}
    for name, model, operands in of_onnx():
        groups["operators"][name] = (model, operands)
    for name, model in written().items():
        groups["written"][name] = (model, [])
    for path in sorted(folder.glob("**/*.onnx")) if folder else []:
        if path.stat().st_size < 1_000_000:
            groups["real"][str(path.relative_to(folder))] = (onnx.load(path), [])
    return {name: group for name, group in groups.items() if group}


def graphs_of(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                yield from graphs_of(inner) if inner.node or inner.output else []


def tensor_types(value):
    """The types of tensors in a type."""
    kind = value.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        yield getattr(value, kind)
    elif kind in ("sequence_type", "optional_type"):
        yield from tensor_types(getattr(value, kind).elem_type)


def targets(model):
    """What can be changed: a function that does it, and what it is."""
    functions = [node for function in model.functions for node in function.node]
    nodes = list(functions)
    for graph in graphs_of(model.graph):
        nodes.extend(graph.node)
        for kind in ("input", "output", "value_info"):
            for value in getattr(graph, kind):
                for tensor in tensor_types(value.type):
                    yield change_type, tensor, kind
        for tensor in graph.initializer:
            yield change_constant, tensor, "initializer"
            if tensor.data_type in INTEGERS:
                yield change_items, tensor, "items"
                yield change_items, tensor, "items"
    for node in nodes:
        for attribute in node.attribute:
            if attribute.name in ATTRIBUTES:
                yield change_attribute, attribute, attribute.name
            if attribute.type == onnx.AttributeProto.TENSOR and attribute.t.data_type in INTEGERS:
                yield change_items, attribute.t, "items"


def extent(chance, old):
    return chance.choice([old + 1, old + 1, old * 2, max(0, old - 1), 1, 2, 3, 7])


def change_type(chance, tensor):
    dims = tensor.shape.dim
    action = chance.choice(["extent"] * 5 + ["rank", "rank", "element", "open"])
    if action == "element":
        tensor.elem_type = chance.choice(ELEMENTS)
    elif action == "rank" or not dims:
        if dims and chance.random() < 0.5:
            del dims[chance.randrange(len(dims))]
        else:
            copies = [onnx.TensorShapeProto.Dimension.FromString(dim.SerializeToString()) for dim in dims]
            copies.insert(chance.randrange(len(dims) + 1), onnx.TensorShapeProto.Dimension(dim_value=chance.choice([1, 2, 3])))
            tensor.shape.ClearField("dim")
            tensor.shape.dim.extend(copies)
    else:
        dim = dims[chance.randrange(len(dims))]
        old = dim.dim_value
        dim.Clear()
        if action == "open":
            dim.dim_param = chance.choice(["N", "M"])
        else:
            dim.dim_value = extent(chance, old)
    return action


def array_of(tensor):
    try:
        return numpy_helper.to_array(tensor)
    except Exception:
        return None


def change_constant(chance, tensor):
    array = array_of(tensor)
    if array is None or array.dtype.kind not in "fiub":
        return None
    dims = list(array.shape)
    action = chance.choice(["extent", "extent", "extent", "rank", "element"])
    if action == "element":
        array = array.astype(helper.tensor_dtype_to_np_dtype(chance.choice(ELEMENTS)))
    else:
        if action == "rank" or not dims:
            dims.pop() if dims and chance.random() < 0.5 else dims.insert(chance.randrange(len(dims) + 1), chance.choice([1, 2]))
        else:
            at = chance.randrange(len(dims))
            dims[at] = extent(chance, dims[at])
        array = numpy.resize(array, dims) if array.size else numpy.zeros(dims, array.dtype)
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return action


def change_items(chance, tensor):
    array = array_of(tensor)
    if array is None or not array.size:
        return None
    items = array.copy().reshape(-1)
    at = chance.randrange(len(items))
    items[at] = integer(chance, int(items[at]))
    tensor.CopyFrom(numpy_helper.from_array(items.reshape(array.shape), tensor.name))
    return "items"


def integer(chance, old):
    return chance.choice([old + 1, old - 1, old + 1, old - 1, -old, 0, 1, 2, 3, 5, 9, -1, -3, -9, old * 2])


def change_attribute(chance, attribute):
    kinds = onnx.AttributeProto
    if attribute.type == kinds.INT:
        attribute.i = integer(chance, attribute.i)
    elif attribute.type == kinds.INTS:
        items = list(attribute.ints)
        action = chance.choice(["item", "item", "item", "more", "less"])
        if action == "more" or not items:
            items.insert(chance.randrange(len(items) + 1), integer(chance, 1))
        elif action == "less":
            del items[chance.randrange(len(items))]
        else:
            at = chance.randrange(len(items))
            items[at] = integer(chance, items[at])
        del attribute.ints[:]
        attribute.ints.extend(items)
    elif attribute.type == kinds.STRING and attribute.name == "equation":
        # onnx does not return from an equation with a part of an ellipsis.
        text = attribute.s.decode()
        letters = [at for at, letter in enumerate(text) if letter.isalpha()]
        if not letters:
            return None
        at = chance.choice(letters)
        attribute.s = (text[:at] + chance.choice(["", "i", "z", text[at] * 2]) + text[at + 1 :]).encode()
    else:
        return None
    return "attribute"


def mutated(chance, model):
    model = copied(model)
    choices = list(targets(model))
    kinds = sorted({what for _, _, what in choices})
    while kinds:
        kind = chance.choice(kinds)
        change, target, what = chance.choice([each for each in choices if each[2] == kind])
        done = change(chance, target)
        if done:
            return model, f"{done} of {what}"
        kinds.remove(kind)
    return None, None


def fits(declared, shape):
    """Whether a shape has the declared rank, and the extents that are numbers."""
    return len(declared) == len(shape) and all(a == b for a, b in zip(declared, shape) if isinstance(a, int))


def run(path):
    """Why onnxruntime does not run a model on operands of the declared shapes, or that a result is not as it is declared, of
    which onnxruntime only warns; none if it runs, or if no operands can be made."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # Otherwise nodes of which only the extents are wanted are not run.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        given = {}
        for each in session.get_inputs():
            name = re.fullmatch(r"tensor\((\w+)\)", each.type).group(1)
            kind = {"float": "float32", "double": "float64"}.get(name, name)
            extents = [item if isinstance(item, int) and item >= 0 else 2 for item in each.shape]
            given[each.name] = numpy.ones(extents, kind)
        results = session.run(None, given)
        for each, result in zip(session.get_outputs(), results):
            if hasattr(result, "shape") and not fits(each.shape, result.shape):
                return f"`{each.name}` is declared as {each.shape}, and has the shape {result.shape}"
    except (AttributeError, TypeError):
        return None
    except Exception as error:
        return str(error).splitlines()[0]
    return None


def runs(paths, out):
    """Writes what `run` says of each file."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    with open(out, "a") as lines:
        for path in paths:
            lines.write(json.dumps([path, run(path)]) + "\n")
            lines.flush()


class Sample:
    """A model, what was changed in it, and the verdicts on it."""

    def __init__(self, group, name, what, path, model):
        self.group, self.name, self.what, self.path = group, name, what, path
        functions = [node for function in model.functions for node in function.node]
        nodes = functions + [node for graph in graphs_of(model.graph) for node in graph.node]
        self.operators = {node.op_type for node in nodes}
        self.theirs = self.session = self.ours = None
        self.reason = None

    def judge(self, verdict, ours):
        """Notes the verdicts. Returns whether they differ."""
        self.ours = "; ".join(ours)
        self.theirs, self.session = verdict[0] or verdict[1] or "", verdict[2]
        return bool(self.theirs) != bool(ours)

    def explain(self):
        """Notes the row that explains that the verdicts differ."""
        self.reason = next((row.reason for row in DOCUMENTED if row.covers(self)), None)

    def __str__(self):
        return f"{self.name} ({pathlib.Path(self.path).stem}): {self.what}: " + (
            f"onnx refuses: {self.theirs[:230]}" if self.theirs else f"check refuses: {self.ours[:230]}"
        )


def samples(chance, groups, count, folder):
    for group, models in groups.items():
        names = sorted(models)
        for i, name in enumerate(names if group != "operators" else []):
            path = folder / f"{group}{i}.onnx"
            path.write_bytes(models[name][0].SerializeToString())
            yield Sample(group, name, "unchanged", str(path), models[name][0])
        share = {"operators": 0.7, "written": 0.1, "real": 0.2}[group]
        for i in range(round(count * share)):
            name = chance.choice(names)
            model, operands = models[name]
            if operands and chance.random() < 0.6:
                model = with_constants(model, operands)
            if chance.random() < 0.4 and any(each.domain in ("", "ai.onnx") for each in model.opset_import):
                model = without_outputs(model)
            model, what = mutated(chance, model)
            if model is not None:
                path = folder / f"{group}_{i}.onnx"
                path.write_bytes(model.SerializeToString())
                yield Sample(group, name, what, str(path), model)


def main():
    parser = arguments(__doc__, 3000, "changes")
    parser.add_argument("--models", type=pathlib.Path, help="a folder of models")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with folder_of(options) as folder:
        made = list(samples(chance, seeds(options.models), options.count, folder))
        paths = [sample.path for sample in made]
        theirs, ours = verdicts(paths, folder), check(options.bin, paths)
        judged = [sample for sample in made if theirs[sample.path] is not None]
        different = [sample for sample in judged if sample.judge(theirs[sample.path], ours[sample.path])]
        for sample in different:
            sample.explain()
        open_paths = [sample.path for sample in different if not sample.theirs and not sample.reason]
        run_by = verdicts(open_paths, folder, runs)
        for sample in different:
            if run_by.get(sample.path, [None]) != [None]:
                sample.reason = "onnxruntime does not run it"
    known = collections.Counter(sample.reason for sample in different if sample.reason)
    missed = [sample for sample in different if not sample.reason and sample.theirs]
    wrong = [sample for sample in different if not sample.reason and not sample.theirs]
    counted = len(judged) - sum(known.values())
    percent = 100 * (1 - (len(missed) + len(wrong)) / max(1, counted))
    print(f"{len(judged)} models, of which onnx.checker refuses {sum(bool(sample.theirs) for sample in judged)}")
    print(f"known differences: {sum(known.values())}")
    for reason, number in known.most_common() if options.v else []:
        print(f"    {number:5} {reason}")
    for what, found in [("onnx.checker refuses, `check` accepts", missed), ("only `check` refuses", wrong)]:
        print(f"{what}: {len(found)}")
        for sample in found[: None if options.v else 10]:
            print(f"    {sample}")
    print(f"agreement: {percent:.2f} %")
    # Models on which a judge crashes, or that differ as known, say nothing.
    sys.exit(1 if wrong or percent < LEAST or counted * 2 < len(made) else 0)


if __name__ == "__main__":
    main()
