#!/usr/bin/env python3
"""Keeps the output shown in README.md and docs/*.md real.

    tools/readme_output.py --assay build/release/assay [--check]

Runs the command named in the marker line above the block and writes it and its output into the block;
with --check, fails when the block differs. The shell runs it, so that a command may go on as a reader
would type it where the output is long: "| head -9", "| grep -A 6 TEXT". $DATA is the corpus of real
traces, $OUT a folder to write to: a marker with one of them goes on with "shown as: " and what a reader
would type. A block that needs the corpus, DuckDB or libxlsxwriter stays as it is where these are not.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import check_flag

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?P<head><!-- output of: assay (?P<args>.*?)(?: shown as: (?P<shown>.*?))? -->\n```\n)(?P<text>.*?)"
                   r"(?P<end>```\n<!-- end of output -->)", re.DOTALL)
# 1: a gate was crossed; 141: assay could not write what `head` no longer wanted.
SCRIPT = '"$ASSAY" {args}\nstatus=${{PIPESTATUS[0]}}; [ "$status" = 0 ] || [ "$status" = 1 ] || [ "$status" = 141 ]'
NOT_HERE = ("tools/install_deps.sh query", "libxlsxwriter-dev")
LARGEST_README = 8192
DATA = pathlib.Path(os.environ.get("ASSAY_DATA") or ROOT.parent / "shared/data")


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def rewritten(match, assay):
    args, shown = match["args"], match["shown"] or f"assay {match['args']}"
    if "$DATA" in shown or "$OUT" in shown:
        sys.exit(f"assay {args}: a reader cannot type that; say what is shown instead")
    if "$DATA" in args and not DATA.exists():
        print(f"not here: the corpus, for assay {args}")
        return match.group(0)
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, COLUMNS="", LC_ALL="C.UTF-8", ASSAY=str(assay), DATA=str(DATA), OUT=folder)
        run = subprocess.run(["bash", "-c", SCRIPT.format(args=args)], cwd=ROOT, env=env, check=False,
                             capture_output=True, text=True, encoding="utf-8")
    if any(words in run.stderr for words in NOT_HERE):
        print(f"not here: what assay {args} needs")
        return match.group(0)
    if run.returncode != 0:
        sys.exit(f"assay {args}: {run.stderr}")
    if not run.stdout:
        sys.exit(f"assay {args} prints nothing")
    return f"{match['head']}$ {shown}\n{run.stdout}{match['end']}"


def main():
    assay, check = check_flag.parse(__doc__)
    shown = 0
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        shown += len(BLOCK.findall(old))
        new = BLOCK.sub(lambda match: rewritten(match, assay), old)
        if not check:
            page.write_text(new, encoding="utf-8")
        elif new != old:
            sys.exit(f"{page.name} shows an output that assay no longer prints: tools/readme_output.py")
    if shown == 0:
        sys.exit("no page shows an output")
    if len((ROOT / "README.md").read_bytes()) > LARGEST_README:
        sys.exit(f"README.md is larger than {LARGEST_README} bytes: what is of one room stands in its page of docs/")


if __name__ == "__main__":
    main()
