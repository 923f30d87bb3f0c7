#!/usr/bin/env python3
"""Writes the tables of operators beside this file from the schemas of packages: operators.txt, the standard operators, from
onnx, and microsoft.txt, those of onnxruntime, from onnxruntime.

    python3 src/onnx/schema/generate.py            # writes the tables
    python3 src/onnx/schema/generate.py --check    # fails if a table is not that of the installed package

Lines of the table:

    # a comment
    types TYPE…              all types, in the order in which they get numbers; tensor(a|b) stands for tensor(a) and tensor(b)
    set N TYPE…              a set of them
    domain NAME              the domain of the operators below; "-" is the standard one
    NAME VERSION INPUTS -> OUTPUTS ; VARIABLES ; ATTRIBUTES
    NAME VERSION deprecated
    functions NAME:VERSION…  the operators that the standard defines as functions, from these versions on

A parameter is `name:type`, where the type is a variable or a type; `?` behind it is one that may be left out, `*N` one
that stands for N or more operands, `~` one whose operands may be of different types. A variable is `T=set`. An attribute
is `name:type`, with `!` if it has to be given, and with `=VALUE` if it has a default. onnxruntime does not tell defaults.
"""

import argparse
import pathlib
import re
import sys

import numpy
import onnx
import onnx.helper
import onnxruntime
from onnx import defs
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

FOLDER = pathlib.Path(__file__).parent
# What onnxruntime has in the standard domain beside the standard.
IN_STANDARD_DOMAIN = [("LayerNormalization", 1), ("SimplifiedLayerNormalization", 1)]
ATTRIBUTE_TYPES = {"TYPE_PROTO": "type_proto", "TYPE_PROTOS": "type_protos"}


def grouped(types):
    """The types of a set, those that differ only in their elements as one."""
    groups = {}
    for name in sorted(types):
        match = re.fullmatch(r"((?:[a-z]+\()*)([a-z0-9]+)(\)*)", name)
        key = match.group(1, 3) if match else name.replace(" ", "")
        groups.setdefault(key, []).append(match.group(2) if match else "")
    return " ".join(key if isinstance(key, str) else f"{key[0]}{'|'.join(names)}{key[1]}" for key, names in groups.items())


def named(sets):
    """The types of all sets, each once, in the order in which they occur."""
    found = {}
    for group in " ".join(sets).split(" "):
        start, end = group.rfind("(") + 1, group.find(")") if ")" in group else len(group)
        for element in group[start:end].split("|"):
            found.setdefault((group[:start], element, group[end:]))
    groups = []
    for before, element, behind in found:
        if groups and groups[-1][0] == (before, behind):
            groups[-1][1].append(element)
        else:
            groups.append(((before, behind), [element]))
    return " ".join(before + "|".join(elements) + behind for (before, behind), elements in groups)


def parameter(of):
    ty = of.type_str if isinstance(of, defs.OpSchema.FormalParameter) else of.typeStr
    text = f"{of.name}:{ty.replace(' ', '')}"
    if of.option.name == "Optional":
        text += "?"
    elif of.option.name == "Variadic":
        least, alike = (of.min_arity, of.is_homogeneous) if hasattr(of, "min_arity") else (1, of.isHomogeneous)
        text += f"*{least}" + ("" if alike else "~")
    return text


def default(of):
    """The default of an attribute, if it is a single number or a word; lists with a default are empty."""
    stored = getattr(of, "default_value", None)
    value = onnx.helper.get_attribute_value(stored) if stored is not None and stored.type else None
    if isinstance(value, bytes):
        value = value.decode()
    if value is None or not isinstance(value, (int, float, str)) or str(value) == "" or re.search(r"[\s;=!]", str(value)):
        return ""
    return "=" + str(numpy.float32(value) if isinstance(value, float) else value)


def attribute(of):
    name = of.type.name
    return f"{of.name}:{ATTRIBUTE_TYPES.get(name, name.lower())}" + ("!" if of.required else default(of))


def standard():
    title = f"# The operators of ONNX, from the schemas of onnx {onnx.__version__}. Made by generate.py."
    return table(title, defs.get_all_schemas_with_history())


def microsoft():
    title = f"# The operators of onnxruntime, from the schemas of onnxruntime {onnxruntime.__version__}. Made by generate.py."
    own = lambda of: of.domain == "com.microsoft" or of.domain == "" and (of.name, of.since_version) in IN_STANDARD_DOMAIN
    return table(title, filter(own, runtime.get_all_operator_schema()))


def table(title, schemas):
    sets, sections, functions = {}, {}, {}
    for of in sorted(schemas, key=lambda of: (of.domain, of.name, of.since_version)):
        line = f"{of.name} {of.since_version}"
        if of.deprecated:
            line += " deprecated"
        else:
            variables = []
            for variable in of.type_constraints:
                number = sets.setdefault(grouped(variable.allowed_type_strs), len(sets))
                variables.append(f"{variable.type_param_str}={number}")
            parts = [
                " ".join(map(parameter, of.inputs)) + " -> " + " ".join(map(parameter, of.outputs)),
                " ".join(variables),
                " ".join(attribute(of.attributes[name]) for name in sorted(of.attributes)),
            ]
            line += " " + " ; ".join(parts)
        sections.setdefault(of.domain, []).append(line.rstrip())
        if getattr(of, "has_function", False) or getattr(of, "has_context_dependent_function", False):
            functions.setdefault(of.domain, {}).setdefault(of.name, of.since_version)
    lines = [title, f"types {named(sets)}"]
    lines += [f"set {number} {types}" for types, number in sets.items()]
    for domain, rows in sections.items():
        lines += [f"domain {domain or '-'}", *rows]
        if domain in functions:
            lines.append("functions " + " ".join(f"{name}:{first}" for name, first in functions[domain].items()))
    return "\n".join(lines) + "\n"


TABLES = {"operators.txt": standard, "microsoft.txt": microsoft}


def main():
    arguments = argparse.ArgumentParser(description="Writes the tables of the operators of ONNX and of onnxruntime.")
    arguments.add_argument("--check", action="store_true")
    checks = arguments.parse_args().check
    for name, made in TABLES.items():
        text = made()
        if not checks:
            (FOLDER / name).write_text(text)
            continue
        stored = (FOLDER / name).read_text()
        # The version of onnxruntime is not fixed.
        if stored != text and (made is standard or stored.splitlines()[0] == text.splitlines()[0]):
            sys.exit(f"{name} is not the table of the installed package")


if __name__ == "__main__":
    main()
