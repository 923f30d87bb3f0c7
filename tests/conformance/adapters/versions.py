"""Prints the versions of packages: `python versions.py PACKAGE…`. The first is the one that is asked."""

import importlib.metadata
import sys

if __name__ == "__main__":
    try:
        print(", ".join("%s %s" % (name, importlib.metadata.version(name)) for name in sys.argv[1:]))
    except importlib.metadata.PackageNotFoundError as error:
        sys.exit("not installed: %s" % error)
