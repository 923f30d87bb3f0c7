"""Measures nnef-flatten and its peers; use bench/compare.sh, which builds what this needs."""
import argparse
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import report
from peers import setup

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STANDARD = os.path.join(ROOT, "src", "library", "std", "nnef-1.0.nnef")
PEERS = os.path.join(ROOT, "bench", "peers")
ENOUGH = 0.04  # CPU seconds after which a process stops repeating
REPETITIONS = 10  # at most, in one process
TURNS = 3  # of all sizes, for the growth fit
COLD = {10_000: 3, 100_000: 2}  # single-repetition processes per turn, up to a size; else one
SMALL = 4096  # bytes of text below which reading is not measured
PATIENT = {"flat", "biglit", "nest"}  # workloads with a longer limit for peers, since targets refer to them
MEMORY = 10 << 30  # bytes of address space that a peer may use
ORDER = ("flat", "biglit", "nest", "onefrag", "flatconv", "transformer", "resnet")  # first, while there is time


def speed():
    """The current speed of the machine: nanoseconds for a page of new memory, and MB/s of SHA-256."""
    size = 64 << 20
    start = time.process_time()
    block = b"\1" * size
    touched = time.process_time()
    hashlib.sha256(block).digest()
    hashed = time.process_time()
    page = os.sysconf("SC_PAGE_SIZE")
    return (touched - start) / (size / page) * 1e9, size / 1e6 / (hashed - touched)


def compounds(text):
    """The names of the fragments with a body."""
    found = []
    for match in re.finditer(r"^fragment (\w+)", text, re.MULTILINE):
        arrow = text.index("->", match.end())
        end = re.compile("[;{]").search(text, arrow)
        if end and end.group() == "{":
            found.append(match.group(1))
    return found


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def execute(command, seconds, limited=True):
    """The lines that a program prints, and the kind of its failure, if any."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            preexec_fn=limits if limited else None,
        )
    except subprocess.TimeoutExpired:
        return [], f"over {seconds:.0f} s"
    if done.returncode < 0:
        return [], signal.Signals(-done.returncode).name
    if done.returncode > 0:
        return done.stdout.splitlines(), "refused" if "refused" in done.stdout or done.stderr.strip() else "failed"
    return done.stdout.splitlines(), None


class Peer:
    """Another program, in one of its modes."""

    def __init__(self, key, command, kinds=None, lowers=False):
        self.key, self.command, self.kinds, self.lowers = key, command, kinds, lowers
        self.ended = {}  # (workload, mode) -> the reason not to try larger sizes
        self.last = {}  # (workload, mode) -> [(size, seconds)]

    def due(self, workload, mode, size, asked, limit):
        """Whether to try a size, extrapolating from the times of smaller ones."""
        if (self.kinds and workload not in self.kinds) or (workload, mode) in self.ended:
            return False
        points = self.last.get((workload, mode), [])
        if points and size > points[-1][0]:
            before, seconds = points[-1]
            growth = 1.0
            if len(points) > 1 and points[-1][0] > points[-2][0] and seconds > 0.01:
                growth = max(1.0, report.slope(points[-2:]))
            if seconds * (size / before) ** growth > limit:
                self.ended[workload, mode] = f"over {limit:.0f} s at {report.power(asked)}"
                return False
        return True

    def measure(self, mode, path, names, limit):
        more = [names] if self.lowers and mode == "expand" else []
        lines, wrong = execute([*self.command, mode, path, str(ENOUGH), str(REPETITIONS), *more], 1.5 * limit + 1)
        rows = [line.split() for line in lines if not wrong]
        return [(float(t), int(ops), int(kb)) for t, ops, kb in rows], wrong


class Bench:
    def __init__(self, options):
        self.options = options
        self.release = os.path.join(options.target, "release")
        self.cache = os.path.join(options.target, "bench")
        self.scratch = os.path.join(self.cache, "documents")
        shutil.rmtree(self.scratch, ignore_errors=True)
        os.makedirs(self.scratch)
        with open(STANDARD) as file:
            self.standard = compounds(file.read())
        self.versions = {}
        self.peers = [] if options.alone else self.install()
        self.deadline = time.monotonic() + 60 * options.minutes
        self.results = {"rows": [], "speed": [], "whole": [], "models": None, "blowups": []}

    def install(self):
        python, versions = setup.packages(self.cache)
        peers = []
        if "nnef" in versions:
            core = setup.khronos(self.cache)
            if core:
                self.versions["core"] = versions["nnef"]
                peers.append(Peer("core", [core], lowers=True))
            self.versions["package"] = versions["nnef"]
            peers.append(Peer("package", [python, os.path.join(PEERS, "nnef_package.py")], lowers=True))
        program, version = setup.tract(self.cache)
        if program:
            self.versions["tract"] = version
            peers.append(Peer("tract", [program]))
        if "onnx" in versions:
            self.versions["onnx"] = versions["onnx"]
            self.onnx = [python, os.path.join(PEERS, "onnx_package.py")]
            peers.append(Peer("onnx", self.onnx, kinds={"flat", "biglit", "onefrag", "nest"}))
        return peers

    def program(self, name):
        return os.path.join(self.release, name)

    def workloads(self):
        listed = [line.split("\t") for line in execute([self.program("workload")], 60, False)[0]]
        chosen = [row for row in listed if not self.options.only or row[0] in self.options.only]
        self.places = {row[0]: place for place, row in enumerate(listed)}
        rank = {name: i for i, name in enumerate(ORDER)}
        return sorted(chosen, key=lambda row: rank.get(row[0], len(rank)))

    def run(self):
        listed = self.workloads()
        for size in self.options.sizes:
            for name, family, what in listed:
                if name.startswith("infinite"):
                    if size == self.options.sizes[-1]:
                        self.endless(name)
                    continue
                print(f"{report.power(size)} {name}", file=sys.stderr, flush=True)
                self.results["speed"].append(speed())
                self.results["rows"].append(self.compare(name, family, what, size))
        for name, _, _ in listed:
            self.grow([row for row in self.results["rows"] if row["name"] == name and row["ours"]])
        self.whole()
        if self.options.models:
            self.models()
        self.results["peers"] = self.versions
        self.results["ended"] = {p.key: {" ".join(k): v for k, v in p.ended.items()} for p in self.peers}
        return self.results

    def make(self, name, size):
        path = os.path.join(self.scratch, "workload.nnef")
        told = execute([self.program("workload"), name, str(size), path], 120, False)[0][0].split()
        with open(path) as file:
            text = file.read()
        names = os.path.join(self.scratch, "names")
        with open(names, "w") as file:
            file.write("\n".join(self.standard + compounds(text)))
        return path, names, len(text.encode()), told

    def compare(self, name, family, what, size):
        path, names, length, (operations, real, _) = self.make(name, size)
        row = {"name": name, "family": family, "what": what, "place": self.places[name]}
        row |= {"asked": size, "n": int(real), "bytes": length}
        row |= {"expected": None if operations == "refused" else int(operations), "ours": None, "peers": {}}
        ours, theirs, tired = [], {}, False
        limit = self.options.limit * (6 if name in PATIENT else 1)
        for number in range(self.options.rounds):
            lines, wrong = execute([self.program("stages"), path, str(ENOUGH), str(REPETITIONS)], 120, False)
            ours += [report.fields(line) for line in lines if line.startswith("read=")]
            if wrong:
                row["ended"] = wrong
            if tired:
                continue
            slowest = 0.0
            for peer in self.peers:
                for mode in ("read", "expand"):
                    if mode == "read" and length < SMALL:
                        continue
                    slowest = max(slowest, self.ask(peer, mode, row, path, names, limit, theirs))
            tired = slowest * (number + 2) > limit / 2
        row["ours"] = report.medians(ours)
        if row["ours"] and row["ours"]["operations"] != row["expected"]:
            row["ended"] = "not the expected operations"
        for (key, mode), found in theirs.items():
            if found:
                seconds = statistics.median(f[0] for f in found)
                row["peers"].setdefault(key, {})[mode] = {"seconds": seconds, "ops": found[0][1], "kb": found[0][2]}
                peer = next(peer for peer in self.peers if peer.key == key)
                peer.last.setdefault((name, mode), []).append((int(real), seconds))
        return row

    def grow(self, rows):
        """Measures processes that do the work once, like the command. All sizes take turns, so that
        a machine that gets slower does not look like growth."""
        rows = [row for row in rows if row["asked"] >= report.FITTED]
        paths = [os.path.join(self.scratch, f"{row['asked']}.nnef") for row in rows]
        for row, path in zip(rows, paths):
            os.replace(self.make(row["name"], row["asked"])[0], path)
        found = [[] for _ in rows]
        for _ in range(TURNS):
            for row, path, into in zip(rows, paths, found):
                for _ in range(next((count for most, count in COLD.items() if row["asked"] <= most), 1)):
                    into += execute([self.program("stages"), path, "0", "1"], 120, False)[0]
        for row, path, lines in zip(rows, paths, found):
            os.remove(path)
            row["cold"] = report.medians([report.fields(line) for line in lines if line.startswith("read=")])

    def ask(self, peer, mode, row, path, names, limit, theirs):
        """Runs a peer once and returns the CPU seconds of its slowest repetition."""
        name, size = row["name"], row["n"]
        if not peer.due(name, mode, size, row["asked"], limit):
            return 0.0
        if time.monotonic() > self.deadline:
            peer.ended[name, mode] = f"no time for {report.power(row['asked'])}"
            return 0.0
        if peer.key == "onnx":
            path = f"{path}.{name}.{row['asked']}.onnx"
            if not os.path.exists(path):
                execute([*self.onnx, "make", name, str(row["asked"]), path], 60, False)
        found, wrong = peer.measure(mode, path, names, limit)
        if wrong:
            peer.ended[name, mode] = f"{wrong} at {report.power(row['asked'])}"
            return 0.0
        theirs.setdefault((peer.key, mode), []).extend(found)
        return max((f[0] for f in found), default=0.0)

    def endless(self, name):
        """Measures a document with infinite expansion: which programs refuse it, and at what cost."""
        path, names, _, _ = self.make(name, 1)
        start = time.monotonic()
        lines, wrong = execute([self.program("stages"), path, "0", "1"], 120, False)
        told = {"name": name, "ours": wrong or "accepted", "seconds": time.monotonic() - start}
        told["kb"] = int(float(report.fields(lines[-1]).get("peak", 0))) if lines else 0
        told["peers"] = {p.key: self.ending(p, path, names) for p in self.peers if not p.kinds}
        self.results["blowups"].append(told)

    def ending(self, peer, path, names):
        return peer.measure("expand", path, names, self.options.limit)[1] or "accepted"

    def command(self, path, rounds):
        """Wall-clock seconds and peak memory of the whole command; None if it refuses."""
        program = os.path.join(self.release, "nnef-flatten")
        out = os.path.join(self.scratch, "flat.nnef")
        launch = [sys.executable, os.path.join(ROOT, "bench", "launch.py"), str(rounds)]
        lines, _ = execute([*launch, program, "-q", "--lower", "all", "-o", out, path], 120, False)
        found = [line.split() for line in lines]
        if not found or any(status != "0" for _, _, status, _ in found):
            return None
        return statistics.median(float(f[0]) for f in found), max(int(f[1]) for f in found)

    def whole(self):
        for name in ("flat", "flatconv", "nest", "transformer"):
            for size in self.options.sizes:
                path, _, length, told = self.make(name, size)
                found = self.command(path, 5)
                if found:
                    row = {"name": name, "asked": size, "bytes": length, "ops": int(told[0])}
                    self.results["whole"].append(row | {"seconds": found[0], "kb": found[1]})

    def models(self):
        paths = [os.path.join(d, "graph.nnef") for d, _, files in os.walk(self.options.models) if "graph.nnef" in files]
        found = []
        for path in sorted(paths):
            taken = self.command(path, 5)
            name = os.path.basename(os.path.dirname(path))
            found.append({"name": name, "bytes": os.path.getsize(path), "seconds": taken and taken[0]})
        if not found:
            setup.say("skipped: no models there")
        self.results["models"] = found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True, help="cargo's target folder; set by compare.sh")
    parser.add_argument("--sizes", default="1e3,1e4,1e5,1e6", help="sizes, ascending")
    parser.add_argument("--only", default="", help="workloads to measure, separated by commas")
    parser.add_argument("--rounds", type=int, default=3, help="turns of all programs per document")
    parser.add_argument("--limit", type=float, default=5, help="CPU seconds that a peer may take for a document")
    parser.add_argument("--minutes", type=float, default=13, help="minutes after which no peer is started")
    parser.add_argument("--models", default="", help="folder with real models")
    parser.add_argument("--alone", action="store_true", help="measure no peers")
    parser.add_argument("--update", action="store_true", help="write the tables into docs/performance.md")
    parser.add_argument("--report", default="", help="print only the tables for this results file of an earlier run")
    options = parser.parse_args()
    options.target = os.path.abspath(options.target)
    options.sizes = sorted(int(float(size)) for size in options.sizes.split(","))
    options.only = set(filter(None, options.only.split(",")))
    return options


def main():
    options = arguments()
    if options.report:
        with open(options.report) as file:
            results = json.load(file)
    else:
        bench = Bench(options)
        try:
            results = bench.run()
        finally:
            # The results of an interrupted run are kept for --report.
            with open(os.path.join(options.target, "bench", "results.json"), "w") as file:
                json.dump(bench.results, file, indent=1)
    tables = report.markdown(results)
    print(tables)
    if options.update:
        report.update(os.path.join(ROOT, "docs", "performance.md"), tables)


main()
