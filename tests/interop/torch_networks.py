"""Converts networks of torch with pnnx, and compares what we compute of the files with what torch computes.

The networks are the list `torch_list.py`: families of torchvision and timm, modules of nn, alone and shared, tied weights,
functions. Each is traced, converted by the program of the package pnnx, and computed by `run`, from the model of NNEF
that we write of it, and from that of ONNX by onnxruntime. A network is complete if all of them give the numbers of torch.
Where ours do not, the program of torch that pnnx writes beside its file tells whether the file itself is wrong.

It runs by hand, since torch is large. Needs torch, torchvision, timm, pnnx, numpy, and onnxruntime for ONNX.

    python3 tests/interop/torch_networks.py --bin target/release/nnef-flatten --folder FOLDER --only resnet
"""

import argparse
import collections
import concurrent.futures
import contextlib
import importlib.util
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import warnings
import zlib

import numpy
import torch

import torch_list
from pnnx_converter import converter
from pnnx_models import names_of_inputs

#: Verdicts, the complete one first.
EQUAL, WRONG, REFUSED, PNNX, TORCH = "equal", "WRONG", "refused", "pnnx failed", "torch failed"
#: Seconds for a program, and for torch.
LIMIT = 300
#: Runs the program that pnnx wrote, in the folder of its files.
OF_PNNX = """
import sys
sys.path.insert(0, ".")
import numpy, torch, model_pnnx
given = numpy.load("given.npz")
with torch.no_grad():
    found = model_pnnx.Model().eval()(*[torch.from_numpy(given[f"i{k}"]) for k in range(len(given.files))])
torch.save(found, "found.pt")
"""


def call(*command, cwd=None):
    """Runs a program for a limited time; one that takes longer has the status 124."""
    command = [str(word) for word in command]
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=cwd, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"more than {LIMIT} s")


@contextlib.contextmanager
def limited():
    """Ends what torch does after some time."""

    def stop(*_):
        raise TimeoutError(f"more than {LIMIT} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def leaves(value):
    """The tensors of nested results, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    value = value.values() if isinstance(value, dict) else value
    return [leaf for item in value if item is not None for leaf in leaves(item)]


def tensors(value):
    """The arrays of nested results, in order; complex numbers as pairs."""
    pairs = [torch.view_as_real(leaf.resolve_conj()) if leaf.is_complex() else leaf for leaf in leaves(value)]
    return [leaf.detach().numpy() for leaf in pairs]


class Flat(torch.nn.Module):
    """A network whose results are a tuple."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *inputs):
        return tuple(leaves(self.inner(*inputs)))


def unsettled(network):
    """Gives other values to parameters and statistics that are all alike, such as those of new norms."""
    with torch.no_grad():
        for name, tensor in [*network.named_parameters(), *network.named_buffers()]:
            if not tensor.is_floating_point() or tensor.numel() == 0 or tensor.min() != tensor.max():
                continue
            if name.endswith("running_var"):
                tensor.uniform_(0.5, 1.5)
            elif tensor.numel() > 1 or tensor.item() in (0.0, 1.0):
                tensor.add_(torch.randn(tensor.shape) * 0.2)
    return network


def differs(found, wanted):
    """How lists of arrays differ; none if they do not."""
    if len(found) != len(wanted):
        return f"{len(found)} outputs, not {len(wanted)}"
    for number, (one, other) in enumerate(zip(found, wanted)):
        one, other = numpy.asarray(one, dtype=float), numpy.asarray(other, dtype=float)
        if one.shape != other.shape:
            return f"output {number} has the shape {one.shape}, not {other.shape}"
        size = abs(other[numpy.isfinite(other)]).max(initial=0)
        if not numpy.allclose(one, other, rtol=1e-3, atol=2e-4 * min(size, 1) + 1e-5 * size, equal_nan=True):
            with numpy.errstate(invalid="ignore"):
                return f"output {number} differs by {numpy.nanmax(abs(one - other)):.2g} where it is up to {size:.2g}"
    return None


def told(run):
    """The findings of a run: codes and messages."""
    lines = [line for line in run.stderr.splitlines() if line.startswith("{")]
    found = [json.loads(line) for line in lines]
    return [(each["code"], each["message"]) for each in found]


def reason(run):
    """Why a run refuses a model: what is passed through, or its first error."""
    found = told(run)
    passed = list(dict.fromkeys(message for code, message in found if code == "E2226"))
    first = [f"E2226 {'; '.join(passed)}"] if passed else [f"{code} {message}" for code, message in found]
    return (first or [f"exit {run.returncode}: {run.stderr[-300:]}"])[0]


class Trial:
    """A network in a folder, with what the programs make of it."""

    def __init__(self, program, name, make, inputs, folder, level):
        self.program, self.name, self.folder, self.level = program, name, folder, level
        self.make, self.spec = make, inputs

    def prepare(self):
        """Traces the network; returns what torch computes."""
        torch.manual_seed(zlib.crc32(self.name.encode()))
        network = Flat(unsettled(self.make().eval()))
        self.inputs = [torch.randn(x) if isinstance(x, tuple) else x for x in self.spec]
        with limited(), torch.no_grad():
            wanted = tensors(network(*[x.clone() for x in self.inputs]))
            traced = torch.jit.trace(network, tuple(x.clone() for x in self.inputs), strict=False, check_trace=False)
            again = tensors(traced(*[x.clone() for x in self.inputs]))
        if difference := differs(again, wanted):
            raise ValueError(f"the trace gives something else: {difference}")
        traced.save(str(self.folder / "model.pt"))
        numpy.savez(self.folder / "given.npz", **{f"i{k}": x.numpy() for k, x in enumerate(self.inputs)})
        return wanted

    def convert(self):
        """Lets pnnx write its files; returns what is wrong with that."""
        kinds = {torch.float32: "f32", torch.int64: "i64", torch.bool: "bool"}
        shapes = ",".join(f"{list(x.shape)}{kinds[x.dtype]}".replace(" ", "") for x in self.inputs)
        run = call(converter(), "model.pt", f"inputshape={shapes}", f"optlevel={self.level}", cwd=self.folder)
        self.param = self.folder / "model.pnnx.param"
        if not self.param.exists():
            lines = [line for line in run.stderr.splitlines() if line.strip()]
            return f"exit {run.returncode}: {' '.join(lines[-2:])[-300:]}"
        return None

    def by_pnnx(self, wanted):
        """How the program that pnnx wrote differs from torch."""
        shown, why = torch_list.FAULTS_OF_PNNX.get(self.name, (None, None))
        if shown and re.search(shown, self.param.read_text()):
            return f"its file is wrong: {why}"
        if "::" in (self.folder / "model_pnnx.py").read_text():
            return "its own program has operators that are not Python"
        run = call(sys.executable, "-c", OF_PNNX, cwd=self.folder)
        if run.returncode:
            return f"its own program fails: {run.stderr.strip().splitlines()[-1][:300]}"
        difference = differs(tensors(torch.load(self.folder / "found.pt")), wanted)
        return difference and f"its own program is wrong: {difference}"

    def computed(self, path, more=()):
        """The outputs of `run` for a model, in order, or why there are none."""
        out = call(self.program, "run", path, "--inputs", self.given, "--message-format", "json", *more)
        if out.returncode:
            return None, reason(out)
        try:
            return [output["data"] for output in json.loads(out.stdout)["outputs"].values()], None
        except ValueError as error:
            return None, f"output: {error}"

    def run(self, wanted):
        """The verdict on each way, with reasons."""
        graph, more = names_of_inputs(self.program, self.param, [tuple(x.shape) for x in self.inputs])
        if graph.returncode:
            return {way: (REFUSED, reason(graph)) for way in ("run", "nnef", "onnx")}
        names = json.loads(graph.stdout)["inputs"]
        self.given = self.folder / "inputs.npz"
        numpy.savez(self.given, **{name: x.numpy() for name, x in zip(names, self.inputs)})
        return {
            "run": self.judged(*self.computed(self.param, more), wanted),
            "nnef": self.by_nnef(wanted, more),
            "onnx": self.by_onnx(wanted, more, names),
        }

    @staticmethod
    def judged(found, why, wanted):
        if found is None:
            return REFUSED, why
        difference = differs(found, wanted)
        return (WRONG, difference) if difference else (EQUAL, "")

    def written(self, path, more):
        """Why a model is not written whole; none if it is."""
        shutil.rmtree(path, ignore_errors=True)
        target = f"{path}/" if path.suffix != ".onnx" else path
        out = call(self.program, self.param, "--lower", "all", "-o", target, "--message-format", "json", *more)
        left = [message for code, message in told(out) if code == "E2226"]
        return reason(out) if out.returncode or left else None

    def by_nnef(self, wanted, more):
        path = self.folder / "whole"
        why = self.written(path, more)
        return (REFUSED, why) if why else self.judged(*self.computed(path), wanted)

    def by_onnx(self, wanted, more, names):
        path = self.folder / "whole.onnx"
        if why := self.written(path, more):
            return REFUSED, why
        if importlib.util.find_spec("onnxruntime") is None:
            return EQUAL, "onnxruntime is not installed"
        import onnxruntime

        try:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            options.log_severity_level = 3
            session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            found = session.run(None, dict(zip(names, (x.numpy() for x in self.inputs))))
        except Exception as error:
            return WRONG, f"onnxruntime: {str(error)[:300]}"
        return self.judged(found, None, wanted)

    def verdict(self):
        """The verdict, with the ways that lead to it and reasons."""
        try:
            wanted = self.prepare()
        except Exception as error:
            return TORCH, {"torch": (TORCH, f"{type(error).__name__}: {str(error)[-300:]}")}
        if why := self.convert():
            return PNNX, {"pnnx": (PNNX, why)}
        ways = self.run(wanted)
        verdicts = [verdict for verdict, _ in ways.values()]
        if all(verdict == EQUAL for verdict in verdicts):
            return EQUAL, ways
        # Numbers that pnnx's own program gets wrong, too, are in its file.
        own = self.by_pnnx(wanted)
        ways["pnnx"] = (PNNX, own) if own else (EQUAL, "")
        if own and " is wrong: " in own and ways["run"][0] != EQUAL:
            return PNNX, ways
        return WRONG if WRONG in verdicts else REFUSED, ways


def judge(job):
    """The verdict on one network of the list."""
    options, group, number = job
    name, make, inputs = torch_list.GROUPS[group][number]
    name = f"{group}.{name}"
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    folder = options.folder / re.sub(r"\W", "_", name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    trial = Trial(options.bin, name, make, inputs, folder, options.level)
    found = trial.verdict()
    if not options.keep and found[0] == EQUAL:
        shutil.rmtree(folder)
    return name, *found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--folder", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--only", action="append", help="networks whose names match, or a file with names; repeatable")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--level", type=int, default=2, help="optlevel of pnnx")
    parser.add_argument("--keep", action="store_true", help="keep the files of all networks, not only of those with faults")
    parser.add_argument("--report", type=pathlib.Path, help="write verdicts and reasons as JSON")
    options = parser.parse_args()
    rows = [(group, k, f"{group}.{row[0]}") for group, rows in torch_list.GROUPS.items() for k, row in enumerate(rows)]
    if options.only:
        listed = {name for text in options.only if os.path.isfile(text) for name in pathlib.Path(text).read_text().split()}
        patterns = [text for text in options.only if not os.path.isfile(text)]
        rows = [row for row in rows if row[2] in listed or any(re.search(text, row[2]) for text in patterns)]
        if not rows:
            parser.error("--only names no network")
    if importlib.util.find_spec("onnxruntime") is None:
        print("skipped: no package onnxruntime, so models of ONNX are written and not run")
    report, counts = {}, collections.Counter()
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(options.jobs, context) as pool:
        for name, verdict, ways in pool.map(judge, [(options, group, k) for group, k, _ in rows]):
            counts[verdict] += 1
            report[name] = (verdict, ways)
            why = "; ".join(f"{way}: {text}" for way, (_, text) in ways.items() if text)
            print(f"{name}: {verdict}{' — ' if why and verdict != EQUAL else ''}{why if verdict != EQUAL else ''}", flush=True)
    if options.report:
        options.report.write_text(json.dumps(report, indent=1))
    ours = counts[EQUAL] + counts[WRONG] + counts[REFUSED]
    for way in ("run", "nnef", "onnx"):
        each = collections.Counter(ways[way][0] for _, ways in report.values() if way in ways)
        print(f"{way}: {', '.join(f'{count} {verdict}' for verdict, count in each.most_common())}")
    print(f"{len(rows)} networks: {', '.join(f'{count} {verdict}' for verdict, count in counts.most_common())}")
    print(f"complete {100 * counts[EQUAL] / max(ours, 1):.1f} % of the {ours} that pnnx converts, wrong {counts[WRONG]}")
    return 1 if counts[WRONG] or not counts[EQUAL] else 0


if __name__ == "__main__":
    sys.exit(main())
