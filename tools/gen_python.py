#!/usr/bin/env python3
"""Writes python/assay/_questions.py: the functions of the Python module, from the program's own table of options.

    tools/gen_python.py --assay build/release/assay [--check]

Names, types, defaults and sentences are those of `assay options`, so that they cannot differ from what the program
takes.
"""

import argparse
import ast
import json
import pathlib
import subprocess
import sys

from option_table import Table, closed, remarks

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULE = ROOT / "python/assay/_questions.py"

# (function, verb, class of the answer, inputs, what the function gives by itself, options under another name)
TRACE = "source: Source"
FUNCTIONS = [
    ("report", "report", "Report", TRACE, {}, {}),
    ("why", "why", "Answer", TRACE, {}, {}),
    ("whatif", "whatif", "WhatIf", TRACE + ", *edit: str", {}, {}),
    ("launch", "launch", "Answer", TRACE, {}, {}),
    ("overhead", "overhead", "Answer", TRACE, {}, {}),
    ("breakdown", "breakdown", "Answer", TRACE, {}, {"--group-by": "by"}),
    ("roofline", "breakdown", "Answer", TRACE, {"--roofline": True}, {}),
    ("fusion", "fusion", "Answer", TRACE, {}, {}),
    ("sweep", "sweep", "Answer", TRACE, {}, {}),
    ("power", "power attribute", "Answer", TRACE + ", samples: Path", {}, {}),
    ("info", "info", "Answer", TRACE, {}, {}),
    ("sql", "sql", "Rows", TRACE + ", command: str", {}, {}),
    ("diff", "diff", "Diff", "a: Source, b: Source", {}, {}),
    ("job", "job", "Answer", "source: Source = ()", {}, {}),
    ("hang", "hang", "Answer", TRACE, {}, {}),
    ("predict", "throughput predict", "Answer", TRACE, {}, {}),
    ("plan", "throughput plan", "Answer", TRACE, {}, {}),
]
# How an answer is shown and where it goes is the module's: Answer.save() and show().
NOT_FOR_PROGRAMS = {"--help", "--format", "--output", "--color", "--width", "--ascii", "--full", "--quiet", "--junit"}
TYPES = {"flag": "bool", "text": "str", "integer": "int", "number": "float"}
WIDTH = 116

HEAD = '''"""The questions of the program as functions. Made by tools/gen_python.py from `assay options`; do not edit."""

from __future__ import annotations

from ._answers import Answer, Diff, Report, Rows, WhatIf
from ._ask import question

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Union

    from ._program import Source

    Path = Union[str, os.PathLike[str]]
'''


def keyword_of(option, names):
    long = next((name for name in option["names"] if name.startswith("--")), option["names"][0])
    return names.get(long, long.lstrip("-").replace("-", "_")), long


def default_of(option):
    """The default as a Python value; None where the program finds one by itself."""
    shown = option.get("default")
    if option["type"] == "flag":
        return False
    if shown is None:
        return None
    if option.get("repeatable"):
        listed = [one for one in shown.strip("[]").split(",") if one]
        return tuple(int(one) if option["type"] == "integer" else one for one in listed) or None
    return {"integer": int, "number": float, "text": str}[option["type"]](shown)


def literal(value):
    return json.dumps(value) if isinstance(value, str) else repr(value)


def annotation_of(option, default):
    kind = TYPES[option["type"]]
    if kind == "float":
        kind = "float | int"
    if option.get("value_optional"):
        return "bool | str"
    if option.get("repeatable"):
        kind = f"{kind} | Sequence[{TYPES[option['type']]}]"
    return kind if default is not None else f"{kind} | None"


def wrapped(text, indent, hanging):
    lines, line = [], " " * indent
    for word in text.split():
        if len(line) + len(word) + 1 > WIDTH and line.strip():
            lines.append(line)
            line = " " * hanging
        line += ("" if not line.strip() else " ") + word
    return [*lines, line]


def function_text(table, name, verb_name, answer, inputs, fixed, names):
    verb = next(one for one in table.verbs if one["name"] == verb_name)
    given = {part.split(":")[0].strip().lstrip("*") for part in inputs.split(",")}
    parameters, docs = [], []
    for option in verb["options"]:
        keyword, long = keyword_of(option, names)
        if long in NOT_FOR_PROGRAMS or long in fixed or keyword in given:
            continue
        default = False if option.get("value_optional") else default_of(option)
        kind = annotation_of(option, default)
        if option.get("required"):
            parameters.append(f"    {keyword}: {kind.removesuffix(' | None')},")
        else:
            parameters.append(f"    {keyword}: {kind} = {literal(default)},")
        unit = f" Unit: {option['unit']}." if option.get("unit") else ""
        text = " ".join([closed(option["sentence"]), *remarks(option)]) + unit
        docs += wrapped(f"{keyword}: {text}", 8, 12)
    for option in verb["options"]:
        keyword, long = keyword_of(option, names)
        if keyword in given and long not in fixed:
            docs[:0] = wrapped(f"{keyword}: {closed(option['sentence'])}", 8, 12)
    told = [f'"{verb_name}"', answer]
    if fixed:
        told.append(f"fixed={fixed!r}")
    if names:
        told.append(f"renamed={ {new: old for old, new in names.items()}!r}")
    text = [f"@question({', '.join(told)})", f"def {name}("]
    text += [f"    {part.strip()}," for part in inputs.split(",")]
    if parameters and "*" not in inputs:
        text.append("    *,")
    text += [*parameters, f") -> {answer}:"]
    text += [f'    """{closed(verb["sentence"])}', "", "    Args:", *docs, '    """', "    raise NotImplementedError"]
    return "\n".join(line.replace("\\", "\\\\") for line in text) + "\n"


def module_text(options):
    table = Table(options)
    parts = [HEAD]
    parts += [function_text(table, *function) for function in FUNCTIONS]
    names = ", ".join(f'"{function[0]}"' for function in sorted(FUNCTIONS))
    parts.append("\n".join(wrapped(f"__all__ = [{names}]", 0, 4)) + "\n")
    text = "\n\n".join(part.rstrip("\n") + "\n" for part in parts)
    ast.parse(text)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    options = subprocess.run([given.assay, "options"], capture_output=True, check=True).stdout.decode()
    text = module_text(options)
    if not given.check:
        MODULE.write_text(text, encoding="utf-8")
    elif MODULE.read_text(encoding="utf-8") != text:
        sys.exit(f"{MODULE.relative_to(ROOT)} is out of date: tools/gen_python.py --assay BINARY")
    else:
        print(f"python: {len(FUNCTIONS)} functions, up to date")


if __name__ == "__main__":
    main()
