"""Comparisons of a result with its source."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Verification:
    """What was compared when a result was read back and evaluated like its source. It is true if anything was."""

    __slots__ = ("items", "largest_difference", "open_extents", "reason")

    def __init__(self, told: dict[str, Any]) -> None:
        self.items: int = told.get("items", 0)
        """The number of items of the outputs that were compared."""
        self.largest_difference: float | None = told.get("largest_difference")
        """The largest difference, within the tolerance of the type."""
        self.open_extents: tuple[str, ...] = tuple(told.get("open_extents", ()))
        """The extents that random inputs had 1 for: symbols, or axes such as `x[0]`."""
        self.reason: str | None = told.get("reason")
        """Why nothing was compared."""

    def __bool__(self) -> bool:
        return self.reason is None

    def __repr__(self) -> str:
        if self.reason is not None:
            return f"<not verified: {self.reason}>"
        return f"<verified: {self.items} items, the largest difference is {self.largest_difference}>"


def told(lines: str) -> Verification:
    """The comparison among the messages of the command."""
    import json

    for line in lines.splitlines():
        row = json.loads(line)
        if "verify" in row:
            return Verification(row["verify"])
    return Verification({"reason": "nothing was compared"})
