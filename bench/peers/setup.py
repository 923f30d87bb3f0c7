"""Installs the peers below the target folder, once; skips those that cannot be installed."""
import glob
import os
import subprocess
import sys
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ("nnef==1.0.10", "onnx")


def say(message):
    print(message, file=sys.stderr, flush=True)


def quietly(command, **options):
    """Whether a command succeeds."""
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options).returncode == 0
    except OSError:
        return False


def packages(cache):
    """The Python interpreter with the packages, and the version of each installed package."""
    python = os.path.join(cache, "venv", "bin", "python")
    if not os.path.exists(python):
        try:
            venv.create(os.path.join(cache, "venv"), with_pip=True)
        except Exception as error:
            say(f"no virtual environment: {error}")
            return python, {}
    versions = {}
    for package in PACKAGES:
        name = package.split("==")[0]
        ask = [python, "-c", f"from importlib.metadata import version; print(version('{name}'))"]
        if not quietly(ask):
            quietly([python, "-m", "pip", "install", "--quiet", package])
        if quietly(ask):
            versions[name] = subprocess.run(ask, capture_output=True, text=True).stdout.strip()
        else:
            say(f"skipped: the package {name} cannot be installed")
    return python, versions


def khronos(cache):
    """Builds the program with the C++ sources of the package nnef; None if that fails."""
    program = os.path.join(cache, "khronos")
    source = os.path.join(HERE, "khronos.cpp")
    roots = glob.glob(os.path.join(cache, "venv", "lib*", "python*", "site-packages", "nnef", "cpp"))
    if not roots:
        say("skipped: the package nnef carries no C++ sources")
        return None
    fresh = os.path.exists(program) and os.path.getmtime(program) >= os.path.getmtime(source)
    include, library = os.path.join(roots[0], "include"), os.path.join(roots[0], "src", "nnef.cpp")
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-O3", "-std=c++11", "-w", "-I", include, source, library, "-o", program]
    if fresh or quietly(command):
        return program
    say("skipped: the C++ sources of the package nnef do not compile here")
    return None


def tract(cache):
    """Builds the program with the crate tract-nnef; returns it and the version of the crate, or None for both."""
    folder = os.path.join(os.path.dirname(HERE), "tract-peer")
    target = os.path.join(cache, "tract")
    if not quietly(["cargo", "build", "--release"], cwd=folder, env={**os.environ, "CARGO_TARGET_DIR": target}):
        say("skipped: the crate tract-nnef does not build here")
        return None, None
    with open(os.path.join(folder, "Cargo.toml")) as manifest:
        version = next(line.split('"')[1].lstrip("=") for line in manifest if line.startswith("tract-nnef"))
    return os.path.join(target, "release", "tract-peer"), version
