"""One or several traces for several questions."""

from __future__ import annotations

from . import _questions as questions
from ._answers import Tables
from ._program import Inputs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._answers import Report, Rows
    from ._program import Source
    from .columns import Table


class Trace:
    """A trace, or the traces of a job. The first question reads them.

    Each verb of the command line is a method, for example `breakdown(by="layer")`. Properties are tables with device,
    stream and rank as the file numbers them. Any library with Arrow's C stream interface can read them."""

    def __init__(self, source: Source, progress: Callable[[int, int, str], Any] | None = None) -> None:
        self.inputs = Inputs(source)
        self.progress = progress
        self._tables: Tables | None = None
        self._diagnosis: Report | None = None

    report = questions.report
    why = questions.why
    launch = questions.launch
    overhead = questions.overhead
    breakdown = questions.breakdown
    roofline = questions.roofline
    fusion = questions.fusion
    whatif = questions.whatif
    power = questions.power
    sql = questions.sql
    info = questions.info

    @property
    def diagnosis(self) -> Report:
        """The bottleneck of the run, with findings, actions and confidence: `report()` without options, run once."""
        if self._diagnosis is None:
            self._diagnosis = self.report()
        return self._diagnosis

    @property
    def tables(self) -> Tables:
        """All tables by name: those of the trace and of the analyses."""
        if self._tables is None:
            self._tables = Tables(self.inputs, {}, self.progress)
        return self._tables

    def _table(self, name: str) -> Table:
        return self.tables[name].with_rank()

    @property
    def kernels(self) -> Table:
        """Kernels with device, stream, operator and launch time."""
        return self._table("kernels")

    @property
    def operators(self) -> Table:
        """Host operators: start_ns, dur_ns, name, thread (a row of `tables["threads"]`) and rank."""
        return self._table("ops")

    @property
    def iterations(self) -> Table:
        """Iterations with their launch and idle metrics."""
        return self._table("launch_iterations")

    @property
    def idle(self) -> Table:
        """Causes of idle time and their contributors."""
        return self._table("contributors")

    @property
    def collectives(self) -> Table:
        """Collective kernels: operation, elements, group, time, device and stream."""
        return self._table("collectives")

    @property
    def copies(self) -> Table:
        """Copies and fills: bytes, time, device and stream."""
        return self._table("transfers")

    @property
    def memory(self) -> Table:
        """Events of the allocator: time_ns, bytes, totals, device."""
        return self._table("memory_events")

    @property
    def layers(self) -> Rows:
        """GPU time by layer: the groups of `breakdown(by="layer")`."""
        from ._answers import Rows

        return Rows(self.breakdown(by="layer")["breakdown"].get("groups", []))

    def __repr__(self) -> str:
        return f"<trace: {', '.join(self.inputs.paths)}>"

    def _repr_html_(self) -> str:
        return self.diagnosis._repr_html_()


def open(source: Source, *, progress: Callable[[int, int, str], Any] | None = None) -> Trace:  # noqa: A001
    """A trace for several questions: a path, a folder of ranks, a pattern, several of these, or a stopped
    torch.profiler.profile.

    While a file is read, `progress` is called with the bytes read, the total bytes (0 if unknown) and the name of the
    file. If it raises an exception, the question ends and raises it again."""
    return Trace(source, progress)
