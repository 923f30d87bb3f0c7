"""Graphs are walked as Python expects."""

from __future__ import annotations

from pathlib import Path

import pytest

import nnef_flatten

TEXT = """version 1.0;
extension KHR_enable_fragment_definitions;
fragment norm( x: tensor<scalar>, epsilon: scalar = 1e-5 ) -> ( y: tensor<scalar> )
{
    y = x / (x + epsilon);
}
graph G( x ) -> ( y, z )
{
    x = external(shape = [1, 4]);
    [y, w] = split(norm(x), axis = 1, ratios = [1, 1]);
    z = conv(x, 0.5, stride = [1]);
}
"""


@pytest.fixture
def graph() -> nnef_flatten.Graph:
    text = TEXT.replace("z = conv(x, 0.5, stride = [1]);", "z = leaky_relu(w, alpha = 0.5);")
    made = nnef_flatten.flatten(text)
    assert isinstance(made, nnef_flatten.Graph)
    return made


def test_operations_are_a_sequence(graph: nnef_flatten.Graph) -> None:
    names = [operation.name for operation in graph]
    assert names == ["external", "add", "div", "split", "leaky_relu"]
    assert len(graph) == len(graph.operations) == 5
    assert graph.operations[-1].name == "leaky_relu"
    assert [operation.name for operation in reversed(graph.operations)] == names[::-1]
    for outside in (5, -6):
        with pytest.raises(IndexError):
            graph.operations[outside]


def test_operations_have_inputs_attributes_and_outputs(graph: nnef_flatten.Graph) -> None:
    external, add, div, split, leaky = graph
    assert external.inputs == {} and external.attributes == {"shape": [1, 4]} and external.dtype == "scalar"
    assert add.inputs == {"x": "x", "y": 1e-5}
    assert split.attributes == {"axis": 1, "ratios": [1, 1]}
    assert split.outputs == {"values": ["y", "w"]}
    assert leaky.attributes == {"alpha": 0.5} and leaky.outputs == {"y": "z"}
    assert add.calls[0].name == "norm" and add.calls[0].line == 10
    assert add.location[1:] == (5, 16) and add.location[0] == "<text>"
    assert div.calls[0].file == "<text>"


def test_defaults_are_filled_in() -> None:
    text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [1, 1, 8]); y = box(x, size = [1, 1, 3]); }"
    box = nnef_flatten.flatten(text).operations[1]
    assert box.attributes["border"] == "constant" and box.attributes["normalize"] is False


def test_tensors_are_a_mapping(graph: nnef_flatten.Graph) -> None:
    assert "w" in graph and "nothing" not in graph
    assert graph["w"].shape == [1, 2] and graph["w"].dtype == "scalar"
    producer = graph["w"].producer
    assert producer is not None and producer.name == "split"
    assert [operation.name for operation in graph["x"].consumers] == ["add", "div"]
    assert set(graph.tensors) == set(graph.tensors.keys()) and len(graph.tensors) == 6
    assert graph.tensors.get("nothing") is None
    with pytest.raises(KeyError):
        graph["nothing"]


def test_symbols_have_their_definitions() -> None:
    text = '<ir_version: 10, opset_import: ["" : 21]> g (float[B, S] x) => (float[B, S] y) { y = Relu (x) }'
    graph = nnef_flatten.load(text)
    assert graph.symbols == {"B": ("x", 0), "S": ("x", 1)}
    assert graph["y"].shape == ["B", "S"] and graph["y"].dtype == "float32"
    assert nnef_flatten.flatten(text, set={"S": 5})["y"].shape == ["B", 5]


def test_tables_of_pandas(graph: nnef_flatten.Graph) -> None:
    pytest.importorskip("pandas")
    table = graph.to_pandas()
    assert list(table["operation"]) == [operation.name for operation in graph]
    assert table.loc[1, "calls"] == ["norm"]


def test_graphs_are_evaluated(examples: Path) -> None:
    np = pytest.importorskip("numpy")
    graph = nnef_flatten.flatten("version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = x * 2.0; }")
    [(name, y)] = nnef_flatten.run(graph, {"x": [1, 2]}).items()
    assert name == "y" and y.dtype == np.float32 and y.tolist() == [2, 4]
    text = '<ir_version: 10, opset_import: ["" : 21]> g (int8[2] x) => (int8[2] y) { y = Neg (x) }'
    for given in (text, nnef_flatten.flatten(text)):
        y = nnef_flatten.run(given, {"x": np.array([1, 2], np.int8)})["y"]
        assert y.dtype == np.int8 and y.tolist() == [-1, -2]
    given = np.array([[1.0, -0.5, 0.25, 2.0]])
    [output] = nnef_flatten.run(examples / "model", {"input": given}).values()
    wanted = given
    for layer in ("layer1", "layer2"):
        # The data of a file of NNEF follow 128 bytes.
        files = (examples / "model" / layer / f"{name}.dat" for name in ("weights", "bias"))
        weights, bias = (np.fromfile(file, np.float32, offset=128) for file in files)
        wanted = wanted @ weights.reshape(wanted.shape[1], -1) + bias
        wanted = wanted / (1 + np.exp(-wanted))
    # The model has quantized results: a step of the first is 0.02.
    np.testing.assert_allclose(output, wanted, atol=0.05)
    with pytest.raises(nnef_flatten.FlattenError):
        nnef_flatten.run(graph, {})


def test_bound_inputs_are_arrays_numbers_and_files(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    text = "version 1.0; graph G( x, r ) -> ( y ) { x = external(shape = [2]); r = external(shape = [2]); y = x * r; }"
    np.save(tmp_path / "r.npy", np.array([3.0, 3.0]))
    for value in ([3, 3], np.full(2, 3.0, np.float32), tmp_path / "r.npy"):
        graph = nnef_flatten.flatten(text, bind={"r": value})
        assert graph.inputs == ["x"]
        assert (nnef_flatten.run(graph, {"x": [1.0, 2.0]})["y"] == [3, 6]).all()
    with pytest.raises(nnef_flatten.FlattenError, match="nothing"):
        nnef_flatten.flatten(text, bind={"nothing": 1})
