"""The tables of networks with loops."""

import json

from .compare import close, filled


def compared(got, expected, shapes=True):
    for name, want in expected.items():
        if name not in got:
            return "no output %s" % name
        if shapes and list(got[name]["shape"]) != list(want["shape"]):
            return "shape of %s: %s, right is %s" % (name, got[name]["shape"], want["shape"])
        if not close(got[name]["data"], want["data"]):
            return "values of %s" % name
    return None


def valid(program, case):
    answer = program.ask("loops/run", json.dumps(case["net"]), inputs=case["inputs"])
    return answer.why() if answer.status != 0 else compared(answer.json()["outputs"], case["expected"])


def invalid(program, case):
    answer = program.ask("loops/run", json.dumps(case["net"]), inputs=case["inputs"], strict=case.get("strict", False))
    return answer.unlike_refusal(case["error"])


def unroll(program, case, networks):
    """A network becomes a flat document, which computes what the network does."""
    network = networks.get(case["name"])
    if network is None:
        return "skip"
    answer = program.ask("loops/unroll", json.dumps(network["net"]))
    if case.get("not_unrollable"):
        return None if answer.status == 1 else "exit status %s, but: %s" % (answer.status, case["not_unrollable"])
    if answer.status != 0:
        return answer.why()
    text, inputs = answer.out, dict(network["inputs"])
    graph = program.ask("nnef/shapes", text)
    if graph.status != 0:
        return "the flat document: " + graph.why()
    graph = graph.json()
    # NNEF demands an input: where none is needed, the document has one that nothing uses.
    for name in graph["inputs"]:
        inputs.setdefault(name, filled(0.0, graph["tensors"][name]["shape"]))
    ran = program.ask("nnef/run", text, inputs=inputs)
    return "the flat document: " + ran.why() if ran.status != 0 else compared(ran.json()["outputs"], network["expected"], False)
