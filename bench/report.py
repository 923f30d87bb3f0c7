"""Markdown tables from the results of a comparison."""
import math
import os
import platform
import statistics
import subprocess

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
FITTED = 10_000  # the smallest size in growth fits
GROWTH = ("growth", "growth, repeated")
EXPANDING = ("Fragments", "Recursion", "Comprehensions")
TITLES = {"core": "Khronos' C++", "package": "PyPI nnef", "tract": "tract", "onnx": "PyPI onnx"}


def fields(line):
    return {key: float(value) for key, _, value in (word.partition("=") for word in line.split()) if value}


def medians(rows):
    """Median times; the memory of the first repetition of the first process."""
    if not rows:
        return None
    times = {key: statistics.median(row[key] for row in rows) for key in ("read", "check", "expand", "write")}
    return rows[0] | times


def slope(points):
    """The slope of log(time) over log(size), by least squares."""
    logs = [(math.log(size), math.log(max(seconds, 1e-9))) for size, seconds in points]
    x, y = (statistics.fmean(axis) for axis in zip(*logs))
    spread = sum((a - x) ** 2 for a, _ in logs)
    return sum((a - x) * (b - y) for a, b in logs) / spread if spread else 0.0


def power(size):
    mantissa, _, exponent = f"{size:.2e}".partition("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def short(value):
    return "–" if value is None else f"{value:.0f}" if value >= 99.5 else f"{value:.3g}"


def line(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def table(head, rows):
    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])


class Results:
    def __init__(self, results):
        self.results = results
        self.sizes = sorted({row["asked"] for row in results["rows"]})
        self.rows = {(row["name"], row["asked"]): row for row in results["rows"]}
        self.names = list(dict.fromkeys(row["name"] for row in sorted(results["rows"], key=lambda r: r["place"])))
        self.peers = [key for key in TITLES if key in results["peers"]]

    def of(self, name):
        return [self.rows[name, size] for size in self.sizes if self.rows[name, size]["ours"]]

    def fit(self, name, stage, runs="cold"):
        """The growth exponent of a stage, from the times above the noise."""
        rows = [row for row in self.of(name) if row["asked"] >= FITTED and row.get(runs)]
        points = [(row["n"], row[runs][stage]) for row in rows if row[runs][stage] >= 2e-4]
        return slope(points) if len(points) > 1 else None

    def ours(self, row, mode):
        return row["ours"]["read"] + (row["ours"]["expand"] if mode == "expand" else 0)

    def ratios(self, name, key, mode):
        """Size and ratio for each size at which the peer has a result."""
        rows = [(row, row["peers"].get(key, {}).get(mode)) for row in self.of(name)]
        return [(row["asked"], peer["seconds"] / self.ours(row, mode)) for row, peer in rows if peer]

    def beside(self, name, key, mode):
        """The smallest and largest ratio of a peer's time to that of nnef-flatten, and where the peer failed."""
        ratios = [ratio for _, ratio in self.ratios(name, key, mode)]
        ended = self.results["ended"].get(key, {}).get(f"{name} {mode}")
        low, high = (min(ratios), max(ratios)) if ratios else (None, None)
        span = [] if not ratios else [short(low) if short(low) == short(high) else f"{short(low)}–{short(high)}"]
        return "; ".join(span + ([ended] if ended else [])) or "–"


def rate(row):
    """Operations per second of expansion, or items if the result has few operations."""
    return max(row["ours"]["operations"], row["n"]) / row["ours"]["expand"]


def added(row):
    """The bytes per operation that expansion adds to the peak."""
    return (row["ours"]["after_expand"] - row["ours"]["after_read"]) * 1024 / max(1, row["ours"]["operations"])


def growth(r, name, stage):
    """The exponents of runs in separate processes, and of runs repeated in one process."""
    return [short(r.fit(name, stage)), short(r.fit(name, stage, "ours"))]


def reading(r):
    rows = []
    for name in r.names:
        of = [row for row in r.of(name) if row["bytes"] >= 4096]
        if not of:
            continue
        by = {row["asked"]: f"{row['bytes'] / row['ours']['read'] / 1e6:.0f}" for row in of}
        peak = of[-1]["ours"]["after_read"] / 1024
        cells = [f"{of[-1]['bytes'] / 1e6:.3g}", *(by.get(size, "–") for size in r.sizes)]
        cells += [*growth(r, name, "read"), f"{peak:.0f}"]
        rows.append([name, *cells, *(r.beside(name, key, "read") for key in r.peers)])
    head = ["workload", "text, MB", *(f"MB/s at {power(size)}" for size in r.sizes), *GROWTH, "peak, MB"]
    return table(head + [f"× {TITLES[key]}" for key in r.peers], rows)


def expanding(r):
    rows = []
    for name in r.names:
        of = r.of(name)
        if not of:
            continue
        by = {row["asked"]: f"{rate(row) / 1e6:.2f}" for row in of}
        large = of[-1]["ours"]["operations"] >= 10_000
        peak = f"{of[-1]['ours']['after_expand'] / 1024:.0f}"
        cells = [*(by.get(size, "–") for size in r.sizes), *growth(r, name, "expand")]
        cells += [f"{added(of[-1]):.0f}" if large else "–", peak]
        rows.append([name, *cells, *(r.beside(name, key, "expand") for key in r.peers)])
    head = ["workload", *(f"M/s at {power(size)}" for size in r.sizes), *GROWTH, "bytes an operation", "peak, MB"]
    return table(head + [f"× {TITLES[key]}" for key in r.peers], rows)


def stages(r):
    rows = []
    for name in r.names:
        for row in r.of(name)[-1:]:
            cells = [f"{row['ours'][stage] * 1000:.1f}" for stage in ("read", "check", "expand", "write")]
            rows.append([name, power(row["asked"]), f"{row['ours']['operations']:.0f}", *cells])
    return table(["workload", "size", "operations", "read, ms", "check, ms", "expand, ms", "write, ms"], rows)


def others(r):
    """The figures of the peers, at the largest size with a result."""
    rows = []
    for name in r.names:
        for mode in ("read", "expand"):
            cells = []
            for key in r.peers:
                found = [(row, row["peers"].get(key, {}).get(mode)) for row in r.of(name)]
                found = [(row, peer) for row, peer in found if peer]
                points = [(row["n"], peer["seconds"]) for row, peer in found if row["asked"] >= FITTED]
                growth = f", growth {slope(points):.2f}" if len(points) > 1 else ""
                text = "–"
                for row, peer in found[-1:]:
                    text = f"{power(row['asked'])}: {peer['seconds'] * 1000:.3g} ms, {peer['kb'] / 1024:.0f} MB{growth}"
                cells.append(text)
            if set(cells) != {"–"}:
                rows.append([name, mode, *cells])
    return table(["workload", "mode", *(TITLES[key] for key in r.peers)], rows)


def whole(r):
    rows = []
    for row in r.results["whole"]:
        memory = row["kb"] * 1024 / row["bytes"]
        cells = [f"{row['seconds'] * 1000:.1f}", f"{row['bytes'] / row['seconds'] / 1e6:.1f}"]
        cells += [f"{row['ops'] / row['seconds'] / 1e6:.2f}", f"{row['kb'] / 1024:.0f}"]
        rows.append([row["name"], power(row["asked"]), *cells, f"{memory:.1f}" if row["bytes"] > 2e6 else "–"])
    return table(["workload", "size", "wall, ms", "MB/s", "M operations/s", "peak, MB", "peak / text"], rows)


def blowups(r):
    rows = []
    for b in r.results["blowups"]:
        ours = f"{b['ours']}, {b['seconds']:.2f} s, {b['kb'] / 1024:.0f} MB"
        rows.append([b["name"], ours, *(b["peers"].get(key, "–") for key in r.peers)])
    return table(["document", "nnef-flatten", *(TITLES[key] for key in r.peers)], rows)


class Targets:
    """Targets, measurements, and whether the targets are met."""

    def __init__(self, r):
        self.r, self.rows = r, []

    def add(self, what, wanted, measured, met, note=""):
        self.rows.append([what, wanted, "not measured" if measured is None else measured + note, met])

    def least(self, what, found, bound, unit):
        """A target: every value of the pairs (value, where) is at least `bound`."""
        found = list(found)
        worst, where = min(found, default=(None, None))
        met = "–" if worst is None else "yes" if worst >= bound else "no"
        less = sum(value < bound for value, _ in found)
        note = f"; below in {less} of {len(found)}" if less else ""
        measured = None if worst is None else f"{short(worst)} ({where})"
        self.add(what, f"≥ {bound} {unit}", measured, met, note)

    def most(self, what, found, bound, unit):
        found = list(found)
        worst, where = max(found, default=(None, None))
        met = "–" if worst is None else "yes" if worst <= bound else "no"
        more = sum(value > bound for value, _ in found)
        note = f"; above in {more} of {len(found)}" if more else ""
        measured = None if worst is None else f"{short(worst)} ({where})"
        self.add(what, f"≤ {bound} {unit}".strip(), measured, met, note)


def reading_targets(t):
    r = t.r
    large = [row for row in r.results["rows"] if row["name"] == "flat" and row["asked"] >= 100_000 and row["ours"]]
    speed = lambda row: row["bytes"] / row["ours"]["read"] / 1e6
    t.least("reading flat, 1e5 and 1e6", [(speed(row), power(row["asked"])) for row in large], 100, "MB/s")
    rows = [row for row in r.of("biglit") if row["asked"] >= 100_000] if "biglit" in r.names else []
    t.least("reading biglit", [(speed(row), power(row["asked"])) for row in rows], 150, "MB/s")
    flat = [row for row in r.results["whole"] if row["name"] == "flat" and row["asked"] >= 1_000_000]
    t.least("whole command, flat of 1e6", [(row["bytes"] / row["seconds"] / 1e6, "flat") for row in flat], 40, "MB/s")
    t.most("its peak memory", [(row["kb"] * 1024 / row["bytes"], "flat") for row in flat], 8, "× text")


def expanding_targets(t):
    r = t.r
    of = [row for row in r.results["rows"] if row["family"] in EXPANDING and row["asked"] >= 100_000 and row["ours"]]
    some = [row for row in of if row["family"] != "Fragments" or row["name"] == "nest"]
    at = lambda row: f"{row['name']} {power(row['asked'])}"
    t.least("expanding: nest, recursion, comprehensions", [(rate(row) / 1e6, at(row)) for row in some], 4, "M/s")
    for key, bound in (("package", 10), ("core", 8)):
        for stage, done in (("read", "reading"), ("expand", "reading and expanding")):
            found = [(ratio, f"{n} {power(size)}") for n in r.names for size, ratio in r.ratios(n, key, stage)]
            t.least(f"{done} beside {TITLES[key]}, every workload", found, bound, "×")
    for runs, told in (("cold", "a process for each run"), ("ours", "runs repeated in one process")):
        found = [(r.fit(name, stage, runs), f"{name}, {stage}") for name in r.names for stage in ("read", "expand")]
        t.most(f"growth exponent, every workload, {told}", [it for it in found if it[0] is not None], 1.05, "")
    many = [row for row in of if row["ours"]["operations"] >= 100_000]
    t.most("memory of expanding, an operation", [(added(row), at(row)) for row in many], 300, "bytes")
    million = [row for row in r.results["rows"] if row["asked"] == 1_000_000 and row["ours"]]
    deep = [row for row in million if row["family"] in ("Recursion", "Expressions")]
    total = lambda row: sum(row["ours"][stage] for stage in ("read", "expand", "write"))
    t.most("recursion and chains of 1e6", [(total(row), row["name"]) for row in deep], 1, "s")
    t.most("their peak memory", [(row["ours"]["after_write"] / 2**20, row["name"]) for row in deep], 1, "GB")
    models = [m for m in r.results["models"] or [] if m["seconds"] and m["bytes"] < 100_000]
    t.most("small real models, whole command", [(m["seconds"] * 1000, m["name"]) for m in models], 10, "ms")


def models(r):
    found = r.results["models"]
    if not found:
        return "No folder of real models was given."
    done = [m for m in found if m["seconds"]]
    times = sorted(m["seconds"] * 1000 for m in done)
    if not times:
        return f"None of {len(found)} real models is flattened."
    text = f"Of {len(found)} real models {len(done)} are flattened"
    return f"{text}: median {statistics.median(times):.1f} ms, slowest {times[-1]:.1f} ms, wall clock of the command."


def machine():
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            processor = next(l.split(":")[1].strip() for l in file if l.startswith("model name"))
    except (OSError, StopIteration):
        pass
    rust = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.split()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    compiler = f"rustc {rust[1]}" if len(rust) > 1 else "rustc"
    return f"{os.cpu_count()} cores of {processor}, {memory:.0f} GB, {platform.system()}; {compiler}"


def speed(found):
    """The speed of the machine during the run, for comparing different runs."""
    if not found:
        return ""
    page, digest = (statistics.median(values) for values in zip(*found))
    return f"During the run: {page / 1000:.2f} µs for a page of new memory, {digest:.0f} MB/s of SHA-256 (medians of {len(found)})."


def markdown(results):
    r = Results(results)
    targets = Targets(r)
    reading_targets(targets)
    expanding_targets(targets)
    versions = ", ".join(f"{TITLES[key]} {version}" for key, version in results["peers"].items()) or "none"
    parts = [
        f"Machine: {machine()}. Peers: {versions}.",
        speed(results.get("speed", [])),
        "### Targets",
        table(["what", "target", "measured, worst", "met"], targets.rows),
        "### Reading",
        reading(r),
        "### Expanding",
        expanding(r),
        "### The whole command",
        whole(r),
        models(r),
        "### Endless documents",
        blowups(r),
        "### Stages at the largest size",
        stages(r),
        "### The peers at their largest size",
        others(r),
    ]
    failed = [f"{row['name']} at {power(row['asked'])}: {row['ended']}" for row in results["rows"] if row.get("ended")]
    if failed:
        parts.insert(1, "Where nnef-flatten fails: " + "; ".join(failed) + ".")
    return "\n\n".join(parts) + "\n"


def update(path, tables):
    with open(path) as file:
        before, rest = file.read().split(BEGIN)
    with open(path, "w") as file:
        file.write(f"{before}{BEGIN}\n\n{tables}\n{END}{rest.split(END)[1]}")
