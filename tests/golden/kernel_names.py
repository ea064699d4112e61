"""A person's classification of kernel names, tests/data/kernel_names.tsv."""

import csv
import pathlib

TABLE = pathlib.Path(__file__).resolve().parent.parent / "data/kernel_names.tsv"
_rows = {}
unread = set()


def read(name):
    """The row of a name. An unclassified name counts as other, and is kept in `unread`."""
    if not _rows:
        with TABLE.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                _rows[row["name"]] = row
    row = _rows.get(name)
    if row is None:
        unread.add(name)
        return {"kind": "other", "family": "Other", "collective": "", "vendor_library": "0",
                "paper_library": "0"}
    return row
