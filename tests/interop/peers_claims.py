"""The claims of docs/peers.md: documents, what shows that the claim holds (a pattern), and what is right by what."""

#: The program with its package, and what is said of it first.
PROGRAMS = {
    "Khronos' parser": ("nnef", "The package `nnef` wraps the C++ of NNEF-Tools. All fragments are expanded."),
    "tract": ("tract", "Inputs and variables have the values 1, 2, 3, …"),
    "nnef-tools": ("nnef_tools", "The fragments that its converter from ONNX writes into documents, read by Khronos' parser."),
    "torch-to-nnef": ("torch_to_nnef", "The fragments that the package writes into documents, read by Khronos' parser."),
    "onnx": ("onnx", "The parser of texts, and the inliner."),
    "pnnx": ("pnnx", "A line of TorchScript, of tensors x and y of `[3,4]`, converted by the program of the package."),
}

HEADER = "version 1.0;\nextension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;\n"


def document(body, before=""):
    return "%s%sgraph G(x) -> (y)\n{\n    x = external(shape = [1]);\n    %s\n}\n" % (HEADER, before, body)


def attributes(kind, items, body="y = p(x, a = %s);"):
    """A document that computes attributes at compile time, and gives them to an operation without a body."""
    return document(body % items, "fragment p(x: tensor<scalar>, a: %s[]) -> (y: tensor<scalar>);\n" % kind)


def claim(program, how, title, document, shows, right):
    return {"program": program, "how": how, "title": title, "document": document, "shows": shows, "right": right}


def khronos(title, document, shows, right, how="khronos"):
    return claim("Khronos' parser", how, title, document, shows, right)


KHRONOS = [
    khronos("A sign takes the whole expression behind it", document("y = -x + 1.0;"), r"= neg\(x = add1\)",
            "`add(neg(x), 1.0)`. 3.1: a `-` before a literal gives the same result as a signed literal, so that a unary operator "
            "applies to its operand."),
    khronos("So does a logical negation", attributes("integer", "[1 if !true && false else 2]"), r"a = \[1\]",
            "`(!true) && false` is false, so that the item is 2."),
    khronos("Expressions without the extension that enables them", "version 1.0;\ngraph G(x) -> (y)\n{\n    "
            "x = external(shape = [1]);\n    y = exp(x + x);\n}\n", r"= add\(",
            "refused. 3.2.3: expressions need `KHR_enable_operator_expressions`."),
    khronos("Operators on logical tensors", document("y = select(x < 1.0 && x > 0.0, x, 0.0);"), r"Error",
            "`and(lt(x, 1.0), gt(x, 0.0))`. Table 1 of 3.3.3 maps `&&` on logical tensors to `and`."),
    khronos("Unary plus", document("y = +x;"), r"unexpected token",
            "`copy(x)`. 3.2.3 has unary `+`, and table 1 of 3.3.3 maps it to `copy`."),
    khronos("A result that is assigned to another name has no producer", document("y = x;"), r"^outputs: y$",
            "`y = copy(x)`. 3.3.1: all results of the graph must be assigned; no operation of the graph gives y."),
    khronos("An item of a tuple is a part of it", document("y = f(x, t = (7, 8));",
            "fragment p(x: tensor<scalar>, a: integer) -> (y: tensor<scalar>);\nfragment f(x: tensor<scalar>, "
            "t: (integer, integer)) -> (y: tensor<scalar>)\n{\n    y = p(x, a = t[1]);\n}\n"), r"a = \[8\]",
            "8. 3.3.3, Tuples: a subscript gives the item."),
    khronos("An item that a tuple does not have", document("y = f(x, t = (7, 8));",
            "fragment p(x: tensor<scalar>, a: integer) -> (y: tensor<scalar>);\nfragment f(x: tensor<scalar>, "
            "t: (integer, integer)) -> (y: tensor<scalar>)\n{\n    y = p(x, a = t[2]);\n}\n"), r"signal|bad_alloc|Error: (?!.*\[\d)",
            "refused with the place of the subscript."),
    khronos("Division of integers by zero", attributes("integer", "[1 / 0]"), r"signal 8",
            "refused with the place of the division."),
    khronos("An invocation on the left side", document("exp(x) = x;"), r"signal 11", "refused: 3.2.3, assignments."),
    khronos("Recursion without an end", document("y = f(x);",
            "fragment f(x: tensor<scalar>) -> (y: tensor<scalar>)\n{\n    y = f(x) + 1.0;\n}\n"), r"signal 11",
            "refused. Recursion has to end by a select (3.3.3)."),
    khronos("Escapes in strings", attributes("string", "['it\\'s']"), r"ParseError|Error",
            "`it's`. 3.1: a backslash before the quotation mark that begins the string stands for it."),
    khronos("Text of scalars and logicals", attributes("string", "[string(true), string(1.5)]"), r"1\.500000",
            "`'true', '1.5'`. 3.3.3: the cast gives the representation as a literal."),
    khronos("Text that is not a number", attributes("integer", "[integer('12abc'), integer('1.5')]"), r"\[12, 1\]",
            "refused. 3.3.3: the string must be a literal of the type."),
    khronos("A range that begins after its end", attributes("integer", "[1,2,3][2:1]", "y = p(x, a = %s);"), r"Error",
            "`[]`: the examples of 3.3.3 for begin >= end."),
    khronos("A list of extensions", "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n"
            "graph G(x) -> (y)\n{\n    x = external(shape = [1]);\n    y = exp(x);\n}\n", r"expected token",
            "accepted. 3.2.4: `\"extension\" <identifier>+ \";\"`, with blanks between the names."),
    khronos("A fragment that is declared later", document("y = f(x);",
            "fragment f(x: tensor<scalar>) -> (y: tensor<scalar>)\n{\n    y = g(x);\n}\nfragment g(x: tensor<scalar>) -> "
            "(y: tensor<scalar>)\n{\n    y = exp(x);\n}\n"), r"undefined operation",
            "accepted. 3.3.1 asks that an operation is declared, not that it is declared before."),
    khronos("Quantization with a sign", document("y = zero_point_linear_quantize(x, 0, 0.5, bits = 8, signed = true, "
            "symmetric = false);"), r"126\.0",
            "the codes are clamped to -128 … 127: 4.9.5, `-scalar(2 ^ (bits - 1))` is a sign before one operand."),
    khronos("The shape of a lowered `max_pool`", document("i = argmax_pool(v, size = [1,1,2,2], stride = [1,1,2,2], "
            "padding = []);\n    y = sample(v, i, size = [1,1,2,2], stride = [1,1,2,2], padding = []);").replace(
            "x = external(shape = [1]);", "x = external(shape = [1,1,4,4]);\n    v = exp(x);"), r"Error",
            "accepted, with the shape [1,1,2,2]. 4.3.3: the index has the shape of the output.", how="khronos_shapes"),
]


def tract(title, body, shows, right):
    return claim("tract", "tract", title, "version 1.0;\n\ngraph net(x) -> (y)\n{\n%s}\n" % body, shows, right)


TRACT = [
    tract("split", "    x = external(shape = [1, 6]);\n    [a, b] = split(x, axis = 1, ratios = [1, 2]);\n"
          "    y = concat([b, a], axis = 1);\n", r"No definition for operator",
          "`[[3, 4, 5, 6, 1, 2]]`. 4.5.3: `split` is an operation of the standard, and its ratios are parts of the extent."),
    tract("local_response_normalization across channels", "    x = external(shape = [1, 3, 1, 1]);\n    y = "
          "local_response_normalization(x, size = [1, 3, 1, 1], alpha = 1.0, beta = 1.0, bias = 1.0);\n", r"\[\[0\.5\]\]|0\.5",
          "`[[[[0.375]], [[0.3529]], [[0.5625]]]]`. 4.9.4: `sigma = bias + alpha * box(sqr(x), size = size, normalize = true)`, so "
          "that the first item is 1 / (1 + (0 + 1 + 4) / 3); tract's window has one channel."),
    tract("The filter of deconv", "    x = external(shape = [1, 2, 4]);\n    f = variable(shape = [2, 3, 2], label = 'f');\n"
          "    y = deconv(x, f, stride = [2], padding = [(0, 0)]);\n", r"must match",
          "three channels. 4.3.1: the filter of `deconv` is that of the `conv` that it transposes, `[input channels, output channels "
          "of a group, …]`; tract has the two exchanged."),
    claim("tract", "tract", "Outputs of a scan in two directions", """version 1.0;
extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
extension tract_registry tract_core;
fragment step(a: tensor<scalar>, h: tensor<scalar>) -> (n: tensor<scalar>, o: tensor<scalar>)
{
    n = a + h;
    o = exp(n);
}
graph net(x, s) -> (y, z)
{
    x = external(shape = [3, 1]);
    s = external(shape = [1, 1]);
    (y, z) = tract_core_scan(body = 'step', scan = [('a', x, 0, 1)], full = [], state = [('h', s, 'n')],
                             output = [('n', 'full', 0, 1), ('o', 'full', 0, -1)], skip = 0);
}
""", r"\[\[7\.38\d*\], \[54\.\d*\], \[1096",
          "`[[1096.6332], [54.5982], [7.3891]]` for z, whose chunk of -1 asks for the last step first. tract does so for `o = a * "
          "10.0`; here it moves `exp` out of the body, and computes it from y, which is in the other direction."),
]

NNEF_TOOLS = [
    claim("nnef-tools", "fragments_of_nnef_tools", "`space_to_depth` has six axes", HEADER +
          "# fragment space_to_depth\ngraph G(x) -> (y)\n{\n    x = external(shape = [1, 3, 4, 6]);\n"
          "    y = space_to_depth(x, block_size = 2, blocks_first = true);\n}\n", r"\[1, 2, 2, 3, 2, 3\]",
          "`[1, 12, 2, 3]`. The last `reshape` of the fragment, with `axis_count=1`, replaces an extent by itself (4.5.1); the three "
          "axes of blocks and channels are joined with `axis_count=3`."),
]

TORCH = [
    claim("torch-to-nnef", "fragments_of_torch_to_nnef", "The standard's `gelu` declared again", HEADER +
          "# fragment erf\n# fragment gelu\ngraph G(x) -> (y)\n{\n    x = external(shape = [1]);\n    y = gelu(x);\n}\n",
          r"already defined",
          "another name. 3.3.1: names of fragments are unique, those of the standard included; the `gelu` of 4.9.1 is "
          "`x * sigmoid(1.702 * x)`, a different function."),
]

MODEL = "<ir_version: 8, opset_import: [\"\" : 17, \"local\" : 1]>\n"
ONNX = [
    claim("onnx", "onnx_parser", "A list of types is lost", "y = Op <types: type_protos = [float[1], int64[2]]> (x)\n",
          r"^(?!.*type_protos \{).*TYPE_PROTOS|^(?!.*type_protos).*$|Error",
          "an attribute with two types in `type_protos`, or a refusal: `attr-val-list` of Syntax.md does not exclude it."),
    claim("onnx", "onnx_parser", "A list of tensors is lost", "y = Op <values: tensors = [float[1] {1.0}, float[1] {2.0}]> (x)\n",
          r"^(?!.*tensors \{).*$", "an attribute with two tensors, or a refusal; it is accepted, and they are gone."),
    claim("onnx", "onnx_packed", "Items of four bits are not packed", "y = Constant <value = uint4[3] {1, 2, 15}> ()\n",
          r"^\[1, 0, 2\]", "`[1, 2, 15]`. onnx.proto: two 4-bit values are packed in a byte of `int32_data`."),
    claim("onnx", "onnx_inliner", "The inliner drops defaults of functions", MODEL +
          "g (float[2] x) => (float[2] y) { y = local.f (x) }\n<domain: \"local\", opset_import: [\"\" : 17]>\n"
          "f <a: float = 0.5> (x) => (y) { y = LeakyRelu <alpha: float = @a> (x) }\n", r"^(?!.*0\.5)",
          "`LeakyRelu <alpha = 0.5>`. IR.md, Functions: `attribute_proto` are attributes with default values; here alpha becomes "
          "the operator's own default, 0.01, without a message."),
    claim("onnx", "onnx_inliner", "A result that is an input", MODEL +
          "g (float[2] x) => (float[2] y) { t = local.f (x) y = Neg (t) }\n<domain: \"local\", opset_import: [\"\" : 17]>\n"
          "f (x) => (x) { u = Abs (x) }\n", r"onnx\.checker",
          "`t = Identity (x)`: the checker accepts such a function, and the expanded model uses a value that nothing makes."),
    claim("onnx", "onnx_text", "The printer drops defaults of functions", MODEL +
          "g (float[2] x) => (float[2] y) { y = local.f (x) }\n<domain: \"local\", opset_import: [\"\" : 17]>\n"
          "f <a: float = 0.5> (x) => (y) { y = LeakyRelu <alpha: float = @a> (x) }\n", r"^(?![\s\S]*0\.5)",
          "`f <a: float = 0.5>`, as Syntax.md has it; the text of the model has another meaning than the model."),
]


def pnnx(title, line, shows, right):
    return claim("pnnx", "pnnx", title, line + "\n", shows, right)


PNNX = [
    pnnx("Brackets of expm1 are lost", "torch.expm1(x)", r"expr=expm1,@0", "`expm1(@0)`"),
    pnnx("Brackets of log1p are lost", "torch.mul(torch.log1p(x), y)", r"log1p,", "`mul(log1p(@0),@1)`"),
    pnnx("rsub with a factor", "torch.rsub(x, 1, 2)", r"sub\(2,@0\)", "`sub(1,mul(@0,2))`: torch computes 1 - 2x."),
    pnnx("Division that rounds towards zero", "torch.div(x, y, rounding_mode=\"trunc\")", r"floor_divide", "`trunc(div(@0,@1))`"),
    pnnx("Division that rounds down", "torch.div(x, y, rounding_mode=\"floor\")", r"expr=div\(", "`floor_divide(@0,@1)`"),
    pnnx("A product of whole numbers that is folded", "torch.add(x, annotate(int, torch.mul(50000, 50000)))", r"-1794967296",
         "`add(@0,2500000000)`: integers of torch have 64 bits."),
    pnnx("A sum of whole numbers that is folded", "torch.add(x, torch.add(2147483647, 1))", r"-2147483648", "`add(@0,2147483648)`"),
    pnnx("A whole number beyond 32 bits", "torch.add(x, 5000000000)", r"705032704", "`add(@0,5000000000)`"),
    pnnx("An infinite operand", "torch.add(x, float(\"inf\"))", r"exit status -11", "`add(@0,inf)`; the converter ends with signal 11."),
]

CLAIMS = KHRONOS + TRACT + NNEF_TOOLS + TORCH + ONNX + PNNX
