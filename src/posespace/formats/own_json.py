"""Small JSON files of the library's own: they begin with what they hold and the version of its form."""

from __future__ import annotations

from pathlib import Path

from posespace.errors import FileError
from posespace.formats import files
from posespace.formats.checked_json import Fields

_MOST_BYTES = 10_000_000


def read(path: Path, kind: str, version: int, what: str) -> Fields:
    """Return the content of a file of a `kind`, such as "limits"; raise where it is none, calling it `what`."""
    content = files.parse_json(path, files.read_text(path, _MOST_BYTES))
    with files.naming(path):
        fields = Fields(content, "the file")
        if fields.values.get("posespace") != kind:
            raise FileError(path, f'is not {what}; it begins with "posespace": "{kind}", "version": {version}')
        if fields.integer("version") != version:
            raise FileError(path, f"expected version {version}, got {fields.integer('version')}")
        return fields
