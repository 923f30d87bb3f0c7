"""Plants one change in each of many models, and checks that `nnef-flatten diff` reports that change and no other.

The models are those of `../shared/models` (NNEF) and `../shared/models-onnx`; models of NNEF are flattened first, so
that a change is made in one operation. The changes: an attribute, an operand, an operation that is removed, one that
is added, the shape of an input, an element type, the data of a constant, the name of an output. With all inner tensors
renamed there is no difference. A change that the model itself refuses is left out.

    python3 tests/interop/diff_planted.py --bin target/release/nnef-flatten [--shared ../shared] [--only NAME]
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

UNARY = {"relu", "sigmoid", "tanh", "exp", "sqrt", "abs", "copy", "neg", "rsqrt", "sign", "square"}
STATEMENT = re.compile(r"^    (?P<result>\w+) = (?P<name>\w+)(?:<\w+>)?\((?P<arguments>.*)\);$")
WORD = re.compile(r"\b[A-Za-z_]\w*\b")


class Refused(Exception):
    """The command refuses a model."""


def run(binary, words):
    return subprocess.run([binary, *map(str, words)], capture_output=True, text=True, timeout=600)


def diff(binary, a, b):
    """The changes between two models, without what sums up, and the exit status."""
    done = run(binary, ["diff", a, b, "--message-format", "json"])
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if not lines or lines[-1]["kind"] != "summary":
        # A program that ends in another way, such as by a signal, has not refused.
        if done.returncode not in (1, 2):
            return [], done.returncode
        raise Refused(done.stderr.strip().splitlines()[:1])
    return [line for line in lines if line["kind"] == "change"], done.returncode


class Tally:
    """What was planted, what was left out, and what was not reported."""

    def __init__(self, binary):
        self.binary, self.planted, self.left, self.wrong = binary, {}, 0, []

    def expect(self, model, kind, a, b, fits):
        """Compares two models. `fits` says whether the changes are those that are wanted."""
        try:
            changes, status = diff(self.binary, a, b)
        except Refused:
            self.left += 1
            return
        self.planted[kind] = self.planted.get(kind, 0) + 1
        if not fits(changes) or status != int(bool(changes)):
            self.wrong.append((model, kind, status, changes[:4]))


def single(what, **more):
    """Accepts one change of a kind, with these fields."""

    def fits(changes):
        return len(changes) == 1 and changes[0]["what"] == what and all(changes[0][key] == more[key] for key in more)

    return fits


def nothing(changes):
    return not changes


# Documents of NNEF, as lines of flat statements.


def flat_lines(binary, model):
    done = run(binary, ["-q", model, "--to", "nnef"])
    if done.returncode:
        raise Refused(done.stderr.strip().splitlines()[:1])
    return done.stdout.splitlines()


def statements(lines):
    """The statements of a flat document: where, the result, the operation, the arguments."""
    for i, line in enumerate(lines):
        found = STATEMENT.match(line)
        if found:
            yield i, found["result"], found["name"], found["arguments"]


def ends(lines):
    """The inputs and the outputs of the graph."""
    head = next(line for line in lines if line.startswith("graph "))
    first, second = re.search(r"\((.*)\) -> \((.*)\)", head).groups()
    return first.split(", "), second.split(", ")


def outside(old, new, text):
    """The text with a word replaced where it is not in a string."""
    parts = re.split(r"('[^']*')", text)
    pattern = re.compile(rf"\b{re.escape(old)}\b")
    return "".join(part if part[:1] == "'" else pattern.sub(new, part) for part in parts)


def replaced(lines, old, new, first=0):
    """The lines with a tensor replaced in the arguments from a line on."""
    def change(line):
        result, equal, rest = line.partition(" = ")
        name, bracket, arguments = rest.partition("(")
        return result + equal + name + bracket + outside(old, new, arguments) if equal else line

    return lines[:first] + [change(line) for line in lines[first:]]


def with_line(lines, at, line):
    return [*lines[:at], *([line] if line is not None else []), *lines[at + 1 :]]


def planted_attribute(lines, known):
    for i, _, name, arguments in known:
        if name in ("external", "variable", "constant"):
            continue
        for parameter in ("axes", "stride", "alpha", "padding", "epsilon", "begin", "repeats"):
            found = re.search(rf"\b{parameter} = ([^\[\]()]+?|\[[\d, ]+\])(?=, \w+ = |$)", arguments)
            if found and re.search(r"\d", found[1]):
                digit = re.search(r"\d+", found[1])
                value = found[1][: digit.start()] + str(int(digit[0]) + 1) + found[1][digit.end() :]
                changed = lines[i].replace(f"{parameter} = {found[1]}", f"{parameter} = {value}", 1)
                yield with_line(lines, i, changed), single("attribute", part=parameter)


def planted_removal(lines, known):
    _, outputs = ends(lines)
    for i, result, name, arguments in known:
        if name in UNARY and WORD.fullmatch(arguments) and result not in outputs:
            changed = replaced(lines, result, arguments)
            yield with_line(changed, i, None), single("removed")


def planted_addition(lines, known):
    _, outputs = ends(lines)
    for i, result, name, _ in known:
        if name not in ("external", "variable", "constant") and result not in outputs:
            changed = replaced(lines, result, "planted_tensor", i + 1)
            changed.insert(i + 1, f"    planted_tensor = copy({result});")
            yield changed, single("added")


def planted_operand(lines, known):
    made = []
    for i, result, name, arguments in known:
        if name in ("add", "mul", "sub") and len(made) > 4:
            operands = arguments.split(", ")
            for other in reversed(made[:-1]):
                if WORD.fullmatch(operands[0]) and other not in operands:
                    changed = lines[i].replace(f"({operands[0]}", f"({other}", 1)
                    yield with_line(lines, i, changed), single("operand")
                    break
        if name not in ("external", "variable", "constant"):
            made.append(result)


def planted_shape(lines, known):
    for i, _, name, arguments in known:
        found = re.search(r"shape = \[(\d+)", arguments) if name == "external" else None
        if found:
            changed = lines[i].replace(f"[{found[1]}", f"[{int(found[1]) + 1}", 1)
            yield with_line(lines, i, changed), single("attribute", part="shape")


def planted_output(lines, _):
    _, outputs = ends(lines)
    yield [outside(outputs[0], "planted_output", line) for line in lines], single("output", new="planted_output")


def all_renamed(lines, known):
    inputs, outputs = ends(lines)
    names = {result: f"t{i}_renamed" for i, result, _, _ in known if result not in inputs + outputs}

    def renamed(line):
        if not STATEMENT.match(line) and " = " not in line:
            return line
        parts = re.split(r"('[^']*')", line)
        return "".join(part if part[:1] == "'" else WORD.sub(lambda word: names.get(word[0], word[0]), part) for part in parts)

    # Names of parameters follow no bracket and stand before an equals sign: they are kept by their own pass.
    kept = []
    for line in lines:
        changed = renamed(line)
        for parameter in set(re.findall(r"[(,] ?(\w+) = ", line)) & set(names):
            changed = re.sub(rf"([(,] ?){names[parameter]} = ", rf"\g<1>{parameter} = ", changed)
        kept.append(changed)
    yield kept, nothing


NNEF_CHANGES = {
    "attribute": planted_attribute,
    "operand": planted_operand,
    "removed operation": planted_removal,
    "added operation": planted_addition,
    "shape": planted_shape,
    "renamed output": planted_output,
    "renamed tensors": all_renamed,
}
# How many places of a model are tried until it accepts a change.
TRIES = 6


def nnef_models(tally, folder, work):
    for model in sorted(path for path in folder.iterdir() if (path / "graph.nnef").is_file()):
        try:
            lines = flat_lines(tally.binary, model)
        except Refused:
            tally.left += 1
            continue
        known = list(statements(lines))
        base = work / "a.nnef"
        base.write_text("\n".join(lines) + "\n")
        for kind, planted in NNEF_CHANGES.items():
            for tried, (changed, fits) in enumerate(planted(lines, known)):
                before = tally.left
                (work / "b.nnef").write_text("\n".join(changed) + "\n")
                tally.expect(model.name, kind, base, work / "b.nnef", fits)
                if tally.left == before or tried == TRIES:
                    break
                tally.left = before
        nnef_data(tally, model, lines, known, work)


def nnef_data(tally, model, lines, known, work):
    """One element of a file of data is changed, and the type of another file."""
    files = sorted(model.rglob("*.dat"))
    labels = {re.search(r"label = '([^']*)'", arguments)[1] for _, _, name, arguments in known if name == "variable"}
    files = [file for file in files if str(file.relative_to(model))[: -len(".dat")] in labels]
    files = [file for file in files if 128 < file.stat().st_size < 64 << 20]
    # Other data may be a shape, from which further changes follow.
    files = [file for file in files if file.read_bytes()[48:52] == bytes(4)] or files
    if not files:
        return
    changed = work / "data"
    shutil.rmtree(changed, ignore_errors=True)
    for file in model.rglob("*"):
        if file.is_file():
            copy = changed / file.relative_to(model)
            copy.parent.mkdir(parents=True, exist_ok=True)
            # Links that lead outside of a model are refused.
            shutil.copyfile(file, copy)
    original = files[len(files) // 2]
    target = changed / original.relative_to(model)
    data = bytearray(original.read_bytes())
    # The last byte of an element in little-endian order but one: the value stays finite.
    data[-2] ^= 1
    target.write_bytes(data)
    tally.expect(model.name, "data", model, changed, single("data"))
    if data[44:48] == (32).to_bytes(4, "little") and data[48:52] == bytes(4):
        import struct

        count = (len(data) - 128) // 4
        doubles = struct.pack(f"<{count}d", *struct.unpack(f"<{count}f", original.read_bytes()[128:]))
        header = bytearray(original.read_bytes()[:128])
        header[4:8], header[44:48] = len(doubles).to_bytes(4, "little"), (64).to_bytes(4, "little")
        target.write_bytes(bytes(header) + doubles)
        tally.expect(model.name, "element type", model, changed, single("data"))


# Models of ONNX.


def onnx_models(tally, folder, work):
    try:
        import onnx
        from onnx import helper, numpy_helper
    except ImportError:
        print("skipped: no package onnx, so no models of ONNX")
        return
    for path in sorted(folder.rglob("*.onnx")):
        name = str(path.relative_to(folder))
        base = work / "a.onnx"
        done = run(tally.binary, ["-q", path, "-o", base])
        if done.returncode:
            tally.left += 1
            continue
        try:
            load = lambda: onnx.load(base)  # noqa: E731
            load()
        except Exception:
            tally.left += 1
            continue

        def expect(kind, model, fits):
            onnx.save(model, work / "b.onnx")
            tally.expect(name, kind, base, work / "b.onnx", fits)

        outputs = {output.name for output in load().graph.output}

        # An attribute.
        model = load()
        found = [
            (node, attribute)
            for node in model.graph.node
            for attribute in node.attribute
            if attribute.type in (onnx.AttributeProto.FLOAT, onnx.AttributeProto.STRING) and node.op_type != "Constant"
        ]
        if found:
            node, attribute = found[len(found) // 2]
            if attribute.type == onnx.AttributeProto.FLOAT:
                attribute.f += 0.25
            else:
                attribute.s += b"x"
            expect("attribute", model, single("attribute", part=attribute.name))

        # An operation is added after another one, and one is removed.
        model = load()
        inner = [node for node in model.graph.node if node.output and node.output[0] not in outputs]
        inner = [node for node in inner if any(node.output[0] in user.input for user in model.graph.node)]
        if inner:
            node = inner[len(inner) // 2]
            for user in model.graph.node:
                for i, operand in enumerate(user.input):
                    if operand == node.output[0]:
                        user.input[i] = "planted_tensor"
            at = list(model.graph.node).index(node)
            model.graph.node.insert(at + 1, helper.make_node("Identity", [node.output[0]], ["planted_tensor"]))
            if not any(attribute.HasField("g") for user in model.graph.node for attribute in user.attribute):
                expect("added operation", model, single("added"))
                onnx.save(model, work / "c.onnx")
                tally.expect(name, "removed operation", work / "c.onnx", base, single("removed"))

        # The order of the operands of an operation.
        model = load()
        found = [node for node in model.graph.node if node.op_type in ("Sub", "Div", "MatMul", "Pow")]
        found = [node for node in found if node.input[0] != node.input[1]]
        if found:
            node = found[len(found) // 2]
            node.input[0], node.input[1] = node.input[1], node.input[0]
            expect("operand", model, lambda changes: len(changes) == 2 and {c["what"] for c in changes} == {"operand"})

        # The data of a constant.
        model = load()
        found = [constant for constant in model.graph.initializer if constant.data_type == onnx.TensorProto.FLOAT]
        found = [constant for constant in found if constant.data_location != onnx.TensorProto.EXTERNAL]
        if found:
            constant = found[len(found) // 2]
            values = numpy_helper.to_array(constant).copy()
            if values.size:
                values.flat[0] += 1
                constant.CopyFrom(numpy_helper.from_array(values, constant.name))
                expect("data", model, single("data"))

        # The shape and the type of an input, the name of an output.
        model = load()
        for given in model.graph.input:
            dims = given.type.tensor_type.shape.dim
            if dims and dims[0].HasField("dim_value"):
                dims[0].dim_value += 1
                expect("shape", model, single("shape", part=given.name))
                break
        model = load()
        if model.graph.output:
            old = model.graph.output[0].name
            for node in model.graph.node:
                node.output[:] = ["planted_output" if output == old else output for output in node.output]
                node.input[:] = ["planted_output" if operand == old else operand for operand in node.input]
            if old not in {given.name for given in model.graph.input}:
                model.graph.output[0].name = "planted_output"
                expect("renamed output", model, single("output", new="planted_output"))

        # All inner tensors.
        model = load()
        if not any(attribute.HasField("g") for node in model.graph.node for attribute in node.attribute):
            kept = outputs | {given.name for given in model.graph.input} | {""}
            new = lambda tensor: tensor if tensor in kept else f"{tensor}_renamed"  # noqa: E731
            for node in model.graph.node:
                node.input[:], node.output[:] = map(new, node.input), map(new, node.output)
            for constant in model.graph.initializer:
                constant.name = new(constant.name)
            del model.graph.value_info[:]
            expect("renamed tensors", model, nothing)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--shared", default="../shared")
    arguments = parser.parse_args()
    shared = Path(arguments.shared)
    if not (shared / "models").is_dir():
        print(f"skipped: no {shared}/models")
        return 0
    tally = Tally(arguments.bin)
    with tempfile.TemporaryDirectory() as work:
        for folder in (shared / "models", shared / "translate/nnef"):
            if folder.is_dir():
                nnef_models(tally, folder, Path(work))
        for folder in (shared / "models-onnx", shared / "models"):
            if folder.is_dir():
                onnx_models(tally, folder, Path(work))
    total = sum(tally.planted.values())
    print(f"{total} changes, {len(tally.wrong)} not reported exactly, {tally.left} left out")
    for kind, count in sorted(tally.planted.items()):
        print(f"  {kind}: {count}")
    never = [kind for kind in [*NNEF_CHANGES, "data", "element type"] if kind not in tally.planted]
    if never:
        print(f"never planted: {', '.join(never)}")
    for model, kind, status, changes in tally.wrong:
        told = "; ".join(f"{c['what']} {c['part'] or ''} {c['old']} -> {c['new']}" for c in changes)
        print(f"{model}: {kind}: exit {status}: {told}")
    return 1 if tally.wrong or never or tally.left > total or not total else 0


if __name__ == "__main__":
    sys.exit(main())
