"""The examples of the documentation run."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["nnef_flatten", "nnef_flatten._api", "nnef_flatten._findings", "nnef_flatten._graph", "nnef_flatten._result"]


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
    done = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False, optionflags=FLAGS)
    assert done.attempted > 10 and done.failed == 0


@pytest.mark.parametrize("page", ["README.md", "python/README.md"])
def test_examples_of_readmes_run(page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    (tmp_path / "target").mkdir()
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    assert blocks
    for block in blocks:
        exec(block, {})  # the text is that of this repository
    assert page != "README.md" or (tmp_path / "target/heads.onnx").stat().st_size > 0
