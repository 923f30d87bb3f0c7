"""What can be given, and what comes out."""

from __future__ import annotations

import io
import json
import tarfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import nnef_flatten
from nnef_flatten import FlattenError, Graph, Model

RELU = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x); }"


def test_texts_paths_and_bytes_are_the_same_input(examples: Path) -> None:
    path = examples / "repeat.nnef"
    flat = [nnef_flatten.flatten(x).to_text() for x in (path, path.read_text(), path.read_bytes())]
    assert flat[0] == flat[1] == flat[2] and "graph" in flat[0]


def test_folders_and_archives_are_models(examples: Path, tmp_path: Path) -> None:
    folder = nnef_flatten.flatten(examples / "model")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(examples / "model", arcname=".")
    for given in (packed.getvalue(), tmp_path / "model.tar"):
        if isinstance(given, Path):
            given.write_bytes(packed.getvalue())
        assert nnef_flatten.flatten(given).to_text() == folder.to_text()


def test_every_notation_is_read(examples: Path) -> None:
    kinds = {
        "repeat.nnef": ("nnef", Graph),
        "loops/fibonacci.json": ("loops", Graph),
        "onnx/heads.onnxtxt": ("onnxtxt", Model),
        "pnnx/centre.pnnx.param": ("pnnx", Graph),
        "ncnn/edges.param": ("ncnn", Graph),
    }
    for name, (notation, kind) in kinds.items():
        result = nnef_flatten.flatten(examples / name, unroll=notation == "loops")
        assert (result.notation, type(result)) == (notation, kind)
        loaded = nnef_flatten.load(examples / name, unroll=notation == "loops")
        assert loaded.inputs and loaded.outputs and len(loaded) > 1


def test_models_of_onnx_stay_models(examples: Path) -> None:
    onnx = pytest.importorskip("onnx")
    proto = onnx.parser.parse_model((examples / "onnx/heads.onnxtxt").read_text())
    model = nnef_flatten.flatten(proto)
    assert isinstance(model, Model)
    flat = model.to_onnx()
    assert isinstance(flat, onnx.ModelProto)
    onnx.checker.check_model(flat)
    assert not flat.functions and proto.functions
    assert [value.name for value in flat.graph.input] == [value.name for value in proto.graph.input]
    assert nnef_flatten.flatten(proto.SerializeToString()).to_bytes() == model.to_bytes()
    assert {node.op_type for node in flat.graph.node} == {op.name for op in model} - {"external", "constant"}


def test_graphs_of_nnef_stay_graphs_with_their_data() -> None:
    nnef = pytest.importorskip("nnef")
    np = pytest.importorskip("numpy")
    text = """version 1.0;
        graph G( x ) -> ( y ) {
            x = external<scalar>(shape = [1, 2]);
            w = variable<scalar>(shape = [3, 2], label = "w");
            y = linear(x, w);
        }"""
    graph = nnef.parse_string(text)
    data = np.arange(6, dtype=np.float32).reshape(3, 2)
    graph.tensors["w"] = graph.tensors["w"]._replace(data=data, shape=[3, 2])
    flat = nnef_flatten.flatten(graph, lower="all")
    assert {operation.name for operation in flat} >= {"external", "variable", "matmul"}
    back = flat.to_nnef()
    assert isinstance(back, nnef.Graph)
    assert (back.tensors["w"].data == data).all()
    given = np.array([[1.0, 2.0]], dtype=np.float32)
    assert (nnef_flatten.run(graph, {"x": given})["y"] == given @ data.T).all()
    assert (nnef_flatten.run(flat, {"x": given})["y"] == given @ data.T).all()
    # The data go into a model of ONNX, too.
    onnx = pytest.importorskip("onnx")
    [weights] = [tensor for tensor in flat.to_onnx().graph.initializer if tensor.name == "w"]
    assert (onnx.numpy_helper.to_array(weights) == data).all()


def test_results_have_every_form(examples: Path) -> None:
    graph = nnef_flatten.flatten(examples / "moments.nnef")
    assert "version 1.0;\n\ngraph statistics(signal) -> (statistics_row, scaled, mixed)\n{\n" in graph.to_text()
    assert json.loads(graph.to_json())["name"] == graph.name
    assert graph.to_html().lstrip().lower().startswith("<!doctype html>")
    assert "<svg" in graph.to_svg()
    assert graph.to_dot().startswith("digraph")
    assert graph.to_bytes() and graph.convert("onnxtxt").startswith("<")
    text = '<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { y = Relu (x) }'
    model = nnef_flatten.flatten(text)
    assert json.loads(model.to_json())["inputs"] == model.graph.inputs
    assert "graph" in model.convert("nnef") and isinstance(model.convert("onnx"), bytes)


def test_notebooks_show_the_page_in_a_frame(examples: Path) -> None:
    for name in ("moments.nnef", "onnx/heads.onnxtxt"):
        result = nnef_flatten.flatten(examples / name)
        found: list[tuple[str, dict[str, str | None]]] = []
        parser = HTMLParser()
        parser.handle_starttag = lambda tag, attributes: found.append((tag, dict(attributes)))  # type: ignore[method-assign]
        parser.feed(result._repr_html_())
        [(tag, attributes)] = found
        assert tag == "iframe" and attributes["srcdoc"] == result.graph.to_html()
        assert "height: 32em" in (attributes["style"] or "")


def test_names_of_files_are_no_texts(examples: Path, tmp_path: Path) -> None:
    """Those of files that there are, and those that look so; verbs of all kinds say what to give."""
    (tmp_path / "anything").write_text(RELU)
    names = ["model.onnx", "MISSING.NNEF", "a/b.pnnx.param", "net.tgz", str(examples / "model"), str(tmp_path / "anything")]
    for name in names:
        for verb in (nnef_flatten.flatten, nnef_flatten.load, nnef_flatten.check, nnef_flatten.run):
            with pytest.raises(ValueError, match="pathlib.Path"):
                verb(name)
        with pytest.raises(ValueError, match="pathlib.Path"):
            nnef_flatten.diff(RELU, name)
    assert nnef_flatten.flatten("# of graph.nnef\n" + RELU + "# graph.nnef")


def test_other_objects_are_refused() -> None:
    others: list[Any] = [5, None, ["a"], object()]
    for x in others:
        with pytest.raises(TypeError, match="expected a text"):
            nnef_flatten.flatten(x)


def test_missing_files_are_errors_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        nnef_flatten.flatten(tmp_path / "missing.nnef")
    assert raised.value.filename == str(tmp_path / "missing.nnef")
    with pytest.raises(OSError):
        nnef_flatten.check(tmp_path)


def test_a_result_does_not_follow_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("net.nnef")
    path.write_text(RELU)
    graph = nnef_flatten.flatten(path)
    # The current folder makes no difference.
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert "Relu" in graph.convert("onnxtxt")
    monkeypatch.chdir(tmp_path)
    path.write_text(RELU.replace("relu", "sigmoid"))
    assert "relu" in graph.to_text()
    for verb in (lambda: graph.convert("onnx"), graph.stats, graph.verify, lambda: nnef_flatten.run(graph, [1.0, 2.0])):
        with pytest.raises(ValueError, match="net.nnef has changed since this result was made of it"):
            verb()
    assert "Sigmoid" in nnef_flatten.flatten(path).convert("onnxtxt")


def test_a_result_does_not_follow_its_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np = pytest.importorskip("numpy")
    text = "version 1.0; graph G( x, k ) -> ( y ) { x = external(shape = [2]); k = external(shape = [2]); y = mul(x, k); }"
    monkeypatch.chdir(tmp_path)
    np.save("k.npy", np.array([1.0, 2.0], np.float32))
    factor = np.array([3.0, 4.0], np.float32)
    given = {"k": factor}
    graphs = [nnef_flatten.flatten(text, bind=given), nnef_flatten.flatten(text, bind={"k": Path("k.npy")})]
    factor[:] = 0.0
    given.clear()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert [nnef_flatten.run(graph, [1.0, 1.0])["y"].tolist() for graph in graphs] == [[3.0, 4.0], [1.0, 2.0]]


# Arguments of the wrong kinds.
WRONG = [None, 5, 1.5, [], ["a"], {}, object(), int, True]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_what_is_no_input_is_refused(wrong: Any) -> None:
    for verb in (nnef_flatten.flatten, nnef_flatten.load, nnef_flatten.check, nnef_flatten.run):
        with pytest.raises(TypeError, match="expected a text"):
            verb(wrong)
    with pytest.raises(TypeError, match="expected a text"):
        nnef_flatten.diff(RELU, wrong)


def test_bytes_that_are_no_input_are_refused() -> None:
    for wrong in (b"", b"\xff\xfe", b"nothing", "nothing", ""):
        with pytest.raises(ValueError):
            nnef_flatten.flatten(wrong)
        assert any(finding.is_error for finding in _findings(wrong))
    with pytest.raises(FileNotFoundError, match="missing.nnef"):
        nnef_flatten.flatten(Path("missing.nnef"))


def _findings(x: Any) -> list[nnef_flatten.Finding]:
    return nnef_flatten.check(x)


@pytest.mark.parametrize("wrong", WRONG + [b"a", "a", Path("a")], ids=repr)
def test_options_of_wrong_kinds_are_refused_or_mean_something(wrong: Any) -> None:
    known = (TypeError, ValueError, OSError)
    for name in ("lower", "keep", "set", "input_shape", "bind", "fold", "outputs", "max_trips", "fragments", "from_",
                 "production", "limits", "max_ops", "max_memory"):  # fmt: skip
        try:
            nnef_flatten.flatten(RELU, **{name: wrong})
        except known as error:
            assert str(error) and "--" not in str(error), (name, str(error))


@pytest.mark.parametrize("wrong", WRONG + [b"a", "a", Path("a")], ids=repr)
def test_arguments_of_results_of_wrong_kinds_are_refused(wrong: Any) -> None:
    pytest.importorskip("numpy")
    graph = nnef_flatten.flatten(RELU)
    known = (TypeError, ValueError, OSError, KeyError)
    verbs = [
        lambda: graph.verify(wrong),
        lambda: graph.verify(to=wrong),
        lambda: graph.verify(seed=wrong),
        lambda: graph.save(wrong, to=wrong),
        lambda: graph.convert(wrong),
        lambda: graph[wrong],
        lambda: nnef_flatten.run(graph, wrong),
        lambda: nnef_flatten.run(graph, {"x": wrong}),
        lambda: nnef_flatten.run(graph, {wrong: [1.0, 2.0]} if wrong.__hash__ else {}),
        lambda: wrong in graph,
    ]
    for verb in verbs:
        try:
            verb()
        except known as error:
            assert str(error), verb
