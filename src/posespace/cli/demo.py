"""`posespace demo`: everything once, on a built-in hand."""

from __future__ import annotations

from pathlib import Path

import click

from posespace.cli.options import Command, json_option, out_option
from posespace.cli.printing import print_one


@click.command(cls=Command, epilog="Example: posespace demo -o demo")
@out_option("The folder to write to.", required=False, default=Path("demo"))
@json_option
def demo(out: Path, as_json: bool) -> None:
    """Try everything once, on a built-in hand.

    Shows where plain skinning fails, fits two skins, evaluates both, and writes a page to look at and a file
    to play.
    """
    from posespace.demo.story import run

    print_one(run(out), as_json)
