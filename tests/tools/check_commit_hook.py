#!/usr/bin/env python3
"""tools/hooks/commit-msg in a repository of its own: what it refuses, and what it lets pass."""

import os
import pathlib
import subprocess
import sys
import tempfile

HOOKS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools/hooks"
BODY = "\n\nThe reason of the change.\n"

# changed lines, message, a word of the refusal; "" where it passes
CASES = [
    (1, "Add a reader of logs", ""),
    (1, "ingest: read logs of two GPUs", ""),
    (1, "Embed the table of kernels", ""),
    (1, "Pass the window to the replay", ""),
    (1, "x" * 72, ""),
    (1, "x" * 73, "73 columns"),
    (1, "Add a reader of logs.", "period"),
    (1, "Added a reader of logs", "'Added'"),
    (1, "ingest: reading logs of two GPUs", "'reading'"),
    (1, "Fixes a count", "'Fixes'"),
    (1, "The reader reads logs", "'The'"),
    (1, "Add a reader\nof logs", "not empty"),
    (30, "Add a reader of logs", ""),
    (31, "Add a reader of logs", "31 lines"),
    (31, "Add a reader of logs" + BODY, ""),
    (31, "Add a reader of logs\n\n# a comment is no body\n", "31 lines"),
    (31, "Merge branch 'other'", ""),
    (31, "fixup! Added a reader.", ""),
]


def main():
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        env = clean | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": folder}

        def git(*words, check=True):
            return subprocess.run(["git", "-c", "user.name=Test", "-c", "user.email=test@example.org", *words], cwd=folder,
                                  env=env, capture_output=True, text=True, check=check)

        git("init", "-q")
        git("config", "core.hooksPath", str(HOOKS))
        for number, (lines, message, refusal) in enumerate(CASES):
            pathlib.Path(folder, f"file{number}").write_text("a line\n" * lines, encoding="utf-8")
            git("add", "-A")
            done = git("commit", "-q", "--cleanup=strip", "-m", message, check=False)
            if refusal:
                if done.returncode == 0 or refusal not in done.stderr:
                    failures.append(f"not refused with {refusal!r}: {message!r}: {done.stderr.strip()}")
                git("rm", "-q", "--cached", "-f", f"file{number}")
                pathlib.Path(folder, f"file{number}").unlink()
            elif done.returncode != 0:
                failures.append(f"refused: {message!r}: {done.stderr.strip()}")
    print("\n".join(failures) or f"commit-msg: {len(CASES)} messages checked")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
