#!/usr/bin/env python3
"""Uses the extension of `editors/vscode` in VS Code: its server, and its workbench in Chromium without a window.

The server is that of the package code-server. Its native modules, which need a compiler, and ripgrep, which is
downloaded, are left out: terminals, logs and searching need them. Packages of npm are kept in a folder and not installed
again. Exit status 0 if all is as it should be, 1 if not, 3 if there is no browser, or if the packages cannot be
installed.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import zipfile

from chromium import Browser, arguments, installed


ROOT = pathlib.Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "editors/vscode"
# The version that the checks know. Its VS Code is 1.100, for Node 20 and later.
CODE_SERVER = "4.100.3"
# The packages of npm that make the extension, and the most bytes that it may have when it is packaged.
PACKAGES = ["@vscode/vsce", "esbuild", "vscode-languageclient"]
MOST_BYTES = 300_000
# The seconds in which something has to be seen: much for a machine that does other work.
LIMIT = 30
CONTROL = 2
# Folders are not trusted, without a question.
SETTINGS = {"security.workspace.trust.startupPrompt": "never", "security.workspace.trust.banner": "never",
            "workbench.startupEditor": "none", "window.confirmBeforeClose": "never", "extensions.autoCheckUpdates": False}
# The widgets that are looked at.
COUNTS = "(document.querySelector('#status\\\\.problems a')?.getAttribute('aria-label') ?? '')"
LANGUAGE = "(document.querySelector('#status\\\\.editor\\\\.mode')?.innerText.trim() ?? '')"
LINES = ("[...document.querySelectorAll('.editor-instance .view-line')].map(line => line.innerText).join('\\n')"
         ".replaceAll('\\u00a0', ' ')")
HOVER = ("[...document.querySelectorAll('.monaco-hover:not(.hidden)')].map(hover => hover.innerText).join('\\n')"
         ".replaceAll('\\u00a0', ' ')")
SUGGESTED = "[...document.querySelectorAll('.suggest-widget.visible .monaco-list-row')].map(row => row.innerText.trim())"
MESSAGES = "[...document.querySelectorAll('.notification-list-item-message')].map(message => message.innerText)"
PROBLEMS = "[...document.querySelectorAll('.markers-panel .monaco-list-row')].map(row => row.innerText).join('\\n')"
POSITION = "(document.querySelector('#status\\\\.editor\\\\.selection')?.innerText.trim() ?? '')"
TAB = "(document.querySelector('.tab.active')?.innerText.trim() ?? '')"


# A document without faults, but not formatted, with a line for another statement.
NET = """version 1.0;
graph G( x )   ->  ( y )
{
    x = external<scalar>(shape = [2,3]);
    # A remark.
    y = softmax(x, axes = [1]);

}
"""


class Missing(Exception):
    """The host cannot be had."""


def npm(folder, *words):
    if shutil.which("npm") is None:
        raise Missing("no npm")
    # Scripts of packages would build native modules, or download programs.
    done = subprocess.run(["npm", *words, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Missing(f"npm {' '.join(words)}: {(done.stderr.strip() or 'failed').splitlines()[0]}")
    return done.stdout


def host(folder, version):
    """The folder of the server of VS Code, installed if it is not there yet."""
    server = folder / f"code-server-{version}/lib/vscode"
    if not (server / "installed").exists():
        shutil.rmtree(server.parents[1], ignore_errors=True)
        server.parents[1].mkdir(parents=True)
        packed = folder / npm(folder, "pack", f"code-server@{version}").split()[-1]
        subprocess.run(["tar", "-xzf", packed, "-C", server.parents[1], "--strip-components=1"], check=True)
        packed.unlink()
        npm(server, "install", "--omit=dev")
        (server / "installed").touch()
    return server


def extension(folder):
    """The extension as it is packaged: one file of a bounded size with all that it needs."""
    copy = folder / "sources/editors/vscode"
    copy.mkdir(parents=True, exist_ok=True)
    shutil.copytree(EXTENSION, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules", "package-lock.json"))
    shutil.copy(ROOT / "LICENSE", copy.parents[1])
    if not all((copy / "node_modules" / name).is_dir() for name in PACKAGES):
        npm(copy, "install")
    done = subprocess.run(["npm", "run", "package"], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    packed = copy / "nnef-flatten.vsix"
    assert packed.stat().st_size <= MOST_BYTES, f"the package has {packed.stat().st_size} bytes"
    unpacked = folder / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(unpacked)
    found = unpacked / "extension"
    assert (found / "dist/licenses.txt").read_text().count("MIT") > 3, "licenses of bundled packages"
    return found


class Server:
    """The server of VS Code, with one extension and the settings of a user."""

    def __init__(self, server, added, folder, settings):
        user = folder / "data/data/User"
        user.mkdir(parents=True)
        (user / "settings.json").write_text(json.dumps(settings))
        (folder / "extensions").mkdir()
        (folder / "extensions/nnef-flatten").symlink_to(added, target_is_directory=True)
        self.log = folder / "log"
        words = ["node", server / "out/server-main.js", "--host", "127.0.0.1", "--port", "0", "--without-connection-token",
                 "--accept-server-license-terms", "--telemetry-level", "off", "--server-data-dir", folder / "data",
                 "--extensions-dir", folder / "extensions"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        end = time.monotonic() + LIMIT
        while not (found := re.search(r"agent listening on (\d+)", self.log.read_text())):
            if self.process.poll() is not None or time.monotonic() > end:
                raise Missing(f"the server of VS Code does not start: {self.log.read_text()[-300:]}")
            time.sleep(0.1)
        self.address = f"127.0.0.1:{found[1]}"

    def close(self):
        self.process.terminate()
        self.process.wait()


class Workbench(Browser):
    """A browser with the workbench of VS Code."""

    def show(self, server, folder, file):
        """Opens a folder, and a file in it."""
        opened = json.dumps([["openFile", f"vscode-remote://{server.address}{folder / file}"]])
        self.call("Page.navigate", url=f"http://{server.address}/?folder={folder}&payload={urllib.parse.quote(opened)}")
        self.until(f"{TAB} === {json.dumps(file)} && !!{LANGUAGE}", f"{file} is not opened")

    def until(self, condition, what):
        """Waits until an expression is true. What the workbench writes to the console does not matter."""
        end = time.monotonic() + LIMIT
        while not self.eval(condition):
            if time.monotonic() > end:
                seen = {name: self.eval(value) for name, value in [("counts", COUNTS), ("messages", MESSAGES), ("tab", TAB),
                                                                   ("language", LANGUAGE), ("hover", HOVER)]}
                raise AssertionError(f"{what}: {condition} does not come true; {seen}")
            time.sleep(0.1)

    def press(self, key, virtual, modifiers=0):
        """Presses a key, for which VS Code looks at its code."""
        code = f"Key{key.upper()}" if len(key) == 1 else key
        for kind in ["rawKeyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=virtual,
                      modifiers=modifiers)

    def quick(self, text, wanted):
        """Types into the input for commands and files, and takes the entry that is wanted."""
        self.press("p", 80, CONTROL)
        self.until("document.querySelector('.quick-input-widget')?.style.display !== 'none' && "
                   "document.activeElement.closest('.quick-input-widget') !== null", "the input is not shown")
        self.type(text)
        row = "document.querySelector('.quick-input-list .monaco-list-row.focused')?.innerText ?? ''"
        self.until(f"({row}).includes({json.dumps(wanted)})", f"{text} is not found")
        self.press("Enter", 13)
        self.until("document.querySelector('.quick-input-widget').style.display === 'none'", "the input stays")

    def run(self, command):
        self.quick(f">{command}", command.split(": ")[-1])

    def widget(self, command, condition, what):
        """Runs a command that shows a widget, again if it is not there: widgets go when the focus moves back to the editor."""
        for _ in range(3):
            self.run(command)
            end = time.monotonic() + LIMIT / 4
            while time.monotonic() < end:
                if self.eval(condition):
                    return
                time.sleep(0.1)
        self.until(condition, what)

    def go(self, line, column):
        """Goes to a place, counted from 1."""
        self.quick(f":{line}:{column}", f"{line}")
        self.until(f"({POSITION}).startsWith('Ln {line}, Col {column}')", "the cursor does not move")



class Checks:
    """What is checked, with the command for comparison."""

    def __init__(self, workbench, server, command, folder):
        self.workbench, self.server, self.command, self.folder = workbench, server, command, folder

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def show(self, name):
        self.workbench.show(self.server, self.folder, name)

    def check(self, name):
        """The findings that the command has for a file."""
        words = [self.command, "check", "--limits", "untrusted", "--message-format", "json", name]
        lines = subprocess.run(words, cwd=self.folder, text=True, capture_output=True).stdout.splitlines()
        return [found for found in map(json.loads, lines) if found["kind"] == "finding"]

    def saved(self, name, wanted):
        """Saves the file that is shown until its text is as wanted."""
        end = time.monotonic() + LIMIT
        while not wanted(text := (self.folder / name).read_text()):
            assert time.monotonic() < end, text
            self.workbench.press("s", 83, CONTROL)
            time.sleep(0.2)
        return text

    def untrusted(self):
        """In a folder that is not trusted, findings are shown, and the command that its settings name is not run."""
        workbench, run = self.workbench, self.folder / "run"
        command = self.folder / "command"
        command.write_text(f"#!/bin/sh\ntouch '{run}'\nexec '{self.command}' \"$@\"\n")
        command.chmod(0o755)
        (self.folder / ".vscode").mkdir()
        self.write(".vscode/settings.json", json.dumps({"nnef-flatten.path": str(command)}))
        shutil.copy(ROOT / "examples/mistakes.nnef", self.folder)
        self.show("mistakes.nnef")
        workbench.until(f"({LANGUAGE}) === 'NNEF'", "the language is not known")
        workbench.until("document.querySelector('#status\\\\.workspaceTrust') !== null", "the folder is trusted")
        workbench.until("document.querySelectorAll('.squiggly-error').length > 0", "no findings are shown")
        assert not run.exists(), "a folder that is not trusted names the command"
        shutil.rmtree(self.folder / ".vscode")

    def findings(self):
        """The Problems panel has what `check` reports."""
        workbench, found = self.workbench, self.check("mistakes.nnef")
        errors = sum(entry["severity"] == "error" for entry in found)
        assert errors > 10, found
        workbench.until(f"({COUNTS}).startsWith('Errors: {errors},')", "another number of errors")
        workbench.run("View: Focus Problems")
        # Rows that are not on the screen are not in the page.
        for entry in found[:5]:
            workbench.until(f"({PROBLEMS}).includes({json.dumps(entry['message'])})", "a finding is not in the panel")
        assert workbench.eval(f"({PROBLEMS}).includes({json.dumps(found[0]['code'])})"), workbench.eval(PROBLEMS)
        workbench.run("View: Hide Panel")

    def fix(self):
        """The quick fix of a finding changes the text, and the finding goes."""
        workbench = self.workbench
        before = sum(entry["severity"] == "error" for entry in self.check("mistakes.nnef"))
        workbench.go(28, 10)
        row = "[...document.querySelectorAll('.action-widget .monaco-list-row.action')].map(row => row.innerText.trim())"
        workbench.widget("Quick Fix...", f"({row}).length > 0", "no fix is offered")
        offered = workbench.eval(row)
        assert "sigmoid" in offered[0], offered
        workbench.press("Enter", 13)
        workbench.until(f"({COUNTS}).startsWith('Errors: {before - 1},')", "the finding stays")
        self.saved("mistakes.nnef", lambda text: "y = sigmoid(x);" in text)

    def hover(self):
        """An operation has its declaration, a tensor its shape."""
        workbench = self.workbench
        self.write("net.nnef", NET)
        self.show("net.nnef")
        workbench.until(f"({COUNTS}) === 'No Problems'", "findings of a document without faults")
        # The operation begins at column 9.
        for column, wanted in [(9, "fragment softmax"), (5, "[2, 3]")]:
            workbench.go(6, column)
            workbench.widget("Show or Focus Hover", f"({HOVER}).includes({json.dumps(wanted)})",
                             f"the hover at column {column}")
            workbench.press("Escape", 27)

    def hints(self):
        """Shapes are shown behind names, and the statements of a graph in its outline."""
        workbench = self.workbench
        workbench.until(f"({LINES}).includes('y: scalar[2, 3]')", "no shapes are shown")
        workbench.go(6, 17)
        parameters = "(document.querySelector('.parameter-hints-widget.visible')?.innerText ?? '')"
        workbench.widget("Trigger Parameter Hints", f"{parameters}.includes('axes')", "no parameters are shown")
        workbench.press("Escape", 27)

    def definition(self):
        """The definition of a standard operation is shown, as the server sends it."""
        workbench = self.workbench
        workbench.go(6, 10)
        workbench.press("F12", 123)
        workbench.until(f"{TAB} !== 'net.nnef'", "the definition is not opened")
        workbench.until(f"({LINES}).includes('fragment softmax')", "the standard library is not shown")
        workbench.until(f"({LANGUAGE}) === 'NNEF'", "the language of the standard library")
        workbench.run("Go Back")
        workbench.until(f"{TAB} === 'net.nnef'", "the file is not shown again")

    def completion(self):
        """Operations are offered while a name is written."""
        workbench = self.workbench
        workbench.go(7, 1)
        for letter in "z = max_re":
            workbench.key(letter)
        workbench.until(f"({SUGGESTED}).some(row => row.startsWith('max_reduce'))", "no operations are offered")
        workbench.press("Enter", 13)
        workbench.until(f"({LINES}).includes('z = max_reduce')", "the operation is not written")
        for letter in "(y, axes = [1":
            workbench.key(letter)
        # The closing brackets are there already.
        workbench.press("End", 35)
        workbench.key(";")

    def format(self):
        """A document is formatted as `fmt` does it."""
        workbench = self.workbench
        text = self.saved("net.nnef", lambda text: "max_reduce" in text)
        done = subprocess.run([self.command, "fmt", "-"], input=text, text=True, capture_output=True)
        assert done.stdout and done.stdout != text, (text, done)
        workbench.run("Format Document")
        self.saved("net.nnef", lambda text: text == done.stdout)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--host", type=pathlib.Path, default=ROOT / "target/vscode", help="where packages are kept")
    parser.add_argument("--code-server", default=CODE_SERVER, help="the version of the package code-server")
    args = parser.parse_args()
    program = args.browser or installed()
    if args.pictures:
        args.pictures.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    try:
        if program is None:
            raise Missing("no Chromium")
        args.host.mkdir(parents=True, exist_ok=True)
        program_folder, added = host(args.host.resolve(), args.code_server), extension(args.host.resolve())
    except Missing as missing:
        print(missing)
        return 3
    print(f"packages: {time.monotonic() - started:.1f} s")
    # Helper processes of the browser may still write into its profile.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder = pathlib.Path(folder).resolve()
        command = os.path.abspath(args.bin)
        server = Server(program_folder, added, folder, {"nnef-flatten.path": command, **SETTINGS})
        workbench = None
        try:
            workbench = Workbench(program, folder / "profile")
            opened = folder / "documents"
            opened.mkdir()
            checks = Checks(workbench, server, command, opened)
            for step in [checks.untrusted, checks.findings, checks.fix, checks.hover, checks.hints, checks.definition,
                         checks.completion, checks.format]:
                started = time.monotonic()
                step()
                if args.pictures:
                    workbench.picture(args.pictures / f"{step.__name__}.png")
                print(f"{step.__name__}: ok, {time.monotonic() - started:.1f} s", flush=True)
        except BaseException:
            if workbench and args.pictures:
                workbench.picture(args.pictures / "failed.png")
            raise
        finally:
            if workbench:
                workbench.close()
            server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
