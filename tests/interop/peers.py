#!/usr/bin/env python3
"""Repeats the claims of docs/peers.md: small documents that another program gets wrong.

    python3 tests/interop/peers.py [--python VENV/bin/python] [--write]

Each document of `peers_claims.py` is given to the program in a process of its own, and what it does is compared with the
page; --write makes the page. A claim that no longer holds for an installed version fails, so that the page does not
accuse a program that was repaired; claims about packages that are not installed are skipped.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

from peers_claims import CLAIMS, PROGRAMS

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "peers.md"
HEAD = """# Reports for other programs

Small documents that another program gets wrong, what it does with them, and what is right by which sentence of which
specification. They are meant for the authors of these programs; nothing here is a judgement of them, since all were found
by reading thousands of documents twice. One command repeats all claims, and fails for a program that was repaired:

```sh
python3 tests/interop/peers.py --python VENV/bin/python
```

`VENV` has the packages of `tests/conformance/packages.txt`. What the programs do on whole suites is in
[matrix.md](matrix.md). NNEF is quoted from version 1.0.5 of its specification, ONNX from its `IR.md`, `Syntax.md` and
`onnx.proto`.
"""
TAIL = """
## Not repeated by the script

torch-to-nnef needs torch to run. Its export of `BatchNorm2d` for Khronos' parser writes the parameters of
`batch_normalization` as `[1, 1, 1, C]`, along the last axis, where 4.6 of the specification wants `[1, C]`, along the
channels: the case `nnef/batch-norm-last-axis` of `tests/conformance/field` is such a document.
"""


def observed(python, claim):
    """What the program does: what it prints, or the signal that ends it."""
    done = subprocess.run([python, str(HERE / "peers_run.py"), claim["how"]], input=claim["document"], timeout=60,
                          capture_output=True, text=True, env=dict(os.environ, PYTHONHASHSEED="0"))
    if done.returncode < 0:
        return "the process ends with signal %d" % -done.returncode
    return re.sub(r"/tmp/\S+", "MODEL", done.stdout.strip()) or "exit status %d" % done.returncode


def version(python, package):
    code = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
    done = subprocess.run([python, "-c", code, package], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def section(claim, told):
    document = claim["document"].strip("\n")
    return "\n".join(["### %s" % claim["title"], "", "```text", document, "```", "", "It gives:", "", "```text", told, "```", "",
                      "Right: %s" % claim["right"], ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--write", action="store_true", help="write docs/peers.md")
    options = parser.parse_args()
    parts, wrong, held, skipped = [HEAD], [], 0, 0
    for program, (package, about) in PROGRAMS.items():
        installed = version(options.python, package)
        parts += ["## %s %s" % (program, installed), "", about, ""]
        for claim in (claim for claim in CLAIMS if claim["program"] == program):
            if installed is None:
                skipped += 1
                continue
            told = observed(options.python, claim)
            held += 1 if re.search(claim["shows"], told) else 0
            wrong += [] if re.search(claim["shows"], told) else ["%s: %s: %s" % (program, claim["title"], told)]
            parts.append(section(claim, told))
    if options.write:
        PAGE.write_text("\n".join(parts).rstrip() + "\n" + TAIL, encoding="utf-8")
    if skipped:
        print("skipped: %d claims about programs that are not installed" % skipped)
    print("\n".join(wrong + ["%d claims hold, %d do not, %d skipped" % (held, len(wrong), skipped)]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
