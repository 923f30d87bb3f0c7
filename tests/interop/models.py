#!/usr/bin/env python3
"""Loads flattened models with two other readers: tract (PyPI `tract`) and Khronos' (PyPI `nnef`).

usage: models.py --bin PATH [--models DIR] [--corpus DIR] [--peer tract,khronos]

tract: every model of DIR that has data is flattened into a folder, a tar and a tgz. tract has to
load each and to compute what it computes of the source, and what an `io.npz` beside the model
says. Where tract does not read the source there is nothing to compare with, and nnef-flatten
itself evaluates the flattened models. Models made of the examples of this repository with random
weights are always among them; there the evaluation of the source is what tract has to give.

khronos: everything that `check --strict` accepts, of the models, the examples and the corpus, is
flattened, and has to be read by the package `nnef`; of models with data it reads the data, too.

Exit status 0 when all is well, 1 when something differs, 0 with the word `skipped` when a package
or DIR is missing.
"""
import argparse, glob, json, os, struct, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
EXAMPLES = os.path.join(REPOSITORY, "examples")
#: Examples whose flat form tract has all operations for.
RUN_BY_TRACT = ("repeat", "residual", "dense")
FORMS = ("out/", "out.tar", "out.tgz")
TOLERANCE = 1e-4


def say(message):
    print(message, flush=True)


def flatten(binary, *args):
    """Runs the program under test. Gives its standard output, or nothing when it refuses."""
    run = subprocess.run([binary, "-q", *args], capture_output=True)
    if run.returncode not in (0, 1):
        raise SystemExit("%s: %s" % (" ".join(args), run.stderr.decode()))
    return run.stdout if run.returncode == 0 else None


def tensor_file(path, array):
    """Writes an array of 32-bit numbers as a data file."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    extents = list(array.shape) + [0] * (8 - array.ndim)
    header = struct.pack("<BBBBII8III", 0x4E, 0xEF, 1, 0, array.nbytes, array.ndim, *extents, 32, 0)
    with open(path, "wb") as file:
        file.write(header.ljust(128, b"\0") + array.tobytes())


def example(binary, name, folder):
    """A model of an example: random weights, inputs, and the outputs by the reference evaluator."""
    import numpy
    random = numpy.random.default_rng(1)
    source = os.path.join(EXAMPLES, name + ".nnef")
    os.makedirs(folder)
    with open(source) as text, open(os.path.join(folder, "graph.nnef"), "w") as graph:
        graph.write(text.read())
    flat = json.loads(flatten(binary, "--to", "json", source))
    inputs = {}
    for operation in flat["operations"]:
        shape = operation["attributes"].get("shape")
        if operation["name"] == "external":
            inputs[operation["outputs"]["output"]] = random.standard_normal(shape).astype("float32")
        elif operation["name"] == "variable":
            scale = 0.5 / max(1, numpy.prod(shape[1:])) ** 0.5
            weights = (0.5 + scale * random.random(shape)).astype("float32") if len(shape) < 3 else \
                (scale * random.standard_normal(shape)).astype("float32")
            tensor_file(os.path.join(folder, operation["attributes"]["label"] + ".dat"), weights)
    given = os.path.join(folder, "..", name + "-inputs.npz")
    numpy.savez(given, **inputs)
    computed = given.replace("inputs", "outputs")
    if flatten(binary, "run", folder, "--inputs", given, "-o", computed) is None:
        raise SystemExit("%s cannot be evaluated" % name)
    return inputs, dict(numpy.load(computed))


def graph_names(binary, model):
    """The names of the inputs and outputs."""
    graph = json.loads(flatten(binary, "--to", "json", model))
    return graph["inputs"], graph["outputs"]


class Tract:
    """The outputs that tract computes for a model."""

    def __init__(self, path):
        import tract
        self.model = tract.nnef().load(path).into_runnable()

    def run(self, inputs):
        return [output.to_numpy() for output in self.model.run(inputs)]


def apart(found, wanted):
    """The largest difference of two lists of arrays."""
    import numpy
    if len(found) != len(wanted) or any(f.shape != w.shape for f, w in zip(found, wanted)):
        return float("inf")
    return float(numpy.max([numpy.abs(f - w).max() for f, w in zip(found, wanted)]))


def by_evaluation(binary, path, inputs, names):
    """The outputs that nnef-flatten computes for a model."""
    import numpy
    with tempfile.TemporaryDirectory() as folder:
        given, computed = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        numpy.savez(given, **inputs)
        if flatten(binary, "run", path, "--inputs", given, "-o", computed) is None:
            return None
        outputs = numpy.load(computed)
        return [outputs[name] for name in names]


def compare(binary, name, model, inputs, recorded, folder, by_tract=False):
    """Flattens a model into every form, and compares the outputs, those of tract only if so asked. Gives how many differ."""
    order, results = graph_names(binary, model)
    wanted = [recorded[result] for result in results] if recorded else None
    try:
        source = Tract(model).run([inputs[i] for i in order])
    except Exception:
        source = None
    bad = 0
    os.makedirs(folder, exist_ok=True)
    for form in FORMS:
        path = os.path.join(folder, form)
        if flatten(binary, model, "-o", path) is None:
            say("FAILED %s: is refused as a model" % name)
            return 1
        try:
            found, reader = Tract(path).run([inputs[i] for i in order]), "tract"
        except Exception as error:
            if source is not None or wanted is None or by_tract:
                say("FAILED %s %s: tract does not load it: %s" % (name, form, str(error)[:300]))
                bad += 1
                continue
            found, reader = by_evaluation(binary, path, inputs, results), "run"
        for what, other in (("the source", source), ("the record", wanted)):
            if other is None or found is None:
                continue
            difference = apart(found, other)
            if not difference <= (0.0 if what == "the source" else TOLERANCE):
                say("FAILED %s %s: differs from %s by %g" % (name, form, what, difference))
                bad += 1
        if found is None:
            say("FAILED %s %s: cannot be evaluated" % (name, form))
            bad += 1
    if not bad:
        of_source = "as the source by tract" if source is not None else "the source is nothing tract reads"
        of_record = ", as recorded" if wanted is not None else ""
        say("ok %s: 3 forms by %s, %s%s" % (name, reader, of_source, of_record))
    return bad


def with_data(folder):
    """The models below a folder that have data, and an `io.npz`."""
    found = []
    for graph in sorted(glob.glob(os.path.join(folder, "*", "graph.nnef"))):
        model = os.path.dirname(graph)
        if glob.glob(os.path.join(model, "**", "*.dat"), recursive=True):
            found.append(model)
    return found


def tract(binary, models):
    """Compares models with tract. Gives how many forms differ."""
    import numpy
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in RUN_BY_TRACT:
            model = os.path.join(folder, name)
            inputs, outputs = example(binary, name, model)
            bad += compare(binary, name, model, inputs, outputs, os.path.join(folder, name + "-forms"), by_tract=True)
    for model in with_data(models):
        record = os.path.join(model, "io.npz")
        if not os.path.exists(record):
            say("left out %s: nothing is recorded of it" % os.path.basename(model))
            continue
        arrays = dict(numpy.load(record))
        with tempfile.TemporaryDirectory() as folder:
            bad += compare(binary, os.path.basename(model), model, arrays_of(binary, model, arrays), arrays, folder)
    return bad


def arrays_of(binary, model, arrays):
    """The inputs among recorded arrays."""
    inputs, _ = graph_names(binary, model)
    return {name: arrays[name] for name in inputs}


def corpus(folder):
    """The valid documents of version 1.0 of a corpus."""
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path) as file:
            cases = json.load(file)
        for case in cases:
            if case.get("kind") == "valid" and case.get("dialect") == "1.0":
                yield case["id"], case["source"]


def documents(models, cases):
    """Name and text of all documents."""
    for path in sorted(glob.glob(os.path.join(EXAMPLES, "*.nnef"))) + sorted(
            glob.glob(os.path.join(models, "*", "graph.nnef"))):
        with open(path, encoding="utf-8") as file:
            yield os.path.relpath(path, REPOSITORY), file.read()
    yield from corpus(cases)


def khronos(binary, models, cases):
    """Reads flat documents with Khronos' package. Gives how many it does not read."""
    import nnef
    read = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        source, flat = os.path.join(folder, "source.nnef"), os.path.join(folder, "flat.nnef")
        for name, text in documents(models, cases):
            with open(source, "w", encoding="utf-8") as file:
                file.write(text)
            if flatten(binary, "check", "--strict", source) is None:
                continue
            if flatten(binary, source, "-o", flat) is None:
                say("FAILED %s: is accepted, and not flattened" % name)
                bad += 1
                continue
            try:
                # Kept fragments may use operators.
                with open(flat, encoding="utf-8") as file:
                    nnef.parse_string(file.read(), lowered=[])
                read += 1
            except Exception as error:
                say("FAILED %s: the package nnef says %s" % (name, str(error)[:300]))
                bad += 1
    for model in with_data(models):
        if flatten(binary, "check", "--strict", model) is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            if flatten(binary, model, "-o", os.path.join(folder, "out/")) is None:
                bad += 1
                continue
            theirs, ours = nnef.load_graph(model), nnef.load_graph(os.path.join(folder, "out"))
            kept = [(tensor.data, ours.tensors[name].data) for name, tensor in theirs.tensors.items() if name in ours.tensors]
            same = any(data is not None for data, _ in kept) and all(
                (data is None) == (other is None) and (data is None or (data == other).all()) for data, other in kept)
            say("%s %s: the package nnef loads the data" % ("ok" if same else "FAILED", os.path.basename(model)))
            bad += not same
            read += 1
    say("%d flat documents are read by the package nnef, %d are not" % (read, bad))
    return bad + (read < 50)


def main():
    shared = os.path.join(REPOSITORY, "..", "shared")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--models", default=os.path.join(shared, "models"))
    parser.add_argument("--corpus", default=os.path.join(REPOSITORY, "tests", "conformance", "tables", "nnef"))
    parser.add_argument("--peer", default="tract,khronos")
    args = parser.parse_args()
    if not os.path.isdir(args.models):
        say("skipped: no models in %s, only the examples are used" % args.models)
    bad = 0
    for peer in args.peer.split(","):
        package = {"tract": "tract", "khronos": "nnef"}[peer]
        try:
            __import__(package), __import__("numpy")
        except ImportError:
            say("skipped: the package %s is not installed" % package)
            continue
        binary = os.path.abspath(args.bin)
        bad += tract(binary, args.models) if peer == "tract" else khronos(binary, args.models, args.corpus)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
