"""Work that a noun offers as a method and that a room below it does: `Skin.save`, `Skin.compile`, `Examples.open`.

Nouns import no room: they would drag it along wherever a noun is used, and every room imports nouns. They ask for the
work by name instead. This table says which room does it; the room is imported when the work is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

WORK = {
    "compile skin": ("posespace.runtime", "compile_skin"),
    "edit skin": ("posespace.skin.edit", "scaled"),
    "write skin": ("posespace.formats.skin_file", "write"),
    "read skin": ("posespace.formats.load", "load_skin"),
    "example store": ("posespace.formats.store.example_store", "ExampleStore"),
    "sculpt journal": ("posespace.formats.store.journal", "StoreJournal"),
}
"""What is asked for: the module that does it, and the name of its function or class."""


def late(work: str) -> Any:
    """Return the function or class that does a piece of work."""
    module, name = WORK[work]
    return getattr(import_module(module), name)
