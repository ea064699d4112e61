"""Watches a training loop. A few steps are recorded now and then, and analyzed while the loop continues.

Examples of a plain loop, of Lightning and of Hugging Face:

    with assay.torch.Watch(every=500, steps=3) as watch:
        for batch in loader:
            train(batch)
            watch.step()

    lightning.Trainer(callbacks=[watch.lightning()])
    transformers.Trainer(..., callbacks=[watch.transformers()])
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque

from ._answers import Report
from ._profile import WARMUP, Profile
from ._program import AssayError, document_of, program, told_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

PLAIN_STEPS = 200  # the median of these last steps without a profiler is the time of a step
LAST_ANSWER_S = 60  # how long the end of the loop waits for an answer


class Asked:
    """One recording, for which the program answers in a process of its own."""

    def __init__(self, step: int, recording: Profile, overhead_s: float | None) -> None:
        import subprocess

        self.step = step
        self.recording = recording
        self.overhead_s = overhead_s
        self.words = ["report", "--format=json", "--threads=1", "--", str(recording.trace)]
        folder = recording.folder()
        self._printed = os.path.join(folder, "report.json")
        self._said = os.path.join(folder, "errors.txt")
        # Files, not pipes: a pipe that is full would stop the program until the loop reads it.
        with open(self._printed, "wb") as printed, open(self._said, "wb") as said:
            self.child = subprocess.Popen(
                [program(), *self.words],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=said,
                env={**os.environ, "ASSAY_ERRORS": "json"},
            )

    def report(self) -> Report:
        """The answer of a child that has ended."""
        code = self.child.returncode
        if code:
            with open(self._said, encoding="utf-8", errors="replace") as said:
                text = said.read().strip()
            raise told_error(text or f"assay left with {code} and said nothing", code)
        with open(self._printed, "rb") as printed:
            return Report(document_of(printed.read()), self.words, None)


def numbers_of(report: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of an answer that are worth a curve. Times are in seconds. A number that is not known is absent."""
    summary = report.get("summary") or {}
    found: dict[str, float | None] = {"window_s": (summary.get("window_ns") or 0) / 1e9 or None}
    for one in summary.get("causes", []):
        found[f"share/{one['cause']}"] = one["window_share"]
    actions = summary.get("actions") or []
    if actions:
        found["best_gain_share"] = max(one.get("share") or 0 for one in actions)
    whole = (report.get("launch") or {}).get("whole") or {}
    found["kernels"] = whole.get("kernels")
    found["gpu_idle_share"] = whole.get("gpu_idle_share")
    return {name: float(value) for name, value in found.items() if value is not None}


def open_metrics(step: int, numbers: Mapping[str, float]) -> str:
    """The numbers as OpenMetrics text, each a gauge."""
    lines = ["# TYPE assay_step gauge", f"assay_step {step}"]
    shares = [(name.split("/", 1)[1], value) for name, value in numbers.items() if name.startswith("share/")]
    if shares:
        lines.append("# TYPE assay_time_ratio gauge")
        lines += [f'assay_time_ratio{{cause="{cause}"}} {value!r}' for cause, value in shares]
    for name, value in numbers.items():
        if name.startswith("share/"):
            continue
        for ending, unit in (("_share", "_ratio"), ("_s", "_seconds")):
            if name.endswith(ending):
                name = name[: -len(ending)] + unit
                break
        lines += [f"# TYPE assay_{name} gauge", f"assay_{name} {value!r}"]
    return "\n".join([*lines, "# EOF", ""])


class Watch:
    """Records `steps` steps after each `every` steps, and logs the report about them.

    Another process computes the report while the loop continues. An error is logged and never raised into the loop.
    `every` counts the steps from one recording to the next. Two steps warm up the profiler before each recording.
    Only the process of rank `rank` records, and each process with None. The environment variable RANK has the rank of a
    process, and an unset one means 0.
    `log` gets the headline as a line of text.
    `tensorboard` is a SummaryWriter, or a folder for one. A run of W&B or MLflow that is active in the process also gets
    the numbers.
    `metrics` names a file of OpenMetrics text. It is replaced at each answer.
    `keep` names a folder for the traces and reports. Both are removed if it is None.
    Other keywords are those of torch.profiler.profile."""

    def __init__(
        self,
        every: int = 500,
        steps: int = 3,
        *,
        rank: int | None = 0,
        log: Callable[[str], Any] = print,
        tensorboard: Any = None,
        metrics: str | os.PathLike[str] | None = None,
        keep: str | os.PathLike[str] | None = None,
        record_shapes: bool = True,
        **settings: Any,
    ) -> None:
        if steps < 1:
            raise ValueError("steps: at least 1")
        if every <= steps + WARMUP:
            raise ValueError(f"every: more than the {steps + WARMUP} steps that a recording takes")
        self.every = every
        self.steps = steps
        self.summaries: list[dict[str, Any]] = []  # step, headline and numbers of every answer
        self.overhead_s = 0.0  # of all recordings
        self.loggers: list[Any] = []  # of Lightning; they take the place of the active runs
        self._records = rank is None or int(os.environ.get("RANK") or 0) == rank
        self._log = log
        self._tensorboard = tensorboard
        self._metrics = metrics
        self._keep = keep
        self._settings = {"record_shapes": record_shapes, **settings}
        self._made = 0  # steps
        self._plain: deque[float] = deque(maxlen=PLAIN_STEPS)  # seconds of the last steps without a profiler
        self._recorded: list[float] = []  # seconds of the steps of this recording
        self._recording: Profile | None = None
        self._asked: Asked | None = None
        self._began = 0.0
        self._before: float | None = None  # when the step before ended

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def start(self) -> None:
        """Begins to watch; AssayError without the program or without PyTorch."""
        import importlib.util

        if self._records:
            program()
            if "torch" not in sys.modules and importlib.util.find_spec("torch") is None:
                raise AssayError("Watch records with torch.profiler, and PyTorch is not installed", kind="not_installed")
        self._began = self._before = time.perf_counter()

    def step(self) -> None:
        """Call it at the end of every step."""
        self._made += 1
        if not self._records or self._before is None:
            return
        is_plain = self._recording is None
        try:
            self._advance()
        except Exception as error:  # the profiler is in use, the disk is full: the training goes on
            self._give_up(error)
        is_plain = is_plain and self._recording is None
        now = time.perf_counter()
        if is_plain:
            self._plain.append(now - self._before)
        else:
            self._recorded.append(now - self._before)
        self._before = now
        if not is_plain and self._recording is not None and self._recording.done:
            self._ask()
        elif self._asked is not None and self._asked.child.poll() is not None:
            self._answer()
            self._before = time.perf_counter()

    def _advance(self) -> None:
        if self._recording is not None:
            self._recording.step()
            if self._recording.done:
                self._recording.__exit__(None, None, None)
        elif self._made % self.every == 0:
            if self._asked is not None:
                self._log(f"assay: step {self._made}: not recorded, the answer to step {self._asked.step} is not there yet")
                return
            self._recorded = []
            recording = Profile(self.steps, None, dict(self._settings))
            recording.__enter__()
            self._recording = recording

    def _give_up(self, error: Exception) -> None:
        recording, self._recording = self._recording, None
        self._log(f"assay: step {self._made}: not recorded: {error}")
        if recording is not None:
            import contextlib

            with contextlib.suppress(Exception):
                recording.__exit__(None, None, None)
            recording.close()

    def _overhead(self) -> float | None:
        """The time of this recording beyond that of as many steps without a profiler."""
        if not self._plain:
            return None
        median = sorted(self._plain)[len(self._plain) // 2]
        return max(0.0, sum(self._recorded) - len(self._recorded) * median)

    def _ask(self) -> None:
        recording, self._recording = self._recording, None
        assert recording is not None
        overhead = self._overhead()
        self.overhead_s += overhead or 0.0
        begin = time.perf_counter()
        try:
            self._asked = Asked(self._made, recording, overhead)
            self._count(self._asked, begin)
        except (OSError, AssayError) as error:
            self._log(f"assay: step {self._made}: no answer: {error}")
            recording.close()

    def _count(self, asked: Asked, begin: float) -> None:
        """Adds the time since `begin` to the overhead."""
        took = time.perf_counter() - begin
        self.overhead_s += took
        if asked.overhead_s is not None:
            asked.overhead_s += took

    def _answer(self) -> None:
        asked, self._asked = self._asked, None
        assert asked is not None
        begin = time.perf_counter()
        try:
            report = asked.report()
            numbers = numbers_of(report)
            self._count(asked, begin)
            if asked.overhead_s is not None:
                numbers["watch_overhead_s"] = asked.overhead_s
            self.summaries.append({"step": asked.step, "headline": report.headline, "numbers": numbers})
            self._log(self._line(asked, report))
            self._publish(asked.step, numbers)
            if self._keep is not None:
                self._keep_files(asked)
        except Exception as error:
            self._log(f"assay: step {asked.step}: no answer: {error}")
        asked.recording.close()

    def _line(self, asked: Asked, report: Report) -> str:
        cost = ""
        if asked.overhead_s is not None:
            elapsed = time.perf_counter() - self._began
            cost = f" (watching took {asked.overhead_s:.2f} s, {100 * self.overhead_s / elapsed:.1f} % of the run so far)"
        return f"assay: step {asked.step}: {report.headline}{cost}"

    def _publish(self, step: int, numbers: Mapping[str, float]) -> None:
        if self._metrics is not None:
            place = os.fspath(self._metrics)
            # A reader of the file sees the old numbers or the new ones.
            with open(place + ".new", "w", encoding="utf-8") as file:
                file.write(open_metrics(step, numbers))
            os.replace(place + ".new", place)
        named = {f"assay/{name}": value for name, value in numbers.items()}
        if self._tensorboard is not None:
            if not hasattr(self._tensorboard, "add_scalar"):
                from torch.utils.tensorboard import SummaryWriter

                self._tensorboard = SummaryWriter(os.fspath(self._tensorboard))
            for name, value in named.items():
                self._tensorboard.add_scalar(name, value, step)
        for logger in self.loggers:
            logger.log_metrics(named, step)
        if self.loggers:
            return
        # Only what the program has imported itself can have a run.
        wandb, mlflow = sys.modules.get("wandb"), sys.modules.get("mlflow")
        if wandb is not None and getattr(wandb, "run", None) is not None:
            # W&B drops rows with a step before its newest one. So the step is one of the numbers.
            wandb.run.log({**named, "assay/step": step}, commit=False)
        if mlflow is not None and mlflow.active_run() is not None:
            mlflow.log_metrics(named, step=step)

    def _keep_files(self, asked: Asked) -> None:
        import shutil

        folder = os.fspath(self._keep)  # type: ignore[arg-type]
        os.makedirs(folder, exist_ok=True)
        place = os.path.join(folder, f"step{asked.step}")
        shutil.move(str(asked.recording.trace), place + ".json")
        shutil.move(asked._printed, place + ".report.json")

    def stop(self) -> None:
        """Ends a recording, and waits for the last answer. Called once more, it does nothing."""
        import subprocess

        if self._before is None:
            return
        self._before = None
        recording, self._recording = self._recording, None
        if recording is not None:
            try:
                recording.__exit__(None, None, None)
            except Exception as error:
                self._log(f"assay: step {self._made}: not recorded: {error}")
            recording.close()
        if self._asked is not None:
            begin = time.perf_counter()
            try:
                self._asked.child.wait(LAST_ANSWER_S)
            except subprocess.TimeoutExpired:
                self._asked.child.kill()
                self._asked.child.wait()
            self._count(self._asked, begin)
            self._answer()
        if self._records and self.summaries:
            share = self.overhead_s / max(1e-9, time.perf_counter() - self._began)
            self._log(f"assay: {len(self.summaries)} answers; watching took {self.overhead_s:.2f} s, {100 * share:.1f} % of the run")

    def lightning(self) -> Any:
        """A Callback for Lightning's Trainer. The Trainer's loggers get the numbers."""
        try:
            from lightning.pytorch import Callback
        except ImportError:
            from pytorch_lightning import Callback
        watch = self

        class Steps(Callback):  # type: ignore[misc,valid-type]
            def on_train_start(self, trainer: Any, module: Any) -> None:
                watch.loggers = list(trainer.loggers)
                watch.start()

            def on_train_batch_end(self, *_: Any, **__: Any) -> None:
                watch.step()

            def on_train_end(self, *_: Any) -> None:
                watch.stop()

            def on_exception(self, *_: Any) -> None:
                watch.stop()

        return Steps()

    def transformers(self) -> Any:
        """A TrainerCallback for the Trainer of Hugging Face."""
        from transformers import TrainerCallback

        watch = self

        class Steps(TrainerCallback):  # type: ignore[misc,valid-type]
            def on_train_begin(self, *_: Any, **__: Any) -> None:
                watch.start()

            def on_step_end(self, *_: Any, **__: Any) -> None:
                watch.step()

            def on_train_end(self, *_: Any, **__: Any) -> None:
                watch.stop()

        return Steps()


__all__ = ["Watch"]
