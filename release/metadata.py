#!/usr/bin/env python3
"""Keeps the version and the public address the same wherever they stand.

The version is that of `Cargo.toml`, the address that of `release/address.toml`; the table PLACES has all places. Exit
status 0 if they agree, 1 if not.

    release/metadata.py --check          tell what disagrees
    release/metadata.py --write          write version and address to all places
    release/metadata.py --release v1.2.3 may this tag be published?
    release/metadata.py --notes          what CHANGELOG.md says of the version
    release/metadata.py --matrix         the rows of platforms.json in one line, for a workflow
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACEHOLDER = "OWNER"

# How each field looks, whatever its value is.
FIELDS = {
    "version": r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?",
    "minor": r"\d+\.\d+",
    "slug": r"[\w.-]+/[\w.-]+",
    "repository": r"https://[\w.-]+/[\w.-]+/[\w.-]+",
    "homepage": r"https://[\w./-]+/",
}

# A file, and the texts in it that have fields. Each has to be there, and stands at the start of a line but for blanks.
PLACES = [
    ("Cargo.toml", ['version = "{version}"', 'repository = "{repository}"', 'homepage = "{homepage}"']),
    ("Cargo.lock", ['name = "nnef-flatten"\nversion = "{version}"', 'name = "nnef-flatten-python"\nversion = "{version}"']),
    ("python/Cargo.toml", ['version = "{version}"']),
    ("python/README.md", ["[Options]: {repository}/blob/v{version}/docs/options.md",
                          "[Python]: {repository}/blob/v{version}/docs/python.md",
                          "[Changes]: {repository}/blob/v{version}/CHANGELOG.md"]),
    ("pyproject.toml", ['version = "{version}"', 'Homepage = "{homepage}"', 'Repository = "{repository}"',
                        'Issues = "{repository}/issues"', 'Documentation = "{repository}/blob/v{version}/docs/python.md"',
                        'Changelog = "{repository}/blob/v{version}/CHANGELOG.md"']),
    ("editors/vscode/package.json", ['"version": "{version}"', '"homepage": "{homepage}"',
                                     '"repository": {{ "type": "git", "url": "{repository}.git", '
                                     '"directory": "editors/vscode" }}',
                                     '"bugs": {{ "url": "{repository}/issues" }}']),
    ("editors/tree-sitter-nnef/tree-sitter.json", ['"version": "{version}"',
                                                   '"links": {{ "repository": "{repository}" }}']),
    (".github/ISSUE_TEMPLATE/config.yml", ["url: {repository}/security/advisories/new",
                                           "url: {repository}/blob/main/docs/README.md"]),
    ("SECURITY.md", ["[advisories]: {repository}/security/advisories/new"]),
    ("README.md", ["- uses: {slug}@v{version}"]),
    ("docs/ci.md", ["- repo: {repository}", "rev: v{version}", "- uses: {slug}@v{version}"]),
    ("docs/library.md", ['nnef-flatten = {{ version = "{minor}"']),
]


def cargo():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]


def values():
    """The fields as they should be."""
    address = tomllib.loads((ROOT / "release/address.toml").read_text())
    version = cargo()["version"]
    slug = "/".join(address["repository"].split("/")[3:])
    return {**address, "slug": slug, "version": version, "minor": ".".join(version.split(".")[:2])}


def pattern(template):
    """A regular expression for a text with any values of its fields."""
    marks = template.format(**{name: f"\0{name}\0" for name in FIELDS})
    parts = marks.split("\0")
    return re.compile(r"^[ \t]*" + "".join(FIELDS[part] if i % 2 else re.escape(part) for i, part in enumerate(parts)), re.M)


def disagreeing(write):
    """What is missing or has another value; with `write`, values are written first."""
    wanted, wrong = values(), []
    for name, templates in PLACES:
        path = ROOT / name
        text = before = path.read_text()
        for template in templates:
            found, right = pattern(template).findall(text), template.format(**wanted)
            if not found:
                wrong.append(f"{name} has no line like {right!r}")
            for line in found:
                if line.strip() != right:
                    if write:
                        text = text.replace(line, line[: len(line) - len(line.lstrip())] + right)
                    else:
                        wrong.append(f"{name}: {line.strip()!r} should be {right!r}")
        if text != before:
            path.write_text(text)
    return wrong


def elsewhere():
    """Addresses in files that the table does not have."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    # The test of this script has addresses of nobody.
    known = {name for name, _ in PLACES} | {"release/address.toml", "release/metadata.py", "tests/interop/release.py"}
    address = re.compile(rf"https://[\w.-]+/[\w.-]+/nnef-flatten\b|\b{PLACEHOLDER}/nnef-flatten")
    for name in listed.stdout.split("\n"):
        path = ROOT / name
        if name and name not in known and path.is_file():
            for found in address.findall(path.read_bytes().decode(errors="ignore")):
                yield f"{name}: {found!r} is not in the table of release/metadata.py"


def section(version):
    """The heading of a version in the changelog, and what stands under it."""
    found = re.search(rf"^## \[{re.escape(version)}\](.*)\n((?:(?!## ).*\n)*)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    return found.groups() if found else ("", "")


def unfit(tag):
    """Why a tag may not be published."""
    wanted = values()
    if tag != f"v{wanted['version']}":
        yield f"the tag is {tag}, the version {wanted['version']}"
    for name in ("repository", "homepage"):
        if PLACEHOLDER in wanted[name]:
            yield f"the {name} in release/address.toml is a placeholder"
    heading, text = section(wanted["version"])
    if not re.fullmatch(r" - \d{4}-\d\d-\d\d", heading) or not text.strip():
        yield f"CHANGELOG.md has no section for {wanted['version']} with its date"
    if section("Unreleased")[1].strip():
        yield "CHANGELOG.md has changes that belong to no version"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--check", action="store_true")
    group.add_argument("--write", action="store_true")
    group.add_argument("--release", metavar="TAG")
    group.add_argument("--notes", action="store_true")
    group.add_argument("--matrix", action="store_true")
    args = parser.parse_args()
    if args.matrix:
        print(json.dumps(json.loads((ROOT / "release/platforms.json").read_text())))
        return 0
    if args.notes:
        print(section(cargo()["version"])[1].strip())
        return 0
    wrong = [*disagreeing(args.write), *elsewhere(), *(unfit(args.release) if args.release else ())]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
