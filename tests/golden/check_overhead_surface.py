#!/usr/bin/env python3
"""Checks exports, replays, floors, sweeps and refusals of `assay overhead`.

A kernel database is exported from a real trace and replayed with known times, so that the measured sums follow from the
database alone. Every error must exit with 2, name its reason and leave no file.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import datasets

TRACE = datasets.IN_REPOSITORY / "kineto/llm/mi300_bert_small.json.gz"
OTHER = datasets.IN_REPOSITORY / "kineto/hta/a100_alexnet_critical_path.json.gz"
FLOOR_NS, LAUNCH_NS, RUNS = 4600, 5000, 10


def stats(mean):
    return {"n": RUNS, "mean_ns": mean, "std_ns": 0,
            **{f"{q}_ns": mean for q in ("min", "p5", "p50", "p95", "max")}}


def floor_file(gpu):
    return {"kind": "assay-floor", "schema_version": 1, "tracer": "nsys", "warmups": 5, "runs": RUNS,
            "gpus": [{"name": gpu, "launch": stats(FLOOR_NS), "duration": stats(1000)}]}


def dispatch_ns(number):
    return 6000 + 500 * number


def replay_file(database):
    entries = [{"key": e["key"], "status": "ok", "ranges": RUNS, "candidates": [
        {"name": e["raw_name"], "grid": e["grid"], "block": e["block"],
         "shared_memory_bytes": e["shared_memory_bytes"], "registers": e["registers"], "count": RUNS,
         "dispatch": stats(dispatch_ns(i)), "launch": stats(LAUNCH_NS), "duration": stats(2000)}]}
        for i, e in enumerate(database["entries"])]
    return {"kind": "assay-replay", "schema_version": 1, "tracer": "nsys", "warmups": 5, "runs": RUNS,
            "gpu": {"name": database["gpu"]["name"]}, "entries": entries}


def rounded(value):
    return int(value + 0.5)


def expected(database):
    """Eq. 1 to 8 over the database, in paper mode."""
    rows = list(enumerate(database["entries"]))
    base = rounded(statistics.median(dispatch_ns(i) for i, e in rows if not e["i_lib"]))
    paid = {i: e["frequency"] - e["unpaid"] for i, e in rows}
    t_py = sum(paid[i] * rounded(e["t_py"]["mean_ns"] * e["t_py"]["n"] / paid[i])
               for i, e in rows if e["t_py"]["n"])
    ft = t_py + base * sum(paid.values())
    ct = sum(paid[i] * max(0, dispatch_ns(i) - base) for i, e in rows if e["i_lib"])
    kt = database["launches"] * FLOOR_NS
    return {"dispatch_base_ns": base, "t_py_ns": t_py, "ft_ns": ft, "ct_ns": ct, "kt_ns": kt,
            "t_orch_ns": ft + ct + kt, "kt_fw_ns": sum(paid.values()) * (LAUNCH_NS - FLOOR_NS)}


class Checker:
    def __init__(self, assay, folder):
        self.assay, self.folder, self.problems = assay, folder, []

    def run(self, *arguments):
        return subprocess.run([self.assay, *map(str, arguments)], capture_output=True, text=True, timeout=600,
                              check=False)

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def check(self, fine, what):
        if not fine:
            self.problems.append(what)

    def refuses(self, reason, *arguments):
        done = self.run(*arguments)
        self.check(done.returncode == 2 and reason in done.stderr and not done.stdout,
                   f"assay {' '.join(map(str, arguments))}: wanted exit code 2 and '{reason}', "
                   f"got {done.returncode}: {done.stderr.strip()[:200]}")


def check_measured(checker):
    path = checker.folder / "db.json"
    done = checker.run("overhead", TRACE, "--export-kernel-db", path)
    checker.check(done.returncode == 0, f"export: {done.stderr}")
    checker.check([p.name for p in checker.folder.iterdir()] == ["db.json"], "the export left other files")
    database = json.loads(path.read_text())
    replay = checker.write("replay.json", replay_file(database))
    floor = checker.write("floor.json", floor_file(database["gpu"]["name"]))
    done = checker.run("overhead", TRACE, "--replay", replay, "--floor", floor, "--format", "json")
    checker.check(done.returncode == 0, f"replay: {done.stderr}")
    overhead = json.loads(done.stdout)["host_overhead"]
    for key, value in expected(database).items():
        checker.check(overhead["measured"][key] == value, f"measured {key}: {overhead['measured'][key]}, not {value}")
    checker.check(overhead["floor"]["floor_ns"] == FLOOR_NS and overhead["floor"]["source"] == "measured", "floor.json is not used")
    checker.check(sum(f["measured_t_orch_ns"] for f in overhead["measured_families"]) == overhead["measured"]["t_orch_ns"],
                  "measured families do not add up")
    for verb in ("launch", "report", "fusion", "sweep"):
        done = checker.run(verb, TRACE, "--floor", floor, "--format", "json")
        checker.check(done.returncode == 0, f"{verb} --floor floor.json: {done.stderr}")
    check_kernels(checker, database)
    return database, replay, floor


def check_kernels(checker, database):
    """The table of the most expensive kernels agrees with the database."""
    overhead = json.loads(checker.run("overhead", TRACE, "--top", "0", "--mode", "paper", "--floor", str(FLOOR_NS), "--format",
                                 "json").stdout)["host_overhead"]
    entries = {entry["key"]: entry for entry in database["entries"]}
    checker.check(len(overhead["kernels"]) == len(entries), "--top 0 does not list every unique kernel")
    base, floor = overhead["dispatch_base_ns"], overhead["floor"]["floor_ns"]
    for kernel in overhead["kernels"]:
        entry = entries[kernel["db_key"]]
        means = {name: rounded(entry[name]["mean_ns"]) for name in ("t_py", "t_dispatch", "t_launch")}
        excess = max(0, means["t_dispatch"] - base) if entry["i_lib"] else 0
        charged = (entry["frequency"] - entry["unpaid"]) * (means["t_py"] + base + excess + floor)
        checker.check(all(kernel[f"{name}_mean_ns"] == mean for name, mean in means.items())
                      and kernel["dur_mean_ns"] == rounded(entry["duration"]["mean_ns"])
                      and kernel["count"] == entry["frequency"] and kernel["t_orch_ns"] == charged,
                      f"kernels: {kernel} does not say what the database says")


def check_refusals(checker, database, replay, floor):
    unrelated = {**replay_file(database), "gpu": {"name": gpu_of(checker, OTHER) or "any"}}
    checker.refuses("keys of 0 of", "overhead", OTHER, "--replay", checker.write("unrelated.json", unrelated))
    checker.refuses("measured on NVIDIA T4", "overhead", TRACE, "--floor", checker.write("t4.json", floor_file("NVIDIA T4")))
    done = checker.run("overhead", TRACE, "--floor", "DGX-H100", "--format", "json")
    checker.check("published for DGX-H100" in done.stdout, "a platform named in full is another one")
    checker.check(("floor_gpu" in done.stdout) == ("H100" not in database["gpu"]["name"]),
                  f"--floor DGX-H100 on {database['gpu']['name']}")
    other_tracer = {**floor_file(database["gpu"]["name"]), "tracer": "cupti"}
    checker.refuses("their difference would be one of tracers", "overhead", TRACE, "--replay", replay, "--floor",
                    checker.write("cupti.json", other_tracer))
    checker.refuses("schema_version 9", "overhead", TRACE, "--floor",
                    checker.write("v9.json", {**floor_file("x"), "schema_version": 9}))
    checker.refuses("this is a floor file, no replay file", "overhead", TRACE, "--replay", floor)
    checker.refuses("leave out --mode exclusive", "overhead", TRACE, "--replay", replay, "--mode", "exclusive")
    checker.refuses("cut off", "overhead", TRACE, "--replay", checker.write("cut.json", replay.read_text()[:500]))
    checker.refuses("cannot write", "overhead", TRACE, "--export-kernel-db", checker.folder / "no/db.json")
    checker.refuses("is an input", "overhead", TRACE, "--export-kernel-db", TRACE)
    checker.refuses("for one trace", "overhead", TRACE, OTHER, "--replay", replay)
    checker.refuses("SIZE=TRACE", "overhead", "--batch", TRACE)
    checker.refuses("neither a batch size", "overhead", "--batch", f"b8={TRACE}")
    checker.refuses("there already", "overhead", "--batch", f"8={TRACE}", "--batch", f"8={TRACE}")
    checker.refuses("line 1", "overhead", TRACE, "--kernels", checker.write("kernels.txt", "what is this\n"))
    checker.refuses("neither nanoseconds, nor a file of assay null-kernel", "overhead", TRACE, "--floor", "abacus")


def gpu_of(checker, trace):
    path = checker.folder / "other_db.json"
    checker.run("overhead", trace, "--export-kernel-db", path)
    return json.loads(path.read_text())["gpu"]["name"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(parser.parse_args().assay.resolve(), pathlib.Path(folder))
        check_refusals(checker, *check_measured(checker))
    for problem in checker.problems:
        print(problem)
    if not checker.problems:
        print("overhead: exports, replays, floors and refusals are fine")
    return 1 if checker.problems else 0


if __name__ == "__main__":
    sys.exit(main())
