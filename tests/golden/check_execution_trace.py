#!/usr/bin/env python3
"""A profiler's trace without shapes and the execution trace of its run give the answers of the same trace with shapes. The
execution traces are written here, from the shapes of a real trace, in the forms that PyTorch's observer has had.

    check_execution_trace.py --assay build/release/assay
"""

import argparse
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TRACES = pathlib.Path(__file__).resolve().parent.parent / "data" / "kineto"
SHAPES = ["Input Dims", "Input type", "Input Strides", "Concrete Inputs"]


def operators(trace):
    return [event for event in trace["traceEvents"] if event.get("cat") == "cpu_op"]


def value(text):
    """A value of "Concrete Inputs" as the observer writes it."""
    if text == "":
        return "<None>"
    if text in ("True", "False"):
        return text == "True"
    if text.startswith("["):
        return [value(one) for one in text[1:-1].split(", ") if one]
    return float(text) if re.search(r"[.e]", text) else int(text) if re.fullmatch(r"-?\d+", text) else text


def inputs(args):
    """values, shapes, types and strides of a node."""
    values, types = [], []
    for dims, kind, text in zip(args["Input Dims"], args["Input type"], args["Concrete Inputs"]):
        if kind == "TensorList":
            types.append("GenericList[" + ",".join(["Tensor(float)"] * len(dims)) + "]")
            values.append([[1, 2, 0, 1, 4, "cuda:0"] for _ in dims])
        elif kind in ("Scalar", "ScalarList", ""):
            values.append(value(text))
            one = {bool: "Bool", float: "Double"}.get(type(values[-1]), "Int")
            many = ",".join(["Int"] * (len(values[-1]) if kind == "ScalarList" else 0))
            types.append({"Scalar": one, "": "None"}.get(kind, f"GenericList[{many}]"))
        else:
            types.append(f"Tensor({kind})")
            values.append([1, 2, 0, 1, 4, "cuda:0"])
    return values, args["Input Dims"], types, args["Input Strides"]


def execution_trace(trace, old):
    """The nodes of a trace's operators. old: in the schema before attributes."""
    ops = [event for event in operators(trace) if "Input Dims" in event["args"]]
    nodes = [{"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "rf_id": 0, "inputs": [], "input_shapes": [],
              "input_types": []}]
    if not old:
        nodes = [{"id": 1, "name": nodes[0]["name"], "inputs": {"values": [], "shapes": [], "types": [], "strides": []},
                  "attrs": [{"name": "rf_id", "type": "uint64", "value": 0}]}]
    for number, event in enumerate(ops, 2):
        values, shapes, types, strides = inputs(event["args"])
        rf_id = event["args"]["Record function id"]
        node = {"id": number, "name": event["name"]}
        if old:
            node |= {"rf_id": rf_id, "inputs": values, "input_shapes": shapes, "input_types": types}
        else:
            node |= {"inputs": {"values": values, "shapes": shapes, "types": types, "strides": strides},
                     "attrs": [{"name": "rf_id", "type": "uint64", "value": rf_id}]}
        nodes.append(node)
    schema = "1.0.1" if old else "1.1.1-chakra.0.0.4"
    return {"schema": schema, "pid": ops[0]["pid"], "time": "2024-01-01", "start_ts": 0, "nodes": nodes, "finish_ts": 1}


class Checker:
    def __init__(self, assay, folder):
        self.assay, self.folder, self.faults = assay, pathlib.Path(folder), []

    def expect(self, what, true, shown=""):
        if not true:
            self.faults.append(f"{what}: {str(shown)[:600]}")

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def run(self, verb, *words):
        return subprocess.run([self.assay, verb, *words, "--format", "json"], capture_output=True, text=True, check=False,
                              env={**os.environ, "ASSAY_CACHE": "off"})

    def answer(self, verb, *words):
        """Everything but the inputs and metadata, and the counts of the join."""
        run = self.run(verb, *words)
        if run.returncode != 0:
            return run.stderr, {}
        document = json.loads(run.stdout)
        for about_files in ("inputs", "files"):
            document.pop(about_files, None)
        said = re.search(r"inputs of (\d+) operators; (\d+) stay without shapes, and (\d+) of", run.stderr)
        log = dict(zip(("inputs_joined", "inputs_unjoined", "bad_node"), map(int, said.groups()))) if said else {}
        text = json.dumps(document, sort_keys=True)
        return re.sub(r"trace\.[a-z]+", "trace", text), log

    def refused(self, words, *arguments):
        run = self.run("breakdown", *arguments)
        self.expect(f"refused: {words}", run.returncode == 2 and words in run.stderr, f"{run.returncode} {run.stderr}")


def check(checker):
    trace = json.loads(gzip.open(TRACES / "rocm" / "mi250_minitoy_train.json.gz").read())
    bare = json.loads(json.dumps(trace))
    shaped = sum("Input Dims" in event["args"] for event in operators(trace))
    for event in operators(bare):
        for key in SHAPES:
            event["args"].pop(key, None)
    old_ids = json.loads(json.dumps(bare))
    for event in operators(old_ids):
        event["args"]["External id"] = event["args"].pop("Record function id")
    full, lacking = checker.write("trace.full.json", trace), checker.write("trace.bare.json", bare)
    new = checker.write("new_et.json", execution_trace(trace, False))
    without = len(operators(bare)) - shaped
    for verb in ("breakdown", "report"):
        expected, _ = checker.answer(verb, full)
        plain, _ = checker.answer(verb, lacking)
        checker.expect(f"{verb}: shapes matter", expected != plain)
        joined, log = checker.answer(verb, lacking, "--execution-trace", new)
        checker.expect(f"{verb}: the answer of the trace with shapes", joined == expected, joined)
        checker.expect(f"{verb}: counts", (log.get("inputs_joined"), log.get("inputs_unjoined", 0)) == (shaped, without), log)
    # Schemas without attributes and strides, and traces without record function ids.
    flat = json.loads(json.dumps(trace))
    for event in operators(flat):
        event["args"].pop("Input Strides", None)
    expected, _ = checker.answer("breakdown", checker.write("trace.flat.json", flat))
    old = checker.write("old_et.json", execution_trace(trace, True))
    joined, log = checker.answer("breakdown", lacking, "--execution-trace", old)
    checker.expect("old schema", joined == expected and log.get("inputs_joined") == shaped, log)
    joined, log = checker.answer("breakdown", checker.write("trace.ids.json", old_ids), "--execution-trace", old)
    checker.expect("external ids", log.get("inputs_joined") == shaped, log)

    _, log = checker.answer("breakdown", full, "--execution-trace", new)
    checker.expect("a trace with shapes", (log.get("inputs_joined"), log.get("inputs_unjoined")) == (0, without), log)

    # Oddities.
    odd = execution_trace(trace, False)
    odd["nodes"][2]["name"] += "_"
    odd["nodes"][3]["attrs"] = []
    odd["nodes"][4]["inputs"]["types"] = odd["nodes"][4]["inputs"]["types"] + ["Int"]
    odd["nodes"].append(odd["nodes"][5])
    _, log = checker.answer("breakdown", lacking, "--execution-trace", checker.write("odd_et.json", odd))
    checker.expect("odd nodes", (log.get("inputs_joined"), log.get("inputs_unjoined"), log.get("bad_node")) ==
                   (shaped - 4, without + 4, 4), log)
    other = execution_trace(trace, False)
    other["pid"] += 1
    checker.refused("of another run or process", lacking, "--execution-trace", checker.write("other_et.json", other))
    text = json.dumps(execution_trace(trace, False))
    checker.refused("is cut off", lacking, "--execution-trace", checker.write("cut_et.json", text[:len(text) // 2]))
    checker.refused("is not JSON", lacking, "--execution-trace", checker.write("bad_et.json", text.replace("[", "]", 1)))
    checker.refused("--execution-trace FILE", new)
    checker.refused("belongs to one trace", lacking, full, "--execution-trace", new)
    checker.refused("trace of the PyTorch profiler", lacking, "--execution-trace", full)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(parser.parse_args().assay, folder)
        check(checker)
    print("\n".join(checker.faults) or "execution traces: as with the profiler's own shapes")
    sys.exit(bool(checker.faults))


if __name__ == "__main__":
    main()
