"""Measures the PyPI package `onnx` on the same networks in the text form of ONNX.

onnx_package.py make KIND N FILE             write the counterpart of a workload
onnx_package.py read FILE SECONDS REPETITIONS    text to model
onnx_package.py expand FILE SECONDS REPETITIONS  text to model, local functions inlined

Prints a line for each repetition: CPU seconds, operations, peak memory in KiB.
"""
import math
import sys
import time

HEAD = '<ir_version: 8, opset_import: ["": 18, "local": 1]>\n'
SIGNATURE = "net (float[1,8,16,16] x) => (float[1,8,16,16] y)\n{\n"
FUNCTION = '<domain: "local", opset_import: ["": 18, "local": 1]>\n'


def flat(n):
    forms = ("Tanh({0})", "Add({0}, {1})", "Mul({0}, half)", "Tanh({0})", "Add({0}, {1})", "Div({0}, {1})")
    lines = ["    half = Constant <value = float {0.5}> ()\n"]
    last, before = "x", "x"
    for i in range(n - 1):
        lines.append(f"    t{i} = {forms[i % 6].format(last, before)}\n")
        last, before = f"t{i}", last
    return HEAD + SIGNATURE + "".join(lines) + f"    y = Tanh({last})\n}}\n"


def biglit(n):
    items = ", ".join(repr((i % 1000) * (0.25 if i % 4 else 1.0)) for i in range(n))
    return f"{HEAD}{SIGNATURE}    c = Constant <value = float[{n}] {{{items}}}> ()\n    y = Add(x, c)\n}}\n"


def onefrag(n):
    names = ["x", *(f"t{i}" for i in range(n - 1)), "y"]
    body = "".join(f"    {b} = local.blk ({a})\n" for a, b in zip(names, names[1:]))
    function = (
        "blk (x) => (y)\n{\n    k = Constant <value = float {0.25}> ()\n"
        "    h = Tanh(x)\n    t = Mul(h, k)\n    y = Add(t, x)\n}\n"
    )
    return f"{HEAD}{SIGNATURE}{body}}}\n{FUNCTION}{function}"


def nest(n):
    depth = round(math.log2(n))
    functions = [f"{FUNCTION}f0 (x) => (y)\n{{\n    y = Tanh(x)\n}}\n"]
    for i in range(1, depth + 1):
        functions.append(f"{FUNCTION}f{i} (x) => (y)\n{{\n    t = local.f{i - 1} (x)\n    y = local.f{i - 1} (t)\n}}\n")
    return f"{HEAD}{SIGNATURE}    y = local.f{depth} (x)\n}}\n{''.join(functions)}"


KINDS = {"flat": flat, "biglit": biglit, "onefrag": onefrag, "nest": nest}


def peak():
    with open("/proc/self/status") as status:
        return next((int(line.split()[1]) for line in status if line.startswith("VmHWM:")), 0)


def measure(mode, path, seconds, repetitions):
    import onnx.inliner
    import onnx.parser

    with open(path) as file:
        text = file.read()
    spent = 0.0
    for _ in range(repetitions):
        start = time.process_time()
        model = onnx.parser.parse_model(text)
        if mode == "expand":
            model = onnx.inliner.inline_local_functions(model)
        taken = time.process_time() - start
        print(f"{taken:.9f} {len(model.graph.node)} {peak()}", flush=True)
        spent += taken
        if spent > seconds:
            break


def main():
    mode, *rest = sys.argv[1:]
    if mode == "make":
        with open(rest[2], "w") as file:
            file.write(KINDS[rest[0]](int(rest[1])))
        return
    try:
        measure(mode, rest[0], float(rest[1]), int(rest[2]))
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}".replace("\n", " ")[:300])


main()
