"""tract, by its Python package: whether it reads a document of NNEF."""

import os
import re
import tempfile

import tract

from serve import Refused, serve


class TractError(Refused):
    """The causes that tract tells, and the line among them, without the folder and the stack."""

    def __init__(self, error, folder):
        causes = str(error).split("Stack backtrace:")[0].split("Caused by:")[-1]
        causes = " ".join(re.sub(r"^\s*\d+:", "", causes, flags=re.MULTILINE).split())
        line = re.search(r"\bat line (\d+)", causes)
        super().__init__(causes.replace(folder + os.sep, ""), line and int(line[1]))


def reads(stdin, fields):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "graph.nnef"), "wb") as file:
            file.write(stdin)
        try:
            tract.nnef().load(folder)
        except tract.TractError as error:
            raise TractError(error, folder) from error
    return {}


if __name__ == "__main__":
    serve({"nnef/reads": reads})
