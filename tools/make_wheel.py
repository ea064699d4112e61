#!/usr/bin/env python3
"""The wheel: `import assay` and the program, for every Python from 3.9. The same input gives the same bytes.

    tools/make_wheel.py --version 0.2.0 --tag manylinux_2_34_x86_64 PREFIX FOLDER

PREFIX is what `cmake --install` filled. bin/assay goes where pip puts programs, lib/assay and share beside it, where
the program looks for them.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "assay_gpu"  # on the index; the module is `assay`
METADATA = """\
Metadata-Version: 2.1
Name: assay-gpu
Version: {version}
Summary: Finds where a GPU run's time went, what would help, and how reliable that is
License: Apache-2.0
Requires-Python: >=3.9
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

"""
WHEEL = """\
Wheel-Version: 1.0
Generator: tools/make_wheel.py
Root-Is-Purelib: false
Tag: py3-none-{tag}
"""


def below(folder, *places):
    """(path behind the folder, file) of every file of some places in it."""
    for place in places:
        start = folder / place
        for path in sorted(start.rglob("*")) if start.is_dir() else [start]:
            if path.is_file():
                yield path.relative_to(folder).as_posix(), path


def members(prefix, version, tag):
    """(name in the wheel, bytes, executable)"""
    data, info = f"{NAME}-{version}.data", f"{NAME}-{version}.dist-info"
    for name, path in below(ROOT / "python", "assay"):
        if "__pycache__" not in name:
            yield name, path.read_bytes(), False
    for name, path in below(prefix, "bin"):
        yield f"{data}/scripts/{pathlib.PurePosixPath(name).name}", path.read_bytes(), True
    for name, path in below(prefix, "lib/assay", "share/assay", "share/man", "share/bash-completion", "share/zsh",
                            "share/fish"):  # fmt: skip
        yield f"{data}/data/{name}", path.read_bytes(), os.access(path, os.X_OK)
    for name, path in below(prefix / "share/doc/assay", "LICENSE", "NOTICE", "licenses"):
        yield f"{info}/licenses/{name}", path.read_bytes(), False
    about = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    yield f"{info}/METADATA", (METADATA.format(version=version) + about).encode(), False
    yield f"{info}/WHEEL", WHEEL.format(tag=tag).encode(), False


def record_row(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True)
    parser.add_argument("--tag", required=True)
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    given = parser.parse_args()
    contents = list(members(given.prefix, given.version, given.tag))
    record = f"{NAME}-{given.version}.dist-info/RECORD"
    rows = "".join(record_row(name, data) for name, data, _ in contents) + f"{record},,\n"
    contents.append((record, rows.encode(), False))
    # The day of the commit, and no time zone: zip keeps no more.
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), 315532800))[:6]
    out = given.folder / f"{NAME}-{given.version}-py3-none-{given.tag}.whl"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, data, executable in contents:
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whose modes follow
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    print(f"{out.name}: {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
