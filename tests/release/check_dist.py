#!/usr/bin/env python3
"""What tools/release.sh made, as its users get it: the archive in a root that holds the C library and nothing else,
the package in fresh roots, the wheel in an environment without a network. The same trace gives the same bytes in all.

    check_dist.py --dist dist --assay build/release/assay [--arch aarch64] [--roots FOLDER]

--roots: folders of fresh systems (`mmdebstrap --variant=minbase bookworm FOLDER/debian12`); each is copied. Roots need
the right to chroot; without it that part is left out, and said to be. --arch: of another processor, under QEMU
(qemu-user-static) with the C library of Debian's cross compiler.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACE = ROOT / "examples/h100_vit_inference.json.gz"
MOST_ARCHIVE_BYTES = 8_000_000
C_LIBRARY = ["libc.so.6", "libm.so.6", "libgcc_s.so.1"]
LOADERS = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
problems = []


def check(fine, message):
    if not fine:
        problems.append(message)
    return fine


def run(*words, **options):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, timeout=900, **options)


def answer(*command):
    """What a program says of the trace in its working folder, with an empty environment."""
    return run(*command, "report", "--format", "json", "t.json.gz")


def check_sums(dist):
    for line in (dist / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        check(hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest, f"{name} is not what SHA256SUMS says")


def the(dist, pattern):
    found = sorted(dist.glob(pattern))
    check(len(found) == 1, f"{pattern}: {len(found)} files")
    return found[0]


def place_of(library, arch):
    if arch != os.uname().machine:
        return f"/usr/{arch}-linux-gnu/lib/{library}"
    for line in run("ldconfig", "-p").stdout.splitlines():
        match = re.match(rf"\s{re.escape(library)} \(.*\) => (\S+)", line)
        if match:
            return match[1]
    raise SystemExit(f"{library} is not on this machine")


def emulator(arch, root):
    """The words before a program that is run in `root`, which gets what they name."""
    if arch == os.uname().machine:
        return []
    program = shutil.which(f"qemu-{arch}-static")
    if not program:
        raise SystemExit(f"qemu-{arch}-static is missing: apt-get install qemu-user-static")
    shutil.copy(program, root / "emulator")
    return ["/emulator"]


def check_archive(dist, arch, folder, expected):
    archive = the(dist, f"assay-*-linux-{arch}.tar.xz")
    size = archive.stat().st_size
    check(size <= MOST_ARCHIVE_BYTES, f"{archive.name} has {size} bytes")
    with tarfile.open(archive) as packed:
        names = packed.getnames()
        check(all(not n.startswith("/") and ".." not in n.split("/") for n in names), "names lead out of the archive")
        check({(m.uid, m.gid) for m in packed.getmembers()} == {(0, 0)}, "owners")
        packed.extractall(folder)
    top = folder / names[0].split("/")[0]
    for name in ("bin/assay", "lib/assay/libassay_record.so", "lib/assay/libassay_record_amd.so", "lib/assay/assay_null_kernel", "share/man/man1/assay.1",
                 "share/bash-completion/completions/assay", "share/doc/assay/NOTICE", "share/doc/assay/sbom.spdx.json"):
        check((top / name).is_file(), f"{archive.name} lacks {name}")  # fmt: skip
    check_licences(top / "share/doc/assay")
    bare = folder / "bare"
    loader = LOADERS[arch]
    libraries = {f"/lib/{name}": place_of(name, arch) for name in C_LIBRARY}
    libraries[loader] = loader if arch == os.uname().machine else place_of(pathlib.Path(loader).name, arch)
    for target, source in libraries.items():
        (bare / target[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, bare / target[1:])
    shutil.copytree(top, bare / "opt")
    shutil.copy(TRACE, bare / "t.json.gz")
    program = ["chroot", bare, *emulator(arch, bare), "/opt/bin/assay"]
    done = answer(*program)
    if "Operation not permitted" in done.stderr:
        print("not done: chroot is not allowed here")
        return
    check(done.stdout == expected, f"in a bare root: {done.returncode} {done.stderr}")
    said = run(*program, "sql", "t.json.gz", "select 1 as x")
    check(said.returncode == 2 and "DuckDB is not here" in said.stderr, f"what is missing is named: {said.stderr}")


def check_licences(doc):
    """Every part of the SBOM that is linked or whose headers are used has its text."""
    told = json.loads((doc / "sbom.spdx.json").read_text())["packages"]
    names = {p["name"] for p in told if p["comment"].startswith(("linked", "headers"))}
    texts = {path.stem for path in (doc / "licenses").glob("*.txt")}
    check(names == texts, f"licence texts: {sorted(texts)}, parts: {sorted(names)}")
    wanted = {"fmtlib", "simdjson", "libisal", "libzstd", "sqlite3", "libcsv", "nlohmann-json3", "cli11", "xxhash"}
    check(wanted <= names, f"the SBOM lacks {sorted(wanted - names)}")
    check(all(p["licenseConcluded"] not in ("", "NOASSERTION") for p in told), "a licence is not told")
    check(any(p["name"] == "npm-echarts" for p in told), "the SBOM lacks what the page is made of")


def check_package(dist, arch, roots, folder, expected):
    package = the(dist, f"assay_*_{DEBIAN[arch]}.deb")
    depends = run("dpkg-deb", "-f", package, "Depends").stdout
    names = sorted(re.sub(r" \(.*?\)", "", one).strip() for one in depends.split(","))
    check(names == ["libc6", "libgcc-s1"], f"Depends: {depends}")
    for system in sorted(roots.iterdir()) if roots and arch == os.uname().machine else []:
        root = folder / system.name
        check(run("cp", "-a", system, root).returncode == 0, f"{system} was not copied")
        shutil.copy(package, root / "assay.deb")
        shutil.copy(TRACE, root / "t.json.gz")
        done = run("chroot", root, "dpkg", "-i", "/assay.deb")
        check(done.returncode == 0, f"{system.name}: dpkg -i: {done.stderr}")
        done = answer("chroot", root, "/usr/bin/assay")
        check(done.stdout == expected, f"{system.name}: {done.returncode} {done.stderr}")
        run("chroot", root, "dpkg", "-r", "assay")
        left = [p for p in root.rglob("*assay*") if "/var/lib/dpkg" not in str(p) and p.name != "assay.deb"]
        check(not left, f"{system.name}: left behind: {left}")
        print(f"{package.name} in {system.name}: installed, same bytes, removed")
        shutil.rmtree(root)


def check_wheel(dist, arch, folder, expected):
    wheel = the(dist, f"assay_gpu-*_{arch}.whl")
    if arch != os.uname().machine:
        print(f"{wheel.name}: not installed, for want of a Python for {arch}")
        return
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    made = run(python, "-m", "venv", folder / "venv")
    if made.returncode != 0:
        print(f"not done: {python} makes no environment")
        return
    done = run(folder / "venv/bin/pip", "install", "--no-index", "--no-deps", wheel)
    if not check(done.returncode == 0, f"pip: {done.stderr}"):
        return
    script = "import assay, sys; r = assay.report('t.json.gz'); print(assay.program(), r.cause, len(r.tables['kernels']))"
    clean = {"PATH": "/nowhere"}
    said = run(folder / "venv/bin/python", "-c", script, cwd=folder, env=clean)
    check(said.stdout.split() == [str(folder / "venv/bin/assay"), "host", "154"], f"wheel: {said.stdout} {said.stderr}")
    check(run(folder / "venv/bin/assay", "report", "--format", "json", "t.json.gz", cwd=folder).stdout == expected,
          "the wheel's program says something else")  # fmt: skip
    for name in ("libassay_record.so", "libassay_record_amd.so"):
        check((folder / "venv/lib/assay" / name).is_file(), f"{name} is where the program looks")
    suite = run(folder / "venv/bin/python", ROOT / "tests/python/check_python.py", "--assay",
                folder / "venv/bin/assay", "--module", next((folder / "venv/lib").glob("python*")) / "site-packages")  # fmt: skip
    check(suite.returncode == 0, f"check_python.py over the wheel: {suite.stderr[-2000:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dist", type=pathlib.Path, required=True)
    parser.add_argument("--assay", type=pathlib.Path, required=True, help="whose answer all the others must give")
    parser.add_argument("--arch", default=os.uname().machine, choices=LOADERS)
    parser.add_argument("--roots", type=pathlib.Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(TRACE, folder / "t.json.gz")
        expected = run(given.assay.resolve(), "report", "--format", "json", "t.json.gz", cwd=folder).stdout
        check('"cause": "host"' in expected, "the program itself says nothing")
        check_sums(given.dist)
        os.chdir(folder)
        dist = (ROOT / given.dist).resolve()
        check_archive(dist, given.arch, folder, expected)
        check_package(dist, given.arch, given.roots and (ROOT / given.roots).resolve(), folder, expected)
        check_wheel(dist, given.arch, folder, expected)
        os.chdir("/")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"what is in {given.dist}: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
