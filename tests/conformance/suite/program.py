"""A program as a row: the command line of each question that it answers. See README.md, "Programs"."""

import base64
import json
import os
import subprocess
import tempfile

SECONDS = 20


class Unasked(Exception):
    """The program does not answer this question."""


class Answer:
    """The exit status of a call, and what it wrote."""

    def __init__(self, status, out=b"", err=b""):
        self.status, self.out, self.err = status, out, err

    def json(self):
        return json.loads(self.out)

    def errors(self):
        """The objects of refusals on standard error."""
        found = []
        for line in self.err.decode("utf-8", "replace").splitlines():
            if line.strip().startswith("{"):
                try:
                    found.append(json.loads(line))
                except ValueError:
                    pass
        return [error for error in found if error.get("severity", "error") == "error"]

    def why(self):
        """Why an answer is unusable."""
        told = self.errors()
        text = told[0].get("message", "") if told else self.err.decode("utf-8", "replace").strip()
        status = {None: "no answer in %d s" % SECONDS}.get(self.status, "exit status %s" % self.status)
        return "%s: %s" % (status, text[-200:].replace("\n", " "))

    def unlike_refusal(self, rule):
        """Why an answer is not a refusal with the id of a rule; none if it is one."""
        if self.status == 0:
            return "accepted (%s)" % rule
        if self.status != 1:
            return self.why()
        rules = [error.get("rule") for error in self.errors()]
        return None if rule in rules else "rule %s, right is %s" % (rules[:2], rule)


class Program:
    def __init__(self, path, places):
        """`places` are the values of {bin} and {python}; {programs} is the folder of the row."""
        with open(path, encoding="utf-8") as file:
            self.row = json.load(file)
        self.name = self.row["name"]
        self.places = dict(places, programs=os.path.dirname(os.path.abspath(path)))
        self.server = None

    def answers(self, question):
        return question in self.row.get("calls", {}) or question in self.row.get("answers", [])

    def version(self):
        """What the program says of its version; none if it cannot be started."""
        try:
            done = subprocess.run(self.words(self.row["version"], {}), capture_output=True, text=True, timeout=120)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    def command(self):
        """The words before the arguments of the cases of `field`."""
        return self.words(self.row["field"], {}) if "field" in self.row else None

    def ask(self, question, stdin=b"", **fields):
        """The answer to a question. Fields that are none are not given."""
        if not self.answers(question):
            raise Unasked(question)
        fields = {name: value for name, value in fields.items() if value is not None}
        stdin = stdin.encode("utf-8", "surrogateescape") if isinstance(stdin, str) else stdin
        if "serve" in self.row:
            return self.served(question, fields, stdin)
        with tempfile.TemporaryDirectory() as folder:
            if "inputs" in fields:
                path = os.path.join(folder, "inputs.json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(fields["inputs"], file)
                fields["inputs"] = path
            words = self.words(self.row["calls"][question], fields)
            try:
                done = subprocess.run(words, input=stdin, capture_output=True, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                return Answer(None)
        return Answer(done.returncode, done.stdout, done.stderr)

    def words(self, template, fields):
        """A command line: {NAME} is a field; a list of words is left out if its field is not given, and repeated
        for each item of a list."""
        words, values = [], dict(self.places, **fields)
        for part in template:
            if isinstance(part, str):
                words.append(part.format(**values))
                continue
            name, rest = part[0], part[1:]
            given = fields.get(name)
            for value in given if isinstance(given, list) else [given]:
                if value is not None and value is not False:
                    words += [word.format(**dict(values, **{name: value})) for word in rest]
        return words

    def served(self, question, fields, stdin):
        """Asks a process that answers one line of JSON with another."""
        request = {"question": question, "fields": fields, "stdin": base64.b64encode(stdin).decode()}
        if self.server is None or self.server.poll() is not None:
            self.server = subprocess.Popen(self.words(self.row["serve"], {}), stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.server.stdin.write(json.dumps(request) + "\n")
            self.server.stdin.flush()
            line = self.server.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.server.wait()
            return Answer(self.server.returncode, err=b"the program ended")
        told = json.loads(line)
        return Answer(told["status"], base64.b64decode(told["out"]), told["err"].encode())

    def close(self):
        if self.server:
            self.server.stdin.close()
            self.server.wait()
