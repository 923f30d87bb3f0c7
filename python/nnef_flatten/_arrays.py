"""Arrays: for inputs, by their names, and as files of numpy."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


def array_bytes(of: str, value: Any) -> bytes:
    """An array in the format `.npy`; `of` is what it is for."""
    import io

    import numpy as np

    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{of}: not an array of numbers: {error}") from None
    # Objects, texts and times.
    if array.dtype.kind in "OSUmM":
        raise TypeError(f"{of}: expected an array of numbers, not {type(value).__name__}")
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def named(inputs: Any, names: Callable[[], list[str]]) -> dict[str, Any]:
    """Arrays by the names of inputs; those without names get them where there is only one way."""
    import numpy as np

    if inputs is None:
        return {}
    if hasattr(inputs, "items"):
        return dict(inputs.items())
    known = names()
    if isinstance(inputs, (list, tuple)) and all(isinstance(item, np.ndarray) for item in inputs):
        return _in_order(inputs, known)
    if not isinstance(inputs, (list, tuple)):
        return _in_order([inputs], known)
    if len(known) != 1:
        return _in_order(inputs, known)
    if len(inputs) == 1:
        cure = f"give a dictionary, or numpy.array(...), for {known[0]!r}"
        raise TypeError(f"a list of one item is an array or has one: {cure}")
    return {known[0]: inputs}


def _in_order(arrays: Sequence[Any], names: list[str]) -> dict[str, Any]:
    if len(arrays) != len(names):
        several = f"{len(arrays)} array{'' if len(arrays) == 1 else 's'}"
        raise TypeError(f"{several} for {len(names)} inputs: {', '.join(names)}")
    return dict(zip(names, arrays))


def encoded(arrays: Mapping[str, Any]) -> list[tuple[str, bytes]]:
    """Arrays by the names of inputs, in the format `.npy`."""
    for name in arrays:
        if not isinstance(name, str):
            raise TypeError(f"the name of an input is a text, not {name!r}")
    return [(name, array_bytes(f"the input {name!r}", value)) for name, value in arrays.items()]


def write_arrays(path: str, arrays: Mapping[str, Any]) -> None:
    """Writes arrays as an archive of numpy, whose own function does not take all names."""
    import zipfile

    with zipfile.ZipFile(path, "w") as archive:
        for name, array in encoded(arrays):
            archive.writestr(name + ".npy", array)
