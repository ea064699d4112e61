#!/usr/bin/env python3
"""Writes docs/findings.md from the message catalogue: every code that a finding can have, its role, its values as
they stand in JSON, and its text. --check only says whether the page is up to date."""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "src/text/messages.en.txt"
PAGE = ROOT / "docs/findings.md"

# The suffix that JSON gives a key of that unit (findings::value_key).
SUFFIXES = {"ns": "_ns", "share": "_share", "byte_rate": "_bytes_per_s"}
# Values of these units are objects of their own in JSON.
WITHOUT_VALUE = {"window", "parts"}

INTRO = """# Findings

Made by `tools/gen_findings_docs.py` from `src/text/messages.en.txt`; do not edit.

A finding is one statement about a run. `report` prints the texts; JSON has the same statements under
`summary.findings` with their codes and values, so that nothing has to be read out of a sentence
([keys](metrics.md#findings)). In a text, `{key}` is a value, `[...]` is left out where a value in it is not known or
the line would be too long, and `{n#one|many}` is a count with its noun, `{key@}` a list of ranks. `{window}` is the analyzed time.
"""


def catalogue():
    """{code: {"role": ..., "values": [JSON key, ...], "text": ...}}, in the order of the catalogue."""
    entries, code = {}, None
    for line in CATALOGUE.read_text(encoding="utf-8").splitlines():
        if named := re.fullmatch(r"\[([a-z_.0-9]+)\]", line):
            code = named.group(1)
            entries[code] = {"role": "", "values": [], "text": ""}
        elif line.startswith("role = "):
            entries[code]["role"] = line.removeprefix("role = ")
        elif line.startswith("values = "):
            for value in line.removeprefix("values = ").split():
                key, unit = value.split(":")
                if unit not in WITHOUT_VALUE:
                    entries[code]["values"].append(key + SUFFIXES.get(unit, ""))
        elif line.startswith("text = "):
            entries[code]["text"] = line.removeprefix("text = ")
    return entries


def page():
    entries = catalogue()
    roles = list(dict.fromkeys(entry["role"] for entry in entries.values()))
    lines = [INTRO]
    for role in roles:
        lines += [f"## {role.capitalize()}", "", "| code | values | text |", "|---|---|---|"]
        for code, entry in entries.items():
            if entry["role"] != role:
                continue
            values = ", ".join(f"`{key}`" for key in entry["values"])
            text = entry["text"].replace("|", "\\|")
            lines.append(f"| `{code}` | {values} | `` {text} `` |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    made = page()
    if parser.parse_args().check:
        if PAGE.read_text(encoding="utf-8") != made:
            sys.exit("docs/findings.md is not what src/text/messages.en.txt says: run tools/gen_findings_docs.py")
        return
    PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
