#!/usr/bin/env python3
"""Builds the page for the browser: one file with the library as WebAssembly, without a server and without other files.

Needs Rust with the target wasm32-unknown-unknown, and Python. The program is packed with LZMA, which `page/unpack.js`
reads; `size.txt` has the size of the page as a server sends it, compressed by gzip. Exit status 0 if all is as it should
be, 1 if the page is larger than it may be, 3 if the target is not installed.
"""

import argparse
import base64
import gzip
import hashlib
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = HERE / "page"
TARGET = "wasm32-unknown-unknown"

# How much the page may grow beyond the recorded size, and the most bytes that it may have.
GROWTH, MOST = 1.05, 1_100_000

# The parts of the script, each after those that it uses.
SCRIPTS = ["engine.js", "source.js", "findings.js", "views.js", "main.js"]
WORKER = ["unpack.js", "worker.js"]

# The parameters that `unpack.js` has.
PACKING = {"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0, "dict_size": 1 << 24}

EXAMPLES = [
    ("examples/transformer.nnef", "A transformer in NNEF", "Fragments that call each other"),
    ("examples/onnx/heads.onnxtxt", "A model of ONNX, as text", "A function that is expanded, and a computed shape"),
    ("examples/pnnx/centre.pnnx.param", "A file of PNNX", "Expressions of several operators"),
    ("examples/mistakes.nnef", "Mistakes in NNEF", "What findings look like"),
]


def installed():
    """Whether Rust can build for the target."""
    if not shutil.which("rustc"):
        return False
    found = subprocess.run(["rustc", "--print", "target-libdir", "--target", TARGET], capture_output=True, text=True)
    return found.returncode == 0 and pathlib.Path(found.stdout.strip()).is_dir()


def program(quick):
    """The bytes of the program, without the paths of this machine. What is only tried is built faster, and larger."""
    profile = "page-fast" if quick else "page"
    home = os.environ.get("CARGO_HOME") or pathlib.Path.home() / ".cargo"
    flags = [f"--remap-path-prefix={path}={name}" for path, name in [(home, "/cargo"), (ROOT, "/nnef-flatten")]]
    # Flags of several configurations are joined.
    more = f"target.{TARGET}.rustflags={json.dumps(flags)}"
    subprocess.run(["cargo", "build", "--profile", profile, "--target", TARGET, "--target-dir", HERE / "target", "--config", more],
                   check=True, cwd=HERE)
    return (HERE / "target" / TARGET / profile / "nnef_flatten_web.wasm").read_bytes()


def read(*names):
    return "".join((PAGE / name).read_text() for name in names)


def picture():
    """The style and the script of the pages of `--to html`, as `html.rs` joins them."""
    folder = ROOT / "src/picture"
    source = (folder / "html.rs").read_text()
    style = (folder / re.search(r'STYLE: &str = include_str!\("(.*?)"\)', source)[1]).read_text()
    script = source.split("const PARTS", 1)[1].split("];\n", 1)[0]
    parts = [*re.findall(r'include_str!\("(.*?)"\)', script), "page/start.js"]
    return style, "".join((folder / part).read_text() for part in parts)


def digest(text):
    """The source of a content security policy that allows a text."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def block(name, text, attributes=""):
    """A block of data, which does not run. Its text must not end it."""
    assert "</script" not in text and "<!--" not in text, name
    return f'<script type="text/plain" id="{name}"{attributes}>{text}</script>\n'


def models():
    """The examples as JSON without the special characters of HTML."""
    rows = [{"name": pathlib.Path(path).name, "title": title, "about": about, "text": (ROOT / path).read_text()}
            for path, title, about in EXAMPLES]
    text = json.dumps(rows, ensure_ascii=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def page(wasm):
    """The page with a program."""
    style, script = read("style.css"), read(*SCRIPTS)
    picture_style, picture_script = picture()
    # Frames and workers inherit the policy. `wasm-unsafe-eval` allows WebAssembly and no text to become a script.
    policy = (f"default-src 'none'; script-src 'wasm-unsafe-eval' {digest(script)} {digest(picture_script)}; "
              f"style-src {digest(style)} {digest(picture_style)}; worker-src blob:; base-uri 'none'; form-action 'none'")
    packed = base64.b64encode(lzma.compress(wasm, format=lzma.FORMAT_RAW, filters=[PACKING])).decode()
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n'
            f'<title>nnef-flatten</title>\n<style>{style}</style>\n</head>\n<body>\n{read("body.html")}'
            f'{block("models", models())}{block("worker", read(*WORKER))}'
            f'{block("program", packed, f""" data-size="{len(wasm)}" """)}'
            f'<script>{script}</script>\n</body>\n</html>\n')


def sent(text):
    """The size of a page as a server sends it."""
    return len(gzip.compress(text.encode(), 9, mtime=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "target/flatten.html")
    parser.add_argument("--wasm", type=pathlib.Path, help="a program that is built already")
    parser.add_argument("--quick", action="store_true", help="build a larger page in less time, to try it")
    parser.add_argument("--record", action="store_true", help="record the size")
    args = parser.parse_args()
    if not args.wasm and not installed():
        print(f"the target {TARGET} is not installed")
        return 3
    text = page(args.wasm.read_bytes() if args.wasm else program(args.quick))
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(text)
    size, record = sent(text), HERE / "size.txt"
    if args.record:
        record.write_text(f"{size}\n")
    limit = min(int(int(record.read_text()) * GROWTH), MOST)
    print(f"{args.output}: {size} bytes, compressed; at most {limit}; SHA-256 {hashlib.sha256(text.encode()).hexdigest()}")
    if size > limit and not args.quick:
        print("the page has grown: find out why, or record the size by --record")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
