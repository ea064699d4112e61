#!/usr/bin/env python3
"""Writes the tables of a trace into docs/formats/export.md, as `assay sql` tells them; --check only says
whether they are up to date. Exits with 77 (skipped) without DuckDB.

    tools/gen_export_docs.py --assay build/release/assay [--check]
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/formats/export.md"
EXAMPLE = ROOT / "examples/h100_vit_inference.json.gz"
BEGIN = "<!-- tables: tools/gen_export_docs.py -->\n"
END = "<!-- end of tables -->\n"
UNIT = slice(40, 50)  # where `.schema` prints it
LAST = "op_links"  # behind it come what the rooms say


def schema(assay):
    """(table, meaning, [(column, type, unit)]) of the trace's own tables."""
    done = subprocess.run([assay, "sql", EXAMPLE], input=b".schema\n", capture_output=True, timeout=120, check=False)
    if b"install_deps.sh query" in done.stderr:
        print("DuckDB is not here")
        sys.exit(77)
    if done.returncode != 0:
        sys.exit(done.stderr.decode())
    tables = []
    for line in done.stdout.decode().splitlines():
        column = re.match(r"  (\w+) +([A-Z]+) +", line)
        if column is None:
            if tables and tables[-1][0] == LAST:
                break
            name, meaning = line.split(": ", 1)
            tables.append((name, meaning, []))
        elif column[1] != "rank":
            tables[-1][2].append((column[1], column[2], line[UNIT].strip()))
    return tables


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=ROOT / "build/release/assay", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    lines = ["| table | rows are | columns |\n|---|---|---|\n"]
    for name, meaning, columns in schema(options.assay.resolve()):
        cells = ", ".join(f"`{column}` {kind}" + (f" ({unit})" if unit not in ("", "string", "bool", "enum") else "")
                          for column, kind, unit in columns)
        lines.append(f"| `{name}` | {meaning} | {cells} |\n")
    old = PAGE.read_text(encoding="utf-8")
    begin, end = old.index(BEGIN) + len(BEGIN), old.index(END)
    new = old[:begin] + "".join(lines) + old[end:]
    if options.check:
        if new != old:
            sys.exit("docs/formats/export.md lists other tables than assay exports: run tools/gen_export_docs.py")
        print(f"export docs: {len(lines) - 1} tables, up to date")
        return
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
