#!/usr/bin/env python3
"""Makes single calls of the system fail while results are written, and looks at what is there afterwards.

    python3 tests/interop/faults.py --bin target/release/nnef-flatten [--most 40] [--only NAME] [--table]

Four results are written (a text, a folder, an archive, a model of ONNX with its data), each where nothing is and where an
older result is. In each run one write, open, rename or sync fails (EINTR, EIO, ENOSPC, half a write) or kills the process;
or the whole call has a limit on the size of files, a full disk, or little memory. Afterwards the result is the new one with
exit status 0, or nothing has changed and the exit status is 2 (1 where a limit of the program itself refuses the input);
nothing else lies beside it, but for what a killed process leaves. Needs Linux and a C compiler; prints `skipped` without.
--table prints the rows of docs/testing.md.
"""

import argparse
import errno
import hashlib
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODEL = str(HERE.parent.parent / "examples" / "model")
#: The results, and the arguments that make them.
RESULTS = {
    "text": ("flat.nnef", [MODEL + "/graph.nnef"]),
    "folder": ("flat/", [MODEL]),
    "archive": ("flat.tgz", [MODEL]),
    "model of ONNX": ("flat.onnx", [MODEL]),
}
KINDS = {"EINTR": errno.EINTR, "EIO": errno.EIO, "ENOSPC": errno.ENOSPC, "half a write": "short", "kill": "kill"}
CALLS = ("write", "open", "rename", "sync")


def digest(path):
    """What is at a path: a digest of names and bytes, or none."""
    path = pathlib.Path(path)
    if not path.exists():
        return None
    files = sorted(part for part in path.rglob("*") if part.is_file()) if path.is_dir() else [path]
    sums = hashlib.sha256()
    for file in files:
        sums.update(str(file.relative_to(path)).encode() + b"\0" + file.read_bytes())
    return sums.hexdigest()


class Trial:
    """A call in an empty folder, perhaps with an older result."""

    def __init__(self, program, result, older, folder, environment=(), limits=None):
        self.program, self.limits = program, limits
        self.target, self.arguments = RESULTS[result]
        self.folder, self.environment = pathlib.Path(folder), dict(environment)
        if older:
            self.write_older()
        self.before = digest(self.path())

    def path(self):
        return self.folder / self.target

    def output(self):
        """The path as an argument: a folder is asked for by the slash at its end, which `Path` drops."""
        return os.path.join(self.folder, self.target)

    def write_older(self):
        """A whole result of another document, so that it may be replaced."""
        source = self.folder / "older"
        shutil.copytree(MODEL, source)
        graph = source / "graph.nnef"
        graph.write_text(graph.read_text(encoding="utf-8") + "\n# older\n", encoding="utf-8")
        subprocess.run([self.program, "-q", "--to" if self.target == "flat.nnef" else "--allow",
                        "json" if self.target == "flat.nnef" else "all", str(graph if self.target == "flat.nnef" else source),
                        "-o", self.output()], check=False, capture_output=True)
        shutil.rmtree(source)

    def run(self):
        return subprocess.run([self.program, "-q", *self.arguments, "-o", self.output()],
                              capture_output=True, text=True, timeout=60, preexec_fn=self.limits,
                              env=dict(os.environ, RUST_BACKTRACE="0", **self.environment))

    def others(self):
        return sorted(part.name for part in self.folder.iterdir() if part != self.path())

    def wrong(self, done, right, killed):
        """What is wrong after the call; none if all is well."""
        now = digest(self.path())
        if done.returncode == 0 and now != right:
            return "exit status 0, but the result is not whole"
        if done.returncode != 0 and now not in (self.before, right if killed else self.before):
            return "exit status %d, and the result is not what it was" % done.returncode
        if done.returncode not in (0, 1, 2) and not (killed and done.returncode == -9):
            return "exit status %d: %s" % (done.returncode, done.stderr.strip()[-120:])
        if self.others() and not killed:
            return "left behind: %s" % ", ".join(self.others())
        if done.returncode and not killed and not done.stderr.strip():
            return "no message"
        return None


class Table:
    """Counts of runs by row: whole results, unchanged ones, and what is wrong."""

    def __init__(self):
        self.rows, self.wrong = {}, []

    def add(self, row, result, done, why, where):
        counts = self.rows.setdefault((row, result), [0, 0, 0])
        counts[0 if done.returncode == 0 else 1] += 1
        if why:
            counts[2] += 1
            self.wrong.append("%s, %s, %s: %s" % (row, result, where, why))

    def print(self, as_table):
        for (row, result), (whole, unchanged, wrong) in self.rows.items():
            form = "| %s | %s | %d | %d | %d |" if as_table else "%-28s %-14s whole %4d  unchanged %4d  wrong %d"
            print(form % (row, result, whole, unchanged, wrong))


def trial(options, table, row, result, right, where, environment=(), limits=None, killed=False, disk=None):
    for older in (False, True):
        with tempfile.TemporaryDirectory(dir=disk) as folder:
            made = Trial(options.bin, result, older, folder, environment, limits)
            done = made.run()
            table.add(row, result, done, made.wrong(done, right, killed), "%s%s" % (where, ", over an older one" if older else ""))


def single_calls(options, table, result, right, library):
    """Each call of a kind fails in turn."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        with tempfile.TemporaryDirectory() as empty:
            Trial(options.bin, result, False, empty, {"LD_PRELOAD": library, "FAULT_LOG": log}).run()
        counts = dict(line.split() for line in open(log, encoding="utf-8"))
    for call in CALLS:
        for kind, value in KINDS.items():
            if kind == "half a write" and call != "write":
                continue
            for at in range(1, min(int(counts[call]), options.most) + 1):
                environment = {"LD_PRELOAD": library, "FAULT_CALL": call, "FAULT_AT": str(at), "FAULT_KIND": str(value)}
                trial(options, table, "%s: %s" % (call, kind), result, right, "call %d" % at, environment, killed=kind == "kill")


def limited(name, value):
    return lambda: resource.setrlimit(name, (value, value))


def whole_calls(options, table, result, right):
    """Limits that hold for a whole call."""
    for size in (0, 1, 100, 1000, 10000):
        def file_size(size=size):
            import signal
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        trial(options, table, "files of limited size", result, right, "%d bytes" % size, limits=file_size)
    # What is not the program itself: with less than 10 MiB its libraries are not loaded.
    program = -(-os.path.getsize(options.bin) // (1 << 20))
    for size in (program + more for more in (10, 16, 32, 48, 80, 112, 240)):
        limit = limited(resource.RLIMIT_AS, size << 20)
        trial(options, table, "address space of limited size", result, right, "%d MiB" % size, limits=limit)


def full_disk(options, table, rights):
    """A file system in memory without room; only root can mount it."""
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], capture_output=True).returncode:
            print("skipped: no file system of a limited size can be mounted")
            return
        try:
            for left in (0, 4096, 8192, 16384):
                filler = os.path.join(folder, "filler")
                for result, right in rights.items():
                    with open(filler, "wb") as file:
                        file.write(bytes(max(0, 65536 - left)))
                    with tempfile.TemporaryDirectory(dir=folder) as empty:
                        made = Trial(options.bin, result, False, empty)
                        done = made.run()
                        table.add("full disk", result, done, made.wrong(done, right, False), "%d bytes left" % left)
                    os.unlink(filler)
        finally:
            subprocess.run(["umount", folder], check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--most", type=int, default=40, help="at most so many calls of each kind")
    parser.add_argument("--only", default="", help="only this result")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    compiler = shutil.which("cc")
    if not sys.platform.startswith("linux") or not compiler:
        print("skipped: needs Linux and a C compiler")
        return 0
    table, rights = Table(), {}
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "faults.so")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, str(HERE / "faults.c"), "-ldl"], check=True)
        for result in RESULTS if not options.only else [options.only]:
            with tempfile.TemporaryDirectory() as empty:
                made = Trial(options.bin, result, False, empty)
                assert made.run().returncode == 0, result
                rights[result] = digest(made.path())
            single_calls(options, table, result, rights[result], library)
            whole_calls(options, table, result, rights[result])
    full_disk(options, table, rights)
    table.print(options.table)
    print("\n".join(table.wrong[:60] + ["%d runs, %d wrong" % (sum(sum(row[:2]) for row in table.rows.values()), len(table.wrong))]))
    return 1 if table.wrong or not table.rows else 0


if __name__ == "__main__":
    sys.exit(main())
