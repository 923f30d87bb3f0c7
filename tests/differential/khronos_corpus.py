#!/usr/bin/env python3
"""Scores Khronos' parser (PyPI `nnef`) on the conformance corpus beside this repository.

usage: khronos_corpus.py CORPUS

CORPUS is the folder with `run.py`, which scores nnef-flatten on the same cases. A valid document
counts when its flat graph is the expected one, up to names and copies; an invalid one when it is
refused at the expected line, or without a line. Every case runs in a process of its own, since
some end in a crash. Prints `skipped` when the package is not installed.
"""
import glob, importlib.util, json, os, re, sys

from khronos import unwrap


def load_runner(corpus):
    spec = importlib.util.spec_from_file_location("run", os.path.join(corpus, "run.py"))
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    return runner


def flat(nnef, source):
    custom = re.findall(r"^fragment\s+(\w+)", source, re.M)
    graph = nnef.parse_string(source, lowered=custom + list(nnef.StandardOperations))
    operations = []
    for op in graph.operations:
        part = lambda items: {key: unwrap(nnef, value) for key, value in items.items()}
        operations.append({"op": op.name, "dtype": op.dtype, "inputs": part(op.inputs),
                           "attributes": part(op.attribs), "outputs": part(op.outputs)})
    return list(graph.inputs), list(graph.outputs), operations


def agrees(runner, nnef, case):
    expected = case["expect"]
    if case["kind"] == "valid":
        inputs, outputs, operations = flat(nnef, case["source"])
        if inputs != expected["params"] or outputs != expected["results"]:
            return False
        a = runner.canon(expected["params"], expected["results"], expected["ops"])
        b = runner.canon(inputs, outputs, operations)
        return runner.same(a["ops"], b["ops"]) and runner.same(a["results"], b["results"])
    lines = {expected["line"]}
    also = expected.get("line_alt") or []
    lines.update([also] if isinstance(also, int) else also)
    try:
        graph = nnef.parse_string(case["source"])
        nnef.infer_shapes(graph)
    except nnef.Error as error:
        at = re.search(r"\[(\d+):\d+\]", str(error))
        return at is None or int(at.group(1)) in lines
    return False


def in_child(question):
    """Whether a process of its own answers yes; a crash counts as no."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        answer = False
        try:
            answer = question()
        finally:
            os._exit(0 if answer else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def main():
    try:
        import nnef
    except ImportError:
        print("skipped: the Python package nnef is not installed")
        return
    runner = load_runner(sys.argv[1])
    good = total = 0
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "nnef", "*.json"))):
        cases = [case for case in json.load(open(path, encoding="utf-8")) if case["kind"] != "ambiguous"]
        agreed = sum(in_child(lambda: agrees(runner, nnef, case)) for case in cases)
        if cases:
            print("%-28s %4d/%d" % (os.path.basename(path)[:-5], agreed, len(cases)))
        good, total = good + agreed, total + len(cases)
    print("TOTAL %d/%d  %.1f%%" % (good, total, 100.0 * good / total))


if __name__ == "__main__":
    main()
