"""Finds and runs the program."""

from __future__ import annotations

import os
import sys
import weakref

# Slow modules are imported where they are used: `import assay` takes a few milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    Source = Any  # a path, a stopped torch.profiler.profile, or a list of these

SCHEMA = 2  # the JSON schema_version that this module reads

class AssayError(RuntimeError):
    """An error of the program: the file, the problem and the remedy.

    `code` is its exit code: 2 for an error, 3 if data was lost with `strict=True`, 128 + N if signal N ended it. `kind`
    is a word such as `truncated`, `not_a_trace` or `invalid_argument`, or empty.

    `file` and `offset` are the location in the input, in bytes of its decompressed text. They are "" and None if there
    is no location. `message` is the sentence without the location."""

    def __init__(
        self, text: str, code: int = 2, kind: str = "", file: str = "", offset: int | None = None, message: str = ""
    ) -> None:
        super().__init__(text)
        self.code = code
        self.kind = kind
        self.file = file
        self.offset = offset
        self.message = message or text


def program() -> str:
    """The path of the program: $ASSAY, else the one installed with this module, else the first on PATH."""
    named = os.environ.get("ASSAY")
    if named:
        return named
    import shutil
    import sysconfig

    installed = os.path.join(sysconfig.get_path("scripts"), "assay")
    # A wheel in a separate folder (pip install --target, --user) has the program next to the module.
    beside = os.path.join(os.path.dirname(__file__), os.pardir, "bin", "assay")
    user = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, os.pardir, os.pardir, "bin", "assay")
    for place in (installed, beside, user):
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return os.path.normpath(place)
    found = shutil.which("assay")
    if found is None:
        raise AssayError(
            "the program `assay` is neither installed with this module nor on PATH; "
            "name it in the environment variable ASSAY"
        )
    return found


def flags(options: Mapping[str, Any]) -> Iterator[str]:
    """Keywords as options of the command line."""
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                yield flag
            elif one is not None and one is not False:
                yield f"{flag}={os.fspath(one) if isinstance(one, os.PathLike) else one}"


def told_error(said: str, code: int) -> AssayError:
    """The error that the program printed, with its fields if it is a JSON object."""
    import json

    for line in said.splitlines():
        if not line.startswith('{"error"'):
            continue
        try:
            told = json.loads(line)
        except ValueError:
            continue
        place = [told["file"]] if told["file"] else []
        if told["offset"] is not None:
            place.append(f"byte {told['offset']}")
        text = ": ".join([*place, told["message"]])
        return AssayError(text, code, told["error"], told["file"], told["offset"], told["message"])
    return AssayError(said[len("assay: ") :] if said.startswith("assay: ") else said, code)


def run(
    words: Sequence[str], fine: Sequence[int] = (0,), progress: Callable[[int, int, str], Any] | None = None
) -> tuple[bytes, int]:
    """The output of the program and its exit code. Any code not in `fine` raises AssayError. `progress` is called with
    the bytes read, the total bytes (0 if unknown) and the name of the file."""
    import subprocess
    import threading

    place = program()
    environment = {**os.environ, "ASSAY_ERRORS": "json"}
    if progress is not None:
        environment["ASSAY_PROGRESS"] = "lines"
    said: list[str] = []
    faults: list[BaseException] = []

    def listen(stream: Any) -> None:
        for raw in stream:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            parts = line.split(" ", 3)
            if progress is None or parts[0] != "progress" or len(parts) != 4:
                said.append(line)
                continue
            try:
                if not faults:
                    progress(int(parts[1]), int(parts[2]), parts[3])
            except BaseException as fault:  # raised again in the caller's thread
                faults.append(fault)
                made.kill()

    try:
        made = subprocess.Popen(
            [place, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
    except OSError as error:
        raise AssayError(f"{place}: cannot be run: {error.strerror}") from error
    with made:
        listener = threading.Thread(target=listen, args=(made.stderr,))
        listener.start()
        printed = made.stdout.read() if made.stdout else b""
        listener.join()
        code = made.wait()
    if faults:
        raise faults[0]
    if code in fine:
        return printed, code
    text = "\n".join(said).strip()
    if code < 0:
        raise AssayError(text or f"{place} was ended by signal {-code}", 128 - code)
    raise told_error(text or f"{place} left with {code} and said nothing", code)


def run_json(
    words: Sequence[str],
    fine: Sequence[int] = (0,),
    depth: int = 1,
    progress: Callable[[int, int, str], Any] | None = None,
) -> tuple[dict[str, Any], int]:
    """depth: number of words that name the verb."""
    printed, code = run([*words[:depth], "--format=json", *words[depth:]], fine, progress)
    return document_of(printed), code


def document_of(printed: bytes) -> dict[str, Any]:
    """The JSON that the program printed; AssayError for a schema that this module does not read."""
    import json

    document: dict[str, Any] = json.loads(printed)
    told = document.get("schema_version")
    if told != SCHEMA:
        raise AssayError(f"{program()} writes schema {told}, and this module reads {SCHEMA}: install both anew")
    return document


def version() -> str:
    """The version of the program: "0.2.0"."""
    return run(["--version"])[0].decode().split()[1]


class Inputs:
    """The input files of the program. A torch profile is written to a temporary file, which is deleted with this
    object."""

    def __init__(self, source: Source) -> None:
        self._folder: str | None = None
        self.kept: list[Inputs] = []
        sources = source if isinstance(source, (list, tuple)) else [source]
        if not sources:
            raise AssayError("no trace is given")
        self.paths: list[str] = [self._path(one, number) for number, one in enumerate(sources)]

    def folder(self) -> str:
        if self._folder is None:
            import shutil
            import tempfile

            self._folder = tempfile.mkdtemp(prefix="assay-")
            weakref.finalize(self, shutil.rmtree, self._folder, True)
        return self._folder

    def _path(self, source: Source, number: int) -> str:
        held = getattr(source, "inputs", None)  # result of assay.open
        if isinstance(held, Inputs):
            if len(held.paths) != 1:
                raise TypeError("a side is one path: a trace, a folder or a pattern")
            return held.paths[0]
        if isinstance(source, (str, os.PathLike)):
            path = os.fspath(source)
            if not isinstance(path, str):
                path = os.fsdecode(path)
            return path
        trace = getattr(source, "trace", None)  # result of assay.profile
        if isinstance(trace, str):
            return trace
        if hasattr(source, "export_chrome_trace"):
            path = os.path.join(self.folder(), f"trace{number}.json")
            source.export_chrome_trace(path)
            return path
        raise TypeError(f"{type(source).__name__} is not a path, list of paths or torch.profiler.profile")


if sys.byteorder != "little":  # pragma: no cover
    raise ImportError("assay's tables are little-endian, and this machine is not")
