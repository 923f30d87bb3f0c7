#!/usr/bin/env python3
"""Asks random calls of operators of `run` and of onnxruntime, which have to give one answer.

usage: random_calls.py --bin PATH [--count N] [--seed S] [--only OPERATOR,…] [-v]

A call is an operator of ONNX with random attributes and operands (calls_onnx.py), or an operation of NNEF (calls_nnef.py), which
onnxruntime gets as ONNX. The other engines of the program are compared with `run` by tests/laws/twins.rs. Integers, truth values, places of NaN, infinities and signs of zeros are equal, floats up to the tolerance of `--verify`. What
differs is in `DOCUMENTED`, each row with a call of its own that has to differ, so that no row outlives its reason. An operator
that a translation refuses has no answer there. Many calls are in one model, to start few processes. Needs the packages numpy,
onnx and onnxruntime.
"""
import argparse
import collections
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


# ---------------------------------------------------------------- models
def model_of(batch):
    """A model of calls."""
    nodes, inputs, outputs, data = [], [], [], []
    for at, call in batch:
        names = []
        for place, operand in enumerate(call.operands):
            name = "" if operand is None else "c%dx%d" % (at, place)
            names.append(name)
            if operand is None:
                continue
            kind = onnx.helper.np_dtype_to_tensor_dtype(operand.dtype)
            if place in call.known:
                data.append(onnx.numpy_helper.from_array(operand, name))
            else:
                inputs.append(onnx.helper.make_tensor_value_info(name, kind, operand.shape))
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

    def answers(self, batch):
        return {name: self.asked(batch, getattr(self, name)) for name in self.names}


class OnnxEngines(Engines):
    """Models of ONNX."""

    names = ("run",)
    feed = staticmethod(feed_of)

    def saved(self, batch):
        path = self.folder / "model.onnx"
        path.write_bytes(model_of(batch).SerializeToString())
        return path

    def run(self, batch):
        return self.ran(self.saved(batch), batch)

    def answers(self, batch):
        def ort(at, call):
            return session_answer(model_of([(at, call)]).SerializeToString(), feed_of([(at, call)]))
        return dict(super().answers(batch), ort=in_child(batch, ort))


class NnefEngines(Engines):
    """Documents of NNEF."""

    names = ("run", "ort")
    feed = staticmethod(calls_nnef.feed_of)

    def saved(self, batch):
        path = self.folder / "calls.nnef"
        path.write_text(calls_nnef.document(batch))
        return path

    def run(self, batch):
        return self.ran(self.saved(batch), batch, unused=True)

    def ort(self, batch):
        result = self.folder / "model.onnx"
        why = self.command("-q", "--to", "onnx", self.saved(batch), "-o", result)
        feed = self.feed(batch)
        return why if why is not None else in_child([(0, None)], lambda *_: session_answer(str(result), feed))[0]


# ---------------------------------------------------------------- comparison
def tolerance(dtype):
    return {"float64": 1e-9, "float16": 2e-3}.get(dtype.name, 1e-5)


def apart(found, wanted):
    """How two tensors differ."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape:
        return "shape %s, not %s" % (list(found.shape), list(wanted.shape))
    if found.dtype != wanted.dtype:
        return "type %s, not %s" % (found.dtype, wanted.dtype)
    if wanted.dtype.kind in "iub":
        same = found == wanted
        return None if same.all() else "%s, not %s" % (found[~same][:4], wanted[~same][:4])
    limit = max(tolerance(found.dtype), tolerance(wanted.dtype))
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = (np.abs(a - b) <= limit * np.maximum(1, np.abs(b))) & np.isfinite(a) & np.isfinite(b)
    same = (a == b) | np.isnan(a) & np.isnan(b) | near
    if not same.all():
        return "%s, not %s" % (a[~same][:4], b[~same][:4])
    signs = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
    return "sign of zero" if signs.any() else None


def message_of(answer):
    lines = [line for line in answer.splitlines() if line.strip()]
    return " ".join(lines[:1])[:200] if lines else "ended"


def differences(at, found):
    """How onnxruntime differs from `run` for a call."""
    run, ort = found["run"][at], found["ort"][at]
    if isinstance(run, str) and not isinstance(ort, str):
        yield "run", "refused, where onnxruntime computes: " + message_of(run)
    if isinstance(run, str) or isinstance(ort, str):
        return
    for name, wanted in run.items():
        why = apart(ort[name], wanted) if name in ort else "is missing"
        if why:
            yield "ort", "%s: %s" % (name, why)


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


def compared(engines, calls, computed=None):
    """Each difference: the call, the engine and how. Counts the calls that both compute in `computed`."""
    for batch in batches(calls):
        found = engines.answers(batch)
        for at, call in batch:
            if computed is not None:
                computed[type(call)] += not any(isinstance(found[of][at], str) for of in ("run", "ort"))
            for engine, why in differences(at, found):
                yield call, engine, why


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="operators")
    parser.add_argument("-v", action="store_true", help="what differs as documented")
    args = parser.parse_args()
    only = args.only and args.only.split(",")
    known, failed, operators, total = collections.Counter(), 0, set(), collections.Counter()
    computed = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        # One call in four is one of NNEF.
        for kind, module, count in ((OnnxEngines, calls_onnx, args.count - args.count // 4), (NnefEngines, calls_nnef, args.count // 4)):
            engines, calls = kind(args.bin, folder), module.calls(args.seed, count, only)
            total.update(map(type, calls))
            operators.update(call.operator for call in calls)
            for call, engine, why in compared(engines, calls, computed):
                row = documented(engine, call, why)
                if row:
                    known[row] += 1
                else:
                    failed += 1
                    print("== %s %s: %s\n   %s" % (call.operator, engine, why, call))
        # A row that does not differ is not needed.
        for kind, of in ((OnnxEngines, calls_onnx.Call), (NnefEngines, calls_nnef.NnefCall)):
            rows = [row for row in DOCUMENTED if isinstance(row.witness, of) and not only]
            found = list(compared(kind(args.bin, folder), [row.witness for row in rows]))
            for row in rows:
                if not any(call is row.witness and row.covers(engine, call, why) for call, engine, why in found):
                    failed += 1
                    print("== %s %s differ no longer: %s\n   %s" % (" ".join(row.engines), " ".join(row.operators), row.reason, row.witness))
    if args.v:
        for row, count in known.most_common():
            print("%4d %s %s: %s" % (count, " ".join(row.engines), " ".join(row.operators), row.reason))
    print("%d calls of %d operators, of which both compute %d: %d differences as documented, %d others" % (
        sum(total.values()), len(operators), sum(computed.values()), sum(known.values()), failed))
    # Where one of them refuses, nothing is compared.
    few = [kind.__name__ for kind in total if computed[kind] * 3 < total[kind]]
    if few or not total:
        print("too few calls are computed by both: %s" % " ".join(few))
    return 1 if failed or few or not total else 0


if __name__ == "__main__":
    sys.exit(main())
