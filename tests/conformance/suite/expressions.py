"""The tables of expressions of PNNX."""

import json

from .compare import close, filled, leaves, same_text

EXACT = ("tokens", "spans", "argument_order", "operations", "distinct_operations")
TEXTS = ("tree", "rpn", "canonical", "renumbered")


def shown(value):
    return json.dumps(value)[:80]


def parse(program, case):
    answer = program.ask("pnnx/parse", text=case["expr"], inputs=case.get("inputs"))
    if answer.status != 0:
        return answer.why()
    got = answer.json()
    for key in EXACT + TEXTS:
        equal = same_text if key in TEXTS else (lambda a, b: a == b)
        if key in case and not equal(got.get(key), case[key]):
            return "%s: %s, right is %s" % (key, shown(got.get(key)), shown(case[key]))
    if case.get("value") is not None and not close(got.get("value"), case["value"], 1e-5):
        return "value %s" % shown(got.get("value"))
    return None


def kuiper(program, case):
    if "error" in case:
        return "skip"
    fill, result = case.get("fill"), case.get("result")
    operands = [[float(value)] for value in fill] if isinstance(fill, list) else None
    answer = program.ask("pnnx/parse", text=case["expr"], inputs=operands)
    if answer.status != 0:
        return answer.why()
    got = answer.json()
    for key in ("tokens", "spans", "rpn", "tree"):
        if key in case and got.get(key) != case[key]:
            return "%s: %s" % (key, shown(got.get(key)))
    if operands and isinstance(result, (int, float)) and not close(got.get("value"), [float(result)]):
        return "value %s" % got.get("value")
    return None


def fold(program, case):
    answer = program.ask("pnnx/fold", text=case["expr"])
    if answer.status != 0:
        return answer.why()
    got = answer.json().get("folded")
    right = any(same_text(got, want, 1e-12) for want in [case["fold"], *case.get("also", [])])
    return None if right else "%s, right is %s" % (got, case["fold"])


def malformed(program, case):
    answer = program.ask("pnnx/check", text=case["expr"])
    if case.get("error") is None:
        return None if answer.status == 0 else answer.why()
    return answer.unlike_refusal(case["error"])


def torchscript(program, case):
    """Texts that pnnx wrote for a TorchScript; a program that makes them is asked for the text, others to read it."""
    if program.answers("pnnx/convert"):
        if not case.get("expr") or not isinstance(case["torchscript"], str):
            return "skip"
        answer = program.ask("pnnx/convert", case["torchscript"], shapes=case["shapes"])
        return converted(answer, case)
    for text, want in zip(case.get("expr") or [], case.get("canonical") or []):
        answer = program.ask("pnnx/compat", text=text)
        if answer.status != 0:
            return "%s: %s" % (text, answer.why())
        got = answer.json().get("canonical")
        if not same_text(got, want):
            return "%s: %s, right is %s" % (text, got, want)
    return None if case.get("expr") else "skip"


def converted(answer, case):
    if answer.status != 0:
        return answer.why()
    got = answer.json()["expressions"]
    right = len(got) == len(case["canonical"]) and all(map(same_text, got, case["canonical"]))
    return None if right else "%s, right is %s" % (got, case["canonical"])


def operation(case):
    """An operation on all its operands; none where the row is about something else."""
    if not case["pnnx"].replace("_", "").isalnum() or case["arity"] == 0:
        return None
    return "%s(%s)" % (case["pnnx"], ",".join("@%d" % k for k in range(case["arity"])))


def values(program, case):
    """The values of an operation at samples."""
    text = operation(case)
    if text is None or "samples" not in case:
        return "skip"
    for operands, want in zip(case["samples"], case["values"]):
        answer = program.ask("pnnx/value", text=text, inputs=[[float(x)] for x in operands])
        if answer.status != 0:
            return answer.why()
        if not close(answer.json().get("value"), [want]):
            return "%s of %s is %s, right is %s" % (case["pnnx"], operands, answer.json().get("value"), want)
    return None


def to_nnef(program, case):
    """An operation as a document of NNEF, which gives the same values; refused where NNEF has nothing."""
    text = operation(case)
    if text is None or case["kind"] not in ("1:1", "composite", "none"):
        return "skip"
    answer = program.ask("pnnx/nnef", text=text)
    if case["kind"] == "none":
        return None if answer.status == 1 and answer.errors() else "exit status %s, a refusal is right" % answer.status
    if answer.status != 0:
        return answer.why()
    document = answer.out
    graph = program.ask("nnef/shapes", document)
    if graph.status != 0:
        return "the document: " + graph.why()
    graph = graph.json()
    if len(graph["inputs"]) != case["arity"] or len(graph["outputs"]) != 1:
        return "%d inputs and %d outputs" % (len(graph["inputs"]), len(graph["outputs"]))
    shapes = [graph["tensors"][name]["shape"] for name in graph["inputs"]]
    for operands, want in zip(case["samples"], case["values"]):
        inputs = {name: filled(x, shape) for name, shape, x in zip(graph["inputs"], shapes, operands)}
        ran = program.ask("nnef/run", document, inputs=inputs)
        if ran.status != 0:
            return "the document: " + ran.why()
        data = leaves(ran.json()["outputs"][graph["outputs"][0]]["data"])
        if not data or not all(close(x, want) for x in data):
            return "%s of %s is %s, right is %s" % (case["pnnx"], operands, data[:1], want)
    return None


def fuse(program, case):
    answer = program.ask("pnnx/fuse", case["nnef"])
    if answer.status != 0:
        return answer.why()
    got = answer.json()["fused"]

    def equal(mine, right):
        return set(mine) == set(right) and all(
            same_text(mine[key], right[key], 1e-12) if key == "expr" else mine[key] == right[key] for key in right)

    right = len(got) == len(case["fused"]) and all(map(equal, got, case["fused"]))
    return None if right else shown(got)
