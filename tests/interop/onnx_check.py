#!/usr/bin/env python3
"""Compares `nnef-flatten check` with onnx.checker on models of ONNX's own operator tests, right ones and wrong ones.

    python3 tests/interop/onnx_check.py --bin target/release/nnef-flatten [--count N] [--seed N]

Every model that onnx ships has to be accepted. Of models with a mistake, those that onnx.checker refuses have to be
refused; that we refuse more is allowed, because onnx.checker looks neither at types nor at lengths of data, and
the summary tells which codes found it.
"""

import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

import onnx

warnings.filterwarnings("ignore")


def cases():
    from onnx.backend.test.case.node import collect_testcases

    return [(case.name, case.model) for case in collect_testcases(None) if case.model is not None]


def graphs(model):
    yield model.graph
    for node in model.graph.node:
        yield from (attribute.g for attribute in node.attribute if attribute.type == onnx.AttributeProto.GRAPH)


def drop_attribute(random, graph):
    node = random.choice([node for node in graph.node if node.attribute])
    del node.attribute[random.randrange(len(node.attribute))]


def rename_attribute(random, graph):
    node = random.choice([node for node in graph.node if node.attribute])
    random.choice(node.attribute).name += "x"


def change_attribute(random, graph):
    node = random.choice([node for node in graph.node if node.attribute])
    attribute = random.choice(node.attribute)
    name = attribute.name
    attribute.CopyFrom(onnx.helper.make_attribute(name, random.choice([1, 1.5, "text", [1, 2], [1.5], ["text"]])))


def drop_input(random, graph):
    node = random.choice([node for node in graph.node if node.input])
    del node.input[random.randrange(len(node.input))]


def empty_input(random, graph):
    node = random.choice([node for node in graph.node if node.input])
    node.input[random.randrange(len(node.input))] = ""


def add_input(random, graph):
    node = random.choice(graph.node)
    node.input.append(random.choice(graph.input).name)


def unknown_input(random, graph):
    node = random.choice([node for node in graph.node if node.input])
    node.input[random.randrange(len(node.input))] += "_"


def add_output(random, graph):
    random.choice(graph.node).output.append("another")


def equal_outputs(random, graph):
    random.choice(graph.node).output[0] = random.choice(graph.input).name


def rename_operator(random, graph):
    random.choice(graph.node).op_type += "x"


def other_domain(random, graph):
    random.choice(graph.node).domain = random.choice(["ai.onnx.ml", "mine"])


def drop_producer(random, graph):
    del graph.node[random.randrange(len(graph.node))]


def reverse(random, graph):
    nodes = list(graph.node)[::-1]
    del graph.node[:]
    graph.node.extend(nodes)


MUTATIONS = [
    drop_attribute, rename_attribute, change_attribute, drop_input, empty_input, add_input, unknown_input, add_output,
    equal_outputs, rename_operator, other_domain, drop_producer, reverse,
]  # fmt: skip


def verdict(model):
    """What onnx.checker says; none where it accepts."""
    try:
        onnx.checker.check_model(model)
    except Exception as error:
        return str(error).splitlines()[0] if str(error) else repr(error)
    return None


def check(binary, path):
    run = subprocess.run([binary, "check", "--message-format", "json", path], capture_output=True, text=True)
    assert run.returncode in (0, 1), f"{path}: exit status {run.returncode}\n{run.stderr}"
    found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    codes = [each["code"] for each in found if each.get("severity") == "error"]
    assert (run.returncode == 0) == (not codes), f"{path}: exit status {run.returncode} with {codes}\n{run.stdout}"
    return run.returncode == 0, codes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=1000, help="models with a mistake")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    known = cases()
    wrong, stricter, refused = [], collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        for name, model in known:
            path.write_bytes(model.SerializeToString())
            accepted, codes = check(arguments.bin, path)
            if not accepted:
                wrong.append(f"{name}: a right model is refused: {codes}")
        for i in range(arguments.count):
            name, model = chance.choice(known)
            model = type(model).FromString(model.SerializeToString())
            mutation = chance.choice(MUTATIONS)
            try:
                mutation(chance, chance.choice(list(graphs(model))))
            except IndexError:
                continue
            theirs = verdict(model)
            path.write_bytes(model.SerializeToString())
            accepted, codes = check(arguments.bin, path)
            if theirs and accepted:
                wrong.append(f"{name}, {mutation.__name__} ({i}): accepted, onnx.checker: {theirs}")
            elif theirs:
                refused += 1
            elif not accepted:
                stricter.update({(mutation.__name__, code) for code in codes})
    print(f"{len(known)} right models; of {arguments.count} wrong ones both refuse {refused}")
    for (mutation, code), count in sorted(stricter.items()):
        print(f"  refused by us only: {mutation} {code} {count}")
    for line in wrong:
        print(line)
    sys.exit(1 if wrong or refused * 10 < arguments.count else 0)


if __name__ == "__main__":
    main()
