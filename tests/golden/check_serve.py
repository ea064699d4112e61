#!/usr/bin/env python3
"""`assay serve`: gives the answers of the command line, only with the token, on loopback, and no file from outside the
folder.

    check_serve.py --assay build/release/assay
"""

import argparse
import gzip
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples/h100_vit_inference.json.gz"
MUTATIONS = 400
SEED = 20261130


class Server:
    def __init__(self, assay, folder, temporary):
        env = {**os.environ, "TMPDIR": str(temporary), "ASSAY_CACHE": "off"}
        self.process = subprocess.Popen([assay, "serve", str(folder), "--port", "0"], stdout=subprocess.PIPE, text=True, env=env)
        self.offer = self.process.stdout.readline()
        self.port, self.token = re.search(r"http://127\.0\.0\.1:(\d+)/#k=(\w+)", self.process.stdout.readline()).groups()

    def ask(self, path, method="GET", token=None, **headers):
        """Status, headers, body."""
        connection = http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=120)
        sent = {"Authorization": f"Bearer {self.token if token is None else token}",
                **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.request(method, path, headers=sent)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def json(self, path):
        status, _, body = self.ask(path)
        assert status == 200, (path, status, body)
        return json.loads(body)


def check_offer(server, listing):
    assert "2 traces" in server.offer and "1 folder of several" in server.offer, server.offer
    assert "1 link out of it left out" in server.offer, server.offer
    assert [trace["name"] for trace in listing["traces"]] == ["below/b.json.gz", "below/c.json.gz", "below/"], listing
    assert listing["other_files"] == 1 and listing["links_left_out"] == 1, listing


def check_answers(assay, server, listing):
    one = next(trace for trace in listing["traces"] if trace["name"].endswith("b.json.gz"))
    other = next(trace for trace in listing["traces"] if trace["name"].endswith("c.json.gz"))
    said = json.loads(subprocess.run([assay, "report", str(EXAMPLE), "--format", "json"], capture_output=True, check=True).stdout)
    answer = server.json(f"/v1/answer?id={one['id']}")
    assert answer["headline"] == said["summary"]["headline"], answer
    assert sum(cause["ns"] for cause in answer["causes"]) == answer["total_ns"]
    assert server.json(f"/v1/answer?id={one['id']}") == answer
    page = server.json(f"/v1/page?id={one['id']}")["page"]
    status, headers, body = server.ask(page, token="")
    assert status == 200 and body.startswith(b"<!doctype html>"), (status, body[:80])
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"] and headers["Cache-Control"] == "no-store", headers
    compared = server.json(f"/v1/page?a={one['id']}&b={other['id']}")["page"]
    assert server.ask(compared, token="")[0] == 200
    assert server.ask(page[:-1] + ("0" if page[-1] != "0" else "1"), token="")[0] == 404
    status, _, body = server.ask(f"/v1/perfetto?id={one['id']}")
    assert status == 200 and json.loads(gzip.decompress(body))["traceEvents"], status


def check_refusals(server):
    status, headers, body = server.ask("/", token="")
    assert status == 200 and b"assay-token" in body and server.token.encode() not in body
    for path in ("/v1/traces", "/v1/answer?id=0", "/v1/page?id=0", "/v1/perfetto?id=0"):
        assert server.ask(path, token="")[0] == 401, path
        assert server.ask(path, token="0" * 32)[0] == 401, path
        assert server.ask(path, Host="evil.example")[0] == 421, path
        assert server.ask(path, Origin="https://evil.example")[0] == 403, path
        assert server.ask(path, Sec_Fetch_Site="cross-site")[0] == 403, path
        assert server.ask(path, method="POST")[0] == 405, path
    for path in ("/../secret", "/v1/../../secret", "/v1/answer?id=../secret", "/v1/answer?id=99", "/v1/answer", "/etc/passwd",
                 "/v1/page?id=%2e%2e", "/v1/page?a=0", "/page/", "/page/../../secret"):
        status, _, body = server.ask(path)
        assert status == 404 and b"hidden" not in body, (path, status, body[:80])
    assert server.ask("/v1/traces", X="a" * 10_000)[0] == 431
    status, headers, body = server.ask("/v1/traces", method="HEAD")
    assert status == 200 and body == b"" and int(headers["Content-Length"]) > 0


def check_mutations(server):
    """An invalid request is refused, and never gets a byte from outside the folder."""
    draw = random.Random(SEED)
    base = f"GET /v1/answer?id=0 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {'0' * 32}\r\n\r\n".encode()
    for _ in range(MUTATIONS):
        raw = bytearray(base)
        for _ in range(draw.randint(1, 8)):
            at = draw.randrange(len(raw))
            raw[at:at + draw.randint(0, 3)] = bytes(draw.randrange(256) for _ in range(draw.randint(0, 3)))
        connection = http.client.HTTPConnection("127.0.0.1", int(server.port), timeout=30)
        connection.connect()
        connection.sock.sendall(bytes(raw) + b"\r\n\r\n")
        connection.sock.shutdown(1)
        answer = b""
        try:
            while part := connection.sock.recv(65536):
                answer += part
        except ConnectionResetError:
            pass
        connection.close()
        assert not answer.startswith(b"HTTP/1.1 200") and b"hidden" not in answer, (raw, answer[:200])
        assert server.process.poll() is None, raw
    assert server.ask("/v1/traces")[0] == 200


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    assay = str(pathlib.Path(parser.parse_args().assay).resolve())
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        folder, temporary = top / "traces", top / "tmp"
        (folder / "below").mkdir(parents=True)
        temporary.mkdir()
        shutil.copy(EXAMPLE, folder / "below/b.json.gz")
        shutil.copy(EXAMPLE, folder / "below/c.json.gz")
        (folder / "notes.txt").write_text("no trace\n")
        shutil.copy(EXAMPLE, top / "hidden.json.gz")
        (folder / "link.json.gz").symlink_to(top / "hidden.json.gz")
        server = Server(assay, folder, temporary)
        try:
            listing = server.json("/v1/traces")
            check_offer(server, listing)
            check_answers(assay, server, listing)
            check_refusals(server)
            check_mutations(server)
        finally:
            server.process.send_signal(signal.SIGINT)
            server.process.wait(timeout=30)
        assert not list(temporary.iterdir()), list(temporary.iterdir())
        refused = subprocess.run([assay, "serve", str(folder / "notes.txt")], capture_output=True, text=True, check=False)
        assert refused.returncode == 2 and refused.stderr.startswith("assay: "), refused
        assert subprocess.run([assay, "serve", str(top / "absent")], capture_output=True, check=False).returncode == 2
    print(f"served; {MUTATIONS} changed requests refused, seed {SEED}")


if __name__ == "__main__":
    sys.exit(main())
