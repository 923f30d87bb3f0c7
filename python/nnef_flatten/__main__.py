"""`python -m nnef_flatten`: the command of the wheel, as its own process."""

from __future__ import annotations

import os
import sys
import sysconfig


def command() -> str:
    """The path of the command that was installed with this module.

    It is in the folder of scripts of the environment, or in that of the user.
    """
    name = "nnef-flatten" + (sysconfig.get_config_var("EXE") or "")
    schemes = [sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")]
    places = [os.path.join(sysconfig.get_path("scripts", scheme), name) for scheme in schemes]
    # Installed with `pip --target`, beside the module.
    places.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", name))
    for place in places:
        if os.path.isfile(place):
            return place
    raise FileNotFoundError("the command nnef-flatten was not installed with the module: " + ", ".join(places))


def main() -> None:
    """Becomes the command, so that signals and the exit status are its own."""
    words = [command(), *sys.argv[1:]]
    if os.name == "nt":
        import subprocess

        sys.exit(subprocess.run(words).returncode)
    os.execv(words[0], words)


if __name__ == "__main__":
    main()
