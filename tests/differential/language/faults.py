"""Programs with one fault: a fragment of a random program breaks one rule, and the program has to tell that rule, once.

A fault is a rule with statements. In braces stand types, for which the generator puts random expressions; `t` is a
tensor, `n` an integer, `c` a truth value of the fragment. The first faults are those of both dialects.
"""

BOTH = [
    ("T3", "v = {logical} + {logical};"), ("T3", "v = -{string};"), ("T3", "v = !{integer};"),
    ("T3", "v = {string} - {string};"), ("T3", "v = {integer[]} * {integer[]};"), ("T3", "v = {string} && {logical};"),
    ("T4", "v = {integer} + {scalar};"), ("T4", "v = {scalar} * {integer};"), ("T4", "v = {integer} ^ {scalar};"),
    ("T5", "v = {integer} < {scalar};"), ("T5", "v = {integer} == {string};"), ("T5", "v = {logical} != {integer};"),
    ("T6", "v = [{integer}, {string}];"), ("T6", "v = [{scalar}, {integer}];"), ("T6", "v = [{tensor}, {string}];"),
    ("T7", "v = {integer} if {integer} else {integer};"), ("T7", "v = {tensor} if {string} else {tensor};"),
    ("T8", "v = {integer} if {logical} else {string};"), ("T8", "v = {integer[]} if {logical} else {integer};"),
    ("T9", "v = {integer[]}[{scalar}];"), ("T9", "v = {integer[]}[{string}];"), ("T9", "v = {string}[{logical}];"),
    ("T10", "v = ({integer}, {string})[2];"), ("T10", "v = ({integer}, {string})[n];"),
    ("T11", "v = {integer}[0];"), ("T11", "v = {logical}[0];"), ("T11", "v = {scalar}[:];"),
    ("T1", "v = leaky_relu({tensor}, alpha = {string});"), ("T1", "v = leaky_relu({tensor}, alpha = {integer[]});"),
    ("T1", "v = add_n({integer});"), ("T1", "v = exp({string});"), ("T2", "y = {string};"), ("T2", "y = {tensor[]};"),
    ("A1", "v = nowhere({tensor});"), ("A2", "v = exp({tensor}, {tensor});"), ("A2", "v = neg({tensor}, {tensor});"),
    ("A3", "v = leaky_relu({tensor});"), ("A3", "v = add({tensor});"),
    ("A4", "v = leaky_relu(alpha = {scalar}, {tensor});"), ("A5", "v = leaky_relu({tensor}, beta = {scalar});"),
    ("A6", "v = leaky_relu({tensor}, alpha = {scalar}, alpha = {scalar});"),
    ("A7", "v = leaky_relu({tensor}, x = {tensor}, alpha = {scalar});"),
    ("I1", "t = {tensor};"), ("I3", "v = external(shape = [1]);"), ("I6", "v = w;"), ("I6", "v = exp(v);"),
    ("I7", "v = {integer}; v = {integer};"), ("I5", "y = {tensor}; y = {tensor};"), ("I5", ""),
    ("U2", "(a, b) = {integer};"), ("U2", "[a, b] = {string};"), ("U2", "(a, b) = ({integer}, {string}, {scalar});"),
    ("U2", "(a, b) = {integer[]};"),
]
FIRST = [  # 1.0
    ("T12", "v = [for i in {integer} yield i];"), ("T12", "v = [for i in {integer[]} if {integer} yield i];"),
    ("T12", "v = [for i in {string} yield i];"), ("T16", "v = {integer} in {integer};"),
    ("A8", "v = leaky_relu({tensor}, {scalar});"), ("I9", "v = variable(shape = [1], label = 'v');"),
    ("I11", "v = [for n in {integer[]} yield n];"), ("S12", "v = {integer}, {string};"),
    ("S15", "v = {integer} if {logical};"), ("S14", "v = [for i in {integer[]} yield i if {logical}];"),
    ("S6", "v == {integer};"), ("S6", "v = {integer} = {integer};"), ("S6", "v != {tensor};"),
    ("S8", "v = exp({tensor},);"), ("S8", "v = [{integer},];"), ("S11", "exp(v) = {tensor};"),
    ("S13", "v = length_of({string}, {string});"), ("S17", "v = {integer} + ;"), ("S17", "v = ({integer};)"),
    ("S17", "v = {{1, 2}};"), ("S17", "v = ({integer} + {integer}];"), ("L1", "$v = {integer}; w = $v + $v;"),
    ("L1", "\u00e9 = {tensor}; w = exp(\u00e9);"), ("L2", "v = 1x;"), ("L2", "v = 2.;"), ("L3", "v = 'a;"),
    ("L4", "for = {integer};"),
    ("L5", "v = {integer} % {integer};"), ("L5", "v = {integer} @ 1;"), ("E3", "v = 99999999999999999999;"),
]
DRAFT = [
    ("T12", "v = [i for i in {integer}];"), ("T12", "v = [i for i in {integer[]} if {integer}];"),
    ("L1", "$v = {integer}; w = $v + $v;"), ("L5", "v = {integer} % {integer};"), ("L2", "v = 1x;"),
]
# Faults that a declaration has: the rule, parameters, results.
DECLARATIONS = [
    ("D2", "t: tensor<scalar>, t: integer", "y: tensor<scalar>"),
    ("D2", "t: tensor<scalar>", "y: tensor<scalar>, y: tensor<scalar>"),
    ("D2", "t: tensor<scalar>", "t: tensor<scalar>"), ("D3", "m: integer, t: tensor<scalar>", "y: tensor<scalar>"),
    ("D4", "t: tensor<scalar>", "y: integer"), ("D5", "t: tensor<scalar>, m: integer = 1.5", "y: tensor<scalar>"),
    ("D5", "t: tensor<scalar>, m: integer[] = ['a']", "y: tensor<scalar>"), ("D6", "t: tensor<scalar>, m: tensor<?>", "y: tensor<scalar>"),
    ("D7", "t: tensor<scalar>", "y: tensor<>"), ("D9", "t: tensor<tensor>", "y: tensor<scalar>"),
    ("S9", "t: tensor<scalar>, m: (integer)", "y: tensor<scalar>"), ("S8", "t: tensor<scalar>,", "y: tensor<scalar>"),
    ("S10", "t: tensor<scalar>, m: integer = 1 + 1", "y: tensor<scalar>"),
    ("S9", "t: tensor<scalar>, m: integer{{}}", "y: tensor<scalar>"),
]


def faulty(generator):
    """A program of a generator with a fault that --strict refuses: the rule, and the text."""
    text = generator.program()
    draft = generator.draft
    if not draft and generator.chance(0.2):
        rule, params, results = generator.pick(DECLARATIONS)
        value = "1" if rule == "D4" else "exp(t)"
        body = "".join("    %s = %s;\n" % (one.split(":")[0], value) for one in dict.fromkeys(results.split(", ")))
        head = "fragment faulty(%s) -> (%s)" % (params.replace("{{}}", "{}"), results)
    else:
        rule, statements = generator.pick(BOTH + (DRAFT if draft else FIRST))
        generator.scope = {"t": "tensor<scalar>", "n": "integer", "c": "tensor<logical>"}
        parts = statements.replace("{{", "\0").replace("}}", "\1").split("{")
        body = parts[0]
        for part in parts[1:]:
            ty, rest = part.split("}", 1)
            ty = ty.replace("tensor", "tensor<scalar>")
            body += generator.operand(generator.expression(ty, 2)) + rest
        body = body.replace("\0", "{").replace("\1", "}")
        has_result = "y = " in body or rule == "I5" and not body
        body = "    %s\n%s" % (body, "" if has_result else "    y = exp(t);\n")
        if rule == "I5" and not statements:
            body = "    v = exp(t);\n"
        head = "fragment faulty(t: tensor<scalar>, c: tensor<logical>, n: integer) -> (y: tensor<scalar>)"
        if draft:
            head = head.replace("<scalar>", "").replace("<logical>", "").replace("integer", "extent")
    fragment = "%s\n{\n%s}\n\n" % (head, body)
    at = text.index("fragment ") if generator.chance(0.5) else text.index("\ngraph ") + 1
    return rule, text[:at] + fragment + text[at:]
