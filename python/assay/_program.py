"""Finding the program, and running it."""

from __future__ import annotations

import os
import sys
import weakref

# What takes long to import is imported where it is used: `import assay` costs a few milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    Source = Any  # a path, or a torch.profiler.profile that has stopped; or a list of these

SCHEMA = 2  # the schema_version of the JSON that this module reads

class AssayError(RuntimeError):
    """What the program said went wrong. `code` is its exit code: 2 for an error, 3 where data was lost and
    `strict=True` was given, 128 + N where signal N ended it."""

    def __init__(self, message: str, code: int = 2) -> None:
        super().__init__(message)
        self.code = code


def program() -> str:
    """The program that does the work: what $ASSAY names, the one installed with this module, else the first
    on PATH."""
    named = os.environ.get("ASSAY")
    if named:
        return named
    import shutil
    import sysconfig

    installed = os.path.join(sysconfig.get_path("scripts"), "assay")
    # A wheel in a folder of its own (pip install --target, --user) has it beside the module.
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
        if name in ("format", "output"):
            raise TypeError(f"{name} is what this module asks of the program: read the answer, or use save()")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                yield flag
            elif one is not None and one is not False:
                yield f"{flag}={os.fspath(one) if isinstance(one, os.PathLike) else one}"


def run(words: Sequence[str], fine: Sequence[int] = (0,)) -> tuple[bytes, int]:
    """What the program printed, and its exit code; AssayError with its sentence for any code not in `fine`."""
    import subprocess

    place = program()
    try:
        made = subprocess.run(
            [place, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
        )
    except OSError as error:
        raise AssayError(f"{place}: cannot be run: {error.strerror}") from error
    if made.returncode in fine:
        return made.stdout, made.returncode
    said = made.stderr.decode("utf-8", "replace").strip()
    if said.startswith("assay: "):
        said = said[len("assay: ") :]
    if made.returncode < 0:
        raise AssayError(said or f"{place} was ended by signal {-made.returncode}", 128 - made.returncode)
    raise AssayError(said or f"{place} left with {made.returncode} and said nothing", made.returncode)


def run_json(words: Sequence[str], fine: Sequence[int] = (0,)) -> tuple[dict[str, Any], int]:
    import json

    printed, code = run([words[0], "--format=json", *words[1:]], fine)
    document = json.loads(printed)
    told = document.get("schema_version")
    if told != SCHEMA:
        raise AssayError(f"{program()} writes schema {told}, and this module reads {SCHEMA}: install both anew")
    return document, code


def version() -> str:
    """Of the program: "0.2.0"."""
    return run(["--version"])[0].decode().split()[1]


class Inputs:
    """Files for the program. What torch recorded is written out, and removed with this object."""

    def __init__(self, source: Source) -> None:
        self._folder: str | None = None
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
        if isinstance(source, (str, os.PathLike)):
            path = os.fspath(source)
            if not isinstance(path, str):
                path = os.fsdecode(path)
            return path
        trace = getattr(source, "trace", None)  # assay.profile
        if isinstance(trace, str):
            return trace
        if hasattr(source, "export_chrome_trace"):
            path = os.path.join(self.folder(), f"trace{number}.json")
            source.export_chrome_trace(path)
            return path
        raise TypeError(f"{type(source).__name__} is no path, list of paths or torch.profiler.profile")


if sys.byteorder != "little":  # pragma: no cover
    raise ImportError("assay's tables are little-endian, and this machine is not")
