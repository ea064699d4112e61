"""Arrow's C stream interface (arrow.apache.org/docs/format/CStreamInterface.html), implemented with ctypes.

Consumers pass uninitialized memory, so every field of a struct is set. Data that a consumer holds is kept alive under
a number in `private_data` until the consumer calls `release`.
"""

from __future__ import annotations

import array
import ctypes as c
import itertools
from typing import Any

FORMATS = {"int64": b"l", "uint64": b"L", "float64": b"g", "bool": b"b", "text": b"i"}
NULLABLE = 2  # ARROW_FLAG_NULLABLE


class ArrowSchema(c.Structure):
    pass


class ArrowArray(c.Structure):
    pass


class ArrowArrayStream(c.Structure):
    pass


_ReleaseSchema = c.CFUNCTYPE(None, c.POINTER(ArrowSchema))
_ReleaseArray = c.CFUNCTYPE(None, c.POINTER(ArrowArray))
_ReleaseStream = c.CFUNCTYPE(None, c.POINTER(ArrowArrayStream))
_GetSchema = c.CFUNCTYPE(c.c_int, c.POINTER(ArrowArrayStream), c.POINTER(ArrowSchema))
_GetNext = c.CFUNCTYPE(c.c_int, c.POINTER(ArrowArrayStream), c.POINTER(ArrowArray))
_LastError = c.CFUNCTYPE(c.c_void_p, c.POINTER(ArrowArrayStream))
ArrowSchema._fields_ = [
    ("format", c.c_void_p),
    ("name", c.c_void_p),
    ("metadata", c.c_void_p),
    ("flags", c.c_int64),
    ("n_children", c.c_int64),
    ("children", c.POINTER(c.POINTER(ArrowSchema))),
    ("dictionary", c.POINTER(ArrowSchema)),
    ("release", _ReleaseSchema),
    ("private_data", c.c_void_p),
]
ArrowArray._fields_ = [
    ("length", c.c_int64),
    ("null_count", c.c_int64),
    ("offset", c.c_int64),
    ("n_buffers", c.c_int64),
    ("n_children", c.c_int64),
    ("buffers", c.POINTER(c.c_void_p)),
    ("children", c.POINTER(c.POINTER(ArrowArray))),
    ("dictionary", c.POINTER(ArrowArray)),
    ("release", _ReleaseArray),
    ("private_data", c.c_void_p),
]
ArrowArrayStream._fields_ = [
    ("get_schema", _GetSchema),
    ("get_next", _GetNext),
    ("get_last_error", _LastError),
    ("release", _ReleaseStream),
    ("private_data", c.c_void_p),
]

_held: dict[int, Any] = {}
_numbers = itertools.count(1)


def _hold(*things: Any) -> int:
    number = next(_numbers)
    _held[number] = things
    return number


def _release_tree(kind: Any) -> Any:
    def release(pointer: Any) -> None:
        at = pointer.contents
        for i in range(at.n_children):
            child = at.children[i]
            if child.contents.release:  # otherwise the consumer has moved it out
                child.contents.release(child)
        if at.dictionary and at.dictionary.contents.release:
            at.dictionary.contents.release(at.dictionary)
        _held.pop(at.private_data, None)
        at.release = kind()

    return kind(release)


def _stream_released(pointer: Any) -> None:
    _held.pop(pointer.contents.private_data, None)
    pointer.contents.release = _ReleaseStream()


_drop_schema = _release_tree(_ReleaseSchema)
_drop_array = _release_tree(_ReleaseArray)
_drop_stream = _ReleaseStream(_stream_released)


def _set_schema(at: Any, form: bytes, name: str, children: Any = (), dictionary: Any = None) -> Any:
    words = (c.create_string_buffer(form), c.create_string_buffer(name.encode()))
    pointers = (c.POINTER(ArrowSchema) * len(children))(*[c.pointer(child) for child in children])
    at.format, at.name = (c.addressof(word) for word in words)
    at.metadata = None
    at.flags = NULLABLE
    at.n_children = len(children)
    at.children = c.cast(pointers, c.POINTER(c.POINTER(ArrowSchema))) if children else None
    at.dictionary = c.pointer(dictionary) if dictionary is not None else None
    at.release = _drop_schema
    at.private_data = _hold(words, pointers, children, dictionary)
    return at


def _set_array(
    at: Any, rows: int, buffers: Any, owner: Any, nulls: int = 0, children: Any = (), dictionary: Any = None
) -> Any:
    places = (c.c_void_p * len(buffers))(*buffers)
    pointers = (c.POINTER(ArrowArray) * len(children))(*[c.pointer(child) for child in children])
    at.length, at.null_count, at.offset = rows, nulls, 0
    at.n_buffers, at.n_children = len(buffers), len(children)
    at.buffers = c.cast(places, c.POINTER(c.c_void_p))
    at.children = c.cast(pointers, c.POINTER(c.POINTER(ArrowArray))) if children else None
    at.dictionary = c.pointer(dictionary) if dictionary is not None else None
    at.release = _drop_array
    at.private_data = _hold(owner, places, pointers, children, dictionary)
    return at


def _column_array(part: Any, name: str) -> Any:
    if name not in part.columns:  # the rank column of several inputs
        made = array.array("q", [part.rank]) * part.rows
        return _set_array(ArrowArray(), part.rows, [None, made.buffer_info()[0]], made)
    column = part.columns[name]
    base = c.addressof(c.c_char.from_buffer(part.map))

    def address(place: Any, size: int | None = None) -> int:
        part.bytes_of(place) if size is None else part.fitting(place, size)  # checks the size
        return base + place[0]

    bits = (part.rows + 7) // 8
    bytes_of = {"bool": bits, "text": 4 * part.rows}
    places = column["buffers"]
    nulls = column.get("nulls", 0)
    valid = address(column["valid"], bits) if nulls else None
    texts = None
    if column["type"] == "text":
        count = places[1][1] // 8 - 1
        texts = _set_array(ArrowArray(), count, [None, address(places[1]), address(places[2])], part)
    first = address(places[0], bytes_of.get(column["type"], 8 * part.rows))
    return _set_array(ArrowArray(), part.rows, [valid, first], part, nulls, (), texts)


class _Stream:
    """The shared state of the callbacks of one stream."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.parts = iter(table.parts)
        self.error = c.create_string_buffer(b"")

    def get_schema(self, _: Any, out: Any) -> int:
        try:
            children = []
            for name in self.table.columns:
                kind = self.table[name].type
                words = _set_schema(ArrowSchema(), b"U", "") if kind == "text" else None
                children.append(_set_schema(ArrowSchema(), FORMATS[kind], name, (), words))
            _set_schema(out.contents, b"+s", "", children)
        except Exception as error:  # C receives an error code, never an exception
            return self._failed(error)
        return 0

    def get_next(self, _: Any, out: Any) -> int:
        try:
            part = next(self.parts, None)
            if part is None:
                out.contents.release = _ReleaseArray()  # end of the stream
                return 0
            children = [_column_array(part, name) for name in self.table.columns]
            _set_array(out.contents, part.rows, [None], part, 0, children)
        except Exception as error:
            return self._failed(error)
        return 0

    def _failed(self, error: Exception) -> int:
        self.error = c.create_string_buffer(str(error).encode())
        return 5  # EIO

    def last_error(self, _: Any) -> int:
        return c.addressof(self.error)


def stream(table: Any) -> ArrowArrayStream:
    """A stream that a consumer may take over; its owner calls `release`."""
    state = _Stream(table)
    made = ArrowArrayStream()
    made.get_schema = _GetSchema(state.get_schema)
    made.get_next = _GetNext(state.get_next)
    made.get_last_error = _LastError(state.last_error)
    made.release = _drop_stream
    made.private_data = _hold(state, made.get_schema, made.get_next, made.get_last_error)
    return made


_NAME = b"arrow_array_stream"
_Destructor = c.PYFUNCTYPE(None, c.c_void_p)
_capsule_new = c.PYFUNCTYPE(c.py_object, c.c_void_p, c.c_char_p, _Destructor)(("PyCapsule_New", c.pythonapi))
_capsule_pointer = c.PYFUNCTYPE(c.c_void_p, c.c_void_p, c.c_char_p)(("PyCapsule_GetPointer", c.pythonapi))
_streams: dict[int, ArrowArrayStream] = {}  # by address


def _capsule_gone(capsule_at: int) -> None:
    unused = _streams.pop(_capsule_pointer(capsule_at, _NAME), None)
    if unused is not None and unused.release:  # otherwise a consumer has moved it out
        unused.release(c.byref(unused))


_capsule_destructor = _Destructor(_capsule_gone)


def capsule(table: Any) -> object:
    made = stream(table)
    _streams[c.addressof(made)] = made
    return _capsule_new(c.addressof(made), _NAME, _capsule_destructor)
