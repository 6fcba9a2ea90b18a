"""Finds keys of JSON output that are no identifiers."""

from __future__ import annotations

import re
from typing import Any

from posespace.report.figures import BY_NAME


def wrong_keys(value: Any, by_name: bool = False) -> set[str]:
    """Return the keys, at any depth, that are no identifiers; those of maps keyed by names may be anything."""
    if isinstance(value, list):
        return set().union(*(wrong_keys(entry) for entry in value))
    if not isinstance(value, dict):
        return set()
    wrong = {key for key in value if not by_name and not re.fullmatch(r"[a-z][a-z0-9_]*", key)}
    # A map by name, such as limits, may hold maps by axis.
    return wrong.union(*(wrong_keys(entry, key in BY_NAME) for key, entry in value.items()))
