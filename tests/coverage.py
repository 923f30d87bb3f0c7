#!/usr/bin/env python3
"""Measures which lines of the library the tests reach; prints a Markdown table by folder.

    python3 tests/coverage.py [--files FILE]

Runs `cargo test` with instrumentation of this package only, so that its dependencies are those of other
builds. Fails if the tests reach a smaller part of the lines than tests/coverage.txt says, less a tenth of a percent. Needs the
component llvm-tools; exits with status 3 without it. Tests that fail are only named: with instrumentation, limits of time are
exceeded. Documentation tests are not counted. With --files, the lines of each file are written to FILE: how many are not
reached, of how many, most first.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST = ROOT / "tests" / "coverage.txt"
TEST = ["cargo", "test"]
# Percent by which a run may reach less than the one before: some tests depend on time.
SLACK = 0.1


def output(*command, **options):
    """What a command writes."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, **options).stdout


def tools():
    """The folder of the tools of LLVM that come with the compiler; none if they are not installed."""
    sysroot = pathlib.Path(output("rustc", "--print", "sysroot").strip())
    host = next(line.split(": ")[1] for line in output("rustc", "-vV").splitlines() if line.startswith("host: "))
    folder = sysroot / "lib" / "rustlib" / host / "bin"
    return folder if (folder / "llvm-cov").exists() and (folder / "llvm-profdata").exists() else None


def executables(environment):
    """The programs that `cargo test` builds."""
    messages = output(*TEST, "--no-run", "--message-format=json-render-diagnostics", env=environment)
    found = (json.loads(line).get("executable") for line in messages.splitlines() if line.startswith("{"))
    return [path for path in found if path]


def measured(folder, programs, counts):
    """The lines of each file of `src` but those of tests: how many are reached, of how many."""
    objects = [part for program in programs[1:] for part in ("-object", program)]
    command = [folder / "llvm-cov", "export", "-summary-only", f"-instr-profile={counts}", programs[0], *objects]
    source = str(ROOT / "src") + os.sep
    files = {}
    for file in json.loads(output(*command))["data"][0]["files"]:
        name = file["filename"].removeprefix(source)
        if name != file["filename"] and "tests/" not in name and not name.endswith("tests.rs"):
            lines = file["summary"]["lines"]
            files[name] = (lines["covered"], lines["count"])
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", help="the file for the lines of each file")
    options = parser.parse_args()
    folder = tools()
    if folder is None:
        print("the component llvm-tools is not installed", file=sys.stderr)
        return 3
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    raw = target / "coverage"
    raw.mkdir(parents=True, exist_ok=True)
    for old in raw.iterdir():
        old.unlink()
    # Processes that end add their counts to one of a few files.
    environment = {
        **os.environ,
        "RUSTC_WORKSPACE_WRAPPER": str(ROOT / "tests" / "coverage-rustc"),
        "LLVM_PROFILE_FILE": str(raw / "%4m.profraw"),
    }
    programs = executables(environment)
    # The program of tests that need speed: that of other builds has no counters.
    own = target / "coverage-fast"
    subprocess.run(["cargo", "build", "--profile", "fast", "--target-dir", own], env=environment, cwd=ROOT, check=True)
    programs.append(str(own / "fast" / "nnef-flatten"))
    environment["NNEF_FLATTEN_BIN"] = programs[-1]
    subprocess.run([*TEST, "--no-fail-fast"], env=environment, cwd=ROOT, check=False)
    counts = raw / "all.profdata"
    subprocess.run([folder / "llvm-profdata", "merge", "--sparse", "-o", counts, *raw.glob("*.profraw")], check=True)
    files = measured(folder, programs, counts)
    folders = collections.defaultdict(lambda: [0, 0])
    for name, (covered, count) in files.items():
        for part in (name.split("/")[0].removesuffix(".rs"), "all"):
            folders[part][0] += covered
            folders[part][1] += count
    print("| folder | lines | reached |\n|---|---|---|")
    for part, (covered, count) in sorted(folders.items(), key=lambda entry: (entry[0] == "all", entry[0])):
        print(f"| {part} | {count} | {100 * covered / max(count, 1):.1f} % |")
    if options.files:
        missing = sorted((covered - count, count, name) for name, (covered, count) in files.items())
        with open(options.files, "w", encoding="utf-8") as out:
            out.writelines(f"{-left} {count} {name}\n" for left, count, name in missing)
    reached, least = 100 * folders["all"][0] / max(folders["all"][1], 1), float(LEAST.read_text(encoding="utf-8"))
    print(f"{reached:.2f} % of the lines are reached, {least:.2f} % at the last count")
    return int(reached < least - SLACK)


if __name__ == "__main__":
    sys.exit(main())
