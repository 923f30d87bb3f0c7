#!/usr/bin/env python3
"""Expands the functions of generated ONNX models, and compares the numbers.

Each model is text with random functions: attributes with and without defaults that are handed on, inputs and outputs
left out, overloads, calls in branches and loops, names that are the same everywhere. An evaluator of this script calls
the functions as the specification says. The flat model has no function, passes onnx.checker, and onnxruntime gives the
same numbers. If only one or two functions are expanded or kept, for each choice of them, the evaluator gives the same
numbers for the model with the functions that are left, and so does onnxruntime for that model when it is flat.
(onnxruntime itself refuses most of the models before they are flat: it confuses names, and does not find
overloads.) Needs the Python packages numpy, onnx and onnxruntime.
"""

import argparse
import itertools
import pathlib
import random
import subprocess
import sys

import numpy
import onnx
import onnx.parser
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent.parent.parent

NAMES = ["x", "y", "z", "t", "t_1", "a", "x_f0", "f0_t", "y_1", "b"]
TYPE = "float[2,3]"


class Function:
    """What callers have to know of a function."""

    def __init__(self, domain, name, overload, inputs, outputs, optional, attributes):
        self.domain, self.name, self.overload = domain, name, overload
        self.inputs, self.outputs, self.optional = inputs, outputs, optional
        self.attributes = attributes  # name: default or None

    def called(self):
        return f"{self.domain}.{self.name}" + (f":{self.overload}" if self.overload else "")


class Body:
    """Statements of a graph or function while they are generated."""

    def __init__(self, random, functions, attributes, depth=0, outer=(), optional=()):
        self.random, self.functions, self.attributes = random, functions, attributes
        self.optional = list(optional)  # attributes that callers may leave out
        self.depth = depth
        self.visible = list(outer)  # names of tensors that can be read
        self.taken = set(outer)  # names that cannot be assigned
        self.conditions = 0
        self.lines = []

    def fresh(self):
        free = [name for name in NAMES if name not in self.taken]
        name = self.random.choice(free) if free else f"n{len(self.taken)}"
        self.taken.add(name)
        return name

    def number(self):
        return self.random.choice(["0.5", "1.5", "-0.25", "2.0"])

    def attribute(self, name):
        """A float attribute: a number, or one of the function's own."""
        if self.attributes and self.random.random() < 0.6:
            return f"{name}: float = @{self.random.choice(self.attributes)}"
        return f"{name}: float = {self.number()}"

    def handed_on(self, name):
        """A reference to an attribute that callers may leave out; only where the callee has a default."""
        if self.optional and self.random.random() < 0.5:
            return f"{name}: float = @{self.random.choice(self.optional)}"
        return None

    def operand(self):
        return self.random.choice(self.visible)

    def add(self, targets, text):
        self.lines.append(f"{', '.join(targets)} = {text}")
        self.visible += [target for target in targets if target]

    def statement(self):
        choices = [self.unary, self.binary, self.leaky, self.constant, self.clip]
        if self.functions:
            choices += [self.call] * 4
        if self.depth < 2:
            choices += [self.branch, self.loop]
        self.random.choice(choices)()

    def unary(self):
        operation, operand = self.random.choice(["Neg", "Relu", "Tanh", "Identity"]), self.operand()
        self.add([self.fresh()], f"{operation}({operand})")

    def binary(self):
        operation, a, b = self.random.choice(["Add", "Mul", "Sub"]), self.operand(), self.operand()
        self.add([self.fresh()], f"{operation}({a}, {b})")

    def leaky(self):
        operand = self.operand()
        self.add([self.fresh()], f"LeakyRelu <{self.attribute('alpha')}> ({operand})")

    def single(self):
        """The name of a new single number."""
        name = f"k{len(self.taken)}_{self.depth}"
        self.taken.add(name)
        self.lines.append(f"{name} = Constant <{self.attribute('value_float')}> ()")
        return name

    def constant(self):
        operand, number = self.operand(), self.single()
        self.add([self.fresh()], f"Add({operand}, {number})")

    def clip(self):
        operand, number = self.operand(), self.single()
        self.add([self.fresh()], f"Clip({operand}, , {number})")

    def call(self):
        function = self.random.choice(self.functions)
        operands = [self.operand() for _ in function.inputs]
        if function.optional and self.random.random() < 0.5:
            operands[-1] = ""
            if self.random.random() < 0.5:
                operands.pop()
        targets = [self.fresh() for _ in function.outputs]
        given = []
        for name, default in function.attributes.items():
            if default is None:
                given.append(self.attribute(name))
            elif self.random.random() < 0.6:
                given.append(self.handed_on(name) or self.attribute(name))
        given = f" <{', '.join(given)}>" if given else ""
        if len(targets) > 1 and self.random.random() < 0.3:
            targets[self.random.randrange(len(targets) - 1)] = ""
        self.add(targets, f"{function.called()}{given} ({', '.join(operands)})")

    def condition(self):
        operand, bound = self.operand(), self.single()
        greatest, greater = (f"{letter}{len(self.taken)}_{self.depth}" for letter in "mc")
        self.taken.update([greatest, greater])
        self.lines.append(f"{greatest} = ReduceMax <keepdims = 0> ({operand})")
        self.lines.append(f"{greater} = Greater({greatest}, {bound})")
        return greater

    def inner(self, count):
        body = Body(self.random, self.functions, self.attributes, self.depth + 1, self.visible, self.optional)
        body.taken |= self.taken
        for _ in range(self.random.randint(1, count)):
            body.statement()
        result = body.fresh()
        body.add([result], f"Identity({body.operand()})")
        return body, result

    def branch(self):
        condition, name = self.condition(), self.fresh()
        texts, taken = [], set()
        for which in ["then_branch", "else_branch"]:
            body, result = self.inner(3)
            taken |= body.taken
            texts.append(f"{which} = g () => ({TYPE} {result}) {{ {' '.join(body.lines)} }}")
        self.taken |= taken
        self.add([name], f"If({condition}) <{', '.join(texts)}>")

    def loop(self):
        start, name = self.operand(), self.fresh()
        trips = f"n{len(self.taken)}_{self.depth}"
        counter, going, going_on, carried = (f"{letter}{len(self.taken)}_{self.depth}" for letter in "iuvw")
        self.taken.update([trips, counter, going, going_on, carried])
        self.lines.append(f"{trips} = Constant <value_int: int = {self.random.randint(0, 3)}> ()")
        self.visible.append(carried)
        body, result = self.inner(2)
        self.visible.remove(carried)
        last = body.fresh()
        self.taken |= body.taken
        body.lines.append(f"{going_on} = Identity({going})")
        body.lines.append(f"{last} = Add({result}, {carried})")
        inputs = f"int64 {counter}, bool {going}, {TYPE} {carried}"
        text = f"body = g ({inputs}) => (bool {going_on}, {TYPE} {last}) {{ {' '.join(body.lines)} }}"
        self.add([name], f"Loop({trips}, , {start}) <{text}>")


def function(random, index, known):
    """The text of a function that may call those that are known, and what callers have to know."""
    domain = random.choice(["d", "e"])
    overload = random.choice(["", "", "v2"])
    attributes = {f"p{i}": random.choice([None, "0.75", "-1.5"]) for i in range(random.randint(0, 2))}
    # Attributes without a default that calls may omit: they are only handed on, or used where an operator has a default.
    left_out = [f"q{i}" for i in range(random.randint(0, 2))]
    inputs = random.sample(NAMES, random.randint(1, 3))
    optional = len(inputs) > 1 and random.random() < 0.3
    body = Body(random, known, list(attributes), 0, inputs[: len(inputs) - optional], left_out)
    body.taken |= set(inputs)
    if left_out and random.random() < 0.5:
        name = body.fresh()
        body.add([name], f"LeakyRelu <alpha: float = @{left_out[0]}> ({inputs[0]})")
    if optional:
        # A bound that may be left out.
        name, operand = body.fresh(), body.operand()
        body.lines.append(f"{name}_m = ReduceMin <keepdims = 0> ({operand})")
        body.add([name], f"Clip({operand}, , {name}_m)")
    for _ in range(random.randint(1, 5)):
        body.statement()
    made = [name for name in body.visible if name not in inputs]
    outputs = random.sample(made, min(len(made), random.randint(1, 2)))
    if not outputs:
        outputs = [body.fresh()]
        body.add(outputs, f"Identity({body.operand()})")
    plain = [name for name, default in attributes.items() if default is None] + left_out
    given = [f"{name}: float = {default}" for name, default in attributes.items() if default is not None]
    lists = f"<{', '.join(plain + given)}>" if plain or given else ""
    # An overload may have the name of another function.
    name = "f0" if overload and random.random() < 0.2 else f"f{index}"
    # Callers treat these attributes like ones with a default.
    attributes = attributes | {name: "omitted" for name in left_out}
    made = Function(domain, name, overload, inputs, outputs, optional, attributes)
    if any(other.called() == made.called() for other in known):
        made.name = f"f{index}"
    head = f'<domain: "{domain}", opset_import: ["": 18, "d": 1, "e": 1]'
    head += f', overload: "{overload}">' if overload else ">"
    lines = "\n".join(f"  {line}" for line in body.lines)
    signature = f"{made.name} {lists} ({', '.join(inputs)}) => ({', '.join(outputs)})"
    return f"{head}\n{signature} {{\n{lines}\n}}\n", made


def model(seed):
    r = random.Random(seed)
    known, texts = [], []
    for index in range(r.randint(1, 5)):
        text, made = function(r, index, known)
        known.append(made)
        texts.append(text)
    r.shuffle(texts)
    inputs = r.sample(NAMES, 2)
    body = Body(r, known, [], 0, inputs)
    for _ in range(r.randint(2, 6)):
        body.statement()
    made = [name for name in body.visible if name not in inputs]
    outputs = r.sample(made, min(len(made), 2))
    declared = ", ".join(f"{TYPE} {name}" for name in inputs)
    results = ", ".join(f"{TYPE} {name}" for name in outputs)
    lines = "\n".join(f"  {line}" for line in body.lines)
    head = '<ir_version: 10, opset_import: ["": 18, "d": 1, "e": 1]>'
    return f"{head}\ng ({declared}) => ({results}) {{\n{lines}\n}}\n" + "".join(texts)


class Call:
    """The evaluation of a graph or of the body of a function."""

    def __init__(self, model, values, attributes):
        self.model, self.values, self.attributes = model, values, attributes

    def given(self, node):
        """The attributes of a node; those that refer to attributes of the function are replaced by them."""
        found = {}
        for attribute in node.attribute:
            if not attribute.ref_attr_name:
                found[attribute.name] = attribute
            elif attribute.ref_attr_name in self.attributes:
                found[attribute.name] = self.attributes[attribute.ref_attr_name]
        return found

    def read(self, name):
        return self.values[name] if name else None

    def run(self, nodes):
        for node in nodes:
            results = self.node(node, [self.read(name) for name in node.input], self.given(node))
            self.values.update((name, value) for name, value in zip(node.output, results) if name)

    def node(self, node, inputs, given):
        if node.domain:
            return self.function(node, inputs, given)
        if node.op_type == "If":
            return self.graph(given["then_branch" if inputs[0] else "else_branch"].g, [])
        if node.op_type == "Loop":
            carried = inputs[2]
            for trip in range(inputs[0]):
                carried = self.graph(given["body"].g, [trip, True, carried])[1]
            return [carried]
        return [OPERATIONS[node.op_type](*inputs, **{name: onnx.helper.get_attribute_value(given[name]) for name in given})]

    def graph(self, graph, inputs):
        inner = Call(self.model, dict(self.values), self.attributes)
        inner.values.update((value.name, given) for value, given in zip(graph.input, inputs))
        inner.run(graph.node)
        return [inner.values[value.name] for value in graph.output]

    def function(self, node, inputs, given):
        key = (node.domain, node.op_type, node.overload)
        function = next(f for f in self.model.functions if (f.domain, f.name, f.overload) == key)
        attributes = {attribute.name: attribute for attribute in function.attribute_proto} | given
        inputs += [None] * (len(function.input) - len(inputs))
        inner = Call(self.model, dict(zip(function.input, inputs)), attributes)
        inner.run(function.node)
        return [inner.values[name] for name in function.output]


OPERATIONS = {
    "Neg": numpy.negative, "Relu": lambda x: numpy.maximum(x, 0), "Tanh": numpy.tanh, "Identity": lambda x: x,
    "Add": numpy.add, "Mul": numpy.multiply, "Sub": numpy.subtract, "Greater": numpy.greater,
    "LeakyRelu": lambda x, alpha=0.01: numpy.where(x < 0, x * numpy.float32(alpha), x),
    "Constant": lambda value_float=None, value_int=None: value_int if value_float is None else numpy.float32(value_float),
    "Clip": lambda x, low=None, high=None: x if low is high is None else numpy.clip(x, low, high),
    "ReduceMax": lambda x, keepdims: x.max(), "ReduceMin": lambda x, keepdims: x.min(),
}


def close(name, value, wanted):
    assert value.shape == wanted.shape, f"another shape: {name}"
    assert numpy.allclose(value, wanted, rtol=1e-4, atol=1e-5, equal_nan=True), f"other numbers: {name}"


def flatten(binary, model, options, notation="onnxtxt"):
    command = [binary, "-q", "--from", notation, "--to", "onnx", *options, "-"]
    run = subprocess.run(command, input=model, capture_output=True)
    assert run.returncode == 0, f"{options}: {run.stderr.decode().strip()}"
    return run.stdout


def compare_flat(flat, feed, evaluated, names):
    model = onnx.load_model_from_string(flat)
    assert not model.functions, "functions are left"
    onnx.checker.check_model(model, full_check=True)
    assert [value.name for value in model.graph.output] == names, "other outputs"
    session = onnxruntime.InferenceSession(flat)
    read = {value.name for value in session.get_inputs()}
    for name, value in zip(names, session.run(None, {key: feed[key] for key in feed if key in read})):
        close(name, value, evaluated.values[name])


def subsets(source):
    """Options that expand or keep one or two functions."""
    keys = [f"{f.domain}.{f.name}" + (f":{f.overload}" if f.overload else "") for f in source.functions]
    chosen = [(key,) for key in keys] + list(itertools.combinations(keys, 2))
    return [[option, ",".join(names)] for names in chosen for option in ("--lower", "--keep")]


def compare(binary, seed, text):
    source = onnx.parser.parse_model(text)
    feed = {}
    for i, value in enumerate(source.graph.input):
        feed[value.name] = numpy.random.default_rng([seed, i]).standard_normal((2, 3)).astype(numpy.float32)
    evaluated = Call(source, dict(feed), {})
    evaluated.run(source.graph.node)
    names = [value.name for value in source.graph.output]
    compare_flat(flatten(binary, text.encode(), []), feed, evaluated, names)
    for options in subsets(source):
        partial = flatten(binary, text.encode(), options)
        model = onnx.load_model_from_string(partial)
        onnx.checker.check_model(model)
        again = Call(model, dict(feed), {})
        again.run(model.graph.node)
        for name in names:
            close(f"{name} of {options}", again.values[name], evaluated.values[name])
        compare_flat(flatten(binary, partial, [], "onnx"), feed, evaluated, names)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=str(HERE / "target/release/nnef-flatten"))
    parser.add_argument("--count", type=int, default=300, help="how many models")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    arguments = parser.parse_args()
    failed = 0
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        text = model(seed)
        try:
            compare(arguments.bin, seed, text)
        except Exception as error:
            failed += 1
            print(f"model {seed}: {error}\n{text}")
    print(f"{arguments.count - failed} of {arguments.count} models agree")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
