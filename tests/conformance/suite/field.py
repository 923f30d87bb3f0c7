"""The cases of `field`: calls of the command, with what must be true of each. See README.md, "Cases of field"."""

import json
import math
import os
import re
import shutil
import subprocess
import tempfile

from .oracle import Missing

SECONDS = 20
CODE = re.compile(r"\bE\d{4}\b")
CRASH = ("internal error", "panicked at", "memory allocation of", "overflowed its stack")


class Bad(Exception):
    """A check that failed."""


def number(v):
    if isinstance(v, bool):
        return float(v)
    if isinstance(v, str):
        return float(v.replace("Infinity", "inf").replace("NaN", "nan"))
    return math.nan if v is None else float(v)


def close(want, got, tol, where):
    if isinstance(want, list) or isinstance(got, list):
        if not isinstance(want, list) or not isinstance(got, list) or len(want) != len(got):
            raise Bad(f"{where}: the shape is not that of {json.dumps(want)[:80]}, but {json.dumps(got)[:80]}")
        for k, (a, b) in enumerate(zip(want, got)):
            close(a, b, tol, f"{where}[{k}]")
        return
    a, b = number(want), number(got)
    if math.isnan(a) and math.isnan(b) or a == b:
        return
    if math.isinf(a) or math.isinf(b) or math.isnan(a) or math.isnan(b) or abs(a - b) > tol * max(1.0, abs(a)):
        raise Bad(f"{where}: {want} is right, not {got}")


def numbers(want, got, tol):
    got = {k: v.get("data", v) if isinstance(v, dict) else v for k, v in got.items()}
    if "*" in want:  # outputs whatever their names are, in order
        names = list(got)
        if len(names) != len(want["*"]):
            raise Bad(f"{len(want['*'])} outputs are right, not {len(names)}")
        want = dict(zip(names, want["*"]))
    for name, value in want.items():
        if name not in got:
            raise Bad(f"there is no output `{name}`, only {', '.join(got)}")
        close(value, got[name], tol, name)


def contains(text, part):
    return re.search(part[3:], text, re.M) if part.startswith("re:") else part in text


def texts(checks, text, where):
    for part in checks.get(where + "_has", []):
        if not contains(text, part):
            raise Bad(f"{where} has no {part[:80]!r}: {text.strip()[:160]!r}")
    for part in checks.get(where + "_lacks", []):
        if contains(text, part):
            raise Bad(f"{where} has {part[:80]!r}, which must not be there")


def at(tree, path):
    for key in path.split("/"):
        if isinstance(tree, list):
            tree = tree[int(key)]
        elif isinstance(tree, dict) and key in tree:
            tree = tree[key]
        else:
            raise Bad(f"the JSON has no {path!r}")
    return tree


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        raise Bad("not JSON: " + text[:80])


class Runner:
    """Runs cases on the command of a program."""

    def __init__(self, command, oracle):
        self.command, self.oracle = command, oracle

    def case(self, folder, case):
        """(`ok`, `FAIL` or `skip`; the reason)"""
        with tempfile.TemporaryDirectory(prefix="field-") as tmp:
            self.folder, self.tmp, self.skipped = folder, tmp, []
            shutil.copytree(folder, tmp + "/case", symlinks=True)
            self.folder = tmp + "/case"
            self.tmp = tmp + "/out"
            os.mkdir(self.tmp)
            try:
                for what in case.get("setup", []):
                    self.prepare(what)
                shared = self.steps(case.get("steps", []), [])
                ways, reasons = case.get("any", []), []
                for way in ways:
                    try:
                        self.steps(way, shared)
                        break
                    except Bad as e:
                        reasons.append(str(e))
                else:
                    if ways:
                        raise Bad("; nor ".join(reasons))
            except Bad as e:
                return "FAIL", str(e)
            return ("skip", self.skipped[0]) if self.skipped else ("ok", "")

    def put(self, text):
        return text.replace("{tmp}", self.tmp).replace("{case}", self.folder)

    def prepare(self, what):
        (kind, of), = what.items()
        of = [self.put(p) for p in (of if isinstance(of, list) else [of])]
        try:
            if kind == "copy":
                shutil.copy(*of)
            elif kind == "link":
                os.symlink(*of)
            elif kind == "folder":
                os.makedirs(of[0], exist_ok=True)
            elif kind == "pipe":
                os.mkfifo(of[0])
            else:
                raise SystemExit(f"unknown setup {kind}")
        except (OSError, AttributeError, NotImplementedError) as e:
            raise Bad(f"setup: {e}")

    def steps(self, steps, before):
        done = list(before)
        for k, step in enumerate(steps):
            try:
                done.append(self.step(step, done))
            except Bad as e:
                raise Bad(f"step {len(before) + k + 1}: {e}")
        return done

    def step(self, step, done):
        if "of" in step:  # further checks of an earlier step
            out, err, rc = done[step["of"] - 1]
        elif "args" in step:
            out, err, rc = self.call(step, done)
        else:
            out, err, rc = b"", "", 0
        text = out.decode("utf-8", "replace")
        if "rc" in step and rc not in (step["rc"] if isinstance(step["rc"], list) else [step["rc"]]):
            raise Bad(f"exit status {rc}, right is {step['rc']}: {first(err) or first(text)}")
        if step.get("code") is True and not CODE.search(err):
            raise Bad(f"no diagnostic code is told: {err.strip()[:160]!r}")
        if step.get("code") is False and CODE.search(err):
            raise Bad("a diagnostic is told: " + first(err))
        texts(step, text, "stdout")
        texts(step, err, "stderr")
        texts(step, text + err, "told")
        for path, want in step.get("json", {}).items():
            got = at(parsed(text), path)
            if got != want:
                raise Bad(f"{path}: {json.dumps(want)} is right, not {json.dumps(got)}")
        if "numbers" in step:
            numbers(step["numbers"], parsed(text).get("outputs", {}), step.get("tol", 1e-5))
        if "same_as" in step and out != done[step["same_as"] - 1][0]:
            raise Bad(f"the output is not that of step {step['same_as']}")
        for path, checks in step.get("files", {}).items():
            self.file(self.put(path), checks, path)
        if "onnx" in step:
            self.onnx(step["onnx"])
        return out, err, rc

    def call(self, step, done):
        given = step.get("stdin")
        if isinstance(given, int):
            data = done[given - 1][0]
        elif given:
            with open(os.path.join(self.folder, self.put(given)), "rb") as f:
                data = f.read()
        else:
            data = b""
        closed = None
        if step.get("stdout") == "closed":
            def closed():
                os.close(1)
        stdout = subprocess.PIPE
        if step.get("stdout") == "full":
            if not os.path.exists("/dev/full"):
                raise Bad("no /dev/full")
            stdout = open("/dev/full", "wb")
        elif step.get("stdout") == "closed":
            stdout = None
        env = {k: v for k, v in os.environ.items() if not k.startswith(("NNEF_", "CLICOLOR"))}
        env.update(NO_COLOR="1", TERM="dumb", LC_ALL="C.UTF-8")
        try:
            p = subprocess.run(self.command + [self.put(a) for a in step["args"]], input=data, stdout=stdout,
                               stderr=subprocess.PIPE, cwd=self.folder, timeout=SECONDS, preexec_fn=closed, env=env)
        except subprocess.TimeoutExpired:
            raise Bad(f"no answer within {SECONDS} s")
        except OSError as e:
            raise SystemExit(f"{self.command[0]}: {e}")
        finally:
            if step.get("stdout") == "full":
                stdout.close()
        err = p.stderr.decode("utf-8", "replace")
        if p.returncode not in (0, 1, 2) or any(c in err for c in CRASH):
            raise Bad(f"crash, exit status {p.returncode}: {first(err)}")
        out = p.stdout or b""
        if step.get("save"):
            with open(self.put(step["save"]), "wb") as f:
                f.write(out)
        return out, err, p.returncode

    def file(self, path, checks, name):
        there = os.path.isfile(path)
        if checks.get("exists", True) != there:
            raise Bad(f"{name} {'is there' if there else 'is not there'}")
        if not there:
            return
        with open(path, "rb") as f:
            data = f.read()
        text = data.decode("utf-8", "replace")
        texts({"file_has": [self.put(p) for p in checks.get("has", [])],
               "file_lacks": [self.put(p) for p in checks.get("lacks", [])]}, text, "file")
        for p, want in checks.get("json", {}).items():
            got = at(parsed(text), p)
            if got != want:
                raise Bad(f"{name}: {p}: {json.dumps(want)} is right, not {json.dumps(got)}")
        if "same" in checks:
            with open(self.put(checks["same"]), "rb") as f:
                if f.read() != data:
                    raise Bad(f"{name} differs from {checks['same']}")

    def onnx(self, want):
        """What onnx and onnxruntime say of a file."""
        named = any(key in want for key in ("ops_has", "ops_lack", "closed"))
        ask = {"file": self.put(want["file"]), "checker": want.get("checker"), "contents": named,
               "run": "numbers" in want or want.get("loads"),
               "feed": want.get("inputs", {} if "numbers" in want else None)}
        if not os.path.isfile(ask["file"]):
            raise Bad(f"{want['file']} is not there")
        try:
            got = self.oracle.ask(ask)
        except Missing as e:
            self.skipped.append(str(e))
            return
        if got is None:
            raise Bad("onnx or onnxruntime crashed on the model")
        if "load" in got:
            raise Bad("onnx cannot read the model: " + got["load"])
        if ask["checker"] and got["checker"] != "ok":
            raise Bad("onnx.checker " + got["checker"])
        operators(want, got)
        if ask["run"] and got["run"] != "ok":
            raise Bad("onnxruntime " + got["run"])
        if "numbers" in want:
            numbers(want["numbers"], got["results"], want.get("tol", 1e-5))


def operators(want, got):
    for op in want.get("ops_has", []):
        if op not in got["ops"]:
            raise Bad(f"the model has no {op}")
    for op in want.get("ops_lack", []):
        if op in got["ops"]:
            raise Bad(f"the model has {op}")
    if want.get("closed") and got["open"]:
        raise Bad("calls of functions that are not there: " + ", ".join(got["open"]))


def first(text):
    return next((l.strip()[:160] for l in text.split("\n") if l.strip()), "")


def cases(folder):
    """Names of cases, with their folders and what they say."""
    for group in sorted(os.listdir(folder)):
        root = os.path.join(folder, group)
        for name in sorted(os.listdir(root)) if os.path.isdir(root) else []:
            path = os.path.join(root, name, "case.json")
            if os.path.isfile(path):
                with open(path, encoding="utf-8") as file:
                    yield group + "/" + name, os.path.dirname(path), json.load(file)


def judge(program, name, folder, case):
    """Whether a program reads the file of a case that only asks for its check, as it should."""
    steps = case.get("steps", [])
    words = [word for word in steps[0].get("args", []) if word != "--strict"] if steps else []
    if len(words) != 2 or words[0] != "check" or case.get("setup") or words[1] != "m.onnx":
        return "skip"
    if steps[0].get("rc") not in (0, 1):
        return "skip"
    answer = program.ask("onnx/reads", path=os.path.join(folder, words[1]))
    if answer.status not in (0, 1):
        return answer.why()
    if answer.status == steps[0]["rc"]:
        return None
    return answer.why() if answer.status else "accepted: " + case["about"]
