"""One synthetic job and its power log in the format of many programs.

The job is known: kernels with their times and powers. The sensor averages over 100 ms. Writers follow the documentation
and examples of the programs; Assay's code is not used.
"""

import datetime
import json
import pathlib
import random
import sys

IDLE_W = 80.0
POWER_W = {"gemm": 310.0, "attention": 170.0}
EPOCH_S = 1_777_896_000  # 2026-05-04 12:00:00 UTC
STEP_S = 0.1


class Job:
    def __init__(self, seed=7, seconds=120):
        self.seconds = seconds
        rng = random.Random(seed)
        self.kernels = []  # name, start, seconds
        at = 2.0
        while at < seconds - 3:
            name = rng.choice(list(POWER_W))
            length = rng.uniform(0.02, 1.4) if rng.random() < 0.6 else rng.uniform(0.005, 0.05)
            self.kernels.append((name, at, length))
            at += length + (rng.uniform(0, 1.0) if rng.random() < 0.4 else rng.uniform(0, 0.01))
        fine = [IDLE_W] * (seconds * 1000)
        for name, start, length in self.kernels:
            for ms in range(round(start * 1000), min(round((start + length) * 1000), len(fine))):
                fine[ms] += POWER_W[name]
        self.fine = fine
        width = round(STEP_S * 1000)
        noise = random.Random(seed + 1)
        # Reading k is the mean over the 100 ms before k * 100 ms.
        self.readings = [(k * STEP_S, sum(fine[(k - 1) * width:k * width]) / width + noise.gauss(0, 0.4))
                         for k in range(1, seconds * 1000 // width)]

    def joules_until(self, second):
        return sum(self.fine[:round(second * 1000)]) / 1000

    def work(self):
        """Begin and end of the device work, seconds."""
        return self.kernels[0][1], max(start + length for _, start, length in self.kernels)

    def total_joules(self):
        begin, end = self.work()
        return self.joules_until(end) - self.joules_until(begin)

    def every(self, seconds):
        step = round(seconds / STEP_S)
        return self.readings[step - 1::step]

    def mean_of(self, begin, end):
        return (self.joules_until(end) - self.joules_until(begin)) / (end - begin)

    def write_trace(self, path, device=None):
        events = []
        for i, (name, start, length) in enumerate(self.kernels, 1):
            ts = round((EPOCH_S + start) * 1e6)
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                           "ts": ts, "dur": 1, "args": {"correlation": i}})
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts,
                           "dur": round(length * 1e6), "args": {"correlation": i, "device": 0, "stream": 7}})
        trace = {"traceEvents": events}
        if device:
            trace["deviceProperties"] = [{"id": 0, "name": device}]
        path.write_text(json.dumps(trace))


def utc(second):
    return datetime.datetime.fromtimestamp(EPOCH_S + second, datetime.timezone.utc)


def stamp(second, form):
    return utc(second).strftime(form)


def other_gpu(k):
    return 61.0 + (k % 3)


# ---- one writer a program; each gives the text ----


def smi_dmon(job, dated=True):
    lines = []
    names = "gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk"
    units = "Idx      W      C      C      %      %      %      %    MHz    MHz"
    for k, (t, watts) in enumerate(job.every(1.0)):
        if k % 20 == 0:
            lines.append(("#Date       Time        " if dated else "# ") + names)
            lines.append(("#YYYYMMDD   HH:MM:SS    " if dated else "# ") + units)
        when = stamp(t, " %Y%m%d   %H:%M:%S ") if dated else " "
        for gpu, power in ((0, round(watts)), (1, other_gpu(k) if k != 5 else "-")):
            power = power if power == "-" else round(power)
            lines.append(f"{when} {gpu:6d} {power:>6}     55      -     97     40      0      0   2619   1980")
    return "\n".join(lines) + "\n"


def smi_dmon_csv(job):
    lines = ["#Date, Time, gpu, pwr, gtemp, mtemp, sm, mem, enc, dec, mclk, pclk",
             "#YYYYMMDD, HH:MM:SS, Idx, W, C, C, %, %, %, %, MHz, MHz"]
    lines += [stamp(t, " %Y%m%d, %H:%M:%S") + f", 0, {round(watts)}, 55, -, 97, 40, 0, 0, 2619, 1980"
              for t, watts in job.every(1.0)]
    return "\n".join(lines) + "\n"


def dcgmi_dmon(job, times=False):
    lines = []
    for k, (t, watts) in enumerate(job.readings):
        if k % 30 == 0:
            head = "%s#Entity    POWER        TOTEC        SMCLK   \nID            W           mJ                   "
            lines.append(head % ("" if not times else stamp(t, "%Y-%m-%d %H:%M:%S.%f ")))
        when = stamp(t, "%Y-%m-%d %H:%M:%S.%f ") if times else ""
        lines.append(f"{when}GPU 0      {watts:.3f}       {round(job.joules_until(t) * 1000) + 10 ** 9}   1980")
        lines.append(f"{when}GPU 1      {other_gpu(k):.3f}       N/A          345")
        lines.append(f"{when}GPU-I 3    {watts:.3f}       N/A          1980")
    return "\n".join(lines) + "\n"


def metrics_text(job, times=True, power="DCGM_FI_DEV_POWER_USAGE"):
    lines = []
    for k, (t, watts) in enumerate(job.every(0.2)):
        when = f" {round((EPOCH_S + t) * 1000)}" if times else ""
        lines += [f"# HELP {power} Power draw (in W).", f"# TYPE {power} gauge"]
        for gpu, value in ((0, watts), (1, other_gpu(k))):
            labels = (f'gpu="{gpu}",UUID="GPU-{gpu}",modelName="NVIDIA H100 {{80GB}}",Hostname="n\\"1"')
            lines.append(f"{power}{{{labels}}} {value:.3f}{when}")
            lines.append(f"DCGM_FI_DEV_SM_CLOCK{{{labels}}} 1980{when}")
    return "\n".join(lines) + "\n"


def prometheus_series(points, name="DCGM_FI_DEV_POWER_USAGE"):
    """One GPU alone, as a query of one series answers."""
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [
        {"metric": {"__name__": name}, "values": [[EPOCH_S + t, f"{w:.3f}"] for t, w in points]}]}})


def prometheus_json(job, name="DCGM_FI_DEV_POWER_USAGE", seconds=1.0, factor=1.0):
    def series(gpu, values):
        metric = {"gpu": str(gpu), "job": "dcgm"}
        if name:
            metric["__name__"] = name
        return {"metric": metric, "values": [[EPOCH_S + t, f"{w * factor:.3f}"] for t, w in values]}
    points = job.every(seconds)
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [
        series(0, points), series(1, [(t, other_gpu(k)) for k, (t, _) in enumerate(points)])]}})


def grafana(job, unit=True):
    lines = ['"Time","GPU 0","GPU 1"']
    for k, (t, watts) in enumerate(job.every(1.0)):
        end = " W" if unit else ""
        lines.append(stamp(t, '"%Y-%m-%d %H:%M:%S"') + f',"{watts:.0f}{end}","{other_gpu(k):.0f}{end}"')
    return "\n".join(lines) + "\n"


def amd_smi_csv(job):
    lines = ["timestamp,gpu,xcp,power_usage,hotspot_temperature,memory_temperature,gfx_clk,gfx,mem"]
    for t, watts in job.every(1.0):
        for xcp in (0, 1):
            lines.append(f"{EPOCH_S + int(t)},0,{xcp},{round(watts)},61,48,2100,99,12")
        lines.append(f"{EPOCH_S + int(t)},1,0,N/A,40,39,132,0,0")
    return "\n".join(lines) + "\n"


def amd_smi_json(job, times=True):
    text = ""
    for k, (t, watts) in enumerate(job.every(0.2)):
        rows = []
        for gpu, value in ((0, watts), (1, other_gpu(k))):
            row = {"gpu": gpu, "power": {"socket_power": {"value": round(value), "unit": "W"},
                                         "limit": {"socket_power": {"value": 750, "unit": "W"}}},
                   "energy": {"total_energy_consumption": {
                       "value": round(5e6 + job.joules_until(t), 3) if gpu == 0 else "N/A", "unit": "J"}}}
            if times:
                row = {"timestamp": EPOCH_S + round(t, 3), **row}
            rows.append(row)
        text += json.dumps(rows if k % 2 else {"gpu_data": rows}, indent=1) + "\n"
    return text


def rocm_smi_csv(job):
    text = ""
    for t, watts in job.every(0.5):
        text += "device,Average Graphics Package Power (W),GPU use (%)\n"
        text += f"card0,{watts:.1f},99\ncard1,0.0,98\n\n"
    return text


def rocm_smi_json(job):
    return "".join(json.dumps({
        "card0": {"Current Socket Graphics Package Power (W)": f"{watts:.1f}", "Energy counter": "1",
                  "Accumulated Energy (uJ)": f"{round((1e4 + job.joules_until(t)) * 1e6)}"},
        "card1": {"Current Socket Graphics Package Power (W)": "N/A (Secondary die)"},
        "system": {"Driver version": "6.8"}}) + "\n" for t, watts in job.every(0.5))


def zeus(job):
    lines = ["start_time,window_name,elapsed_time,gpu0_energy,gpu1_energy"]
    for i in range(0, job.seconds - 10, 10):
        for begin in range(i, i + 10, 2):
            lines.append(f"{EPOCH_S + begin}.0,step,2.0,{job.mean_of(begin, begin + 2) * 2:.3f},122.0")
        lines.append(f"{EPOCH_S + i}.0,epoch,10.0,{job.mean_of(i, i + 10) * 10:.3f},610.0")
    lines.append(f"{EPOCH_S}.0,all,{job.seconds}.0,{job.joules_until(job.seconds):.3f},7320.0")
    return "\n".join(lines) + "\n"


def tegrastats(job, unit="mW", dated=True, step=1.0):
    lines = []
    for t, watts in job.every(step):
        when = stamp(t, "%m-%d-%Y %H:%M:%S ") if dated else ""
        mw = round(watts * 1000)
        lines.append(f"{when}RAM 5120/63895MB (lfb 4x4MB) SWAP 0/31947MB (cached 0MB) CPU [12%@2201,off,off,3%@2201] "
                     f"GR3D_FREQ 99%@[1300,1300] cpu@52C gpu@50C tj@52C VDD_GPU_SOC {mw}{unit}/{mw - 5}{unit} "
                     f"VDD_CPU_CV 800{unit}/790{unit} VIN_SYS_5V0 {mw + 9000}{unit}/9000{unit}")
    return "\n".join(lines) + "\n"


def smi_in_turn(job, gpus, at=0):
    """nvidia-smi without an index: the rows of all GPUs fill the time between two rounds."""
    rows = ["timestamp, power.draw [W]"]
    for number, (t, watts) in enumerate(job.readings):
        for gpu in range(gpus):
            drawn = watts if gpu == at else 60 + 5 * gpu + number % 3
            rows.append(f"{stamp(t + 0.1 * gpu / gpus, '%Y/%m/%d %H:%M:%S.%f')[:-3]}, {drawn:.2f} W")
    return "\n".join(rows) + "\n"


def rapl(job):
    lines = ["timestamp,domain,energy_uj"]
    wrap = 262143328850
    for t, _ in job.every(0.2):
        count = (round(job.joules_until(t) * 1e6) + 5_000_000) % wrap
        lines.append(f"{EPOCH_S + t:.3f},package-0,{count}")
        lines.append(f"{EPOCH_S + t:.3f},core,{count // 2}")
    return "\n".join(lines) + "\n"


def perf_stat(job, form="text"):
    lines = ["# started on Mon May  4 12:00:00 2026", ""]
    if form == "text":
        lines.append("#           time             counts unit events")
    before = 0.0
    for t, _ in job.every(0.2):
        joules = job.joules_until(t) - job.joules_until(before)
        before = t
        lines.append(f"     {t:.9f}              {joules:.2f} Joules power/energy-pkg/" if form == "text" else
                     f"{t:.9f},{joules:.2f},Joules,power/energy-pkg/,200000000,100.00,,")
        lines.append(f"     {t:.9f}              1.50 Joules power/energy-ram/" if form == "text" else
                     f"{t:.9f},<not counted>,Joules,power/energy-ram/,0,0.00,,")
    return "\n".join(lines) + "\n"


def turbostat(job):
    lines = ["turbostat version 2023.11.07", "cpuidle: governor menu"]
    before = 0.0
    for k, (t, _) in enumerate(job.every(0.5)):
        if k % 10 == 0:
            lines.append("Time_Of_Day_Seconds\tPackage\tCore\tCPU\tAvg_MHz\tBusy%\tPkgWatt\tRAMWatt")
        watts = job.mean_of(before, t)
        before = t
        lines.append(f"{EPOCH_S + t:.6f}\t-\t-\t-\t1200\t31.1\t{watts:.2f}\t9.10")
        lines.append(f"{EPOCH_S + t:.6f}\t0\t0\t0\t1300\t33.0\t{watts:.2f}\t9.10")
        lines.append(f"{EPOCH_S + t:.6f}\t0\t1\t1\t1100\t29.2")
    return "\n".join(lines) + "\n"


def codecarbon(job):
    lines = ["timestamp,project_name,run_id,experiment_id,duration,emissions,emissions_rate,cpu_power,gpu_power,"
             "ram_power,cpu_energy,gpu_energy,ram_energy,energy_consumed"]
    for t in range(15, job.seconds + 1, 15):
        kwh = job.joules_until(t) / 3.6e6
        lines.append(stamp(t, "%Y-%m-%dT%H:%M:%S") + f",codecarbon,r1,e1,{t}.01,0.001,0.0001,42.5,{kwh * 3.6e6 / t:.3f},"
                     f"10.0,0.0005,{kwh:.10f},0.0001,{kwh + 0.0006:.10f}")
    return "\n".join(lines) + "\n"


def nvitop(job):
    lines = ["train/host/cpu_percent (%)/mean,train/cuda:0 (gpu:3)/power_usage (W)/mean,"
             "train/cuda:0 (gpu:3)/power_usage (W)/max,train/cuda:0 (gpu:3)/power_usage (W)/last,"
             "train/duration (s),train/timestamp"]
    before = 0.0
    for t, watts in job.every(0.5):
        lines.append(f"12.5,{job.mean_of(before, t)},{watts + 40},{watts},{t},{EPOCH_S + t}")
        before = t
    return "\n".join(lines) + "\n"


def wandb(job):
    lines = []
    before = 0.0
    for t, _ in job.every(15.0):
        lines.append(json.dumps({
            "system.cpu": 12.5, "system.gpu.0.powerWatts": job.mean_of(before, t), "system.gpu.0.powerPercent": 44.1,
            "system.gpu.process.0.powerWatts": 1.0, "system.gpu.1.powerWatts": 61.0, "system.gpu.0.gpu": 99.0,
            "_runtime": t, "_timestamp": EPOCH_S + t, "_wandb": True}))
        before = t
    return "\n".join(lines) + "\n"


def powermetrics(job):
    text = ""
    before = 0.0
    for t, _ in job.every(1.0):
        when = (utc(t) - datetime.timedelta(hours=7)).strftime("%a %b %d %H:%M:%S %Y -0700")
        text += (f"*** Sampled system activity ({when}) (1000.09ms elapsed) ***\n\n**** Processor usage ****\n\n"
                 f"CPU Power: 823 mW\nGPU Power: {round(job.mean_of(before, t) * 1000)} mW\nANE Power: 0 mW\n"
                 "Combined Power (CPU + GPU + ANE): 9999 mW\n\n")
        before = t
    return text


def smoothed_csv(job, kept, window_s=STEP_S):
    """A sample is the mean over the window before it, smoothed with the previous sample."""
    noise = random.Random(5)
    lines, shown = ["timestamp,power_w"], IDLE_W
    for t, _ in job.readings:
        shown = kept * shown + (1 - kept) * (job.mean_of(t - window_s, t) + noise.gauss(0, 0.4))
        lines.append(f"{EPOCH_S + t:.3f},{shown:.2f}")
    return "\n".join(lines) + "\n"


def script_csv(job, column="power_mw", factor=1000.0):
    lines = [f"timestamp,gpu,{column},gpu_temp"]
    for k, (t, watts) in enumerate(job.readings):
        lines.append(f"{EPOCH_S + t:.3f},0,{watts * factor:.0f},61")
        lines.append(f"{EPOCH_S + t:.3f},1,{other_gpu(k) * factor:.0f},44")
    return "\n".join(lines) + "\n"


# One short log of every kind, by Assay's key for it.
SAMPLES = {"smi_dmon.txt": smi_dmon, "dcgmi_dmon.txt": dcgmi_dmon, "metrics_text.prom": metrics_text,
           "prometheus_json.json": prometheus_json, "grafana.csv": grafana, "amd_smi_csv.csv": amd_smi_csv,
           "amd_smi_json.json": amd_smi_json, "rocm_smi_csv.csv": rocm_smi_csv, "rocm_smi_json.json": rocm_smi_json,
           "zeus.csv": zeus, "tegrastats.txt": tegrastats, "rapl.csv": rapl, "perf_stat.txt": perf_stat,
           "turbostat.txt": turbostat, "codecarbon.csv": codecarbon, "nvitop.csv": nvitop, "wandb.jsonl": wandb,
           "powermetrics.txt": powermetrics}


def write_samples(folder):
    for name, write in SAMPLES.items():
        seconds = 40 if write in (codecarbon, wandb, zeus) else 8
        (folder / name).write_text(write(Job(seed=3, seconds=seconds)))


if __name__ == "__main__":
    write_samples(pathlib.Path(sys.argv[1]))
