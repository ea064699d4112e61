"""The answers of the program as objects."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ._program import AssayError, Inputs, flags, run
from .columns import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from ._program import Source

    Document = dict[str, Any]
    ListOfRows = list[dict[str, Any]]
else:
    Document = dict
    ListOfRows = list

# Text for the bound of a gain.
GRADES = {"upper_bound": "up to", "simulated": "simulated"}


EXPORTED = ("floor", "threads", "allow_truncated")  # the options that `export` accepts too


class Tables(Mapping[str, Table]):
    """The tables of the traces and of their analyses. Created at first access; each table is opened on demand. With
    several inputs they have a column `rank`, as in SQL."""

    def __init__(
        self,
        inputs: Inputs | None,
        options: Mapping[str, Any],
        progress: Callable[[int, int, str], Any] | None = None,
    ) -> None:
        self._progress = progress
        if inputs is None:
            raise AssayError("no trace is given")
        self._inputs = inputs
        self._options = {name: value for name, value in options.items() if name in EXPORTED}
        self._places: dict[str, dict[int, str]] | None = None  # by name and rank
        self._open: dict[str, Table] = {}

    def _found(self) -> dict[str, dict[int, str]]:
        if self._places is None:
            folder = os.path.join(self._inputs.folder(), "tables")
            options = flags(self._options)
            words = ["export", "--format=columns", "-o", folder, *options, "--", *self._inputs.paths]
            run(words, progress=self._progress)
            places: dict[str, dict[int, str]] = {}
            for rank in sorted(int(name.split("=")[1]) for name in os.listdir(folder)):
                below = os.path.join(folder, f"rank={rank}")
                for name in sorted(os.listdir(below)):
                    places.setdefault(name.rsplit(".", 1)[0], {})[rank] = os.path.join(below, name)
            self._places = places
        return self._places

    def __getitem__(self, name: str) -> Table:
        if name not in self._open:
            places = self._found()
            if name not in places:
                raise KeyError(f"no table {name}; there are {', '.join(sorted(places))}")
            found = places[name]
            self._open[name] = Table(list(found.values()), list(found))
        return self._open[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())

    def __repr__(self) -> str:
        return f"<tables: {', '.join(self._found())}>"


class Answer(Document):
    """The JSON document of a verb (docs/metrics.md defines its keys), with its top-level keys as attributes."""

    def __init__(self, document: Mapping[str, Any], words: Sequence[str], inputs: Inputs | None) -> None:
        super().__init__(document)
        self._words = list(words)  # the command, to repeat it in another format
        self._inputs = inputs

    @classmethod
    def _made(
        cls,
        document: Mapping[str, Any],
        words: Sequence[str],
        inputs: Inputs | None,
        options: Mapping[str, Any],
        code: int,
    ) -> Any:
        return cls(document, words, inputs)

    def _asked_as(self, *options: str) -> list[str]:
        """The same command with other output options, which follow the verb."""
        depth = next(i for i, word in enumerate(self._words) if word.startswith("-"))
        return [*self._words[:depth], *options, *self._words[depth:]]

    @property
    def headline(self) -> str:
        """The headline; empty if the verb has none."""
        return " ".join(self.get("headline") or [])

    @property
    def caveats(self) -> list[dict[str, Any]]:
        """Limitations of the input that affect the numbers, with their size."""
        return list(self.get("caveats", []))

    def to_frame(self, path: str) -> Any:
        """A list of objects in the document as a pandas.DataFrame: `to_frame("launch.top_kernels")`."""
        import pandas

        at: Any = self
        for key in path.split("."):
            at = at[key]
        return pandas.DataFrame(at)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the answer in the format of the file name: .html is the report page, .md, .csv, .json, .xlsx."""
        run(self._asked_as("-o", os.fspath(path)), fine=(0, 1))

    def show(self, height: int = 720) -> Any:
        """The report page below a notebook cell. It adds 0.7 MB to the notebook."""
        import html

        from IPython.display import HTML

        page = run(self._asked_as("--format=html"), fine=(0, 1))[0].decode()
        # A frame of another origin: scripts of the page cannot reach the notebook.
        return HTML(
            f'<iframe sandbox="allow-scripts" style="width:100%;height:{int(height)}px;border:0" '
            f'srcdoc="{html.escape(page)}"></iframe>'
        )

    def plot(self, of: str | None = None, *, top: int = 10, library: str | None = None) -> Any:
        """A chart of the answer: "causes" is a stacked bar, "kernels" has a bar per kernel, "iterations" has lines.

        By default it is the first of them that the answer contains. `library` is "altair" or "matplotlib", by default
        the first of the two that is installed."""
        from ._plot import of_answer

        return of_answer(self, of, top, library)

    def __repr__(self) -> str:
        return self.headline or f"<{self._words[0]}: {', '.join(self)}>"

    def _lines(self) -> list[tuple[str, str, str]]:
        """The rows of the card: (name, value, share)."""
        return []

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            f'<tr><td style="text-align:left">{html.escape(what)}</td><td>{html.escape(much)}</td>'
            f"<td>{html.escape(share)}</td></tr>"
            for what, much, share in self._lines()
        )
        inputs = ", ".join(str(one["name"]) for one in self["inputs"])
        tool = self["tool"]
        return (
            f"<div><p><b>{html.escape(self.headline)}</b></p>"
            + (f"<table>{rows}</table>" if rows else "")
            + f"<p><small>{html.escape(tool['name'])} {html.escape(tool['version'])} · {html.escape(inputs)}"
            + "</small></p></div>"
        )


def _ms(ns: float | None) -> str:
    return "" if ns is None else f"{ns / 1e6:.2f} ms"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


class Quantity:
    """A value of a finding. The unit of shares is "share" (0 to 1), that of counts and names is empty."""

    UNITS = {"_ns": "ns", "_share": "share", "_bytes": "bytes", "_bytes_per_s": "bytes/s", "_rate": "1/s", "_w": "W"}

    def __init__(self, key: str, value: Any) -> None:
        self.key = key
        self.value = value
        ends = [end for end in self.UNITS if key.endswith(end)]
        self.unit = self.UNITS[max(ends, key=len)] if ends else ""

    def __repr__(self) -> str:
        return f"{self.key}={self.value!r}{' ' + self.unit if self.unit else ''}"


class Finding:
    """One statement about the run. `code` is stable. `text` is the sentence of the report. `subjects` are pairs of kind
    and name. `quantities` are found by their keys. `evidence` (of the headline) has the shares that were recorded,
    inferred or absent."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.code: str = told["code"]
        self.role: str = told["role"]
        self.text: str = told["text"]
        self.subjects = [(one["kind"], one["name"]) for one in told.get("subjects", [])]
        self.quantities = {key: Quantity(key, value) for key, value in told.get("values", {}).items()}
        self.evidence: dict[str, float] = dict(told.get("evidence", {}))

    def __repr__(self) -> str:
        return f"<{self.role} {self.code}: {self.text}>"


class Report(Answer):
    """The answer of `assay report`."""

    tables: Mapping[str, Table]

    @classmethod
    def _made(
        cls,
        document: Mapping[str, Any],
        words: Sequence[str],
        inputs: Inputs | None,
        options: Mapping[str, Any],
        code: int,
    ) -> Any:
        made = cls(document, words, inputs)
        made.tables = Tables(inputs, options)
        return made

    @property
    def findings(self) -> list[Finding]:
        """The findings as data, the headline first."""
        return [Finding(one) for one in self.summary.get("findings", [])]

    @property
    def confidence(self) -> str:
        """high, medium, low or none; `confidence_text` has the reason."""
        return str(self.summary.get("confidence", {}).get("grade", "none"))

    @property
    def confidence_text(self) -> str:
        return str(self.summary.get("confidence", {}).get("text", ""))

    @property
    def summary(self) -> dict[str, Any]:
        """The first screen: bottleneck, headline, causes, actions, confidence."""
        return dict(self.get("summary") or {})

    @property
    def headline(self) -> str:
        return " ".join([*self.summary.get("headline", []), *self.summary.get("details", [])] or self["headline"])

    @property
    def bottleneck(self) -> str | None:
        """The bottleneck of the run: a code that explain() accepts."""
        return self.get("bottleneck") or self.summary.get("bottleneck")

    @property
    def causes(self) -> list[dict[str, Any]]:
        """The causes of lost time in the window, the largest first: `cause`, `ns`, `window_share`."""
        return sorted(self.summary.get("causes", []), key=lambda one: -one["ns"])

    @property
    def actions(self) -> list[dict[str, Any]]:
        """Recommended changes, each with `text`, `how`, `gain_ns` and `bound`."""
        return list(self.summary.get("actions", []))

    def _lines(self) -> list[tuple[str, str, str]]:
        causes = [(one["cause"], _ms(one["ns"]), _percent(one["window_share"])) for one in self.causes]
        actions = [
            (one["text"], f"{GRADES[one['bound']]} {_ms(one['gain_ns'])}", _percent(one["share"])) for one in self.actions
        ]
        return causes + actions


class Diff(Answer):
    """The answer of `assay diff`."""

    passed = True  # True if no gate failed

    @classmethod
    def _made(
        cls,
        document: Mapping[str, Any],
        words: Sequence[str],
        inputs: Inputs | None,
        options: Mapping[str, Any],
        code: int,
    ) -> Any:
        made = cls(document, words, inputs)
        made.passed = code == 0
        return made

    @property
    def gates(self) -> list[dict[str, Any]]:
        """Each `fail_on` gate, with its result."""
        return list(self["diff"].get("gates", []))


class WhatIf(Answer):
    """The answer of `assay whatif`."""

    @property
    def actions(self) -> list[dict[str, Any]]:
        """Each change separately: `name`, `before_ns`, `after_ns`, `gain_ns`, `low95_ns`, `high95_ns`, `refused`."""
        return list(self["whatif"].get("actions", []))

    @property
    def joint(self) -> dict[str, Any]:
        """All changes together."""
        return dict(self["whatif"]["joint"])

    def _lines(self) -> list[tuple[str, str, str]]:
        return [
            (
                one["edits"],
                f"{one['kind']} {_ms(one['gain_ns'])}" if one["gain_ns"] is not None else "not told",
                _percent(one["gain_ns"] / one["before_ns"]) if one["gain_ns"] and one["before_ns"] else "",
            )
            for one in self.actions
        ]


class Rows(ListOfRows):
    """Rows of a query, each a dict from column to value."""

    @classmethod
    def _made(
        cls,
        document: Mapping[str, Any],
        words: Sequence[str],
        inputs: Inputs | None,
        options: Mapping[str, Any],
        code: int,
    ) -> Any:
        return cls(document["rows"])

    def to_polars(self) -> Any:
        import polars

        return polars.DataFrame(list(self))

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame(list(self))

    def _repr_html_(self, most: int = 100) -> str:
        import html

        if not self:
            return "<p>no rows</p>"
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self[0])
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row.values()) + "</tr>"
            for row in self[:most]
        )
        more = f"<p><small>the first {most} of {len(self)} rows</small></p>" if len(self) > most else ""
        return f"<table><tr>{head}</tr>{body}</table>{more}"


def tables(
    source: Source, *, floor: str | None = None, threads: int = 0, allow_truncated: bool = False
) -> Mapping[str, Table]:
    """The tables of traces without a report: `assay export`. The options are those of `report`."""
    held = getattr(source, "inputs", None)
    inputs = held if isinstance(held, Inputs) else Inputs(source)
    return Tables(inputs, {"floor": floor, "threads": threads or None, "allow_truncated": allow_truncated})


def explain(word: str = "") -> str:
    """The meaning of a code, key or symbol of an answer; without one, the list of causes."""
    return run(["explain", *(["--", word] if word else [])])[0].decode()


__all__ = ["Answer", "Diff", "Finding", "Quantity", "Report", "Rows", "Tables", "WhatIf"]
