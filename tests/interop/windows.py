#!/usr/bin/env python3
"""Calls the program for Windows as a user there does, and compares with the program for this system.

    python3 tests/interop/windows.py --bin target/x86_64-pc-windows-gnu/fast/nnef-flatten.exe [--twin PROGRAM] [--wine wine]

Each call is made by both programs in folders of their own with the same files: exit status, standard output, messages and the
files that are there afterwards have to be the same, but for the separators of paths, the ends of lines in messages of the
system, and times in archives. Paths are written in the ways of Windows where a call says so. Exit status 0 when all agree, 1
when some differ, 3 when there is no wine, or no compiler for Windows.

Versions of wine before 9 lack the library that Rust's hash maps get random numbers from: one of a few lines is put beside
the program.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"
RANDOM = """
#include <stddef.h>
int __stdcall SystemFunction036(void *to, unsigned long count); /* RtlGenRandom of advapi32 */
__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *to, size_t count) { return SystemFunction036(to, count); }
"""
COMPILER = "x86_64-w64-mingw32-gcc"

# What a call is: its arguments, with `/` in paths; then the file that standard input is read from, if any. A path that has
# `\\` is written so for Windows, and with `/` for the twin.
CALLS = [
    (["--version"], None),
    (["--help"], None),
    (["repeat.nnef"], None),
    (["-"], "repeat.nnef"),
    (["-", "-o", "-"], "repeat.nnef"),
    (["repeat.nnef", "-o", "out.nnef"], None),
    (["out.nnef", "-o", "out.nnef"], None),
    (["repeat.nnef", "-o", r"deep\folder\out.nnef"], None),
    (["repeat.nnef", "-o", r"folder\out.nnef"], None),
    ([r".\folder\out.nnef"], None),
    (["model", "-o", "copy/"], None),
    (["model", "-o", "copy/"], None),
    ([r"copy\graph.nnef"], None),
    (["model", "-o", "model.tgz"], None),
    (["model", "-o", "model.tar"], None),
    (["model.tgz", "-o", "again/"], None),
    (["model.tar"], None),
    (["model", "-o", "model.onnx"], None),
    (["model.onnx", "--to", "onnxtxt"], None),
    (["model.onnx", "--fold", "-o", "model.onnx"], None),
    (["onnx/heads.onnxtxt", "--set", "batch=4", "--fold"], None),
    ([r"onnx\heads.onnxtxt", "-o", "heads.nnef"], None),
    (["check", "repeat.nnef", "model", "onnx/heads.onnxtxt"], None),
    (["check", "mistakes.nnef"], None),
    (["check", "--message-format", "json", "mistakes.nnef"], None),
    (["mistakes.nnef", "-o", "out.nnef"], None),
    (["missing.nnef"], None),
    (["repeat.nnef", "-o", "repeat.svg"], None),
    (["repeat.nnef", "--to", "json"], None),
    (["fmt", "--check", "gru.nnef"], None),
    (["fmt", "gru.nnef"], None),
    (["diff", "gru.nnef", "repeat.nnef"], None),
    (["run", "pnnx/centre.pnnx.param", "--inputs", "pnnx/centre.inputs.json"], None),
    (["run", "loops/decode.json", "--inputs", "loops/decode.inputs.json", "-o", "decode.npz"], None),
    (["--verify", "-o", "gru.flat.nnef", "gru.nnef"], None),
    (["expr", "add(@0,mul(@1,@2))"], None),
    (["layout", "f32[2,3]{1,0}"], None),
    (["explain", "E0405"], None),
    (["--unknown-option"], None),
    (["completions", "powershell"], None),
]


def installed(program, folder):
    """A copy of the program in a folder, with the library that it needs."""
    folder.mkdir()
    (folder / "random.c").write_text(RANDOM)
    subprocess.run([COMPILER, "-shared", "-o", folder / "bcryptprimitives.dll", folder / "random.c", "-ladvapi32"], check=True)
    return shutil.copy(program, folder / "nnef-flatten.exe")


def words(arguments, windows):
    return [word if windows else word.replace("\\", "/") for word in arguments]


def call(program, folder, arguments, stdin, environment):
    source = open(folder / stdin, "rb") if stdin else subprocess.DEVNULL
    return subprocess.run([*program, *arguments], cwd=folder, stdin=source, capture_output=True, env=environment, timeout=120)


def text(output):
    """An output without what two systems tell differently: separators, line ends, the name of the program, its errors."""
    told = output.decode(errors="replace").replace("\r\n", "\n").replace("\\", "/").replace("nnef-flatten.exe", "nnef-flatten")
    told = re.sub(r"(No such file or directory|File not found\.|Path not found\.)( \(os error \d+\))?", "missing", told)
    return re.sub(r"[^\n]*(fixme|err|warn):[a-z_]+:[^\n]*\n", "", told)


def content(path):
    """The content of a file; of an archive, its members."""
    if path.name.endswith((".tar", ".tgz")):
        with tarfile.open(path) as archive:
            return {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
    return path.read_bytes()


def files(folder):
    return {path.relative_to(folder).as_posix(): content(path) for path in folder.rglob("*") if path.is_file()}


def differences(ours, twin, folders):
    """What differs between the results of two calls, and between the files after them."""
    if ours.returncode != twin.returncode:
        yield f"exit status {ours.returncode}, not {twin.returncode}: {text(ours.stderr)[:400]}"
    for name in ("stdout", "stderr"):
        a, b = (text(getattr(result, name)) for result in (ours, twin))
        if a != b:
            yield f"{name}: {a[:400]!r}, not {b[:400]!r}"
    a, b = map(files, folders)
    unlike = [name for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name)]
    if unlike:
        yield f"these files differ, or are there once: {' '.join(unlike)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True, help="the program for Windows")
    parser.add_argument("--twin", default=str(ROOT / "target/fast/nnef-flatten"), help="the program for this system")
    parser.add_argument("--wine", default="wine")
    args = parser.parse_args()
    if not shutil.which(args.wine) or not shutil.which(COMPILER):
        print(f"there is no wine, or no {COMPILER}")
        return 3
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        environment = {**os.environ, "NO_COLOR": "1", "WINEDEBUG": "-all", "WINEPREFIX": str(scratch / "prefix"), "COLUMNS": "100"}
        folders = [scratch / "windows", scratch / "twin"]
        for folder in folders:
            shutil.copytree(EXAMPLES, folder)
            (folder / "folder").mkdir()
        program = [args.wine, installed(args.bin, scratch / "program")]
        # The first start of wine makes its folder, which takes a while and writes messages.
        subprocess.run([*program, "--version"], env=environment, capture_output=True, timeout=300)
        for arguments, stdin in CALLS:
            ours = call(program, folders[0], words(arguments, True), stdin, environment)
            twin = call([os.path.abspath(args.twin)], folders[1], words(arguments, False), stdin, environment)
            found = list(differences(ours, twin, folders))
            wrong += bool(found)
            for difference in found:
                print(f"{' '.join(arguments)}: {difference}")
    print(f"{len(CALLS)} calls, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
