#!/usr/bin/env python3
"""Memory snapshots of PyTorch: `assay breakdown FILE.pickle` against a simulated allocator.

A program of random requests runs on a small model of a caching allocator, which keeps its own totals at each step and
dumps PyTorch's format with all pickle protocols of snapshots. Totals, peaks, counts, parts and the line of the page are
compared, with the whole history, with one without its beginning, and without any. Inconsistent files are refused or
counted.
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
import page

ROUND = 512
SITES = [[{"filename": "/venv/torch/nn/modules/linear.py", "line": 7, "name": "forward"},
          {"filename": f"/home/me/train{i}.py", "line": 10 + i, "name": "step"}] for i in range(5)]
SITES.append([{"filename": "CUDACachingAllocator.cpp", "line": 1, "name": "malloc"}])
SITE_NAMES = [f"train{i}.py:{10 + i} step" for i in range(5)] + ["CUDACachingAllocator.cpp:1 malloc"]


class Model:
    """A device whose segments are cut into blocks from the front; nothing is merged or moved."""

    def __init__(self, device, seed):
        self.random, self.device = random.Random(seed), device
        self.segments, self.events, self.clock = [], [], 1_700_000_000_000_000
        self.asked = self.reserved = 0
        self.history = [(0, 0)]  # requested, reserved, after each event
        self.next = (1 << 63) * (seed % 2) + 0x7F0000000000

    def event(self, action, block_or_segment, size, site=None):
        self.clock += self.random.randrange(1, 1000)
        entry = {"action": action, "addr": block_or_segment, "size": size, "stream": 0, "time_us": self.clock}
        if action == "oom":
            entry["device_free"] = entry.pop("addr")
        if site is not None:
            entry["frames"] = SITES[site]
        self.events.append(entry)
        self.history.append((self.asked, self.reserved))

    def alloc(self):
        asked, site = self.random.randrange(1, 40_000), self.random.randrange(len(SITES))
        size = -(-asked // ROUND) * ROUND
        for segment in self.segments:
            for at, block in enumerate(segment["blocks"]):
                if block["state"] == "inactive" and block["size"] >= size:
                    return self.cut(segment, at, size, asked, site)
        total = max(size, self.random.choice((65_536, 131_072)))
        self.reserved += total
        self.segments.append({"device": self.device, "address": self.next, "total_size": total, "stream": 0, "segment_type": "small",
                              "segment_pool_id": (0, 0), "is_expandable": False, "frames": [],
                              "blocks": [{"address": self.next, "size": total, "requested_size": 0, "state": "inactive", "frames": []}]})
        self.event(self.random.choice(("segment_alloc", "segment_map")), self.next, total)
        self.next += total + (1 << 21)
        return self.cut(self.segments[-1], 0, size, asked, site)

    def cut(self, segment, at, size, asked, site):
        block = segment["blocks"][at]
        rest = dict(block, address=block["address"] + size, size=block["size"] - size)
        block.update(size=size, requested_size=asked, state="active_allocated", frames=SITES[site], site=site)
        if rest["size"]:
            segment["blocks"].insert(at + 1, rest)
        self.asked += asked
        self.event("alloc", block["address"], asked, site)
        return block

    def blocks(self, state):
        return [block for segment in self.segments for block in segment["blocks"] if block["state"] == state]

    def step(self):
        kind = self.random.random()
        live, waiting = self.blocks("active_allocated"), self.blocks("active_pending_free")
        if waiting and kind < 0.2:
            block = self.random.choice(waiting)
            block["state"] = "inactive"
            self.event("free_completed", block["address"], block["requested_size"])
        elif live and kind < 0.5:
            block = self.random.choice(live)
            block["state"] = "active_pending_free"
            self.asked -= block["requested_size"]
            self.event("free_requested", block["address"], block["requested_size"], block["site"])
        elif kind < 0.53:
            for segment in [s for s in self.segments if all(b["state"] == "inactive" for b in s["blocks"])]:
                self.segments.remove(segment)
                self.reserved -= segment["total_size"]
                self.event("segment_free", segment["address"], segment["total_size"])
        elif kind < 0.55:
            self.event("oom", 123, 1 << 60)
        else:
            self.alloc()

    def dump(self):
        """The time of the snapshot, then the actions of another thread before the history is read."""
        self.event("snapshot", 0, sum(b["size"] for b in self.blocks("active_allocated") + self.blocks("active_pending_free")))
        segments = json.loads(json.dumps(self.segments))
        for segment in segments:
            sizes = {state: sum(b["size"] for b in segment["blocks"] if b["state"] == state)
                     for state in ("active_allocated", "active_pending_free", "inactive")}
            segment["allocated_size"] = sizes["active_allocated"]
            segment["active_size"] = sizes["active_allocated"] + sizes["active_pending_free"]
            segment["requested_size"] = sum(b["requested_size"] for b in segment["blocks"] if b["state"] == "active_allocated")
            for block in segment["blocks"]:
                block.pop("site", None)
        self.alloc()
        return segments

    def facts(self, segments, lost):
        """The expected values without the first `lost` events."""
        kept, history = self.events[lost:], self.history[lost:]
        blocks = [(segment, block) for segment in segments for block in segment["blocks"]]

        def size_of(wanted, state):
            return sum(b["size"] for s, b in blocks if b["state"] == state and wanted(s))
        def used(segment):
            return segment["active_size"] > 0
        def anywhere(_):
            return True
        state = {"reserved_bytes": sum(s["total_size"] for s in segments), "in_use_bytes": size_of(anywhere, "active_allocated"),
                 "pending_free_bytes": size_of(anywhere, "active_pending_free"), "split_bytes": size_of(used, "inactive"),
                 "free_segment_bytes": size_of(lambda s: not used(s), "inactive"), "unexplained_bytes": 0,
                 "rounding_bytes": sum(b["size"] - b["requested_size"] for _, b in blocks if b["state"] == "active_allocated"),
                 "snapshot_segments": len(segments), "blocks": sum(b["state"] == "active_allocated" for _, b in blocks), "actions": len(kept),
                 "segment_allocations": sum(e["action"] in ("segment_alloc", "segment_map") for e in kept),
                 "segment_frees": sum(e["action"] == "segment_free" for e in kept),
                 "out_of_memory": sum(e["action"] == "oom" for e in kept), "unknown_actions": 0, "inconsistent_blocks": 0, "inconsistent_actions": 0,
                 "first_reserved_bytes": history[0][1] if kept else None}
        given = [e["size"] for e in kept if e["action"] == "free_requested"]
        taken = [e["size"] for e in kept if e["action"] == "alloc"]
        device = {"allocations": len(taken), "frees": len(given), "allocated_bytes": sum(taken), "freed_bytes": sum(given),
                  "peak_bytes": max(asked for asked, _ in history) if kept else None,
                  "peak_reserved_bytes": max(held for _, held in history) if kept else None,
                  "start_bytes": history[0][0] if kept else None, "end_bytes": history[-1][0] if kept else None}
        holders = {}
        for _, block in blocks:
            if block["state"] == "active_allocated":
                name = SITE_NAMES[SITES.index(block["frames"])]
                holders[name] = holders.get(name, 0) + block["size"]
        return state, device, holders


def told(assay, path, code=0):
    done = subprocess.run([assay, "breakdown", str(path), "--format", "json"], capture_output=True, timeout=600, check=False)
    if done.returncode != code:
        raise SystemExit(f"{path}: exit {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)["memory"] if code == 0 else done.stderr.decode()


def different(wanted, row, where):
    return [f"{where}: {key} {row[key]}, here {value}" for key, value in wanted.items() if row[key] != value]


def compare(assay, path, wanted):
    """wanted: facts by device."""
    memory, problems = told(assay, path), []
    if [row["device"] for row in memory["snapshot"]] != sorted(wanted):
        problems.append(f"devices {[row['device'] for row in memory['snapshot']]}")
    for number, (state, device, holders) in wanted.items():
        row = memory["snapshot"][number]
        problems += different(state, row, f"device {number}")
        parts = ("in_use_bytes", "pending_free_bytes", "split_bytes", "free_segment_bytes", "unexplained_bytes")
        if sum(row[part] for part in parts) != row["reserved_bytes"]:
            problems.append(f"device {number}: parts are not the whole")
        problems += different(device, memory["devices"][number], f"device {number}")
        found = {h["site"]: h["in_use_bytes"] for h in memory["holders"] if h["device"] == number}
        if found != holders:
            problems.append(f"device {number}: holders {found}, here {holders}")
        for key in ("allocations", "frees", "allocated_bytes", "freed_bytes"):
            if sum(op[key] for op in memory["ops"] if op["device"] == number) != device[key]:
                problems.append(f"device {number}: call sites' {key} are not the device's")
    return problems


def check_line(assay, path, device):
    written = path.with_suffix(".html")
    for verb in ("breakdown", "report"):
        subprocess.run([assay, verb, str(path), "-o", written], capture_output=True, timeout=600, check=True)
        text = page.shown_on(written)
        at = text.find('"key":"memory_line"')
        if at < 0:
            yield f"{verb}: no line of memory on the page"
            continue
        series, _ = json.JSONDecoder().raw_decode(text, text.index("[", text.index('"series":', at)))
        for line in series:
            peak = device["peak_bytes" if line["name"] == "allocated" else "peak_reserved_bytes"]
            if max(line["y"]) != peak:
                yield f"{verb}: the line of {line['name']} reaches {max(line['y'])}, not {peak}"


def check_lies(assay, folder, snapshot):
    """Inconsistent entries are counted and have no peak; other files are refused by name."""
    def changed(name, change):
        lying = json.loads(json.dumps(snapshot))
        change(lying)
        path = folder / f"{name}.pickle"
        path.write_bytes(pickle.dumps(lying))
        return path
    trace = snapshot["device_traces"][0]
    frees = [i for i, event in enumerate(trace) if event["action"] == "free_requested"]
    twice = changed("twice", lambda s: s["device_traces"][0].insert(frees[3] + 1, s["device_traces"][0][frees[3]]))
    short = changed("short", lambda s: s["segments"][0]["blocks"].pop())
    unknown = changed("unknown", lambda s: s["device_traces"][0][2].update(action="teleport"))
    for path, key in ((twice, "inconsistent_actions"), (short, "inconsistent_blocks"), (unknown, "unknown_actions")):
        memory = told(assay, path)
        if memory["snapshot"][0][key] == 0 or memory["devices"][0]["peak_bytes"] is not None:
            yield f"{path.name}: {key} {memory['snapshot'][0][key]}, peak {memory['devices'][0]['peak_bytes']}"
    whole = pickle.dumps(snapshot, protocol=2)
    cut = folder / "cut.pickle"
    cut.write_bytes(whole[:len(whole) // 2])
    if f"byte {len(whole) // 2}" not in told(assay, cut, 2):
        yield "a cut file: " + told(assay, cut, 2)
    code = folder / "code.pickle"
    code.write_bytes(pickle.dumps(dict(segments=[], x=pathlib.PurePosixPath("a")), protocol=4))
    if "would run code (STACK_GLOBAL)" not in told(assay, code, 2):
        yield "code: " + told(assay, code, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay")
    options = parser.parse_args()
    problems, files = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seed in range(12):
            models = [Model(device, 2 * seed + device) for device in range(2)]
            for model in models:
                for _ in range(30 + 40 * seed):
                    model.step()
            segments = [model.dump() for model in models]
            for lost in (0, len(models[0].events) // 3, 10 ** 9):
                snapshot = {"segments": segments[0] + segments[1], "device_traces": [model.events[lost:] for model in models],
                            "allocator_settings": {"garbage_collection_threshold": 0.0, "expandable_segments": False},
                            "external_annotations": []}
                wanted = {i: model.facts(segments[i], lost) for i, model in enumerate(models)}
                path = folder / f"{seed}.{lost}.pickle"
                packed = gzip.compress if seed % 3 == 0 else bytes
                path.write_bytes(packed(pickle.dumps(snapshot, protocol=2 + seed % 4)))
                problems += [f"seed {seed}, {lost} lost: {text}" for text in compare(options.assay, path, wanted)]
                files += 1
                if lost == 0 and seed in (1, 2):
                    problems += list(check_line(options.assay, path, wanted[0][1]))
                if lost == 0 and seed == 5:
                    problems += list(check_lies(options.assay, folder, snapshot))
    for text in problems[:40]:
        print(text)
    print(f"{files} snapshots, {len(problems)} differences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
