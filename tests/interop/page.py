#!/usr/bin/env python3
"""Uses the pages of `--to html` in a real browser, Chromium without a window.

Drives it through its DevTools over a pipe; needs nothing but Python and Chromium. The first screens of an example and of
eight networks of `../shared`, where they are there, are checked in the window of a desk and of a phone, light and dark: no
text is small, no box lies on another one, panels are in the window, nothing has to be moved sideways. `--pictures` keeps
pictures of them. Exit status 0 if all
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


# The most boxes of a first screen, and the least size of its texts in pixels, and of the smallest ones at scale 1.
FEW, READABLE, SMALLEST = 30, 9, 10.5
# So many of its boxes are in the window, if there are as many.
MANY = 8
# The windows.
DESK, PHONE = (1440, 900), (390, 844)
# The seconds after which the page of the largest network counts as hanging: it takes 3, on a machine that does nothing else.
OPENED = 60
# Networks: folders of `../shared`, and the titles of boxes of their first screens for equal modules.
NETWORKS = {"models/llama16": "16 × layer", "models/vit_b_16": "layers: 12 × encoder_layer", "models/bert12": "11 × layer",
            "models/resnet50": None, "models/resnet50.onnx": "5 × conv, relu, add", "models/lstm2": None,
            "models/densenet121": None, "models-onnx/jax_transformer3/model.onnx": "3 × Block"}
# The boxes that overlap, those beside the window, and those in it.
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
BESIDE = """page.shown.boxes.filter(box => {
  const { x, scale } = page.view;
  return x + box.x * scale < 0 || x + (box.x + box.w) * scale > page.size().width;
}).length"""
WITHIN = """page.shown.boxes.filter(box => {
  const { y, scale } = page.view;
  return y + box.y * scale >= 0 && y + (box.y + box.h) * scale <= page.size().height;
}).length"""
# Texts of the page itself that are too small, and what lies outside of the window or makes it wider.
SMALL = f"""[...document.body.querySelectorAll('*')].filter(of => of.getClientRects().length &&
  [...of.childNodes].some(node => node.nodeType === 3 && node.data.trim()) &&
  parseFloat(getComputedStyle(of).fontSize) < {READABLE}).map(of => of.outerHTML.slice(0, 80))"""
WIDER = """[...document.querySelectorAll('.bar, .bar *, .panel, .canvas, .changes, .side')].filter(of => {
  const box = of.getBoundingClientRect();
  return box.width && (box.left < -0.5 || box.right > innerWidth + 0.5 || of.matches('.panel') && box.bottom > innerHeight + 0.5);
}).map(of => of.outerHTML.slice(0, 80)).concat(document.documentElement.scrollWidth > innerWidth ? ['the document'] : [])"""
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
    assert "the model" in browser.panel(), "Escape does not clear the selection"
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
    assert "the model" in browser.panel()


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
    browser.key("m", 77)
    assert browser.panel() is None, "the key m does not hide the panel of the model"
    browser.key("m", 77)
    assert "the model" in browser.panel(), "the key m does not show the model"
    browser.eval("document.querySelector('.panel .close').click()")
    assert browser.panel() is None, "the panel of the model does not close"


def check_wheel(browser, page):
    """The wheel moves the picture; with Ctrl it zooms."""
    browser.open(page)
    before = browser.eval("page.view")
    turn = {"type": "mouseWheel", "x": 400, "y": 400, "deltaX": 0, "deltaY": 120}
    browser.call("Input.dispatchMouseEvent", **turn)
    browser.wait(f"page.view.y < {before['y']}", "the wheel")
    assert browser.eval("page.view.scale") == before["scale"], "the wheel zooms"
    browser.call("Input.dispatchMouseEvent", modifiers=2, **turn)
    browser.wait(f"page.view.scale < {before['scale']}", "the wheel with Ctrl")


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


def check_fits(browser):
    """All texts of the page can be read, and nothing lies beside the window."""
    assert not browser.eval(SMALL), browser.eval(SMALL)
    assert not browser.eval(WIDER), browser.eval(WIDER)


def check_first(browser, page):
    """The first screen has few boxes, none overlaps, and all texts can be read; it is whole, or starts at the top."""
    browser.open(page)
    browser.frame()
    boxes = browser.eval("page.shown.boxes.length")
    assert 1 < boxes <= FEW, f"{boxes} boxes"
    assert not browser.eval(BESIDE), f"{browser.eval(BESIDE)} boxes are beside the window"
    assert browser.eval(WITHIN) >= min(boxes, MANY), f"{browser.eval(WITHIN)} of {boxes} boxes are in the window"
    top = browser.eval("Math.min(...page.shown.boxes.map(box => box.y)) * page.view.scale + page.view.y")
    assert top >= 0, f"the top is {top} above the window"
    scale = browser.eval("page.view.scale")
    assert scale * SMALLEST >= READABLE, f"the scale is {scale}"
    assert not browser.eval(OVERLAPPING), browser.eval(OVERLAPPING)
    check_fits(browser)
    return boxes


def check_phone(browser, page, name, pictures):
    """The panel is in the window of a phone, below the picture."""
    check_first(browser, page)
    assert browser.panel() is None, "the panel hides the picture"
    if pictures:
        browser.picture(pictures / f"{name}.png")
    browser.eval("document.querySelector('button[name=model]').click()")
    assert "the model" in browser.panel()
    for select in ["", "page.go(page.data.nodes.findLastIndex(node => node.k === 0))"]:
        browser.eval(select)
        browser.frame()
        check_fits(browser)
        height = browser.eval("document.querySelector('.panel').clientHeight")
        assert height >= 200, f"the panel has {height} pixels"
        assert browser.eval("document.querySelector('.canvas').clientHeight") >= 200
    if pictures:
        browser.picture(pictures / f"{name}-selected.png")


def check_network(browser, page, title, pictures):
    """A network at first sight, light and dark, on a desk and on a phone, and with all groups open; a link to an operation
    of it. Equal modules are one box with a title."""
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    for dark in [False, True]:
        browser.dark(dark)
        mode = "-dark" if dark else ""
        browser.size(*PHONE)
        check_phone(browser, page, f"{page.stem}-phone{mode}", pictures)
        browser.size(*DESK)
        boxes = check_first(browser, page)
        assert "Legend" in browser.eval("document.querySelector('.panel').textContent"), "no legend"
        if pictures:
            browser.picture(pictures / f"{page.stem}{mode}.png")
    titles = browser.eval("page.shown.boxes.filter(box => isGroup(box.item)).map(box => page.data.groups[groupOf(box.item)].title)")
    assert title is None or title in titles, f"{title} is not among {titles}"
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
    """A page with 131,072 operations opens. Returns the seconds."""
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


def check_removed(browser, page):
    """What was removed or added is marked as such, also where data were removed with it; a legend tells the colours."""
    browser.open(page)
    marks = "comparison.pages.map(page => page.data.nodes.filter(node => node.mark && node.k < 3).map(node => [node.mark, node.name]))"
    assert browser.eval(marks) == [[["removed", "linear"]], [["added", "tanh"]]], browser.eval(marks)
    legend = browser.eval("document.querySelector('.kinds').innerText").split()
    assert legend[:6] == ["added:", "1", "removed:", "2", "changed:", "0"], legend
    # The output is computed from what has changed.
    follows = "comparison.pages.map(page => page.data.nodes.filter(node => node.follows).map(node => node.name))"
    assert browser.eval(follows) == [["y"], ["y"]] and "output" in legend, (browser.eval(follows), legend)
    for size in [DESK, PHONE]:
        browser.size(*size)
        browser.open(page)
        check_fits(browser)


def check_model(browser, page):
    """The panel tells what the model tells about itself; values are told apart from shapes."""
    browser.open(page)
    panel = browser.panel()
    for text in ["told.onnxtxt", "ai.onnx 17, l 1", "maker 2", "l.twice", "key: value", "parameters\t30", "multiply-adds\t96"]:
        assert text in panel, f"{text}: {panel}"
    rows = browser.eval("page.data.nodes.flatMap(node => node.r || [])")
    assert ["B", "= 0.5"] in rows and ["B", "[6]"] in rows, rows


def check_named(browser, page):
    """Modules that names of nodes tell are groups and are found; what is not counted is told, as by `--stats`."""
    browser.open(page)
    titles = browser.eval("page.data.groups.slice(1).map(group => group.title)")
    assert titles == ["layers: 3 × layer", "layers/0", "layers/1", "layers/2", "head"], titles
    panel = browser.panel()
    for text in ["notation\tONNX", "operations\t8", "multiply-adds\tunknown", "not counted\t1", "v.Odd\t1"]:
        assert text in panel, f"{text}: {panel}"
    assert "fragment" not in panel.lower(), panel
    for path, found in {"layers.1": "layers/1", "layers/1": "layers/1", "/net/layers.1/exp": "Exp"}.items():
        search(browser, path)
        assert browser.panel().startswith(found), f"{path}: {browser.panel()}"
        browser.key("Escape", 27)


def check_module(browser, page):
    """The panel of a group tells its counts, what enters and leaves it; paths of modules are found."""
    browser.open(page)
    search(browser, "net/block_1")
    panel = browser.panel()
    for text in ["operations\t2", "parameters\t0", "net__block_0__b", "net__block_1__b", "3 × block"]:
        assert text in panel, f"{text}: {panel}"
    search(browser, "net/block_2/relu")
    assert browser.panel().startswith("relu"), browser.panel()
    browser.key("c", 67)
    run = browser.eval("page.data.groups.findIndex(group => group.x === 3)")
    browser.eval(f"page.go(-1 - {run})")
    panel = browser.panel()
    assert "3 equal modules, 6 operations" in panel and "6, 2 each" in panel and "block_2" in panel, panel


def check_large(browser, page, operations):
    """A page with thousands of operations is usable."""
    browser.open(page)
    told = browser.eval("document.querySelector('.count').textContent").replace("\u2009", "")
    counts = [int(word) for word in told.split() if word.isdigit()]
    assert sum(counts) == operations, told
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

MODULES = """version 1.0;
graph modules( x ) -> ( y )
{
    x = external<scalar>(shape = [1,8]);
    net__block_0__a = exp(x);
    net__block_0__b = relu(net__block_0__a);
    net__block_1__a = exp(net__block_0__b);
    net__block_1__b = relu(net__block_1__a);
    net__block_2__a = exp(net__block_1__b);
    net__block_2__b = relu(net__block_2__a);
    y = tanh(net__block_2__b);
}
"""

TOLD = """<ir_version: 8, opset_import: ["" : 17, "l" : 1], producer_name: "maker", producer_version: "2",
  metadata_props: ["key" : "value"]>
told (float[4,4] x) => (float[4,6] y) <float[4,6] w = {WEIGHTS}, float[6] b = {1, 2, 3, 4, 5, 6}> {
    h = Constant <value_float = 0.5> ()
    t = Mul (x, h)
    u = l.twice (t)
    m = MatMul (u, w)
    y = Add (m, b)
}
<domain: "l", opset_import: ["" : 17]> twice (a) => (c) { c = Add (a, a) }
""".replace("WEIGHTS", ", ".join(map(str, range(24))))

# Nodes whose names are paths of modules, and one of an operator that is not known.
NAMED = """<ir_version: 10, opset_import: ["" : 21, "v" : 1]>
named (float[2,3] x) => (float[2,3] y) {
    STEPS
    ["/net/head/Odd"] c = v.Odd (b2)
    ["/net/head/Abs"] y = Abs (c)
}
""".replace("STEPS", "\n    ".join(
    f'["/net/layers.{i}/Relu"] a{i} = Relu ({f"b{i - 1}" if i else "x"}) ["/net/layers.{i}/Exp"] b{i} = Exp (a{i})' for i in range(3)))

# An operation with data, and another one instead of it.
REMOVED = """version 1.0;
graph g( x ) -> ( y )
{
    x = external<scalar>(shape = [1,4]);
    w = variable<scalar>(shape = [4,4], label = 'w');
    h = linear(x, w, 0.0);
    y = relu(h);
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

        def compared(name, before, after):
            page = folder / name
            (folder / "before.nnef").write_text(before)
            (folder / "after.nnef").write_text(after)
            command = [os.path.abspath(args.bin), "-q", "diff", "before.nnef", "after.nnef", "--page", page]
            assert subprocess.run(command, stdout=subprocess.DEVNULL, cwd=folder).returncode == 1
            return page

        text, operations = large_document()
        (folder / "large.nnef").write_text(text)
        (folder / "hostile.nnef").write_text(HOSTILE)
        (folder / "fan.nnef").write_text(fan_document())
        (folder / "layout.nnef").write_text(LAYOUT)
        (folder / "huge.nnef").write_text(huge_document())
        (folder / "told.onnxtxt").write_text(TOLD)
        (folder / "named.onnxtxt").write_text(NAMED)
        (folder / "modules.nnef").write_text(MODULES)
        write_model(folder / "valued")
        browser = Page(program, folder / "profile")
        try:
            changed = COMPARED.replace("[1,1,1,1]", "[1,1,2,2]").replace("exp(a)", "exp(sigmoid(a))")
            replaced = "\n".join(line for line in REMOVED.splitlines() if "variable" not in line).replace("linear(x, w, 0.0)", "tanh(x)")
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
                ("wheel", lambda: check_wheel(browser, make(example, "wheel.html"))),
                ("model", lambda: check_model(browser, make(folder / "told.onnxtxt", "model.html"))),
                ("named", lambda: check_named(browser, make(folder / "named.onnxtxt", "named.html"))),
                ("module", lambda: check_module(browser, make(folder / "modules.nnef", "module.html"))),
                ("comparison", lambda: check_comparison(browser, compared("comparison.html", COMPARED, changed))),
                ("removed", lambda: check_removed(browser, compared("removed.html", REMOVED, replaced))),
                ("hostile", lambda: check_hostile(browser, make(folder / "hostile.nnef", "hostile.html"))),
            ]
            for name, step in steps:
                frames = step()
                assert not browser.messages, f"{name}: {browser.messages}"
                print(f"{name}: ok" + (f", {frames * 1000:.0f} ms a frame" if frames else ""))
                if args.pictures:
                    args.pictures.mkdir(parents=True, exist_ok=True)
                    browser.picture(args.pictures / f"{name}.png")
                browser.size(*DESK)
            # The size of a small screen.
            browser.size(1280, 800)
            seconds = check_huge(browser, make(folder / "huge.nnef", "huge.html"))
            print(f"huge: ok, open after {seconds:.1f} s")
            boxes = check_network(browser, make(example, "transformer.html"), None, args.pictures)
            print(f"transformer: ok, {boxes} boxes at first")
            for network, title in NETWORKS.items():
                source, name = root.parent / "shared" / network, network.split("/")[1]
                if not source.exists():
                    print(f"skipped: no ../shared/{network}")
                    continue
                boxes = check_network(browser, make(source, f"{name}.html"), title, args.pictures)
                assert not browser.messages, f"{name}: {browser.messages}"
                print(f"{name}: ok, {boxes} boxes at first")
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
