"""Differences between two inputs."""

from __future__ import annotations

from dataclasses import dataclass

from ._findings import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ._findings import Finding


@dataclass(frozen=True)
class Place:
    """An operation of a change in one of the inputs."""

    operation: str
    result: str
    path: str | None
    line: int | None
    column: int | None


@dataclass(frozen=True)
class Change:
    """A difference: what it is about, the module or the calls around it, and what was before and after."""

    what: str
    module: str
    part: str | None
    old: str | None
    new: str | None
    largest_difference: float | None
    a: Place | None
    b: Place | None


class Difference:
    """What differs between two inputs: a sequence of changes. Its text is that of the command.

    It is true if there are changes, as a list of them would be.
    """

    def __init__(self, objects: str, text: str, findings: str) -> None:
        import json

        rows: list[dict[str, Any]] = [json.loads(line) for line in objects.splitlines()]
        self.changes: list[Change] = [_change(row) for row in rows if row["kind"] == "change"]
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


def _change(row: dict[str, Any]) -> Change:
    def place(of: dict[str, Any] | None) -> Place | None:
        return Place(**of) if of else None

    return Change(
        what=row["what"],
        module=row["module"],
        part=row["part"],
        old=row["old"],
        new=row["new"],
        largest_difference=row["largest_difference"],
        a=place(row["a"]),
        b=place(row["b"]),
    )
