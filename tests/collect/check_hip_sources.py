#!/usr/bin/env python3
"""The HIP kernels that Assay compiles at run time, through the real hiprtc: no GPU is needed for that. For the
architectures that the installed version knows, one of each family. Skipped where ROCm's runtime is not installed.
hiprtc 5 ends the process for an architecture that it does not know, so each is compiled in a process of its own."""

import ctypes
import pathlib
import re
import subprocess
import sys

SKIP = 77
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = ["collect/null_kernel/hip.cc", "src/devices/amd.cc"]
LIBRARIES = ["libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libamdhip64.so.5"]
ARCHITECTURES = {"CDNA 2": "gfx90a", "GCN 5": "gfx906", "RDNA 2": "gfx1030"}
TRIVIAL = "-"
# Of hiprtc 6 and later; the newest, where an empty kernel compiles for them.
NEWER = {"CDNA 3": "gfx942", "RDNA 3": "gfx1100"}
NEWEST = {"CDNA 4": "gfx950", "RDNA 4": "gfx1201"}


def library():
    for name in LIBRARIES:
        try:
            found = ctypes.CDLL(name)
            if hasattr(found, "hiprtcCompileProgram"):
                return found, name
        except OSError:
            continue
    return None, ""


def kernels(path):
    if path == TRIVIAL:
        return 'extern "C" __global__ void nothing() {}'
    texts = re.findall(r'R"hip\((.*?)\)hip"', (ROOT / path).read_text(encoding="utf-8"), re.DOTALL)
    assert len(texts) == 1, f"{path}: {len(texts)} sources"
    return texts[0]


def compile_one(path, architecture):
    hiprtc, _ = library()
    program = ctypes.c_void_p()
    assert hiprtc.hiprtcCreateProgram(ctypes.byref(program), kernels(path).encode(), b"test.hip", 0, None, None) == 0
    options = (ctypes.c_char_p * 1)(b"--offload-arch=" + architecture.encode())
    code = hiprtc.hiprtcCompileProgram(program, 1, options)
    size = ctypes.c_size_t()
    hiprtc.hiprtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    hiprtc.hiprtcGetProgramLog(program, log)
    if code != 0:
        print(log.value.decode(errors="replace"), file=sys.stderr)
        return 1
    hiprtc.hiprtcGetCodeSize(program, ctypes.byref(size))
    return 0 if size.value > 500 else 1


def run(path, architecture):
    return subprocess.run([sys.executable, __file__, path, architecture], capture_output=True, text=True, check=False,
                          timeout=600)


def main():
    if len(sys.argv) == 3:
        return compile_one(sys.argv[1], sys.argv[2])
    found, name = library()
    if found is None:
        print("hip_sources: no hiprtc is installed (libamdhip64-dev, rocm-device-libs)")
        return SKIP
    if run(TRIVIAL, ARCHITECTURES["CDNA 2"]).returncode != 0:
        print(f"hip_sources: {name} compiles nothing here (rocm-device-libs, libhiprtc-builtins5)")
        return SKIP
    wanted = list(ARCHITECTURES.values())
    if not name.endswith(".5"):
        wanted += NEWER.values()
        wanted += [architecture for architecture in NEWEST.values() if run(TRIVIAL, architecture).returncode == 0]
    problems = []
    for path in SOURCES:
        for architecture in wanted:
            done = run(path, architecture)
            if done.returncode != 0:
                problems.append(f"{path} for {architecture}: {done.returncode} {done.stderr}")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"hip_sources: {name}, {', '.join(wanted)}" if not problems else f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
