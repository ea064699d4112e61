#!/usr/bin/env python3
"""Writes docs/rules.md: the rules of the diagnosis, as `assay why --rules` lists them, and the constants in their
conditions, as the source has them. --check only says whether the page is up to date."""

import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRACE = "examples/h100_vit_inference.json.gz"
PAGE = ROOT / "docs/rules.md"
CONSTANTS = ("src/findings", "src/flow")

INTRO = """# Rules of the diagnosis

Made by `tools/gen_rules_docs.py` from `assay why --rules`; do not edit.

Rules of one role are read in this order. The first headline that holds is the headline, and the first confidence
rule that holds decides the confidence. Every other rule that holds makes a finding ([codes](findings.md)).
A condition is written over the named values of the run (`f`, `src/flow/facts.h`).
`assay why TRACE --rules` says which rules hold for a trace.
"""


def rules(assay):
    done = subprocess.run([assay, "why", TRACE, "--rules", "--format", "json"], cwd=ROOT, capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)["rules"]


def constants():
    """{name: value as the source has it}"""
    found = {}
    for folder in CONSTANTS:
        for path in sorted((ROOT / folder).rglob("*.[ch]*")):
            for name, value in re.findall(r"^(?:inline )?constexpr [\w:]+ (k\w+) = ([^;]+);(?!\n *\{)",
                                          path.read_text(encoding="utf-8"), re.MULTILINE):
                found.setdefault(name, " ".join(value.split()))
    return found


def page(assay):
    known, lines, used = constants(), [INTRO], {}
    listed = rules(assay)
    for role in dict.fromkeys(rule["rule_role"] for rule in listed):
        lines += [f"## {role.capitalize()}", "", "| code | condition |", "|---|---|"]
        for rule in listed:
            if rule["rule_role"] == role:
                used |= {name: known[name] for name in re.findall(r"(?<!:)\bk\w+", rule["condition"]) if name in known}
                condition = rule["condition"].replace("|", "\\|")
                lines.append(f"| `{rule['code']}` | `` {condition} `` |")
        lines.append("")
    lines += ["## Constants", "", "| name | value |", "|---|---|"]
    lines += [f"| `{name}` | `{used[name]}` |" for name in sorted(used)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=ROOT / "build/release/assay", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    made = page(given.assay.resolve())
    if given.check:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != made:
            sys.exit("docs/rules.md is not what the rules are: run tools/gen_rules_docs.py")
        return
    PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
