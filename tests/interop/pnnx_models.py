"""Compares files of PNNX with the numbers that torch computed.

Each folder has model.pnnx.param and model.pnnx.bin as pnnx wrote them, and io.npz with inputs i0, i1, ... and
outputs o0, o1, ... Needs numpy.

    python3 tests/interop/pnnx_models.py --bin target/release/nnef-flatten --models FOLDER
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

PASSED, EITHER = "E2226", {"E2211", "E2212", "E1103", "E2202", "E2203"}


def call(*args):
    return subprocess.run([str(arg) for arg in args], capture_output=True, text=True)


def codes(run):
    lines = [line for line in run.stderr.splitlines() if line.startswith("{")]
    return {json.loads(line)["code"] for line in lines}


def close(one, other):
    """Whether outputs differ by no more than the polynomial that NNEF has for the error function."""
    one, other = (list(json.loads(run.stdout)["outputs"].values()) for run in (one, other))
    shapes = [[output["shape"] for output in outputs] for outputs in (one, other)]
    return shapes[0] == shapes[1] and all(numpy.allclose(a["data"], b["data"], rtol=0, atol=1e-6) for a, b in zip(one, other))


def names_of_inputs(program, param, shapes):
    """The graph's inputs in order; unknown extents are those of the recorded inputs."""
    more = []
    run = call(program, "--from", "pnnx", "--to", "json", param, "--message-format", "json")
    if run.returncode == 1 and "E1103" in codes(run):
        names = re.findall(r"--input-shape (\w+)=", run.stderr)
        for name, shape in zip(names, shapes):
            more += ["--input-shape", f"{name}={','.join(map(str, shape))}"]
        run = call(program, "--from", "pnnx", "--to", "json", param, "--message-format", "json", *more)
    return run, more


def compare(program, folder):
    """What is wrong with a model; none if nothing is."""
    param = folder / "model.pnnx.param"
    io = numpy.load(folder / "io.npz")
    inputs = [io[f"i{i}"] for i in range(sum(name.startswith("i") for name in io.files))]
    wanted = [io[f"o{i}"] for i in range(sum(name.startswith("o") for name in io.files))]
    kept = call(program, "--from", "pnnx", "--lower", "none", "--to", "pnnx", param)
    if kept.stdout != param.read_text():
        return "--lower none does not give the file back"
    flat = call(program, "--from", "pnnx", "--to", "pnnx", param, "--message-format", "json")
    if any(text.count("(") > 1 for text in re.findall(r" expr=(\S+)", flat.stdout)):
        return "expressions of several operations are left"
    run, more = names_of_inputs(program, param, [x.shape for x in inputs])
    if run.returncode == 1 and codes(run) & EITHER:
        return None if folder.name == "size_scale" else f"refused: {codes(run)}"
    if run.returncode != 0:
        return f"exit {run.returncode}: {run.stderr[:300]}"
    graph = json.loads(run.stdout)
    if any("Expression" in operation["name"] for operation in graph["operations"]):
        return "expressions are left in the graph"
    with tempfile.TemporaryDirectory() as scratch:
        given = pathlib.Path(scratch) / "given.npz"
        numpy.savez(given, **dict(zip(graph["inputs"], inputs)))
        got = call(program, "run", "--from", "pnnx", param, "--inputs", given, "--message-format", "json", *more)
        if got.returncode != 0:
            return f"run: exit {got.returncode}: {got.stderr[:400]}"
        outputs = list(json.loads(got.stdout)["outputs"].values())
        if len(outputs) != len(wanted):
            return f"{len(outputs)} outputs, not {len(wanted)}"
        for i, (output, want) in enumerate(zip(outputs, wanted)):
            found = numpy.array(output["data"], dtype=float)
            if found.shape != want.shape or not numpy.allclose(found, want, rtol=1e-4, atol=1e-4, equal_nan=True):
                return f"output {i} differs by {abs(found - want).max() if found.shape == want.shape else found.shape}"
        # The same through a whole model of NNEF.
        whole = pathlib.Path(scratch) / "whole/"
        written = call(program, "--from", "pnnx", "--lower", "all", param, "-o", f"{whole}/", *more)
        if written.returncode == 0:
            again = call(program, "run", whole, "--inputs", given)
            if again.returncode != 0:
                return f"run of the model of NNEF: exit {again.returncode}: {again.stderr[:300]}"
            same = json.loads(again.stdout) == json.loads(got.stdout)
            if not same and not (folder.name == "erf" and close(again, got)):
                return "the model of NNEF computes something else"
        else:
            return f"whole: {written.stderr[:300]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    args = parser.parse_args()
    failed = 0
    folders = sorted(path.parent for path in args.models.glob("*/model.pnnx.param"))
    for folder in folders:
        wrong = compare(args.bin, folder)
        if wrong:
            failed += 1
            print(f"{folder.name}: {wrong}")
    print(f"{len(folders) - failed} of {len(folders)} models compute the numbers of torch")
    return 1 if failed or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
