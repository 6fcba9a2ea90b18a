"""`posespace bench`: what playing a skin costs on this machine."""

from __future__ import annotations

import click

from posespace.cli.options import Command, argument, json_option
from posespace.cli.printing import markdown_table, print_json

WHICH = (
    "Tables to measure: skinning, skinning-million, corrections, corrections-cores, corrections-million, "
    "normals, normals-cores, memory, drive, batch, start, growth. Without any: all of them."
)


@click.command(cls=Command, epilog="Example: posespace bench skinning corrections")
@argument("tables", WHICH, nargs=-1, type=str, metavar="[TABLE]...")
@json_option
def bench(tables: tuple[str, ...], as_json: bool) -> None:
    """Time the compiled player on this machine.

    Compares it with plain skinning, with its peers, and with copying memory.
    """
    from posespace import check
    from posespace.bench.tables import TABLES
    from posespace.progress import track

    chosen = [check.choice("table", name, tuple(TABLES)) for name in tables or TABLES]
    found = {}
    for name in track(chosen, "measuring"):
        found[name] = TABLES[name]()
    if as_json:
        print_json(found)
        return
    for name, rows in found.items():
        print(f"\n{name}\n{markdown_table(rows)}")
