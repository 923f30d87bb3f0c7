"""The examples of the documentation run."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest


def test_examples_of_the_page_run() -> None:
    pytest.importorskip("numpy")
    pytest.importorskip("onnx")
    page = Path(__file__).resolve().parents[2] / "docs/python.md"
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    done = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert done.attempted > 10 and done.failed == 0
