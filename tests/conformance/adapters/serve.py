"""The loop of an adapter: a request a line, answered by a child process, so that a crash is an answer as well."""

import base64
import json
import os
import select
import signal
import sys
import time

SECONDS = 60


class Refused(Exception):
    """The program refuses the input; the line is the one that it names."""

    def __init__(self, message, line=None):
        super().__init__(message)
        self.line = line


def first_line(error):
    return str(error).strip().split("\n")[0][:300]


def refusal(error):
    told = {"severity": "error", "message": "%s: %s" % (type(error).__name__, first_line(error))}
    if getattr(error, "line", None):
        told["line"] = error.line
    return json.dumps(told)


def in_child(answer, write):
    """Writes the status, the output and the messages of one answer."""
    status, out, err = 0, b"", ""
    try:
        out = answer()
        out = out if isinstance(out, bytes) else json.dumps(out).encode()
    except BaseException as error:  # noqa: BLE001
        status, err = 1, refusal(error)
    with os.fdopen(write, "w") as file:
        json.dump({"status": status, "out": base64.b64encode(out).decode(), "err": err}, file)


def read_all(pipe, deadline):
    """What comes through a pipe; none if it does not end in time."""
    parts = []
    while True:
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        part = os.read(pipe, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


def asked(answer):
    """The answer of a child, whatever happens to it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        in_child(answer, write)
        os._exit(0)
    os.close(write)
    told = read_all(read, time.monotonic() + SECONDS)
    os.close(read)
    if told is None:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if told:
        return json.loads(told)
    return {"status": None if told is None else status, "out": "", "err": "crash" if told is not None else "no answer"}


def serve(answers):
    """`answers` has a function of (text, fields) for each question; it returns bytes, or what becomes JSON."""
    for line in sys.stdin:
        request = json.loads(line)
        function, stdin = answers[request["question"]], base64.b64decode(request["stdin"])
        print(json.dumps(asked(lambda: function(stdin, request["fields"]))), flush=True)
