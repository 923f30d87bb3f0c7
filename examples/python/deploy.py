"""Makes a model ready for a device: sizes become numbers, what is known is computed, and the result is compared with the model.

    python examples/python/deploy.py examples/onnx/heads.onnxtxt flat.onnx batch=4
"""

import sys
from pathlib import Path

import nnef_flatten


def deploy(model: Path, output: Path, sizes: dict[str, int]) -> nnef_flatten.Graph | nnef_flatten.Model:
    """Writes the flat model, unless it computes something else. What is refused raises `FlattenError`."""
    unknown = set(nnef_flatten.load(model).symbols) - set(sizes)
    if unknown:
        raise SystemExit(f"{model}: give sizes of {', '.join(sorted(unknown))}, such as {min(unknown)}=4")
    flat = nnef_flatten.flatten(model, set=sizes, fold=True, share=True)
    flat.save(output, verify=True)
    return flat


def main(words: list[str]) -> None:
    model, output, *rest = words
    sizes = {name: int(size) for name, size in (word.split("=") for word in rest)}
    try:
        flat = deploy(Path(model), Path(output), sizes)
    except nnef_flatten.FlattenError as error:
        raise SystemExit(f"{model}: {error}") from None
    for finding in flat.findings:
        print(finding, file=sys.stderr)
    stats = flat.stats()
    print(f"{output}: {len(flat)} operations, {stats['parameters']} parameters, {stats['multiply_adds']} multiply-adds")


if __name__ == "__main__":
    main(sys.argv[1:])
