"""Options as keyword arguments: they are those of the command, as words of its command line.

The command parses them and refuses those that do not apply, so that both have the same options.
"""

from __future__ import annotations

import os

from . import _native
from ._arrays import array_bytes

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
        merge: bool | str | Sequence[str]
        opset: int | None
        keep_tensors: str | Sequence[str]
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
    "merge",
    "opset",
    "keep_tensors",
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

# Options that are true or false, and those with names.
_FLAGS = ("strict", "keep_unused", "unroll", "flat", "fold", "share", "drop_bitcasts", "outline", "annotate", "provenance",
          "verify", "values", "renamed")
_PAIRS = ("set", "input_shape", "bind")
# Values of options in messages; other words after an option belong to the sentence.
_WORDS = ("all", "none", "custom", "untrusted", "ncnn", "pnnx", "loops", "onnx", "onnxtxt", "nnef", "nnef-draft", "json")
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
    for name, given in options.items():
        if name not in known:
            raise TypeError(f"unexpected keyword argument {name!r}")
        value = _plain(given)
        if value is None or value is False:
            continue
        if isinstance(value, (bytes, bytearray, memoryview)):
            raise TypeError(f"{name}: expected a text, not {type(value).__name__}")
        if name == "bind" and not hasattr(value, "items"):
            raise TypeError("bind: expected a dictionary with the names of inputs and their values")
        if hasattr(value, "__len__") and len(value) == 0:
            continue
        option = "--" + name.rstrip("_").replace("_", "-")
        if name == "bind":
            _bind(value, words, bound)
        elif value is True:
            words.append(option)
        elif hasattr(value, "items"):
            words += [f"{option}={key}={_text(name, item)}" for key, item in value.items()]
        elif name in _JOINED or not hasattr(value, "__iter__") or isinstance(value, (str, os.PathLike)):
            words.append(f"{option}={_text(name, value)}")
        else:
            words += [f"{option}={_text(name, item)}" for item in value]
    parsed = _parsed(tuple(words))
    return parsed.binding(bound) if bound else parsed


def _plain(value: Any) -> Any:
    """A truth value of another package as one of Python; other values as they are."""
    return bool(value) if _is_bool(value) else value


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
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"{option}: expected a text, not {type(value).__name__}")
    if value is None or _is_bool(value):
        cure = "; an extent that is not known has a name, such as 'N'" if option in ("set", "input_shape") else ""
        raise TypeError(f"{option}: {value} is no value here{cure}")
    if isinstance(value, (str, int, float)):
        return str(value)
    if hasattr(value, "__iter__") and getattr(value, "ndim", 1) != 0:
        return ",".join(_text(option, item) for item in value)
    # Numbers of numpy.
    if hasattr(value, "item"):
        return str(value.item())
    if hasattr(value, "__index__"):
        return str(value.__index__())
    raise TypeError(f"{option}: {type(value).__name__} is no value here")


def _is_bool(value: Any) -> bool:
    """Whether it is true or false, perhaps of numpy."""
    return isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b" and value.ndim == 0


def _bind(values: Mapping[str, Any], words: list[str], bound: list[tuple[str, bytes]]) -> None:
    for name, value in values.items():
        if isinstance(value, os.PathLike):
            words.append(f"--bind={name}={os.fsdecode(value)}")
        else:
            bound.append((name, array_bytes(f"bind of {name!r}", value)))


def settled(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Options that do not change any more: other values of the caller's objects, or another folder, make no difference."""
    if "fragments" not in options and all(value is None or isinstance(value, (int, str)) for value in options.values()):
        return options
    return {name: _settled(name, value) for name, value in options.items()}


def _settled(name: str, value: Any) -> Any:
    if name == "fragments" and isinstance(value, (str, os.PathLike)):
        # A name without a folder may be that of a registry.
        return os.path.abspath(value) if os.path.exists(value) else value
    if isinstance(value, os.PathLike):
        import pathlib

        return pathlib.Path(os.path.abspath(os.fsdecode(value)))
    if hasattr(value, "items"):
        return {key: _settled("", item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_settled(name, item) for item in value]
    if hasattr(value, "__array__"):
        import numpy as np

        return np.array(value)
    return value


def spelled(message: str) -> str:
    """A message of the command with options as keyword arguments: `set={"S": 5}` for `--set S=5`."""
    if "--" not in message:
        return message
    import re

    return re.sub(r"--([a-z]+(?:-[a-z]+)*)(?:[ =]([^ ;`'\"]*[^ ;:,.`'\")]))?", _keyword, message)


def _keyword(found: Any) -> str:
    """An option of the command with its value, as it is given in Python."""
    name = "from_" if found[1] == "from" else found[1].replace("-", "_")
    if name not in SAVING:
        # Other options are those of the command only.
        return str(found[0])
    value = found[2]
    if name in _FLAGS:
        before = str(found.string)[: found.start()].rstrip("`")
        given = f"{name}=True" if before.endswith(("with ", "without ", "under ")) else name
        return f"{given} {value}" if value else given
    if not value:
        return name
    if name in _PAIRS:
        key, equals, rest = value.partition("=")
        return f"{name}={{{_quoted(key)}: {_value(name, rest)}}}" if equals else f"{name} {value}"
    is_word = value.replace(",", "").replace("_", "").replace("-", "").isalnum()
    known = is_word and (value.isupper() or value in _WORDS or name.startswith("max_") and value.isdigit())
    return f"{name}={value if value.isdigit() else _quoted(value)}" if known else f"{name} {value}"


def _value(name: str, text: str) -> str:
    """A value of a message, as it is written in Python."""
    parts = [part if part.isdigit() or part == "…" else _quoted(part) for part in text.split(",")]
    return f"[{', '.join(parts)}]" if name == "input_shape" else ", ".join(parts) if name == "set" else text


def _quoted(text: str) -> str:
    return f'"{text}"'
