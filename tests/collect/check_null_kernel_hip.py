#!/usr/bin/env python3
"""`assay null-kernel` on an AMD GPU that does not exist (tests/fakes/fake_amd.cc), and on machines where it cannot be
measured: no runtime, an old one, no GPU, no permission, a source that does not compile, a driver that hangs or dies."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TIMEOUT_S = 600
problems = []


def check(fine, message):
    if not fine:
        problems.append(message)


class Bench:
    def __init__(self, arguments, folder):
        self.assay = str(pathlib.Path(arguments.assay).resolve())
        self.rocm, self.rocm5, self.empty = arguments.rocm, arguments.rocm5, arguments.empty
        self.folder = folder
        self.floor = folder / "floor.json"

    def run(self, *flags, user=None, **variables):
        env = dict(os.environ, ASSAY_CUDA_DRIVER="no-such-driver.so", ASSAY_HIP_RUNTIME=self.rocm,
                   ASSAY_HIPRTC=self.rocm, ASSAY_KFD_DEVICE="/dev/null")
        env.update({name: str(value) for name, value in variables.items()})
        self.floor.unlink(missing_ok=True)
        return subprocess.run([self.assay, "null-kernel", "-o", str(self.floor), *flags], env=env, text=True, errors="surrogateescape",
                              capture_output=True, check=False, timeout=TIMEOUT_S, user=user)

    def measured(self, *flags, **variables):
        done = self.run(*flags, **variables)
        check(done.returncode == 0, f"{flags} {variables}: {done.returncode} {done.stderr}")
        return json.loads(self.floor.read_text()) if done.returncode == 0 else {"gpus": []}, done.stderr

    def refused(self, sentence, *flags, **variables):
        done = self.run(*flags, **variables)
        check(done.returncode == 2 and sentence in done.stderr,
              f"{flags} {variables}: {done.returncode}, not '{sentence}' but: {done.stderr}")
        check(not self.floor.exists(), f"{variables}: a floor was left behind")


def check_measured(bench):
    data, told = bench.measured("--device", "amd:all", FAKE_GPUS=2)
    check(data.get("tracer") == "hip" and data.get("warmups") == 50 and data.get("runs") == 150, f"head: {data}")
    check("upper bounds" in told and "launch at most" in told, f"told: {told}")
    check([gpu["uuid"] for gpu in data["gpus"]] == ["GPU-0123456789abcdef", "GPU-1123456789abcdef"], f"uuids: {data}")
    for gpu in data["gpus"]:
        check(gpu["name"] == "Fake MI300X" and gpu["architecture"] == "gfx942:sramecc+:xnack-", f"identity: {gpu}")
        check(all(gpu[name]["n"] == 150 for name in ("launch", "duration", "call", "round_trip")), f"counts: {gpu}")
        # The fake's own times: a store 20 us after the call began, a kernel of 2 us.
        check(20_000 <= gpu["launch"]["min_ns"] < 200_000, f"launch: {gpu['launch']}")
        check(abs(gpu["duration"]["mean_ns"] - 2000) < 1 and gpu["duration"]["std_ns"] < 1, f"kernel: {gpu['duration']}")
        check(gpu["call"]["p50_ns"] <= gpu["round_trip"]["p50_ns"], f"call: {gpu}")
    fewer, _ = bench.measured("--runs", "7", "--warmups", "0")
    check([gpu["launch"]["n"] for gpu in fewer["gpus"]] == [7], "the vendor is found by its runtime")


def check_versions(bench):
    data, _ = bench.measured(ASSAY_HIP_RUNTIME=bench.rocm5, ASSAY_HIPRTC=bench.rocm5)
    check([gpu.get("architecture") for gpu in data["gpus"]] == ["gfx942:sramecc+:xnack-"], f"ROCm 5: {data}")
    data, _ = bench.measured(FAKE_GPU="hostile_name")
    check([gpu["name"] for gpu in data["gpus"]] == ['MI "\\\t\x7f\ufffd\u2028'], f"a hostile name: {data}")
    bench.measured(FAKE_ARCHITECTURE="gfx942:sramecc+:xnack-")
    data, _ = bench.measured(FAKE_GPU="no_architecture", FAKE_ARCHITECTURE="")
    check(all("architecture" not in gpu for gpu in data["gpus"]), f"a layout that is not known: {data}")
    bench.refused("has no function hipGetDeviceProperties: it is too old", ASSAY_HIP_RUNTIME=bench.empty)
    bench.refused("has no function hiprtcCreateProgram", ASSAY_HIPRTC=bench.empty)


def check_missing(bench):
    bench.refused("no NVIDIA driver is installed here", ASSAY_HIP_RUNTIME="no-hip.so")
    bench.refused("no AMD ROCm runtime is installed here", "--device", "amd:0", ASSAY_HIP_RUNTIME="no-hip.so")
    bench.refused("hiprtc, which compiles kernels at run time, is not installed here", ASSAY_HIPRTC="no-hiprtc.so")
    bench.refused("counting GPUs failed: no ROCm-capable device is detected (hipErrorNoDevice); is the GPU hidden by",
                  FAKE_GPU="no_device")
    bench.refused("there is no /dev/kfd", FAKE_GPU="no_device", ASSAY_KFD_DEVICE=str(bench.folder / "kfd"))
    bench.refused("there is no GPU 3: the driver shows 2", "--device", "3", FAKE_GPUS=2)
    bench.refused("of two kinds, Fake MI300X and Fake MI250", "--device", "all", FAKE_GPUS=2, FAKE_GPU="two_kinds")
    done = bench.run("--device", "intel:0")
    check(done.returncode == 2 and "'intel:0' is none of" in done.stderr, f"a device of nobody: {done.stderr}")


def check_permission(bench):
    locked = bench.folder / "locked"
    locked.touch()
    locked.chmod(0)
    user = 65534 if os.geteuid() == 0 else None
    bench.folder.chmod(0o777)
    done = bench.run(user=user, FAKE_GPU="no_device", ASSAY_KFD_DEVICE=locked)
    if "cannot execute" in done.stderr or "not found" in done.stderr or done.returncode in (126, 127):
        return  # the build folder is not everybody's
    check(done.returncode == 2 and "add it to the groups render and video" in done.stderr, f"permission: {done.stderr}")


def check_faults(bench):
    bench.refused("compiling the empty kernel failed: HIPRTC_ERROR_COMPILATION\nbad source.", FAKE_GPU="no_compile")
    bench.refused("launching the empty kernel failed: unspecified launch failure (hipErrorLaunchFailure)",
                  FAKE_GPU="launch_fails")
    bench.refused("launching the empty kernel failed: hipErrorLaunchFailure\n", FAKE_GPU="launch_fails",
                  ASSAY_HIP_RUNTIME=bench.rocm5, ASSAY_HIPRTC=bench.rocm5)
    # A machine that is slow to start the program is given more time, until it comes to the kernel that hangs.
    hung = "did not answer in time while running the empty kernel"
    for seconds in (1, 8, 64, 512):
        done = bench.run("--limit", str(seconds), FAKE_GPU="hangs")
        if hung in done.stderr:
            break
    check(done.returncode == 2 and hung in done.stderr, f"hangs: {done.returncode} {done.stderr}")
    check(not bench.floor.exists(), "hangs: a floor was left behind")
    bench.refused("(signal 9 ended it)", FAKE_GPU="killed")


def main():
    parser = argparse.ArgumentParser()
    for name in ("--assay", "--rocm", "--rocm5", "--empty"):
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, pathlib.Path(folder))
        for part in (check_measured, check_versions, check_missing, check_permission, check_faults):
            part(bench)
    for problem in problems:
        print(problem, file=sys.stderr)
    print("null_kernel_hip: fine" if not problems else f"null_kernel_hip: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
