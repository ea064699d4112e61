#!/usr/bin/env python3
"""What is inside of a release: SPDX 2.3 as JSON, and the licence text of each part.

    tools/make_sbom.py --version V --map LINK_MAP --static build/static --licenses FOLDER OUT

Libraries come from the linker's map, so that what is linked is listed and nothing else: an archive of the
distribution is told by its package, one of tools/static_deps.sh by its sources.tsv. Headers leave no trace there:
those that are all of a library are named below. npm packages of the report page come from its lock file.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Debian package of the archive or headers: licence, as SPDX calls it.
LICENCES = {
    "fmtlib": "MIT",
    "simdjson": "Apache-2.0",
    "libisal": "BSD-3-Clause",
    "libzstd": "BSD-3-Clause OR GPL-2.0-only",
    "sqlite3": "blessing",
    "libcsv": "LGPL-2.1-or-later",
    "zlib": "Zlib",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "nlohmann-json3": "MIT",
    "cli11": "BSD-3-Clause",
    "eigen3": "MPL-2.0",
    "xxhash": "BSD-2-Clause",
}
HEADERS = ["nlohmann-json3-dev", "libcli11-dev", "libeigen3-dev", "libxxhash-dev"]
# The same under its name where it is built for another processor.
NATIVE = {"gcc-12-cross": "gcc-12", "cross-toolchain-base": "glibc"}
OWN = {"libsimdjson.a": "simdjson", "libfmt.a": "fmtlib", "libisal.a": "libisal"}
DEV_PACKAGE = {"simdjson": "libsimdjson-dev", "fmtlib": "libfmt-dev", "libisal": "libisal-dev"}


def query(package):
    """(source package, version)"""
    said = subprocess.run(["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", package],
                          capture_output=True, text=True, check=True)  # fmt: skip
    return said.stdout.split()


def native(archive):
    """Where the system's own package has what one for another processor was laid out from (tools/static_deps.sh)."""
    path = re.sub(r"^.*/sysroot/", "/", archive)
    return path if path == archive else re.sub(r"/\w+-linux-gnu/", f"/{os.uname().machine}-linux-gnu/", path)


def owner(archive):
    """The package that an archive of the system belongs to."""
    archive = native(archive)
    for place in (archive, os.path.realpath(archive), archive.replace("/lib/", "/usr/lib/", 1)):
        said = subprocess.run(["dpkg", "-S", place], capture_output=True, text=True, check=False)
        if said.returncode == 0:
            return said.stdout.split(":")[0]
    raise SystemExit(f"{archive}: no package has it")


def linked_archives(map_file):
    """Archives of which something was linked, ours left out."""
    found = set()
    for line in map_file.read_text(errors="replace").splitlines():
        match = re.search(r"(\S+\.a)\(", line)
        if match:
            found.add(match[1])
    return sorted(a for a in found if not pathlib.Path(a).name.startswith("libassay_"))


def parts(given):
    """name -> (version, licence, package whose copyright file it has, note)"""
    sources = {}
    for row in (given.static / "sources.tsv").read_text().splitlines():
        name, version, digest = row.split("\t")
        sources[name] = (version, digest)
    found = {}
    for archive in linked_archives(given.map):
        name = OWN.get(pathlib.Path(archive).name)
        if name:
            version, digest = sources[name]
            found[name] = (version, DEV_PACKAGE[name], f"linked; built from the source package, .dsc {digest}")
            continue
        package = owner(os.path.normpath(archive))
        source, version = query(package)
        found[NATIVE.get(source, source)] = (version, package, "linked")
    for package in HEADERS:
        source, version = query(package)
        found[source] = (version, package, "headers")
    unknown = sorted(set(found) - set(LICENCES))
    if unknown:
        raise SystemExit(f"{', '.join(unknown)}: linked, and no licence is written down in {__file__}")
    return found


def page_packages():
    lock = json.loads((ROOT / "web/package-lock.json").read_text())
    for path, said in lock["packages"].items():
        if path and not said.get("dev"):
            yield path.rsplit("node_modules/", 1)[1], said["version"], said.get("license", "NOASSERTION")


def spdx_package(name, version, licence, note):
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "comment": note,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True)
    parser.add_argument("--map", type=pathlib.Path, required=True)
    parser.add_argument("--static", type=pathlib.Path, required=True)
    parser.add_argument("--licenses", type=pathlib.Path, required=True)
    parser.add_argument("out", type=pathlib.Path)
    given = parser.parse_args()
    found = parts(given)
    given.licenses.mkdir(parents=True, exist_ok=True)
    packages = [spdx_package("assay", given.version, "Apache-2.0", "this program")]
    for name, (version, package, note) in sorted(found.items()):
        packages.append(spdx_package(name, version, LICENCES[name], note))
        text = pathlib.Path("/usr/share/doc", package, "copyright").read_bytes()
        (given.licenses / f"{name}.txt").write_bytes(text)
    for name, version, licence in sorted(set(page_packages())):
        packages.append(spdx_package("npm-" + name, version, licence, "in the report page"))
    body = json.dumps(packages, sort_keys=True).encode()
    moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"assay-{given.version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/assay-{given.version}-{hashlib.sha256(body).hexdigest()[:32]}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", moment),
            "creators": ["Tool: tools/make_sbom.py"],
        },
        "packages": packages,
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-assay"},
            *(
                {"spdxElementId": "SPDXRef-assay", "relationshipType": "CONTAINS", "relatedSpdxElement": p["SPDXID"]}
                for p in packages[1:]
            ),
        ],
    }
    given.out.write_text(json.dumps(document, indent=1) + "\n")
    print(f"{given.out.name}: {len(packages)} packages")


if __name__ == "__main__":
    main()
