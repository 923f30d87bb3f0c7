#!/usr/bin/env python3
"""Uses the page of `web/build.py` in a real browser, Chromium without a window.

What the page makes of models is compared with what the command makes of them. Exit status 0 if all is as it should be,
1 if not, 3 if there is no browser.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from chromium import Browser, arguments, installed

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The levels that the browser has to read, and those that it has to refuse.
NESTED, TOO_DEEP = 240, 3000

# What nests: the text before an operand, and after it. Some of it counts as two levels.
NESTING = [("(x + ", ")"), ("f(", ")"), ("f(k = ", ")"), ("[", ", x]"), ("(x, ", ")"), ("x[", "]"), ("-", ""),
           ("x if x else ", ""), ("x if ", " else x"), ("length_of(", ")"), ("[for i in ", " yield x]")]

# The message of what overflows the stack.
OVERFLOW = "stack of the browser"


class Site(Browser):
    """A browser with the page."""

    def shows(self, what):
        self.wait(f"document.body.dataset.shown === {json.dumps(what)}", what)

    def act(self, expression, shown):
        """Does something, and waits until the page shows its result, if it is known."""
        self.eval("delete document.body.dataset.shown")
        self.eval(expression)
        if shown:
            self.shows(shown)

    def click_on(self, element, shown):
        self.act(f"document.getElementById({json.dumps(element)}).click()", shown)

    def text(self, element):
        return self.eval(f"document.getElementById({json.dumps(element)}).innerText")

    def give(self, path, shown):
        """Chooses a file, and waits for its result if one is to be shown."""
        self.eval("delete document.body.dataset.shown")
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        chosen = self.call("DOM.querySelector", nodeId=root, selector="#chosen")["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=chosen, files=[str(path)])
        if shown:
            self.shows(shown)

    def write(self, text, shown):
        """Replaces the source."""
        self.act(f"""(() => {{
            const area = document.getElementById('source');
            area.value = {json.dumps(text)};
            area.dispatchEvent(new Event('input', {{ bubbles: true }}));
        }})()""", shown)

    def option(self, name, value, shown):
        """Sets an option, as a user does."""
        self.act(f"""(() => {{
            const field = document.getElementById('options').elements[{json.dumps(name)}], value = {json.dumps(value)};
            if (field.type === 'checkbox') field.checked = value; else field.value = value;
            field.dispatchEvent(new Event('input', {{ bubbles: true }}));
        }})()""", shown)


class Checks:
    """What is checked, with the command for comparison."""

    def __init__(self, site, command, folder, pictures):
        self.site, self.command, self.folder, self.pictures = site, command, folder, pictures

    def flat(self, path, to, *options):
        """What the command writes."""
        words = [self.command, "--limits", "untrusted", "-q", "--to", to, *options, path]
        return subprocess.run(words, check=True, capture_output=True, cwd=ROOT).stdout

    def drawn(self, name):
        """Waits until the picture is drawn."""
        self.site.wait("document.querySelector('.canvas')?.dataset.drawn !== undefined", name, self.site.eval_inside)

    def keep(self, name):
        """Keeps a picture of the page, if they are wanted."""
        if self.pictures:
            self.site.frame()
            time.sleep(0.2)
            self.site.picture(self.pictures / f"{name}.png")

    def example(self, index, name, path, to, drawn):
        """An example: its picture, its flat text as the command writes it, and its statistics."""
        site = self.site
        if not site.eval("document.getElementById('start').hidden"):
            site.act(f"document.querySelectorAll('#examples button')[{index}].click()", "picture done")
        else:
            site.give(ROOT / path, "picture done")
        self.drawn(name)
        shown = site.eval_inside("document.querySelector('.canvas').dataset.shown")
        assert int(shown) >= drawn, f"{name}: {shown} boxes"
        self.keep(f"{name}-picture")
        site.click_on("tab-text", "text done")
        text = site.eval("document.querySelector('#text pre').textContent")
        wanted = self.flat(ROOT / path, to).decode()
        assert text == wanted, f"{name}: the page writes\n{text}\nand the command\n{wanted}"
        self.keep(f"{name}-text")
        site.click_on("tab-stats", "stats done")
        assert "operations" in site.text("stats"), site.text("stats")
        self.keep(f"{name}-statistics")
        site.click_on("tab-picture", "picture done") if site.eval("!document.querySelector('#picture iframe')") else \
            site.eval("document.getElementById('tab-picture').click()")

    def findings(self):
        """A broken model: its findings, their lines, and the way to them."""
        site = self.site
        site.give(ROOT / "examples/mistakes.nnef", "picture refused")
        assert site.eval("document.querySelectorAll('#findings > li.error').length") >= 2, site.text("findings")
        excerpt = site.eval("document.querySelector('#findings pre').textContent")
        assert "│" in excerpt and site.eval("document.querySelector('#gutter .error') !== null"), excerpt
        assert site.eval("document.getElementById('download').disabled")
        self.keep("findings")
        site.eval("document.querySelector('#findings button.head').click()")
        selected = site.eval("(() => { const area = document.getElementById('source'); "
                             "return area.value.slice(area.selectionStart, area.selectionEnd); })()")
        marked = site.eval("document.querySelector('#findings .at').textContent")
        assert selected and (selected == marked or selected.startswith(marked) or marked == " "), (selected, marked)

    def nesting(self):
        """Deep models: one that is read, one that is refused where it is too deep, one that overflows the stack."""
        site = self.site

        def nested(count, before="(", operand="x + x", after=")"):
            return ("version 1.0;\nextension KHR_enable_operator_expressions;\ngraph G( x ) -> ( y )\n{\n"
                    f"    x = external<scalar>(shape = [2]);\n    y = {before * count}{operand}{after * count};\n}}\n")
        for before, after in NESTING:
            site.write(nested(NESTED, before, "x", after), None)
            site.wait("document.body.dataset.shown?.startsWith('picture')", before)
            assert OVERFLOW not in site.text("findings"), before
        site.write(nested(2 * NESTED), "picture done")
        site.write(nested(TOO_DEEP), "picture refused")
        found = site.text("findings")
        assert "levels of brackets" in found and "6:" in found, found
        self.keep("nesting")
        chain = "<ir_version: 10, opset_import: [\"\": 20, \"l\": 1]>\nm (float[2] x) => (float[2] y) { y = l.f0 (x) }\n"
        chain += "".join(f"<domain: \"l\", opset_import: [\"\": 20, \"l\": 1]>\nf{i} (a) => (b) {{ b = l.f{i + 1} (a) }}\n"
                         for i in range(4000))
        chain += "<domain: \"l\", opset_import: [\"\": 20]>\nf4000 (a) => (b) { b = Relu (a) }\n"
        path = self.folder / "chain.onnxtxt"
        path.write_text(chain)
        site.give(path, "picture refused")
        assert OVERFLOW in site.text("findings"), site.text("findings")
        site.give(ROOT / "examples/repeat.nnef", "picture done")

    def options(self):
        """Options change the result as they do for the command; values of another form are refused."""
        site = self.site
        site.give(ROOT / "examples/transformer.nnef", "picture done")
        site.click_on("tab-text", "text done")
        site.option("lower", "all", "text done")
        text = site.eval("document.querySelector('#text pre').textContent")
        assert text == self.flat("examples/transformer.nnef", "nnef", "--lower", "all").decode()
        site.option("share", True, "text done")
        text = site.eval("document.querySelector('#text pre').textContent")
        assert text == self.flat("examples/transformer.nnef", "nnef", "--lower", "all", "--share").decode()
        site.option("set", "S", "text refused")
        assert "expected SYMBOL=N" in site.text("findings"), site.text("findings")
        site.option("set", "", "text done")
        site.option("share", False, "text done")
        assert self.formats() == ["nnef", "json", "html", "svg", "dot"], self.formats()
        # Operators of torch are not translated in the browser, and the page says so.
        site.give(ROOT / "examples/pnnx/centre.pnnx.param", "text refused")
        assert "E0005" in site.text("findings") and "translate" in site.text("findings"), site.text("findings")
        site.option("lower", "custom", "text done")
        assert "pnnx" in self.formats() and "onnx" not in self.formats(), self.formats()

    def formats(self):
        """The formats that are offered for a download."""
        return self.site.eval("[...document.getElementById('format').options].map(format => format.value)")

    def binary(self):
        """A binary model, and its download."""
        site = self.site
        model = self.folder / "dense.onnx"
        model.write_bytes(self.flat("examples/onnx/dense.onnxtxt", "onnx"))
        site.eval("document.getElementById('tab-picture').click()")
        site.give(model, "picture done")
        assert "binary" in site.text("binary")
        self.drawn("binary")
        self.keep("binary")
        assert self.formats() == ["onnx", "onnxtxt", "json", "html", "svg", "dot"], self.formats()
        site.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.folder))
        site.eval("document.getElementById('format').value = 'onnx'; document.getElementById('download').click()")
        path, end = self.folder / "dense.flat.onnx", time.monotonic() + 20
        while not path.exists() and time.monotonic() < end:
            site.frame()
            time.sleep(0.05)
        assert path.read_bytes() == self.flat(model, "onnx"), "the download is not what the command writes"

    def stopping(self):
        """A run that takes long is stopped, and the page goes on."""
        site = self.site
        slow = ("version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n"
                "fragment d( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )\n"
                "{ y = d(d(x, n - 1), n - 1) if n > 0 else relu(x); }\n"
                "graph G( x ) -> ( y ) { x = external<scalar>(shape = [2]); y = d(x, 20); }\n")
        path = self.folder / "slow.nnef"
        path.write_text(slow)
        site.click_on("tab-text", "text done")
        site.option("limits", "large", "text done")
        site.give(path, None)
        site.wait("!document.getElementById('stop').hidden", "a long run")
        site.click_on("stop", "stopped")
        site.give(ROOT / "examples/repeat.nnef", "text done")
        site.option("limits", "small", "text done")
        site.click_on("tab-picture", "picture done")

    def keyboard(self):
        """Tabs by arrow keys; all controls have names."""
        site = self.site
        site.eval("document.getElementById('tab-picture').focus()")
        site.key("ArrowRight", 39)
        assert site.eval("document.activeElement.id") == "tab-text"
        assert site.eval("document.getElementById('text').hidden") is False
        site.key("ArrowLeft", 37)
        unnamed = site.eval("[...document.querySelectorAll('button, input, select, textarea')].filter(field => "
                            "!field.hidden && !field.labels?.length && !field.ariaLabel && !field.innerText.trim()).length")
        assert unnamed == 0, f"{unnamed} controls have no names"

    def network(self):
        """Nothing is asked for but the page itself and what it makes; a script that would ask for more is stopped."""
        site = self.site
        outside = [address for address in site.requests if not address.startswith(("file:", "blob:", "data:", "about:"))]
        assert site.requests and not outside, outside
        assert site.eval("fetch('https://example.org').then(() => 'sent', () => 'stopped')") == "stopped"
        assert any("Content Security Policy" in json.dumps(message) for message in site.messages), site.messages
        site.messages.clear()

    def looks(self):
        """Pictures of the page in the dark and on a narrow screen."""
        site = self.site
        dark = [{"name": "prefers-color-scheme", "value": "dark"}]
        site.call("Emulation.setEmulatedMedia", features=dark)
        site.give(ROOT / "examples/transformer.nnef", "picture done")
        self.drawn("dark")
        self.keep("dark")
        site.give(ROOT / "examples/mistakes.nnef", "picture refused")
        self.keep("dark-findings")
        site.call("Emulation.setEmulatedMedia", features=[])
        site.call("Emulation.setDeviceMetricsOverride", width=480, height=900, deviceScaleFactor=1, mobile=False)
        site.give(ROOT / "examples/transformer.nnef", "picture done")
        self.keep("narrow")


def main():
    parser = arguments(__doc__)
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "web/target/flatten.html")
    args = parser.parse_args()
    program = args.browser or installed()
    if program is None:
        print("no Chromium")
        return 3
    if args.pictures:
        args.pictures.mkdir(parents=True, exist_ok=True)
    # Helper processes of the browser may still write into its profile.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder = pathlib.Path(folder)
        site = Site(program, folder / "profile")
        try:
            started = time.monotonic()
            site.call("Network.enable")
            site.open(args.page, "document.body?.dataset.ready === 'yes'")
            site.eval("main.engine.module.then(() => true)")
            print(f"start: {time.monotonic() - started:.1f} s")
            checks = Checks(site, os.path.abspath(args.bin), folder, args.pictures)
            checks.keep("start")
            steps = [
                ("NNEF", lambda: checks.example(0, "nnef", "examples/transformer.nnef", "nnef", 6)),
                ("ONNX", lambda: checks.example(1, "onnx", "examples/onnx/heads.onnxtxt", "onnxtxt", 5)),
                ("PNNX", lambda: checks.example(2, "pnnx", "examples/pnnx/centre.pnnx.param", "nnef", 3)),
                ("findings", checks.findings), ("nesting", checks.nesting), ("options", checks.options),
                ("binary", checks.binary), ("stopping", checks.stopping), ("keyboard", checks.keyboard),
                ("looks", checks.looks), ("network", checks.network),
            ]
            for name, step in steps:
                started = time.monotonic()
                step()
                assert not site.messages, f"{name}: {site.messages}"
                print(f"{name}: ok, {time.monotonic() - started:.1f} s")
        finally:
            site.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
