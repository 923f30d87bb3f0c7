#!/usr/bin/env python3
"""Makes docs/page.png: the page of examples/transformer.nnef with an operation selected, in Chromium without a window.

    python3 tests/interop/screenshot.py --bin target/fast/nnef-flatten [--out docs/page.png]

Exit status 3 if there is no browser.
"""

import pathlib
import subprocess
import sys
import tempfile

from chromium import arguments, installed
from page import Page, search

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# The most bytes of the picture: it is part of the repository.
MOST = 120 << 10


def main():
    parser = arguments(__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "page.png")
    args = parser.parse_args()
    program = args.browser or installed()
    if not program:
        return 3
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder = pathlib.Path(folder)
        page = folder / "transformer.html"
        subprocess.run([args.bin, "examples/transformer.nnef", "-o", page], cwd=ROOT, check=True)
        browser = Page(program, folder / "profile")
        try:
            browser.size(1000, 620)
            browser.open(page)
            search(browser, "softmax")
            browser.frame()
            browser.picture(args.out)
        finally:
            browser.close()
    size = args.out.stat().st_size
    assert size <= MOST, f"{size} bytes"
    return 0


if __name__ == "__main__":
    sys.exit(main())
