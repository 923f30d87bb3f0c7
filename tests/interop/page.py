#!/usr/bin/env python3
"""Uses the pages of `--to html` in a real browser, Chromium without a window.

Drives it through its DevTools over a pipe; needs nothing but Python and Chromium. Exit status 0 if all is as it
should be, 1 if not, 3 if there is no browser.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from chromium import Browser, arguments, installed


class Page(Browser):
    """A browser with a page of `--to html`."""

    def open(self, path, until="document.getElementById('canvas')?.dataset.drawn !== undefined"):
        super().open(path, until)

    def data(self, name):
        return self.eval(f"document.getElementById('canvas').dataset[{json.dumps(name)}]")

    def panel(self):
        return self.eval("document.getElementById('panel').hidden ? null : document.getElementById('panel').innerText")


def search(browser, text):
    """Searches with the keyboard only and goes to the first result."""
    browser.key("/", 191)
    assert browser.eval("document.activeElement.id") == "search", "a slash does not lead to the search"
    # The text of an earlier search is replaced.
    browser.type(text)
    assert is_open(browser), "the list of found names is not shown"
    found = browser.eval("document.querySelectorAll('#found li[role=option]').length")
    assert found > 0, f"{text} is not found"
    browser.key("Enter", 13)
    browser.frame()
    assert not is_open(browser), "the list of found names stays"


def is_open(browser):
    """Whether the list of found names is shown, for eyes and for screen readers."""
    told = browser.eval("document.getElementById('search').getAttribute('aria-expanded')") == "true"
    assert told == browser.eval("!document.getElementById('found').hidden")
    return told


def middle(browser):
    """The middle of the canvas, where the search result is."""
    box = "document.getElementById('canvas').getBoundingClientRect()"
    return browser.eval(f"[{box}.x + {box}.width / 2, {box}.y + {box}.height / 2]")


def check_same(browser, page, svg):
    """With all groups open, the page has the same positions as the picture."""
    browser.open(page)
    browser.eval("document.getElementById('open').click()")
    for name, side in [("width", "w"), ("height", "h")]:
        there = float(svg.read_text().split(f'{name}="', 1)[1].split('"', 1)[0])
        assert abs(browser.eval(f"page.shown.{side}") - (there - 16)) < 0.11, "page and picture differ"


def check_small(browser, page, svg):
    """A page with groups: search, click, groups."""
    check_same(browser, page, svg)
    search(browser, "softmax")
    panel = browser.panel()
    assert "softmax" in panel and "transformer.nnef:" in panel, panel
    assert "axes" in panel and "encoder_layer" in panel, panel
    browser.key("Escape", 27)
    assert browser.panel() is None, "Escape does not close the panel"
    browser.click(*middle(browser))
    assert "softmax" in browser.panel(), "a click does not select"
    before = int(browser.data("shown"))
    browser.key("Enter", 13)
    browser.frame()
    closed = int(browser.data("shown"))
    assert closed < before, "closing a group hides nothing"
    assert "Open this group" in browser.panel(), browser.panel()
    browser.key("Enter", 13)
    browser.frame()
    assert int(browser.data("shown")) == before, "opening the group does not show it again"
    browser.eval("document.getElementById('shut').click()")
    browser.frame()
    assert int(browser.data("shown")) < closed
    search(browser, "softmax")
    assert "softmax" in browser.panel()
    browser.key("ArrowDown", 40)
    browser.frame()
    assert "softmax" not in browser.panel().split("\n")[0], "an arrow does not go on"
    browser.key("/", 191)
    browser.type("gather")
    browser.frame()
    first = "document.getElementById('found-0').getBoundingClientRect()"
    browser.click(*browser.eval(f"[{first}.x + 20, {first}.y + 10]"))
    assert not is_open(browser) and "gather" in browser.panel(), "a click on a name does not choose it"
    search(browser, "self_attention")
    assert "fragment" in browser.panel(), "a fragment is not found"
    browser.key("Escape", 27)
    search(browser, "softmax")
    before = float(browser.data("scale"))
    browser.key("+", 187)
    browser.frame()
    assert float(browser.data("scale")) > before, "plus does not zoom"


def check_large(browser, page, operations):
    """A page with thousands of operations is usable."""
    browser.open(page)
    assert f"{operations} operations" in browser.eval("document.getElementById('count').textContent")
    browser.eval("document.getElementById('open').click()")
    browser.frame()
    assert int(browser.data("shown")) >= operations // 2
    browser.eval("document.getElementById('fit').click()")
    browser.frame()
    started = time.monotonic()
    for _ in range(10):
        browser.eval("document.getElementById('in').click()")
        browser.frame()
    frames = (time.monotonic() - started) / 10
    search(browser, "layer_400")
    assert browser.panel() is not None
    return frames


def check_hostile(browser, page):
    """Strings that look like markup stay strings."""
    browser.open(page)
    search(browser, "script")
    assert "</script><script>" in browser.panel(), browser.panel()
    assert browser.eval("window.broken") is None


def check_layout(browser, page):
    """The panel draws the memory of a tensor with a layout."""
    browser.open(page)
    search(browser, "transpose")
    panel = browser.panel()
    assert "{0,1:T(2,4)} 64 B, 40 B of it padding" in panel, panel
    cells = browser.eval("[...document.querySelectorAll('#panel .memory td')].map(cell => [cell.innerText, cell.title, "
                         "getComputedStyle(cell).backgroundColor])")
    wanted = ["0", "3", "", "", "1", "4", "", "", "2", "5", "", "", "", "", "", ""]
    assert [text for text, _, _ in cells] == wanted, cells
    assert cells[5][1] == "place 5: element (1, 1)" and cells[3][1] == "place 3: padding", cells
    assert len({color for text, _, color in cells if text}) == 6, "elements have one colour"


def large_document():
    """About 5,000 operations in 500 calls of a fragment."""
    body = "".join(f"    layer_{i + 1} = layer(layer_{i}, w);\n" for i in range(500))
    ops = "y = relu(a); a = add(d, x); d = mul(c, c); c = tanh(b); b = sigmoid(e); e = exp(f); f = sub(g, x); "
    ops += "g = max(h, x); h = conv(x, w, 0.0, padding = [(1,1),(1,1)]); "
    statements = "".join(reversed([part + "; " for part in ops.split("; ") if part]))
    return f"""version 1.0;
extension KHR_enable_fragment_definitions;
fragment layer( x: tensor<scalar>, w: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ {statements} }}
graph large( layer_0 ) -> ( layer_500 )
{{
    layer_0 = external<scalar>(shape = [1,4,8,8]);
    w = variable<scalar>(shape = [4,4,3,3], label = 'w');
{body}}}
""", 4502


def fan_document():
    """A tensor with 400 users, and an operation that uses all their results."""
    users = "".join(f"    y{i} = relu(x);\n" for i in range(400))
    results = ", ".join(f"y{i}" for i in range(400))
    return f"""version 1.0;
graph fan( x ) -> ( y )
{{
    x = external<scalar>(shape = [1,2]);
{users}    y = concat([{results}], axis = 0);
}}
"""


LAYOUT = """version 1.0;
graph layout( x ) -> ( y )
{
    x = external<scalar>(shape = [2,3]);
    y = transpose(x, axes = [1,0]);
}
"""

HOSTILE = """version 1.0;
graph hostile( x ) -> ( y )
{
    x = external<scalar>(shape = [1]);
    v = variable<scalar>(shape = [1], label = '</script><script>window.broken = 1</script><!--');
    y = add(x, v);
}
"""


def main():
    args = arguments(__doc__).parse_args()
    program = args.browser or installed()
    if program is None:
        print("no Chromium")
        return 3
    root = pathlib.Path(__file__).resolve().parents[2]
    # Helper processes of the browser may still write into its profile.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder = pathlib.Path(folder)

        def make(source, name, *options):
            page = folder / name
            subprocess.run([os.path.abspath(args.bin), "-q", source, "-o", page, *options], check=True, cwd=root)
            return page

        text, operations = large_document()
        (folder / "large.nnef").write_text(text)
        (folder / "hostile.nnef").write_text(HOSTILE)
        (folder / "fan.nnef").write_text(fan_document())
        (folder / "layout.nnef").write_text(LAYOUT)
        browser = Page(program, folder / "profile")
        try:
            example, gru = "examples/transformer.nnef", "examples/gru.nnef"
            steps = [
                ("diagonal", lambda: check_same(
                    browser, make(gru, "gru.html", "--lower", "all"), make(gru, "gru.svg", "--lower", "all"))),
                ("fan", lambda: check_same(
                    browser, make(folder / "fan.nnef", "fan.html"), make(folder / "fan.nnef", "fan.svg"))),
                ("small", lambda: check_small(browser, make(example, "small.html"), make(example, "small.svg"))),
                ("large", lambda: check_large(browser, make(folder / "large.nnef", "large.html"), operations)),
                ("layout", lambda: check_layout(
                    browser, make(folder / "layout.nnef", "layout.html", "--layout", "x={0,1:T(2,4)}"))),
                ("hostile", lambda: check_hostile(browser, make(folder / "hostile.nnef", "hostile.html"))),
            ]
            for name, step in steps:
                frames = step()
                assert not browser.messages, f"{name}: {browser.messages}"
                print(f"{name}: ok" + (f", {frames * 1000:.0f} ms a frame" if frames else ""))
                if args.pictures:
                    args.pictures.mkdir(parents=True, exist_ok=True)
                    browser.picture(args.pictures / f"{name}.png")
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
