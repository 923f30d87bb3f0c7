"""XLA's reader and printer of shapes, as jaxlib has them."""

from jax._src.lib import xla_client

from serve import serve


def shape(stdin, fields):
    read = xla_client.hlo.Shape(fields["text"])
    told = {"canonical": str(read)}
    if read.is_array():
        # An extent of any size is the least number of 64 bits there.
        told.update(dims=[None if extent < 0 else extent for extent in read.dimensions()], rank=read.rank())
    return told


if __name__ == "__main__":
    serve({"layout/shape": shape})
