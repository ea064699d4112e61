#!/usr/bin/env python3
"""Names that clash only where files are compiled together (the release preset joins up to eight files of a module).

    check_unit_names.py [FOLDER]     FOLDER: top of a source tree, default: this one

A name in an anonymous namespace of a .cc file must not be defined again in another file of its unit, nor be a type of a
header that one of these includes. Functions clash if their parameters are of the same types.
"""

import collections
import pathlib
import re
import sys

TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)\b(?! *(?:: \w+)?;)")
ALIAS = re.compile(r"^using (\w+) = (.*)")
CONSTANT = re.compile(r"^(?:inline |static )*(?:constexpr|const|thread_local|std::\S+|\w+) [^()=]*?\b(k[A-Z]\w*|g_\w+)(?:\[\w*\])* ?[={;(]")
FUNCTION = re.compile(r"^(?!return\b|else\b|if\b|for\b|while\b|using\b|template\b|#)[\w:<>,&*\[\] ]+?[ &*>](\w+)\(")


SAME_TYPES = {"size_t": "uint64_t", "unsignedlong": "uint64_t", "unsigned": "uint32_t", "unsignedint": "uint32_t", "long": "int64_t"}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def parameters(lines, first):
    """Types of the parameters of the function whose declaration begins in a line, without their names."""
    text = ""
    for line in lines[first:first + 12]:
        text += line + " "
        if text.count("(") <= text.count(")"):
            break
    inside = text[text.index("(") + 1:]
    depth, end = 1, 0
    for end, c in enumerate(inside):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            break
    types, depth, current = [], 0, ""
    for c in inside[:end] + ",":
        depth += (c in "<([{") - (c in ">)]}")
        if c == "," and depth == 0:
            current = re.sub(r"=.*", "", current).strip()
            plain = re.sub(r"(?<=[ &*>])\w+$", "", re.sub(r"\s+", " ", current)).replace(" ", "").replace("const", "").replace("std::", "")
            types.append(SAME_TYPES.get(plain, plain))
            current = ""
        else:
            current += c
    return ",".join(types)


def anonymous_names(path):
    """(name, kind, line) of what a file defines in its anonymous namespaces; of functions with their parameters."""
    lines = without_comments(path.read_text()).split("\n")
    raw = path.read_text().split("\n")
    inside = False
    for number, line in enumerate(lines):
        if re.match(r"^namespace \{", line):
            inside = True
        elif re.match(r"^\}  // namespace$", raw[number]):
            inside = False
        elif inside and line[:1] not in ("", " ", "}", "#"):
            for kind, pattern in (("type", TYPE), ("type", ALIAS), ("constant", CONSTANT)):
                found = pattern.match(line)
                if found:
                    yield found[1], f"{kind} = {found[2]}" if pattern is ALIAS else kind, number + 1
                    break
            else:
                found = FUNCTION.match(line)
                if found:
                    yield f"{found[1]}({parameters(lines, number)})", "function", number + 1


INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
UNIT_FILES = 8  # ASSAY_UNITY_FILES in CMakeLists.txt


def units(paths):
    """The files of a target in units as assay_unity() of CMakeLists.txt makes them."""
    paths = sorted(paths)
    parts = (len(paths) + UNIT_FILES - 1) // UNIT_FILES
    made = collections.defaultdict(list)
    for nth, path in enumerate(paths):
        made[nth * parts // len(paths)].append(path)
    return list(made.values())


class Headers:
    """Types that the headers of src/ define."""

    def __init__(self, root):
        self.root = root
        self.types, self.includes = {}, {}
        for path in (root / "src").rglob("*.h"):
            name = str(path.relative_to(root / "src"))
            text = path.read_text()
            self.types[name] = {found[1] for line in text.split("\n") if (found := TYPE.match(line))}
            self.includes[name] = INCLUDE.findall(text)

    def seen_by(self, paths):
        """Type -> header, of all headers that these files include, directly or not."""
        left = [name for path in paths for name in INCLUDE.findall(path.read_text())]
        done, types = set(), {}
        while left:
            name = left.pop()
            if name in done or name not in self.types:
                continue
            done.add(name)
            left.extend(self.includes[name])
            types.update(dict.fromkeys(self.types[name], name))
        return types


def check_unit(root, headers, paths):
    types = headers.seen_by(paths)
    problems, seen = [], {}
    for path in paths:
        for name, kind, line in anonymous_names(path):
            here = f"{path.relative_to(root)}:{line}"
            if name in seen:
                other, there, kind_there = seen[name]
                if other != path and not (kind == kind_there and "=" in kind):  # the same alias twice is fine
                    problems.append(f"{here}: {kind} '{name}' is defined in {there}, too")
            elif kind.startswith("type") and name in types:
                problems.append(f"{here}: type '{name}' is defined in {types[name]}, too")
            seen.setdefault(name, (path, here, kind))
    return problems


def check(root):
    headers = Headers(root)
    groups = collections.defaultdict(list)
    for path in (root / "src").rglob("*.cc"):
        groups["/".join(path.relative_to(root).parts[:2])].append(path)
    for path in (root / "tests").rglob("*_test.cc"):
        groups[str(path.parent.relative_to(root))].append(path)
    return [problem for _, paths in sorted(groups.items()) for unit in units(paths) for problem in check_unit(root, headers, unit)]


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    problems = check(root)
    print("\n".join(problems) or "no name has two meanings in files that are compiled together")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
