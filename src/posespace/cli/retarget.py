"""`posespace retarget`: a change of one character applied to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from posespace.cli.checks import open_motion, require_skin_file
from posespace.cli.options import FILE, Choice, Command, argument, choice_options, json_option, out_option
from posespace.cli.printing import print_one

if TYPE_CHECKING:
    from posespace.formats.pose_choice import PoseChoice

TRANSFERS = ("operator", "difference")
CORRESPONDENCES = ("same", "padding", "closest")
TRANSFER = (
    "How to transfer. operator: the matrix product of the paper, limited to deformations that X1 and Y1 already have; "
    "difference: adds X2 - X1 to Y1. Default: operator, unless it would lose more than half of the change."
)
MATCHING = (
    "How the vertices of the two characters correspond. same: by index; both must have the same number of vertices. "
    "closest: each to the closest point of the other, once joints of the same name are aligned. padding: by index; the "
    "extra vertices of the larger mesh correspond to none, as in the paper. Default: same where the triangles are the "
    "same, else closest."
)


@click.command(cls=Command, epilog="Example: posespace retarget thin.skin strong.skin other.skin -o other-strong.skin")
@argument("x1", "A skin of one character.")
@argument("x2", "Another skin of that character, changed.")
@argument("y1", "A skin of the character to change in the same way.")
@out_option("The skin to write.")
@click.option("--motion", type=FILE, help="Poses to sample. Default: those that X1 was fitted on.")
@choice_options
@click.option(
    "--signals",
    type=int,
    help="Number of signals per skin. Default: all that are larger than 1/10000 of the largest.",
)
@click.option("--transfer", type=Choice(TRANSFERS), help=TRANSFER)
@click.option("--correspondence", type=Choice(CORRESPONDENCES), help=MATCHING)
@click.option("--bits", default=16, help="Bits per stored number: 32, 16 or 8.")
@json_option
def retarget(
    x1: Path,
    x2: Path,
    y1: Path,
    out: Path,
    motion: Path | None,
    choice: PoseChoice,
    signals: int | None,
    transfer: str | None,
    correspondence: str | None,
    bits: int,
    as_json: bool,
) -> None:
    """Apply the change from X1 to X2 to another character, Y1."""
    from posespace.fit.retarget.retarget import retarget
    from posespace.progress import status
    from posespace.report.info import describe
    from posespace.skin.skin import Skin

    require_skin_file(out)
    first, second, third = (Skin.load(path) for path in (x1, x2, y1))
    poses = open_motion(motion, first.rig.skeleton, choice, whole=True)
    with status("retargeting"):
        settings: dict[str, Any] = {} if signals is None else {"signals": signals}
        skin = retarget(
            first, second, third, poses, transfer=transfer, correspondence=correspondence, bits=bits, **settings
        )
    skin.save(out)
    print_one(describe(out), as_json)
