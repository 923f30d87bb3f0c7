#!/usr/bin/env python3
"""Uses the pages of `--to html` in a real browser, Chromium without a window.

Drives it through its DevTools over a pipe; needs nothing but Python and Chromium. The first screens of six networks of
`../shared` are checked, light and dark, where they are there; `--pictures` keeps pictures of them. Exit status 0 if all
is as it should be, 1 if not, 3 if there is no browser.
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

from chromium import Browser, arguments, installed


# The most boxes of a first screen, and the smallest scale of its texts.
FEW, LEGIBLE = 30, 0.5
# The seconds in which the page of the largest network has to be open: 3, and time for a machine that does other work.
OPENED = 6
# Six networks: folders of `../shared`.
NETWORKS = ["models/llama16", "models/vit_b_16", "models/bert12", "models/resnet50", "models/resnet50.onnx",
            "models-onnx/jax_transformer3/model.onnx"]
# The boxes that overlap, and those outside of the window.
OVERLAPPING = """(() => {
  const found = [], { boxes } = page.shown, name = box => JSON.stringify(box);
  const sorted = boxes.slice().sort((a, b) => a.y - b.y);
  sorted.forEach((a, i) => {
    for (let j = i + 1; j < sorted.length && sorted[j].y < a.y + a.h; j++) {
      const b = sorted[j];
      if (a.x < b.x + b.w && b.x < a.x + a.w) found.push(name(a) + ' ' + name(b));
    }
  });
  return found.slice(0, 5);
})()"""
OUTSIDE = """page.shown.boxes.filter(box => {
  const { x, y, scale } = page.view, { width, height } = page.size();
  return x + box.x * scale < 0 || y + box.y * scale < 0 ||
    x + (box.x + box.w) * scale > width || y + (box.y + box.h) * scale > height;
}).length"""
# What a link has to restore.
STATE = """JSON.stringify([page.data.groups.flatMap((group, id) => id && group.open ? [id] : []), page.selected.item,
  page.panel.item, page.search.input.value])"""


class Page(Browser):
    """A browser with a page of `--to html`."""

    def open(self, path, until="document.querySelector('.canvas')?.dataset.drawn !== undefined", fragment=""):
        # A link within the page that is open does not load it again.
        self.call("Page.navigate", url="about:blank")
        super().open(path, until, fragment)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, dark):
        value = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def link(self):
        """The fragment of the address, which is written a little later than the state changes."""
        time.sleep(0.3)
        return self.eval("location.hash")

    def data(self, name):
        return self.eval(f"document.querySelector('.canvas').dataset[{json.dumps(name)}]")

    def panel(self):
        return self.eval("document.querySelector('.panel').hidden ? null : document.querySelector('.panel').innerText")


def search(browser, text):
    """Searches with the keyboard only and goes to the first result."""
    browser.key("/", 191)
    assert browser.eval("document.activeElement.className") == "search", "a slash does not lead to the search"
    # The text of an earlier search is replaced.
    browser.type(text)
    assert is_open(browser), "the list of found names is not shown"
    found = browser.eval("document.querySelectorAll('.found li[role=option]').length")
    assert found > 0, f"{text} is not found"
    browser.key("Enter", 13)
    browser.frame()
    assert not is_open(browser), "the list of found names stays"


def is_open(browser):
    """Whether the list of found names is shown, for eyes and for screen readers."""
    told = browser.eval("document.querySelector('.search').getAttribute('aria-expanded')") == "true"
    assert told == browser.eval("!document.querySelector('.found').hidden")
    return told


def middle(browser):
    """The middle of the canvas, where the search result is."""
    box = "document.querySelector('.canvas').getBoundingClientRect()"
    return browser.eval(f"[{box}.x + {box}.width / 2, {box}.y + {box}.height / 2]")


def check_same(browser, page, svg):
    """With all groups open, the page has the same positions as the picture."""
    browser.open(page)
    browser.eval("document.querySelector('button[name=open]').click()")
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
    browser.eval("document.querySelector('button[name=shut]').click()")
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
    first = "document.querySelector('.found li').getBoundingClientRect()"
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


def check_link(browser, page):
    """A link restores what is selected, open and searched for."""
    before, link = browser.eval(STATE), browser.link()
    assert link.startswith("#"), "the address does not have the state"
    browser.open(page, fragment=link)
    assert browser.eval(STATE) == before, f"{link}: {browser.eval(STATE)} instead of {before}"


def check_links(browser, page):
    """Links to operations, groups, data and outputs; other links on the same page."""
    browser.open(page)
    assert browser.link() == "", "a page that nobody has touched has a state"
    for text in ["softmax", "self_attention", "embedding/table", "encoded"]:
        search(browser, text)
        check_link(browser, page)
    browser.eval("document.querySelector('button[name=open]').click()")
    check_link(browser, page)
    browser.eval("document.querySelector('button[name=shut]').click()")
    check_link(browser, page)
    search(browser, "softmax")
    link = browser.link()
    browser.key("Escape", 27)
    assert "select" not in browser.link(), "the address has a selection that is cleared"
    browser.eval(f"location.hash = {json.dumps(link)}")
    browser.wait("page.selected.item !== null", "the link on the page")
    assert "softmax" in browser.panel(), "a link on the page does not lead there"
    browser.open(page, fragment="#select=no%20such&open=%2Fnot&open=%2Fthere")
    assert browser.panel() is None


def check_keys(browser, page):
    """Keys work wherever the last click was; a question mark shows them."""
    browser.open(page)
    box = "document.querySelector('button[name=fit]').getBoundingClientRect()"
    browser.click(*browser.eval(f"[{box}.x + 5, {box}.y + 5]"))
    before = float(browser.data("scale"))
    browser.key("+", 187)
    browser.frame()
    assert float(browser.data("scale")) > before, "keys do not work after a click on a button"
    browser.key("?", 191)
    assert browser.eval("document.getElementById('keys').open"), "a question mark does not show the keys"
    browser.eval("document.querySelector('#keys button').click()")
    assert not browser.eval("document.getElementById('keys').open")
    browser.key("o", 79)
    opened = int(browser.data("shown"))
    browser.key("c", 67)
    assert int(browser.data("shown")) < opened, "the key c does not close groups"


def check_search(browser, page):
    """Lines, operators and modules are found; the panel marks the expression in its line."""
    browser.open(page)
    search(browser, "softmax")
    line = browser.eval("page.data.nodes[page.panel.item].s[1]")
    assert browser.eval("document.querySelector('.panel pre mark').innerText").startswith("softmax("), browser.panel()
    called = browser.eval("[...document.querySelectorAll('.panel ol mark')].map(mark => mark.innerText)")
    assert called and all("(" in text for text in called), f"calls without arguments: {called}"
    assert browser.eval("document.querySelectorAll('.panel .path button').length") > 0, "no modules"
    for text in [f":{line}", f"line {line}", f"transformer.nnef:{line}"]:
        search(browser, text)
        assert browser.eval("page.data.nodes[page.panel.item].s[1]") == line, text


def check_save(browser, page, folder):
    """What is open is saved as a well-formed file of SVG."""
    browser.open(page)
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    browser.eval("document.querySelector('button[name=save]').click()")
    end = time.monotonic() + 20
    while not (saved := list(folder.glob("*.svg"))) and time.monotonic() < end:
        time.sleep(0.05)
    assert saved, "nothing is saved"
    root = xml.etree.ElementTree.fromstring(saved[0].read_text())
    assert root.tag == "{http://www.w3.org/2000/svg}svg", root.tag
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    shown = browser.eval("page.shown.boxes.map(box => (isGroup(box.item) ? page.data.groups[groupOf(box.item)].title : "
                         "page.data.nodes[box.item].t))")
    assert set(shown) <= set(texts), set(shown) - set(texts)
    assert abs(float(root.get("width")) - browser.eval("page.shown.w") - 16) < 0.11


def check_values(browser, page):
    """The panel tells what the data of a variable are like."""
    browser.open(page)
    search(browser, "w")
    panel = browser.panel()
    for text in ["minimum", "-1.5", "maximum", "2", "mean", "0.25"]:
        assert text in panel, f"{text}: {panel}"
    assert browser.eval("document.querySelectorAll('.panel .histogram i').length") == 32


def check_first(browser, page):
    """The first screen is whole, has few boxes, and none overlaps; nor does any with all groups open."""
    browser.open(page)
    browser.frame()
    boxes = browser.eval("page.shown.boxes.length")
    assert 1 < boxes <= FEW, f"{boxes} boxes"
    assert browser.eval(OUTSIDE) == 0, f"{browser.eval(OUTSIDE)} boxes are outside of the window"
    assert browser.eval("page.view.scale") >= LEGIBLE, browser.eval("page.view.scale")
    assert not browser.eval(OVERLAPPING), browser.eval(OVERLAPPING)
    return boxes


def check_network(browser, page, pictures):
    """A network at first sight, light and dark, and with all groups open; a link to an operation of it."""
    for dark in [False, True]:
        browser.dark(dark)
        boxes = check_first(browser, page)
        if pictures:
            pictures.mkdir(parents=True, exist_ok=True)
            browser.picture(pictures / f"{page.stem}{'-dark' if dark else ''}.png")
    browser.dark(False)
    browser.eval("document.querySelector('button[name=open]').click()")
    browser.frame()
    assert not browser.eval(OVERLAPPING), browser.eval(OVERLAPPING)
    browser.open(page)
    browser.eval("page.go(page.data.nodes.findLastIndex(node => node.k === 0 && node.g))")
    check_link(browser, page)
    if pictures:
        browser.picture(pictures / f"{page.stem}-selected.png")
    return boxes


def check_huge(browser, page):
    """A page with 131,072 operations opens soon. Returns the seconds."""
    browser.open(page)
    seconds = browser.eval("page.opened / 1000")
    check_first(browser, page)
    assert seconds < OPENED, f"{seconds:.1f} s"
    return seconds


def check_comparison(browser, page):
    """Two pages side by side: changes are marked and listed, and keys lead from one to the next in both graphs."""
    browser.open(page)
    marks = "comparison.pages.map(page => page.data.nodes.filter(node => node.mark).map(node => [node.mark, node.name]))"
    assert browser.eval(marks) == [[["changed", "max_pool"]], [["changed", "max_pool"], ["added", "sigmoid"]]]
    assert browser.eval("comparison.pages.map(page => page.data.groups[1].changes)") == [1, 2]
    rows = browser.eval("[...document.querySelectorAll('#changes button')].map(row => [row.dataset.kind, row.innerText])")
    assert [kind for kind, _ in rows] == ["changed", "added"], rows
    names = "comparison.pages.map(page => page.panel.item === null ? null : page.data.nodes[page.panel.item].name)"
    browser.key("n", 78)
    browser.frame()
    assert browser.eval(names) == ["max_pool", "max_pool"], browser.eval(names)
    panel = browser.eval("document.querySelector('#b .panel').innerText")
    assert "stride: [1, 1, 1, 1] -> [1, 1, 2, 2]" in panel, panel
    browser.key("n", 78)
    assert browser.eval(names) == [None, "sigmoid"], browser.eval(names)
    browser.key("p", 80)
    link = browser.link()
    browser.open(page, fragment=link)
    assert browser.eval(names) == ["max_pool", "max_pool"], f"{link}: {browser.eval(names)}"
    # Other keys go to the side that was used last.
    box = "document.querySelector('#b .canvas').getBoundingClientRect()"
    browser.click(*browser.eval(f"[{box}.x + 5, {box}.y + 5]"))
    browser.key("/", 191)
    assert browser.eval("document.querySelector('#b').contains(document.activeElement)")
    browser.type("relu")
    browser.key("Enter", 13)
    assert browser.eval(names) == ["max_pool", "relu"], browser.eval(names)


def check_large(browser, page, operations):
    """A page with thousands of operations is usable."""
    browser.open(page)
    assert f"{operations} operations" in browser.eval("document.querySelector('.count').textContent")
    browser.eval("document.querySelector('button[name=open]').click()")
    browser.frame()
    assert int(browser.data("shown")) >= operations // 2
    browser.eval("document.querySelector('button[name=fit]').click()")
    browser.frame()
    started = time.monotonic()
    for _ in range(10):
        browser.eval("document.querySelector('button[name=in]').click()")
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
    cells = browser.eval("[...document.querySelectorAll('.panel .memory td')].map(cell => [cell.innerText, cell.title, "
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


def huge_document():
    """131,072 operations: 128 modules of 1,024."""
    lines, last = [], "x"
    for layer in range(128):
        for i in range(1024):
            name = f"net__layer_{layer}__block_{i // 64}__t{i}"
            lines.append(f"    {name} = {('relu', 'tanh', 'sigmoid', 'exp')[i % 4]}({last});\n")
            last = name
    shape = "x = external<scalar>(shape = [1,8]);"
    return f"version 1.0;\ngraph huge( x ) -> ( {last} )\n{{\n    {shape}\n{''.join(lines)}}}\n"


def write_model(folder):
    """A model with a variable of four items."""
    folder.mkdir()
    (folder / "graph.nnef").write_text(MODEL)
    items = struct.pack("<4f", -1.5, 0.0, 0.5, 2.0)
    header = struct.pack("<2sBBI I8I I I32s", b"N\xef", 1, 0, len(items), 2, 2, 2, 0, 0, 0, 0, 0, 0, 32, 0, bytes(32))
    (folder / "w.dat").write_bytes(header.ljust(128, b"\0") + items)


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

COMPARED = """version 1.0;
extension KHR_enable_fragment_definitions;
fragment block( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    a = max_pool(x, size = [1,1,2,2], stride = [1,1,1,1]);
    y = exp(a);
}
graph g( x ) -> ( y )
{
    x = external<scalar>(shape = [1,2,8,8]);
    y = relu(block(x));
}
"""

MODEL = """version 1.0;
graph valued( x ) -> ( y )
{
    x = external<scalar>(shape = [1,2]);
    w = variable<scalar>(shape = [2,2], label = 'w');
    y = matmul(x, w);
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

        def compared():
            page = folder / "comparison.html"
            other = COMPARED.replace("[1,1,1,1]", "[1,1,2,2]").replace("exp(a)", "exp(sigmoid(a))")
            (folder / "before.nnef").write_text(COMPARED)
            (folder / "after.nnef").write_text(other)
            command = [os.path.abspath(args.bin), "-q", "diff", "before.nnef", "after.nnef", "--page", page]
            assert subprocess.run(command, stdout=subprocess.DEVNULL, cwd=folder).returncode == 1
            return page

        text, operations = large_document()
        (folder / "large.nnef").write_text(text)
        (folder / "hostile.nnef").write_text(HOSTILE)
        (folder / "fan.nnef").write_text(fan_document())
        (folder / "layout.nnef").write_text(LAYOUT)
        (folder / "huge.nnef").write_text(huge_document())
        write_model(folder / "valued")
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
                ("links", lambda: check_links(browser, make(example, "links.html"))),
                ("keys", lambda: check_keys(browser, make(example, "keys.html"))),
                ("search", lambda: check_search(browser, make(example, "search.html"))),
                ("save", lambda: check_save(browser, make(example, "save.html"), folder / "saved")),
                ("values", lambda: check_values(browser, make(folder / "valued", "values.html"))),
                ("comparison", lambda: check_comparison(browser, compared())),
                ("hostile", lambda: check_hostile(browser, make(folder / "hostile.nnef", "hostile.html"))),
            ]
            for name, step in steps:
                frames = step()
                assert not browser.messages, f"{name}: {browser.messages}"
                print(f"{name}: ok" + (f", {frames * 1000:.0f} ms a frame" if frames else ""))
                if args.pictures:
                    args.pictures.mkdir(parents=True, exist_ok=True)
                    browser.picture(args.pictures / f"{name}.png")
            # The size of a small screen.
            browser.size(1280, 800)
            seconds = check_huge(browser, make(folder / "huge.nnef", "huge.html"))
            print(f"huge: ok, open after {seconds:.1f} s")
            for network in NETWORKS:
                source, name = root.parent / "shared" / network, network.split("/")[1]
                if not source.exists():
                    print(f"skipped: no ../shared/{network}")
                    continue
                boxes = check_network(browser, make(source, f"{name}.html"), args.pictures)
                assert not browser.messages, f"{name}: {browser.messages}"
                print(f"{name}: ok, {boxes} boxes at first")
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
