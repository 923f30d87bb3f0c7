"""Models in protobuf are read as the package `onnx` reads them, also broken ones."""

from __future__ import annotations

import random
from pathlib import Path

import onnx

import nnef_flatten
from nnef_flatten import FlattenError

# The code of bytes that are not a model in protobuf, and what only this module refuses: an attribute has one value, and the
# numbers of fields have 29 bits.
NOT_PROTOBUF = "E2010"
REFUSED_HERE = ("an attribute has several values", "a field without a number")
MUTANTS = 5000


def mutated(content: bytes, choose: random.Random) -> bytes:
    """The content with a byte or some bytes changed, removed or added, or its end cut off."""
    changed = bytearray(content)
    for _ in range(choose.choice([1, 1, 2, 3, 8])):
        at = choose.randrange(len(changed) + 1)
        match choose.randrange(5):
            case 0:
                changed[at : at + 1] = choose.randbytes(1)
            case 1:
                del changed[at : at + choose.randrange(1, 9)]
            case 2:
                changed[at:at] = choose.randbytes(choose.randrange(1, 5))
            case 3:
                del changed[at:]
            case _:
                changed[at : at + 1] = bytes(byte ^ 1 << choose.randrange(8) for byte in changed[at : at + 1])
    return bytes(changed)


def read(content: bytes) -> onnx.ModelProto | None:
    """What `onnx` reads; none if it reads nothing."""
    try:
        return onnx.load_from_string(content)
    except Exception:
        return None


def test_mutated_models_are_read_as_onnx_reads_them(examples: Path) -> None:
    texts = sorted((examples / "onnx").glob("*.onnxtxt"))
    seeds = [onnx.parser.parse_model(path.read_text()).SerializeToString() for path in texts]
    assert seeds
    choose = random.Random(2)
    read_by_both = 0
    for content in (mutated(choose.choice(seeds), choose) for _ in range(MUTANTS)):
        theirs = read(content)
        try:
            ours = nnef_flatten.flatten(content, lower="none", from_="onnx").to_bytes()
        except FlattenError as refused:
            wire = [found.message for found in refused.findings if found.code == NOT_PROTOBUF]
            if theirs is not None and content:
                assert all(message.startswith(REFUSED_HERE) for message in wire), (wire, content)
            continue
        # Fields that stay encoded are not read, so that more is accepted.
        if theirs is not None:
            assert onnx.load_from_string(ours) == theirs, content
            read_by_both += 1
    assert read_by_both > MUTANTS // 20
