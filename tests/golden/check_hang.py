#!/usr/bin/env python3
"""`assay hang`: synthetic jobs that hang, with known truth, and recorded ones with injected faults.

    check_hang.py --assay build/release/assay [--seeds 1-150] [--recorded FOLDER]

A job is simulated: hosts run ahead of their devices, a device starts a collective when all members have requested the
same one, and one fault stops it. Jobs have tensor, data, expert and pipeline groups, ring buffers that lose entries,
and dumps as pickles of protocol 2 to 5 or as JSON, compressed or not.
"""

import argparse
import gzip
import json
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile

import datasets

RECORDED = datasets.ROOT / "tests/data/flight"
TRUTH = {"gpu_error_1st": [12, 14], "gpu_error_2nd": [9, 14], "lock_gil_1st": [9, 14], "lock_gil_2nd": [10, 15]}
FAULTS = ["host", "hosts", "device", "devices", "silent", "absent", "operation", "size", "type", "order", "recv", "none"]
REASONS = {"host": "never_requested", "hosts": "never_requested", "device": "device", "devices": "device", "silent": "silent",
           "absent": "no_dump", "operation": "operation", "size": "size", "type": "type", "recv": "never_requested"}


class Job:
    """Ranks 0 to n-1 as stages of tensor groups; all ranks run the program of one iteration."""

    def __init__(self, seed):
        r = self.random = random.Random(seed)
        self.fault = FAULTS[seed % len(FAULTS)]
        self.tensor = r.choice([2, 3, 4, 8])
        self.stages = r.choice([1, 2]) if self.fault not in ("recv", "order") else (2 if self.fault == "recv" else 1)
        self.data = r.choice([2, 3, 5, 6])
        self.n = self.tensor * self.stages * self.data
        self.groups, self.of = {}, {}
        self.add("default_pg", [list(range(self.n))])
        at = lambda d, s, t: (d * self.stages + s) * self.tensor + t
        D, S, T = range(self.data), range(self.stages), range(self.tensor)
        self.add("TENSOR_PARALLEL_GROUP", [[at(d, s, t) for t in T] for d in D for s in S])
        self.add("DATA_PARALLEL_GROUP", [[at(d, s, t) for d in D] for s in S for t in T])
        if self.stages > 1:
            self.add("PIPELINE_PARALLEL_GROUP", [[at(d, s, t) for s in S] for d in D for t in T])
        self.bad = sorted(r.sample(range(self.n), 2 if self.fault in ("hosts", "devices") else 1))
        if self.fault == "recv":  # a receiver: a rank of the second stage
            self.bad = [at(r.randrange(self.data), 1, r.randrange(self.tensor))]
        self.stop = r.randrange(20, 90)
        self.ahead = r.choice([1, 3, 8, 15])
        self.ring = r.choice([self.ahead + 12, 60, 1000])

    def add(self, name, all_members):
        for members in all_members:
            number = str(len(self.groups))
            self.groups[number] = (name, members)
            for rank in members:
                self.of[rank, name] = number

    def program(self, rank):
        """Calls of one iteration: (group, call, sizes, type)."""
        calls = [("TENSOR_PARALLEL_GROUP", "all_reduce", [[512, 1024]], "BFloat16"),
                 ("TENSOR_PARALLEL_GROUP", "_all_gather_base", [[64, 1024]], "BFloat16"),
                 ("TENSOR_PARALLEL_GROUP", "all_reduce", [[512, 1024]], "BFloat16")]
        if self.stages > 1:
            stage = (rank // self.tensor) % self.stages
            calls.append(("PIPELINE_PARALLEL_GROUP", "send 0->1" if stage == 0 else "recv 0<-1", [[512, 1024]], "BFloat16"))
        return calls + [("DATA_PARALLEL_GROUP", "_reduce_scatter_base", [[4096, 512]], "Float"),
                        ("default_pg", "all_reduce", [[1]], "Float")]

    def call(self, rank, i):
        """The i-th call of a rank; None if it never reaches it."""
        calls = self.program(rank)
        group, name, sizes, dtype = calls[i % len(calls)]
        name = name.replace("recv 0<-1", "recv 0->1")
        if rank in self.bad and i >= self.stop:
            if self.fault in ("host", "hosts", "silent", "absent"):
                return None
            # The first collective from there on, because a mismatch needs one.
            wrong = next(k for k in range(self.stop, self.stop + 20) if " " not in calls[k % len(calls)][1])
            if self.fault == "recv":
                first = next(k for k in range(self.stop, self.stop + 20) if " " in calls[k % len(calls)][1])
                return None if i >= first else (group, name, sizes, dtype)
            if self.fault == "order" and i in (self.stop, self.stop + 1):
                group, name, sizes, dtype = calls[(2 * self.stop + 1 - i) % len(calls)]
            if i == wrong and self.fault == "operation":
                name = "broadcast"
            if i == wrong and self.fault == "size":
                sizes = [[sizes[0][0] + 8, *sizes[0][1:]]]
            if i == wrong and self.fault == "type":
                dtype = "Half"
        return group, name, sizes, dtype

    def run(self):
        last = None if self.fault != "none" else self.stop
        asked = {rank: [] for rank in range(self.n)}
        head = {rank: 0 for rank in range(self.n)}
        numbers = {}
        stopped = lambda rank, call: self.fault.startswith("device") and rank in self.bad and call["i"] >= self.stop
        moved = True
        rounds = 0
        while moved and rounds < self.stop + 60:
            moved, rounds = False, rounds + 1
            for rank in range(self.n):
                i = len(asked[rank])
                if i - head[rank] >= self.ahead or (last is not None and i >= last):
                    continue
                call = self.call(rank, i)
                if call is None:
                    continue
                group = self.of[rank, call[0]]
                key = (rank, group, " " in call[1])
                numbers[key] = numbers.get(key, 0) + 1
                asked[rank].append(dict(i=i, group=group, seq=numbers[key], name=call[1], sizes=call[2], type=call[3]))
                moved = True
            while True:
                done = False
                for rank in range(self.n):
                    if head[rank] == len(asked[rank]):
                        continue
                    call = asked[rank][head[rank]]
                    members = self.groups[call["group"]][1]
                    heads = [asked[m][head[m]] if head[m] < len(asked[m]) else None for m in members]
                    same = lambda a: a and a["group"] == call["group"] and a["seq"] == call["seq"] and \
                        a["sizes"] == call["sizes"] and a["type"] == call["type"] and \
                        (a["name"] == call["name"] or (" " in a["name"] and " " in call["name"]))
                    if not all(map(same, heads)) or any(stopped(m, a) for m, a in zip(members, heads)):
                        continue
                    for m in members:
                        head[m] += 1
                    done = moved = True
                if not done:
                    break
        return asked, head

    def write(self, folder):
        asked, head = self.run()
        r = self.random
        as_json, protocol, packed = r.random() < .4, r.choice([2, 2, 4, 5]), r.random() < .3
        frames = not as_json and r.random() < .7
        hangs = False
        for rank in range(self.n):
            hangs |= head[rank] < len(asked[rank])
            if self.fault == "absent" and rank in self.bad:
                hangs = True
                continue
            mine = [g for g, (_, members) in self.groups.items() if rank in members]
            entries, status = [], {}
            for place, call in enumerate(asked[rank]):
                finished = place < head[rank]
                first = place == head[rank]
                begun = finished or (first and not (self.fault.startswith("device") and rank in self.bad))
                pair = " " in call["name"]
                entry = dict(record_id=call["i"], pg_id=mine.index(call["group"]),
                             process_group=(call["group"], self.groups[call["group"]][0]),
                             collective_seq_id=0 if pair else call["seq"], p2p_seq_id=call["seq"] if pair else 0,
                             op_id=call["i"] + 1, profiling_name="nccl:" + call["name"],
                             time_created_ns=1764 * 10**15 + call["i"] * 10**6 + rank,
                             input_sizes=call["sizes"], input_dtypes=[call["type"]],
                             output_sizes=call["sizes"], output_dtypes=[call["type"]],
                             state="completed" if finished else "started" if begun else "scheduled",
                             time_discovered_started_ns=1 if begun else (0 if as_json else None),
                             time_discovered_completed_ns=2 if finished else (0 if as_json else None),
                             retired=finished, timeout_ms=600000, is_p2p=pair)
                if frames:
                    entry["frames"] = [dict(name=call["name"].split()[0], filename="torch/distributed/distributed_c10d.py", line=2696),
                                       dict(name="forward", filename="train.py", line=10 + call["i"] % 5)]
                entries.append(entry)
                if not pair:
                    of = status.setdefault(mine.index(call["group"]), [0, 0])
                    of[0] = call["seq"]
                    of[1] = call["seq"] if finished else of[1]
            entries = [] if self.fault == "silent" and rank in self.bad else entries[-self.ring:]
            state = {number: dict(last_enqueued_collective=a, last_started_collective=-1, last_completed_collective=b)
                     for number, (a, b) in status.items()}
            config = {g: dict(name=g, desc=self.groups[g][0], ranks=str(self.groups[g][1])) for g in mine}
            if as_json:
                state = {str(k): {a: str(b) for a, b in v.items()} for k, v in state.items()}
            dump = dict(version="2.10" if as_json else "2.9", nccl_version="2.27.3", pg_config=config, pg_status=state, entries=entries)
            data = json.dumps(dump).encode() if as_json else pickle.dumps(dump, protocol=protocol)
            name = f"nccl_trace_rank_{rank}" + (".json" if as_json else "") + (".gz" if packed else "")
            (folder / name).write_bytes(gzip.compress(data, 1) if packed else data)
        return self.bad if hangs and self.fault != "none" else []


def answer(assay, *inputs):
    done = subprocess.run([assay, "hang", *map(str, inputs), "--format", "json"], capture_output=True, text=True, timeout=120)
    return done.returncode, json.loads(done.stdout) if done.returncode == 0 else {}, done.stderr


def culprits(answer):
    return [row["rank"] for row in answer.get("hang", {}).get("culprits", [])]


def check_made(assay, seeds):
    right, wrong, reasons = {}, [], []
    for seed in seeds:
        with tempfile.TemporaryDirectory() as name:
            job = Job(seed)
            bad = job.write(pathlib.Path(name))
            code, told, error = answer(assay, name)
        good = code == 0 and culprits(told) == bad
        counts = right.setdefault(job.fault, [0, 0])
        counts[0] += good
        counts[1] += 1
        if not good:
            wrong.append(f"seed {seed} ({job.fault}, {job.tensor} x {job.stages} x {job.data}, ring {job.ring}, ahead {job.ahead}): "
                         f"told {culprits(told)}, true {bad} {error[:200]}")
        elif bad and job.fault in REASONS:
            reasons += [f"seed {seed}: {row['hang_reason']} where the fault is {job.fault}" for row in told["hang"]["culprits"]
                        if row["hang_reason"] != REASONS[job.fault]]
    total = sum(all_ for _, all_ in right.values())
    named = sum(good for good, _ in right.values())
    print(f"{named} of {total} made-up jobs named rightly: " + ", ".join(f"{k} {a}/{b}" for k, (a, b) in sorted(right.items())))
    print(f"another reason than the fault's: {len(reasons)} of {named}")
    print("\n".join(wrong + reasons[:10]))
    problems = [] if named >= 0.98 * total else [f"only {named} of {total} named rightly"]
    return problems + (["no-hang jobs with a culprit"] if right.get("none", [0, 0])[0] != right.get("none", [0, 0])[1] else [])


def check_recorded(assay, folder):
    problems = []
    for name, bad in TRUTH.items():
        if not (folder / name).is_dir():
            continue
        code, told, error = answer(assay, folder / name)
        if code != 0 or culprits(told) != bad:
            problems.append(f"{name}: told {culprits(told)}, true {bad} {error[:200]}")
    return problems


def check_damage(assay):
    """Damaged dumps are named and the others used. A pickle with code is refused, and nothing runs."""
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        job = next(job for job in map(Job, range(1, 1000)) if job.fault == "host" and job.n >= 12)
        bad = job.write(folder)
        report = subprocess.run([assay, name], capture_output=True, text=True)
        if report.returncode != 2 or "assay hang" not in report.stderr:
            problems.append(f"assay DIR does not lead to assay hang: {report.returncode} {report.stderr[:300]}")
        files = sorted(p for p in folder.iterdir() if str(bad[0]) not in "".join(c for c in p.name.split(".")[0] if c.isdigit()))
        cut, code = files[0], files[1]
        cut.write_bytes(cut.read_bytes()[:-40])
        ran = folder / "ran"
        code.write_bytes(b"\x80\x02cposix\nsystem\nX" + len(f"touch {ran}").to_bytes(4, "little") + f"touch {ran}".encode() + b"\x85R.")
        status, told, error = answer(assay, folder)
        unread = {pathlib.Path(row["what"]).name: row["why_unused"] for row in told.get("hang", {}).get("unread", [])}
        if status != 0 or culprits(told) != bad:
            problems.append(f"with damaged dumps: told {culprits(told)}, true {bad} {error[:300]}")
        if cut.name not in unread or code.name not in unread:
            problems.append(f"damaged dumps are not named: {unread}")
        if "would run code" not in unread.get(code.name, ""):
            problems.append(f"a pickle with code: {unread.get(code.name)}")
        if ran.exists():
            problems.append("a pickle was run")
        strict = subprocess.run([assay, "hang", name, "--strict"], capture_output=True)
        if strict.returncode != 3:
            problems.append(f"--strict with damaged dumps: exit {strict.returncode}")
    return problems


def check_missing_dumps(assay, recorded):
    """One dump of a job that hangs: its calls are finished, and it says nothing of the ranks that have none."""
    dump = recorded / "formats/flight_recorder.pickle"
    words = " ".join(subprocess.run([assay, "hang", dump], capture_output=True, text=True, check=False).stdout.split())
    return [f"one dump of 16: no '{text}' in {words[:300]}" for text in
            ("No dump shows a hang: all calls in 1 dump are finished.", "A hang there is not known.")
            if text not in words]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay")
    parser.add_argument("--seeds", default="1-150")
    parser.add_argument("--recorded", type=pathlib.Path, default=RECORDED)
    arguments = parser.parse_args()
    first, last = map(int, arguments.seeds.split("-"))
    assay = pathlib.Path(arguments.assay).resolve()
    problems = check_recorded(assay, arguments.recorded) + check_damage(assay) + check_missing_dumps(assay, datasets.ROOT / "tests/data") + check_made(assay, range(first, last + 1))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
