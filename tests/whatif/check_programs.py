#!/usr/bin/env python3
"""Random programs (simulator.py) against `assay whatif`: what it says an edit gives, and what the program gains when
it runs with that edit. Where evidence was withheld, gains must be refused or lie in what was told.

  check_programs.py --assay BINARY [--programs 300] [--first 1] [--list] [--json FILE]
"""

import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import simulator

EDITS = ["sync", "input", "alloc", "faster_cpu=1.5", "kernel:kernel_1=0.5", "kernel:kernel_0=0.25", "copies",
         "op:aten::op2=0.5", "cuda_graph", "fuse:head+tail"]
TOGETHER = ["sync", "input", "faster_cpu=1.5", "kernel:kernel_1=0.5"]
WITHIN = 0.02          # of the truth
OF_RUN = 0.001         # or of the run, where the truth is next to nothing
BATCH = 40
# Share of answers that must be right; what is wrong: docs/measured/whatif.md.
# Waits of these programs order streams that need no order; what-if keeps the order of waits (flow/host_order.h).
LEAST = {"complete": 0.985, "withheld": 0.99}


def told_by(assay, paths, edits):
    """Per trace the part of assay's answer that is about it."""
    command = [assay, "whatif", *map(str, paths), "--format", "json", "--threads", "1"]
    for edit in edits:
        command += ["--edit", edit]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:3])} ...: exit {done.returncode}: {done.stderr.strip()[-300:]}")
    answer = json.loads(done.stdout)
    parts = answer["ranks"] if len(paths) > 1 else [answer]
    return [part["whatif"] for part in parts]


def truth_refuses(edit, program, recorded):
    """Why an edit cannot be tried on this program, by its own rules."""
    if edit == "cuda_graph":
        if len(recorded.steps) < 2:
            return "few_iterations"
        if len(simulator.graph_stretches(recorded)) < 2:
            return "not_capturable"
        return "varies" if simulator.same_kernels(recorded) < 0.8 else ""
    if edit.startswith("fuse:"):
        names = edit[5:].split("+")
        if not simulator.chains(names, recorded):
            return "nothing"
        return "" if simulator.chain_is_sure(names, recorded) else "chain_varies"
    return None


class Tally:
    def __init__(self):
        self.rows = collections.defaultdict(lambda: collections.Counter())
        self.errors = collections.defaultdict(list)
        self.problems = []
        self.widths = []   # of the run: from run_low_ns to run_high_ns, per gain told with all evidence

    def add(self, kind, edit, verdict, error=None, what=""):
        self.rows[(kind, edit)][verdict] += 1
        if error is not None:
            self.errors[(kind, edit)].append(error)
        if verdict in ("wrong", "not refused", "wrong reason"):
            self.problems.append(f"{kind} {edit}: {verdict}: {what}")


def judge(told, truth, makespan):
    error = told - truth
    return abs(error) <= max(WITHIN * abs(truth), OF_RUN * makespan), error / makespan


def between(gain, truth, makespan):
    """Where the recording does not tell a usual time, a gain lies between two."""
    within = max(WITHIN * abs(truth), OF_RUN * makespan)
    return "bracketed" if gain["run_low_ns"] - within <= truth <= gain["run_high_ns"] + within else "wrong"


def check_complete(tally, seed, program, recorded, answer):
    if answer["identity"]["replay_mismatches"]:
        tally.add("complete", "identity", "wrong", what=f"seed {seed}: {answer['identity']}")
        return
    if answer["identity"]["recorded_ns"] != recorded.work_end - min(first_times(recorded)):
        tally.add("complete", "run", "wrong", what=f"seed {seed}: {answer['identity']} is {recorded.work_end}")
    levers = {lever["name"]: lever for lever in answer["actions"]}
    listed = 0
    for edit in EDITS:
        lever, refuses = levers[edit], truth_refuses(edit, program, recorded)
        listed += lever["cumulative_gain_ns"] or 0
        if lever["refused"]:
            if lever["refused"] in ("model_error", "unexplained", "unlinked", "cold"):
                tally.add("complete", edit, "run refused")
            elif refuses is None:                      # nothing of that kind: then it gives nothing
                gain = recorded.work_end - simulator.Run(program, [edit], recorded).work_end
                tally.add("complete", edit, "nothing" if gain == 0 else "wrong", what=f"seed {seed}: gives {gain}")
            else:
                tally.add("complete", edit, "refused" if refuses else "wrong reason", what=f"seed {seed}: {lever['refused']}")
            continue
        if refuses:
            tally.add("complete", edit, "not refused", what=f"seed {seed}: {refuses}")
            continue
        truth = recorded.work_end - simulator.Run(program, [edit], recorded).work_end
        right, error = judge(lever["run_gain_ns"], truth, recorded.makespan)
        tally.widths.append((lever["run_high_ns"] - lever["run_low_ns"]) / recorded.makespan)
        tally.add("complete", edit, "right" if right else between(lever, truth, recorded.makespan), error,
                  f"seed {seed}: told {lever['run_gain_ns']}, is {truth} of {recorded.makespan}")
    if not answer["joint"]["refused"] and listed != answer["joint"]["run_gain_ns"]:
        tally.add("complete", "list", "wrong", what=f"seed {seed}: {listed} is not the joint gain")


def check_together(tally, seed, program, recorded, answer):
    if answer["joint"]["refused"]:
        tally.add("complete", "together", "run refused")
        return
    edits = [lever["name"] for lever in answer["actions"] if not lever["refused"]]
    truth = recorded.work_end - simulator.Run(program, edits, recorded).work_end if edits else 0
    right, error = judge(answer["joint"]["run_gain_ns"], truth, recorded.makespan)
    verdict = "right" if right else between(answer["joint"], truth, recorded.makespan)
    tally.add("complete", "together", verdict, error,
              f"seed {seed}: told {answer['joint']['run_gain_ns']}, is {truth} of {recorded.makespan}")


def first_times(run):
    return [row[3] for row in run.rows] + [call["begin"] for call in run.calls.values()]


# ---- withheld evidence ---------------------------------------------------------------------------


def withhold(program, recorded):
    """A rule that hides rows, and its name."""
    rng = random.Random(program.seed)
    kind = rng.choice(["half of the launch calls", "a stream", "waits of streams"])
    if kind == "half of the launch calls":
        gone = {i for i in recorded.works if rng.random() < 0.5}
        return kind, lambda what, i: what == "call" and i in gone
    if kind == "a stream":
        used = collections.Counter(w["stream"] for w in recorded.works.values())
        stream = max(used, key=lambda s: (s > 0, used[s]))
        return kind, lambda what, i: what in ("work", "call") and i in recorded.works and recorded.works[i]["stream"] == stream
    return kind, lambda what, i: what == "wait"


def check_withheld(tally, seed, kind, program, recorded, answer):
    """Refused, or the truth lies in what was told: at most so much, give or take 2 %."""
    if kind == "half of the launch calls" and len(recorded.works) > 20:
        refused = answer["joint"]["refused"] == "unlinked"
        tally.add("withheld", kind, "refused" if refused else "not refused", what=f"seed {seed}: {answer['joint']}")
        return
    for lever in answer["actions"]:
        if lever["refused"]:
            tally.add("withheld", kind, "refused")
            continue
        if lever["name"] in ("cuda_graph", "fuse:head+tail"):
            continue                                   # what is hidden is no part of the graph either
        truth = recorded.work_end - simulator.Run(program, [lever["name"]], recorded).work_end
        right, error = judge(lever["run_gain_ns"], truth, recorded.makespan)
        above = lever["run_gain_ns"] >= truth
        verdict = "right" if right else "bracketed" if above else between(lever, truth, recorded.makespan)
        tally.add("withheld", kind, verdict, error,
                  f"seed {seed} {lever['name']}: told {lever['run_gain_ns']}, is {truth} of {recorded.makespan}")


# ---- running -------------------------------------------------------------------------------------


def batches(first, programs):
    for begin in range(first, first + programs, BATCH):
        yield list(range(begin, min(begin + BATCH, first + programs)))


def check(assay, first, programs, tally):
    with tempfile.TemporaryDirectory() as scratch:
        for seeds in batches(first, programs):
            runs, full, less = [], [], []
            for seed in seeds:
                program = simulator.Program(seed)
                recorded = simulator.Run(program)
                kind, hide = withhold(program, recorded)
                runs.append((seed, program, recorded, kind))
                for paths, rule, name in ((full, None, "full"), (less, hide, "less")):
                    path = pathlib.Path(scratch) / f"{name}_{seed}.json"
                    path.write_text(simulator.trace_of(recorded, rule) if rule else simulator.trace_of(recorded))
                    paths.append(path)
            alone, together, withheld = (told_by(assay, full, EDITS), told_by(assay, full, TOGETHER),
                                         told_by(assay, less, EDITS))
            for (seed, program, recorded, kind), a, b, c in zip(runs, alone, together, withheld):
                check_complete(tally, seed, program, recorded, a)
                check_together(tally, seed, program, recorded, b)
                check_withheld(tally, seed, kind, program, recorded, c)
            for path in full + less:
                path.unlink()


def width_of(tally):
    wide = sorted(width for width in tally.widths if width > 0)
    at = lambda share: wide[int(share * (len(wide) - 1))] if wide else 0
    told = len(tally.widths)
    return {"told": told, "open": len(wide) / told if told else 0, "median": at(0.5), "p95": at(0.95)}


def rights(tally, kind):
    good = bad = 0
    for (of, _), counts in tally.rows.items():
        if of == kind:
            wrong = counts["wrong"] + counts["not refused"] + counts["wrong reason"]
            bad += wrong
            good += sum(counts.values()) - wrong
    return good, bad


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--assay", required=True)
    options.add_argument("--programs", type=int, default=300)
    options.add_argument("--first", type=int, default=1)
    options.add_argument("--list", action="store_true")
    options.add_argument("--json")
    options = options.parse_args()
    tally = Tally()
    check(options.assay, options.first, options.programs, tally)
    for (kind, edit), counts in sorted(tally.rows.items()):
        errors = sorted(map(abs, tally.errors[(kind, edit)]))
        p95 = f", 95 % within {100 * errors[int(0.95 * (len(errors) - 1))]:.3f} % of the run" if errors else ""
        print(f"{kind:9} {edit:26} " + ", ".join(f"{n} {v}" for v, n in sorted(counts.items())) + p95)
    print("gains that lie between two: {open:.1%} of {told:,}, {median:.2%} of the run apart in the middle, {p95:.2%} in 95 %"
          .format(**width_of(tally)))
    if options.list:
        print("\n".join(tally.problems))
    if options.json:
        rows = [{"evidence": k, "edit": e, **counts} for (k, e), counts in sorted(tally.rows.items())]
        answer = {"programs": options.programs, "first": options.first, "rows": rows, "widths": width_of(tally)}
        pathlib.Path(options.json).write_text(json.dumps(answer))
    failed = False
    for kind, least in LEAST.items():
        good, bad = rights(tally, kind)
        share = good / (good + bad) if good + bad else 1
        print(f"{kind}: {good} of {good + bad} right ({100 * share:.2f} %)")
        failed |= share < least
    sys.exit(failed)


if __name__ == "__main__":
    main()
