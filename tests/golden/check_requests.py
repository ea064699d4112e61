#!/usr/bin/env python3
"""Requests of a serving engine joined with the steps of its trace, and the metrics of its steps.

    check_requests.py --assay build/release/assay

The engine is simulated (serving_made.py), so the queue, prefill and decode time of every request is known, as is the
cause of the slowest. Expected values come from the simulation alone.
"""
import argparse
import base64
import bisect
import gzip
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import serving_made as made  # noqa: E402

problems = []


def expect(fine, what):
    if not fine:
        problems.append(what)


def run(assay, *arguments):
    done = subprocess.run([assay, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def flow_of(assay, trace, *options):
    code, out, err = run(assay, "report", trace, "--format", "json", *options)
    expect(code == 0, f"{trace.name} {options}: exit {code}: {err[:300]}")
    report = json.loads(out) if code == 0 else {}
    return report.get("inputs", [{}])[0], report


def find(value, key):
    """The first object or list with this key, at any depth."""
    if isinstance(value, dict):
        if key in value:
            return value[key]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            found = find(one, key)
            if found is not None:
                return found
    return None


def near(a, b, tolerance):
    return a is not None and abs(a - b) <= tolerance


def overlap(span, step):
    return max(0, min(span[1], step["end"]) - max(span[0], step["start"]))


def parts_of(request, steps):
    """From the simulation: queue time by concurrent steps, and the steps of the prompt."""
    first = request.tokens[0]
    queue = (request.queued_ns, request.scheduled_ns)
    prefill = (request.scheduled_ns, first)
    prompts = [s for s in steps if s["kind"] != "decode"]
    others = [s for s in steps if s["kind"] == "decode"]
    queue_prefill = sum(overlap(queue, s) for s in prompts)
    queue_decode = sum(overlap(queue, s) for s in others)
    held = [s for s in prompts if overlap(prefill, s)]
    inside = sum(overlap(prefill, s) for s in held)
    tokens = sum(s["tokens"] + s["decoding"] for s in held)
    own = inside * min(1, request.prompt / tokens)
    return {"input_ns": request.input_ns, "queue_prefill_ns": queue_prefill, "queue_decode_ns": queue_decode,
            "queue_idle_ns": queue[1] - queue[0] - queue_prefill - queue_decode, "prefill_ns": own,
            "others_ns": inside - own + sum(overlap(prefill, s) for s in others),
            "request_host_ns": prefill[1] - prefill[0] - inside - sum(overlap(prefill, s) for s in others)}


FIRST = ("input_ns", "queue_prefill_ns", "queue_decode_ns", "queue_idle_ns", "prefill_ns", "others_ns", "request_host_ns")
LATER = ("decode_ns", "decode_prefill_ns", "decode_host_ns")


def check_rows(name, rows, requests, steps, tolerance):
    by_id = {row["request_id"]: row for row in rows}
    for request in requests:
        row = by_id.get(request.name)
        if row is None:
            expect(False, f"{name}: no row of {request.name}")
            continue
        expect(row["request_joined"] == "e2e", f"{name}: {request.name} is joined as {row['request_joined']}")
        if row["request_joined"] != "e2e":
            continue
        for key, ns in parts_of(request, steps).items():
            expect(near(row[key], ns, tolerance), f"{name}: {request.name} {key} {row[key]}, truth {ns:.0f}")
        expect(sum(row[key] for key in FIRST) == row["request_ttft_ns"], f"{name}: parts of {request.name}, TTFT")
        expect(sum(row[key] for key in FIRST + LATER) == row["request_e2e_ns"], f"{name}: parts of {request.name}, E2E")


def long_prompt():
    """One long prompt among short ones, in chunks that delay the others."""
    requests = made.load(5, count=20, gap_us=700, prompts=(32, 64), outputs=(6, 10))
    requests[8].prompt = 12_000
    return requests


def full_batch():
    """More concurrent requests than the engine's limit; short prompts, long outputs."""
    return made.load(6, count=12, gap_us=1, prompts=(16, 17), outputs=(30, 31))


# name, engine, requests, component of the p99 of TTFT, component of E2E
SCENES = [
    ("long_prompt", {"chunk": 2048, "max_seqs": 64}, long_prompt, "prefill", None),
    ("others_prompt", {"chunk": 2048, "max_seqs": 64, "mixed": False}, long_prompt, "prefill", None),
    ("full_batch", {"max_seqs": 4, "graphs": True}, full_batch, "queue_decode", "queue_decode"),
    ("sglang", {"style": "sglang", "mixed": False, "graphs": True}, lambda: made.load(7), None, None),
]


def check_scene(assay, folder, name, engine_options, requests, ttft_part, e2e_part):
    engine = made.Engine(**engine_options)
    requests = engine.run(requests())
    trace = folder / f"{name}.json"
    engine.write(str(trace))
    otlp, lines, bench = folder / f"{name}.otlp.json", folder / f"{name}.jsonl", folder / f"{name}.bench.json"
    jaeger = folder / f"{name}.jaeger.json"
    otlp.write_text(json.dumps(made.otlp(requests)))
    jaeger.write_text(json.dumps(made.jaeger(requests)))
    lines.write_text(made.sglang_lines(requests))
    ttfts = sorted(r.tokens[0] - r.arrival_ns for r in requests)
    e2es = sorted(r.tokens[-1] - r.arrival_ns for r in requests)
    # Times as doubles in seconds since 1970 have a resolution of 240 ns.
    for log, form, tolerance in ((otlp, "otlp", 10), (jaeger, "jaeger", 2_000), (lines, "sglang", 2_000)):
        _, report = flow_of(assay, trace, "--requests", log)
        latency, rows = find(report, "request_latency"), find(report, "requests")
        if not latency or not rows:
            expect(False, f"{name} {form}: no requests in the report")
            continue
        expect(latency["requests_format"] == form, f"{name}: {log.name} is read as {latency['requests_format']}")
        expect(latency["requests_joined"] == len(requests), f"{name} {form}: {latency['requests_joined']} joined")
        expect(near(latency["sequences_share"], 1, 0.02), f"{name} {form}: sequences {latency['sequences_share']}")
        expect(near(latency["ttft_p50_ns"], ttfts[(len(ttfts) + 1) // 2 - 1], tolerance), f"{name} {form}: TTFT p50")
        expect(near(latency["ttft_p99_ns"], ttfts[-1], tolerance), f"{name} {form}: TTFT p99 {latency['ttft_p99_ns']}")
        expect(near(latency["e2e_p99_ns"], e2es[-1], tolerance), f"{name} {form}: E2E p99 {latency['e2e_p99_ns']}")
        check_rows(f"{name} {form}", rows, requests, engine.steps, tolerance)
        if ttft_part:
            expect(latency["ttft_p99_part"] == ttft_part, f"{name} {form}: p99 TTFT by {latency['ttft_p99_part']}")
        if e2e_part:
            expect(latency["e2e_p99_part"] == e2e_part, f"{name} {form}: p99 E2E by {latency['e2e_p99_part']}")
    check_clocks(assay, folder, name, trace, requests, otlp)
    return engine, requests, trace


def check_clocks(assay, folder, name, trace, requests, log):
    """Other clocks are aligned or refused, never joined at a wrong offset."""
    shift = 3_600_000_000_000
    log.write_text(json.dumps(made.otlp(requests, shift)))
    latency = find(flow_of(assay, trace, "--requests", log)[1], "request_latency")
    if latency["requests_refusal"] is None:
        expect(near(latency["requests_offset_ns"], -shift, 2_000_000), f"{name}: offset {latency['requests_offset_ns']}")
    else:
        expect(latency["requests_refusal"] in ("no_overlap", "clocks_differ"), f"{name}: {latency['requests_refusal']}")
        expect(latency["ttft_p99_ns"] is not None, f"{name}: a log that is not joined has no TTFT")
    told = find(flow_of(assay, trace, "--requests", log, "--requests-offset", "-3600")[1], "request_latency")
    expect(told["requests_joined"] == len(requests), f"{name}: with its offset {told['requests_joined']} are joined")
    # A client's own clock, and none.
    bench = folder / f"{name}.bench.json"
    bench.write_text(json.dumps(made.bench(requests, 5_000_000_000 - made.BASE_NS)))
    latency = find(flow_of(assay, trace, "--requests", bench)[1], "request_latency")
    if latency["requests_refusal"] is None:
        expect(latency["requests_offset_fitted"], f"{name}: a client's clock is taken for the trace's")
        expect(near(latency["requests_offset_ns"], made.BASE_NS - 5_000_000_000, 2_000_000),
               f"{name}: offset of the client off by {latency['requests_offset_ns'] - made.BASE_NS + 5_000_000_000} ns")
    bench.write_text(json.dumps(made.bench(requests, start_times=False)))
    latency = find(flow_of(assay, trace, "--requests", bench)[1], "request_latency")
    expect(latency["requests_refusal"] == "no_times", f"{name}: without times {latency['requests_refusal']}")
    gaps = sorted(b - a for r in requests for a, b in zip(r.tokens, r.tokens[1:]))
    expect(near(latency["token_p50_ns"], gaps[(len(gaps) + 1) // 2 - 1], 10), f"{name}: ITL of the client's log")
    log.write_text(json.dumps(made.otlp(requests)))


def check_steps(assay, trace, name, engine):
    """Every labelled step is a step, and the serving metrics are those of the simulation."""
    _, report = flow_of(assay, trace)
    serving = find(report, "serving")
    expect(serving["serving_steps"] == len(engine.steps), f"{name}: {serving['serving_steps']} of {len(engine.steps)} steps")
    expect(find(report, "iterations") != 1, f"{name}: one iteration")
    ends = [s["end"] for s in engine.steps]
    tokens = sum(s["decoding"] for s in engine.steps[1:])
    rate = tokens / ((ends[-1] - ends[0]) / 1e9)
    expect(near(serving["new_tokens_per_s"], rate, rate * 1e-6), f"{name}: {serving['new_tokens_per_s']} tokens/s, truth {rate}")
    # For each decode or mixed step with a unique predecessor: the time since the last step that decoded.
    rows = find(report, "serving_steps")
    last = None
    for row, step in zip(rows, engine.steps):
        if not step["decoding"]:
            continue
        if last is not None and row["step_token_gap_ns"] is not None:
            expect(row["step_token_gap_ns"] <= step["end"] - last, f"{name}: a token gap of {row['step_token_gap_ns']}")
        last = step["end"]


def check_incomplete(assay, folder, trace, requests):
    log = folder / "half.json"
    log.write_text(json.dumps(made.otlp(requests[::2])))
    _, report = flow_of(assay, trace, "--requests", log)
    latency = find(report, "request_latency")
    expect(latency["sequences_share"] < 0.9, f"half of the requests are {latency['sequences_share']} of the sequences")
    expect(any(f["code"] == "requests.incomplete" for f in find(report, "findings")), "half of a log is not called so")


def check_idle(assay, folder):
    """A server with few requests: without their log its host seems slow, with it the cause is missing requests."""
    engine = made.Engine()
    requests = engine.run(made.load(8, count=10, gap_us=60_000))
    trace, log = folder / "idle.json", folder / "idle.jsonl"
    engine.write(str(trace))
    log.write_text(made.sglang_lines(requests))
    free, at = 0, made.BASE_NS
    spans = sorted((r.arrival_ns, r.tokens[-1]) for r in requests)
    for begin, end in spans:
        free += max(0, begin - at) if at > made.BASE_NS else 0
        at = max(at, end)
    _, report = flow_of(assay, trace, "--requests", log)
    latency = find(report, "request_latency")
    expect(near(latency["no_request_ns"], free, free * 0.01), f"idle: {latency['no_request_ns']} ns without requests, {free}")
    causes = {row["cause"]: row["ns"] for row in find(report, "causes")}
    expect(near(causes.get("nothing_asked", 0), free, free * 0.02), f"idle: {causes} with {free} ns without requests")
    expect(find(report, "bottleneck") == "not_loaded", f"idle: the bottleneck is {find(report, 'bottleneck')}")
    _, alone = flow_of(assay, trace)
    causes = {row["cause"]: row["ns"] for row in find(alone, "causes")}
    expect(causes.get("nothing_asked", 0) < free * 0.1, "idle: time without work is known without a log")
    expect(find(alone, "bottleneck") == "host", f"idle, without a log: the bottleneck is {find(alone, 'bottleneck')}")


def check_energy(assay, folder):
    """Joules per output token, from the token counts of the labels; none if the labels lack them."""
    watts, step_ns = 350, 2_000_000
    for name, options, known in (("decode", {"max_seqs": 16, "graphs": True}, True),
                                 ("speculate", {"speculate": 3, "style": "sglang", "mixed": False}, False)):
        engine = made.Engine(**options)
        requests = engine.run(made.load(9, count=16, gap_us=1, prompts=(8, 9), outputs=(120, 121)))
        trace, log = folder / f"{name}.json", folder / f"{name}.power.csv"
        engine.write(str(trace))
        begin, end = engine.steps[0]["begin"], engine.steps[-1]["out"]
        rows = range(begin - 40_000_000, end + 40_000_000, step_ns)
        for part, rows_of_part in (("all", rows), ("half", [t for t in rows if t < (begin + end) // 2])):
            log.write_text("t_ns,power_w\n" + "".join(f"{t},{watts + i % 7 - 3}\n" for i, t in enumerate(rows_of_part)))
            code, out, err = run(assay, "power", "attribute", trace, "--samples", log, "--format", "json")
            expect(code == 0, f"energy of {name}: exit {code}: {err[:300]}")
            report = json.loads(out) if code == 0 else {}
            each = find(report, "energy_per_token_j")
            if not known or part == "half":
                expect(each is None, f"energy of {name}, {part}: {each} J per token")
                continue
            least = sum(s["decoding"] for s in engine.steps)
            truth = find(report, "total_j") / least
            expect(near(each, truth, truth * 1e-6), f"energy of {name}: {each} J per token, truth {truth}")
            expect(near(find(report, "total_j"), watts * (end - begin) / 1e9, 0.05 * watts * (end - begin) / 1e9),
                   f"energy of {name}: {find(report, 'total_j')} J in all")
            most = least + len(requests)
            low, high = find(report, "energy_per_token_low_j"), find(report, "energy_per_token_high_j")
            expect(low <= find(report, "total_j") / most * (1 + 1e-9) and each <= high * (1 + 1e-9),
                   f"energy of {name}: {each} J in {low} to {high}")


def check_energy_in_report(assay, folder):
    """The energy per token of the report equals that of `power attribute` for the same log, separately for prefill and
    decode."""
    idle, kernel_w, step_ns = 90, 310, 20_000_000
    engine = made.Engine(max_seqs=16, graphs=True, mixed=False, chunk=2048)
    engine.run(made.load(10, count=24, gap_us=60_000, prompts=(1500, 2000), outputs=(120, 180)))
    trace, log = folder / "serving.json", folder / "serving.csv"
    engine.write(str(trace))
    recorded = json.loads(trace.read_text())
    base_ns = recorded.get("baseTimeNanoseconds", 0)
    kernels = sorted((base_ns + round(e["ts"] * 1e3), base_ns + round((e["ts"] + e["dur"]) * 1e3))
                     for e in recorded["traceEvents"] if e.get("cat") == "kernel")
    starts, before, busy = [a for a, _ in kernels], [], 0
    for begin, end in kernels:
        before.append(busy)
        busy += end - begin

    def busy_until(t):
        at = bisect.bisect_right(starts, t) - 1
        return 0 if at < 0 else before[at] + min(t, kernels[at][1]) - kernels[at][0]

    steps = engine.steps
    rows = [f"{t},{idle + kernel_w * (busy_until(t) - busy_until(t - step_ns)) / step_ns:.2f}"
            for t in range(steps[0]["begin"] - 2_000_000_000, steps[-1]["out"] + 2_000_000_000, step_ns)]
    log.write_text("t_ns,power_w\n" + "\n".join(rows) + "\n")
    code, out, err = run(assay, "power", "attribute", trace, "--samples", log, "--format", "json")
    expect(code == 0, f"power attribute of a server: exit {code}: {err[:300]}")
    alone = json.loads(out)["energy"] if code == 0 else {}
    code, out, err = run(assay, "report", trace, "--telemetry", log, "--telemetry-offset", "0", "--format", "json")
    expect(code == 0, f"report with a power log: exit {code}: {err[:300]}")
    report = json.loads(out).get("serving_energy", {}) if code == 0 else {}
    for kind in ("token", "prompt_token"):
        for end in ("", "low_", "high_"):
            key = f"energy_per_{kind}_{end}j"
            expect(report.get(key) is not None and report.get(key) == alone.get(key),
                   f"{key}: {report.get(key)} in the report, {alone.get(key)} alone")
    prompts = [s for s in steps if s["kind"] == "prefill"]
    tokens = sum(s["tokens"] for s in prompts)
    joules = sum(idle * (s["out"] - s["begin"]) + kernel_w * (busy_until(s["out"]) - busy_until(s["begin"])) for s in prompts)
    truth = joules / 1e9 / tokens
    low, high = (report.get(f"energy_per_prompt_token_{end}_j") or 0 for end in ("low", "high"))
    expect(.95 * truth <= high and low <= 1.05 * truth, f"J per prompt token: {low} to {high}, truth {truth}")
    _, text, _ = run(assay, "report", trace, "--telemetry", log, "--telemetry-offset", "0", "--full")
    expect("Energy per token" in text and "per prompt token in prefill" in text, "no table of energy per token with --full")
    page = folder / "serving.html"
    run(assay, "report", trace, "--telemetry", log, "--telemetry-offset", "0", "-o", page)
    packed = re.findall(r'type="application/gzip" id="assay-view">([^<]*)<', page.read_text())
    shown = "".join(gzip.decompress(base64.b64decode(one)).decode() for one in packed)
    expect("per prompt token in prefill" in shown, f"no energy per token on the page, {len(packed)} parts")
    _, out, _ = run(assay, "report", trace, "--format", "json")
    expect("serving_energy" not in json.loads(out), "energy without a log")


def check_words(assay, folder, trace, requests):
    """The sentences of the first screen, SQL, and files that are not logs."""
    log = folder / "words.json"
    log.write_text(json.dumps(made.otlp(requests)))
    code, out, _ = run(assay, trace, "--requests", log)
    text = " ".join(out.split())
    expect(code == 0 and f"Requests: {len(requests)} of {len(requests)} joined" in text, f"first screen: {text[:600]}")
    expect("TTFT p99" in text and "E2E p99" in text, f"first screen: {text[:600]}")
    bare = folder / "bare.json"
    bare.write_text(json.dumps(made.bench(requests, start_times=False)))
    _, out, _ = run(assay, trace, "--requests", bare)
    expect("not joined with the steps, as the log has no times of arrival" in " ".join(out.split()), out[:600])
    code, out, err = run(assay, "sql", trace, "select count(*) as n, max(prompt_tokens) as p from requests",
                         "--requests", log, "--format", "csv")
    expect(out.split() == ["n,p", f"{len(requests)},{max(r.prompt for r in requests)}"], f"SQL: {code} {out} {err}")
    for content, word in (("{}", "has no request"), ('{"traceEvents":[]}', "request"), ("", "has no request")):
        log.write_text(content)
        code, _, err = run(assay, trace, "--requests", log)
        expect(code == 2 and word in err, f"a log of {content!r}: exit {code}, {err}")
    code, _, err = run(assay, trace, "--requests", folder / "missing.json")
    expect(code == 2 and "missing.json" in err, f"no log: exit {code}, {err}")
    code, _, err = run(assay, trace, "--requests", log, "--requests-offset", "soon")
    expect(code == 2 and "--requests-offset" in err, f"offset: exit {code}, {err}")
    log.write_text(json.dumps(made.otlp(requests)))
    code, _, err = run(assay, log)
    expect(code == 2 and "--requests" in err, f"a log as a trace: exit {code}, {err}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for scene in SCENES:
            engine, requests, trace = check_scene(assay, folder, *scene)
            check_steps(assay, trace, scene[0], engine)
        check_incomplete(assay, folder, trace, requests)
        check_words(assay, folder, trace, requests)
        check_idle(assay, folder)
        check_energy(assay, folder)
        check_energy_in_report(assay, folder)
    for problem in problems[:40]:
        print(problem)
    print(f"{len(SCENES)} engines, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
