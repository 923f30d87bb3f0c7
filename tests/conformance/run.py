#!/usr/bin/env python3
"""Scores a program on the conformance suite in this folder. See README.md beside this file.

    python3 tests/conformance/run.py --bin target/release/nnef-flatten
    python3 tests/conformance/run.py --program tests/conformance/programs/khronos.json -v

One line for each table: cases that are right, and all that the program was asked. The last line is the total. Exit
status 1 if less than --min percent are right, 2 if the program cannot be started. With --known, a file of cases that are
not right with the reason of each, it is 1 if another case is wrong, one of these is right, or no case of a table was asked. The core needs the standard library of
Python; what is computed of models of ONNX needs the packages onnx, onnxruntime and numpy in the interpreter of --python,
and is skipped without them.
"""

import argparse
import json
import os
import sys

from suite import documents, expressions, field, layouts, models, networks
from suite.oracle import Oracle
from suite.program import Program, Unasked

HERE = os.path.dirname(os.path.abspath(__file__))


def read(table):
    with open(os.path.join(HERE, "tables", table + ".json"), encoding="utf-8") as file:
        return json.load(file)


def tables(oracle):
    """(name, table, judge) of all tables, in order."""
    names = sorted(name[:-5] for name in os.listdir(os.path.join(HERE, "tables", "nnef")))
    for name in names:
        if documents.is_scored("nnef/" + name):
            yield "nnef/" + name, "nnef/" + name, documents.judge
    yield "onnx/valid", "onnx/valid", models.valid
    yield "onnx/invalid", "onnx/invalid", models.invalid
    yield "onnx/inline", "onnx/inline", lambda program, case: models.inline(program, case, oracle)
    yield "onnx/run", "onnx/inline", models.run
    yield "onnx/types", "onnx/inline", models.types
    unrolled = {row["name"]: row for row in read("loops/loops_valid")}
    yield "loops/valid", "loops/loops_valid", networks.valid
    yield "loops/invalid", "loops/loops_invalid", networks.invalid
    yield "loops/unroll", "loops/loop_unroll_nnef", lambda program, case: networks.unroll(program, case, unrolled)
    yield "pnnx/parse", "pnnx/pnnx_parse", expressions.parse
    yield "pnnx/kuiper", "pnnx/kuiper_tests", expressions.kuiper
    yield "pnnx/fold", "pnnx/pnnx_fold", expressions.fold
    yield "pnnx/malformed", "pnnx/pnnx_malformed", expressions.malformed
    yield "pnnx/torchscript", "pnnx/pnnx_torchscript", expressions.torchscript
    yield "pnnx/values", "pnnx/pnnx_nnef_map", expressions.values
    yield "pnnx/nnef", "pnnx/pnnx_nnef_map", expressions.to_nnef
    yield "pnnx/fuse", "pnnx/pnnx_fuse_nnef", expressions.fuse
    yield "layout/shapes", "layout/layout_shapes", layouts.shapes
    yield "layout/bitcast", "layout/layout_bitcast", layouts.bitcast
    yield "layout/bad_text", "layout/layout_bad_text", layouts.bad_text
    yield "layout/nnef", "layout/layout_nnef", layouts.to_nnef


def name_of(case):
    return str(next((case[key] for key in ("id", "name", "torchscript", "expr", "shape", "text", "from", "pnnx")
                     if case.get(key)), "?"))


class Score:
    """Of one table: cases that are right, and those that are not with the reason."""

    def __init__(self, table):
        self.table, self.right, self.skipped, self.wrong = table, 0, [], []

    def add(self, name, why):
        if why is None:
            self.right += 1
        elif why == "skip":
            self.skipped.append(name)
        else:
            self.wrong.append((name, why))

    def total(self):
        return self.right + len(self.wrong)


def scored_table(program, name, table, judge):
    """The score of a table; none where the program does not answer its question."""
    score = Score(name)
    for case in read(table):
        try:
            score.add(name_of(case), "skip" if case.get("unscored") else judge(program, case))
        except Unasked:
            return None
        except (KeyError, TypeError, ValueError, IndexError, StopIteration) as error:
            score.add(name_of(case), "unusable answer: %r" % error)
    return score


def scored_field(program, oracle, folder_of_cases):
    """The cases of a folder: all of them for a command, those that only ask whether a model is read for others."""
    score = Score(os.path.basename(os.path.normpath(folder_of_cases)))
    runner = field.Runner(program.command(), oracle) if program.command() else None
    if runner is None and not program.answers("onnx/reads"):
        return None
    for name, folder, case in field.cases(folder_of_cases):
        if runner is None:
            score.add(name, field.judge(program, name, folder, case))
        else:
            result, why = runner.case(folder, case)
            score.add(name, {"ok": None, "skip": "skip"}.get(result, why))
    return score


def scores(program, oracle, wanted=(), more=()):
    """The scores of a program in the tables whose names start with one of `wanted`; `more` are other folders of cases."""
    def is_wanted(name):
        return not wanted or any(name.startswith(prefix) for prefix in wanted)

    for name, table, judge in tables(oracle):
        score = scored_table(program, name, table, judge) if is_wanted(name) else None
        if score is not None and score.total():
            yield score
    for folder in [os.path.join(HERE, "field"), *more]:
        score = scored_field(program, oracle, folder) if folder in more or is_wanted("field") else None
        if score is not None:
            yield score


def unexpected(report, known):
    """What is not as it is known to be, of the tables that were asked: lines for people."""
    for table, found in report.items():
        wrong, excused = dict(found["wrong"]), known.get(table, {})
        for name, why in wrong.items():
            if name not in excused:
                yield "%s, %s is wrong: %s" % (table, name, why)
        for name in sorted(excused.keys() - wrong.keys() - set(found["skipped"])):
            yield "%s, %s is right: it needs no exception" % (table, name)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(HERE, "programs", "nnef-flatten.json"), help="a row of a program")
    parser.add_argument("--bin", default="target/release/nnef-flatten", help="what {bin} stands for in the row")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with onnx, onnxruntime and numpy")
    parser.add_argument("--only", default="", help="only tables whose names start so: nnef,onnx/inline,field")
    parser.add_argument("--min", type=float, default=0.0, help="exit status 1 below so many percent")
    parser.add_argument("--known", help="a file of cases that are not right, with reasons: exit status 1 if others are not")
    parser.add_argument("--cases", action="append", default=[], metavar="FOLDER", help="another folder of cases like `field`")
    parser.add_argument("--json", help="write the result of each table to this file")
    parser.add_argument("-v", action="store_true", help="list the cases that are not right, with the reason")
    return parser.parse_args()


def main():
    options = arguments()
    program = Program(options.program, {"bin": os.path.abspath(options.bin), "python": options.python})
    if program.version() is None:
        print("%s cannot be started" % program.name, file=sys.stderr)
        return 2
    oracle = Oracle(options.python)
    right = total = 0
    report = {}
    for score in scores(program, oracle, [part for part in options.only.split(",") if part], options.cases):
        skipped = "  (%d skipped)" % len(score.skipped) if score.skipped else ""
        print("%-34s %4d/%-4d%s" % (score.table, score.right, score.total(), skipped), flush=True)
        for name, why in score.wrong if options.v else []:
            print("    %s: %s" % (name[:60], why))
        right, total = right + score.right, total + score.total()
        report[score.table] = {"right": score.right, "total": score.total(), "wrong": score.wrong, "skipped": score.skipped}
    program.close()
    if oracle.missing:
        print("NOTE skipped what needs %s" % oracle.missing)
    share = 100.0 * right / total if total else 0.0
    print("TOTAL %d/%d  %.1f%%" % (right, total, share))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    surprises = []
    if options.known:
        with open(options.known, encoding="utf-8") as file:
            surprises = list(unexpected(report, json.load(file)))
        if not options.only:
            surprises += ["%s: no case was asked" % name for name, _, _ in tables(oracle) if name not in report]
        for line in surprises:
            print(line)
    return 0 if total and share + 1e-9 >= options.min and not surprises else 1


if __name__ == "__main__":
    sys.exit(main())
