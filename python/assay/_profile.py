"""torch.profiler with settings for Assay."""

from __future__ import annotations

import os
import weakref

from ._answers import Report
from ._program import AssayError
from ._questions import report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WARMUP = 2  # steps that the profiler discards, because its start is slow


class Profile:
    """Records steps and reports on them."""

    def __init__(self, steps: int | None, trace: str | os.PathLike[str] | None, settings: dict[str, Any]) -> None:
        self.steps = steps
        self.trace: str | None = None  # the file, once written
        self._settings = settings
        self._made = 0
        self._report: Report | None = None
        self._profiler: Any = None
        self._folder: str | None = None
        self._remove: Any = None
        self._target = os.fspath(trace) if trace is not None else os.path.join(self.folder(), "trace.json")

    def folder(self) -> str:
        """For files that are removed with this object."""
        if self._folder is None:
            import shutil
            import tempfile

            self._folder = tempfile.mkdtemp(prefix="assay-")
            self._remove = weakref.finalize(self, shutil.rmtree, self._folder, True)
        return self._folder

    def close(self) -> None:
        """Removes the folder and the profiler now."""
        self._profiler = None
        if self._remove is not None:
            self._remove()

    def _ready(self, profiler: Any) -> None:
        profiler.export_chrome_trace(self._target)
        self.trace = self._target

    @property
    def done(self) -> bool:
        """True if all steps are recorded; later steps run without the profiler."""
        return self.trace is not None

    def step(self) -> None:
        """Call it at the end of every step. It marks the steps, and ends the recording after `steps`."""
        self._made += 1
        self._profiler.step()

    def __enter__(self) -> Profile:
        import torch.profiler

        settings = dict(self._settings)
        if "activities" not in settings:
            settings["activities"] = torch.profiler.supported_activities()
        if self.steps is not None:
            settings["schedule"] = torch.profiler.schedule(wait=0, warmup=WARMUP, active=self.steps, repeat=1)
        self._profiler = torch.profiler.profile(on_trace_ready=self._ready, **settings)
        self._profiler.__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._profiler.__exit__(kind, error, trace)

    @property
    def report(self) -> Report:
        """The report on the recorded steps; created at first access."""
        if self._report is None:
            if self.trace is None:
                raise AssayError(
                    f"nothing is recorded: step() was called {self._made} times, the first {WARMUP} steps warm up"
                )
            self._report = report(self.trace)
        return self._report


def profile(
    steps: int | None = 10,
    *,
    trace: str | os.PathLike[str] | None = None,
    record_shapes: bool = True,
    with_stack: bool = False,
    **settings: Any,
) -> Profile:
    """torch.profiler around the body of a `with`: the first two steps warm up, the next `steps` are recorded.
    steps=None records the whole body. trace: the path to keep the file at; without it the file is deleted with the
    object. record_shapes distinguishes matrices of one operator by shape. with_stack records the Python stack of each
    operator, and slows Python down. Other keywords are those of torch.profiler.profile."""
    if steps is not None and steps < 1:
        raise ValueError("steps: at least 1, or None for the whole body")
    return Profile(steps, trace, {"record_shapes": record_shapes, "with_stack": with_stack, **settings})
