"""`posespace retarget` and `posespace edit`: skins made from skins."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from posespace.cli.fit import require_skin_file
from posespace.cli.printing import AsJson, print_one
from posespace.errors import InputError


def retarget(
    x1: Annotated[Path, typer.Argument(help="The skin of a body.")],
    x2: Annotated[Path, typer.Argument(help="Another skin of that body.")],
    y1: Annotated[Path, typer.Argument(help="The skin of the body to change alike.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The skin to write.")],
    motion: Annotated[Path | None, typer.Option(help="Poses to sample; else those that X1 was fitted on.")] = None,
    signals: Annotated[int, typer.Option(help="Of each skin's deformation; 0: those that matter.")] = 0,
    transfer: Annotated[str, typer.Option(help="operator (the paper's), difference, or auto.")] = "auto",
    correspondence: Annotated[str, typer.Option(help="same, padding (the paper's), closest, or auto.")] = "auto",
    bits: Annotated[int, typer.Option(help="Of a stored number: 32, 16 or 8.")] = 16,
    as_json: AsJson = False,
) -> None:
    """Make the skin that is to Y1 as X2 is to X1."""
    from posespace.fit.retarget.retarget import retarget
    from posespace.formats.load import load_motion
    from posespace.progress import status
    from posespace.report.info import describe
    from posespace.skin import Skin

    require_skin_file(out)
    first, second, third = (Skin.load(path) for path in (x1, x2, y1))
    clip = None if motion is None else load_motion(motion, first.rig.skeleton, whole=True)
    with status("retargeting"):
        made = retarget(first, second, third, clip, signals, transfer, correspondence, bits)
    made.save(out)
    print_one(describe(out), as_json)


def edit(
    skin: Annotated[Path, typer.Argument(help="The skin.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The skin to write.")],
    scale: Annotated[
        list[str], typer.Option(help="NAME=FACTOR: a layer, its signal as LAYER:3, or 3 in an only layer. Repeat.")
    ] = [],  # noqa: B006  # Typer copies it
    exaggerate: Annotated[float, typer.Option(help="Factor of everything; 0 leaves the bones alone.")] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Make a skin's corrections stronger or weaker: one signal, one layer or all; 0 mutes."""
    from posespace.report.info import describe
    from posespace.skin import Skin

    require_skin_file(out)
    Skin.load(skin).edited(_factors(scale), exaggerate).save(out)
    print_one(describe(out), as_json)


def _factors(texts: list[str]) -> dict[str | int, float]:
    found: dict[str | int, float] = {}
    for name, factor in map(_factor, texts):
        if name in found:
            raise InputError(f"--scale {name}: expected each signal once, got it twice")
        found[name] = factor
    return found


def _factor(text: str) -> tuple[str, float]:
    name, _, factor = text.rpartition("=")
    try:
        value = float(factor)
    except ValueError:
        value = math.nan
    if not name or not math.isfinite(value):
        raise InputError(f"--scale {text!r}: expected NAME=FACTOR, as 3=0.5")
    return name, value
