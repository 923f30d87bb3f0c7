"""tract, by its Python package: whether it reads a document of NNEF."""

import os
import re
import tempfile

import tract

from serve import Refused, serve

# The letters of a message that are shown; a statement that tract quotes may be long.
MOST = 150


class TractError(Refused):
    """The causes that tract tells, without the folder and the stack. Its lines are those where a statement begins, so they
    are not judged."""

    def __init__(self, error, folder):
        causes = str(error).split("Stack backtrace:")[0].split("Caused by:")[-1]
        causes = " ".join(re.sub(r"^\s*\d+:", "", causes, flags=re.MULTILINE).split())
        super().__init__(causes.replace(folder + os.sep, "")[:MOST])


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
