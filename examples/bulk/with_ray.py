"""Ray Data: with_ray.py FOLDER OUT."""

import sys
from pathlib import Path

import ray

import work


class Flattener:
    """An actor: the module is imported once."""

    def __call__(self, row):
        return work.flatten(row["path"])


def main(folder, out):
    here = str(Path(__file__).resolve().parent)
    ray.init(runtime_env={"env_vars": {"PYTHONPATH": here}}, log_to_driver=False)
    workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
    rows = ray.data.from_items([{"path": path} for path in work.models(folder)], override_num_blocks=8 * workers)
    rows.map(Flattener, concurrency=workers).write_parquet(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
