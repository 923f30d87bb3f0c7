"""The tables of NNEF. A judge returns none if the program is right, else why it is not."""

import re

from .compare import Canonical, graph_difference


def notation(case):
    return "nnef-draft" if case["dialect"] == "draft" else "nnef"


def is_readable(program, case):
    """Whether the case is within what the row says that the program reads."""
    if case["dialect"] not in program.row.get("dialects", ["1.0", "draft"]):
        return False
    # No program that runs models reads operations that nobody defines.
    return program.answers("nnef/graph") or not re.search(r"^fragment[^{;]*;", case["source"], re.M)


def judge(program, case):
    if not is_readable(program, case):
        return "skip"
    return valid(program, case) if case["kind"] == "valid" else invalid(program, case)


def valid(program, case):
    if not program.answers("nnef/graph"):
        # A program without a form of its graphs can still tell whether it reads the document.
        answer = program.ask("nnef/reads", case["source"], notation=notation(case))
        return None if answer.status == 0 else answer.why()
    answer = program.ask("nnef/graph", case["source"], notation=notation(case))
    if answer.status != 0:
        return answer.why()
    graph, expect = answer.json(), case["expect"]
    operations = [dict(operation, op=operation["name"]) for operation in graph["operations"]]
    if graph["inputs"] != expect["params"] or graph["outputs"] != expect["results"]:
        return "inputs %s, outputs %s" % (graph["inputs"], graph["outputs"])
    want = Canonical(expect["params"], expect["results"], expect["ops"])
    got = Canonical(graph["inputs"], graph["outputs"], operations)
    return graph_difference(got, want, case["dialect"] == "1.0") or shapes(case, graph, got, want)


def shapes(case, graph, got, want):
    """What is wrong with the shapes, where both tell them."""
    expect = case["expect"].get("shapes")
    if case["dialect"] != "1.0" or not expect or case.get("shapes"):
        return None
    mine = {canonical: name for name, canonical in got.names.items()}
    for name, shape in expect.items():
        tensor = graph["tensors"].get(mine.get(want.names.get(name)), {})
        if tensor.get("shape") is not None and list(tensor["shape"]) != shape:
            return "shape of %s: %s, right is %s" % (name, tensor["shape"], shape)
    return None


def invalid(program, case):
    expect = case["expect"]
    question = "nnef/check" if program.answers("nnef/check") else "nnef/reads"
    answer = program.ask(question, case["source"], notation=notation(case))
    if answer.status == 0:
        return "accepted (rule %s)" % expect["rule"]
    if answer.status != 1:
        return answer.why()
    return misplaced(program, answer, [expect["line"], *listed(expect.get("line_alt"))])


def listed(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def misplaced(program, answer, lines):
    """Whether no error of a refusal is at one of the lines. A row with `"lines": "some"` may leave the line out."""
    errors = answer.errors()
    if not errors:
        return "refused without a message"
    told = [error.get("line") for error in errors]
    if not any(told) and program.row.get("lines") == "some":
        return None
    return None if set(told) & set(lines) else "line %s, right is %s" % (told[:3], lines)


#: Tables that are for readers, and have no one answer.
def is_scored(name):
    return not re.match(r"nnef/9", name)
