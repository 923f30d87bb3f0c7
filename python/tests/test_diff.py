"""Comparisons of two inputs."""

from __future__ import annotations

import pytest

import nnef_flatten
from nnef_flatten import diff

TEXT = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); t = exp(x); y = leaky_relu(t, alpha = 0.1); }"
ONNX = """<ir_version: 10, opset_import: ["" : 21]>
    g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}> { y = Mul (x, w) }"""


def test_changes_are_objects():
    difference = diff(TEXT, TEXT.replace("exp", "tanh"))
    assert not difference.equal and len(difference) == 2 and bool(difference)
    assert {change.what for change in difference} == {"added", "removed"}
    assert str(difference).splitlines()[-1].startswith("2 changes: 1 added, 1 removed, 0 changed")
    assert difference.summary["operations"] == [3, 3]


def test_names_do_not_count():
    other = TEXT.replace(" t = ", " other = ").replace("(t,", "(other,")
    assert diff(TEXT, other).equal
    assert diff(TEXT, other).renamed == {}
    assert diff(TEXT, other, renamed=True).renamed == {"t": "other"}


def test_data_are_compared():
    [change] = diff(ONNX, ONNX.replace("2.0}", "2.5}"), values=True)
    assert (change.what, change.largest_difference) == ("data", 0.5)


def test_notations_are_translated():
    nnef = "version 1.0; graph g( x ) -> ( y ) { x = external(shape = [2]); w = variable(shape = [2], label = 'w'); y = x * w; }"
    difference = diff(nnef, ONNX)
    assert difference.summary["notes"] == ["b (onnxtxt) is compared as its translation to NNEF"]


def test_options_are_those_of_the_command():
    with pytest.raises(TypeError):
        diff(TEXT, TEXT, unroll=True)  # type: ignore[call-arg]
    with pytest.raises(nnef_flatten.FlattenError):
        diff(TEXT, TEXT.replace("exp", "mystery"), strict=True)
