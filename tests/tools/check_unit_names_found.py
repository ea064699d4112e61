#!/usr/bin/env python3
"""tools/check_unit_names.py finds planted names with two meanings, and none in this tree.

    check_unit_names_found.py
"""

import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_unit_names.py"
FIRST = """#include "flow/a.h"
namespace assay {
namespace {
struct Row {
  int x;
};
constexpr int kMost = 3;
using Text = std::string;
int count(const Row& row) { return row.x; }
int counted(uint64_t n, const char* what) { return 0; }
}  // namespace
}  // namespace assay
"""
PLANTED = {  # what the second file says: a part of the problem, or None
    "class Row {};": "type 'Row'",
    "constexpr double kMost = 4;": "constant 'kMost'",
    "bool count(const Row& other) { return other.x > 0; }": "function 'count(Row&)'",
    "int counted(size_t count, const char* word) { return 1; }": "function 'counted(uint64_t,char*)'",
    "int counted(int64_t count, const char* word) { return 1; }": None,
    "using Text = std::string_view;": "type = std::string_view; 'Text'",
    "struct InHeader {": "type 'InHeader' is defined in flow/a.h",
    "using Text = std::string;": None,
    "int count(double row) { return 1; }": None,
    "struct Row;": None,
    "struct Other {": None,
}


def run(folder=None):
    found = subprocess.run([sys.executable, TOOL, *([folder] if folder else [])], capture_output=True, text=True, check=False)
    return found.returncode, found.stdout


def main():
    faults = []
    for line, expected in PLANTED.items():
        with tempfile.TemporaryDirectory() as folder:
            flow = pathlib.Path(folder) / "src" / "flow"
            flow.mkdir(parents=True)
            (flow / "a.h").write_text("namespace assay {\nstruct InHeader {\n};\n}\n")
            (flow / "a.cc").write_text(FIRST)
            (flow / "b.cc").write_text(f"namespace assay {{\nnamespace {{\n{line}\n}}  // namespace\n}}  // namespace assay\n")
            status, said = run(folder)
            if (expected is None) != (status == 0) or (expected or "") not in said:
                faults.append(f"planted {line!r}: {status} {said}")
    status, said = run()
    if status != 0:
        faults.append(said)
    print("\n".join(faults) or f"{len(PLANTED)} planted names as expected, none in this tree")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
