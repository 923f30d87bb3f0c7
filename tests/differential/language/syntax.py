"""Tokens and syntax trees of NNEF 1.0.5 and of the provisional text (section 3.2).

A tree is made of tuples: the kind of the node, then its parts. Expressions:

    ("int", value)  ("real", value)  ("logical", value)  ("string", value)  ("name", name)
    ("array", items)  ("tuple", items)  ("unary", op, operand)  ("binary", op, left, right)
    ("select", condition, yes, no)  ("index", base, index)  ("slice", base, begin, end)
    ("for", [(name, iterable)], filter, item)  ("call", name, type argument, [(name, value)])
"""
import re

TOKEN = re.compile(r"""
    (?P<space>[ \t\r\n\v\f]+|\#[^\r\n\f]*)
  | (?P<real>[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+))
  | (?P<int>[0-9]+)
  | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<sign>->|<=|>=|==|!=|&&|\|\||[-+*/^<>!=()\[\]{},:;?])
""", re.VERBOSE)

# From the loosest to the tightest; all associate to the left.
LEVELS = [["in"], ["&&", "||"], ["<", "<=", ">", ">=", "==", "!="], ["+", "-"], ["*", "/"], ["^"]]
BUILTINS = ("shape_of", "length_of", "range_of", "integer", "extent", "scalar", "logical", "string")
PRIMITIVES = ("integer", "extent", "scalar", "logical", "string")


class BadText(Exception):
    """The text is not in the language."""


def tokens(text):
    """The tokens of a text, as pairs of kind and text."""
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise BadText("unexpected character %r" % text[at])
        if match.lastgroup != "space":
            found.append((match.lastgroup, match.group()))
        at = match.end()
    return found + [("end", "")]


class Fragment:
    """A declaration: parameters are (name, type, default or None), results (name, type), statements (target, value)."""

    def __init__(self, name, generic, params, results, body):
        self.name, self.generic, self.params, self.results, self.body = name, generic, params, results, body


class Parser:
    """Reads a document, or declarations."""

    def __init__(self, text, draft):
        self.tokens, self.at, self.draft = tokens(text), 0, draft

    def peek(self, ahead=0):
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][1]

    def kind(self):
        return self.tokens[self.at][0]

    def take(self, *wanted):
        token = self.peek()
        if wanted and token not in wanted:
            raise BadText("expected %s, found %r" % (" or ".join(wanted), token))
        self.at += 1
        return token

    def accept(self, token):
        if self.kind() != "string" and self.peek() == token:
            self.at += 1
            return True
        return False

    def listed(self, item, close):
        """Items up to a closing bracket, which is taken."""
        items = []
        while not self.accept(close):
            if items:
                self.take(",")
            items.append(item())
        return items

    def document(self):
        """The fragments, and the graph: its inputs, outputs and statements."""
        self.take("version"), self.take("1.0")
        if not self.draft:
            self.take(";")
        while self.accept("extension"):
            while not self.accept(";"):
                self.take()
        fragments = self.declarations()
        self.take("graph"), self.take(), self.take("(")
        inputs = self.listed(self.take, ")")
        self.take("->"), self.take("(")
        outputs = self.listed(self.take, ")")
        return fragments, (inputs, outputs, self.body())

    def declarations(self):
        fragments = []
        while self.accept("fragment"):
            name, generic = self.take(), None
            if self.accept("<"):
                self.take("?")
                generic = self.take() if self.accept("=") else "?"
                self.take(">")
            self.take("(")
            params = self.listed(self.param, ")")
            self.take("->"), self.take("(")
            results = [(name, ty) for name, ty, _ in self.listed(self.param, ")")]
            body = None if self.accept(";") else self.body()
            fragments.append(Fragment(name, generic, params, results, body))
        return fragments

    def param(self):
        name = self.take()
        self.take(":")
        return name, self.type(), self.expression() if self.accept("=") else None

    def type(self):
        if self.accept("("):
            ty = ("tuple", tuple(self.listed(self.type, ")")))
        elif self.accept("tensor"):
            element = None
            if self.accept("<"):
                element = self.take()
                self.take(">")
            ty = ("tensor", element)
        else:
            ty = self.take().replace("extent", "integer")
        while self.accept("["):
            self.take("]")
            ty = ("array", ty)
        return ty

    def body(self):
        statements = []
        self.take("{")
        while not self.accept("}"):
            target = self.left_side()
            self.take("=")
            value = self.right_side()
            if not self.accept(";") and not self.draft:
                raise BadText("a semicolon is missing")
            statements.append((target, value))
        return statements

    def left_side(self):
        first = self.left_item()
        if self.peek() != ",":
            return first
        items = [first]
        while self.accept(","):
            items.append(self.left_item())
        return ("tuple", items)

    def left_item(self):
        for opening, closing, kind in [("(", ")", "tuple"), ("[", "]", "array")]:
            if self.accept(opening):
                return (kind, self.listed(self.left_item, closing))
        return ("name", self.take())

    def right_side(self):
        return self.expression()

    def expression(self):
        value = self.level(0)
        if self.accept("if"):
            condition = self.expression()
            self.take("else")
            return ("select", condition, value, self.expression())
        return value

    def level(self, level):
        if level == len(LEVELS):
            return self.unary()
        value = self.level(level + 1)
        while self.kind() != "string" and self.peek() in LEVELS[level]:
            op = self.take()
            value = ("binary", op, value, self.level(level + 1))
        return value

    def unary(self):
        if self.kind() == "sign" and self.peek() in ("-", "+", "!"):
            op = self.take()
            return ("unary", op, self.unary())
        value = self.primary()
        while not self.statement_begins():
            if not self.accept("["):
                return value
            begin = None if self.peek() == ":" else self.expression()
            if self.accept(":"):
                end = None if self.peek() == "]" else self.expression()
                value = ("slice", value, begin, end)
            else:
                value = ("index", value, begin)
            self.take("]")
        return value

    def statement_begins(self):
        """Whether a left side in brackets begins here: without semicolons, `t = x [a] = f(x)` has two statements."""
        if not self.draft or self.peek() not in ("[", "("):
            return False
        depth, ahead = 0, 0
        while True:
            token = self.peek(ahead)
            depth += (token in ("[", "(")) - (token in ("]", ")"))
            ahead += 1
            if depth == 0:
                return self.peek(ahead) == "="
            if token == "":
                return False

    def primary(self):
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "int":
            return ("int", int(text))
        if kind == "real":
            return ("real", float(text))
        if kind == "string":
            return ("string", re.sub(r"\\(.)", r"\1", text[1:-1]))
        if text in ("true", "false"):
            return ("logical", text == "true")
        if text == "(":
            items = self.listed(self.expression, ")")
            return items[0] if len(items) == 1 else ("tuple", items)
        if text == "[":
            return self.array()
        if kind != "word":
            raise BadText("unexpected %r" % text)
        return self.call(text)

    def array(self):
        if self.accept("for"):
            iterators = [self.iterator()]
            while self.accept(","):
                iterators.append(self.iterator())
            condition = self.expression() if self.accept("if") else None
            self.take("yield")
            item = self.expression()
            self.take("]")
            return ("for", iterators, condition, item)
        items = []
        while not self.accept("]"):
            if items:
                self.take(",")
            items.append(self.expression())
            if self.draft and self.accept("for"):
                iterators = [self.iterator()]
                condition = self.expression() if self.accept("if") else None
                self.take("]")
                return ("for", iterators, condition, items[0])
        return ("array", items)

    def iterator(self):
        name = self.take()
        self.take("in")
        # A select of the iterable needs parentheses, since `if` belongs to the comprehension.
        return name, self.level(0)

    def call(self, name):
        generic = None
        if self.peek() == "<" and self.peek(2) == ">" and self.peek(3) == "(" and self.peek(1) in PRIMITIVES + ("?",):
            self.take("<")
            generic = self.take()
            self.take(">")
        if self.peek() != "(" or self.statement_begins():
            return ("name", name)
        self.take("(")
        arguments = self.listed(self.argument, ")")
        return ("call", name, generic, arguments)

    def argument(self):
        if self.kind() == "word" and self.peek(1) == "=":
            name = self.take()
            self.take("=")
            return name, self.expression()
        return None, self.expression()
