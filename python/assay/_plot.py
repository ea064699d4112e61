"""Charts with the library that is installed: Altair, else Matplotlib."""

from __future__ import annotations

from ._program import AssayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

LIBRARIES = ("altair", "matplotlib")


def library_for(named: str | None) -> str:
    """The named library, else the first that is installed."""
    import importlib.util

    if named is not None and named not in LIBRARIES:
        raise ValueError(f"library: {' or '.join(LIBRARIES)}, not {named!r}")
    for library in LIBRARIES if named is None else (named,):
        if importlib.util.find_spec(library) is not None:
            return library
    missing = f"{named} is not" if named else f"neither {' nor '.join(LIBRARIES)} is"
    raise AssayError(f"plot: {missing} installed: pip install {named or LIBRARIES[0]}", kind="not_installed")


def summed(names: Iterable[Any], values: Iterable[Any], most: int) -> list[tuple[str, float]]:
    """The sum by name in milliseconds, the largest `most` first, the rest as one."""
    sums: dict[str, int] = {}
    for name, value in zip(names, values):
        sums[str(name)] = sums.get(str(name), 0) + (value or 0)
    order = sorted((one for one in sums.items() if one[1]), key=lambda one: -one[1])
    rest = order[most:]
    shown = order[:most] + ([(f"{len(rest)} more", sum(value for _, value in rest))] if rest else [])
    return [(name, value / 1e6) for name, value in shown]


def shortened(name: str, most: int = 45) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def bars(parts: Sequence[tuple[str, float]], title: str, library: str | None) -> Any:
    """One horizontal bar per name."""
    if library_for(library) == "altair":
        import altair

        rows = [{"name": name, "ms": value} for name, value in parts]
        return (
            altair.Chart(altair.Data(values=rows), title=title)
            .mark_bar()
            .encode(x="ms:Q", y=altair.Y("name:N", sort=None, title=None), tooltip=["name:N", "ms:Q"])
        )
    figure, axes = _figure(title, 0.3 * len(parts) + 1)
    axes.barh(range(len(parts)), [value for _, value in parts])
    axes.set_yticks(range(len(parts)), [shortened(name) for name, _ in parts])
    axes.invert_yaxis()
    axes.set_xlabel("ms")
    return figure


def stack(parts: Sequence[tuple[str, float]], title: str, library: str | None) -> Any:
    """One bar; each name is a part of it."""
    if library_for(library) == "altair":
        import altair

        rows = [{"name": name, "ms": value, "order": i} for i, (name, value) in enumerate(parts)]
        names = [name for name, _ in parts]
        return (
            altair.Chart(altair.Data(values=rows), title=title)
            .mark_bar()
            .encode(
                x="ms:Q",
                color=altair.Color("name:N", sort=names, title=None),
                order="order:Q",
                tooltip=["name:N", "ms:Q"],
            )
        )
    figure, axes = _figure(title, max(1.8, 0.25 * len(parts)))
    begin = 0.0
    for name, value in parts:
        axes.barh([0], [value], left=begin, label=shortened(name))
        begin += value
    axes.set_yticks([])
    axes.set_xlabel("ms")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
    return figure


def lines(series: Mapping[str, Sequence[float | None]], title: str, library: str | None) -> Any:
    """One line per name over the number of the iteration. Missing values are gaps."""
    if library_for(library) == "altair":
        import altair

        rows = [
            {"name": name, "iteration": i, "ms": value} for name, line in series.items() for i, value in enumerate(line)
        ]
        return (
            altair.Chart(altair.Data(values=rows), title=title)
            .mark_line(point=True)
            .encode(x="iteration:Q", y="ms:Q", color=altair.Color("name:N", title=None))
        )
    figure, axes = _figure(title, 3)
    for name, line in series.items():
        axes.plot(range(len(line)), [float("nan") if value is None else value for value in line], marker=".", label=name)
    axes.set_xlabel("iteration")
    axes.set_ylabel("ms")
    axes.legend(fontsize="small")
    return figure


def _figure(title: str, height: float) -> tuple[Any, Any]:
    # Not by pyplot, which keeps every figure and needs a display or a backend.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, height), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title)
    return figure, axes


ITERATION_LINES = {"il_ns": "inference latency", "kernel_sum_ns": "kernel time", "gpu_idle_union_ns": "GPU idle"}


def of_table(table: Any, top: int, library: str | None) -> Any:
    if table.name == "kernels":
        return bars(summed(table["name"], table["dur_ns"], top), "kernels by GPU time", library)
    if table.name == "contributors":
        return stack(summed(table["cause"], table["ns"], top), "idle time by cause", library)
    if table.name == "launch_iterations":
        return lines(_lines_of({key: table[key] for key in ITERATION_LINES if key in table}), "iterations", library)
    raise AssayError(
        f"plot: no chart is defined for the table {table.name}; kernels, contributors and launch_iterations have one",
        kind="invalid_argument",
    )


def of_answer(answer: Mapping[str, Any], of: str | None, top: int, library: str | None) -> Any:
    rows = {
        "causes": (answer.get("summary") or {}).get("causes") or answer.get("causes"),
        "kernels": (answer.get("launch") or {}).get("top_kernels"),
        "iterations": (answer.get("launch") or {}).get("iterations"),
    }
    there = [name for name, found in rows.items() if found]
    if of is None and there:
        of = there[0]
    if of not in there:
        asked = f"no chart of {of!r}" if of else "no chart"
        raise AssayError(
            f"plot: {asked} in this answer; " + (f"there are {', '.join(there)}" if there else "it has no rows for one"),
            kind="invalid_argument",
        )
    found = rows[of]
    if of == "causes":
        return stack(summed([one["cause"] for one in found], [one["ns"] for one in found], top), "GPU time", library)
    if of == "kernels":
        parts = summed([one["name"] for one in found], [one["dur_sum_ns"] for one in found], top)
        return bars(parts, "kernels by GPU time", library)
    cells = {key: [one.get(key) for one in found] for key in ITERATION_LINES}
    return lines(_lines_of(cells), "iterations", library)


def _lines_of(cells: Mapping[str, Iterable[Any]]) -> dict[str, list[float | None]]:
    return {
        ITERATION_LINES[key]: [None if value is None else value / 1e6 for value in column]
        for key, column in cells.items()
    }
