"""Ray Data: with_ray.py FOLDER OUT."""

import sys
from pathlib import Path

import pyarrow as pa
import ray

import work

# Given, since most batches have no findings from which the type could be seen.
FINDING = pa.struct({"severity": pa.string(), "code": pa.string(), "line": pa.int64(), "message": pa.string()})
ROW = pa.schema(
    {
        "path": pa.string(),
        "accepted": pa.bool_(),
        "operations": pa.int64(),
        "flat": pa.binary(),
        "findings": pa.list_(FINDING),
    }
)


class Flattener:
    """An actor: the module is imported once."""

    def __call__(self, batch):
        rows = [work.flatten(path) for path in batch["path"].to_pylist()]
        return pa.Table.from_pylist(rows, schema=ROW)


def main(folder, out):
    here = str(Path(__file__).resolve().parent)
    ray.init(runtime_env={"env_vars": {"PYTHONPATH": here}}, log_to_driver=False)
    workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
    paths = ray.data.from_items([{"path": path} for path in work.models(folder)], override_num_blocks=8 * workers)
    rows = paths.map_batches(Flattener, batch_format="pyarrow", batch_size=256, concurrency=workers)
    rows.write_parquet(str(Path(out).resolve()))


if __name__ == "__main__":
    main(*sys.argv[1:])
