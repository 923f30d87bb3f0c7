"""Builds the wheel: Cargo builds the command, which maturin packs as a script beside the module.

Maturin packs either a module or a program. What is in the folder `python/nnef_flatten.data/scripts` is installed on the
PATH, so the command is put there first: it starts as fast as one that Cargo installs, and it is the process that gets
signals and gives the exit status.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import maturin
from maturin import (  # noqa: F401
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_wheel,
)

prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "nnef_flatten.data" / "scripts"
# As `tool.maturin.profile` in `pyproject.toml`.
PROFILE = "wheel-fast"
# Options that Cargo and maturin share.
FLAGS = ["--locked", "--offline", "--frozen"]
# Maturin wants it to be there, whatever it is asked for.
SCRIPTS.mkdir(parents=True, exist_ok=True)


def _arguments(settings):
    """What the arguments of maturin say to Cargo; without a profile, that of `pyproject.toml`."""
    given = (settings or {}).get("build-args") or os.environ.get("MATURIN_PEP517_ARGS", "")
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--profile", default=PROFILE)
    parser.add_argument("-r", "--release", dest="profile", action="store_const", const="release")
    parser.add_argument("--target")
    for flag in FLAGS:
        parser.add_argument(flag, action="store_true")
    known, _ = parser.parse_known_args(shlex.split(given) if isinstance(given, str) else list(given))
    words = ["--profile", known.profile, *(flag for flag in FLAGS if getattr(known, flag.lstrip("-")))]
    return words + (["--target", known.target] if known.target else [])


def _build_command(settings):
    """Builds the command and puts it among the scripts."""
    words = ["cargo", "build", "--manifest-path", str(HERE.parent / "Cargo.toml"), "--bin", "nnef-flatten"]
    words += [*_arguments(settings), "--message-format", "json-render-diagnostics"]
    built = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    messages = map(json.loads, filter(None, built.stdout.splitlines()))
    executables = [message["executable"] for message in messages if message.get("executable")]
    for old in SCRIPTS.iterdir():
        old.unlink()
    shutil.copy2(executables[-1], SCRIPTS)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _build_command(config_settings)
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _build_command(config_settings)
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)
