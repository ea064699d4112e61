#!/usr/bin/env python3
"""The summary of `assay info` for a Nsight Systems export, computed from its tables with Python's sqlite3 by the rules
of docs/formats/nsys.md. It shares no code with Assay; reference.py computes the values that follow from the rows
(links, launch metrics).

    nsys_reference.py FILE.sqlite
"""

import collections
import json
import pathlib
import re
import sqlite3
import sys

import reference
from reference import Row

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
COPIES = "CUPTI_ACTIVITY_KIND_MEMCPY"
FILLS = "CUPTI_ACTIVITY_KIND_MEMSET"
SYNCS = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME"
RANGES = "NVTX_EVENTS"
KIND_OF = {KERNELS: "kernel", COPIES: "memcpy", FILLS: "memset", SYNCS: "sync"}
OTHER = ["OSRT_API", "CUBLAS_EVENTS", "CUDNN_EVENTS"]
MARKS, PUSH_POP, START_END = {34, 65}, {59, 70}, {60, 71}


class Export:
    def __init__(self, path):
        uri = pathlib.Path(path).resolve().as_uri() + "?mode=ro&immutable=1"
        self.connection = sqlite3.connect(uri, uri=True)
        self.connection.row_factory = sqlite3.Row
        self.tables = {row[0] for row in self.connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'")}

    def rows(self, table):
        """The rows of a table as dictionaries; none when there is no such table."""
        if table not in self.tables:
            return []
        return [dict(row) for row in self.connection.execute(f'SELECT * FROM "{table}"')]


def single(rows, key):
    return rows[0].get(key) if rows else None


def summarize(path):
    export = Export(path)
    strings = {row["id"]: row["value"] for row in export.rows("StringIds")}
    base = single(export.rows("TARGET_INFO_SESSION_START_TIME"), "utcEpochNs") or 0
    duration = single(export.rows("ANALYSIS_DETAILS"), "duration") or 0
    read = [CALLS, *KIND_OF, RANGES, "PROFILER_OVERHEAD", *OTHER]
    event_rows = {table: export.rows(table) for table in read}
    last = max((row["end"] for rows in event_rows.values() for row in rows if row["end"] is not None),
               default=0)
    session_end = max(duration, last)
    log = collections.Counter()
    tables = {name: [] for name in reference.TABLES}

    def times(row):
        end = row["end"]
        if end is None:
            log["open_range"] += 1
            end = session_end
        return {"start": base + row["start"], "dur": end - row["start"]}

    for row in event_rows[CALLS]:
        name = re.sub(r"_v\d{4,}$", "", strings[row["nameId"]])
        tables["api_calls"].append(Row(**times(row), name=name, lane=row["globalTid"], external=0,
                                       correlation=(row["globalTid"] >> 24, row["correlationId"])))
    for table, kind in KIND_OF.items():
        for row in event_rows[table]:
            tables["activities"].append(
                Row(**times(row), kind=kind, lane=(row["deviceId"], row["streamId"]), external=0,
                    correlation=(row["globalPid"] >> 24, row["correlationId"])))
            if kind in ("memcpy", "memset"):
                tables["transfers"].append(row["bytes"])
            if kind == "kernel":
                tables["kernel_shapes"].append(row)
            if kind == "sync" and 1 <= row["syncType"] <= 4:
                tables["waits"].append(row)
    instants = metadata = 0
    push_pop = []
    for row in event_rows[RANGES]:
        kind = row["eventType"]
        if kind in PUSH_POP | START_END:
            span = Row(**times(row), lane=row["globalTid"], external=0, parent=None,
                       name=row["text"] or strings.get(row["textId"], ""))
            if kind in PUSH_POP:
                push_pop.append(span)
            tables["annotations"].append(span)
        else:
            instants += kind in MARKS
            metadata += kind not in MARKS
    # None of the corpus has ranges of a framework: those that hold no other one are the operators.
    tables["ops"] = [span for span in push_pop
                     if not any(other is not span and other.lane == span.lane
                                and span.start <= other.start < span.end for other in push_pop)]
    tables["overheads"] = event_rows["PROFILER_OVERHEAD"]
    tables["other_events"] = [row for table in OTHER for row in event_rows[table]]
    log["unknown_category"] = len(tables["other_events"]) - len(event_rows["OSRT_API"])

    kinds = collections.Counter(row.kind for row in tables["activities"])
    timed = [row for name in reference.TIMED_TABLES for row in tables[name]]
    first = min((row.start for row in timed), default=None)
    return {
        "rows": {"events": sum(map(len, event_rows.values())), "flow_starts": 0, "flow_ends": 0,
                 "metadata": metadata, "instants": instants, "spans": 0},
        "tables": {name: len(tables[name]) for name in reference.TABLES},
        "activity_kinds": {kind: kinds[kind]
                           for kind in ("kernel", "memcpy", "memset", "sync", "other")},
        "times": {"base_time_ns": base, "whole_microseconds": False, "first_ns": first,
                  "last_ns": max((row.end for row in timed), default=None)},
        "sums": {name: {"start_ns": sum(row.start - first for row in tables[name]),
                        "dur_ns": sum(row.dur for row in tables[name])}
                 for name in reference.TIMED_TABLES},
        "links": reference.link(tables),
        "launch": reference.launch(tables),
        "import_log": {code: count for code, count in sorted(log.items()) if count},
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(json.dumps(summarize(sys.argv[1]), indent=1))
