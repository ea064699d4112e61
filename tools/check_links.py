#!/usr/bin/env python3
"""Links of the Markdown documents: the file exists, and the heading that an anchor names.

    check_links.py [FOLDER]     FOLDER: top of a source tree, default: this one
"""

import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$")
FENCE = re.compile(r"^\s*(```|~~~)")


def prose(text):
    """The lines outside fenced code, without `code`."""
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, line


def anchors(path):
    """The anchors of a document as GitHub makes them from its headings."""
    made, seen = set(), {}
    for _, line in prose(path.read_text()):
        found = HEADING.match(line)
        if not found:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found[1]).replace("`", "").lower()
        name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        made.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return made


def problems_of(root, path, known):
    for number, line in prose(path.read_text()):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            there = (path.parent / name).resolve() if name else path
            if not there.exists():
                yield f"{path.relative_to(root)}:{number}: {target}: no such file"
            elif anchor and there.suffix == ".md":
                if anchor not in known.setdefault(there, anchors(there) if there not in known else known[there]):
                    yield f"{path.relative_to(root)}:{number}: {target}: no such heading"


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=root, capture_output=True, text=True, check=True).stdout
    known, problems = {}, []
    for name in listed.splitlines():
        problems.extend(problems_of(root, root / name, known))
    print("\n".join(problems) or f"links: every file and heading exists in {len(listed.splitlines())} documents")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
