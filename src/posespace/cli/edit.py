"""`posespace edit`: the corrections of a skin made stronger or weaker."""

from __future__ import annotations

import math
from pathlib import Path

import click

from posespace.cli.checks import require_skin_file
from posespace.cli.options import Command, argument, json_option, out_option
from posespace.cli.printing import print_one
from posespace.errors import InputError

SCALE = (
    "What to scale, and by how much: a layer by its name, a component as LAYER:3, "
    "or just 3 where there is only one layer. May be repeated."
)


@click.command(cls=Command, epilog="Example: posespace edit arm.skin --scale 3=0 --exaggerate 1.2 -o edited.skin")
@argument("skin", "The skin.")
@out_option("The skin to write.")
@click.option("--scale", multiple=True, metavar="NAME=FACTOR", help=SCALE)
@click.option("--exaggerate", default=1.0, help="Factor of all corrections; 0 leaves plain skinning.")
@json_option
def edit(skin: Path, out: Path, scale: tuple[str, ...], exaggerate: float, as_json: bool) -> None:
    """Make a skin's corrections stronger or weaker.

    Scales one component, one layer or everything; a factor of 0 turns it off.
    """
    from posespace.report.info import describe
    from posespace.skin.skin import Skin

    require_skin_file(out)
    Skin.load(skin).edited(_factors(scale), exaggerate).save(out)
    print_one(describe(out), as_json)


def _factors(texts: tuple[str, ...]) -> dict[str | int, float]:
    factors: dict[str | int, float] = {}
    for name, factor in map(_factor, texts):
        if name in factors:
            raise InputError(f"--scale {name}: expected each name once, got it twice")
        factors[name] = factor
    return factors


def _factor(text: str) -> tuple[str, float]:
    name, _, factor = text.rpartition("=")
    try:
        value = float(factor)
    except ValueError:
        value = math.nan
    if not name or not math.isfinite(value):
        raise InputError(f"--scale {text!r}: expected NAME=FACTOR, e.g. 3=0.5")
    return name, value
