"""Keyword arguments are the options of the command: the same ones, with the same effect, refused in the same cases."""

from __future__ import annotations

import inspect
import pydoc
import re
from pathlib import Path
from typing import Any

import pytest

import nnef_flatten
from conftest import EXAMPLES, run_command
from nnef_flatten import FlattenError, _native, _options

# Options of the command about files, streams and messages, which the module has in other ways.
ELSEWHERE = {
    "output", "max-output", "to", "threads", "source-map", "stats", "layout", "verify", "inputs", "seed",
    "message-format", "color", "quiet", "warnings", "allow", "deny",
}  # fmt: skip

INPUTS = [
    "repeat.nnef",
    "transformer.nnef",
    "loops/fibonacci.json",
    "loops/clauses.nnef",
    "onnx/heads.onnxtxt",
    "pnnx/centre.pnnx.param",
    "ncnn/edges.param",
]

OPTIONS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"lower": "all"}, ["--lower", "all"]),
    ({"lower": "none"}, ["--lower", "none"]),
    ({"lower": ["block", "nothing"]}, ["--lower", "block,nothing"]),
    ({"keep": ["attention"]}, ["--keep", "attention"]),
    ({"keep": "head"}, ["--keep", "head"]),
    ({"fold": True}, ["--fold"]),
    ({"share": True}, ["--share"]),
    ({"simplify": True}, ["--simplify"]),
    ({"simplify": ["identity", "casts"]}, ["--simplify=identity,casts"]),
    ({"simplify": True, "simplify_except": "fold"}, ["--simplify", "--simplify-except", "fold"]),
    ({"fold": True, "fold_growth": 0}, ["--fold", "--fold-growth", "0"]),
    ({"drop_bitcasts": True}, ["--drop-bitcasts"]),
    ({"annotate": True}, ["--annotate"]),
    ({"outline": True}, ["--outline"]),
    ({"provenance": True}, ["--provenance"]),
    ({"keep_unused": True}, ["--keep-unused"]),
    ({"unroll": True}, ["--unroll"]),
    ({"unroll": True, "max_trips": 3}, ["--unroll", "--max-trips", "3"]),
    ({"max_trips": 3}, ["--max-trips", "3"]),
    ({"flat": True}, ["--flat"]),
    ({"strict": True}, ["--strict"]),
    ({"set": {"S": 5, "T": "S+1"}}, ["--set", "S=5", "--set", "T=S+1"]),
    ({"input_shape": {"x": [1, "N"]}}, ["--input-shape", "x=1,N"]),
    ({"production": "model"}, ["--production", "model"]),
    ({"limits": "untrusted"}, ["--limits", "untrusted"]),
    ({"max_ops": 1}, ["--max-ops", "1"]),
    ({"max_ops": 0}, ["--max-ops", "0"]),
    ({"max_depth": 1}, ["--max-depth", "1"]),
    ({"max_text": 100}, ["--max-text", "100"]),
    ({"max_files": 1}, ["--max-files", "1"]),
    ({"max_items": 10}, ["--max-items", "10"]),
    ({"from_": "nnef"}, ["--from", "nnef"]),
    ({"from_": "pnnx"}, ["--from", "pnnx"]),
    ({"fragments": [EXAMPLES / "missing.nnef"]}, ["--fragments", str(EXAMPLES / "missing.nnef")]),
]


@pytest.mark.parametrize("name", INPUTS)
def test_module_and_command_agree(name: str, tmp_path: Path) -> None:
    for options, words in OPTIONS:
        done = run_command(*words, str(EXAMPLES / name))
        try:
            result = nnef_flatten.flatten(EXAMPLES / name, **options)
        except FlattenError:
            status, text = 1, ""
        except (ValueError, OSError):
            status, text = 2, ""
        else:
            status, text = 0, result.to_text()
        assert (status, text) == (done.returncode, done.stdout.decode()), (name, options, done.stderr.decode())


def test_every_option_of_flattening_is_a_keyword() -> None:
    page = (EXAMPLES.parent / "docs/options.md").read_text()
    section = page.split("## `nnef-flatten INPUT`")[1].split("\n## ")[0]
    options = set(re.findall(r"^\| `(?:-\w, )?--([a-z-]+)", section, re.MULTILINE)) - ELSEWHERE
    keywords = set(inspect.signature(nnef_flatten.flatten).parameters) - {"x"}
    assert {option.replace("-", "_") for option in options} == {name.rstrip("_") for name in keywords}


def test_help_has_all_options_with_their_meanings() -> None:
    text = pydoc.plain(pydoc.render_doc(nnef_flatten.flatten))
    told = dict(re.findall(r"^ *\* `(\w+)`: (.+)$", text, re.MULTILINE))
    assert list(told) == list(inspect.signature(nnef_flatten.flatten).parameters)[1:]
    assert "image=1,3,224,224" in told["input_shape"] and not any("--" in meaning for meaning in told.values())


def test_the_types_of_options_are_those_of_the_signature() -> None:
    """The dictionaries of types are only there for checkers, which do not compare them with the code."""
    code = Path(_options.__file__).read_text()
    declared = set(re.findall(r"^        (\w+): ", code.split("LIMITS = ")[0], re.MULTILINE))
    keywords = set(inspect.signature(nnef_flatten.flatten).parameters) - {"x"}
    assert set(_options.FLATTENING) == keywords == declared - {"values", "renamed"}
    [texts] = re.findall(r"Text = Literal\[(.*?)\]", code, re.DOTALL)
    assert set(re.findall(r'"(.+?)"', texts)) == set(_native.NOTATIONS) - {"onnx"}


def test_refusals_name_keywords() -> None:
    text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x); }"
    with pytest.raises(ValueError, match="^provenance does not apply to documents of NNEF 1.0") as raised:
        nnef_flatten.flatten(text, provenance=True)
    assert not isinstance(raised.value, FlattenError)
    with pytest.raises(ValueError, match="input_shape"):
        nnef_flatten.flatten(text, input_shape={"x": ["-"]})
    for options in ({"input_shape": {"x": [None, 3]}}, {"set": {"S": None}}, {"keep": [None]}, {"set": {"S": True}}):
        with pytest.raises(TypeError, match=f"^{next(iter(options))}: .* is no value here"):
            nnef_flatten.flatten(text, **options)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="unexpected keyword argument 'fold'"):
        nnef_flatten.check(text, fold=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        nnef_flatten.flatten(text, nothing=1)  # type: ignore[call-arg]


def test_outputs_refuse_options_that_do_not_apply(examples: Path) -> None:
    model = nnef_flatten.flatten(examples / "onnx/heads.onnxtxt", annotate=True)
    assert model.to_bytes()
    known = nnef_flatten.flatten(examples / "onnx/heads.onnxtxt", annotate=True, set={"batch": 4})
    assert "  # " in known.convert("nnef")
    with pytest.raises(ValueError, match="annotate does not apply"):
        model.convert("json")
    with pytest.raises(ValueError, match="no output notation|does not apply"):
        model.convert("nothing")
