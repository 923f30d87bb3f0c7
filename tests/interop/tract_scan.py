#!/usr/bin/env python3
"""Compares the outputs of scans, unrolled or not, with those of tract.

usage: tract_scan.py --bin PATH [--model FOLDER] [-v]

Each document holds a `tract_core_scan`: forward, backward, in chunks, with states and without. tract
runs the document as it is and the flat graph of `nnef-flatten --unroll --flat`; both have to give what
`nnef-flatten run` computes. A model folder with an `io.npz` beside its weights is unrolled and run as
well. Exit status 0 when all agree, 1 when some differ, 0 with the word `skipped` when tract or numpy
is not installed.
"""
import argparse, os, shutil, subprocess, sys, tempfile

try:
    import numpy as np
    import tract
except (ImportError, OSError) as error:
    print(f"skipped: {error}")
    sys.exit(0)

HEADER = """version 1.0;
extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
extension tract_registry tract_core;
"""

STEP = """fragment step( a: tensor<scalar>, h: tensor<scalar>, w: tensor<scalar> )
-> ( n: tensor<scalar>, o: tensor<scalar> )
{
    n = tanh(matmul(sum_reduce(a, axes = [0]), w) + h);
    o = n * 0.5 + sum_reduce(a, axes = [0]);
}
"""

# Each with the shapes of its inputs and the arguments of the scan. All outputs of a scan run in one
# direction: tract moves operations out of bodies, and then gives all outputs of a scan with several
# directions in the same direction.
CASES = {
    "forward": ({"x": (5, 3), "h0": (1, 3), "w": (3, 3)}, 1, 1),
    "backward": ({"x": (5, 3), "h0": (1, 3), "w": (3, 3)}, -1, -1),
    "reversed input": ({"x": (4, 3), "h0": (1, 3), "w": (3, 3)}, -1, 1),
    "chunks": ({"x": (6, 3), "h0": (1, 3), "w": (3, 3)}, 2, 1),
    "chunks from the end": ({"x": (9, 3), "h0": (1, 3), "w": (3, 3)}, -3, -1),
    "one step": ({"x": (1, 3), "h0": (1, 3), "w": (3, 3)}, 1, 1),
}


def document(shapes, chunk, direction):
    externals = "".join(f"    {name} = external(shape = {list(shape)});\n" for name, shape in shapes.items())
    return HEADER + STEP + f"""graph G( {", ".join(shapes)} ) -> ( all, states, last )
{{
{externals}    (all, states, last) = tract_core_scan(body = 'step', scan = [('a', x, 0, {chunk})], full = [('w', w)],
        state = [('h', h0, 'n')],
        output = [('o', 'full', 0, {direction}), ('n', 'full', 0, {direction}), ('n', 'last', 0, 1)], skip = 0);
}}
"""


def in_tract(folder, inputs):
    """The outputs of the model in a folder, in order."""
    runnable = tract.nnef().load(folder).into_runnable()
    return [output.to_numpy() for output in runnable.run(inputs)]


def command(*args):
    done = subprocess.run([str(arg) for arg in args], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, args))}: exit status {done.returncode}\n{done.stderr}")


def unrolled(binary, folder, into):
    """A folder with the flat graph of a model, and its weights."""
    os.makedirs(into)
    for name in os.listdir(folder):
        if name.endswith(".dat"):
            shutil.copy(os.path.join(folder, name), into)
    command(binary, "-q", "--unroll", "--flat", folder, "-o", os.path.join(into, "graph.nnef"))
    with open(os.path.join(into, "graph.nnef")) as file:
        text = file.read()
    assert "tract_core_scan" not in text, "a scan is left"
    return into


def apart(found, wanted):
    """The largest difference of two lists of outputs."""
    if [a.shape for a in found] != [b.shape for b in wanted]:
        return float("inf")
    return float(np.max([np.max(np.abs(a - b), initial=0.0) for a, b in zip(found, wanted)]))


def compare(binary, name, folder, inputs, wanted, scratch, verbose):
    """Whether tract gives the wanted outputs for a model and for its flat graph."""
    flat = unrolled(binary, folder, os.path.join(scratch, "flat"))
    differences = [apart(in_tract(path, inputs), wanted) for path in (folder, flat)]
    good = all(difference < 1e-5 for difference in differences)
    if verbose or not good:
        print(f"{name}: the scan differs by {differences[0]:.1e}, unrolled by {differences[1]:.1e}")
    return good


def case(binary, name, verbose, rng):
    shapes, chunk, direction = CASES[name]
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "model")
        os.makedirs(folder)
        with open(os.path.join(folder, "graph.nnef"), "w") as file:
            file.write(document(shapes, chunk, direction))
        inputs = {key: rng.standard_normal(shape).astype(np.float32) for key, shape in shapes.items()}
        given, results = os.path.join(scratch, "in.npz"), os.path.join(scratch, "out.npz")
        np.savez(given, **inputs)
        command(binary, "run", "-q", folder, "--inputs", given, "-o", results)
        computed = np.load(results)
        wanted = [computed[output] for output in ("all", "states", "last")]
        return compare(binary, name, folder, list(inputs.values()), wanted, scratch, verbose)


def model(binary, folder, verbose):
    recorded = np.load(os.path.join(folder, "io.npz"))
    inputs = [recorded[name] for name in recorded.files if name.startswith("input")]
    wanted = [recorded[name] for name in recorded.files if name.startswith("output")]
    with tempfile.TemporaryDirectory() as scratch:
        # Tract does not need the other files of the model.
        copy = os.path.join(scratch, "model")
        os.makedirs(copy)
        for name in os.listdir(folder):
            if name.endswith((".nnef", ".dat")):
                shutil.copy(os.path.join(folder, name), copy)
        return compare(binary, os.path.basename(folder), copy, inputs, wanted, scratch, verbose)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--model", help="a model folder with an io.npz")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    results = [case(args.bin, name, args.verbose, rng) for name in CASES]
    if args.model and os.path.isfile(os.path.join(args.model, "io.npz")):
        results.append(model(args.bin, args.model.rstrip("/"), args.verbose))
    print(f"tract: {sum(results)} of {len(results)} scans agree")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
