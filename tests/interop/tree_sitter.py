#!/usr/bin/env python3
"""Parses documents of NNEF 1.0 with the tree-sitter grammar: the examples, and the documents of the conformance suite.

All but those that the suite has for their syntax have to be parsed without an error. Of these, the grammar reads some, since
an editor has to show a document while it is written; their number is printed. The parser has to be generated. Exit
status 0 if all is as it should be, else 1.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile


ROOT = pathlib.Path(__file__).resolve().parents[2]
# The tables of documents that are wrong before they have a meaning.
WRONG = ["50_invalid_lexical", "51_invalid_syntax"]
# Files whose syntax is wrong on purpose.
MISTAKES = ["examples/mistakes.nnef", "tests/conformance/field/nnef/number-with-suffix/g.nnef"]


def documents():
    """Names and texts of documents, and whether they have to be parsed."""
    for table in sorted((ROOT / "tests/conformance/tables/nnef").glob("*.json")):
        for case in json.loads(table.read_text()):
            if case["dialect"] == "1.0":
                yield f"{table.stem}-{case['id']}", case["source"], table.stem not in WRONG
    for case in json.loads((ROOT / "tests/conformance/tables/loops/loop_unroll_nnef.json").read_text()):
        if "nnef" in case:
            yield case["name"], case["nnef"], True
    for folder in ["examples", "tests/conformance/field"]:
        for path in sorted((ROOT / folder).rglob("*.nnef")):
            name = path.relative_to(ROOT).as_posix()
            yield name, path.read_text(), name not in MISTAKES


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cli", default="tree-sitter")
    parser.add_argument("--grammar", type=pathlib.Path, required=True, help="the folder with the generated parser")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        names, paths = {}, pathlib.Path(folder, "paths")
        for number, (name, text, right) in enumerate(documents()):
            path = pathlib.Path(folder, f"{number}.nnef")
            path.write_text(text)
            names[path.name] = name, right
        paths.write_text("\n".join(str(pathlib.Path(folder, name)) for name in names))
        # Its exit status is 1 if any document has an error; each of these has a line.
        done = subprocess.run([args.cli, "parse", "--quiet", "--paths", paths], cwd=args.grammar, text=True, capture_output=True)
    errors = {}
    for line in done.stdout.splitlines():
        path, _, error = line.partition(".nnef")
        errors[f"{os.path.basename(path.strip())}.nnef"] = re.sub(r".*\((?=ERROR|MISSING)", "(", error)
    if not errors or not errors.keys() <= names.keys():
        print(f"unexpected answer of the parser: {done.stdout[-300:]} {done.stderr[-300:]}")
        return 1
    wrong = [f"{names[file][0]}: {error}" for file, error in errors.items() if names[file][1]]
    print("\n".join(wrong), end="\n" if wrong else "")
    hopeless = [file for file, (_, right) in names.items() if not right]
    print(f"{len(names) - len(hopeless)} documents, {len(wrong)} not parsed; "
          f"{len(errors) - len(wrong)} of {len(hopeless)} with wrong syntax have an error")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
