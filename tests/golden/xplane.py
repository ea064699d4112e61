"""Writes XSpace files (xplane.proto of OpenXLA) from the events of a trace.json of the same profilers."""

import collections


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def name_entry(field, ident, name, display=""):
    value = number(1, ident) + message(2, name) + (message(4, display) if display else b"")
    return message(field, number(1, ident) + message(2, value))


class Plane:
    """One device or host. Lines hold (begin in ps after the line's start, length in ps, name, correlation)."""

    CORRELATION, OTHER = 7, 9

    def __init__(self, name):
        self.name, self.lines, self.names = name, {}, {}

    def line(self, ident, name, start_ns):
        return self.lines.setdefault(ident, (name, start_ns, []))[2]

    def written(self, displayed=()):
        out = number(1, 3) + message(2, self.name)
        for ident, (name, start_ns, events) in self.lines.items():
            line = number(1, ident) + message(2, name) + number(3, start_ns)
            for begin, length, event, correlation in events:
                ident_of = self.names.setdefault(event, len(self.names) + 1)
                content = number(1, ident_of) + (number(2, begin) if length is not None else number(5, begin)) + number(3, length or 0)
                content += message(4, number(1, self.OTHER) + message(5, "a text of no use here"))
                if correlation:
                    content += message(4, number(1, self.CORRELATION) + number(3, correlation))
                line += message(4, content)
            out += message(3, line)
        for name, ident in self.names.items():
            out += name_entry(4, ident, "long name of " + name if name in displayed else name, name if name in displayed else "")
        return out + name_entry(5, self.CORRELATION, "correlation_id") + name_entry(5, self.OTHER, "details")


def space(planes, hosts=("a.host",), displayed=()):
    return b"".join(message(1, plane.written(displayed)) for plane in planes) + b"".join(message(4, host) for host in hosts)


def planes_of(rows, start_ns=0, calls_apart=False):
    """Planes with the events of a trace.json; calls_apart: runtime calls in a plane of their own."""
    processes, threads, planes = {}, collections.defaultdict(str), {}
    for row in rows:
        if row["ph"] == "M" and row["name"] == "process_name":
            processes[row["pid"]] = row["args"]["name"].split(" ")[0]
        if row["ph"] == "M" and row["name"] == "thread_name":
            threads[row["pid"], row["tid"]] = row["args"]["name"]
    for row in rows:
        if row["ph"] != "X":
            continue
        name = processes[row["pid"]]
        if calls_apart and name == "/host:CPU" and row["name"].startswith("cu"):
            name = "/host:CUPTI"
        plane = planes.setdefault(name, Plane(name))
        line = plane.line(row["tid"], threads[row["pid"], row["tid"]], start_ns)
        correlation = int(row.get("args", {}).get("correlation_id", 0))
        line.append((round(row["ts"] * 1e6), round(row["dur"] * 1e6), row["name"], correlation))
    return list(planes.values())
