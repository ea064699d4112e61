"""Converts the Chrome-trace JSON of rpd2tracing.py back to RPD databases. Tables as in rocmProfileData."""

import json
import sqlite3

SCHEMA = """
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER, apiName_id INTEGER, args_id INTEGER);
CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER, completionSignal TEXT, start INTEGER,
                       end INTEGER, description_id INTEGER, opType_id INTEGER);
CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, stream TEXT, gridX INTEGER, gridY INTEGER, gridZ INTEGER,
                              workgroupX INTEGER, workgroupY INTEGER, workgroupZ INTEGER);
CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, stream TEXT, size INTEGER);
CREATE TABLE rocpd_monitor (deviceType TEXT, deviceId INTEGER, monitorType TEXT, start INTEGER, end INTEGER, value TEXT);
"""


def write(path, source):
    """Ids of rows count in the order of the JSON."""
    document = json.loads(source.read_text())
    rows = [row for row in (document if isinstance(document, list) else document["traceEvents"]) if row.get("ph") in ("X", "s", "f")]
    strings = {"": 1}

    def text(value):
        return strings.setdefault(value, len(strings) + 1)

    calls, operations, arrows = {}, {}, {}
    with sqlite3.connect(path) as file:
        file.executescript(SCHEMA)
        for number, row in enumerate(rows, 1):
            start = int(row["ts"]) * 1000
            at = (row["pid"], row["tid"], int(row["ts"]))
            if row["ph"] in "sf":
                arrows.setdefault(row["id"], {})[row["ph"]] = at
                continue
            end = start + int(row["dur"]) * 1000
            about = row["args"]["desc"]
            if row["pid"] == row["tid"] or int(row["pid"]) > 64:
                calls.setdefault((row["pid"], row["tid"]), []).append((int(row["ts"]), int(row["ts"]) + int(row["dur"]), number))
                file.execute("INSERT INTO rocpd_api VALUES (?,?,?,?,?,?,?)",
                             (number, int(row["pid"]), int(row["tid"]), start, end, text(row["name"]), text(about)))
            else:
                operations[at] = number
                file.execute("INSERT INTO rocpd_op VALUES (?,?,?,0,'',?,?,?,?)",
                             (number, int(row["pid"]), int(row["tid"]), start, end,
                              text("" if row["name"] == about else row["name"]), text(about)))
        for ends in arrows.values():
            pid, tid, at = ends["s"]
            call = next((number for begin, end, number in calls[pid, tid] if begin <= at <= end), None)
            if call is None:  # the arrow begins when the operation does, after its call returned
                call = max((number for begin, end, number in calls[pid, tid] if begin <= at), default=None)
            file.execute("INSERT INTO rocpd_api_ops (api_id, op_id) VALUES (?,?)", (call, operations[ends["f"]]))
        file.executemany("INSERT INTO rocpd_string VALUES (?,?)", [(number, value) for value, number in strings.items()])
    file.close()
    return path
