#!/usr/bin/env python3
"""The table of `assay options`, its derived documents, and the parser must agree.

--help of every verb has every option of the table. Every value of a choice is accepted; another value is refused with
the list of values. bash completes every verb, option and value. The scripts and the manual page pass their own linters,
if installed. refusals.tsv has wrong command lines with their messages.
"""

import argparse
import json
import pathlib
import shlex
import shutil
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TRACE = ROOT / "examples" / "h100_vit_inference.json.gz"
TOOL = ROOT / "tools" / "option_table.py"
WRONG = "no-such-word"
# Verbs that refuse --format only when they run, with the inputs that they need for that.
LATE = {"report": [TRACE], "launch": [TRACE], "sweep": [TRACE], "fusion": [TRACE], "overhead": [TRACE], "breakdown": [TRACE],
        "info": [TRACE], "diff": [TRACE, TRACE]}
problems = []


def check(fine, message):
    if not fine:
        problems.append(message)


def run(*command, text=None):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, input=text or "",
                          timeout=120)


def check_table(assay, verbs):
    check(len(verbs) >= 27, f"{len(verbs)} verbs")
    for verb in verbs:
        words = verb["name"].split()
        check(verb["sentence"], f"{verb['name']}: no sentence")
        # Sentences are wrapped; the program's own help is an overview.
        told = " ".join(run(assay, *words, "--help").stdout.split())
        if not words:
            continue
        for option in verb["options"]:
            for name in option["names"]:
                check(name in told, f"{verb['name']}: --help has no {name}")
                check(option.get("sentence"), f"{verb['name']} {name}: no sentence")
                check(" ".join(option.get("sentence", "").split()) in told, f"{verb['name']} {name}: --help says otherwise")


def check_overview(assay, verbs):
    """Every verb is in the overview; an unknown verb gets a suggestion."""
    overview = run(assay, "--help").stdout
    for verb in verbs:
        name = verb["name"].split()[:1]
        check(not name or name[0] in overview.split(), f"assay --help has no {verb['name']}")
    check(all(len(line) <= 80 for line in overview.splitlines()[:-2]), "assay --help is wider than 80 columns")
    check(len(overview.splitlines()) <= 24, "assay --help is longer than 24 lines")
    check(run(assay).stdout == overview, "assay alone is not assay --help")
    check(run(assay, "help", "overhead").stdout == run(assay, "overhead", "--help").stdout, "assay help overhead is not assay overhead --help")
    check(run(assay, "-V").stdout.startswith("assay "), "assay -V tells no version")
    for command, meant in ((["reprot", "x"], "report"), (["throughput", "predcit"], "predict"),
                           (["plan", "x"], "assay throughput plan"), (["predict"], "assay throughput predict"),
                           (["report", "--ful", TRACE], "--full"), (["explain", "tkqlt"], "tklqt")):
        refused = run(assay, *command)
        check(refused.returncode == 2 and f"did you mean '{meant}'?" in refused.stderr, f"{command}: {refused.stderr}")


def check_explain(assay):
    for word in ("dispatch", "unseen", "late", "TKLQT", "tklqt_ns", "akd", "gpu_idle_share"):
        told = run(assay, "explain", word)
        check(told.returncode == 0 and 2 < len(told.stdout.splitlines()) <= 20, f"explain {word}: {told.stdout}")
    check(run(assay, "explain", "launch", "floor").stdout == run(assay, "explain", "floor_ns").stdout, "explain launch floor")
    told = run(assay, "explain", "dispatch").stdout
    check("operator" in told and "assay overhead" in told, f"explain dispatch: {told}")


def check_example(assay):
    with tempfile.TemporaryDirectory() as folder:
        written = pathlib.Path(folder) / "t.json.gz"
        done = run(assay, "example", "-o", written)
        check(done.returncode == 0 and "wrote" in done.stderr, f"assay example: {done.stderr}")
        check(written.read_bytes() == TRACE.read_bytes(), "assay example writes another trace")


def check_words(assay, verbs):
    """--help comes last: values are checked before it, and nothing runs."""
    choices = 0
    for verb in verbs:
        for option in verb["options"]:
            if "words" not in option:
                continue
            choices += 1
            command = [assay, *verb["name"].split(), option["names"][-1]]
            where = " ".join(command[1:])
            for word in option["words"]:
                check(run(*command, word, "--help").returncode == 0, f"{where} {word} is refused")
            refused = run(*command, WRONG, "--help")
            if refused.returncode == 0:
                if verb["name"] not in LATE:
                    continue
                refused = run(*command, WRONG, *LATE[verb["name"]])
            check(refused.returncode == 2, f"{where} {WRONG}: {refused.returncode}")
            for word in option["words"]:
                check(word in refused.stderr, f"{where} {WRONG}: {word} is not named in: {refused.stderr}")
    check(choices >= 40, f"{choices} choices between words")


def bash_completions(script, lines):
    """The completions of bash for each line, at its last word."""
    asked = [f"source {shlex.quote(str(script))}"]
    for line in lines:
        words = " ".join(shlex.quote(word) for word in line)
        asked.append(f"COMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; _assay; echo \"${{COMPREPLY[*]}}\"")
    done = run("bash", "--norc", text="\n".join(asked) + "\n")
    check(not done.stderr, f"bash: {done.stderr[:500]}")
    return [offer.split() for offer in done.stdout.split("\n")[:-1]]


def check_bash(script, verbs):
    lines, wanted = [], []

    def expect(line, word):
        lines.append(["assay", *line])
        wanted.append(word)

    for verb in verbs:
        words = verb["name"].split()
        if words:
            expect([*words[:-1], words[-1][:-1]], words[-1])
        for option in verb["options"]:
            if option.get("input"):
                continue
            for name in option["names"]:
                expect([*words, name[:-1]], name)
                for word in option.get("words", []):
                    expect([*words, name, word[:-1]], word)
                    if name.startswith("--"):
                        expect([*words, name, "=", word[:-1]], word)
    offers = bash_completions(script, lines)
    check(len(offers) == len(lines), f"bash answered {len(offers)} of {len(lines)} lines")
    for line, word, offer in zip(lines, wanted, offers):
        check(word in offer, f"bash: {' '.join(line)}: offers {offer}, not {word}")
    # Manual cases: nothing is offered in the wrong place.
    by_hand = [(["re"], "report replay record"), (["launch", "--tree-order", ""], "launch device host"),
               (["throughput", "pre"], "predict"), (["launch", "--tree-o"], "--tree-order"), (["launch", ""], "")]
    offers = bash_completions(script, [["assay", *line] for line, _ in by_hand])
    for (line, expected), offer in zip(by_hand, offers):
        check(offer == expected.split(), f"bash: {line}: {offer}, not {expected}")


def plain(text):
    """Removes bold formatting: escapes, or each letter struck twice."""
    return re.sub(r".\x08|\x1b\[[0-9;]*m", "", text)


def check_scripts(folder):
    for shell, name in (("bash", "assay.bash"), ("zsh", "_assay"), ("fish", "assay.fish")):
        if shutil.which(shell) is None:
            continue
        done = run(shell, "-n", folder / name)
        check(done.returncode == 0 and not done.stderr, f"{shell} -n: {done.stderr}")
    if shutil.which("groff"):
        done = run("groff", "-man", "-ww", "-Tutf8", "-P-cbou", folder / "assay.1")
        check(done.returncode == 0 and not done.stderr, f"assay.1: {done.stderr[:500]}")
        check("throughput predict" in " ".join(plain(done.stdout).lower().split()), "assay.1 has no throughput predict")


def check_refusals(assay):
    for line in (ROOT / "tests/golden/refusals.tsv").read_text().splitlines():
        if line.startswith("#"):
            continue
        command, said = line.split("\t")
        done = run(assay, *(str(TRACE) if word == "@trace" else word for word in shlex.split(command)))
        check(done.returncode == 2, f"assay {command}: {done.returncode}, not 2")
        check(said in done.stderr, f"assay {command}: {done.stderr!r}, not {said!r}")
        check(not done.stdout, f"assay {command}: speaks on standard output")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    assay = str(pathlib.Path(parser.parse_args().assay).resolve())
    table = run(assay, "options", "--format", "json").stdout
    verbs = json.loads(table)["verbs"]
    check_table(assay, verbs)
    check_overview(assay, verbs)
    check_explain(assay)
    check_example(assay)
    check_words(assay, verbs)
    check_refusals(assay)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = run(sys.executable, TOOL, "--output-folder", folder, text=table)
        check(made.returncode == 0, made.stderr)
        check_scripts(folder)
        check_bash(folder / "assay.bash", verbs)
    for problem in problems[:40]:
        print(problem, file=sys.stderr)
    print(f"{len(verbs)} verbs, {sum(len(verb['options']) for verb in verbs)} options: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
