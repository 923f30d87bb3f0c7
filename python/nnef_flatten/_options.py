"""Options as keyword arguments: they are those of the command, as words of its command line.

The command parses them and refuses those that do not apply, so that both have the same options.
"""

from __future__ import annotations

import os

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, TypedDict

    import numpy.typing as npt

    Extent = int | str
    Notation = Literal["nnef", "nnef-draft", "loops", "onnx", "onnxtxt", "pnnx", "ncnn"]
    # Output notations that are texts; the other one is protobuf.
    Text = Literal[
        "nnef", "nnef-draft", "json", "nnef-json", "onnxtxt", "pnnx", "dot", "svg", "html"
    ]

    class Limits(TypedDict, total=False):
        """Limits on the resources for an input."""

        limits: Literal["default", "untrusted"]
        max_ops: int | None
        max_depth: int | None
        max_length: int | None
        max_memory: int | None
        max_text: int | None
        max_files: int | None
        max_unpacked: int | None
        max_items: int | None
        max_work: int | None

    class Common(Limits, total=False):
        """How an input is read, but its notation."""

        set: Mapping[str, Extent] | None
        input_shape: Mapping[str, Sequence[Extent]] | None
        bind: Mapping[str, npt.ArrayLike | os.PathLike[str]] | None
        strict: bool
        fragments: Sequence[str | os.PathLike[str]]
        keep_unused: bool
        unroll: bool
        max_trips: int | None
        flat: bool

    class Reading(Common, total=False):
        """How an input is read."""

        from_: Notation | None

    class Language(Reading, total=False):
        """How an input is read and expanded."""

        lower: str | Sequence[str] | None
        keep: str | Sequence[str]

    class Comparing(Limits, total=False):
        """Options of `diff`."""

        from_: Notation | None
        strict: bool
        fragments: Sequence[str | os.PathLike[str]]
        lower: str | Sequence[str] | None
        keep: str | Sequence[str]
        values: bool
        renamed: bool

    class Checking(Language, total=False):
        """Options of `check`."""

        production: Literal["model", "graph", "function", "node"] | None

    class Passes(Common, total=False):
        """Options of `flatten`, but the notation of the input."""

        lower: str | Sequence[str] | None
        keep: str | Sequence[str]
        fold: bool
        share: bool
        simplify: bool | str | Sequence[str]
        simplify_except: str | Sequence[str]
        fold_growth: int | str | None
        drop_bitcasts: bool
        outputs: str | Sequence[str]
        inputs_at: str | Sequence[str]
        outline: bool
        annotate: bool
        provenance: bool
        production: Literal["model", "graph", "function", "node"] | None

    class Flattening(Passes, total=False):
        """Options of `flatten`."""

        from_: Notation | None


LIMITS = (
    "limits",
    "max_ops",
    "max_depth",
    "max_length",
    "max_memory",
    "max_text",
    "max_files",
    "max_unpacked",
    "max_items",
    "max_work",
)
READING = (
    "from_",
    "set",
    "input_shape",
    "bind",
    "strict",
    "fragments",
    "keep_unused",
    "unroll",
    "max_trips",
    "flat",
    *LIMITS,
)
LANGUAGE = (*READING, "lower", "keep")
CHECKING = (*LANGUAGE, "production")
COMPARING = ("from_", "strict", "fragments", "lower", "keep", "values", "renamed", *LIMITS)
FLATTENING = (
    *CHECKING,
    "fold",
    "share",
    "simplify",
    "simplify_except",
    "fold_growth",
    "drop_bitcasts",
    "outputs",
    "inputs_at",
    "outline",
    "annotate",
    "provenance",
)
# Where the result of flattening goes, and what it is compared with.
SAVING = (*FLATTENING, "output", "to", "verify", "inputs", "seed")

# Lists that are one word; the others are words for each item.
_JOINED = ("lower",)
# The options of the most recent calls, parsed.
_PARSED: dict[tuple[str, ...], _native.Keywords] = {}
_MOST_PARSED = 64


def keywords(verb: str, options: Mapping[str, Any], known: Sequence[str]) -> _native.Keywords:
    """The options of a verb, of which only the known ones are accepted.

    `verb` is the name of a subcommand, or empty for flattening.
    """
    words = [verb] if verb else []
    bound: list[tuple[str, bytes]] = []
    for name, value in options.items():
        if name not in known:
            raise TypeError(f"unexpected keyword argument {name!r}")
        if value is None or value is False:
            continue
        if hasattr(value, "__len__") and len(value) == 0:
            continue
        option = "--" + name.rstrip("_").replace("_", "-")
        if name == "bind":
            _bind(value, words, bound)
        elif value is True:
            words.append(option)
        elif hasattr(value, "items"):
            words += [f"{option}={key}={_text(name, item)}" for key, item in value.items()]
        elif isinstance(value, (str, int, float, os.PathLike)) or name in _JOINED:
            words.append(f"{option}={_text(name, value)}")
        else:
            words += [f"{option}={_text(name, item)}" for item in value]
    parsed = _parsed(tuple(words))
    return parsed.binding(bound) if bound else parsed


def merged(options: Mapping[str, Any], more: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """The options of a result that a verb has, and further ones, which precede; names keep their values otherwise."""
    both = {name: value for name, value in options.items() if name in known}
    for name, value in more.items():
        before: Any = both.get(name)
        both[name] = {**before, **value} if hasattr(before, "items") and hasattr(value, "items") else value
    return both


def _parsed(words: tuple[str, ...]) -> _native.Keywords:
    parsed = _PARSED.get(words)
    if parsed is None:
        try:
            parsed = _native.Keywords(words)
        except ValueError as error:
            raise ValueError(spelled(str(error))) from None
        if len(_PARSED) >= _MOST_PARSED:
            _PARSED.clear()
        _PARSED[words] = parsed
    return parsed


def _text(option: str, value: Any) -> str:
    """A value as a part of a word."""
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if value is None or isinstance(value, bool):
        cure = "; an extent that is not known has a name, such as 'N'" if option in ("set", "input_shape") else ""
        raise TypeError(f"{option}: {value} is no value here{cure}")
    if isinstance(value, (str, int, float)):
        return str(value)
    if hasattr(value, "__iter__"):
        return ",".join(_text(option, item) for item in value)
    # Integers of numpy.
    return str(value)


def _bind(values: Mapping[str, Any], words: list[str], bound: list[tuple[str, bytes]]) -> None:
    for name, value in values.items():
        if isinstance(value, os.PathLike):
            words.append(f"--bind={name}={os.fsdecode(value)}")
        else:
            bound.append((name, array_bytes(value)))


def array_bytes(value: Any) -> bytes:
    """An array in the format `.npy`."""
    import io

    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, np.asarray(value), allow_pickle=False)
    return buffer.getvalue()


def spelled(message: str) -> str:
    """A message of the command with options as keyword arguments."""
    import re

    return re.sub(
        r"--([a-z]+(?:-[a-z]+)*)",
        lambda found: "from_" if found[1] == "from" else found[1].replace("-", "_"),
        message,
    )
