#!/usr/bin/env python3
"""Writes operators.txt, the table of the standard operators, from the schemas of the package onnx.

    python3 src/onnx/schema/generate.py            # writes the table beside this file
    python3 src/onnx/schema/generate.py --check    # fails if the table is not that of the installed package

Lines of the table:

    # a comment
    set N TYPE...            a set of types; tensor(a|b) stands for tensor(a) and tensor(b)
    domain NAME              the domain of the operators below; "-" is the standard one
    NAME VERSION INPUTS -> OUTPUTS ; VARIABLES ; ATTRIBUTES
    NAME VERSION deprecated
    functions NAME:VERSION…  the operators that the standard defines as functions, from these versions on

A parameter is `name:type`, where the type is a variable or a type; `?` behind it is one that may be left out, `*N` one
that stands for N or more operands, `~` one whose operands may be of different types. A variable is `T=set`. An attribute
is `name:type`, with `!` if it has to be given, and with `=VALUE` if it has a default.
"""

import argparse
import pathlib
import re
import sys

import numpy
import onnx
import onnx.helper
from onnx import defs

TABLE = pathlib.Path(__file__).with_name("operators.txt")
ATTRIBUTE_TYPES = {"TYPE_PROTO": "type_proto", "TYPE_PROTOS": "type_protos"}


def grouped(types):
    """The types of a set, those that differ only in their elements as one."""
    groups = {}
    for name in sorted(types):
        match = re.fullmatch(r"((?:[a-z]+\()*)([a-z0-9]+)(\)*)", name)
        key = match.group(1, 3) if match else name.replace(" ", "")
        groups.setdefault(key, []).append(match.group(2) if match else "")
    return " ".join(key if isinstance(key, str) else f"{key[0]}{'|'.join(names)}{key[1]}" for key, names in groups.items())


def parameter(of):
    option = of.option
    text = f"{of.name}:{of.type_str.replace(' ', '')}"
    if option == defs.OpSchema.FormalParameterOption.Optional:
        text += "?"
    elif option == defs.OpSchema.FormalParameterOption.Variadic:
        text += f"*{of.min_arity}" + ("" if of.is_homogeneous else "~")
    return text


def default(of):
    """The default of an attribute, if it is a single number or a word; lists with a default are empty."""
    value = onnx.helper.get_attribute_value(of.default_value) if of.default_value.type else None
    if isinstance(value, bytes):
        value = value.decode()
    if value is None or not isinstance(value, (int, float, str)) or str(value) == "" or re.search(r"[\s;=!]", str(value)):
        return ""
    return "=" + str(numpy.float32(value) if isinstance(value, float) else value)


def attribute(of):
    name = of.type.name
    return f"{of.name}:{ATTRIBUTE_TYPES.get(name, name.lower())}" + ("!" if of.required else default(of))


def table():
    sets, sections, functions = {}, {}, {}
    schemas = sorted(defs.get_all_schemas_with_history(), key=lambda of: (of.domain, of.name, of.since_version))
    for of in schemas:
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
        if of.has_function or of.has_context_dependent_function:
            functions.setdefault(of.domain, {}).setdefault(of.name, of.since_version)
    lines = [f"# The operators of ONNX, from the schemas of onnx {onnx.__version__}. Made by generate.py."]
    lines += [f"set {number} {types}" for types, number in sets.items()]
    for domain, rows in sections.items():
        lines += [f"domain {domain or '-'}", *rows]
        if domain in functions:
            lines.append("functions " + " ".join(f"{name}:{first}" for name, first in functions[domain].items()))
    return "\n".join(lines) + "\n"


def main():
    arguments = argparse.ArgumentParser(description="Writes the table of the standard operators of ONNX.")
    arguments.add_argument("--check", action="store_true")
    text = table()
    if not arguments.parse_args().check:
        TABLE.write_text(text)
    elif TABLE.read_text() != text:
        sys.exit(f"{TABLE.name} is not the table of onnx {onnx.__version__}")


if __name__ == "__main__":
    main()
