"""What is found about an input."""

from __future__ import annotations

from . import _native
from ._options import spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")

_MOST_SHOWN = 5


class Call:
    """A call of a fragment or a function, in which something was found or from which an operation comes."""

    __slots__ = ("column", "file", "line", "name")

    def __init__(self, name: str, file: str, line: int, column: int) -> None:
        self.name = name
        """The fragment or function that is called."""
        self.file = file
        self.line = line
        self.column = column

    def __repr__(self) -> str:
        return f"<call of {self.name} at {self.file}:{self.line}:{self.column}>"


class Finding:
    """An error or a warning.

    The fields are those of a diagnostic in the JSON form of the command, which `to_dict` returns.
    """

    __slots__ = ("_fields",)

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    @property
    def severity(self) -> str:
        """`error` or `warning`."""
        return str(self._fields["severity"])

    @property
    def is_error(self) -> bool:
        """Whether the input is refused for it."""
        return self.severity == "error"

    @property
    def code(self) -> str | None:
        """The code, such as `E0401`, which `nnef-flatten explain` explains."""
        return self._text("code")

    @property
    def rule(self) -> str | None:
        """The rule of the specification that is violated."""
        return self._text("rule")

    @property
    def message(self) -> str:
        """What is wrong."""
        return spelled(str(self._fields["message"]))

    @property
    def file(self) -> str | None:
        """The file, or the name of what was given: `<text>`, `<bytes>`."""
        return self._text("file")

    @property
    def line(self) -> int | None:
        """The line, from 1."""
        return self._number("line")

    @property
    def column(self) -> int | None:
        """The column in characters, from 1."""
        return self._number("column")

    @property
    def end_line(self) -> int | None:
        """The line of the end."""
        return self._number("end_line")

    @property
    def end_column(self) -> int | None:
        """The column after the end."""
        return self._number("end_column")

    @property
    def path(self) -> str | None:
        """The place in a model in protobuf, such as `graph.node[3]`, if it is known."""
        node = self._fields.get("node")
        return None if node is None else str(node["path"])

    @property
    def label(self) -> str | None:
        """What is found at that place."""
        return self._told("label")

    @property
    def help(self) -> str | None:
        """How to solve the problem, if that is certain."""
        return self._told("help")

    @property
    def calls(self) -> list[Call]:
        """The nested calls in which it was found, the innermost first."""
        frames = self._fields.get("expansion") or []
        return [Call(frame["fragment"], frame["file"], frame["line"], frame["column"]) for frame in frames]

    def to_dict(self) -> dict[str, Any]:
        """All fields, in the JSON form of the command."""
        return dict(self._fields)

    def _text(self, name: str) -> str | None:
        value = self._fields.get(name)
        return None if value is None else str(value)

    def _told(self, name: str) -> str | None:
        """A text with the options of this module."""
        text = self._text(name)
        return None if text is None else spelled(text)

    def _number(self, name: str) -> int | None:
        value = self._fields.get(name)
        return None if value is None else int(value)

    def __str__(self) -> str:
        help = f"; {self.help}" if self.help else ""
        return f"{self.file}:{self.line}:{self.column}: {self.code}: {self.message}{help}"

    def __repr__(self) -> str:
        return f"<{self.severity} {self}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Finding) and self._fields == other._fields

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[type[Finding], tuple[dict[str, Any]]]:
        return Finding, (self._fields,)


class FlattenError(ValueError):
    """An input is refused. `findings` has the errors, then the warnings.

    >>> import nnef_flatten
    >>> try:
    ...     nnef_flatten.flatten("version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = exp(z); }")
    ... except nnef_flatten.FlattenError as error:
    ...     finding = error.findings[0]
    >>> finding.code, finding.line, finding.column
    ('E0606', 1, 73)
    """

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = findings
        errors = [str(finding) for finding in findings if finding.is_error]
        more = len(errors) - _MOST_SHOWN
        shown = errors[:_MOST_SHOWN] + ([f"and {more} more errors"] if more > 0 else [])
        super().__init__("\n".join(shown))

    def __reduce__(self) -> tuple[type[FlattenError], tuple[list[Finding]]]:
        return FlattenError, (self.findings,)


def read(lines: str) -> list[Finding]:
    """Findings among lines of JSON."""
    if not lines:
        return []
    import json

    rows = [json.loads(line) for line in lines.splitlines()]
    return [Finding(row) for row in rows if row.get("kind") == "finding"]


def refusing(verb: Callable[..., T], *arguments: object) -> T:
    """Calls a verb; what it refuses raises an exception of the module."""
    try:
        return verb(*arguments)
    except _native.Refused as refused:
        raise FlattenError(read(refused.args[0])) from None
    except ValueError as error:
        raise ValueError(spelled(str(error))) from None
