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


def compared(assay, trace, log, emptied, env=None):
    """told_j, low_j and high_j from readings alone; counted_j: the counter's growth, brought to the span that the model is
    asked about, since it begins and ends with updates of its own. None where the counter was not used, or seen without its column."""
    told, checked = attributed(assay, trace, emptied, env), attributed(assay, trace, log, env)
    if told["counter_j"] is not None or not checked["counter_used"]:
        return None
    counted = checked["counter_j"] * checked["model_total_j"] / checked["counter_modelled_j"]
    return {"told_j": told["model_total_j"], "low_j": told["model_low_j"], "high_j": told["model_high_j"], "counted_j": counted}
