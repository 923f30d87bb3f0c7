#!/usr/bin/env python3
"""Packs the command for a platform, and tells the digests of what is released.

    release/archive.py --target TARGET --bin PROGRAM --folder FOLDER     nnef-flatten-vVERSION-TARGET.tar.gz, .zip for Windows
    release/archive.py --sums FOLDER                                     SHA256SUMS of the files in a folder

An archive has a folder of its name with the command, what `completions` and `man` write, the licence, README and the
changelog. The same program gives the same bytes. Exit status 1 if the program is not of the version of `Cargo.toml`.
"""

import argparse
import gzip
import hashlib
import io
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

from metadata import ROOT, cargo

SHELLS = {"bash": "nnef-flatten.bash", "zsh": "_nnef-flatten", "fish": "nnef-flatten.fish"}
PAGES = ["LICENSE", "README.md", "CHANGELOG.md"]


def called(program, *words):
    """What the program writes."""
    return subprocess.run([program, *words], check=True, capture_output=True).stdout


def contents(program):
    """The names in the archive with their bytes and modes, in order."""
    files = {program.name: (program.read_bytes(), 0o755)}
    for page in PAGES:
        files[page] = ((ROOT / page).read_bytes(), 0o644)
    for shell, name in SHELLS.items():
        files[f"completions/{name}"] = (called(program, "completions", shell), 0o644)
    with tempfile.TemporaryDirectory() as folder:
        called(program, "man", "--folder", folder)
        for page in pathlib.Path(folder).iterdir():
            files[f"man/{page.name}"] = (page.read_bytes(), 0o644)
    return sorted(files.items())


def as_tar(folder, files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (data, mode) in files:
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mode = len(data), mode
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), 9, mtime=0)


def as_zip(folder, files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (data, mode) in files:
            entry = zipfile.ZipInfo(f"{folder}/{name}")
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, mode << 16
            archive.writestr(entry, data)
    return packed.getvalue()


def pack(target, program, folder):
    version = cargo()["version"]
    told = called(program, "--version").decode().split()
    if told != ["nnef-flatten", version]:
        print(f"{program} says {' '.join(told)}, but the version is {version}")
        return 1
    name = f"nnef-flatten-v{version}-{target}"
    make, ending = (as_zip, "zip") if "windows" in target else (as_tar, "tar.gz")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.{ending}"
    path.write_bytes(make(name, contents(program)))
    print(path)
    return 0


def sums(folder):
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
             for path in sorted(folder.iterdir()) if path.is_file() and path.name != "SHA256SUMS"]
    (folder / "SHA256SUMS").write_bytes("".join(lines).encode())
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target")
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--sums", type=pathlib.Path)
    args = parser.parse_args()
    if args.sums:
        return sums(args.sums)
    if not (args.target and args.bin and args.folder):
        parser.error("--target, --bin and --folder, or --sums")
    return pack(args.target, args.bin.resolve(), args.folder)


if __name__ == "__main__":
    sys.exit(main())
