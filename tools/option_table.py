#!/usr/bin/env python3
"""The manual page, the completions of three shells and docs/cli.md, from one table of options.

    assay options | tools/option_table.py man|bash|zsh|fish|md > FILE
    tools/option_table.py --assay build/release/assay --check docs/cli.md

The table is the binary's own (src/cli/options.h): what is printed here cannot differ from what is
parsed. Names of options and words are checked to be harmless in a shell before they are written
into a script; sentences are quoted.
"""

import argparse
import json
import re
import subprocess
import sys

PLAIN = re.compile(r"^[A-Za-z0-9_.+-]+$")


class Table:
    def __init__(self, text):
        table = json.loads(text)
        if table["schema_version"] != 1:
            raise SystemExit(f"a table of version {table['schema_version']}; this script knows 1")
        self.tool = table["tool"]
        self.program, *self.verbs = table["verbs"]
        for verb in [self.program, *self.verbs]:
            verb["inputs"] = [o for o in verb["options"] if o.get("input")]
            verb["options"] = [o for o in verb["options"] if not o.get("input")]
            for plain in [*verb["name"].split(), *names_and_words(verb)]:
                if not PLAIN.match(plain):
                    raise SystemExit(f"{verb['name']}: {plain!r} is not a plain word")

    def below(self, name):
        """The verbs directly below one, by their last word."""
        depth = len(name.split())
        return [
            verb
            for verb in self.verbs
            if verb["name"].split()[:depth] == name.split()
            and len(verb["name"].split()) == depth + 1
        ]


def names_and_words(verb):
    for option in verb["options"]:
        yield from option["names"]
    for option in [*verb["options"], *verb["inputs"]]:
        yield from option.get("words", [])


def first_sentence(text, width=72):
    """For lists that give one line to an option."""
    text = re.split(r"(?<!\.\w)[.;:] |\n", text)[0]
    return text if len(text) <= width else text[: width - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def closed(text):
    return text if text.endswith((".", "!", "?")) else text + "."


def takes_value(option):
    return bool(option.get("value")) and not option.get("value_optional")


def remarks(option):
    """What the sentence does not say: words, limits, default, how often."""
    if not all(word in option["sentence"] for word in option.get("words", [])):
        yield "One of " + ", ".join(option["words"]) + "."
    if option.get("limits"):
        yield option["limits"][0].upper() + option["limits"][1:] + "."
    if option.get("default"):
        yield f"Default: {option['default']}."
    if option.get("required"):
        yield "Required."
    if option.get("repeatable") and not option.get("input"):
        yield "Takes several values."


def value_of(option):
    if option.get("input"):
        return ""
    if option.get("value_optional"):
        return f"[={option['value']}]"
    return f" {option['value']}" if option.get("value") else ""


def usage_of(verb, table):
    inputs = []
    for taken in verb["inputs"]:
        name = taken["names"][0] + (" ..." if taken.get("repeatable") else "")
        inputs.append(name if taken.get("required") else f"[{name}]")
    below = ["VERB"] if table.below(verb["name"]) else []
    return " ".join(["assay", *verb["name"].split(), *below, "[OPTIONS]", *inputs])


# ---------------------------------------------------------------- man


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = "".join(char if ord(char) < 0x80 else f"\\[u{ord(char):04X}]" for char in text)
    return "\\&" + text if text.startswith((".", "\\(aq")) else text


def man(table):
    yield f'.TH ASSAY 1 "" "{table.tool}" "User Commands"'
    yield ".SH NAME\nassay \\- takes a GPU run apart"
    yield ".SH SYNOPSIS\n.B assay\n\\fIVERB\\fR [\\fIOPTIONS\\fR] \\fITRACE\\fR ..."
    yield ".SH DESCRIPTION\n" + roff(table.program["sentence"])
    yield from man_options(table.program)
    for verb in table.verbs:
        yield f'.SH "ASSAY {verb["name"].upper()}"\n.B {roff(usage_of(verb, table))}'
        yield ".PP\n" + roff(closed(verb["sentence"]))
        if verb.get("examples"):
            yield ".PP\n.nf\n" + "\n".join(map(roff, verb["examples"])) + "\n.fi"
        yield from man_options(verb)
        if verb.get("footer"):
            yield ".PP\n" + roff(verb["footer"])
    yield ".SH NOTES"
    for line in table.program["footer"].splitlines():
        yield ".PP\n" + roff(line)


def man_options(verb):
    for taken in verb["inputs"]:
        yield f".TP\n\\fI{roff(taken['names'][0])}\\fR\n" + man_text(taken)
    for option in verb["options"]:
        names = ", ".join(f"\\fB{roff(name)}\\fR" for name in option["names"])
        value = value_of(option)
        yield f".TP\n{names}\\fI{roff(value)}\\fR\n" + man_text(option)


def man_text(option):
    return "\n".join(roff(text) for text in [closed(option["sentence"]), *remarks(option)])


# ---------------------------------------------------------------- bash


def bash(table):
    yield "# bash completion for assay, made from its table of options (tools/option_table.py)"
    yield "_assay() {"
    yield "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb= i"
    yield "  COMPREPLY=()"
    yield "  # --option=value comes as three words."
    yield "  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then"
    yield "    prev=${COMP_WORDS[COMP_CWORD - 2]}"
    yield "  fi"
    yield "  for ((i = 1; i < COMP_CWORD; i++)); do"
    yield "    case \"$verb ${COMP_WORDS[i]}\" in"
    for verb in table.verbs:
        above, _, last = verb["name"].rpartition(" ")
        yield f"      \"{above} {last}\") verb=\"{verb['name']}\" ;;"
    yield "    esac"
    yield "  done"
    yield "  case \"$verb $prev\" in"
    for verb in table.verbs:
        for option in verb["options"]:
            if not takes_value(option):
                continue
            keys = "|".join(f'"{verb["name"]} {name}"' for name in option["names"])
            if option.get("words"):
                yield f"    {keys})\n      {bash_reply(option['words'])}\n      return ;;"
            else:
                yield f"    {keys}) return ;;"
    yield "  esac"
    yield "  case \"$verb\" in"
    for verb in [table.program, *table.verbs]:
        names = [name for option in verb["options"] for name in option["names"]]
        below = [found["name"].split()[-1] for found in table.below(verb["name"])]
        yield f"    \"{verb['name']}\")"
        yield f"      if [[ $cur == -* ]]; then\n        {bash_reply(names)}"
        if below:
            yield f"      else\n        {bash_reply(below)}"
        yield "      fi ;;"
    yield "  esac"
    yield "}"
    yield "complete -o bashdefault -o default -F _assay assay"


def bash_reply(words):
    return f"mapfile -t COMPREPLY < <(compgen -W \"{' '.join(words)}\" -- \"$cur\")"


# ---------------------------------------------------------------- zsh


def zsh_text(text):
    text = first_sentence(text).replace("\\", "").replace("'", "’")
    return text.replace("[", "(").replace("]", ")").replace(":", "\\:")


def zsh_specs(verb):
    for option in verb["options"]:
        action = f"({' '.join(option['words'])})" if option.get("words") else "_files"
        for name in option["names"]:
            tail = ""
            equals = "=" if name.startswith("--") else "+"
            if option.get("value_optional"):
                equals, tail = "=-", f"::{zsh_text(option['value'])}:{action}"
            elif takes_value(option):
                tail = f":{zsh_text(option['value'])}:{action}"
            else:
                equals = ""
            star = "*" if option.get("repeatable") else ""
            yield f"'{star}{name}{equals}[{zsh_text(option['sentence'])}]{tail}'"


def zsh(table):
    yield "#compdef assay"
    yield "# made from assay's table of options (tools/option_table.py)"
    yield "_assay() {\n  local -a verbs\n  local verb= word"
    yield "  for word in \"${(@)words[2,CURRENT-1]}\"; do"
    yield "    case \"$verb $word\" in"
    for verb in table.verbs:
        above, _, last = verb["name"].rpartition(" ")
        yield f"      \"{above} {last}\") verb=\"{verb['name']}\" ;;"
    yield "    esac\n  done\n  case \"$verb\" in"
    for verb in [table.program, *table.verbs]:
        yield f"    \"{verb['name']}\")"
        below = table.below(verb["name"])
        if below:
            yield "      verbs=("
            for found in below:
                yield f"        '{found['name'].split()[-1]}:{zsh_text(found['sentence'])}'"
            yield "      )"
            yield "      if [[ $PREFIX != -* ]]; then _describe verb verbs; return; fi"
        yield "      _arguments -S \\"
        for spec in zsh_specs(verb):
            yield f"        {spec} \\"
        yield "        '*:file:_files' ;;"
    yield "  esac\n}\n_assay \"$@\""


# ---------------------------------------------------------------- fish


def fish_text(text):
    return "'" + first_sentence(text).replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(table):
    yield "# made from assay's table of options (tools/option_table.py)"
    yield "function __assay_verb"
    yield "  set -l verb ''"
    yield "  for word in (commandline -opc)[2..-1]"
    yield "    switch \"$verb $word\""
    for verb in table.verbs:
        above, _, last = verb["name"].rpartition(" ")
        yield f"      case '{above} {last}'\n        set verb '{verb['name']}'"
    yield "    end\n  end\n  test \"$verb\" = \"$argv\"\nend"
    for verb in [table.program, *table.verbs]:
        here = f"complete -c assay -n '__assay_verb {verb['name']}'" if verb["name"] else (
            "complete -c assay -n '__assay_verb'"
        )
        for below in table.below(verb["name"]):
            yield f"{here} -f -a {below['name'].split()[-1]} -d {fish_text(below['sentence'])}"
        for option in verb["options"]:
            yield f"{here} {fish_option(option)} -d {fish_text(option['sentence'])}"


def fish_option(option):
    parts = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option["names"]]
    if option.get("words"):
        parts.append(f"-x -a '{' '.join(option['words'])}'")
    elif takes_value(option):
        parts.append("-r")
    return " ".join(parts)


# ---------------------------------------------------------------- Markdown


def md_text(text):
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def md(table):
    yield "# Verbs and options\n"
    yield "Made by `tools/option_table.py` from what `assay options` prints; the manual page and"
    yield "the completions of bash, zsh and fish come from the same table.\n"
    yield md_text(table.program["sentence"][0].upper() + table.program["sentence"][1:]) + "\n"
    yield "| verb | what it does |\n|---|---|"
    for verb in table.verbs:
        anchor = "assay-" + verb["name"].replace(" ", "-")
        yield f"| [{verb['name']}](#{anchor}) | {md_text(verb['sentence'])} |"
    for verb in table.verbs:
        yield f"\n## assay {verb['name']}\n\n{md_text(closed(verb['sentence']))}\n"
        for example in verb.get("examples", []):
            yield f"    {example}"
        if verb.get("examples"):
            yield ""
        yield f"Usage: `{usage_of(verb, table)}`\n" if verb.get("examples") else f"    {usage_of(verb, table)}\n"
        yield "| option | |\n|---|---|"
        for option in [*verb["inputs"], *verb["options"]]:
            names = ", ".join(option["names"]) + value_of(option)
            text = " ".join(map(md_text, [closed(option["sentence"]), *remarks(option)]))
            yield f"| `{names}` | {text} |"
        if verb.get("footer"):
            yield "\n" + md_text(verb["footer"])
    yield "\n" + "\n\n".join(md_text(line) for line in table.program["footer"].splitlines())


WRITERS = {"man": man, "bash": bash, "zsh": zsh, "fish": fish, "md": md}


def write(kind, table_text):
    return "\n".join(WRITERS[kind](Table(table_text))) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", nargs="?", choices=WRITERS)
    parser.add_argument("--assay", help="the binary to ask, instead of standard input")
    parser.add_argument("--check", metavar="FILE", help="fail unless this Markdown is up to date")
    parser.add_argument("--output-folder", help="write assay.1, assay.bash, _assay, assay.fish")
    arguments = parser.parse_args()
    if arguments.assay:
        asked = [arguments.assay, "options", "--format", "json"]
        text = subprocess.run(asked, capture_output=True, check=True).stdout.decode()
    else:
        text = sys.stdin.read()
    if arguments.check:
        with open(arguments.check, encoding="utf-8") as file:
            if file.read() == write("md", text):
                return
        raise SystemExit(
            f"{arguments.check} is out of date: assay options | tools/option_table.py md > it"
        )
    if arguments.output_folder:
        names = {"man": "assay.1", "bash": "assay.bash", "zsh": "_assay", "fish": "assay.fish"}
        for kind, name in names.items():
            with open(f"{arguments.output_folder}/{name}", "w", encoding="utf-8") as file:
                file.write(write(kind, text))
        return
    if not arguments.kind:
        parser.error("what to write: " + ", ".join(WRITERS))
    sys.stdout.write(write(arguments.kind, text))


if __name__ == "__main__":
    main()
