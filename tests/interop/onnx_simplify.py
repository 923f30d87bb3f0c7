#!/usr/bin/env python3
"""Simplifies models of ONNX with nnef-flatten, onnxslim and onnxsim: nodes that are left, results that are right, time, memory.

The models are those of `onnx_peers.py`. Nodes are counted in all graphs and functions. A result is right if onnxruntime computes
with it what it computes with the source. Each program runs in a process of its own, whose peak of memory is told; time is that
of processors in the whole process, with the start of Python where the program is written in it, so that it is the same on a machine
that does something else, too.

With -o the table is written into a page that has the line `<!-- programs -->`, after it. Fails if a result of nnef-flatten is not right.
Needs numpy, onnx and onnxruntime; programs that are not installed are left out.

    python3 tests/interop/onnx_simplify.py --bin target/fast/nnef-flatten [-v] [-o docs/simplify.md]
"""

import argparse
import collections
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

import onnx
import onnxruntime
from onnx_peers import SHARED, compute, exports, same, with_functions

MARK = "<!-- programs -->\n"
SLIM = "import onnx, onnxslim, sys; onnx.save(onnxslim.slim(onnx.load(sys.argv[1])), sys.argv[2])"
SIM = (
    "import onnx, onnxsim, sys; onnx.save(onnxsim.simplify(onnx.load(sys.argv[1]), inline_functions=True)[0], sys.argv[2])"
)


def programs(binary):
    """The command lines of the programs that are installed; the source and the target follow."""
    found = {"nnef-flatten --simplify": lambda source, target: [binary, "-q", "--simplify", source, "-o", target]}
    for name, code in [("onnxslim", SLIM), ("onnxsim", SIM)]:
        if importlib.util.find_spec(name):
            found[name] = lambda source, target, code=code: [sys.executable, "-c", code, source, target]
    return found


def nodes(path):
    """The number of nodes in all graphs and functions of a model."""
    model = onnx.load(path, load_external_data=False)

    def count(listed):
        graphs = [graph for node in listed for value in node.attribute for graph in [value.g, *value.graphs]]
        return len(listed) + sum(count(graph.node) for graph in graphs)

    return count(model.graph.node) + sum(count(function.node) for function in model.functions), len(model.functions)


def measured(words):
    """The seconds of processors and the peak of memory in MB of a command; none if it fails."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return (usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024) if process.returncode == 0 else None


def judged(target, inputs, wanted):
    """Whether onnxruntime computes the wanted outputs."""
    try:
        found = compute(target, inputs, list(wanted)) if wanted else {}
    except Exception:
        return False
    return all(same(value, wanted[name]) for name, value in found.items())


def row(name, listed, calls, sums, verbose):
    """Counts what each program makes of a model."""
    path, inputs, wanted = listed
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for program, call in calls.items():
            target = os.path.join(folder, "result.onnx")
            pathlib.Path(target).unlink(missing_ok=True)
            cost = measured(call(str(path), target))
            of = sums[program]
            if cost is None:
                of["fails"] += 1
                continue
            of["seconds"] += cost[0]
            of["memory"] = max(of["memory"], cost[1])
            count, functions = nodes(target)
            of["functions left"] += functions > 0
            right = judged(target, inputs, wanted)
            of["other numbers, or not loaded"] += not right
            if right and not functions:
                found[program] = count
    fewest = min(found.values(), default=None)
    for program, count in found.items():
        sums[program]["right"] += 1
        sums[program]["fewest"] += count == fewest
    if verbose:
        print(name, nodes(path)[0], found, file=sys.stderr)
    ours = next(iter(calls))
    return ours in found


def table(title, sums, count, source):
    wrong = ["fails", "functions left", "other numbers, or not loaded"]
    lines = [
        f"| {count} {title}, {source} nodes | right | with the fewest nodes | {' | '.join(wrong)} | seconds of processors | MB |",
        "|---" * (6 + len(wrong) - 1) + "|",
    ]
    for program, of in sums.items():
        cells = [of["right"], of["fewest"], *(of[column] for column in wrong)]
        cells += [f"{of['seconds']:.1f}", f"{of['memory']:.0f}"]
        lines.append(f"| {program} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True)
    arguments.add_argument("--models", type=pathlib.Path, default=SHARED / "models-onnx")
    arguments.add_argument("--exports", type=pathlib.Path, default=SHARED / "simplify")
    arguments.add_argument("-o", "--page", type=pathlib.Path, help="write the table into this page")
    arguments.add_argument("-v", "--verbose", action="store_true", help="tell the nodes of each model")
    arguments = arguments.parse_args()
    onnxruntime.set_default_logger_severity(4)
    calls, right, tables, judged_models = programs(arguments.bin), True, [], 0
    sets = [("exports", exports(arguments.exports)), ("models with functions", with_functions(arguments.models))]
    for title, models in sets:
        sums, count, source = {program: collections.Counter() for program in calls}, 0, 0
        for name, *listed in models:
            right &= row(name, listed, calls, sums, arguments.verbose)
            count, source = count + 1, source + nodes(listed[0])[0]
        tables.append(table(title, sums, count, source))
        judged_models += count
    text = "\n".join(tables)
    print(text)
    if arguments.page:
        page = arguments.page.read_text()
        before, rest = page.split(MARK)
        after = rest[rest.index("\n## "):] if "\n## " in rest else ""
        arguments.page.write_text(f"{before}{MARK}\n{text}{after}")
    return 0 if right and judged_models else 1


if __name__ == "__main__":
    sys.exit(main())
