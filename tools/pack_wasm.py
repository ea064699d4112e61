#!/usr/bin/env python3
"""Makes what is given to others of a WebAssembly build: the page and the npm package.

    tools/pack_wasm.py app [BUILD]     BUILD/app: a folder for a static host, and assay-app.html, which opens from disk
    tools/pack_wasm.py npm [BUILD]     BUILD/assay-trace-VERSION.tgz; needs node and npm

BUILD is build/wasm, where `cmake --build --preset wasm` left its modules.
"""

import argparse
import base64
import gzip
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "web/app"
# Whose code is in the module. Their licences are those of the installed packages, whose sources it was made from.
PACKAGES = ["libsimdjson-dev", "libfmt-dev", "libcsv-dev", "libzstd-dev", "libisal-dev", "libsqlite3-dev", "libxxhash-dev",
            "libcli11-dev", "nlohmann-json3-dev", "libeigen3-dev", "libiberty-dev", "emscripten"]


def source_of(text):
    """A source of a policy: the hash of an element's text."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def report_sources(directive):
    """The hashes that the report's page has of its own: its frame is under the policy of both pages."""
    page = (ROOT / "web/dist/report.html").read_text(encoding="utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    return re.search(rf"{directive} ([^;]*)", policy).group(1)


def app_page(script, style, parts, connects):
    policy = "; ".join([
        "default-src 'none'",
        f"script-src {source_of(script)} {report_sources('script-src')} 'wasm-unsafe-eval'",
        f"style-src {source_of(style)} {report_sources('style-src')}",
        f"connect-src {connects}",
        "worker-src blob:", "frame-src blob:", "img-src data: blob:", "base-uri 'none'", "form-action 'none'"])
    page = (SOURCES / "index.html").read_text(encoding="utf-8")
    for mark, text in (("policy", policy), ("style", style), ("script", script), ("parts", parts)):
        page = page.replace(f"@@{mark}@@", text)
    return page


def make_app(build):
    script = (SOURCES / "app.js").read_text(encoding="utf-8")
    style = (SOURCES / "style.css").read_text(encoding="utf-8")
    worker = (build / "assay_web.js").read_text(encoding="utf-8") + (SOURCES / "worker.js").read_text(encoding="utf-8")
    if "</script" in worker.lower() or "</script" in script.lower():
        sys.exit("pack_wasm: a script would end its own element")
    wasm = (build / "assay_web.wasm").read_bytes()
    folder = build / "app"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "index.html").write_text(app_page(script, style, "", "'self'"), encoding="utf-8")
    (folder / "worker.js").write_text(worker, encoding="utf-8")
    (folder / "assay_web.wasm").write_bytes(wasm)
    packed = base64.b64encode(gzip.compress(wasm, 9, mtime=0)).decode()
    parts = (f'<script type="text/plain" id="assay-worker">{worker}</script>\n'
             f'    <script type="application/gzip" id="assay-wasm">{packed}</script>')
    (folder / "assay-app.html").write_text(app_page(script, style, parts, "'none'"), encoding="utf-8")
    return folder


def licence_of(package):
    return pathlib.Path("/usr/share/doc") / package / "copyright"


def make_npm(build):
    stage = build / "npm"
    shutil.rmtree(stage, ignore_errors=True)
    shutil.copytree(ROOT / "npm", stage)
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, stage)
    (stage / "engine").mkdir()
    shutil.copy(build / "assay.js", stage / "engine")
    subprocess.run(
        ["node", "-e", "const fs = require('fs'), zlib = require('zlib'), c = zlib.constants; fs.writeFileSync(process.argv[2], "
         "zlib.brotliCompressSync(fs.readFileSync(process.argv[1]), {params: {[c.BROTLI_PARAM_QUALITY]: 9, "
         "[c.BROTLI_PARAM_LGWIN]: 24}}))", str(build / "assay.wasm"), str(stage / "engine/assay.wasm.br")], check=True)
    (stage / "licenses").mkdir()
    for package in PACKAGES:
        shutil.copy(licence_of(package), stage / "licenses" / package)
    made = subprocess.run(["npm", "pack", "--silent", "--offline"], cwd=stage, check=True, capture_output=True, text=True)
    name = made.stdout.split()[-1]
    shutil.move(stage / name, build / name)
    version = json.loads((stage / "package.json").read_text())["version"]
    assert name == f"assay-trace-{version}.tgz", name
    return build / name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["app", "npm"])
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build/wasm")
    arguments = parser.parse_args()
    print(make_app(arguments.build) if arguments.what == "app" else make_npm(arguments.build))


if __name__ == "__main__":
    main()
