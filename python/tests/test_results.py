"""Results are values: they are inputs again, they are saved, copied and pickled."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import nnef_flatten
from conftest import EXAMPLES, run_command
from nnef_flatten import FlattenError, Graph, Model

NNEF = """version 1.0;
extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
fragment twice( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = x + x; }
graph G( x, r ) -> ( y ) { x = external(shape = [2]); r = external(shape = [2]); y = twice(x) * r; }
"""
ONNX = """<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
g (float[N] x, float[N] r) => (float[N] y) { t = local.twice (x) y = Mul (t, r) }
<domain: "local", opset_import: ["" : 21]> twice (a) => (b) { b = Add (a, a) }"""
MANY = 100_000


def large(count: int) -> str:
    """A text with many operations, in calls of fragments."""
    calls = " ".join(f"x{i + 1} = step(x{i}, {i}.5);" for i in range(count // 2))
    return f"""version 1.0; extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
    fragment step( x: tensor<scalar>, by: scalar ) -> ( y: tensor<scalar> ) {{ y = x * 2.0 + by; }}
    graph G( x ) -> ( x{count // 2} ) {{ x = external(shape = [4]); x0 = relu(x); {calls} }}"""


def seen(result: Graph | Model) -> object:
    """All that can be seen of a result."""
    operations = [
        (op.name, op.dtype, op.inputs, op.attributes, op.outputs, op.location, list(map(repr, op.calls))) for op in result
    ]
    tensors = [(tensor.name, tensor.dtype, tensor.shape) for tensor in result.tensors.values()]
    return operations, tensors, result.symbols, result.notation, list(map(str, result.findings)), result.to_text()


def results() -> list[Graph | Model]:
    np = pytest.importorskip("numpy")
    bound = {"r": np.array([3, 3], np.float32)}
    return [
        nnef_flatten.flatten(NNEF),
        nnef_flatten.flatten(NNEF, bind=bound, input_shape={"x": [1, "N"]}, lower="none"),
        nnef_flatten.flatten(ONNX, bind=bound, set={"N": 2}),
        nnef_flatten.flatten(ONNX),
        nnef_flatten.load(ONNX),
        nnef_flatten.load(NNEF),
        nnef_flatten.flatten(EXAMPLES / "model"),
        nnef_flatten.flatten(EXAMPLES / "onnx/heads.onnxtxt"),
        nnef_flatten.flatten(EXAMPLES / "pnnx/centre.pnnx.param"),
        nnef_flatten.flatten(EXAMPLES / "loops/fibonacci.json", unroll=True, max_trips=5),
    ]


def test_verbs_are_found_by_their_names_in_other_processes() -> None:
    for verb in (nnef_flatten.flatten, nnef_flatten.check, nnef_flatten.diff, nnef_flatten.run):
        assert pickle.loads(pickle.dumps(verb)) is verb
    assert nnef_flatten.flatten.__qualname__ == "flatten"


def test_a_result_is_not_saved_without_a_path() -> None:
    for path in ("", b"flat.nnef"):
        with pytest.raises(ValueError, match="a path is a text"):
            nnef_flatten.flatten(NNEF).save(path)  # type: ignore[arg-type]


def test_copies_are_equal_and_pickles_too() -> None:
    for result in results():
        assert copy.copy(result) is result and copy.deepcopy([result])[0] is result
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            again = pickle.loads(pickle.dumps(result, protocol))
            assert type(again) is type(result) and seen(again) == seen(result)
        twice = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(result))))
        assert seen(twice) == seen(result)
        operation = pickle.loads(pickle.dumps(result.operations[1]))
        assert (operation.name, operation.inputs) == (result.operations[1].name, result.operations[1].inputs)


def test_pickles_of_files_tell_that_these_have_changed(tmp_path: Path) -> None:
    file = tmp_path / "graph.nnef"
    file.write_text(NNEF)
    pickled = pickle.dumps(nnef_flatten.flatten(file))
    file.write_text(NNEF.replace("x + x", "x - x"))
    graph = pickle.loads(pickled)
    assert graph.notation == "nnef" and graph.findings == []
    with pytest.raises(ValueError, match="has changed since"):
        graph.to_text()
    file.unlink()
    with pytest.raises(FileNotFoundError):
        len(pickle.loads(pickled))


def test_pickled_models_tell_that_their_file_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "model.onnxtxt"
    file.write_text(ONNX)
    pickled = pickle.dumps(nnef_flatten.flatten(file, set={"N": 2}))
    assert '"Add"' in pickle.loads(pickled).convert("json")
    file.write_text(ONNX.replace("Add (a, a)", "Identity (a)"))
    model = pickle.loads(pickle.dumps(pickle.loads(pickled)))
    assert isinstance(model, Model) and "Add" in model.to_text()
    for verb in (lambda: model.convert("onnx"), model.stats, lambda: model.save(tmp_path / "flat.onnx"), lambda: nnef_flatten.load(model)):
        with pytest.raises(ValueError, match="model.onnxtxt has changed since"):
            verb()


def test_results_tell_that_external_data_have_changed(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    np = pytest.importorskip("numpy")
    weights = onnx.numpy_helper.from_array(np.array([3.0, 4.0], np.float32), "w")
    model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { y = Mul (x, w) }')
    model.graph.initializer.append(weights)
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="model.weights", size_threshold=0)
    result = nnef_flatten.flatten(path)
    pickled = pickle.dumps(result)
    given = np.array([1.0, 2.0], np.float32)
    assert nnef_flatten.run(result, given)["y"].tolist() == [3.0, 8.0]
    (tmp_path / "model.weights").write_bytes(np.array([5.0, 6.0, 7.0], np.float32).tobytes())
    for again in (result, pickle.loads(pickled)):
        for verb in (again.stats, again.verify, lambda: nnef_flatten.run(again, given), lambda: again.convert("json")):
            with pytest.raises(ValueError, match="model.weights has changed since"):
                verb()
    assert nnef_flatten.run(nnef_flatten.flatten(path), given)["y"].tolist() == [5.0, 12.0]


def test_large_graphs_are_pickled(tmp_path: Path) -> None:
    graph = nnef_flatten.flatten(large(MANY))
    assert len(graph) > MANY
    file = tmp_path / "graph.pickle"
    file.write_bytes(pickle.dumps(graph))
    # Without what the graph is made of, it is of the size of the text.
    assert file.stat().st_size < 2 * len(large(MANY))
    done = subprocess.run([sys.executable, "-m", "pickle", str(file)], capture_output=True, text=True, timeout=120)
    assert repr(graph) in done.stdout.replace("\n", " ").replace("  ", " "), done.stderr
    again = pickle.loads(file.read_bytes())
    assert len(again) == len(graph) and again.to_text() == graph.to_text()
    assert again.operations[-1].calls[0].name == "step"


def flattened(name: str) -> Graph | Model:
    return nnef_flatten.flatten(EXAMPLES / name)


def test_results_pass_between_processes() -> None:
    names = ["repeat.nnef", "onnx/heads.onnxtxt", "model"]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        for name, result in zip(names, pool.map(flattened, names)):
            assert seen(result) == seen(flattened(name))


def test_results_are_inputs() -> None:
    for result in results():
        assert seen(nnef_flatten.load(result)) == seen(nnef_flatten.load(nnef_flatten.load(result)))
        assert nnef_flatten.diff(result, result).equal
        assert [found for found in nnef_flatten.check(result) if found.is_error] == []
    graph = nnef_flatten.flatten(NNEF, lower="none")
    assert [operation.name for operation in graph] == ["external", "external", "twice", "mul"]
    assert len(nnef_flatten.flatten(graph, lower="custom")) == 4
    folded = nnef_flatten.flatten(graph, bind={"r": [1, 1]}, fold=True)
    assert folded.inputs == ["x"] and [op.name for op in folded][-2:] == ["twice", "mul"]
    assert nnef_flatten.flatten(folded, bind={"x": [1, 2]}).inputs == ["unused"]
    changes = nnef_flatten.diff(nnef_flatten.flatten(ONNX), nnef_flatten.flatten(ONNX.replace("Add", "Sub")))
    assert sorted(change.what for change in changes) == ["added", "removed"]
    assert not nnef_flatten.diff(NNEF, nnef_flatten.flatten(NNEF, bind={"r": [1, 1]})).equal
    with pytest.raises(TypeError, match="unexpected keyword"):
        nnef_flatten.check(graph, fold=True)  # type: ignore[call-arg]


def test_results_are_evaluated_with_their_options() -> None:
    np = pytest.importorskip("numpy")
    x, r = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
    for text in (NNEF, ONNX):
        free = nnef_flatten.flatten(text)
        bound = nnef_flatten.flatten(text, bind={"r": r})
        wanted = nnef_flatten.run(free, {"x": x, "r": r})["y"].tolist()
        assert wanted == [6, 16]
        assert nnef_flatten.run(bound, {"x": x})["y"].tolist() == wanted
        assert nnef_flatten.run(free, {"x": x}, bind={"r": r})["y"].tolist() == wanted
        assert nnef_flatten.run(free, [x, r])["y"].tolist() == wanted
        assert nnef_flatten.run(free, ([1, 2], [3, 4]))["y"].tolist() == wanted
        for given in (x, [x], [1, 2], (1.0, 2.0)):
            assert nnef_flatten.run(bound, given)["y"].tolist() == wanted
        assert nnef_flatten.run(text, [x, r])["y"].tolist() == wanted
        for given, told in ((x, "1 array for 2 inputs: x, r"), ([x], "1 array "), ([x, r, r], "3 arrays")):
            with pytest.raises(TypeError, match=told):
                nnef_flatten.run(free, given)
        with pytest.raises(TypeError, match="a list of one item"):
            nnef_flatten.run(bound, [1.0])
    sized = nnef_flatten.flatten(ONNX, set={"N": 3})
    with pytest.raises(FlattenError, match="extent"):
        nnef_flatten.run(sized, {"x": x, "r": r})
    with pytest.raises(FlattenError, match="extent"):
        nnef_flatten.run(nnef_flatten.flatten(ONNX, input_shape={"x": [5]}), {"x": x, "r": r})


@pytest.mark.parametrize("name", ["repeat.nnef", "onnx/heads.onnxtxt", "model", "pnnx/centre.pnnx.param"])
def test_what_is_saved_is_what_the_command_writes(name: str, tmp_path: Path) -> None:
    result = nnef_flatten.flatten(EXAMPLES / name)
    for file in ("flat", "flat.nnef", "flat.json", "flat.onnx", "flat.svg", "flat.onnxtxt"):
        theirs, ours = tmp_path / "theirs" / file, tmp_path / "ours" / file
        for path in (theirs, ours):
            path.parent.mkdir(exist_ok=True)
        done = run_command("-o", str(theirs), str(EXAMPLES / name))
        if done.returncode:
            with pytest.raises(ValueError):
                result.save(ours)
            assert not ours.exists()
        else:
            result.save(str(ours))
            assert ours.read_bytes() == theirs.read_bytes()
    with pytest.raises(ValueError, match="no notation has the extension"):
        result.save(tmp_path / "flat.unknown")
    with pytest.raises(OSError if sys.platform == "win32" else ValueError):
        result.save(tmp_path / "missing" / "flat.onnx")


def test_whole_models_are_saved_with_their_data(tmp_path: Path) -> None:
    result = nnef_flatten.flatten(EXAMPLES / "model")
    for place in ("folder", "flat.tgz"):
        path = tmp_path / place
        result.save(f"{path}/" if place == "folder" else path, verify=True)
        assert nnef_flatten.diff(path, result, values=True).equal


def refused(call: Callable[[], object]) -> list[nnef_flatten.Finding]:
    with pytest.raises(FlattenError) as raised:
        call()
    return raised.value.findings


def test_verification_finds_what_differs(tmp_path: Path) -> None:
    verified = nnef_flatten.flatten(NNEF, fold=True, share=True).verify({"x": [1.0, 2.0]}, to="onnx")
    assert verified and verified.items == 2 and verified.largest_difference == 0.0 and verified.reason is None
    for name, items in (("repeat.nnef", 8192), ("model", 2), ("onnx/heads.onnxtxt", 24)):
        symbols = nnef_flatten.load(EXAMPLES / name).symbols
        verified = nnef_flatten.flatten(EXAMPLES / name, set={symbol: 4 for symbol in symbols}).verify(seed=3)
        assert (verified.items, verified.open_extents, verified.reason) == (items, (), None)
    assert nnef_flatten.flatten(EXAMPLES / "onnx/heads.onnxtxt").verify().open_extents == ("batch",)
    # What cannot be evaluated is not verified.
    [finding, *_] = refused(lambda: nnef_flatten.flatten(EXAMPLES / "pnnx/centre.pnnx.param").verify())
    assert finding.code == "E0821"
    [finding, *_] = refused(lambda: nnef_flatten.flatten(NNEF).verify({"nothing": [1.0]}))
    assert finding.code == "E0822"


@pytest.mark.parametrize("name", ["repeat.nnef", "onnx/heads.onnxtxt", "model"])
def test_statistics_are_those_of_the_command(name: str, tmp_path: Path) -> None:
    words = ["--stats", "--message-format", "json", "-o", str(tmp_path / "out.json"), str(EXAMPLES / name)]
    told = [json.loads(line) for line in run_command(*words).stderr.decode().splitlines()]
    [wanted] = [row["stats"] for row in told if "stats" in row]
    assert nnef_flatten.flatten(EXAMPLES / name).stats() == wanted


def test_files_are_neither_locked_nor_left(tmp_path: Path) -> None:
    start = time.time()
    nnef_flatten.flatten(NNEF).save(tmp_path / "flat.nnef", verify=True)
    assert [path.name for path in tmp_path.iterdir()] == ["flat.nnef"]
    assert (tmp_path / "flat.nnef").stat().st_mtime >= start - 5
