"""The declarations of the standard operations that programs call, as the specification prints them (4.1 to 4.3)."""
from .syntax import Parser

ONE = ["neg", "rcp", "exp", "log", "abs", "sign", "floor", "ceil", "round", "sin", "tanh", "relu", "sigmoid", "sqr"]
TWO = ["add", "sub", "mul", "div", "pow", "min", "max"]
COMPARING = ["lt", "le", "gt", "ge", "eq", "ne"]


def text(draft):
    """The declarations of a dialect."""
    def tensor(element):
        return "tensor" if draft else "tensor<%s>" % element
    scalar, logical, generic = tensor("scalar"), tensor("logical"), tensor("?")
    mark = "" if draft else "<?>"
    lines = ["fragment external%s(shape: integer[]) -> (output: %s);" % ("" if draft else "<? = scalar>", generic)]
    lines += [] if draft else ["fragment constant<? = scalar>(shape: integer[], value: ?[]) -> (output: tensor<?>);"]
    lines += ["fragment %s(x: %s) -> (y: %s);" % (name, scalar, scalar) for name in ONE]
    lines += ["fragment %s(x: %s, y: %s) -> (z: %s);" % (name, scalar, scalar, scalar) for name in TWO]
    lines += ["fragment %s(x: %s, y: %s) -> (z: %s);" % (name, scalar, scalar, logical) for name in COMPARING]
    lines += ["fragment %s(x: %s, y: %s) -> (z: %s);" % (name, logical, logical, logical) for name in ("and", "or")]
    lines += ["fragment not(x: %s) -> (y: %s);" % (logical, logical),
              "fragment select%s(condition: %s, true_value: %s, false_value: %s) -> (output: %s);"
              % (mark, logical, generic, generic, generic),
              "fragment %s%s(x: %s) -> (y: %s);" % ("idn" if draft else "copy", mark, generic, generic),
              "fragment add_n(x: %s[]) -> (y: %s);" % (scalar, scalar),
              "fragment clamp(x: %s, a: %s, b: %s) -> (y: %s);" % (scalar, scalar, scalar, scalar),
              "fragment leaky_relu(x: %s, alpha: scalar) -> (y: %s);" % (scalar, scalar)]
    return "\n".join(lines)


def declared(draft):
    """The declarations as fragments."""
    # `integer` is a word like any other in the draft; here it means the type `extent`.
    return Parser(text(draft), draft).declarations()
