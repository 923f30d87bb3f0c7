#!/usr/bin/env python3
"""Validates logs of the command against the schema of SARIF 2.1.0, with the package jsonschema.

usage: sarif.py --bin BINARY --schema FILE
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

ONNX = '<ir_version: 8, opset_import: ["" : 17]>\ng (float[2] x) => (float[2] y) {\n  [node] y = Add (x, w)\n}\n'
FIXED = "version 1.0;\ngraph G( x ) -> ( y ) { x = external(shape = [2]); y = mul(x, 2.); } // a comment\n"
CALLS = (
    "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n"
    "fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) { y = reshape(x, shape = [6 / n]); }\n"
    "graph G( x ) -> ( y ) { x = external(shape = [6]); y = f(x, n = 0); }\n"
)


def log(binary, folder, *args):
    """The log of a call, from the stream that it is on."""
    run = subprocess.run([binary, *args, "--message-format", "sarif"], cwd=folder, capture_output=True, text=True)
    text = run.stdout if args and args[0] == "check" else run.stderr
    assert run.returncode in (0, 1, 2), run.stderr
    return json.loads(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--schema", required=True)
    options = parser.parse_args()
    binary = os.path.abspath(options.bin)
    with open(options.schema, encoding="utf-8") as file:
        schema = json.load(file)
    kind = jsonschema.validators.validator_for(schema)
    validator = kind(schema, format_checker=kind.FORMAT_CHECKER)
    failed = results = fixes = nodes = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in [("bad.onnxtxt", ONNX), ("é : %.nnef", FIXED), ("calls.nnef", CALLS)]:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        with open(os.path.join(folder, "bad.onnx"), "wb") as file:
            file.write(b"\x08\x08")
        examples = os.path.join(ROOT, "examples")
        calls = [
            ("check", "."),
            ("check", "--strict", "--warnings", "all", ".", examples),
            ("check", "missing.nnef"),
            ("check", "--no-such-option"),
            (os.path.join(examples, "mistakes.nnef"),),
            (os.path.join(examples, "repeat.nnef"), "--stats", "-o", "flat.nnef"),
        ]
        for call in calls:
            found = log(binary, folder, *call)
            errors = list(validator.iter_errors(found))
            for error in errors[:5]:
                print(f"{' '.join(call)}: {list(error.path)}: {error.message[:300]}")
            failed += len(errors)
            rules = found["runs"][0]["tool"]["driver"]["rules"]
            for result in found["runs"][0]["results"]:
                assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
                results += 1
                fixes += "fixes" in result
                nodes += any("logicalLocations" in location for location in result["locations"])
    print(f"{results} results, {fixes} with fixes, {nodes} with nodes: {failed} errors")
    sys.exit(0 if not failed and results > 20 and fixes and nodes else 1)


if __name__ == "__main__":
    main()
