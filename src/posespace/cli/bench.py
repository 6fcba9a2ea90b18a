"""`posespace bench`: what playing a skin costs on this machine."""

from __future__ import annotations

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

    Compares it with plain skinning, with its peers, and with copying memory.
    """
    from posespace.bench.tables import TABLES
    from posespace.progress import track

    found = {}
    for name in track(tables or NAMES, "measuring"):
        found[name] = TABLES[name]()
    if as_json:
        print_json(found)
        return
    for name, rows in found.items():
        print(f"\n{name}\n{markdown_table(rows)}")
