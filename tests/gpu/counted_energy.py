"""What `assay power attribute` tells of a job from readings alone, beside what the GPU's own energy counter says."""

import json
import subprocess


def without_counter(log, path):
    """The log of `assay sample` with its column of joules emptied."""
    lines = log.read_text().splitlines()
    at = next(line for line in lines if line.startswith("t_ns")).split(",").index("energy_j")
    kept = []
    for line in lines:
        cells = line.split(",")
        if not line.startswith(("#", "t_ns")) and len(cells) > at:
            cells[at] = ""
        kept.append(",".join(cells))
    path.write_text("\n".join(kept) + "\n")
    return path


def attributed(assay, trace, log, env=None):
    done = subprocess.run([assay, "power", "attribute", trace, "--samples", log, "--format", "json"], capture_output=True, text=True,
                          check=True, env=env)
    return json.loads(done.stdout)["energy"]


# The counter shows what was drawn up to one of its updates later: energies are compared over a span that a quiet GPU begins
# and ends.
BEFORE_S, BEHIND_S = 0.05, 0.35


def column_of(log, name):
    """(seconds since 1970, value) of the rows that have one."""
    lines = [line.split(",") for line in log.read_text().splitlines() if not line.startswith("#")]
    at = {name: index for index, name in enumerate(lines[0])}
    return [(int(cells[at["t_ns"]]) * 1e-9, float(cells[at[name]])) for cells in lines[1:] if cells[at[name]]]


def counter_of(log):
    """Joules at each of the counter's changes."""
    rows = column_of(log, "energy_j")
    return [row for before, row in zip([(0, None), *rows], rows) if row[1] != before[1]]


def quiet_w(log, end_s):
    """What the readings show once the job is behind them."""
    quiet = [watts for at, watts in column_of(log, "power_w") if end_s + BEHIND_S / 2 <= at <= end_s + BEHIND_S]
    return sum(quiet) / len(quiet) if quiet else None


def counted_at(changes, seconds):
    """Joules then, on the line between two changes; None outside of them."""
    for (begin, low), (end, high) in zip(changes, changes[1:]):
        if begin <= seconds < end:
            return low + (high - low) * (seconds - begin) / (end - begin)
    return None


def compared(assay, trace, log, emptied, env=None):
    """told_j, low_j and high_j from readings alone; counted_j: the counter's growth over the trace and a little more, less what
    the readings behind the job show, for the time that the model is not asked about. None where the log does not reach so far, or where
    the counter is no column of it."""
    told, changes = attributed(assay, trace, emptied, env), counter_of(log)
    done = subprocess.run([assay, "info", trace, "--format", "json"], capture_output=True, text=True, check=True, env=env)
    times = json.loads(done.stdout)["times"]
    begin_s, end_s = times["first_ns"] * 1e-9 - BEFORE_S, times["last_ns"] * 1e-9 + BEHIND_S
    first, last = counted_at(changes, begin_s), counted_at(changes, end_s)
    idle_w = quiet_w(log, times["last_ns"] * 1e-9)
    if told["counter_j"] is not None or first is None or last is None or idle_w is None:
        return None
    quiet_s = end_s - begin_s - told["covered_ns"] * 1e-9
    return {"told_j": told["model_total_j"], "low_j": told["model_low_j"], "high_j": told["model_high_j"],
            "counted_j": last - first - idle_w * quiet_s}
