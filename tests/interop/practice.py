#!/usr/bin/env python3
"""Evaluates networks as exporters write them, and compares with tract (PyPI `tract`).

usage: practice.py --bin PATH [--models DIR] [--set S=5] [-v] [NAME…]

Every network of DIR gets random weights and inputs; dimension symbols get values. What `run` computes has
to be what tract computes of the source, and of the flat graph. A network that tract refuses is told, and
not compared. Exit status 0 when all agree, 1 when some differ, 0 with the word `skipped` when a package
or DIR is missing.
"""
import argparse, glob, json, os, re, shutil, struct, subprocess, sys, tempfile

try:
    import numpy as np
    import tract
except (ImportError, OSError) as error:
    print(f"skipped: {error}")
    sys.exit(0)

#: The largest difference, against the larger number, or a hundredth of the largest of all, where that is
#: above 1. Sums of long products in single precision differ that much; half precision has three digits.
TOLERANCE, HALF = 2e-3, 3e-2


def command(*args):
    return subprocess.run([str(arg) for arg in args], capture_output=True, text=True)


def data_file(path, array):
    """Writes an array as a data file of NNEF."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    kind = {"f": 0, "u": 2, "i": 4, "b": 5}[array.dtype.kind]
    bits = 1 if array.dtype.kind == "b" else 8 * array.dtype.itemsize
    extents = list(array.shape) + [0] * (8 - array.ndim)
    stored = array if array.dtype.kind != "b" else np.packbits(array)
    header = struct.pack("<BBBBII8III", 0x4E, 0xEF, 1, 0, stored.nbytes, array.ndim, *extents, bits, kind)
    with open(path, "wb") as file:
        file.write(header.ljust(128, b"\0") + stored.tobytes())


def external_type(text, name):
    """The element type that the text of a network states for an input."""
    line = re.search(r"\b%s\s*=\s*(\w+)(<\w+>)?\s*\(([^;]*)\)" % re.escape(name), text)
    if not line:
        return np.float32
    stated = re.search(r"datum_type\s*=\s*['\"](\w+)['\"]", line.group(3))
    of = stated.group(1).lower() if stated else {"<integer>": "i64", "<logical>": "bool"}.get(line.group(2), "f32")
    names = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "bool": np.bool_, "tdim": np.int64}
    return names.get(of) or np.dtype({"i": "int", "u": "uint"}[of[0]] + of[1:]).type


def random_array(rng, shape, dtype):
    if np.dtype(dtype).kind == "f":
        return rng.uniform(-1, 1, shape).astype(dtype)
    return rng.integers(0, 2, shape).astype(dtype)


def value(extent, symbols):
    """The number that an extent is for values of symbols."""
    if isinstance(extent, int):
        return extent
    names = dict(symbols, min=min, max=max, broadcast=max)
    return int(eval(extent.replace("/", "//"), {"__builtins__": {}}, names))


class Network:
    """A network with random weights and inputs."""

    def __init__(self, binary, source, folder, symbols, rng):
        self.binary, self.folder, self.symbols = binary, folder, symbols
        for name in os.listdir(source):
            if name.endswith((".nnef", ".quant", ".json")):
                shutil.copy(os.path.join(source, name), folder)
        done = command(binary, "-q", os.path.join(source, "graph.nnef"), "--to", "json")
        self.refused = done.stderr if done.returncode else None
        if self.refused is not None:
            return
        self.graph = json.loads(done.stdout)
        shapes = {name: self.graph["tensors"][name]["shape"] for name in self.graph["inputs"]}
        unknown = [name for name, shape in shapes.items() if shape is None or None in shape]
        if unknown:
            self.refused = "nothing says the shape of %s" % ", ".join(unknown)
            return
        with open(os.path.join(source, "graph.nnef")) as file:
            self.text = file.read()
        self.symbols = {name: number for name, number in symbols.items() if self.has_symbol(name)}
        self.weights(source, rng)
        self.inputs = {name: random_array(rng, self.shape(name), external_type(self.text, name))
                       for name in self.graph["inputs"]}

    def has_symbol(self, name):
        shapes = (self.graph["tensors"][tensor]["shape"] or [] for tensor in self.graph["inputs"])
        return any(re.search(r"\b%s\b" % name, str(extent)) for shape in shapes for extent in shape)

    def shape(self, name):
        return [value(extent, self.symbols) for extent in self.graph["tensors"][name]["shape"]]

    def weights(self, source, rng):
        kinds = {}
        listed = os.path.join(source, "variables.tsv")
        if os.path.exists(listed):
            for line in open(listed).read().splitlines()[1:]:
                label, _, bits, kind, _ = line.split("\t")
                kinds[label] = (int(bits), int(kind))
        for operation in self.graph["operations"]:
            if operation["name"] != "variable":
                continue
            label, shape = operation["attributes"]["label"], operation["attributes"]["shape"]
            bits, kind = kinds.get(label, (32, 0))
            dtype = {(16, 0): np.float16, (64, 0): np.float64, (8, 3): np.int8, (8, 2): np.uint8, (32, 4): np.int32,
                     (64, 4): np.int64, (64, 3): np.int64, (32, 3): np.int32}.get((bits, kind), np.float32)
            # Like those of a trained network: sums of products stay small.
            scale = 1.0 / max(1.0, float(np.prod(shape[1:]))) ** 0.5 if len(shape) > 1 else 1.0
            array = random_array(rng, shape, dtype)
            if np.dtype(dtype).kind == "f":
                # Variances are positive.
                array = (array * scale if len(shape) > 1 else np.abs(array) + 0.5).astype(dtype)
            data_file(os.path.join(self.folder, label + ".dat"), array)

    def by_run(self, folder):
        """The outputs that nnef-flatten computes."""
        given, results = os.path.join(self.folder, "in.npz"), os.path.join(self.folder, "out.npz")
        as_read = {name: array.astype(np.float32) if array.dtype == np.float16 else array
                   for name, array in self.inputs.items()}
        np.savez(given, **as_read)
        done = command(self.binary, "run", "-q", folder, "--inputs", given, "-o", results)
        if done.returncode:
            return done.stderr.strip()
        arrays = np.load(results)
        return [arrays[name] for name in self.graph["outputs"]]

    def by_tract(self, folder):
        """The outputs that tract computes."""
        try:
            reader = tract.nnef().with_tract_transformers().with_onnx().with_pulse().with_tract_extra()
            runnable = reader.load(folder).into_runnable()
            return [output.to_numpy() for output in runnable.run(list(self.inputs.values()))]
        except BaseException as error:
            lines = str(error).split("Stack backtrace")[0].split()
            return " ".join(lines)[-300:] or repr(error)

    def flat(self):
        """A folder with the flat graph and the same weights."""
        path = self.folder + "-flat"
        done = command(self.binary, "-q", self.folder, "-o", path + "/")
        return path if done.returncode == 0 else done.stderr.strip()


def apart(found, wanted):
    """The largest difference of two lists of arrays, measured against the larger number where it is above 1."""
    if [a.shape for a in found] != [b.shape for b in wanted]:
        return float("inf")
    worst = 0.0
    for a, b in zip(found, wanted):
        a, b = a.astype(np.float64), b.astype(np.float64)
        least = max(1.0, 0.01 * float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0)))
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        with np.errstate(invalid="ignore"):
            difference = np.where(same, 0.0, np.abs(a - b) / np.maximum(np.maximum(np.abs(a), np.abs(b)), least))
        worst = max(worst, float(np.max(np.where(np.isnan(difference), np.inf, difference), initial=0.0)))
    return worst


def compare(binary, source, symbols, verbose):
    """How a network fares: `agrees`, `differs`, or who refuses it; and why."""
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "model")
        os.makedirs(folder)
        network = Network(binary, source, folder, symbols, rng)
        if network.refused is not None:
            return "refused", network.refused.splitlines()[0]
        try:
            wanted = network.by_tract(folder)
        except Exception as error:
            wanted = str(error)
        found = network.by_run(folder)
        if isinstance(wanted, str):
            return "not by tract", wanted + ("" if not isinstance(found, str) else "; run: " + found.splitlines()[0])
        if isinstance(found, str):
            return "not by run", found.splitlines()[0]
        tolerance = HALF if "f16" in network.text else TOLERANCE
        difference = apart(found, wanted)
        if difference > tolerance:
            return "differs", "by %g; shapes %s and %s" % (
                difference, [a.shape for a in found], [b.shape for b in wanted])
        flat = network.flat()
        by_flat = network.by_tract(flat) if os.path.isdir(flat) else flat
        if isinstance(by_flat, str):
            return "differs", "tract refuses the flat graph: " + by_flat
        if apart(by_flat, wanted) > tolerance:
            return "differs", "the flat graph by %g" % apart(by_flat, wanted)
        return "agrees", "%.1e" % difference


def isolated(binary, source, args):
    """The same in a process of its own: tract can end the process."""
    given = [word for pair in args.set for word in ("--set", pair)]
    arguments = [sys.executable, __file__, "--bin", binary, "--one", source, *given]
    try:
        run = subprocess.run(arguments, capture_output=True, text=True, timeout=args.timeout)
    except subprocess.TimeoutExpired:
        return "left out", f"it takes more than {args.timeout} seconds"
    line = run.stdout.strip().splitlines()[-1:] or ["not by tract\tit ends the process: %s" % run.stderr.strip()[-200:]]
    return tuple(line[0].split("\t", 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--models", default=os.path.join(os.path.dirname(__file__), "../../../shared/models"))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--set", action="append", default=[], metavar="S=5", help="values of symbols; others are 6")
    parser.add_argument("--timeout", type=int, default=30, help="seconds for a network")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    symbols = {name: 6 for name in "A B C D K L M N P Q R S T W X Y Z a b c n s t".split()}
    symbols.update({pair.split("=")[0]: int(pair.split("=")[1]) for pair in args.set})
    if args.one:
        print("\t".join(compare(args.bin, args.one, symbols, args.verbose)))
        return
    if not os.path.isdir(args.models):
        print("skipped: there are no models")
        return
    counts = {}
    for graph in sorted(glob.glob(os.path.join(args.models, "*", "graph.nnef"))):
        name = os.path.basename(os.path.dirname(graph))
        if args.names and name not in args.names:
            continue
        outcome, why = isolated(args.bin, os.path.dirname(graph), args)
        counts[outcome] = counts.get(outcome, 0) + 1
        if args.verbose or outcome in ("differs", "not by run"):
            print(f"{outcome}: {name}: {why}", flush=True)
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    print(f"practice: {told}")
    # What is refused is compared with nothing.
    many = not args.names and counts.get("refused", 0) * 10 > sum(counts.values())
    sys.exit(1 if counts.get("differs", 0) + counts.get("not by run", 0) or many or not counts.get("agrees") else 0)


if __name__ == "__main__":
    main()
