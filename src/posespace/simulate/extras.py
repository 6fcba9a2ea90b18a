"""Which extras a simulation needs, asked for all at once before anything is loaded that needs them."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path

from posespace.errors import MissingExtraError
from posespace.formats.load import READERS

MODULES = {"simulate": ("netgen", "skimage", "threadpoolctl"), "cluster": ("dask", "distributed")}


def require_extras(*files: str | Path | None) -> None:
    """Refuse to begin where an extra is missing, of those that simulating and reading these files need."""
    needed: Mapping[str, tuple[str, ...]] = MODULES
    if any(file is not None and READERS.get(Path(file).suffix.lower()) == "usd" for file in files):
        needed = MODULES | {"usd": ("pxr",)}
    missing = [extra for extra, modules in needed.items() if not all(map(importlib.util.find_spec, modules))]
    if missing:
        raise MissingExtraError(missing, "simulating")
