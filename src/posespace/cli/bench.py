"""`posespace bench`: what playing a skin costs on this machine."""

from __future__ import annotations

from typing import Any

import click

from posespace.cli.options import Choice, Command, argument, json_option
from posespace.cli.printing import markdown_table, print_json

NAMES = (
    "skinning",
    "skinning-million",
    "corrections",
    "corrections-cores",
    "corrections-million",
    "normals",
    "normals-cores",
    "memory",
    "drive",
    "batch",
    "start",
    "growth",
)
WHICH = f"Tables to measure: {', '.join(NAMES)}. Default: all of them."


@click.command(cls=Command, epilog="Example: posespace bench skinning corrections")
@argument("tables", WHICH, nargs=-1, type=Choice(NAMES), metavar="[TABLE]...")
@json_option
def bench(tables: tuple[str, ...], as_json: bool) -> None:
    """Time the compiled player on this machine.

    Compares it with plain skinning, with other libraries, and with copying memory.
    """
    from posespace.bench.tables import TABLES
    from posespace.progress import track

    measured = {name: TABLES[name]() for name in track(tables or NAMES, "measuring")}
    if as_json:
        print_json({name.replace("-", "_"): rows for name, rows in measured.items()})
        return
    for name, rows in measured.items():
        print(f"\n{name}\n{markdown_table([_labelled(row) for row in rows])}")


def _labelled(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its headings; that of the ratio says what the time is divided by."""
    from posespace.report.figures import label

    ratio = f"times {row.get('against')}"
    return {ratio if key == "ratio" else label(key): value for key, value in row.items() if key != "against"}
