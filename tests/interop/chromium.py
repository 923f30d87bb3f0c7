"""Chromium without a window, driven through its DevTools over a pipe: needs nothing but Python and Chromium."""

import argparse
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import time

BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
LIMIT = 60


def installed():
    """The program, if one is installed."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def arguments(description):
    """A parser of the arguments of every test in a browser."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--bin", default="target/release/nnef-flatten")
    parser.add_argument("--browser")
    parser.add_argument("--pictures", type=pathlib.Path, help="keep pictures in this folder")
    return parser


class Browser:
    """A browser with one tab."""

    def __init__(self, program, profile):
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def descriptors():
            # The pipes are descriptors 3 and 4 there; they must not be closed by being copied over each other.
            reads, writes = os.dup(to_browser), os.dup(from_browser)
            while reads in (3, 4) or writes in (3, 4):
                reads, writes = os.dup(reads), os.dup(writes)
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        args = [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1400,900",
                "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(args, preexec_fn=descriptors, close_fds=False, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.count, self.messages, self.session = b"", 0, [], None
        # The sessions of frames in processes of their own, by the identifiers of their frames.
        self.frames = {}
        # The addresses that were asked for, if the domain `Network` is enabled.
        self.requests = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(target for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ["Page", "Runtime", "Log"]:
            self.call(f"{domain}.enable")
        self.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
        self.call("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1, mobile=False)

    def close(self):
        self.process.terminate()
        self.process.wait()

    def read(self):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], LIMIT)
            if not ready:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.into, 1 << 16)
            if not piece:
                raise EOFError("the browser is gone")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, session=None, **params):
        """Sends a call, and returns its number."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if session or self.session:
            message["sessionId"] = session or self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        return self.count

    def call(self, method, session=None, **params):
        number = self.send(method, session, **params)
        while True:
            answer = self.read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
                self.messages.append(answer)
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            if answer.get("method") == "Target.attachedToTarget":
                target = answer["params"]["targetInfo"]
                self.frames[target["targetId"]] = answer["params"]["sessionId"]
            # A page that has not saved something yet asks whether to leave it, and nothing is answered until then.
            if answer.get("method") == "Page.javascriptDialogOpening":
                self.send("Page.handleJavaScriptDialog", accept=True)
            # A frame that is loaded anew leaves what it was asked without an answer.
            if answer.get("method") == "Target.detachedFromTarget" and answer["params"]["sessionId"] == session:
                raise RuntimeError(f"{method}: the frame is gone")

    def eval(self, expression, session=None, **context):
        result = self.call("Runtime.evaluate", session, expression=expression, returnByValue=True, awaitPromise=True, **context)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def eval_inside(self, expression):
        """Evaluates an expression in the frame of the page, which may be in a process of its own; none while it loads."""
        children = self.call("Page.getFrameTree")["frameTree"].get("childFrames", [])
        if children:
            try:
                world = self.call("Page.createIsolatedWorld", frameId=children[-1]["frame"]["id"])
                return self.eval(expression, contextId=world["executionContextId"])
            except RuntimeError:
                return None
        frames = [entry["targetId"] for entry in self.call("Target.getTargets")["targetInfos"] if entry["type"] == "iframe"]
        sessions = [self.frames[frame] for frame in frames if frame in self.frames]
        try:
            return self.eval(expression, sessions[-1]) if sessions else None
        except RuntimeError:
            return None

    def open(self, path, until, fragment=""):
        """Opens a file, at a fragment of its address, and waits until an expression is true."""
        self.messages.clear()
        self.call("Page.navigate", url=path.resolve().as_uri() + fragment)
        self.wait(until, path.name)

    def wait(self, until, what, eval=None):
        """Waits until an expression is true."""
        end = time.monotonic() + LIMIT
        while not (eval or self.eval)(until):
            if self.messages or time.monotonic() > end:
                raise RuntimeError(f"{what}: {until} does not come true: {self.messages}")
            time.sleep(0.05)

    def key(self, key, code=None):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code or 0, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code or 0)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, x, y, count=1):
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)
        self.frame()

    def frame(self):
        self.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
