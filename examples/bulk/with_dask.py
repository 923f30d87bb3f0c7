"""Dask: with_dask.py FOLDER OUT."""

import json
import sys

import dask.bag

import work


def line(row):
    return json.dumps({**row, "flat": row["flat"].hex()})


def main(folder, out):
    rows = dask.bag.from_sequence(work.models(folder), npartitions=16).map(work.flatten)
    rows.map(line).to_textfiles(out + "/*.jsonl", compute_kwargs={"scheduler": "processes"})


if __name__ == "__main__":
    main(*sys.argv[1:])
