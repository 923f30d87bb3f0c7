"""Findings, and how refusals, mistakes and panics end."""

from __future__ import annotations

import json
import pickle
from operator import itemgetter
from pathlib import Path

import pytest

import nnef_flatten
from conftest import run_command
from nnef_flatten import FlattenError, _native

WRONG = """version 1.0;
extension KHR_enable_fragment_definitions;
fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) { y = mystery(x) + [1.0, 2.0][n]; }
graph G( x ) -> ( y ) { x = external(shape = [2]); y = f(x, 3); }
"""


def test_errors_carry_findings_errors_first() -> None:
    with pytest.raises(FlattenError) as raised:
        nnef_flatten.flatten(WRONG)
    findings = raised.value.findings
    assert isinstance(raised.value, ValueError)
    assert [finding.severity for finding in findings] == sorted(finding.severity for finding in findings)
    first = findings[0]
    assert first.is_error and first.code and first.file == "<text>" and first.line == 3
    assert first.calls[0].name == "f" and first.calls[0].line == 4
    assert str(first) in str(raised.value)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert copy.findings == findings


def test_findings_are_those_of_the_command(examples: Path) -> None:
    path = examples / "mistakes.nnef"
    told = run_command("check", "--strict", "--message-format", "json", "--warnings", "all", str(path))
    # Objects are on both streams.
    wanted = [json.loads(line) for line in told.stdout.decode().splitlines()]
    wanted = [found for found in wanted if found.get("code")]
    found = nnef_flatten.check(path, strict=True)
    key = itemgetter("code", "line", "column", "message")
    assert sorted(map(key, wanted)) == sorted(key(finding.to_dict()) for finding in found)
    assert len(found) >= 15


def test_warnings_are_kept_with_results() -> None:
    text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = mystery(x); }"
    [warning] = nnef_flatten.flatten(text).findings
    assert (warning.severity, warning.code, warning.rule) == ("warning", "E0401", "A1")
    with pytest.raises(FlattenError) as raised:
        nnef_flatten.flatten(text, strict=True)
    assert raised.value.findings[0].code == "E0401"


def test_places_in_protobuf_are_paths() -> None:
    onnx = pytest.importorskip("onnx")
    text = '<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { t = Relu (x) y = Abs (t) }'
    model = onnx.parser.parse_model(text)
    model.graph.node[1].input[0] = "nothing"
    with pytest.raises(FlattenError) as raised:
        nnef_flatten.flatten(model)
    assert raised.value.findings[0].path == "graph.node[1]"


def test_formats_of_other_programs_are_named() -> None:
    [finding] = nnef_flatten.check(b"\x93NUMPY\x01\x00")
    assert finding.code == "E0004" and "NumPy" in finding.message
    with pytest.raises(FlattenError, match="NumPy"):
        nnef_flatten.flatten(b"\x93NUMPY\x01\x00")


def test_limits_refuse_untrusted_inputs() -> None:
    text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x); }"
    large = text + "#" * (9 << 20)
    assert len(nnef_flatten.flatten(large)) == 2
    with pytest.raises(FlattenError) as raised:
        nnef_flatten.flatten(large, limits="untrusted")
    assert raised.value.findings[0].code == "E0002"
    with pytest.raises(FlattenError) as raised:
        nnef_flatten.flatten(text, max_ops=1)
    assert raised.value.findings[0].code == "E0811"


def test_panics_are_exceptions(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="internal error, please report it: a test of panics"):
        _native._panic()
    assert len(nnef_flatten.flatten("version 1.0; graph G( x ) -> ( y ) { x = external(shape = [1]); y = exp(x); }")) == 2


def test_findings_name_keyword_arguments(examples: Path) -> None:
    from nnef_flatten._options import spelled

    for told, wanted in {
        "set it: --set batch=1 gives it a number": 'set it: set={"batch": 1} gives it a number',
        "give it: `--input-shape x=…`": 'give it: `input_shape={"x": […]}`',
        "--input-shape x=1,S,224, with": 'input_shape={"x": [1, "S", 224]}, with',
        "expand it with --unroll, or": "expand it with unroll=True, or",
        "read it with `--from ncnn`": 'read it with `from_="ncnn"`',
        "raise the limit with --max-memory": "raise the limit with max_memory",
        "--fold and --share reach branches": "fold and share reach branches",
        "--message-format is of the command": "--message-format is of the command",
    }.items():
        assert spelled(told) == wanted
    with pytest.raises(nnef_flatten.FlattenError, match="unroll expands the loop") as raised:
        nnef_flatten.flatten(examples / "loops/decode.json").convert("nnef")
    assert "--" not in str(raised.value)
