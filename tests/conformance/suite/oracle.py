"""What onnx and onnxruntime say of a model, in a process of its own: `python oracle.py` answers a line of JSON with
another. Only this file needs packages."""

import json
import os
import subprocess
import sys


class Missing(Exception):
    """The packages are not installed."""


class Oracle:
    def __init__(self, python):
        self.python, self.process = python, None
        probe = subprocess.run([python, "-c", "import onnx, onnxruntime, numpy"], capture_output=True)
        self.missing = "no onnx and onnxruntime in %s" % python if probe.returncode else None

    def ask(self, request):
        """The answer; none if a package crashed on the model."""
        if self.missing:
            raise Missing(self.missing)
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen([self.python, os.path.abspath(__file__)], text=True, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else None


def first_line(error):
    return str(error).strip().split("\n")[0][:200]


def nodes_of(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                yield from nodes_of(inner)


def contents(path):
    """Operators, calls without a function, functions, and names of inputs and outputs."""
    import onnx
    model = onnx.load(path, load_external_data=False)
    graphs = [model.graph] + [graph for info in model.training_info for graph in (info.initialization, info.algorithm)]
    nodes = [node for graph in graphs for node in nodes_of(graph)]
    known = {(function.domain, function.name) for function in model.functions}
    calls = {node.op_type for node in nodes
             if node.domain not in ("", "ai.onnx", "ai.onnx.ml") and (node.domain, node.op_type) not in known}
    return {"ops": sorted({node.op_type for node in nodes}), "open": sorted(calls), "functions": len(model.functions),
            "inputs": [value.name for value in model.graph.input], "outputs": [value.name for value in model.graph.output]}


def checked(path, full):
    import onnx
    try:
        onnx.checker.check_model(path, full_check=full)
        return "ok"
    except Exception as error:  # noqa: BLE001
        return "refused: " + first_line(error)


KINDS = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(int64)": "int64", "tensor(int32)": "int32",
         "tensor(bool)": "bool", "tensor(float16)": "float16"}


def ran(path, given):
    """What onnxruntime computes of a model; without inputs, whether it loads it."""
    import numpy
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    if given is None:
        return None
    inputs = session.get_inputs()
    if sorted(given) != sorted(i.name for i in inputs) and len(given) == len(inputs):
        given = dict(zip((i.name for i in inputs), given.values()))
    feed = {i.name: numpy.array(given[i.name], dtype=KINDS[i.type]) for i in inputs}
    out = session.run(None, feed)
    return {o.name: {"dtype": str(value.dtype), "shape": list(value.shape), "data": value.astype("float64").tolist()}
            for o, value in zip(session.get_outputs(), out)}


def answer(ask):
    told = {}
    try:
        if ask.get("contents"):
            told.update(contents(ask["file"]))
        if ask.get("checker"):
            told["checker"] = checked(ask["file"], ask["checker"] == "full")
    except Exception as error:  # noqa: BLE001
        return {"load": type(error).__name__ + ": " + first_line(error)}
    if ask.get("run"):
        try:
            told.update(results=ran(ask["file"], ask.get("feed")), run="ok")
        except Exception as error:  # noqa: BLE001
            told["run"] = "refused: " + first_line(error)
    return told


if __name__ == "__main__":
    for request in sys.stdin:
        print(json.dumps(answer(json.loads(request))).replace("Infinity", '"inf"'), flush=True)
