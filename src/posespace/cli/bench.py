"""The command `bench`: what playing a skin costs on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from posespace.cli.printing import AsJson, markdown_table, print_json


def bench(
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            help="Which tables: skinning, skinning-million, corrections, corrections-cores, corrections-million, "
            "normals, normals-cores, memory, drive, batch, start, growth; all where none is named."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Time the compiled player on this machine: against plain skinning, against its peers, against memory itself."""
    from posespace import check
    from posespace.bench.tables import TABLES
    from posespace.progress import track

    chosen = [check.choice("table", name, tuple(TABLES)) for name in tables or list(TABLES)]
    found = {}
    for name in track(chosen, "measuring"):
        found[name] = TABLES[name]()
    if as_json:
        print_json(found)
        return
    for name, rows in found.items():
        print(f"\n{name}\n{markdown_table(rows)}")
