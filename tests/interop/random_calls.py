#!/usr/bin/env python3
"""Asks random calls of operators of all engines, which have to give one answer.

usage: random_calls.py --bin PATH [--count N] [--seed S] [--only OPERATOR,…] [-v]

A call is an operator of ONNX with random attributes and operands (calls_onnx.py), or an operation of NNEF (calls_nnef.py). Of
each, these are compared with `run`:

    fold     the constants that `--fold` leaves of the model with all its inputs bound
    shape    types and shapes that `--annotate` or `--to json` infers
    open     the same without the shapes of the inputs (ONNX)
    lower    `run` of the model whose standard functions or compounds are expanded (`--lower all`)
    nnef     `run` of the model as NNEF, with its data (ONNX)
    strict   `run` of the model as NNEF without registries (ONNX)
    onnx     `run` of the NNEF as ONNX
    pnnx     `run` of the document as a file of PNNX (NNEF)
    ort      onnxruntime, where it has the operator

Integers, truth values, places of NaN, infinities and signs of zeros are equal, floats up to the tolerance of `--verify`. What
differs is in `DOCUMENTED`, each row with a call of its own that has to differ, so that no row outlives its reason. An operator
that a translation refuses has no answer there. Many calls are in one model, to start few processes. Needs the packages numpy,
onnx and onnxruntime.
"""
import argparse
import collections
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import onnxruntime

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import calls_nnef
import calls_onnx
from documented import DOCUMENTED

BATCH = 60
# What has no counterpart in another notation, or needs what is not known; and numbers that NNEF cannot write.
REFUSED = ("E2090", "E2094", "E1103", "E1309")
TRANSLATIONS = ("nnef", "strict", "onnx", "pnnx")


# ---------------------------------------------------------------- models
def model_of(batch, constant=(), open_shapes=False):
    """A model of calls: those whose positions are in `constant` have all operands as constants."""
    nodes, inputs, outputs, data = [], [], [], []
    for at, call in batch:
        names = []
        for place, operand in enumerate(call.operands):
            name = "" if operand is None else "c%dx%d" % (at, place)
            names.append(name)
            if operand is None:
                continue
            kind = onnx.helper.np_dtype_to_tensor_dtype(operand.dtype)
            if constant is True or place in call.known:
                data.append(onnx.numpy_helper.from_array(operand, name))
            else:
                shape = None if open_shapes else operand.shape
                inputs.append(onnx.helper.make_tensor_value_info(name, kind, shape))
        while names and not names[-1]:
            names.pop()
        results = ["c%dy%d" % (at, place) for place in range(call.results)]
        nodes.append(onnx.helper.make_node(call.operator, names, results, name="c%d" % at, domain=call.domain, **call.attributes))
        outputs += [onnx.ValueInfoProto(name=name) for name in results]
    graph = onnx.helper.make_graph(nodes, "calls", inputs, outputs, data)
    versions = {"": batch[0][1].opset, calls_onnx.ML: 3, calls_onnx.TRAINING: 1}
    used = {"", *(call.domain for _, call in batch)}
    imports = [onnx.helper.make_opsetid(domain, version) for domain, version in versions.items() if domain in used]
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=10)


def feed_of(batch):
    return {"c%dx%d" % (at, place): operand for at, call in batch for place, operand in enumerate(call.operands)
            if operand is not None and place not in call.known}


def of_call(at, name):
    return name.startswith("c%dy" % at)


# ---------------------------------------------------------------- onnxruntime
def in_child(calls, answer):
    """The answers to numbered calls, computed in other processes, which onnxruntime may end."""
    answers, rest = {}, list(calls)
    while rest:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            with os.fdopen(writer, "wb") as out:
                for at, call in rest:
                    pickle.dump((at, answer(at, call)), out)
                    out.flush()
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as found:
            try:
                while True:
                    answers.update([pickle.load(found)])
            except EOFError:
                pass
        os.waitpid(child, 0)
        rest = [(at, call) for at, call in rest if at not in answers]
        if rest:
            answers[rest.pop(0)[0]] = "ends the process"
    return answers


def session_answer(model, feed):
    """What onnxruntime computes of a model, or its message."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        types = {value.name: ORT_TYPES.get(value.type) for value in session.get_inputs()}
        feed = {name: operand.astype(types[name]) if types[name] else operand for name, operand in feed.items() if name in types}
        found = session.run(None, feed)
        return dict(zip([output.name for output in session.get_outputs()], found))
    except Exception as error:
        return str(error)


# The types of inputs of a translation from NNEF.
ORT_TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(bool)": np.bool_}


# ---------------------------------------------------------------- the program
class Engines:
    """What engines answer to batches of calls: outputs by name, or a message."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)

    def command(self, *words):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        return done.stderr if done.returncode else None

    def asked(self, batch, ask):
        """The answers of `ask`, which takes a batch and returns outputs by name or a message; what is refused is divided."""
        answers = {}
        parts = [list(batch)]
        while parts:
            part = parts.pop()
            found = ask(part)
            if not isinstance(found, str):
                for at, _ in part:
                    answers[at] = {name: value for name, value in found.items() if of_call(at, name)}
                continue
            if len(part) == 1:
                answers[part[0][0]] = found
                continue
            named = {int(digits) for digits in re.findall(r"\bc(\d+)(?:[xy]\w*)?\b", found)}
            bad, good = [one for one in part if one[0] in named], [one for one in part if one[0] not in named]
            if bad and good:
                parts += [[one] for one in bad] + [good]
            else:
                middle = len(part) // 2
                parts += [part[:middle], part[middle:]]
        return answers

    def ran(self, source, batch, unused=False):
        """What `run` computes of a file; a graph of NNEF without inputs has one named `unused`."""
        given, found = self.folder / "in.npz", self.folder / "out.npz"
        feed = self.feed(batch)
        np.savez(given, **(feed or {"unused": np.zeros(1, np.float32)} if unused else feed))
        why = self.command("run", "-q", source, "--inputs", given, "-o", found)
        if why is not None:
            return why
        with np.load(found) as outputs:
            return dict(outputs)

    def made(self, batch, source, result, *options):
        """Writes another form of a batch and runs it."""
        why = self.command("-q", *options, source, "-o", "%s/" % result if result.suffix == "" else result)
        place = result / "graph.nnef" if result.suffix == "" else result
        return why if why is not None else self.ran(place, batch, unused=True)

    def answers(self, batch):
        return {name: self.asked(batch, getattr(self, name)) for name in self.names}


class OnnxEngines(Engines):
    """Models of ONNX."""

    names = ("run", "fold", "lower", "nnef", "strict", "onnx", "shape", "open")
    feed = staticmethod(feed_of)

    def saved(self, batch, **how):
        path = self.folder / "model.onnx"
        path.write_bytes(model_of(batch, **how).SerializeToString())
        return path

    def run(self, batch):
        return self.ran(self.saved(batch), batch)

    def fold(self, batch):
        path, result = self.saved(batch, constant=True), self.folder / "folded.onnx"
        # Without the growth, results that are much larger than their operands stay nodes.
        why = self.command("-q", "--fold", "--fold-growth", str(1 << 30), path, "-o", result)
        if why is not None:
            return why
        graph = onnx.load(result).graph
        found = {node.output[0]: onnx.numpy_helper.to_array(node.attribute[0].t) for node in graph.node
                 if node.op_type == "Constant" and node.attribute[0].name == "value"}
        found.update((tensor.name, onnx.numpy_helper.to_array(tensor)) for tensor in graph.initializer)
        return found

    def lower(self, batch):
        path, result = self.saved(batch), self.folder / "lowered.onnx"
        why = self.command("-q", "--lower", "all", path, "-o", result)
        return why if why is not None else self.ran(result, batch)

    def nnef(self, batch):
        return self.made(batch, self.saved(batch), self.folder / "nnef", "--to", "nnef")

    def strict(self, batch):
        return self.made(batch, self.saved(batch), self.folder / "nnef", "--to", "nnef", "--strict")

    def onnx(self, batch):
        why = self.command("-q", "--to", "nnef", self.saved(batch), "-o", "%s/" % (self.folder / "nnef"))
        graph = self.folder / "nnef" / "graph.nnef"
        return why if why is not None else self.made(batch, graph, self.folder / "back.onnx", "--to", "onnx")

    def annotated(self, batch, **how):
        path, result = self.saved(batch, **how), self.folder / "annotated.onnx"
        why = self.command("-q", "--annotate", path, "-o", result)
        if why is not None:
            return why
        graph = onnx.load(result).graph
        found = {}
        for value in list(graph.output) + list(graph.value_info):
            tensor = value.type.tensor_type
            dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
            kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name if tensor.elem_type else None
            found[value.name] = kind, dims if tensor.HasField("shape") else None
        return found

    def shape(self, batch):
        return self.annotated(batch)

    def open(self, batch):
        return self.annotated(batch, open_shapes=True)

    def answers(self, batch):
        def ort(at, call):
            return session_answer(model_of([(at, call)]).SerializeToString(), feed_of([(at, call)]))
        return dict(super().answers(batch), ort=in_child(batch, ort))


class NnefEngines(Engines):
    """Documents of NNEF."""

    names = ("run", "fold", "lower", "onnx", "pnnx", "shape", "ort")
    feed = staticmethod(calls_nnef.feed_of)

    def saved(self, batch):
        path = self.folder / "calls.nnef"
        path.write_text(calls_nnef.document(batch))
        return path

    def run(self, batch):
        return self.ran(self.saved(batch), batch, unused=True)

    def fold(self, batch):
        bound = []
        for name, operand in self.feed(batch).items():
            np.save(self.folder / (name + ".npy"), operand)
            bound += ["--bind", "%s=%s" % (name, self.folder / (name + ".npy"))]
        folder = self.folder / "folded"
        why = self.command("-q", "--fold", *bound, self.saved(batch), "-o", "%s/" % folder)
        return why if why is not None else self.ran(folder / "graph.nnef", [], unused=True)

    def lower(self, batch):
        return self.made(batch, self.saved(batch), self.folder / "lowered.nnef", "--lower", "all")

    def onnx(self, batch):
        return self.made(batch, self.saved(batch), self.folder / "back.onnx", "--to", "onnx")

    def pnnx(self, batch):
        return self.made(batch, self.saved(batch), self.folder / "back.pnnx.param", "--to", "pnnx")

    def shape(self, batch):
        done = subprocess.run([self.program, "-q", "--to", "json", self.saved(batch)], capture_output=True, text=True)
        if done.returncode:
            return done.stderr
        kinds = {"scalar": "float32", "integer": "int64", "logical": "bool"}
        return {name: (kinds.get(tensor["dtype"]), tensor["shape"]) for name, tensor in json.loads(done.stdout)["tensors"].items()}

    def ort(self, batch):
        result = self.folder / "model.onnx"
        why = self.command("-q", "--to", "onnx", self.saved(batch), "-o", result)
        feed = self.feed(batch)
        return why if why is not None else in_child([(0, None)], lambda *_: session_answer(str(result), feed))[0]


# ---------------------------------------------------------------- comparison
def tolerance(dtype):
    return {"float64": 1e-9, "float16": 2e-3}.get(dtype.name, 1e-5)


def apart(found, wanted, wide=False):
    """How two tensors differ; with `wide`, only their numbers count, not the widths of their types."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape:
        return "shape %s, not %s" % (list(found.shape), list(wanted.shape))
    kinds = "iu" if wanted.dtype.kind in "iu" else wanted.dtype.kind
    if found.dtype.kind not in kinds or not wide and found.dtype != wanted.dtype:
        return "type %s, not %s" % (found.dtype, wanted.dtype)
    if wanted.dtype.kind in "iub":
        # uint64 of NNEF has no sign to tell.
        same = found.astype(wanted.dtype) == wanted
        return None if same.all() else "%s, not %s" % (found[~same][:4], wanted[~same][:4])
    limit = max(tolerance(found.dtype), tolerance(wanted.dtype))
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    if wide:
        with np.errstate(over="ignore"):
            a = a.astype(wanted.dtype).astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = (np.abs(a - b) <= limit * np.maximum(1, np.abs(b))) & np.isfinite(a) & np.isfinite(b)
    same = (a == b) | np.isnan(a) & np.isnan(b) | near
    if not same.all():
        return "%s, not %s" % (a[~same][:4], b[~same][:4])
    signs = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
    return "sign of zero" if signs.any() else None


def shape_apart(inferred, wanted):
    """How an inferred type and shape differ from those of a tensor. An extent may be open."""
    (kind, extents), wanted = inferred, np.asarray(wanted)
    if kind and kind != wanted.dtype.name:
        return "inferred type %s, not %s" % (kind, wanted.dtype)
    if extents is None:
        return None
    known = [extent if isinstance(extent, int) else None for extent in extents]
    if len(known) != wanted.ndim or any(a is not None and a != b for a, b in zip(known, wanted.shape)):
        return "inferred %s, not %s" % (extents, list(wanted.shape))
    return None


def message_of(answer):
    lines = [line for line in answer.splitlines() if line.strip()]
    return " ".join(lines[:1])[:200] if lines else "ended"


def differences(at, found, refusals, operator):
    """The engines that differ for a call, and how; refusals of translations are counted."""
    run = found["run"][at]
    if isinstance(run, str):
        if not isinstance(found["ort"][at], str):
            yield "run", "refused, where onnxruntime computes: " + message_of(run)
        return
    for engine, answers in found.items():
        answer = answers[at]
        if engine == "run" or engine == "ort" and isinstance(answer, str):
            continue
        if isinstance(answer, str):
            if engine in (*TRANSLATIONS, "fold") and any(code in answer for code in REFUSED):
                refusals[engine, operator] += 1
            else:
                yield engine, "refused: " + message_of(answer)
            continue
        for name, wanted in run.items():
            if engine in ("shape", "open"):
                why = shape_apart(answer[name], wanted) if name in answer else None
            else:
                why = apart(answer[name], wanted, engine in TRANSLATIONS) if name in answer else "is missing"
            if why:
                yield engine, "%s: %s" % (name, why)


def documented(engine, call, why):
    return next((row for row in DOCUMENTED if row.covers(engine, call, why)), None)


def batches(calls):
    """Numbered calls in batches of equal versions of operators."""
    by_opset = collections.defaultdict(list)
    for at, call in enumerate(calls):
        by_opset[getattr(call, "opset", 0)].append((at, call))
    for opset in sorted(by_opset):
        for start in range(0, len(by_opset[opset]), BATCH):
            yield by_opset[opset][start:start + BATCH]


def compared(engines, calls, refusals):
    """Each difference: the call, the engine and how."""
    for batch in batches(calls):
        found = engines.answers(batch)
        for at, call in batch:
            for engine, why in differences(at, found, refusals, call.operator):
                yield call, engine, why


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="operators")
    parser.add_argument("-v", action="store_true", help="what translations refuse")
    args = parser.parse_args()
    only = args.only and args.only.split(",")
    refusals, known, failed, operators, total = collections.Counter(), collections.Counter(), 0, set(), 0
    with tempfile.TemporaryDirectory() as folder:
        # One call in four is one of NNEF.
        for kind, module, count in ((OnnxEngines, calls_onnx, args.count - args.count // 4), (NnefEngines, calls_nnef, args.count // 4)):
            engines, calls = kind(args.bin, folder), module.calls(args.seed, count, only)
            total += len(calls)
            operators.update(call.operator for call in calls)
            for call, engine, why in compared(engines, calls, refusals):
                row = documented(engine, call, why)
                if row:
                    known[row] += 1
                else:
                    failed += 1
                    print("== %s %s: %s\n   %s" % (call.operator, engine, why, call))
        # A row that does not differ is not needed.
        for kind, of in ((OnnxEngines, calls_onnx.Call), (NnefEngines, calls_nnef.NnefCall)):
            rows = [row for row in DOCUMENTED if isinstance(row.witness, of) and not only]
            found = list(compared(kind(args.bin, folder), [row.witness for row in rows], collections.Counter()))
            for row in rows:
                if not any(call is row.witness and row.covers(engine, call, why) for call, engine, why in found):
                    failed += 1
                    print("== %s %s differ no longer: %s\n   %s" % (" ".join(row.engines), " ".join(row.operators), row.reason, row.witness))
    if args.v:
        for (engine, operator), count in sorted(refusals.items()):
            print("%-6s refuses %-24s %d" % (engine, operator, count))
        for row, count in known.most_common():
            print("%4d %s %s: %s" % (count, " ".join(row.engines), " ".join(row.operators), row.reason))
    print("%d calls of %d operators: %d differences as documented, %d others, %d refused by translations" % (
        total, len(operators), sum(known.values()), failed, sum(refusals.values())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
