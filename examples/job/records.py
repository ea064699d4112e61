"""spark-submit records.py TRACES.list RECORDS: a rank record of every trace, a task each."""

import subprocess
import sys

from pyspark import SparkContext


def summarize(path, records):
    done = subprocess.run(["assay", "summarize", path, "-o", records, "--threads", "1"], capture_output=True, text=True)
    return path, done.returncode, done.stderr.strip()


def main(listed, records):
    context = SparkContext(appName="assay summarize")
    with open(listed, encoding="utf-8") as lines:
        paths = [line.rstrip("\n").split("\t")[-1] for line in lines]
    for path, code, why in context.parallelize(paths, len(paths)).map(lambda path: summarize(path, records)).collect():
        if code != 0:
            print(f"not read: {path}: {why}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
