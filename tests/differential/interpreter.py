#!/usr/bin/env python3
"""Compares flat graphs and verdicts of nnef-flatten with those of a second interpreter of the language.

usage: interpreter.py --bin PATH [--count N] [--seed S] [--keep DIR]

The folder `language` has an interpreter that was written from the specification, apart from the program, and makes
random programs: fragments with selects, comprehensions, subscripts, ranges, recursion, operators, tuples, arrays and
type arguments, in both dialects, for the default mode and for --strict. Program and interpreter have to agree whether
the expansion fails, and on the graph, up to names of inner tensors and copies. Some programs break one rule of the
language: --strict has to refuse them by that rule, and to tell no other mistake. Programs on which they differ are
written to DIR. Exit status 0 when all agree, 1 when some differ, or few are compared.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import threading

from language.compare import difference
from language.evaluate import Evaluator, Failed, Unjudged
from language.faults import faulty
from language.generate import Generator

# Dialect and mode of one program after another.
FORMS = [(False, False), (False, True), (False, False), (True, False)]
# Of so many programs one has a fault.
FAULTY = 5
DEPTH, STACK = 20_000, 256 << 20
# Codes of errors that show when a program is expanded: a program without others is well-typed.
EXPANSION = {"E0503", "E0712", "E0714", "E0715", "E0802", "E0803", "E0804"}


def judged(text, draft, strict):
    """The values and outputs of a program, or why it fails."""
    try:
        return Evaluator(text, draft, strict).run(), None
    except Failed as failure:
        return None, str(failure)


def flattened(program, text, draft, strict):
    """The graph that the program writes, or what it says; and its exit status."""
    call = [program, "--to", "json", "-q", "--from", "nnef-draft" if draft else "nnef", "-"]
    call[1:1] = ["--strict"] if strict else []
    done = subprocess.run(call, input=text.encode(), capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def is_faulty(seed):
    return seed % FAULTY == FAULTY - 1


def refused(program, rule, text, draft):
    """What differs for a program with a fault."""
    call = [program, "check", "--strict", "--message-format", "json", "--from", "nnef-draft" if draft else "nnef", "-"]
    done = subprocess.run(call, input=text.encode(), capture_output=True, timeout=60)
    told = [json.loads(line) for line in done.stderr.decode(errors="replace").splitlines() if line.startswith("{")]
    told = [one for one in told if one.get("severity") == "error"]
    if done.returncode == 1 and [one["rule"] for one in told] == [rule]:
        return "="
    return "%s is broken, exit status %d: %s" % (rule, done.returncode, [(one["rule"], one["message"]) for one in told])


def compared(program, seed):
    """What differs for the program of a seed: a text; "" if nothing does, "=" if both refuse it, "-" if it is not judged."""
    draft, strict = FORMS[seed % len(FORMS)]
    if is_faulty(seed):
        rule, text = faulty(Generator(seed, draft, True))
        return text, refused(program, rule, text, draft)
    text = Generator(seed, draft, strict).program()
    try:
        own, failure = judged(text, draft, strict)
    except Unjudged:
        return text, "-"
    status, out, said = flattened(program, text, draft, strict)
    if status not in (0, 1):
        return text, "exit status %d: %s" % (status, said)
    if failure is not None or status == 1:
        if failure is not None and status == 1 and set(re.findall(r"Error\[(E\d+)", said)) <= EXPANSION:
            return text, "="
        return text, "the interpreter says %r, the program %r" % (failure or "ok", said.strip() or "ok")
    return text, difference(own[0], own[1], json.loads(out)) or ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="a folder for programs with differences")
    parser.add_argument("--text", action="store_true", help="print the program of the seed")
    options = parser.parse_args()
    if options.text:
        draft, strict = FORMS[options.seed % len(FORMS)]
        broken = is_faulty(options.seed)
        generator = Generator(options.seed, draft, strict or broken)
        print(faulty(generator)[1] if broken else generator.program())
        return 0
    agreed, refused, skipped, differing = 0, 0, 0, 0
    for seed in range(options.seed, options.seed + options.count):
        text, found = compared(options.bin, seed)
        agreed, refused, skipped = agreed + (found == ""), refused + (found == "="), skipped + (found == "-")
        if found not in ("", "=", "-"):
            differing += 1
            print("%d: %s" % (seed, found), flush=True)
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
                with open(os.path.join(options.keep, "%d.nnef" % seed), "w") as out:
                    out.write(text)
    print("%d graphs are equal, %d programs are refused by both, %d are not judged, %d differ"
          % (agreed, refused, skipped, differing))
    few = agreed < options.count // 10 or skipped * 10 > options.count
    return 1 if differing or few else 0


def with_stack(function):
    """Runs a function with room for deep recursion, and returns its result."""
    sys.setrecursionlimit(DEPTH)
    threading.stack_size(STACK)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


if __name__ == "__main__":
    sys.exit(with_stack(main))
