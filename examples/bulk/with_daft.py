"""Daft: with_daft.py FOLDER OUT."""

import sys

import daft
from daft import DataType

import work

FINDING = {"severity": DataType.string(), "code": DataType.string(), "line": DataType.int64(), "message": DataType.string()}
ROW = DataType.struct(
    {
        "path": DataType.string(),
        "accepted": DataType.bool(),
        "operations": DataType.int64(),
        "flat": DataType.binary(),
        "findings": DataType.list(DataType.struct(FINDING)),
    }
)


def main(folder, out):
    rows = daft.from_pydict({"path": work.models(folder)})
    flat = rows.select(rows["path"].apply(work.flatten, return_dtype=ROW).alias("row"))
    flat.select(*(flat["row"].get(name).alias(name) for name in ROW.fields)).write_parquet(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
