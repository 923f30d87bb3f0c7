#!/usr/bin/env python3
"""Compares the flat graphs of nnef-flatten with those of Khronos' parser (PyPI `nnef`).

usage: khronos.py --bin PATH [--count N] [--seed S] [--keep DIR]

Makes random documents that both programs read (valid NNEF 1.0, within what the peer gets right),
expands everything with both, and compares the graphs up to names of intermediate tensors and
copies. Documents on which the two differ are written to DIR. Exit status 0 when all agree, 1 when
some differ, 0 with the word `skipped` when the package is not installed.

What the generator leaves out, because the peer is known to be wrong there: unary operators on
anything but a literal or a name in parentheses, `&&`, `||` and `!` on tensors, `==` of strings
and logicals, subscripts of tuples and strings, repeated strings, begin > end in ranges, negative
indices, integers beyond 32 bits, division by zero, forward references, explicit type arguments in
operators, and string() of scalars and logicals.
"""
import argparse, json, os, random, subprocess, sys, tempfile

HEADER = ("version 1.0;\nextension KHR_enable_fragment_definitions;\n"
          "extension KHR_enable_operator_expressions;\n\n")
UNARY = ["exp", "tanh", "relu", "sigmoid", "abs", "sqr", "softplus", "sin", "round"]
BINARY = ["add", "mul", "sub", "max", "min", "pow", "div"]
OPERATORS = ["+", "-", "*", "/"]


class Fragment:
    """The signature of a generated fragment."""

    def __init__(self, name, tensors, arrays, attributes, results):
        self.name, self.tensors, self.arrays = name, tensors, arrays
        self.attributes, self.results = attributes, results


class Generator:
    """Makes one document."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.fragments = []
        self.text = []
        self.fresh = 0

    def name(self, prefix):
        self.fresh += 1
        return "%s%d" % (prefix, self.fresh)

    def pick(self, items):
        return self.random.choice(items)

    def chance(self, p):
        return self.random.random() < p

    # Compile-time expressions, with their values so that nothing overflows or divides by zero.
    def integer(self, scope, depth):
        names = scope["integers"]
        if depth == 0 or self.chance(0.3):
            return self.pick(names) if names and self.chance(0.6) else str(self.random.randint(0, 4))
        a, b = self.integer(scope, depth - 1), self.integer(scope, depth - 1)
        kind = self.random.randrange(5)
        if kind == 0 and scope["arrays"]:
            return "length_of(%s)" % self.pick(scope["arrays"])
        if kind == 1:
            return "(%s if %s else %s)" % (a, self.logical(scope, depth - 1), b)
        if kind == 2:
            return "integer(%s)" % self.scalar(scope, depth - 1)
        if kind == 3:
            return "(%s / %d)" % (a, self.random.randint(1, 3))
        return "(%s %s %s)" % (a, self.pick(["+", "-", "*"]), b)

    def scalar(self, scope, depth):
        names = scope["scalars"]
        if depth == 0 or self.chance(0.4):
            return self.pick(names) if names and self.chance(0.5) else self.pick(["0.5", "2.0", "1.25", "3.0"])
        if self.chance(0.25):
            return "scalar(%s)" % self.integer(scope, depth - 1)
        return "(%s %s %s)" % (self.scalar(scope, depth - 1), self.pick(["+", "*", "-"]), self.scalar(scope, depth - 1))

    def logical(self, scope, depth):
        if depth == 0 or self.chance(0.2):
            return self.pick(["true", "false"])
        if self.chance(0.3):
            return "(%s %s %s)" % (self.logical(scope, depth - 1), self.pick(["&&", "||"]), self.logical(scope, depth - 1))
        if self.chance(0.15):
            return "(%s in [%s, 1, 2])" % (self.integer(scope, 0), self.integer(scope, 0))
        compare = self.pick(["<", "<=", ">", ">=", "==", "!="])
        return "(%s %s %s)" % (self.integer(scope, depth - 1), compare, self.integer(scope, depth - 1))

    # Tensor expressions.
    def tensor(self, scope, depth):
        if depth == 0 or self.chance(0.2):
            return self.pick(scope["tensors"])
        kind = self.random.randrange(9)
        sub = lambda: self.tensor(scope, depth - 1)
        if kind == 0:
            return "%s(%s)" % (self.pick(UNARY), sub())
        if kind == 1:
            return "%s(%s, %s)" % (self.pick(BINARY), sub(), sub())
        if kind == 2:
            return "(%s %s %s)" % (sub(), self.pick(OPERATORS), sub())
        if kind == 3:
            return "(%s %s %s)" % (sub(), self.pick(OPERATORS), self.scalar(scope, 1))
        if kind == 4:
            return "(%s if %s else %s)" % (sub(), self.logical(scope, 2), sub())
        if kind == 5:
            return "select(%s %s %s, %s, %s)" % (sub(), self.pick(["<", ">=", "=="]), self.scalar(scope, 0), sub(), sub())
        if kind == 6:
            # The sum over the joined axis fits all other tensors, so that shapes agree.
            return "sum_reduce(concat(%s, axis = 0), axes = [0])" % self.array(scope, depth - 1)
        single = [f for f in self.fragments if f.results == 1]
        if single:
            return self.invoke(self.pick(single), scope, depth - 1)
        return sub()

    def array(self, scope, depth):
        """An array of at least one tensor."""
        kind = self.random.randrange(5)
        if kind == 0 and scope["arrays"]:
            return self.pick(scope["arrays"])
        if kind == 1:
            item = self.name("i")
            inner = dict(scope, tensors=scope["tensors"] + [item])
            return "[for %s in %s yield %s]" % (item, self.array(scope, 0), self.tensor(inner, min(depth, 1)))
        if kind == 2:
            item = self.name("i")
            inner = dict(scope, integers=scope["integers"] + [item])
            condition = " if %s >= 0" % item if self.chance(0.3) else ""
            return "[for %s in [0, 1, 2]%s yield %s]" % (item, condition, self.tensor(inner, min(depth, 1)))
        if kind == 3:
            return "([%s] + %s)" % (self.tensor(scope, min(depth, 1)), self.array(scope, 0))
        return "[%s]" % ", ".join(self.tensor(scope, min(depth, 1)) for _ in range(self.random.randint(1, 3)))

    def invoke(self, fragment, scope, depth):
        args = [self.tensor(scope, depth) for _ in range(fragment.tensors)]
        args += [self.array(scope, depth) for _ in range(fragment.arrays)]
        for name, kind in fragment.attributes:
            if kind == "counter":
                args.append("%s = %d" % (name, self.random.randint(0, 3)))
            elif kind == "integer" and self.chance(0.8):
                args.append("%s = %s" % (name, self.integer(scope, 1)))
            elif kind == "scalar" and self.chance(0.8):
                args.append("%s = %s" % (name, self.scalar(scope, 1)))
        return "%s(%s)" % (fragment.name, ", ".join(args))

    # Fragments.
    def fragment(self):
        maker = self.pick([self.plain, self.plain, self.counted, self.summed, self.paired])
        maker()

    def declare(self, fragment, body):
        params = ["x%d: tensor<scalar>" % i for i in range(fragment.tensors)]
        params += ["xs%d: tensor<scalar>[]" % i for i in range(fragment.arrays)]
        for name, kind in fragment.attributes:
            params.append({"integer": "%s: integer = 2", "scalar": "%s: scalar = 0.5", "counter": "%s: integer"}[kind] % name)
        results = ["y: tensor<scalar>"] if fragment.results == 1 else ["y: tensor<scalar>", "z: tensor<scalar>"]
        head = "fragment %s( %s ) -> ( %s )" % (fragment.name, ", ".join(params), ", ".join(results))
        self.text.append("%s\n{\n%s}\n\n" % (head, "".join("    %s;\n" % line for line in body)))
        self.fragments.append(fragment)

    def scope(self, fragment):
        return {
            "tensors": ["x%d" % i for i in range(fragment.tensors)],
            "arrays": ["xs%d" % i for i in range(fragment.arrays)],
            "integers": [name for name, kind in fragment.attributes if kind in ("integer", "counter")],
            "scalars": [name for name, kind in fragment.attributes if kind == "scalar"],
        }

    def locals(self, scope):
        lines = []
        for _ in range(self.random.randint(0, 3)):
            kind = self.pick(["tensors", "tensors", "integers", "scalars"])
            value = {"tensors": self.tensor, "integers": self.integer, "scalars": self.scalar}[kind](scope, 2)
            name = self.name("t")
            lines.append("%s = %s" % (name, value))
            scope[kind] = scope[kind] + [name]
        return lines

    def plain(self):
        attributes = [("n", "integer")] if self.chance(0.5) else []
        attributes += [("s", "scalar")] if self.chance(0.4) else []
        fragment = Fragment(self.name("f"), self.random.randint(1, 2), self.random.randint(0, 1), attributes, 1)
        scope = self.scope(fragment)
        self.declare(fragment, self.locals(scope) + ["y = " + self.tensor(scope, 3)])

    def paired(self):
        fragment = Fragment(self.name("p"), 1, 0, [], 2)
        scope = self.scope(fragment)
        lines = self.locals(scope)
        if self.chance(0.5):
            lines.append("(y, z) = (%s, %s)" % (self.tensor(scope, 2), self.tensor(scope, 2)))
        else:
            lines += ["z = " + self.tensor(scope, 2), "y = z + " + self.tensor(scope, 1)]
        self.declare(fragment, lines)

    def counted(self):
        """Recursion that ends by a counter."""
        fragment = Fragment(self.name("r"), 1, 0, [("n", "counter")], 1)
        scope = self.scope(fragment)
        step = self.tensor(scope, 2)
        again = "%s(%s, n = n - 1)" % (fragment.name, step)
        if self.chance(0.5):
            again = "(x0 + %s)" % again
        self.declare(fragment, ["y = %s if n > 0 else %s" % (again, self.tensor(scope, 1))])

    def summed(self):
        """Recursion over the items of an array."""
        fragment = Fragment(self.name("s"), 0, 1, [], 1)
        line = "y = xs0[0] %s %s(xs0[1:]) if length_of(xs0) > 1 else %s(xs0[0])"
        self.declare(fragment, [line % (self.pick(["+", "*"]), fragment.name, self.pick(UNARY))])

    def document(self):
        for _ in range(self.random.randint(1, 5)):
            self.fragment()
        scope = {"tensors": ["a", "b"], "arrays": [], "integers": [], "scalars": []}
        body = ["a = external(shape = [2,3])", "b = external(shape = [2,3])"]
        for _ in range(self.random.randint(1, 4)):
            pairs = [f for f in self.fragments if f.results == 2]
            if pairs and self.chance(0.4):
                one, two = self.name("g"), self.name("g")
                body.append("%s, %s = %s" % (one, two, self.invoke(self.pick(pairs), scope, 1)))
                scope["tensors"] = scope["tensors"] + [one, two]
            else:
                name = self.name("g")
                body.append("%s = %s(%s)" % (name, self.pick(UNARY), self.tensor(scope, 3)))
                scope["tensors"] = scope["tensors"] + [name]
        body.append("out = %s(%s)" % (self.pick(UNARY), self.tensor(scope, 3)))
        graph = "graph G( a, b ) -> ( out )\n{\n%s}\n" % "".join("    %s;\n" % line for line in body)
        return HEADER + "".join(self.text) + graph


# ---------------------------------------------------------------------------------- comparison
def normal(inputs, outputs, operations):
    """Operations without copies, tensors numbered in the order of their production."""
    alias, number = {}, {name: name for name in inputs}

    def find(value):
        while isinstance(value, str) and value in alias:
            value = alias[value]
        return value

    def walk(value, tensor):
        if isinstance(value, (list, tuple)):
            return [walk(item, tensor) for item in value]
        if tensor and isinstance(value, str):
            value = find(value)
            if isinstance(value, str):
                return number.setdefault(value, "%%%d" % (len(number) + 1))
        if isinstance(value, float):
            return float("%.5g" % value)
        return value

    flat = []
    for op in operations:
        if op["name"] == "copy":
            alias[next(iter(op["outputs"].values()))] = find(next(iter(op["inputs"].values())))
            continue
        flat.append([
            op["name"], op["dtype"],
            {key: walk(value, True) for key, value in op["inputs"].items()},
            {key: walk(value, False) for key, value in op["attributes"].items()},
            {key: walk(value, True) for key, value in op["outputs"].items()},
        ])
    return flat, [walk(name, True) for name in outputs]


def ours(nnef, program, text):
    command = [program, "-q", "--lower", "all", "--keep-unused", "--to", "nnef-json", "-"]
    run = subprocess.run(command, input=text.encode(), capture_output=True, timeout=60)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.decode())
    graph = json.loads(run.stdout)
    if graph.pop("version") != 1:
        raise RuntimeError("another version of the form")
    operations = [nnef.Operation(**operation) for operation in graph.pop("operations")]
    tensors = {name: nnef.Tensor(**tensor) for name, tensor in graph.pop("tensors").items()}
    return of_graph(nnef, nnef.Graph(tensors=tensors, operations=operations, **graph))


def theirs(nnef, text, lowered):
    return of_graph(nnef, nnef.parse_string(text, lowered=lowered))


def of_graph(nnef, graph):
    operations = []
    for op in graph.operations:
        plain = lambda items: {key: unwrap(nnef, value) for key, value in items.items()}
        operations.append({"name": op.name, "dtype": op.dtype, "inputs": plain(op.inputs),
                           "attributes": plain(op.attribs), "outputs": plain(op.outputs)})
    return normal(graph.inputs, graph.outputs, operations)


def unwrap(nnef, value):
    if isinstance(value, nnef.Identifier):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [unwrap(nnef, item) for item in value]
    return value


def compounds(nnef):
    """Names of the peer's operations; lowering passes over those without a body."""
    return [name for name in nnef.StandardOperations]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    options = parser.parse_args()
    try:
        import nnef
    except ImportError:
        print("skipped: the Python package nnef is not installed")
        return 0
    agreed = differ = refused = 0
    for i in range(options.count):
        text = Generator(options.seed * 1_000_003 + i).document()
        custom = [line.split()[1].split("(")[0] for line in text.splitlines() if line.startswith("fragment")]
        try:
            expected = theirs(nnef, text, custom + compounds(nnef))
        except Exception as error:  # whatever it is, the document is not within the intersection
            refused += 1
            if options.keep:
                keep(options.keep, "refused-%d" % i, text, str(error))
            continue
        try:
            found = ours(nnef, options.bin, text)
        except Exception as error:
            found = str(error)
        if found == expected:
            agreed += 1
        else:
            differ += 1
            keep(options.keep or tempfile.gettempdir(), "differs-%d" % i, text, "%s\n%s" % (found, expected))
    print("%d documents: %d agree, %d differ, %d not read by the peer" % (options.count, agreed, differ, refused))
    return 1 if differ or refused * 10 > options.count else 0


def keep(folder, name, text, remark):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".nnef"), "w") as file:
        file.write(text + "\n" + "".join("# %s\n" % line for line in remark.splitlines()))


if __name__ == "__main__":
    sys.exit(main())
