#!/usr/bin/env python3
"""Checks the crates that the package needs against the policy of deny.toml: licences, versions, sources.

    python3 tests/dependencies.py [METADATA]

METADATA is the output of `cargo metadata --format-version 1 --locked --all-features`, which is called without it. Needs
Python 3.11 for its reader of TOML. Advisories need their data base: cargo-deny reads it.

It also counts the crates with unsafe code among those that the command runs with, on any system, and compares with the
sentence of SECURITY.md.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def metadata(arguments):
    if arguments:
        return json.loads(pathlib.Path(arguments[0]).read_text(encoding="utf-8"))
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def is_allowed(expression, allowed):
    """Whether an expression of SPDX can be fulfilled by allowed licences. `/` is the old spelling of OR."""
    words = re.findall(r"\(|\)|[^\s()]+(?:\s+WITH\s+[^\s()]+)?", expression.replace("/", " OR "))
    at = 0

    def operand():
        nonlocal at
        word = words[at]
        at += 1
        if word != "(":
            return re.sub(r"\s+", " ", word) in allowed
        found = either()
        at += 1
        return found

    def both():
        nonlocal at
        found = operand()
        while at < len(words) and words[at] == "AND":
            at += 1
            found = operand() and found
        return found

    def either():
        nonlocal at
        found = both()
        while at < len(words) and words[at] == "OR":
            at += 1
            found = both() or found
        return found

    return either()


def findings(packages, policy):
    allowed = set(policy["licenses"]["allow"])
    registries = {"registry+" + address for address in policy["sources"]["allow-registry"]}
    skipped = {entry["crate"] for entry in policy["bans"]["skip"]}
    denied = {entry["crate"]: entry["reason"] for entry in policy["bans"]["deny"]}
    for package in packages:
        if not package["license"] or not is_allowed(package["license"], allowed):
            yield "%s %s: the licence %s is not allowed" % (package["name"], package["version"], package["license"])
        if package["source"] not in registries | {None}:
            yield "%s: the source %s is not allowed" % (package["name"], package["source"])
        if package["name"] in denied:
            yield "%s is not allowed: %s" % (package["name"], denied[package["name"]])
    counts = collections.Counter(package["name"] for package in packages)
    for name, count in counts.items():
        if count > 1 and name not in skipped:
            yield "%s has %d versions" % (name, count)
    for name in sorted(skipped - {name for name, count in counts.items() if count > 1}):
        yield "%s has one version: it needs no exception" % name


# A block, a function, an implementation, a trait or an import of functions that is unsafe.
UNSAFE = re.compile(r"\bunsafe\s*(\{|fn\b|impl\b|trait\b|extern\b)")
COMMENT = re.compile(r"//[^\n]*")
# How SECURITY.md tells the counts.
SENTENCE = "%d of the %d crates that the command runs with, on any system, have some"


def runtime(found):
    """The packages that the root depends on at run time, without those of procedural macros and of build scripts."""
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    macros = {id for id, package in packages.items() if any("proc-macro" in target["kind"] for target in package["targets"])}
    open_ids, seen = [found["resolve"]["root"]], set()
    while open_ids:
        at = open_ids.pop()
        if at in seen or at in macros:
            continue
        seen.add(at)
        for dependency in nodes[at]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                open_ids.append(dependency["pkg"])
    return [packages[id] for id in seen if id != found["resolve"]["root"]]


def has_unsafe(package):
    folder = pathlib.Path(package["manifest_path"]).parent / "src"
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in sorted(folder.rglob("*.rs")))
    return any(UNSAFE.search(COMMENT.sub("", text)) for text in texts)


def untold(found):
    """What SECURITY.md does not tell of unsafe code."""
    used = runtime(found)
    sentence = SENTENCE % (sum(map(has_unsafe, used)), len(used))
    if sentence not in " ".join((ROOT / "SECURITY.md").read_text(encoding="utf-8").split()):
        yield "SECURITY.md does not say: " + sentence


def main():
    policy = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
    told = metadata(sys.argv[1:])
    packages = told["packages"]
    found = list(findings(packages, policy)) + list(untold(told))
    print("\n".join(found + ["%d crates, %d findings" % (len(packages), len(found))]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
