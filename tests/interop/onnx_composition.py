#!/usr/bin/env python3
"""Two passes in one command compute what two commands compute, and what the model computes: on random nests of branches,
loops, scans, graphs for the items of sequences, recurrent layers and functions, with onnxruntime as the third voice.

    python3 tests/interop/onnx_composition.py --bin target/debug/nnef-flatten --count 50 --seed 1

Inner graphs that do not see each other use the same names, and so do functions and the graph, so that copies meet values
of other copies. Needs onnx, onnxruntime and numpy.
"""

import argparse
import itertools
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
OPSET = 18

# The passes, in the order in which one command runs them.
PASSES = {
    "plain": [],
    "bind": ["--bind", "c=true"],
    "unroll": ["--unroll"],
    "trips": ["--unroll", "--max-trips", "6"],
    "lower": ["--lower", "all"],
    "fold": ["--fold"],
    "share": ["--share"],
    "simplify": ["--simplify"],
    "outline": ["--outline"],
    "annotate": ["--annotate"],
}


class Graph:
    """Nodes of a graph or function, in a scope of names."""

    def __init__(self, made, depth=0, values=(), flags=(), numbers=(), shape=(2, 3)):
        self.made, self.depth, self.shape = made, depth, list(shape)
        self.values, self.flags, self.numbers = list(values), list(flags), list(numbers)
        self.nodes, self.count = [], 0
        # Whether sequences are mapped in it: onnxruntime loads no map in a map, and not all in branches and loops.
        self.maps = False
        # Whether functions are called in it: in a map, onnxruntime mixes up names of functions and of the graph.
        self.calls = True

    @property
    def rng(self):
        return self.made.rng

    def name(self):
        self.count += 1
        return f"d{self.depth}_{self.count}"

    def add(self, operator, inputs, domain="", **attributes):
        output = self.name()
        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def constant(self, value, dtype):
        tensor = helper.make_tensor("", dtype, np.shape(value), np.ravel(value).tolist())
        return self.add("Constant", [], value=tensor)

    def value(self):
        return self.rng.choice(self.values)

    def info(self, name, dtype=FLOAT, shape=None):
        return helper.make_tensor_value_info(name, dtype, self.shape if shape is None else shape)

    def inner(self, shape=None, values=None):
        values = self.values if values is None else values
        graph = Graph(self.made, self.depth + 1, values, self.flags, self.numbers, shape or self.shape)
        graph.calls = self.calls
        return graph

    # Statements: each adds a value of the shape of the graph.

    def statement(self, budget):
        simple = [self.unary, self.binary, self.scaled] + [self.item] * bool(self.numbers)
        nested = [self.branch, self.branch, self.loop] + [self.mapped] * self.maps + [self.call] * 2
        if len(self.shape) == 2:
            nested += [self.scan, self.recurrent]
        kind = self.rng.choice(simple + nested * 2 if budget > 0 else simple)
        self.values.append(kind(budget))

    def fill(self, budget, least=1):
        for _ in range(self.rng.randint(least, 3)):
            self.statement(budget)

    def unary(self, _):
        return self.add(self.rng.choice(["Neg", "Abs", "Relu", "Tanh"]), [self.value()])

    def binary(self, _):
        return self.add(self.rng.choice(["Add", "Sub", "Max"]), [self.value(), self.value()])

    def scaled(self, _):
        return self.add("Mul", [self.value(), self.constant(self.rng.choice([0.5, -0.25, 0.75]), FLOAT)])

    def item(self, _):
        """An item of a table that is as long as there are trips: other trips must not read it."""
        table = self.constant(self.made.numpy.uniform(-1, 1, [4, 3]).round(2), FLOAT)
        return self.add("Add", [self.value(), self.add("Gather", [table, self.rng.choice(self.numbers)])])

    def number(self):
        """A small integer: known, known from a shape, or not known."""
        known = self.rng.random()
        if known < 0.2:
            return self.constant(self.rng.randint(0, 3), INT)
        if known < 0.7 or not self.numbers:
            axis = self.constant(self.rng.randrange(len(self.shape)), INT)
            return self.add("Gather", [self.add("Shape", [self.value()]), axis])
        return self.rng.choice(self.numbers)

    def flag(self):
        kind = self.rng.random()
        if kind < 0.2 and self.flags:
            return self.rng.choice(self.flags)
        if kind < 0.3:
            total = self.add("ReduceSum", [self.value()], keepdims=0)
            return self.add("Greater", [total, self.constant(0.0, FLOAT)])
        if kind < 0.5:
            rest = self.add("Mod", [self.number(), self.constant(2, INT)])
            return self.add("Equal", [rest, self.constant(0, INT)])
        return self.add(self.rng.choice(["Less", "Equal"]), [self.number(), self.constant(self.rng.randint(0, 3), INT)])

    def branch(self, budget):
        condition = self.flag()
        branches = {}
        for name in ["then_branch", "else_branch"]:
            graph = self.inner()
            graph.fill(budget - 1)
            branches[name] = helper.make_graph(graph.nodes, name[:4], [], [graph.info(graph.values[-1])])
        return self.add("If", [condition], **branches)

    def loop(self, budget):
        trips, first = self.number(), self.value()
        graph = self.inner()
        trip, goes_on, state = (graph.name() for _ in range(3))
        graph.values.append(state)
        graph.numbers.append(trip)
        graph.fill(budget - 1)
        if self.rng.random() < 0.5:
            after = graph.add("Identity", [goes_on])
        else:
            after = graph.add("Less", [trip, graph.number()])
        last = graph.add("Tanh", [graph.values[-1]])
        collected = graph.add("Add", [last, state])
        scalar = [graph.info(trip, INT, []), graph.info(goes_on, BOOL, [])]
        outputs = [graph.info(after, BOOL, []), graph.info(last), graph.info(collected)]
        body = helper.make_graph(graph.nodes, "body", scalar + [graph.info(state)], outputs)
        result, stack = self.name(), self.name()
        condition = self.rng.choice(["", self.constant(True, BOOL)])
        self.nodes.append(helper.make_node("Loop", [trips, condition, first], [result, stack], body=body))
        axis = self.constant([0], INT)
        return self.add("Add", [result, self.add("ReduceSum", [stack, axis], keepdims=0)])

    def scan(self, budget):
        first = self.add("ReduceSum", [self.value(), self.constant([0], INT)], keepdims=0)
        graph = self.inner([3], [])
        state, item = graph.name(), graph.name()
        graph.values += [state, item]
        graph.fill(budget - 1)
        last = graph.add("Tanh", [graph.values[-1]])
        collected = graph.add("Add", [last, item])
        body = helper.make_graph(
            graph.nodes, "scan", [graph.info(state), graph.info(item)], [graph.info(last), graph.info(collected)]
        )
        result, stack = self.name(), self.name()
        direction = {"scan_input_directions": [self.rng.randint(0, 1)]}
        inputs = [first, self.value()]
        self.nodes.append(helper.make_node("Scan", inputs, [result, stack], body=body, num_scan_inputs=1, **direction))
        return self.add("Add", [result, stack])

    def mapped(self, budget):
        """A graph for each item of a sequence, beside another value. onnxruntime runs it as a function, which does not see
        the values around it."""
        graph = Graph(self.made, self.depth + 1, shape=self.shape)
        graph.calls = False
        item, beside = graph.name(), graph.name()
        graph.values += [item, beside]
        graph.fill(budget - 1)
        last = graph.values[-1]
        body = helper.make_graph(graph.nodes, "map", [graph.info(item), graph.info(beside)], [graph.info(last)])
        items = self.add("SequenceConstruct", [self.value() for _ in range(self.rng.randint(1, 2))])
        made = self.add("SequenceMap", [items, self.value()], body=body)
        return self.add("SequenceAt", [made, self.constant(-1, INT)])

    def recurrent(self, _):
        shaped = self.add("Reshape", [self.value(), self.constant([2, 1, 3], INT)])
        weights = [self.constant(self.made.numpy.uniform(-1, 1, [1, 12, 3]).round(2), FLOAT) for _ in range(2)]
        result = self.add("LSTM", [shaped] + weights, hidden_size=3)
        return self.add("Reshape", [result, self.constant([2, 3], INT)])

    def call(self, _):
        callable_ = self.made.functions[: self.made.open]
        if len(self.shape) != 2 or not callable_ or not self.calls:
            return self.unary(0)
        function = self.rng.choice(callable_)
        flag = self.flag()
        return self.add(function.name, [self.value(), flag], domain="local", alpha=self.rng.choice([0.5, 2.0, -1.0]))


class Made:
    """A random model."""

    def __init__(self, seed):
        self.rng, self.numpy = random.Random(seed), np.random.default_rng(seed)
        self.functions, self.open = [], 0
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("local", 1)]
        for i in range(self.rng.randint(0, 3)):
            self.functions.append(self.function(f"f{i}", opsets))
            self.open = len(self.functions)
        graph = Graph(self, values=["x", "y"], flags=["c"], numbers=["n"])
        graph.maps = True
        for _ in range(self.rng.randint(2, 4)):
            graph.statement(3)
        outputs = [graph.add("Identity", [value]) for value in graph.values[-2:]]
        inputs = [graph.info("x"), graph.info("y"), graph.info("c", BOOL, []), graph.info("n", INT, [])]
        main = helper.make_graph(graph.nodes, "main", inputs, [graph.info(output) for output in outputs])
        self.model = helper.make_model(main, opset_imports=opsets, functions=self.functions, ir_version=9)

    def function(self, name, opsets):
        graph = Graph(self, values=["x"], flags=["c"])
        alpha = onnx.AttributeProto(name="value_float", type=onnx.AttributeProto.FLOAT, ref_attr_name="alpha")
        factor = graph.name()
        node = helper.make_node("Constant", [], [factor])
        node.attribute.append(alpha)
        graph.nodes.append(node)
        graph.values.append(graph.add("Mul", ["x", factor]))
        graph.fill(2)
        result = graph.add("Mul", [graph.values[-1], factor])
        return helper.make_function("local", name, ["x", "c"], [result], graph.nodes, opsets, ["alpha"])

    def inputs(self):
        for i, (flag, number) in enumerate([(True, 2), (False, 0), (True, 3)]):
            values = np.random.default_rng(i).uniform(-1, 1, [2, 2, 3]).astype(np.float32)
            yield {"x": values[0], "y": values[1], "c": np.array(flag), "n": np.array(number, np.int64)}


def untyped(nodes):
    """Takes away the types of what graphs for items of sequences compute: functions of exporters have none."""
    for node in nodes:
        for attribute in node.attribute:
            untyped(attribute.g.node)
            if node.op_type == "SequenceMap":
                attribute.g.output[0].ClearField("type")


class Compositions:
    """A model, what passes write of it, and what is known of that: each text is written, checked and computed once."""

    def __init__(self, made, binary, folder):
        self.made, self.binary, self.folder = made, binary, folder
        self.written, self.equal, self.inputs = {}, set(), list(made.inputs())
        self.wanted = [run(session(made.model), given) for given in self.inputs]
        for nodes in [made.model.graph.node, *(function.node for function in made.model.functions)]:
            untyped(nodes)
        self.source = made.model.SerializeToString()

    def flattened(self, passes, source):
        """The bytes that a command with these passes writes for a model."""
        options = [option for name in passes for option in PASSES[name]]
        if (source, *options) not in self.written:
            given, target = (os.path.join(self.folder, f"{name}.onnx") for name in ["given", "written"])
            with open(given, "wb") as file:
                file.write(source)
            command = [self.binary, "-q", given, *options, "-o", target]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600)
            if done.returncode != 0:
                raise AssertionError(f"{' '.join(command[2:])}: {done.returncode}: {done.stderr.strip()[:400]}")
            with open(target, "rb") as file:
                self.written[source, *options] = file.read()
        return self.written[source, *options]

    def check(self, data, bound):
        """Whether a written model is one, and computes what the generated one does."""
        if (data, bound) in self.equal:
            return
        onnx.checker.check_model(data, full_check=True)
        other = session(data)
        for given, wanted in zip(self.inputs, self.wanted):
            if not bound or given["c"]:
                for one, found in zip(wanted, run(other, given), strict=True):
                    assert np.shape(found) == np.shape(one), f"the shape {np.shape(found)}, not {np.shape(one)}"
                    np.testing.assert_allclose(found, one, rtol=1e-4, atol=1e-5, equal_nan=True)
        self.equal.add((data, bound))

    def compare(self, pair):
        """Whether a pair of passes in one command writes what two commands do.

        Raises an error if what they write is no model, or computes something else.
        """
        first, second = pair
        bound = "bind" in pair
        both = self.flattened(pair, self.source)
        one = self.flattened([first], self.source)
        after = self.flattened([second], one)
        for written in [both, one, after]:
            self.check(written, bound)
        if {"outline", "annotate"} & set(pair) or both == after:
            return True
        return structure(onnx.load_from_string(both).graph) == structure(onnx.load_from_string(after).graph)


def session(model):
    """A session that computes a model as it is written: what the optimizer of onnxruntime does to nests of branches is
    not always the same model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model if isinstance(model, bytes) else model.SerializeToString(), options)


def run(session_, given):
    names = {value.name for value in session_.get_inputs()}
    return session_.run(None, {name: value for name, value in given.items() if name in names})


def structure(graph, values=None, depth=0):
    """The results of a graph and all its nodes, without the names of values."""
    values = dict(values or {})
    for i, value in enumerate(graph.input):
        values[value.name] = depth, i
    for tensor in graph.initializer:
        values[tensor.name] = constant(tensor)
    nodes = []
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            values[node.output[0]] = constant(node.attribute[0].t)
            continue
        attributes = []
        for attribute in sorted(node.attribute, key=lambda attribute: attribute.name):
            inner = attribute.type == onnx.AttributeProto.GRAPH
            attributes.append(structure(attribute.g, values, depth + 1) if inner else attribute.SerializeToString())
        made = hash((node.op_type, node.domain, *attributes, *[values.get(name, name) for name in node.input]))
        nodes.append(made)
        for i, name in enumerate(node.output):
            values[name] = made, i
    return tuple(values.get(value.name) for value in graph.output), tuple(sorted(nodes))


def constant(tensor):
    array = onnx.numpy_helper.to_array(tensor)
    return str(array.dtype), array.shape, array.tobytes()


OUTCOMES = ["equal", "other operators one by one", "failed", "no case"]


def cases(seeds, arguments, told):
    """Tries pairs of passes on random models. Before each step, sends what it means if the process ends in it."""
    pairs = [pair for pair in itertools.combinations(PASSES, 2) if set(pair) != {"unroll", "trips"}]
    # Folding decides most, so that every second pair folds.
    folding = [pair for pair in pairs if "fold" in pair]
    pairs = [pair for both in zip(pairs, itertools.cycle(folding)) for pair in both]
    for seed in seeds:
        told.send((seed, "model", "no case"))
        made = Made(seed)
        if arguments.keep:
            os.makedirs(arguments.keep, exist_ok=True)
            onnx.save(made.model, os.path.join(arguments.keep, f"{seed}.onnx"))
        with tempfile.TemporaryDirectory() as folder:
            try:
                onnx.checker.check_model(made.model, full_check=True)
                compositions = Compositions(made, arguments.bin, folder)
            except Exception as error:  # noqa: BLE001 - what other programs do not take is no case
                print(f"{seed}: no case: {str(error).strip().splitlines()[-1][:160]}", flush=True)
                continue
            first = seed * arguments.pairs
            for pair in dict.fromkeys(pairs[i % len(pairs)] for i in range(first, first + arguments.pairs)):
                told.send((seed, " then ".join(pair), "failed"))
                try:
                    outcome = OUTCOMES[0] if compositions.compare(pair) else OUTCOMES[1]
                    told.send((seed, " then ".join(pair), outcome))
                except Exception as error:  # noqa: BLE001 - each failure is told
                    print(f"{seed}: {str(error).strip()[:500]}", flush=True)
        told.send((seed, "model", "equal"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", default="target/debug/nnef-flatten")
    parser.add_argument("--count", type=int, default=20, help="the number of models")
    parser.add_argument("--pairs", type=int, default=4, help="the number of pairs of passes for each model")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="a folder for the models")
    arguments = parser.parse_args()
    outcomes = {}
    next_, last = arguments.seed, arguments.seed + arguments.count
    while next_ < last:
        # Another process: onnxruntime crashes on some models, also on those that nobody changed.
        ours, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(target=cases, args=(range(next_, last), arguments, theirs))
        process.start()
        theirs.close()
        try:
            while True:
                seed, pair, outcome = ours.recv()
                outcomes[seed, pair] = outcome
                next_ = seed + 1
        except EOFError:
            process.join()
            next_ = last if process.exitcode == 0 else next_
    for wanted in OUTCOMES[1:3]:
        for (seed, pair), outcome in outcomes.items():
            if outcome == wanted:
                print(f"{seed}: {pair}: {outcome}")
    models = sum(pair == "model" and outcome == "equal" for (_, pair), outcome in outcomes.items())
    found = [outcome for (_, pair), outcome in outcomes.items() if pair != "model"]
    counts = ", ".join(f"{found.count(outcome)} {outcome}" for outcome in OUTCOMES[:3])
    print(f"{len(found)} compositions of {models} models: {counts}; {arguments.count - models} models are no case")
    return 1 if "failed" in found or "equal" not in found else 0


if __name__ == "__main__":
    sys.exit(main())
