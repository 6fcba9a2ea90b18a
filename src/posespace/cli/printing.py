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
_LINKS_SHOWN = 3
_ENTRIES_SHOWN = 6
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
    """Return rows as a Markdown table; a row may lack some columns."""
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
    click.secho(one_line(title), bold=True)
    for line in _lines(_with_short_shrinking(_with_short_curve(figures)), 1, sys.maxsize if whole else _ENTRIES_SHOWN):
        click.echo(one_line(line))


def _lines(figures: dict[str, Any], depth: int, most: int) -> list[str]:
    lines: list[str] = []
    for key, value in figures.items():
        start = "  " * depth + key
        if key == "linked for pose spaces" and isinstance(value, dict):
            lines += _wrapped(f"{start}: {_short_links(value)}", depth)
        elif key == "limits" and isinstance(value, dict):
            lines += _wrapped(f"{start}: {_short_limits(value)}", depth)
        elif isinstance(value, dict):
            # A setting that was not given is None.
            shown = {name: "default" if key == "settings" and it is None else it for name, it in value.items()}
            lines += [start, *_lines(shown, depth + 1, most)] if value else []
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            lines += [start, *(line for entry in value for line in _lines(entry, depth + 1, most))]
        else:
            lines += _wrapped(f"{start}: {_short(value, most)}", depth)
    return lines


def _wrapped(line: str, depth: int) -> list[str]:
    deeper = "  " * (depth + 1)
    lines = textwrap.wrap(line, _WIDTH, subsequent_indent=deeper, break_long_words=False, break_on_hyphens=False)
    return [part.replace(_KEPT, " ") for part in lines]


def _short_links(links: dict[str, Any]) -> str:
    """The first few of the joints that are linked to another than their parent: a character has many."""
    some = [f"{joint} to {link}" for joint, link in list(links.items())[:_LINKS_SHOWN]]
    more = f", ... ({len(links)} joints; --json lists all)" if len(links) > len(some) else ""
    return ", ".join(some) + more


def _short_limits(limits: dict[str, Any]) -> str:
    """The limits of the first few joints that have any, in degrees."""
    some = [
        f"{joint}.{axis} {low:g}° to {high:g}°"
        for joint, ranges in list(limits.items())[:_LINKS_SHOWN]
        for axis, (low, high) in ranges.items()
    ]
    more = f", ... ({len(limits)} joints; --json lists all)" if len(limits) > _LINKS_SHOWN else ""
    return ", ".join(some) + more if some else "none"


def _short(value: Any, most: int = _ENTRIES_SHOWN) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        entries = [_short(entry) for entry in value[:most]]
        shown = ", ".join(entry.replace(" ", _KEPT) if len(entry) <= _NAME else entry for entry in entries)
        return f"{shown}, ...{_KEPT}({len(value)})" if len(value) > most else shown or "none"
    return str(value)


def with_short_layers(figures: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a skin with each layer of its fit in one line."""
    about = figures["about"]
    if "layers" not in about:
        return figures
    return figures | {"about": about | {"layers": {layer["name"]: _short_layer(layer) for layer in about["layers"]}}}


def _with_short_curve(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures of a skin with the errors of left-out frames in one line: with one signal, as fitted, with most."""
    about = figures.get("about")
    if not isinstance(about, dict) or not (rows := _dicts(about.get("left out"))):
        return figures
    fitted = [region.get("signals") for region in _dicts(about.get("regions"))]
    shown = [row for k, row in enumerate(rows) if k in (0, len(rows) - 1) or row.get("signals") in fitted]
    curve = ", ".join(f"{_short(row.get('rms'))} with {_short(row.get('signals'))}" for row in shown)
    return figures | {"about": about | {"left out": curve}}


def _with_short_shrinking(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures of a skin with the factors of its joints in one line: a character has many."""
    about = figures.get("about")
    if not isinstance(about, dict) or not isinstance(factors := about.get("shrunk to"), dict) or not factors:
        return figures
    return figures | {
        "about": about | {"shrunk to": [f"{joint} {_short(factor)}" for joint, factor in factors.items()]}
    }


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _short_layer(layer: dict[str, Any]) -> str:
    if "radius" not in layer:
        return f"poses {layer['poses']}, shrunk to {_short(layer['shrunk to'])}"
    radii = {axis: _short(value) for axis, value in layer["radius"].items()}
    same = len(set(radii.values())) == 1
    shown = list(radii.values())[:1] if same else [f"{axis} {value}" for axis, value in radii.items()]
    single = [f"{name} {_short(value)}" for name, value in layer.get("radius by sculpt", {}).items()]
    return f"sculpts {len(layer['sculpts'])}, radius {', '.join(shown + single)}"


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
