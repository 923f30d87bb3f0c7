"""Differences between two inputs."""

from __future__ import annotations

from ._findings import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ._findings import Finding


class Place:
    """An operation of a change in one of the inputs."""

    __slots__ = ("column", "line", "operation", "path", "result")

    def __init__(self, operation: str, result: str, path: str | None, line: int | None, column: int | None) -> None:
        self.operation = operation
        self.result = result
        """The name of its first result."""
        self.path = path
        self.line = line
        self.column = column

    def __repr__(self) -> str:
        return f"<{self.operation} {self.result} at {self.path}:{self.line}:{self.column}>"


class Change:
    """A difference: what it is about, the module or the calls around it, and what was before and after."""

    __slots__ = ("a", "b", "largest_difference", "module", "new", "old", "part", "what")

    def __init__(self, row: dict[str, Any]) -> None:
        self.what: str = row["what"]
        """Such as `added` or `attribute`; docs/diff.md has all of them."""
        self.module: str = row["module"]
        self.part: str | None = row["part"]
        """What of the operation has changed, such as the name of an attribute."""
        self.old: str | None = row["old"]
        self.new: str | None = row["new"]
        self.largest_difference: float | None = row["largest_difference"]
        self.a: Place | None = Place(**row["a"]) if row["a"] else None
        """The operation in the first input."""
        self.b: Place | None = Place(**row["b"]) if row["b"] else None

    def __repr__(self) -> str:
        return f"<{self.what} {self.part or ''}: {self.old} -> {self.new}>"


class Difference:
    """What differs between two inputs: a sequence of changes. Its text is that of the command.

    It is true if there are changes, as a list of them would be.
    """

    def __init__(self, objects: str, text: str, findings: str) -> None:
        import json

        rows: list[dict[str, Any]] = [json.loads(line) for line in objects.splitlines()]
        self.changes: list[Change] = [Change(row) for row in rows if row["kind"] == "change"]
        self.renamed: dict[str, str] = {row["old"]: row["new"] for row in rows if row["kind"] == "renamed"}
        self.summary: dict[str, Any] = next(row for row in rows if row["kind"] == "summary")
        self.findings: list[Finding] = read(findings)
        self._text = text

    @property
    def equal(self) -> bool:
        """Whether the graphs are equal up to the names of inner tensors."""
        return not self.changes

    def __len__(self) -> int:
        return len(self.changes)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __getitem__(self, index: int) -> Change:
        return self.changes[index]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Difference of {len(self)} changes>"
