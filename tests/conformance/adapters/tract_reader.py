"""tract, by its Python package: whether it reads a document of NNEF."""

import os
import tempfile

import tract

from serve import serve


def reads(stdin, fields):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "graph.nnef"), "wb") as file:
            file.write(stdin)
        tract.nnef().load(folder)
    return {}


if __name__ == "__main__":
    serve({"nnef/reads": reads})
