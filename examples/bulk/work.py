"""What is done with each model: it becomes a row."""

from pathlib import Path

import nnef_flatten


def flatten(path):
    """The flat model and the findings of a file; what is refused is a row, too."""
    row = {"path": str(path), "accepted": False, "operations": 0, "flat": b"", "findings": []}
    try:
        result = nnef_flatten.flatten(Path(path), limits="untrusted")
        row["accepted"] = True
        if isinstance(result, nnef_flatten.Model):
            row["flat"], row["operations"] = result.to_bytes(), len(result)
        else:
            row["flat"], row["operations"] = result.to_text().encode(), len(result)
        row["findings"] = [record(finding) for finding in result.findings]
    except nnef_flatten.FlattenError as error:
        row["findings"] = [record(finding) for finding in error.findings]
    except OSError as error:
        row["findings"] = [{"severity": "error", "code": "", "line": 0, "message": str(error)}]
    return row


def record(finding):
    return {
        "severity": finding.severity,
        "code": finding.code or "",
        "line": finding.line or 0,
        "message": finding.message,
    }


def models(folder):
    """The paths of the models in a folder."""
    return sorted(str(path) for path in Path(folder).iterdir() if path.suffix in (".nnef", ".onnx", ".onnxtxt"))
