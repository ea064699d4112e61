"""Memory-mapped tables (docs/formats/columns.md).

Opening a table maps the file and reads its footer, which takes the same time at any number of rows. Numbers are not
copied. Any library with Arrow's C stream interface (`__arrow_c_stream__`: pyarrow, Polars, DuckDB, pandas) gets the
buffers without a copy; none of these is required.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Cells = Sequence[Any]
else:
    Cells = Sequence

MAGIC = b"ASSAYC1\0"
CODES = {"int64": "q", "uint64": "Q", "float64": "d"}  # format of memoryview
DTYPES = {"int64": "<i8", "uint64": "<u8", "float64": "<f8"}


class Part:
    """One file: the rows of one input."""

    def __init__(self, path: str | os.PathLike[str], rank: int | None = None) -> None:
        import json

        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < 2 * len(MAGIC) + 8:
                raise ValueError(f"{os.fspath(path)}: no table of assay")
            # Copy-on-write, because Arrow consumers need a writable address. Nothing writes to it.
            self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        self.view = memoryview(self.map)
        length = int.from_bytes(self.view[size - 16 : size - 8], "little")
        if self.map[:8] != MAGIC or self.map[size - 8 :] != MAGIC or length > size - 24:
            raise ValueError(f"{os.fspath(path)}: no table of assay, or cut short")
        footer = json.loads(self.map[size - 16 - length : size - 16])
        if footer["version"] != 1:
            raise ValueError(f"{os.fspath(path)}: a table of version {footer['version']}; this module reads 1")
        self.footer = footer
        self.rows: int = footer["rows"]
        self.rank: int = footer["rank"] if rank is None else rank
        self.columns: dict[str, dict[str, Any]] = {column["name"]: column for column in footer["columns"]}

    def bytes_of(self, place: Sequence[int]) -> memoryview:
        at, size = place
        if at < 0 or size < 0 or at + size > len(self.view):
            raise ValueError("a buffer lies outside of its table")
        return self.view[at : at + size]

    def values(self, name: str) -> memoryview:
        """The numbers, without a copy. For a text column: indices into its texts."""
        column = self.columns[name]
        code = CODES.get(column["type"], "i")
        return self.fitting(column["buffers"][0], self.rows * (4 if code == "i" else 8)).cast(code)

    def fitting(self, place: Sequence[int], size: int) -> memoryview:
        """The buffer at `place`, which must have this size."""
        if place[1] != size:
            raise ValueError(f"a buffer of {place[1]} bytes, where {self.rows} rows take {size}")
        return self.bytes_of(place)

    def bits(self, place: Sequence[int]) -> list[bool]:
        packed = self.fitting(place, (self.rows + 7) // 8)
        return [bool(packed[i >> 3] >> (i & 7) & 1) for i in range(self.rows)]

    def texts(self, name: str) -> list[str]:
        """The distinct texts of a column."""
        _, ends, letters = self.columns[name]["buffers"]
        offsets = self.bytes_of(ends).cast("q")
        text = bytes(self.bytes_of(letters))
        return [text[a:b].decode("utf-8", "replace") for a, b in zip(offsets, offsets[1:])]

    def there(self, name: str) -> list[bool] | None:
        """True for cells with a value; None if all have one."""
        column = self.columns[name]
        return self.bits(column["valid"]) if column.get("nulls") else None

    def cells(self, name: str) -> list[Any]:
        column = self.columns[name]
        cells: list[Any]
        if column["type"] == "bool":
            cells = list(self.bits(column["buffers"][0]))
        elif column["type"] == "text":
            texts = self.texts(name)
            cells = [texts[code] if texts else None for code in self.values(name)]
        else:
            cells = self.values(name).tolist()
        there = self.there(name)
        return cells if there is None else [cell if is_there else None for cell, is_there in zip(cells, there)]


class Column(Cells):
    """One column: its name, type, unit and meaning, and the sequence of its cells. A missing cell is None."""

    def __init__(self, parts: Sequence[Part], name: str) -> None:
        self._parts = parts
        self.name = name
        said = parts[0].columns[name] if name != "rank" or "rank" in parts[0].columns else RANK
        self.type: str = said["type"]
        self.unit: str = said["unit"]
        self.meaning: str = said["meaning"]
        self._cells: list[Any] | None = None

    @property
    def _made(self) -> bool:
        return self.name == "rank" and self.name not in self._parts[0].columns

    def __len__(self) -> int:
        return sum(part.rows for part in self._parts)

    def tolist(self) -> list[Any]:
        """All cells as Python objects."""
        if self._cells is None:
            cells: list[Any] = []
            for part in self._parts:
                cells += [part.rank] * part.rows if self._made else part.cells(self.name)
            self._cells = cells
        return self._cells

    def __getitem__(self, at: Any) -> Any:
        return self.tolist()[at]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __repr__(self) -> str:
        return f"<{self.name}: {self.type}{f' in {self.unit}' if self.unit else ''}, {len(self)} rows>"

    @property
    def nulls(self) -> int:
        """Number of missing cells."""
        return 0 if self._made else sum(part.columns[self.name].get("nulls", 0) for part in self._parts)

    @property
    def values(self) -> memoryview:
        """The numbers, without a copy. Only for a number column of one input; missing cells hold 0."""
        if len(self._parts) != 1 or self._made or self.type not in CODES:
            raise TypeError(f"{self.name} is not a number column of one input; tolist() and to_numpy() take any")
        return self._parts[0].values(self.name)

    def _mask(self, part: Part) -> Any:
        """A NumPy array, True for missing cells."""
        import numpy

        column = part.columns.get(self.name, {})
        if not column.get("nulls"):
            return numpy.zeros(part.rows, bool)
        packed = numpy.frombuffer(part.bytes_of(column["valid"]), "u1")
        return numpy.unpackbits(packed, count=part.rows, bitorder="little") == 0

    def mask(self) -> Any:
        """A NumPy array, True for missing cells."""
        import numpy

        return numpy.concatenate([self._mask(part) for part in self._parts])

    def _array(self, part: Part) -> Any:
        import numpy

        if self._made:
            return numpy.full(part.rows, part.rank, "<i8")
        column = part.columns[self.name]
        places = column["buffers"]
        if self.type == "bool":
            packed = numpy.frombuffer(part.bytes_of(places[0]), "u1")
            return numpy.unpackbits(packed, count=part.rows, bitorder="little").astype(bool)
        if self.type == "text":
            texts = numpy.array([*part.texts(self.name), None], dtype=object)
            codes = numpy.frombuffer(part.bytes_of(places[0]), "<i4")
            return texts[numpy.where(self._mask(part), len(texts) - 1, codes)]
        return numpy.frombuffer(part.bytes_of(places[0]), DTYPES[self.type])

    def to_numpy(self) -> Any:
        """A NumPy array. Numbers of one input are not copied and must not be modified. A missing number is 0 (see
        mask()), a missing text None."""
        import numpy

        arrays = [self._array(part) for part in self._parts]
        return arrays[0] if len(arrays) == 1 else numpy.concatenate(arrays)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        made = self.to_numpy()
        return made if dtype is None else made.astype(dtype)

    def to_pandas(self) -> Any:
        """A pandas.Series. Integers stay integers with missing cells; texts are categories."""
        import numpy
        import pandas

        values = self.to_numpy() if self.type != "text" else None
        if values is None:
            data = self._categories(numpy, pandas)
        elif self.nulls == 0:
            data = values
        elif self.type == "float64":
            data = numpy.where(self.mask(), numpy.nan, values)
        elif self.type == "bool":
            data = pandas.arrays.BooleanArray(values, self.mask())
        else:
            data = pandas.arrays.IntegerArray(values.copy(), self.mask())
        return pandas.Series(data, name=self.name, copy=False)

    def _categories(self, numpy: Any, pandas: Any) -> Any:
        known: dict[str, int] = {}
        codes = []
        for part in self._parts:
            own = numpy.array([known.setdefault(text, len(known)) for text in part.texts(self.name)] + [-1], "i4")
            stored = numpy.frombuffer(part.bytes_of(part.columns[self.name]["buffers"][0]), "<i4")
            codes.append(own[numpy.where(self._mask(part), len(own) - 1, stored)])
        return pandas.Categorical.from_codes(numpy.concatenate(codes), list(known))


RANK = {"name": "rank", "type": "int64", "unit": "", "meaning": "which input"}


class Table:
    """A table of a trace or a report. `table["dur_ns"]` is a Column; `columns` are the names."""

    def __init__(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        ranks: Sequence[int] | None = None,
    ) -> None:
        """ranks: value of the column `rank` for each file; None keeps the files' own."""
        named = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        parts = [Part(path, ranks[i] if ranks else None) for i, path in enumerate(named)]
        self.name: str = parts[0].footer["name"]
        self.meaning: str = parts[0].footer["meaning"]
        self.columns: list[str] = list(parts[0].columns)
        # A column that only some inputs have is omitted, because its type is unknown in the others.
        for part in parts[1:]:
            self.columns = [
                name
                for name in self.columns
                if name in part.columns and part.columns[name]["type"] == parts[0].columns[name]["type"]
            ]
        if len(parts) > 1 and "rank" not in self.columns:
            self.columns.insert(0, "rank")
        self.parts = parts

    def with_rank(self) -> Table:
        """The table with a column `rank`, also for one input. It is the rank of the trace. If some trace has no rank,
        it is the position of the input."""
        made = object.__new__(Table)
        made.__dict__.update(self.__dict__)
        if "rank" not in self.columns:
            made.columns = ["rank", *self.columns]
        return made

    def __len__(self) -> int:
        return sum(part.rows for part in self.parts)

    def __getitem__(self, name: str) -> Column:
        if name not in self.columns:
            raise KeyError(f"{self.name} has no column {name}; it has {', '.join(self.columns)}")
        return Column(self.parts, name)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows as dicts."""
        cells = [self[name].tolist() for name in self.columns]
        for row in zip(*cells):
            yield dict(zip(self.columns, row))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; units are in its `attrs["units"]`."""
        import pandas

        frame = pandas.DataFrame({name: self[name].to_pandas() for name in self.columns}, copy=False)
        frame.attrs["units"] = {name: self[name].unit for name in self.columns}
        return frame

    def to_pyarrow(self) -> Any:
        """A pyarrow.Table over the same buffers (pyarrow 14 or newer)."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """A polars.DataFrame (Polars 1.3 or newer)."""
        import polars

        return polars.DataFrame(self)

    def plot(self, *, top: int = 10, library: str | None = None) -> Any:
        """A chart of kernels (a bar for each of the `top` names), of causes of idle time, or of iterations.

        `library` is "altair" or "matplotlib", by default the first of the two that is installed."""
        from ._plot import of_table

        return of_table(self, top, library)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's C stream interface: a batch per input."""
        from ._arrow import capsule

        return capsule(self)

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self)} rows of {', '.join(self.columns)}>"

    def _repr_html_(self, most: int = 20) -> str:
        import html
        import itertools

        head = "".join(
            f'<th title="{html.escape(self[name].meaning)}">{html.escape(name)}</th>' for name in self.columns
        )
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row.values()) + "</tr>"
            for row in itertools.islice(self.rows(), most)
        )
        more = f"<p><small>the first {most} of {len(self)} rows</small></p>" if len(self) > most else ""
        return f"<table><tr>{head}</tr>{body}</table>{more}"
