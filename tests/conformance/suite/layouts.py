"""The tables of shapes and layouts of XLA."""

import json

from .compare import close, nested

FIELDS = ("canonical", "kind", "type", "dims", "rank", "true_rank", "minor_to_major", "major_to_minor", "dynamic", "elements",
          "byte_size_of", "tiles", "memory_space", "element_bits", "physical_dims_major_to_minor", "allocated_elements",
          "array_size_bytes", "byte_strides", "index", "memory")


def commas(numbers):
    return ",".join(map(str, numbers)) if numbers else None


def shapes(program, case):
    """All fields of a shape. A row with `"fields"` answers only those; it is not asked about what else a case gives."""
    fields = program.row.get("fields", FIELDS)
    if "fields" in program.row and case.get("padded_dimensions"):
        return "skip"
    index = [commas(place["multi"]) or "()" for place in case.get("index") or []]
    answer = program.ask("layout/shape", text=case["shape"], memory="memory" in case,
                         padded=commas(case.get("padded_dimensions")), index=index)
    if answer.status != 0:
        return answer.why()
    got = answer.json()
    for key in fields:
        if case.get(key) is not None and got.get(key) != case[key]:
            return "%s: %s, right is %s" % (key, json.dumps(got.get(key))[:80], json.dumps(case[key])[:80])
    return None


def bitcast(program, case):
    question = "layout/" + case["op"]
    answer = program.ask(question, text=case["from"], to=case["to"], permutation=commas(case.get("permutation")))
    if answer.status != 0:
        return answer.why()
    got = answer.json().get("bitcast")
    return None if got == case["bitcast"] else "bitcast %s, right is %s" % (got, case["bitcast"])


def bad_text(program, case):
    answer = program.ask("layout/shape", text=case["text"], memory=False)
    if answer.status == 0 and case.get("either"):
        return None
    if case["error"] is None and not case.get("either"):
        return answer.why() if answer.status != 0 else None if answer.json().get("canonical") else "no canonical text"
    if answer.status != 1:
        return "exit status %s, a refusal is right: %s" % (answer.status, case["error"])
    return None if answer.errors() else "refused without a message"


def to_nnef(program, case):
    """A layout as a document of NNEF, which computes the memory of the elements 1, 2, …"""
    answer = program.ask("layout/nnef", text=case["shape"], padded=commas(case.get("padded_dimensions")))
    if answer.status != 0:
        return answer.why()
    graph = program.ask("nnef/shapes", answer.out)
    if graph.status != 0:
        return "the document: " + graph.why()
    graph = graph.json()
    name = graph["inputs"][0]
    dims, count = graph["tensors"][name]["shape"], 1
    for extent in dims:
        count *= extent
    ran = program.ask("nnef/run", answer.out, inputs={name: nested([k + 1.0 for k in range(count)], dims)})
    if ran.status != 0:
        return "the document: " + ran.why()
    data = next(iter(ran.json()["outputs"].values()))["data"]
    return None if close(data, [float(x) for x in case["memory"]]) else "memory %s" % json.dumps(data)[:100]
