"""The examples of the documentation run."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["nnef_flatten", "nnef_flatten._api", "nnef_flatten._findings", "nnef_flatten._graph"]


# Of the module that is installed, not of this folder: pytest would take the latter.
@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name: str) -> None:
    pytest.importorskip("numpy")
    done = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert done.attempted > 0 and done.failed == 0


def test_examples_of_the_page_run() -> None:
    pytest.importorskip("numpy")
    pytest.importorskip("onnx")
    pytest.importorskip("nnef")
    page = Path(__file__).resolve().parents[2] / "docs/python.md"
    done = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS)
    assert done.attempted > 10 and done.failed == 0
