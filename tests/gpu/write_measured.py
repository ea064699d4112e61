#!/usr/bin/env python3
"""Turns the folder of a campaign (tests/gpu/campaign.sh) into a page of docs/measured/.

    tests/gpu/write_measured.py DIR [--to docs/measured]

Writes TO/DATE-GPU.md: the machine, every figure beside the paper's, the two tracers against each
other, latencies, the decomposition of every trace, and the steps that failed."""

import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def cell(value, unit=""):
    if value is None:
        return "not measured"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if value != int(value) or abs(value) < 100:
            value = f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}"
        else:
            value = f"{value:.0f}"
    # A | would end the cell.
    return f"{value} {unit}".strip().replace("|", "\\|")


def table(head, rows):
    if not rows:
        return []
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def paper(row):
    if row["paper_low"] == row["paper_high"]:
        return str(row["paper_low"])
    return f"{row['paper_low']} to {row['paper_high']}"


def figure_rows(figures):
    rows = []
    for row in figures:
        note = f" ({row['note']})" if row.get("note") else ""
        rows.append([row["figure"] + note, cell(row["value"], row["unit"]), paper(row),
                     cell(row.get("ratio")) if "ratio" in row else "", row["source"]])
    return rows


def milliseconds(value):
    return "" if value is None else f"{value / 1e6:.2f}"


def overhead_rows(results):
    rows = []
    for name, row in (results.get("overhead") or {}).items():
        if "failed" in row:
            rows.append([name, "failed", "", "", "", ""])
            continue
        rows.append([name, cell(row.get("n")), milliseconds(row.get("t_orch_ns")), milliseconds(row.get("t_device_ns")),
                     cell(row.get("hdbi")), milliseconds(row.get("t_e2e_ns"))])
    return rows


def operator_lines(results):
    """What `assay record --torch` saw, beside PyTorch's profiler."""
    told = results.get("operators")
    if told is None:
        return []
    rows = [["`assay record --torch`", cell(told["kinds"]), cell(float(told["operators"]))]]
    if "profiler_kinds" in told:
        rows.append(["PyTorch's profiler", cell(told["profiler_kinds"]), cell(float(told["profiler_operators"]))])
    lines = ["## Operators of an iteration", ""] + table(["seen by", "kinds", "operators"], rows)
    if told["agree"] is None:
        return lines + ["PyTorch's profiler was not asked.", ""]
    if told["agree"]:
        return lines + ["Each kind is seen as often by both.", ""]
    return lines + table(["seen otherwise", "recorded", "by the profiler"],
                         [[cell(name), cell(float(ours)), cell(float(theirs))]
                          for name, (ours, theirs) in told["different"].items()])


def page(document):
    results = document["results"]
    machine = results.get("machine") or {}
    gpu = machine.get("gpu") or "unknown GPU"
    lines = [f"# {gpu}, {document['date']}", "",
             "Made by `tests/gpu/write_measured.py` from what `tests/gpu/campaign.sh` measured; models have random "
             "weights. \"Paper\" is the figure of the source named beside it, on that paper's machine: another host "
             "CPU alone moves T_Orch by 10 to 29 % (TaxBreak, section VI).", ""]
    lines += table(["machine", ""], [[key, cell(value)] for key, value in machine.items() if value is not None])
    lines += ["## Figures", ""]
    lines += table(["figure", "measured", "paper", "ratio", "source"], figure_rows(document["figures"]))
    lines += operator_lines(results)
    lines += ["## The last iteration of every trace", ""]
    lines += table(["trace", "kernels", "T_Orch (ms)", "T_DeviceActive (ms)", "HDBI", "wall (ms)"], overhead_rows(results))
    lines += ["## Latency without a tracer", ""]
    lines += table(["run", "median (ms)"], [[name, f"{value:.3f}"]
                                            for name, value in (results.get("latency_p50_ms") or {}).items()])
    lines += ["## Steps", ""]
    lines += table(["step", "status", "seconds", "why"],
                   [[row["step"], row["status"], cell(row["seconds"]), cell(row.get("why", ""))]
                    for row in document["steps"]])
    return gpu, "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--to", type=pathlib.Path, default=ROOT / "docs/measured")
    args = parser.parse_args()
    try:
        document = json.loads((args.folder / "campaign.json").read_text())
        gpu, text = page(document)
    except (OSError, ValueError, KeyError) as error:
        print(f"{args.folder}: no campaign to write up ({type(error).__name__}: {error})", file=sys.stderr)
        return 2
    target = args.to / f"{document['date']}-{re.sub('[^a-z0-9]+', '-', gpu.lower()).strip('-')}.md"
    target.write_text(text, encoding="utf-8")
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
