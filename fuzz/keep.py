#!/usr/bin/env python3
"""Chooses the inputs of a fuzz target that are kept, for `run.sh --keep`:

keep.py TARGET CONTROL LOG

CONTROL is the file in which a merge of libFuzzer notes what each input reaches, LOG its messages. The inputs that add
most to the seeds are written to kept/TARGET.tar, which has the same bytes for the same inputs.
"""

import hashlib
import re
import sys
import tarfile
from pathlib import Path

# Limits of an archive. An input longer than the merge reads is cut.
FILES = 60
BYTES = 70_000
LENGTH = 1_000
# A code location counts as much as so many features, which are locations with counts, and compared values.
LOCATION = 20


def reached(control):
    """The files of a merge, and the features that each reaches."""
    lines = Path(control).read_text().splitlines()
    files = lines[2 : 2 + int(lines[0])]
    features = {}
    for line in lines[2 + len(files) :]:
        kind, number, *found = line.split() or [""] * 2
        if kind == "FT":
            features[files[int(number)]] = set(map(int, found))
    return features


def blocks(data):
    """The bytes that a file takes in an archive."""
    return 512 + -(-len(data) // 512) * 512


def chosen(features, counters):
    """The contents of the files that add most to the seeds for their length, at most as many as the limits allow."""
    locations = lambda found: {feature >> 3 for feature in found if feature < 8 * counters}
    seen, places = set(), set()
    candidates = {}
    for file, found in features.items():
        if Path(file).parts[0] == "seeds":
            seen |= found
            places |= locations(found)
        else:
            data = Path(file).read_bytes()[:LENGTH]
            candidates[data] = (found, locations(found))
    kept, size = [], 1024

    def worth(data):
        found, at = candidates[data]
        added = LOCATION * len(at - places) + len(found - seen)
        return (added / (blocks(data) + 512), -len(data), data)

    while candidates and len(kept) < FILES:
        best = max(candidates, key=worth)
        found, at = candidates.pop(best)
        if found <= seen:
            break
        if size + blocks(best) <= BYTES:
            size += blocks(best)
            seen |= found
            places |= at
            kept.append(best)
    return kept, len(places)


def main(target, control, log):
    counters = int(re.search(r"\((\d+) inline 8-bit counters\)", Path(log).read_text(errors="replace"))[1])
    kept, places = chosen(reached(control), counters)
    archive = Path("kept") / f"{target}.tar"
    archive.parent.mkdir(exist_ok=True)
    # Not by tarfile.open, which fills the last record of 10 KiB.
    with open(archive, "wb") as file:
        for name, data in sorted((hashlib.sha1(data).hexdigest(), data) for data in kept):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            file.write(entry.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % 512))
        file.write(bytes(1024))
    print(f"{target}: {len(kept)} inputs, {archive.stat().st_size} bytes, {places} code locations with the seeds")


if __name__ == "__main__":
    main(*sys.argv[1:])
