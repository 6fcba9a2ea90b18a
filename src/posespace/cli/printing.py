"""How the command line prints: figures for people, JSON for programs, one line where something is wrong."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from contextlib import suppress
from typing import Any

import click

from posespace.cli.typed import as_typed
from posespace.errors import one_line

_WIDTH = 120
"""Lines of figures are broken here."""
ENTRIES_SHOWN = 6
"""Entries of a list that people see."""
_KEPT, _NAME = "\0", 60
"""A space at which no line is broken, so that a name can be copied; what has more characters is no name."""


def print_one(figures: dict[str, Any], as_json: bool) -> None:
    """Print the figures of one file, for people or for programs."""
    if as_json:
        print_json(figures)
    else:
        print_figures(figures.pop("file"), figures)


def print_json(value: Any) -> None:
    """Print JSON; numbers that are not finite become null, since JSON has no word for them."""
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        # In JSON's own escapes, which every reader understands.
        text = json.dumps(_finite(value), indent=2)
    print(text)


def markdown_table(rows: list[dict[str, Any]]) -> str:
    """Return rows as a Markdown table; the keys are its headings, and a row may lack some columns."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    lines = [f"| {' | '.join(keys)} |", "|---" * len(keys) + "|"]
    lines += [f"| {' | '.join(one_line(str(row.get(key, ''))) for key in keys)} |" for row in rows]
    return "\n".join(lines)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_figures(title: str, figures: dict[str, Any], whole: bool = False) -> None:
    """Print figures under a title, nested ones indented; of long lists the first entries, unless they are `whole`."""
    from posespace.cli.shortening import shortened

    click.secho(one_line(title), bold=True)
    for line in _lines(shortened(figures), 1, sys.maxsize if whole else ENTRIES_SHOWN):
        click.echo(one_line(line))


def _lines(figures: dict[str, Any], depth: int, most: int, by_name: bool = False) -> list[str]:
    """The lines of figures, a label each; names, the keys of maps that are `by_name`, stay as they are."""
    from posespace.report.figures import BY_NAME, label

    lines: list[str] = []
    for key, value in figures.items():
        start = "  " * depth + (key if by_name else label(key))
        if isinstance(value, dict):
            # A setting that was not given is None.
            entries = {name: "default" if key == "settings" and it is None else it for name, it in value.items()}
            lines += [start, *_lines(entries, depth + 1, most, key in BY_NAME and not by_name)] if value else []
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            lines += [start, *(line for entry in value for line in _lines(entry, depth + 1, most))]
        else:
            lines += _wrapped(f"{start}: {short(value, most)}", depth)
    return lines


def _wrapped(line: str, depth: int) -> list[str]:
    deeper = "  " * (depth + 1)
    lines = textwrap.wrap(line, _WIDTH, subsequent_indent=deeper, break_long_words=False, break_on_hyphens=False)
    return [part.replace(_KEPT, " ") for part in lines]


def short(value: Any, most: int = ENTRIES_SHOWN) -> str:
    """Return a value as people read it: few digits, and of a list the first entries."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        # Without separators of thousands, which would look like those of the list.
        entries = [str(entry) if type(entry) is int else short(entry) for entry in value[:most]]
        shown = ", ".join(entry.replace(" ", _KEPT) if len(entry) <= _NAME else entry for entry in entries)
        return f"{shown}, ...{_KEPT}({len(value)})" if len(value) > most else shown or "none"
    return str(value)


def complain(message: str) -> None:
    """Print one line on standard error, if anyone can be told."""
    with suppress(OSError):
        print(f"posespace: {one_line(message.strip())}", file=sys.stderr, flush=True)


def note(message: str) -> None:
    """Print one line on standard error about a choice that was made."""
    complain(f"note: {as_typed(message)}")


def warn(message: str) -> None:
    """Print one line of warning on standard error."""
    complain(f"warning: {as_typed(message)}")
