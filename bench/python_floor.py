#!/usr/bin/env python3
"""The least that a tool written in Python does with a trace: parse it, link kernels to their launches.

    bench/python_floor.py TRACE.json

Prints one JSON object: how many kernels were linked and the sum of launch-to-start (TKLQT, SKIP
Eq. 2) in nanoseconds. HTA, TraceLens and scripts of one's own all begin with this step and then go on
in pandas; here nothing else is done, with the standard library only and the collector switched off,
so that their time is above this one's.
"""

import gc
import json
import sys

CALLS = {"cuda_runtime", "cuda_driver", "hip_runtime", "hip_driver"}


def nanoseconds(microseconds):
    return round(microseconds * 1000)


def main():
    gc.disable()
    with open(sys.argv[1], "rb") as file:
        events = json.loads(file.read())["traceEvents"]
    calls = {}
    kernels = []
    for event in events:
        category = event.get("cat")
        if category in CALLS:
            calls[event["args"].get("correlation")] = nanoseconds(event["ts"])
        elif category == "kernel":
            kernels.append((event["args"].get("correlation"), nanoseconds(event["ts"])))
    waits = [start - calls[correlation] for correlation, start in kernels if correlation in calls]
    json.dump({"kernels_linked": len(waits), "tklqt_ns": sum(max(0, wait) for wait in waits)}, sys.stdout)


if __name__ == "__main__":
    main()
