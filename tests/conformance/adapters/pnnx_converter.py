"""pnnx: a line of TorchScript becomes an archive, which the program of the package `pnnx` converts."""

import importlib.util
import os
import re
import subprocess
import tempfile
import zipfile

from serve import Refused, serve

# A module without attributes, as torch pickles it.
MODULE = b"\x80\x02c__torch__\nM\nq\x00)\x81}(X\x08\x00\x00\x00trainingq\x01\x89ub."


def archive(path, line, count):
    names = ", ".join("%s: Tensor" % name for name in "xyzuvw"[:count])
    body = "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n" \
           "  def forward(self: __torch__.M, %s) -> Tensor:\n    return %s\n" % (names, line)
    with zipfile.ZipFile(path, "w") as file:
        for name, data in (("data.pkl", MODULE), ("code/__torch__.py", body.encode()), ("constants.pkl", b"\x80\x02)."),
                           ("version", b"10\n")):
            file.writestr("m/" + name, data)


def convert(stdin, fields):
    program = os.path.join(os.path.dirname(importlib.util.find_spec("pnnx").origin), "pnnx")
    with tempfile.TemporaryDirectory() as folder:
        archive(os.path.join(folder, "m.pt"), stdin.decode(), len(fields["shapes"]))
        done = subprocess.run([program, "m.pt", "inputshape=" + ",".join(fields["shapes"])], cwd=folder,
                              capture_output=True, text=True, timeout=15)
        path = os.path.join(folder, "m.pnnx.param")
        if done.returncode or not os.path.exists(path):
            told = done.stderr if done.returncode > 0 else ""
            raise Refused("exit status %d: %s" % (done.returncode, told[-200:]))
        with open(path, encoding="utf-8") as file:
            return {"expressions": re.findall(r" expr=(\S+)", file.read())}


if __name__ == "__main__":
    serve({"pnnx/convert": convert})
