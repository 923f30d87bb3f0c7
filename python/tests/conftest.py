"""What all tests have: the folder of examples, and the command of the wheel."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nnef_flatten.__main__ import command

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def examples() -> Path:
    return EXAMPLES


def run_command(*words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Runs the command that the wheel installed."""
    return subprocess.run([command(), *words], input=given, capture_output=True, timeout=120)
