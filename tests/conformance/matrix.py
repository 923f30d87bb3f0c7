#!/usr/bin/env python3
"""Asks every program of `programs` what it can answer of the suite, and writes docs/matrix.md.

    python3 tests/conformance/matrix.py --bin target/release/nnef-flatten --python target/venv/bin/python

Programs whose packages are not installed in the interpreter of --python are left out with a line; --install installs
them there, those of packages.txt. --check compares with the page instead of writing it: exit status 1 if a program
that has the same version has other failures.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

import run
from suite.oracle import Oracle
from suite.program import Program

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "..", "docs", "matrix.md")
#: Rows of the page, in this order.
ROWS = ("nnef-flatten", "khronos", "tract", "onnx", "onnx_ir", "onnxruntime", "onnxsim", "onnxslim", "pnnx", "ncnn", "xla")
HEAD = """# Which program is right about which case

This page is made by one command, which asks each program what it can answer of the
[conformance suite](../tests/conformance/README.md), in the versions that are installed:

```sh
python3 tests/conformance/matrix.py --install --python target/venv/bin/python --bin target/release/nnef-flatten
```

The suite is ours, so that its cases lie where we looked. What is right in each case follows from a specification or from
several programs, never from nnef-flatten alone; the [README of the suite](../tests/conformance/README.md) says what is
asked. A program is only asked what it is made for:

* Khronos' parser is the C++ of NNEF-Tools, which the package `nnef` wraps. It reads no provisional documents.
* tract loads models to run them. It is asked whether it reads a document, not what it makes of it, and no document with
  operations that are not defined anywhere.
* onnx, onnx_ir, onnxruntime, onnxsim and onnxslim get models that onnx.parser reads. onnx.parser made what is right in
  `onnx/valid`, but for the cases in which it loses something; those are in [peers.md](peers.md). onnxsim and onnxslim need
  not expand functions: their models must be valid, and give the same numbers.
* `onnx/types` is shape inference with the types of the outputs taken away; it must not contradict the numbers.
* Of the cases of `field`, readers of ONNX are asked whether they read models as they should.
* pnnx is asked for the expression that it makes of a line of TorchScript, ncnn for the values of single layers, XLA for
  shapes as jaxlib reads and prints them.

A dash means that a program is not asked.
"""


def program_of(name, options):
    path = os.path.join(HERE, "programs", name + ".json")
    return Program(path, {"bin": os.path.abspath(options.bin), "python": options.python})


def measured(name, options):
    """(name, version, scores); no version if the program is not there."""
    program = program_of(name, options)
    version = program.version()
    scores = list(run.scores(program, Oracle(options.python))) if version else []
    program.close()
    print("%s: %s" % (name, version or "not installed"), flush=True)
    return program, version, scores


def group(score):
    return score.table.split("/")[0] if score.table.startswith("nnef") else score.table


def summed(scores):
    """Cases that are right and all cases, by column."""
    columns = {}
    for score in scores:
        right, total = columns.get(group(score), (0, 0))
        columns[group(score)] = (right + score.right, total + score.total())
    return columns


def escaped(text):
    """One line of a table or list, without what Markdown would read as its own."""
    return re.sub(r"\s+", " ", text).replace("`", "'").replace("|", "\\|").strip()


def without_places(why):
    """A reason without names of temporary folders."""
    return re.sub(r"/\S*/(?=[\w.-]+)", "", why)


def table(results):
    """A row for each part of the suite, a column for each program."""
    sums = [summed(scores) for _, _, scores in results]
    yield "| part | " + " | ".join(version.split(",")[0] for _, version, _ in results) + " |"
    yield "|---|" + "---|" * len(results)
    for part in dict.fromkeys(part for columns in sums for part in columns):
        cells = ["%d/%d" % columns[part] if part in columns else "–" for columns in sums]
        yield "| `%s` | %s |" % (part, " | ".join(cells))


def failures(program, version, scores):
    yield "### %s" % program.name
    yield ""
    yield "%s." % version
    wrong = [(score.table, name, why) for score in scores for name, why in score.wrong]
    if not wrong:
        yield ""
        yield "No failures."
    last = None
    for name, case, why in wrong:
        if name != last:
            yield ""
            yield "`%s`:" % name
            yield ""
            last = name
        yield "* `%s`: %s" % (escaped(case)[:70], escaped(without_places(why))[:160])
    yield ""


def page(results):
    lines = [HEAD, *table(results), "", "## Failures", ""]
    for program, version, scores in results:
        lines += failures(program, version, scores)
    return "\n".join(lines).rstrip() + "\n"


# What is told of a case without an answer in time (suite/program.py).
LATE = "no answer "


def compared(old, new):
    """Lines of failures that only one page has, for programs of the same version. Whether an answer comes in time depends on
    what else the machine does, so that cases without one do not count."""
    def parts(text):
        return {tuple(part.strip().split("\n")[0:3:2]): part.strip().split("\n") for part in text.split("\n### ")[1:]}
    before, after = parts(old), parts(new)
    if not before.keys() & after.keys():
        return ["no program has the version that it has on the page"]
    changed = []
    for key in before.keys() & after.keys():
        cases = [{line.split("`")[1]: line for line in lines if line.startswith("* `")} for lines in (before[key], after[key])]
        for case in sorted(cases[0].keys() ^ cases[1].keys()):
            if LATE not in (cases[0].get(case) or cases[1][case]):
                changed.append("%s: %s" % (key[0], case))
    return changed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="target/release/nnef-flatten")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--install", action="store_true", help="install the packages of packages.txt first")
    parser.add_argument("--check", action="store_true", help="compare with the page instead of writing it")
    options = parser.parse_args()
    if options.install:
        for line in open(os.path.join(HERE, "packages.txt"), encoding="utf-8"):
            subprocess.run([options.python, "-m", "pip", "install", "--quiet", *line.split()], check=False)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda name: measured(name, options), ROWS))
    made = page([result for result in results if result[1]])
    if not options.check:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(made)
        return 0
    with open(PAGE, encoding="utf-8") as file:
        changed = compared(file.read(), made)
    print("\n".join(changed) or "the failures are those of the page")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
