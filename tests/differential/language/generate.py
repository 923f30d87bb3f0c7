"""Random programs: fragments with all constructs of the language, well-typed, whose expansion may fail.

A type is written as the grammar of 1.0 writes it: "integer", "tensor<scalar>", "integer[]", "(integer,string)".
"""
import math
import random

HEADER = "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n\n"
ATTRIBUTES = ["integer", "scalar", "logical", "string", "integer[]", "integer[]", "scalar[]", "string[]", "integer[][]",
              "(integer,string)", "(integer,scalar)[]", "logical[]"]
TENSORS = ["tensor<scalar>"] * 4 + ["tensor<logical>", "tensor<scalar>[]", "(tensor<scalar>,tensor<scalar>)"]
TENSOR, TRUTHS = "tensor<scalar>", "tensor<logical>"


def items_of(ty):
    """The items of a tuple type."""
    return ty[1:-1].split(",")


class Signature:
    """What a call of a generated fragment needs. `depth` is the parameter that bounds its recursion, if it has one."""

    def __init__(self, name, params, results, generic=False, depth=None):
        self.name, self.params, self.results, self.generic, self.depth = name, params, results, generic, depth


class Generator:
    """Makes one program."""

    def __init__(self, seed, draft, strict):
        self.random, self.draft, self.strict = random.Random(seed), draft, strict
        self.fragments, self.fresh, self.scope = [], 0, {}
        # How many calls and iterations enclose the expression: both multiply the operations.
        self.loops = 0
        # Constants of the graph that can be given for numbers, by the type that they stand for.
        self.constants = {}

    def chance(self, p):
        return self.random.random() < p

    def pick(self, items):
        return self.random.choice(list(items))

    def name(self, prefix):
        self.fresh += 1
        return "%s%d" % (prefix, self.fresh)

    def names(self, ty):
        return [name for name, own in self.scope.items() if own == ty]

    # Expressions.

    def expression(self, ty, depth):
        """An expression of a type; in parentheses if it is not an operand."""
        names = self.names(ty)
        if names and self.chance(0.75 if depth <= 0 else 0.3):
            return self.pick(names)
        if depth > 0:
            common = self.common(ty, depth - 1)
            if common:
                return common
        if ty == TENSOR:
            return self.tensor(depth - 1)
        if ty == TRUTHS:
            return self.truths(depth - 1)
        if ty.endswith("[]"):
            return self.array(ty[:-2], depth - 1)
        if ty.startswith("("):
            return "(%s)" % ", ".join(self.expression(item, depth - 1) for item in items_of(ty))
        return getattr(self, ty)(depth - 1)

    def common(self, ty, depth):
        """What can be of any type: a select, an item of an array or of a tuple, the result of a call."""
        kind = self.random.randrange(14)
        if kind == 0:
            return "(%s if %s else %s)" % (self.expression(ty, depth), self.expression("logical", depth),
                                           self.expression(ty, depth))
        if kind == 1 and not ty.endswith("[][]"):
            array = self.expression(ty + "[]", depth)
            if array != "[]" and not array.startswith("([]"):
                return "%s[%s]" % (self.operand(array), self.index(depth))
        if kind == 2:
            tuples = [(name, i) for name, own in self.scope.items() if own.startswith("(") and not own.endswith("]")
                      for i, item in enumerate(items_of(own)) if item == ty]
            if tuples:
                return "%s[%d]" % self.pick(tuples)
        if kind in (3, 4):
            return self.own_call(ty, depth)
        return None

    def operand(self, text):
        """A text that can be subscripted."""
        return text if text[0] in "([" or text.isidentifier() else "(%s)" % text

    def index(self, depth):
        return self.pick("000012") if self.chance(0.85) else self.expression("integer", min(depth, 1))

    def own_call(self, ty, depth):
        """A call of a fragment with one result of a type."""
        suitable = [one for one in self.fragments if len(one.results) == 1 and one.depth is None and (
            one.results[0] == ty or one.generic and one.results[0] == "tensor<?>" and ty in (TENSOR, TRUTHS))]
        if not suitable or self.loops > 1:
            return None
        called = self.pick(suitable)
        return self.call(called, depth, ty[7:-1] if called.generic else None)

    def call(self, called, depth, element=None):
        """A call of a fragment, whose `?` is `element`."""
        self.loops += 1
        tensors, attributes, is_left_out = [], [], False
        # Attributes may be given by position in the default mode, where none is left out before them.
        by_position = not self.draft and not self.strict and self.chance(0.1)
        by_name = self.chance(0.1)
        for name, ty, default in called.params:
            wanted = ty.replace("?", element) if element else ty
            if default is not None and self.chance(0.5):
                by_position, is_left_out = False, True
                continue
            if "tensor" in ty:
                text = self.argument(wanted, depth)
                # After a tensor that is left out, others have names; a name is deprecated, but valid.
                named = is_left_out or attributes or by_name and self.chance(0.5)
                (attributes if named else tensors).append("%s = %s" % (name, text) if named else text)
                continue
            value = str(self.random.randrange(4)) if name == called.depth else self.expression(wanted, depth)
            if wanted in self.constants and self.chance(0.6):
                value = self.constants[wanted]
            if by_position and not attributes and self.chance(0.7):
                tensors.append(value)
            else:
                attributes.append("%s = %s" % (name, value))
        self.loops -= 1
        self.random.shuffle(attributes)
        generic = "<%s>" % element if element and self.chance(0.5) else ""
        return "%s%s(%s)" % (called.name, generic, ", ".join(tensors + attributes))

    def argument(self, ty, depth):
        """An argument for a tensor: also a number."""
        if ty == TENSOR and self.chance(0.15):
            return self.scalar(0)
        return self.expression(ty, depth)

    def integer(self, depth):
        if depth <= 0 or self.chance(0.2):
            return str(self.random.randrange(5))
        kind = self.random.randrange(11)
        a = self.expression("integer", depth)
        if kind < 5:
            op = self.pick("+++--**/")
            return "(%s %s %s)" % (a, op, self.expression("integer", depth))
        if kind == 5:
            return "(%s ^ %d)" % (a, self.random.randrange(3))
        if kind == 6:
            return "length_of(%s)" % self.expression(self.pick(["integer[]", "string", "scalar[]"]), depth)
        if kind == 7:
            return "%s(%s)" % ("extent" if self.draft else "integer", self.expression(self.pick(["scalar", "logical"]), depth))
        if kind == 8:
            return "%s('%d')" % ("extent" if self.draft else "integer", self.random.randrange(-3, 12))
        return "%s%s" % (self.pick("-+") if kind == 9 else "-", a if a[0].isalnum() else "(%s)" % a)

    def scalar(self, depth):
        if depth <= 0 or self.chance(0.2):
            return self.pick(["0.5", "1.0", "2.0", "3.25", "1e1", "0.125"])
        kind = self.random.randrange(9)
        if kind == 8:
            return "scalar('%s')" % self.pick(["1.5", "-2", "30e-1", "7.25", "-0.5", "1,5"])
        a = self.expression("scalar", depth)
        if kind < 5:
            return "(%s %s %s)" % (a, self.pick("+-*/"), self.expression("scalar", depth))
        if kind == 5:
            return "scalar(%s)" % self.expression(self.pick(["integer", "logical"]), depth)
        return "(%s ^ %s)" % (a, self.pick(["2.0", "1.0", "0.0"])) if kind == 6 else "-(%s)" % a

    def logical(self, depth):
        if depth <= 0 or self.chance(0.1):
            return self.pick(["true", "false"])
        kind = self.random.randrange(9)
        if kind < 3:
            ty = self.pick(["integer", "scalar"])
            return "(%s %s %s)" % (self.expression(ty, depth), self.pick(["<", "<=", ">", ">=", "==", "!="]),
                                   self.expression(ty, depth))
        if kind < 5:
            return "(%s %s %s)" % (self.expression("logical", depth), self.pick(["&&", "||"]),
                                   self.expression("logical", depth))
        if kind == 5:
            return "!%s" % self.operand(self.expression("logical", depth))
        if kind == 6 and not self.draft:
            ty = self.pick(["integer", "string"])
            return "(%s in %s)" % (self.expression(ty, depth), self.expression(ty + "[]", depth))
        if kind == 7:
            ty = self.pick(["string", "logical"])
            return "(%s %s %s)" % (self.expression(ty, depth), self.pick(["==", "!="]), self.expression(ty, depth))
        return "logical(%s)" % self.expression(self.pick(["integer", "string", "scalar"]), depth)

    def string(self, depth):
        if depth <= 0 or self.chance(0.3):
            return self.pick(["'a'", "'bc'", "''", '"it\'s"', "'x y'", "'\\''"])
        kind = self.random.randrange(5)
        if kind == 0:
            return "(%s + %s)" % (self.expression("string", depth), self.expression("string", depth))
        if kind == 1:
            return "(%s * %s)" % (self.expression("string", depth), self.index(depth))
        if kind == 2:
            return "string(%s)" % self.expression(self.pick(["integer", "logical", "string", "scalar"]), depth)
        return self.part(self.expression("string", depth), depth)

    def part(self, base, depth):
        begin, end = [self.index(depth) if self.chance(0.6) else "" for _ in range(2)]
        return "%s[%s:%s]" % (self.operand(base) if base[0] not in "'\"" else "(%s)" % base, begin, end)

    def array(self, item, depth):
        if depth <= 0 or self.chance(0.25):
            items = [self.expression(item, depth) for _ in range(self.random.randrange(1, 4))]
            return "[%s]" % ", ".join(items)
        kind = self.random.randrange(7)
        ty = item + "[]"
        if kind == 0:
            other = "[]" if self.chance(0.2) else self.expression(ty, depth)
            return "(%s + %s)" % ((other, self.expression(ty, depth)) if self.chance(0.5) else
                                  (self.expression(ty, depth), other))
        if kind == 1:
            return "(%s * %s)" % (self.expression(ty, depth), self.index(depth))
        if kind == 2:
            return self.part(self.expression(ty, depth), depth)
        if kind == 3 and item == "integer":
            tensors = self.names(TENSOR)
            if tensors and not self.strict and self.chance(0.3):
                return "shape_of(%s)" % self.pick(tensors)
            return "range_of(%s)" % self.expression(self.pick(["integer[]", "string"]), depth)
        if self.loops > 1:
            return "[%s]" % self.expression(item, depth)
        return self.comprehension(item, depth)

    def comprehension(self, item, depth):
        count = 1 if self.draft or self.chance(0.7) else self.pick([2, 2, 3])
        base = self.expression(self.pick(["integer[]", "scalar[]"]), depth)
        iterators = []
        for i in range(count):
            ty = self.pick(["integer[]", "scalar[]", "string[]", "integer[]"])
            array = self.expression(ty, depth)
            if count > 1:
                # Mostly of the same length.
                ty, array = ("integer[]", "range_of(%s)" % base) if self.chance(0.6) else (ty, array)
            if array.startswith("[]"):
                ty, array = "integer[]", "[1, 2]"
            iterators.append((self.name("i"), array, ty[:-2]))
        outer = dict(self.scope)
        self.scope.update((name, ty) for name, _, ty in iterators)
        self.loops += 1
        value = self.expression(item, depth)
        condition = " if %s" % self.expression("logical", depth) if self.chance(0.4) else ""
        self.loops -= 1
        self.scope = outer
        if self.draft:
            (name, array, _), = iterators
            return "[%s for %s in %s%s]" % (value, name, array, condition)
        heads = ", ".join("%s in %s" % (name, array) for name, array, _ in iterators)
        return "[for %s%s yield %s]" % (heads, condition, value)

    def tensor(self, depth):
        if depth <= 0:
            names = self.names(TENSOR)
            return self.pick(names) if names else "exp(1.0)"
        kind = self.random.randrange(12)
        a = self.expression(TENSOR, depth)
        if kind < 5:
            b = self.expression(self.pick([TENSOR, TENSOR, "scalar"]), depth)
            return "(%s %s %s)" % ((a, self.pick("+-*/^"), b) if self.chance(0.7) else (b, self.pick("+-*/"), a))
        if kind == 5:
            return "%s(%s, %s)" % (self.pick(["add", "mul", "max", "min"]), a, self.argument(TENSOR, depth))
        if kind == 6:
            return "select(%s, %s, %s)" % (self.expression(TRUTHS, depth), a, self.argument(TENSOR, depth))
        if kind == 7:
            return "leaky_relu(%s, alpha = %s)" % (a, self.expression("scalar", depth))
        if kind == 8:
            return "(%s if %s else %s)" % (a, self.expression("logical", depth), self.argument(TENSOR, depth))
        if kind == 9:
            return "add_n([%s, %s])" % (a, self.expression(TENSOR, depth))
        if kind == 10:
            return "%s(%s)" % (self.pick("-+"), a)
        return "%s(%s)" % (self.pick(["exp", "abs", "tanh", "relu", "sigmoid"]), a)

    def truths(self, depth):
        a = self.expression(TENSOR, depth)
        kind = self.random.randrange(4) if depth > 0 else 0
        if kind < 2:
            b = self.expression(self.pick([TENSOR, "scalar"]), depth)
            return "(%s %s %s)" % (a, self.pick(["<", "<=", ">", ">=", "==", "!="]), b)
        if kind == 2:
            return "(%s %s %s)" % (self.expression(TRUTHS, depth), self.pick(["&&", "||"]), self.expression(TRUTHS, depth))
        return "!%s" % self.operand(self.expression(TRUTHS, depth))

    # Statements and declarations.

    def type_text(self, ty):
        if self.draft:
            for element in ("<scalar>", "<logical>", "<?>"):
                ty = ty.replace(element, "")
            ty = ty.replace("integer", "extent")
        return ty

    def end(self):
        return "\n" if self.draft and self.chance(0.5) else ";\n"

    def statement(self):
        """A local of a random type, or the results of a call with several."""
        several = [one for one in self.fragments if len(one.results) > 1 and not one.generic and one.depth is None]
        if several and self.chance(0.25):
            called = self.pick(several)
            return self.unpacked(called.results, self.call(called, 1))
        kind = self.random.randrange(10)
        if kind == 0:
            pair = self.pick([ty for ty in ATTRIBUTES + TENSORS if ty.startswith("(") and not ty.endswith("]")])
            return self.unpacked(items_of(pair), self.expression(pair, 2))
        if kind == 1:
            item = self.pick(["integer", TENSOR, "string"])
            names = [self.name("v") for _ in range(self.random.randrange(1, 4))]
            value = self.expression(item + "[]", 2)
            if value.startswith("[") and self.chance(0.7):
                value = "[%s]" % ", ".join(self.expression(item, 1) for _ in names)
            self.scope.update((name, item) for name in names)
            return "    [%s] = %s%s" % (", ".join(names), value, self.end())
        ty = self.pick(ATTRIBUTES + TENSORS * 2)
        value, name = self.expression(ty, 3), self.name("v")
        self.scope[name] = ty
        return "    %s = %s%s" % (name, value, self.end())

    def unpacked(self, types, value):
        names = [self.name("v") for _ in types]
        self.scope.update(zip(names, types))
        form = "(%s)" if self.draft or self.chance(0.5) else "%s"
        return "    %s = %s%s" % (form % ", ".join(names), value, self.end())

    def fragment(self):
        """A fragment, whose text is returned."""
        name = self.name("f")
        params = [(self.name("p"), self.pick(TENSORS), None) for _ in range(self.random.randrange(1, 3))]
        if self.chance(0.2):
            params.append((self.name("p"), TENSOR, self.scalar(0)))
        for _ in range(self.random.randrange(3)):
            ty = self.pick(ATTRIBUTES)
            default = self.literal(ty) if self.chance(0.3) else None
            params.append((self.name("p"), ty, default))
        kinds = TENSORS if self.strict or self.chance(0.7) else ATTRIBUTES
        results = [self.pick(kinds) for _ in range(self.pick([1, 1, 1, 2, 3]))]
        return self.declared(Signature(name, params, results), None)

    def recursive(self):
        """A fragment that calls itself with a smaller count."""
        name, tensor, count = self.name("r"), self.name("p"), self.name("n")
        params = [(tensor, TENSOR, None), (count, "integer", None)]
        if self.chance(0.5):
            params.append((self.name("p"), self.pick(["integer[]", "string"]), None))
        called = Signature(name, params, [TENSOR], depth=count)
        return self.declared(called, "%s = %s" % (count, count))

    def generic(self):
        """A generic fragment."""
        name, x, n, y = self.name("g"), self.name("p"), self.name("p"), self.name("y")
        called = Signature(name, [(x, "tensor<?>", None), (n, "integer", "1")], ["tensor<?>"], generic=True)
        text = self.pick(["copy<?>(%s)" % x, "[%s, copy(%s)][%s]" % (x, x, n), "[for i in [0] * (%s + 1) yield %s][%s]" % (n, x, n),
                          "(%s if %s > 1 else copy<?>(%s))" % (x, n, x)])
        self.fragments.append(called)
        return "fragment %s<?>(%s: tensor<?>, %s: integer = 1) -> (%s: tensor<?>)\n{\n    %s = %s;\n}\n" % (
            name, x, n, y, y, text)

    def literal(self, ty):
        if ty.endswith("[]"):
            return "[%s]" % ", ".join(self.literal(ty[:-2]) for _ in range(self.random.randrange(3)))
        if ty.startswith("("):
            return "(%s)" % ", ".join(self.literal(item) for item in items_of(ty))
        return getattr(self, ty)(0)

    def declared(self, called, recursion):
        self.scope = {name: ty for name, ty, _ in called.params}
        lines = [self.statement() for _ in range(self.random.randrange(4))]
        results = [(self.name("y"), ty) for ty in called.results]
        for name, ty in results:
            if recursion:
                lines.append(self.step(called, name))
            else:
                lines.append("    %s = %s%s" % (name, self.expression(ty, 3), self.end()))
                self.scope[name] = ty
        self.fragments.append(called)
        params = ["%s: %s%s" % (name, self.type_text(ty), " = " + default if default else "")
                  for name, ty, default in called.params]
        head = ", ".join("%s: %s" % (name, self.type_text(ty)) for name, ty in results)
        return "fragment %s(%s) -> (%s)\n{\n%s}\n" % (called.name, ", ".join(params), head, "".join(lines))

    def step(self, called, result):
        """The result of a recursive fragment."""
        count = called.depth
        arguments = [self.expression(TENSOR, 2), "%s = %s - 1" % (count, count)]
        arguments += ["%s = %s" % (name, self.expression(ty, 2)) for name, ty, _ in called.params[2:]]
        own = "%s(%s)" % (called.name, ", ".join(arguments))
        if self.chance(0.4):
            own = "(%s %s %s)" % (own, self.pick("+*"), self.expression(TENSOR, 1))
        return "    %s = %s if %s <= 0 else %s%s" % (result, self.expression(TENSOR, 2), count, own, self.end())

    def program(self):
        """The text of a document."""
        kinds = [self.fragment] * 5 + [self.recursive] + ([] if self.draft else [self.generic])
        fragments = [self.pick(kinds)() for _ in range(self.random.randrange(2, 7))]
        if self.chance(0.3) and not self.draft:
            # A fragment can be declared after its callers.
            self.random.shuffle(fragments)
        lines = ["    a = external(shape = [2, 3])" + self.end(), "    b = external(shape = [2, 3])" + self.end()]
        self.scope = {"a": TENSOR, "b": TENSOR}
        named = ["a", "b"]
        if not self.draft and not self.strict and self.chance(0.5):
            lines += self.constant_statements()
        callable_here = [one for one in self.fragments if all("tensor" in ty for ty in one.results)
                         and "(" not in "".join(one.results) and not any("[]" in ty for ty in one.results)]
        for _ in range(self.random.randrange(1, 4)):
            if not callable_here:
                break
            called = self.pick(callable_here)
            element = "scalar" if called.generic else None
            results = [ty.replace("?", element or "?") for ty in called.results]
            names = [self.name("t") for _ in results]
            value = self.flat_call(called, element) if self.draft else self.call(called, 2, element)
            self.scope.update(zip(names, results))
            target = names[0] if len(names) == 1 else "(%s)" % ", ".join(names)
            lines.append("    %s = %s%s" % (target, value, self.end()))
            named += [name for name, ty in zip(names, results) if ty == TENSOR]
        lines.append("    z = %s" % ("exp(%s)" % named[-1] if self.draft else self.tensor(3)) + self.end())
        head = "version 1.0\n\n" if self.draft else HEADER
        return "%s%s\ngraph main(a, b) -> (z)\n{\n%s}\n" % (head, "\n".join(fragments), "".join(lines))

    def constant_statements(self):
        """Constants that calls give for numbers."""
        lines = []
        for ty, of, shape in [("integer[]", "integer", [2]), ("scalar[]", "scalar", [3]), ("integer[][]", "integer", [2, 1]),
                              ("integer", "integer", []), ("scalar", "scalar", [1])]:
            count = self.pick([1, math.prod(shape)])
            values = [str(self.random.randrange(4)) + (".5" if of == "scalar" else "") for _ in range(count)]
            self.constants[ty] = self.name("c")
            lines.append("    %s = constant<%s>(shape = %s, value = [%s]);\n"
                         % (self.constants[ty], of, shape, ", ".join(values)))
        return lines

    def flat_call(self, called, element):
        """A call with names and literals as arguments, as in graphs of the draft."""
        arguments = []
        for name, ty, default in called.params:
            if default is not None:
                continue
            if "tensor" not in ty:
                arguments.append("%s = %s" % (name, self.literal(ty)))
            elif ty == TRUTHS:
                arguments.append(self.pick(self.names(TRUTHS) or ["true"]))
            else:
                value = self.pick(self.names(TENSOR))
                form = "[%s, %s]" if ty.endswith("[]") else "(%s, %s)" if ty.startswith("(") else "%.0s%s"
                arguments.append(form % (value, value))
        return "%s(%s)" % (called.name, ", ".join(arguments))
