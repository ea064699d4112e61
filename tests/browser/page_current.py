#!/usr/bin/env python3
"""Checks that the checked-in page, web/dist/report.html and charts.js, is the build of the sources beside it.

The page names a hash of its sources: that is compared always. Where web/node_modules is installed
(npm ci --prefix web), the page is also built anew, and must come out the same to the byte.
"""

import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WEB = ROOT / "web"
PAGE = WEB / "dist/report.html"
CHARTS = WEB / "dist/charts.js"  # the library of charts, which the page's policy names by its hash
LIST = WEB / "dist/serve.html"
FILES = ["index.html", "serve.html", "notices.txt", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"]
REBUILD = "npm ci --prefix web && npm run build --prefix web (make web)"
TIMEOUT_S = 600


def sources_hash():
    """The same as sourcesHash() of vite.config.ts."""
    files = FILES + [f"src/{path.name}" for path in sorted((WEB / "src").iterdir())]
    lines = [f"{name} {hashlib.sha256((WEB / name).read_bytes()).hexdigest()}\n" for name in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def main():
    named = re.search(r'name="assay-sources" content="(\w+)"', PAGE.read_text(encoding="utf-8"))
    if not named or named.group(1) != sources_hash():
        sys.exit(f"web/dist/report.html is not the build of these sources; remake it: {REBUILD}")
    charts = base64.b64encode(hashlib.sha256(CHARTS.read_bytes()).digest()).decode()
    if f"'sha256-{charts}'" not in PAGE.read_text(encoding="utf-8"):
        sys.exit(f"web/dist/charts.js is not the one that web/dist/report.html allows; remake both: {REBUILD}")
    node = shutil.which("node")
    vite = WEB / "node_modules/vite/bin/vite.js"
    if not node or not vite.exists():
        print("the sources are those that the page names; not rebuilt: no node or no web/node_modules")
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([node, vite, "build", "--outDir", folder, "--emptyOutDir", "--logLevel", "error"],
                       cwd=WEB, check=True, timeout=TIMEOUT_S)
        for made in (PAGE, CHARTS, LIST):
            if pathlib.Path(folder, made.name).read_bytes() != made.read_bytes():
                sys.exit(f"a new build of web/ differs from web/dist/{made.name}; remake it: {REBUILD}")
    print("rebuilt to the same bytes")


if __name__ == "__main__":
    main()
