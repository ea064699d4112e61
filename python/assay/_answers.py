"""What the verbs answer, as objects."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ._program import AssayError, Inputs, flags, run, run_json
from .columns import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ._program import Source

    Document = dict[str, Any]
    ListOfRows = list[dict[str, Any]]
else:
    Document = dict
    ListOfRows = list

# How a gain is known, in words.
GRADES = {"upper_bound": "up to", "simulated": "simulated"}


class Tables(Mapping[str, Table]):
    """The tables of the traces, and of what the rooms say of them; made at the first look, opened one by
    one. Several inputs have a column `rank`, as in SQL."""

    def __init__(self, inputs: Inputs, options: Mapping[str, Any]) -> None:
        self._inputs = inputs
        self._options = dict(options)
        self._places: dict[str, dict[int, str]] | None = None  # by name and rank
        self._open: dict[str, Table] = {}

    def _found(self) -> dict[str, dict[int, str]]:
        if self._places is None:
            folder = os.path.join(self._inputs.folder(), "tables")
            run(["export", "--format=columns", "-o", folder, *flags(self._options), "--", *self._inputs.paths])
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
    """The JSON document of a verb (docs/metrics.md defines its keys), and its head as attributes."""

    def __init__(self, document: Mapping[str, Any], words: Sequence[str], inputs: Inputs) -> None:
        super().__init__(document)
        self._words = list(words)  # what was run, to be asked for in another form
        self._inputs = inputs

    @property
    def headline(self) -> str:
        """The answer in words."""
        return " ".join(self["headline"])

    @property
    def caveats(self) -> list[dict[str, Any]]:
        """What the numbers rest on, and how large the doubt is."""
        return list(self.get("caveats", []))

    def to_frame(self, path: str) -> Any:
        """A list of objects in the document as a pandas.DataFrame: `to_frame("launch.top_kernels")`."""
        import pandas

        at: Any = self
        for key in path.split("."):
            at = at[key]
        return pandas.DataFrame(at)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the answer as the name ends: .html is the page, .md, .csv, .json, .xlsx."""
        run([self._words[0], "-o", os.fspath(path), *self._words[1:]], fine=(0, 1))

    def show(self, height: int = 720) -> Any:
        """The page, below a notebook's cell. It is 0.7 MB, kept in the notebook."""
        import html

        from IPython.display import HTML

        page = run([self._words[0], "--format=html", *self._words[1:]], fine=(0, 1))[0].decode()
        # A frame without the notebook's origin: what the page runs cannot reach the notebook.
        return HTML(
            f'<iframe sandbox="allow-scripts" style="width:100%;height:{int(height)}px;border:0" '
            f'srcdoc="{html.escape(page)}"></iframe>'
        )

    def __repr__(self) -> str:
        return self.headline

    def _lines(self) -> list[tuple[str, str, str]]:
        """What the card lists: (what, how much, share)."""
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


class Report(Answer):
    """What `assay report` says."""

    def __init__(
        self, document: Mapping[str, Any], words: Sequence[str], inputs: Inputs, options: Mapping[str, Any]
    ) -> None:
        super().__init__(document, words, inputs)
        read = ("floor", "threads", "allow_truncated")  # what `export` takes as well
        self.tables: Mapping[str, Table] = Tables(inputs, {k: v for k, v in options.items() if k in read})

    @property
    def summary(self) -> dict[str, Any]:
        """The first screen: bottleneck, headline, causes, actions, confidence."""
        return dict(self.get("summary") or {})

    @property
    def headline(self) -> str:
        return " ".join([*self.summary.get("headline", []), *self.summary.get("details", [])] or self["headline"])

    @property
    def bottleneck(self) -> str | None:
        """What limits the run: a word that explain() knows."""
        return self.get("bottleneck") or self.summary.get("bottleneck")

    @property
    def causes(self) -> list[dict[str, Any]]:
        """Where the time of the window went, the largest first: `cause`, `ns`, `window_share`."""
        return sorted(self.summary.get("causes", []), key=lambda one: -one["ns"])

    @property
    def actions(self) -> list[dict[str, Any]]:
        """What would shorten it, each with `text`, `how`, `gain_ns` and `bound`."""
        return list(self.summary.get("actions", []))

    def _lines(self) -> list[tuple[str, str, str]]:
        causes = [(one["cause"], _ms(one["ns"]), _percent(one["window_share"])) for one in self.causes]
        actions = [
            (one["text"], f"{GRADES[one['bound']]} {_ms(one['gain_ns'])}", _percent(one["share"])) for one in self.actions
        ]
        return causes + actions


class Diff(Answer):
    """What `assay diff` says."""

    def __init__(self, document: Mapping[str, Any], words: Sequence[str], inputs: Inputs, passed: bool) -> None:
        super().__init__(document, words, inputs)
        self.passed = passed  # no gate was crossed

    @property
    def gates(self) -> list[dict[str, Any]]:
        """Each `fail_on`, and what came of it."""
        return list(self["diff"].get("gates", []))


class WhatIf(Answer):
    """What `assay whatif` says."""

    @property
    def actions(self) -> list[dict[str, Any]]:
        """Each change alone: `name`, `before_ns`, `after_ns`, `gain_ns`, `low95_ns`, `high95_ns`, `refused`."""
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


def report(source: Source, **options: Any) -> Report:
    """What binds a run, where its time went and what would change it: `assay report`."""
    inputs = Inputs(source)
    words = ["report", *flags(options), "--", *inputs.paths]
    return Report(run_json(words)[0], words, inputs, options)


def diff(a: Source, b: Source, **options: Any) -> Diff:
    """What changed from a to b, and whether it is more than noise: `assay diff`. A crossed gate (`fail_on`) is
    an answer: see `passed`. One that noise hides is an AssayError."""
    inputs = Inputs([a, b])
    words = ["diff", *flags(options), "--", *inputs.paths]
    document, code = run_json(words, fine=(0, 1))
    return Diff(document, words, inputs, passed=code == 0)


def whatif(source: Source, *edits: str, **options: Any) -> WhatIf:
    """What changes would give, replayed: `assay whatif --edit`; without any, every lever that applies."""
    inputs = Inputs(source)
    words = ["whatif", *(f"--edit={edit}" for edit in edits), *flags(options), "--", *inputs.paths]
    return WhatIf(run_json(words)[0], words, inputs)


def sql(source: Source, statement: str, **options: Any) -> Rows:
    """The rows of one statement over the tables of the traces: `assay sql` (docs/sql.md). Needs DuckDB's
    library, which is not part of the wheel."""
    inputs = Inputs(source)
    return Rows(run_json(["sql", f"--command={statement}", *flags(options), "--", *inputs.paths])[0]["rows"])


def tables(source: Source, **options: Any) -> Mapping[str, Table]:
    """The tables of traces without a report: `assay export`."""
    return Tables(Inputs(source), options)


def explain(word: str = "") -> str:
    """What a word of an answer, a key or a symbol means; without one, the list of causes."""
    return run(["explain", *(["--", word] if word else [])])[0].decode()


__all__ = ["AssayError", "Answer", "Diff", "Report", "Rows", "Tables", "WhatIf"]
