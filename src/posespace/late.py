"""Late imports: methods of nouns that other packages implement, such as `Skin.save` and `Examples.open`.

Nouns do not import these packages: every package imports nouns, and a program that uses a noun would load them all.
Nouns name the work instead. The table below says where it is implemented; it is imported on first use.
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
"""The module and the name of the function or class that implements each piece of work."""


def late(work: str) -> Any:
    """Return the function or class that implements a piece of work."""
    module, name = WORK[work]
    return getattr(import_module(module), name)
