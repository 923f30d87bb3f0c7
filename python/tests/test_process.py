"""What the module does to its process: threads, imports; and the command as a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import nnef_flatten
from conftest import run_command
from nnef_flatten.__main__ import command

LONG = "version 1.0; graph G( x ) -> ( x40000 ) { x = external(shape = [4]); x0 = relu(x); " + " ".join(
    f"x{i + 1} = add(mul(x{i}, 2.0), {i}.5);" for i in range(40000)
) + " }"  # fmt: skip


def test_other_threads_go_on_while_an_input_is_flattened() -> None:
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.perf_counter()
    nnef_flatten.check(LONG)
    end = time.perf_counter()
    done.set()
    ticker.join()
    # With the lock held, the other thread would stand still for the whole time.
    within = [at for at in ticks if start < at < end]
    longest = max(b - a for a, b in zip([start, *within], [*within, end]))
    assert longest < (end - start) / 2, (longest, end - start)


# What is expanded without end, and emits nothing.
ENDLESS = """version 1.0; extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
fragment count( n: integer ) -> ( k: integer ) { k = 0 if n == 0 else count(n - 1) + count(n - 1); }
graph G( x ) -> ( y ) { x = external(shape = [4]); y = mul(x, scalar(count(40))); }"""


def many(count: int) -> str:
    """A text with many operations."""
    steps = " ".join(f"y{i + 1} = add(y{i}, mul(x, {i}.5));" for i in range(count))
    return f"version 1.0; graph G( x ) -> ( y{count} ) {{ x = external(shape = [4]); y0 = relu(x); {steps} }}"


# A single operation that takes seconds.
PRODUCT = """version 1.0; graph G( a, b ) -> ( y ) {
a = external(shape = [3000, 3000]); b = external(shape = [3000, 3000]); y = matmul(a, b); }"""
# What is made before, and what is interrupted.
LONG_WORK = {
    "a text": ("text = many(200000)", "nnef_flatten.flatten(text)"),
    "a small text that does much": ("text = ENDLESS", "nnef_flatten.flatten(text, max_ops=10**9)"),
    "a check": ("text = many(200000)", "nnef_flatten.check(text)"),
    "a comparison": ("text = many(100000)", "nnef_flatten.diff(text, text)"),
    "one operation": ("a = numpy.ones((3000, 3000), numpy.float32)", "nnef_flatten.run(PRODUCT, [a, a])"),
    "a picture": ("graph = nnef_flatten.flatten(many(20000))", "graph.to_html()"),
    "a file": ("graph = nnef_flatten.flatten(many(50000))", "graph.save(sys.argv[1] + '/flat.onnx', verify=True)"),
}
INTERRUPTED = """
import os, signal, sys, threading, time
import numpy
import nnef_flatten
sys.path.insert(0, {folder!r})
from test_process import ENDLESS, PRODUCT, many
{before}
asked = []
def ask():
    time.sleep(0.2)
    asked.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=ask).start()
try:
    {call}
except KeyboardInterrupt:
    print(time.perf_counter() - asked[0])
# The module goes on.
assert len(nnef_flatten.flatten(PRODUCT)) == 3
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("what", LONG_WORK)
def test_an_interrupt_ends_long_work(what: str, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    before, call = LONG_WORK[what]
    code = INTERRUPTED.format(folder=str(Path(__file__).parent), before=before, call=call)
    words = [sys.executable, "-c", code, str(tmp_path)]
    # A shell has what runs in the background ignore the signal, which stays so.
    restored = dict(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, **restored)  # type: ignore[call-overload]
    assert done.returncode == 0 and done.stdout, (done.stdout, done.stderr)
    assert float(done.stdout) < 0.2
    assert not list(tmp_path.iterdir())


def test_threads_get_equal_results(examples: Path) -> None:
    path = examples / "transformer.nnef"
    wanted = nnef_flatten.flatten(path).to_text()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: nnef_flatten.flatten(path, share=False).to_text(), range(40))) == {wanted}


def test_importing_imports_no_package_of_arrays_or_models() -> None:
    heavy = ["numpy", "onnx", "nnef", "pandas", "typing", "json", "re", "dataclasses", "asyncio"]
    code = f"import sys, nnef_flatten; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-S", "-c", _with_path(code)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _with_path(code: str) -> str:
    """Code that finds the module without the packages of the environment being set up."""
    folder = str(Path(nnef_flatten.__file__).parents[1])
    return f"import sys; sys.path.append({folder!r}); {code}"


def test_exit_statuses_of_the_command(examples: Path) -> None:
    assert run_command(str(examples / "repeat.nnef")).returncode == 0
    assert run_command("check", "--strict", str(examples / "mistakes.nnef")).returncode == 1
    assert run_command("--nothing").returncode == 2
    done = subprocess.run([sys.executable, "-m", "nnef_flatten", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, f"nnef-flatten {nnef_flatten.__version__}")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("words", [[command(), "-"], [sys.executable, "-m", "nnef_flatten", "-"]])
def test_signals_end_the_command(words: list[str]) -> None:
    # A shell has what runs in the background ignore the signal, which stays so.
    process = subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
