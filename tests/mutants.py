#!/usr/bin/env python3
"""Measures how many mutants of the code the tests find: all mutants of a sample are in one build, and a variable of the
environment turns one of them on.

    python3 tests/mutants.py --sample 100 [--seed N] [--folder DIR] [--results FILE]

The mutants are those that `cargo mutants --list` names by `.cargo/mutants.toml`, except for those that cannot be chosen when the
program runs: in constants and macros, and fields that are left out. Building each of them, as cargo-mutants does, takes a
minute or two; here a mutant takes as long as the first test that finds it, of the tests that reach its place: those are noted
when all tests run without a mutant. The conformance suite is asked first. The build is of a copy of the tree in DIR
(target/mutants), of what git has at HEAD. A mutant is found if a test fails, or takes five times as long as without.

Needs cargo-mutants, and the packages tree-sitter and tree-sitter-rust of Python.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import tree_sitter
import tree_sitter_rust

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Tests about time and memory, about other parts, and about the tree of sources, which is another one here.
LEFT_OUT = {"fuzz", "growth", "hostile", "lsp", "pairs", "repository"}
# Modules of other programs with such tests.
SKIPPED = {"command": ["inputs", "shells", "terminal"], "notations": ["models"]}
SWITCH = """//! Which mutant is on, and which ones each test reaches.
use std::cell::RefCell;
use std::env::var;
use std::fs::File;
use std::io::Write;
use std::sync::LazyLock;

struct Switch {
    on: u32,
    reached: Option<File>,
}

static SWITCH: LazyLock<Switch> = LazyLock::new(|| Switch {
    on: var("MUTANT").ok().and_then(|n| n.parse().ok()).unwrap_or(0),
    reached: var("MUTANTS_REACHED").ok().and_then(|path| File::options().append(true).create(true).open(path).ok()),
});

// Places are reached millions of times, by a build without optimizations.
thread_local! { static SEEN: RefCell<Vec<bool>> = const { RefCell::new(Vec::new()) }; }

#[inline(never)]
pub(crate) fn is(number: u32) -> bool {
    let switch = &*SWITCH;
    if let Some(file) = &switch.reached {
        note(file, number);
    }
    switch.on == number
}

// A test runs in a thread of its name.
fn note(mut file: &File, number: u32) {
    let first = SEEN.try_with(|seen| seen.try_borrow_mut().is_ok_and(|mut seen| {
        let at = number as usize;
        if seen.len() <= at {
            seen.resize(at + 1, false);
        }
        !std::mem::replace(&mut seen[at], true)
    }));
    if first.unwrap_or(true) {
        let thread = std::thread::current();
        let line = format!("{} {number}\\n", thread.name().unwrap_or("main"));
        // Fails in tests that limit what may be written.
        let _ = file.write_all(line.as_bytes());
    }
}
"""
CONSTANT = {"const_item", "static_item", "token_tree", "macro_definition", "array_type", "const_block", "enum_variant"}
LET = ("let_chain", "let_condition")
REACHED = "MUTANTS_REACHED"

# Text that is put in at an offset of a file. What comes first at an offset is the end of inner ranges, then the start of outer
# ones.
Insertion = collections.namedtuple("Insertion", "offset key text")


def before(start, end, text):
    return Insertion(start, (1, start - end), text)


def after(start, end, text):
    return Insertion(end, (0, end - start), text)


class SourceFile:
    """A file of Rust as it is at HEAD."""

    def __init__(self, name, parser):
        self.name = name
        self.content = subprocess.run(["git", "show", f"HEAD:{name}"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        self.root = parser.parse(self.content).root_node
        self.starts = [0] + [i + 1 for i, byte in enumerate(self.content) if byte == 10]

    def offset(self, place):
        """The offset of a line and a column, which counts characters."""
        start, end = (self.starts + [len(self.content)])[place["line"] - 1:place["line"] + 1]
        return start + len(self.content[start:end].decode()[:place["column"] - 1].encode())

    def around(self, start, end):
        """The nodes around a range, from the innermost on."""
        node = self.root.descendant_for_byte_range(start, end)
        while node is not None:
            yield node
            node = node.parent

    def text(self, start, end):
        return self.content[start:end].decode()

    def is_constant(self, start, end):
        """Whether a range is evaluated by the compiler, or is not parsed."""
        for node in self.around(start, end):
            if node.type in CONSTANT:
                return True
            if node.type == "function_item":
                head = self.content[node.start_byte:node.child_by_field_name("name").start_byte]
                if b"const " in head:
                    return True
        return False


def noted(folder):
    """The file for notes about reached mutants, which is removed."""
    path = folder.parent / "reached"
    path.unlink(missing_ok=True)
    return path


def notes(path):
    """The threads and numbers of reached mutants."""
    for line in path.read_text().splitlines() if path.exists() else ():
        thread, number = line.rsplit(" ", 1)
        yield thread, int(number)


def chosen(start, end, on, mutated):
    """An expression that is another one if a mutant is on."""
    return [before(start, end, f"(if {on} {{ {mutated} }} else {{ "), after(start, end, " })")]


def operator(file, start, end, on, text):
    """Another operator, or none, in the expression that it belongs to."""
    for node in file.around(start, end):
        first, last = node.start_byte, node.end_byte
        if node.type in ("binary_expression", "compound_assignment_expr"):
            found, sides = node.child_by_field_name("operator"), [node.child_by_field_name(side) for side in ("left", "right")]
            if (found.start_byte, found.end_byte) == (start, end):
                if any(side.type in LET for side in sides):
                    return None
                return chosen(first, last, on, file.text(first, start) + text + file.text(end, last))
        elif node.type == "unary_expression" and first == start:
            return chosen(first, last, on, text + file.text(end, last))
        elif node.type in ("block", "function_item"):
            return None
    return None


def arm(file, start, end, on):
    """An arm of a match that is left out."""
    for node in file.around(start, end):
        if node.type == "match_arm":
            pattern = node.child_by_field_name("pattern")
            guard = pattern.child_by_field_name("condition")
            if guard is None:
                return [after(pattern.start_byte, pattern.end_byte, f" if !{on}")]
            if b"let " in guard.text:
                return None
            first, last = guard.start_byte, guard.end_byte
            return [before(first, last, f"!{on} && ("), after(first, last, ")")]
    return None


def insertions(file, number, mutant):
    """What makes up a mutant; none if it cannot be chosen when the program runs."""
    start, end = (file.offset(mutant["span"][side]) for side in ("start", "end"))
    on, text, genre = f"crate::mutants::is({number})", mutant["replacement"], mutant["genre"]
    if file.is_constant(start, end):
        return None
    if genre == "FnValue":
        # A function has only one type behind `impl`.
        if "impl " in mutant["function"]["return_type"]:
            return None
        return [before(start, end, f"if {on} {{ return {text}; }} ")]
    if genre in ("BinaryOperator", "UnaryOperator"):
        return operator(file, start, end, on, text)
    if genre == "MatchArm":
        return arm(file, start, end, on)
    if genre == "MatchArmGuard" and "let " not in file.text(start, end):
        return chosen(start, end, on, text)
    return None


def mutated(file, parts):
    """The text of a file with mutants, and where each of them is in it."""
    ordered = sorted(((part, number) for number, all_parts in parts for part in all_parts),
                     key=lambda item: (item[0].offset, item[0].key, item[1] if item[0].key[0] else -item[1]))
    out, ranges, last = bytearray(), collections.defaultdict(list), 0
    for part, number in ordered:
        out += file.content[last:part.offset]
        ranges[number].append((len(out), len(out) + len(part.text.encode())))
        out += part.text.encode()
        last = part.offset
    return bytes(out + file.content[last:]), ranges


class Tree:
    """A copy of the sources with a sample of the mutants that compile."""

    def __init__(self, folder, size, seed):
        self.folder = folder / "tree"
        self.environment = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target"), "RUSTFLAGS": "--cap-lints allow",
                            "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "1"}
        self.folder.mkdir(parents=True, exist_ok=True)
        # What was found before: the commit, its mutants, the sample, and the numbers of those in it.
        self.known = folder / "known.json"
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
        known = json.loads(self.known.read_text()) if self.known.exists() else {}
        if known.get("commit") != commit:
            known = {"commit": commit, "mutants": self.listed()}
        self.is_built = known.get("sample") == [size, seed]
        self.commit, self.size, self.seed = commit, size, seed
        self.mutants = dict(enumerate(known["mutants"], 1))
        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
        names = {mutant["file"] for mutant in self.mutants.values()}
        self.files = {name: SourceFile(name, parser) for name in names}
        parts = {number: insertions(self.files[mutant["file"]], number, mutant) for number, mutant in self.mutants.items()}
        parts = {number: part for number, part in parts.items() if part}
        self.choosable = len(parts)
        numbers = known["compiled"] if self.is_built else list(parts)
        if not self.is_built:
            random.Random(seed).shuffle(numbers)
        # Those in the build and those that can take the place of one that does not compile, in the order of the draw.
        self.parts, self.spare = {}, {number: parts[number] for number in numbers}
        self.draw(size if self.is_built else size + size // 2)

    def draw(self, count):
        """Takes up to so many mutants into the build."""
        for number in list(self.spare)[:count]:
            self.parts[number] = self.spare.pop(number)

    def listed(self):
        """Copies the tree, and lists its mutants."""
        archive = subprocess.Popen(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-xf", "-", "-C", self.folder], stdin=archive.stdout, check=True)
        found = subprocess.run(["cargo", "mutants", "--list", "--json"], cwd=self.folder, stdout=subprocess.PIPE, check=True)
        return json.loads(found.stdout)

    def write(self):
        """Writes the files with the mutants that are left. Returns where each is in its file."""
        places = {}
        for name, file in self.files.items():
            own = [(number, found) for number, found in self.parts.items() if self.mutants[number]["file"] == name]
            text, places[name] = mutated(file, own)
            (self.folder / name).write_bytes(text)
        (self.folder / "src/mutants.rs").write_text(SWITCH)
        library = subprocess.run(["git", "show", "HEAD:src/lib.rs"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.decode()
        (self.folder / "src/lib.rs").write_text(library.replace("\nmod ", "\nmod mutants;\nmod ", 1))
        return places

    def cargo(self, *words):
        done = subprocess.run(["cargo", *words, "--all-features", "--message-format=json"], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return done, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def without_mistakes(self):
        """Leaves out mutants that do not compile, until enough others do."""
        while not self.is_built:
            places = self.write()
            done, told = self.cargo("check")
            errors = [line["message"] for line in told if line.get("reason") == "compiler-message"
                      and line["message"]["level"] == "error" and line["message"]["spans"]]
            wrong = set().union(*(self.wrong(error, places) for error in errors)) if errors else set()
            print(f"{len(self.parts)} mutants, {len(errors)} errors", flush=True)
            if done.returncode == 0 and (len(self.parts) >= self.size or not self.spare):
                self.parts = dict(list(self.parts.items())[:self.size])
                self.write()
                known = {"commit": self.commit, "mutants": list(self.mutants.values()), "sample": [self.size, self.seed],
                         "compiled": list(self.parts)}
                self.known.write_text(json.dumps(known))
                return
            if done.returncode == 0:
                self.draw(2 * (self.size - len(self.parts)))
                continue
            if not wrong:
                sys.exit(done.stderr)
            for number in wrong:
                self.parts.pop(number)

    def wrong(self, error, places):
        """The mutants that an error of the compiler is about."""
        span = next((span for span in error["spans"] if span["is_primary"]), error["spans"][0])
        start, end, ranges = span["byte_start"], span["byte_end"], places.get(span["file_name"], {})
        if "non-exhaustive" in error["message"]:
            # One of the arms behind the start of the match.
            arms = sorted((own[0][0], number) for number, own in ranges.items()
                          if self.mutants[number]["genre"] == "MatchArm" and own[0][0] > start)
            return {number for at, number in arms if at < start + 2000} or {number for _, number in arms[:1]}
        within = {number for number, own in ranges.items() for first, last in own if first <= start and end <= last}
        around = {number for number, own in ranges.items() if own[0][0] <= start and end <= own[-1][1]}
        inside = {number for number, own in ranges.items() for first, _ in own if start <= first < end}
        near = {number for number, own in ranges.items() if abs(own[0][0] - start) < 300}
        return within or around or inside or near

    def tests(self):
        """The programs of tests by their names."""
        done, told = self.cargo("test", "--no-run")
        if done.returncode != 0:
            sys.exit(done.stderr)
        built = [line for line in told if line.get("executable") and line["profile"]["test"]]
        names = {line["executable"]: line["target"]["name"] for line in built if line["target"]["kind"][0] in ("lib", "test")}
        return {name: path for path, name in names.items() if name not in LEFT_OUT}

    def run(self, program, variables, tests, limit):
        """Whether tests of a program (all if there are none) fail, and the seconds until the first one does."""
        environment = {**self.environment, **variables, "PROPTEST_CASES": "64", "PROPTEST_FAILURE_PERSISTENCE": "off"}
        start = time.monotonic()
        skipped = SKIPPED.get(pathlib.Path(program).name.rsplit("-", 1)[0], [])
        words = ["--exact", *tests] if tests else [word for module in skipped for word in ("--skip", f"{module}::")]
        process = subprocess.Popen([program, *words], cwd=self.folder, env=environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        late = threading.Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
        late.start()
        failed = any(line.startswith("test ") and line.endswith("FAILED\n") for line in process.stdout)
        if failed:
            os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
        late.cancel()
        return failed or status != 0, time.monotonic() - start

    def reach(self, program):
        """Which tests of a program reach each mutant, `main` if another process or thread does; and the seconds that they take."""
        path = noted(self.folder)
        failed, seconds = self.run(program, {REACHED: str(path)}, (), 900)
        reached = collections.defaultdict(set)
        for test, number in notes(path):
            reached[number].add(test)
        if failed:
            # Tests that limit what may be written fail where notes are.
            failed, seconds = self.run(program, {}, (), 900)
        return failed, seconds, reached

    def finder(self, programs, usual, number):
        """The name of the first program of tests, from quick to slow, that finds a mutant; none if no test does."""
        for name in sorted(usual, key=lambda name: usual[name][1]):
            _, seconds, reached = usual[name]
            tests = reached.get(number)
            if not tests:
                continue
            # Other processes and threads belong to any test, and what is reached once may be a table that all tests use.
            chosen = () if "main" in tests or len(tests) == 1 else sorted(tests)
            if self.run(programs[name], {"MUTANT": str(number)}, chosen, 5 * seconds + 20)[0]:
                return name
        return None


class Suite:
    """The conformance suite, whose cases are tests of the command: what is right without a mutant is wrong with it."""

    # A mutant that so many cases reach and do not find is taken as not found by the suite.
    MOST = 300

    def __init__(self, tree):
        sys.path.insert(0, str(ROOT / "tests/conformance"))
        import run
        from suite import field
        oracle = run.Oracle(sys.executable)
        program = run.Program(str(ROOT / "tests/conformance/programs/nnef-flatten.json"),
                              {"bin": str(tree.folder.parent / "target/debug/nnef-flatten"), "python": sys.executable})
        runner = field.Runner(program.command(), oracle)
        self.cases = [lambda case=case, judge=judge: judge(program, case)
                      for _, table, judge in run.tables(oracle) for case in run.read(table) if not case.get("unscored")]
        self.cases += [lambda folder=folder, case=case: None if runner.case(folder, case)[0] == "ok" else "wrong"
                       for _, folder, case in field.cases(str(ROOT / "tests/conformance/field"))]
        # What is raised for questions that the command is not asked, and for answers that have another form.
        self.errors = (run.Unasked, KeyError, TypeError, ValueError, IndexError, StopIteration)
        self.reached = collections.defaultdict(list)
        for number, case in enumerate(self.cases):
            path = noted(tree.folder)
            if self.is_right(case, {REACHED: str(path)}):
                for mutant in {mutant for _, mutant in notes(path)}:
                    self.reached[mutant].append(number)

    def is_right(self, case, variables):
        """Whether the answer to a case is right with variables of the environment."""
        os.environ.update(variables)
        try:
            return case() is None
        except self.errors:
            return False
        finally:
            for name in variables:
                del os.environ[name]

    def finds(self, mutant):
        """Whether a case is wrong with a mutant."""
        reached = self.reached[mutant]
        step = max(1, len(reached) // self.MOST)
        return not all(self.is_right(self.cases[number], {"MUTANT": str(mutant)}) for number in reached[::step])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, required=True, help="how many mutants are tried")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "target/mutants")
    parser.add_argument("--results", help="a file to which a line of JSON is added for each mutant; those in it are not tried again")
    options = parser.parse_args()
    tree = Tree(options.folder.resolve(), options.sample, options.seed)
    tree.without_mistakes()
    programs = tree.tests()
    usual = {name: tree.reach(program) for name, program in programs.items()}
    failing = [name for name, (failed, *_) in usual.items() if failed]
    if failing:
        sys.exit(f"these tests fail without a mutant: {', '.join(failing)}")
    suite = Suite(tree)
    tried = {}
    if options.results and os.path.exists(options.results):
        with open(options.results, encoding="utf-8") as lines:
            tried = {line["mutant"]: line["found"] for line in map(json.loads, lines)}
    outcomes = {}
    for number in tree.parts:
        name = tree.mutants[number]["name"]
        if name not in tried:
            tried[name] = "conformance" if suite.finds(number) else tree.finder(programs, usual, number)
            if options.results:
                with open(options.results, "a", encoding="utf-8") as out:
                    out.write(json.dumps({"mutant": name, "found": tried[name]}) + "\n")
        outcomes[name] = tried[name]
        if outcomes[name] is None:
            print(f"not found: {name}", flush=True)
    found = sum(test is not None for test in outcomes.values())
    print(f"{found} of {len(outcomes)} mutants are found, drawn from {tree.choosable} that can be chosen, of {len(tree.mutants)} in all")


if __name__ == "__main__":
    main()
