#!/usr/bin/env python3
"""Writes what the rows of src/ingest/formats.cc say into the blocks of docs/formats/README.md and README.md that are
marked `<!-- formats: ... -->`; --check only says whether they are up to date, and whether every page is listed."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "src/ingest/formats.cc"
PAGES = ROOT / "docs/formats"

FIELD = re.compile(r'\.(\w+) = ((?:"(?:[^"\\]|\\.)*"\s*)+|[\w:]+),')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def rows():
    source = TABLE.read_text(encoding="utf-8")
    table = re.search(r"constexpr FileFormat kFormats\[\] = \{\n(.*?)\n\};", source, re.DOTALL).group(1)
    found = []
    for body in re.findall(r"^    \{\n(.*?)^    \},$", table, re.DOTALL | re.MULTILINE):
        row = {}
        for name, value in FIELD.findall(body):
            row[name] = "".join(LITERAL.findall(value)) if value.startswith('"') else value.split("::")[-1]
        if len(row) != len(re.findall(r"^        \.\w+ =", body, re.MULTILINE)):
            sys.exit(f"{TABLE}: a field of the row {row.get('key')} is no literal, word or function")
        found.append(row)
    if len(found) != table.count(".key ="):
        sys.exit(f"{TABLE}: a row is not of the form {{, fields, }}")
    return found


def endings(row):
    return ", ".join(f"`{ending}`" for ending in row["endings"].split())


def packed(row):
    return "gzip, zstd" if row.get("compressed") == "true" else ""


def own_table(formats):
    lines = ["| a file of | is named like | may be packed by | what to do with it |", "|---|---|---|---|"]
    lines += [f"| [{row['name']}]({row['page']}) | {endings(row)} | {packed(row)} | {row['give']} |"
              for row in formats if row.get("page")]
    return lines


def foreign_table(formats):
    lines = ["| a file that is | is named like | what to do |", "|---|---|---|"]
    lines += [f"| {row['name']} | {endings(row)} | {row['give']} |" for row in formats if not row.get("page")]
    return lines


def trace_list(formats):
    pages = {}
    for row in formats:
        if row.get("family") == "kTrace":
            pages.setdefault(row["page"], []).append(row)
    lines = ["| traces | files | packed |", "|---|---|---|"]
    for page, of_page in pages.items():
        files = ", ".join(endings(row) for row in of_page)
        plain = [endings(row) for row in of_page if not packed(row)]
        both = packed(of_page[0]) + (f"; not {', '.join(plain)}" if 0 < len(plain) < len(of_page) else "")
        lines.append(f"| [{of_page[0]['plural']}](docs/formats/{page}) | {files} | {both} |")
    return lines


def filled(path, blocks):
    text = path.read_text(encoding="utf-8")
    for name, lines in blocks.items():
        mark = re.compile(rf"(<!-- formats: {name} -->\n).*?(<!-- end of formats -->)", re.DOTALL)
        if not mark.search(text):
            sys.exit(f"{path}: no block <!-- formats: {name} -->")
        body = "\n".join(lines) + "\n"
        text = mark.sub(lambda match: match.group(1) + body + match.group(2), text, count=1)
    return text


def check_pages(formats):
    index = (PAGES / "README.md").read_text(encoding="utf-8").split("<!-- formats:")[0]
    for row in formats:
        if row.get("page") and f"]({row['page']}) | " not in index:
            sys.exit(f"{TABLE.relative_to(ROOT)}: {row['key']}: docs/formats/README.md does not list {row['page']}")
    for page in PAGES.glob("*.md"):
        if page.name != "README.md" and f"]({page.name})" not in index:
            sys.exit(f"docs/formats/README.md: {page.name} is not listed")


def main():
    formats = rows()
    outputs = {
        PAGES / "README.md": filled(PAGES / "README.md",
                                    {"read": own_table(formats), "foreign": foreign_table(formats)}),
        ROOT / "README.md": filled(ROOT / "README.md", {"traces": trace_list(formats)}),
    }
    check_pages(formats)
    for path, text in outputs.items():
        if "--check" not in sys.argv[1:]:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.relative_to(ROOT)} is not what src/ingest/formats.cc says: run tools/gen_format_docs.py")
    print(f"format docs: {len(formats)} formats")


if __name__ == "__main__":
    main()
