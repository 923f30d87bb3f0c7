#!/usr/bin/env python3
"""Compares shapes and layouts with XLA itself (PyPI `jax` and `jaxlib`).

usage: layouts.py --bin PATH [--count N] [--seed N]

texts: generated shapes without padding; jaxlib has to print each as nnef-flatten does.
mutants: texts with random changes; jaxlib has to accept those that nnef-flatten accepts, and print them
alike.
memory: generated dense layouts; an array that XLA:CPU lays out has to have its elements where
nnef-flatten says.

Exit status 0 when all is well, 1 when something differs, 0 with the word `skipped` when a package is
missing.
"""
import argparse, ctypes, json, random, subprocess, sys

TYPES = "pred s8 s16 s32 s64 u8 u16 u32 u64 f16 bf16 f32 f64 f8e5m2 f8e4m3fn c64 c128 s4 u4".split()


def told(binary, *args):
    run = subprocess.run([binary, "layout", "--to", "json", *args], capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit("%s: %s" % (" ".join(args), run.stderr))
    return json.loads(run.stdout)


def layout(random, rank):
    order = list(range(rank))
    random.shuffle(order)
    return order


def text(random):
    """A shape with any attributes."""
    dims = [random.choice([1, 2, 3, 7, 128, 4096]) for _ in range(random.randrange(5))]
    sizes = ",".join("<=%d" % d if random.random() < 0.1 else str(d) for d in dims)
    tile = lambda: "(%s)" % ",".join(
        ["*" if random.random() < 0.2 else str(random.choice([1, 2, 8])) for _ in range(random.randrange(3))]
        + [str(random.choice([1, 2, 128]))])
    parts = ["T" + "".join(tile() for _ in range(random.randrange(1, 3)))] if random.random() < 0.5 else []
    for name, values in [("L", [1, 64]), ("E", [0, 4, 8]), ("S", [0, 1, 5]), ("M", [0, 128])]:
        if random.random() < 0.25:
            parts.append("%s(%d)" % (name, random.choice(values)))
    order = ",".join(map(str, layout(random, len(dims))))
    attributes = ":" + "".join(parts) if parts else ""
    braces = "{%s%s}" % (order, attributes) if (dims or parts) and random.random() < 0.9 else ""
    return "%s[%s]%s" % (random.choice(TYPES), sizes, braces)


PIECES = ("T(2,2) L(3) S(1) S(200) E(4) M(8) SC(0:1) SC(0:1)(1:2) (2,1) <= ? * {1,0} [2] f32 F32 token /*x*/ D(D,D) #(u32) "
          "*(u16) -1 9223372036854775807 9223372036854775808 01 , () b( : 0 1 2 { } [ ]").split() + [" ", "//x\n"]


def mutant(random):
    """A shape with random changes."""
    changed = random.choice([text(random), "(f32[2,3]{0,1}, s32[], token[])", "b(f32[2]{0})", "f32[2,3]{1,0:D(D,C)#(u32)*(u16)}"])
    for _ in range(random.choice([1, 1, 2])):
        at, gone = random.randrange(len(changed) + 1), random.choice([0, 1, 1, 2])
        changed = changed[:at] + random.choice(PIECES + [""]) + changed[at + gone:]
    return changed


def accepted(binary, shape):
    """The text that nnef-flatten prints; none if it refuses the shape."""
    run = subprocess.run([binary, "layout", "--to", "json", "--", shape], capture_output=True, text=True)
    return json.loads(run.stdout)["canonical"] if run.returncode == 0 else None


def memory(dims, order):
    """The elements of an array as XLA:CPU lays them out, by their row-major numbers."""
    import jax, numpy
    from jax.experimental.layout import Format, Layout
    count = int(numpy.prod(dims))
    device = jax.devices("cpu")[0]
    wanted = Format(Layout(major_to_minor=tuple(reversed(order))), jax.sharding.SingleDeviceSharding(device))
    numbers = jax.numpy.arange(count, dtype="int32").reshape(dims)
    made = jax.jit(lambda x: x + 0, out_shardings=wanted)(numbers)
    made.block_until_ready()
    return list((ctypes.c_int32 * count).from_address(made.unsafe_buffer_pointer()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    try:
        import jax
        from jax._src.lib import xla_client
    except ImportError:
        print("skipped: no jaxlib")
        return 0
    chance, wrong = random.Random(options.seed), 0
    for _ in range(options.count):
        shape = text(chance)
        ours, theirs = told(options.bin, "--", shape)["canonical"], str(xla_client.hlo.Shape(shape))
        if ours != theirs:
            wrong += 1
            print("text of %s: %s, XLA prints %s" % (shape, ours, theirs))
    kept = 0
    for _ in range(8 * options.count):
        shape = mutant(chance)
        ours = accepted(options.bin, shape)
        if ours is None:
            continue
        kept += 1
        try:
            theirs = str(xla_client.hlo.Shape(shape))
        except Exception as error:
            theirs = "nothing: %s" % str(error).splitlines()[0]
        if ours != theirs:
            wrong += 1
            print("text of %r: %s, XLA prints %s" % (shape, ours, theirs))
    for _ in range(options.count):
        dims = [chance.choice([1, 2, 3, 4, 5]) for _ in range(chance.randrange(1, 5))]
        order = layout(chance, len(dims))
        shape = "s32[%s]{%s}" % (",".join(map(str, dims)), ",".join(map(str, order)))
        ours, theirs = told(options.bin, "--memory", "--", shape)["memory"], memory(dims, order)
        if ours != theirs:
            wrong += 1
            print("memory of %s: %s, XLA has %s" % (shape, ours, theirs))
    print("%d texts, %d mutants and %d memories compared, %d differ" % (options.count, kept, options.count, wrong))
    return 1 if wrong or kept * 20 < options.count else 0


if __name__ == "__main__":
    sys.exit(main())
