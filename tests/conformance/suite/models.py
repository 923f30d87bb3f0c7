"""The tables of ONNX: texts as protobuf, invalid texts, functions expanded, models run."""

import base64
import os
import tempfile

from .compare import close, nested
from .documents import misplaced
from .oracle import Missing


def valid(program, case):
    if case.get("quirk"):
        return "skip"
    answer = program.ask("onnx/encode", case["text"], production=case["kind"])
    if answer.status != 0:
        return answer.why()
    want = base64.b64decode(case["pb_b64"])
    return None if answer.out == want else "%d other bytes, right are %d" % (len(answer.out), len(want))


def invalid(program, case):
    # Two empty lines in front, so that the line says something; not where the text is blank or is about its first byte.
    shift = 2 if case["text"].strip() and case["text"].isascii() else 0
    answer = program.ask("onnx/check", "\n" * shift + case["text"], production=case["kind"])
    if answer.status == 0:
        return None if case.get("either") else "accepted"
    if answer.status != 1:
        return answer.why()
    line = case["error"].get("line")
    if case.get("quirk") or not line:
        return None if answer.errors() else "refused without a message"
    return misplaced(program, answer, [shift + place for place in [line, *case.get("line_alt", [])]])


def local(case):
    return case["api"] == {"function": "onnx.inliner.inline_local_functions", "args": {}}


def feeds(case):
    return {name: nested(value["data"], value["shape"]) for name, value in case["run"]["inputs"].items()}


def inline(program, case, oracle):
    if not local(case):
        return "skip"
    accept = case.get("accept") or (["refuse"] if case.get("inline_error") else ["flat"])
    if program.row.get("keeps_functions"):
        # What only has to keep the meaning is not asked about models that have none.
        if accept != ["flat"] or not case.get("run"):
            return "skip"
        accept = ["flat", "keep"]
    answer = program.ask("onnx/inline", case["text"])
    if answer.status == 1 and "refuse" in accept:
        return None if answer.errors() else "refused without a message"
    if answer.status != 0:
        return answer.why()
    if accept == ["refuse"]:
        return "accepted, a refusal is right"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.onnx")
        with open(path, "wb") as file:
            file.write(answer.out)
        ask = {"file": path, "contents": True, "checker": "basic", "run": "run" in case}
        if "run" in case:
            ask["feed"] = feeds(case)
        try:
            told = oracle.ask(ask)
        except Missing:
            return "skip"
    return expanded(case, told, "keep" in accept)


def expanded(case, told, may_keep):
    """What is wrong with a model without functions."""
    if told is None:
        return "onnx or onnxruntime crashes on the model"
    if "load" in told:
        return "not a model: " + told["load"]
    if told["functions"] and not may_keep:
        return "functions are left"
    for key in ("inputs", "outputs"):
        if told[key] != case[key]:
            return "%s %s, right are %s" % (key, told[key], case[key])
    if not case.get("run"):
        return None
    if told["checker"] != "ok" and case.get("checker_before") == "ok":
        return "onnx.checker " + told["checker"]
    return "onnxruntime " + told["run"] if told["run"] != "ok" else numbers(case, told["results"])


def numbers(case, got):
    tolerance = max(case["run"].get("rtol", 1e-4), case["run"].get("atol", 1e-5))
    for name, want in case["run"]["outputs"].items():
        if name not in got:
            return "no output %s" % name
        mine = got[name]
        if mine["dtype"] != want["dtype"] or list(mine["shape"]) != want["shape"]:
            return "type of %s: %s%s, right is %s%s" % (name, mine["dtype"], mine["shape"], want["dtype"], want["shape"])
        if not close(mine["data"], nested(want["data"], want["shape"]), tolerance):
            return "values of %s" % name
    return None


def run(program, case):
    """The model with its functions gives the numbers."""
    if not local(case) or not case.get("run") or case.get("accept"):
        return "skip"
    answer = program.ask("onnx/run", case["text"], inputs=feeds(case))
    return answer.why() if answer.status != 0 else numbers(case, answer.json()["outputs"])


def types(program, case):
    """No type or shape that is told of an output contradicts what the model computes."""
    if not local(case) or not case.get("run") or case.get("accept"):
        return "skip"
    answer = program.ask("onnx/types", case["text"])
    if answer.status != 0:
        return answer.why()
    tensors = answer.json()["tensors"]
    for name, want in case["run"]["outputs"].items():
        got = tensors.get(name, {})
        dtype, shape = got.get("dtype"), got.get("shape")
        if dtype is not None and dtype != want["dtype"]:
            return "type of %s: %s, right is %s" % (name, dtype, want["dtype"])
        if shape is not None and (len(shape) != len(want["shape"])
                                  or any(isinstance(a, int) and a != b for a, b in zip(shape, want["shape"]))):
            return "shape of %s: %s, right is %s" % (name, shape, want["shape"])
    return None
