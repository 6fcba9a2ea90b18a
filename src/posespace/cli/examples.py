"""`posespace examples`: a rig, poses and shapes gathered into an example store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from posespace.cli.options import FILE, Command, argument, clip_options, json_option, out_option, resume_option
from posespace.cli.printing import print_one

if TYPE_CHECKING:
    from posespace.formats.frames import Rate

EXAMPLE = "Example: posespace examples hand.glb --poses poses.json --shapes 'sculpts/*.obj' -o hand.examples"


@click.command(cls=Command, epilog=EXAMPLE)
@argument("rig", "The rig. A file that holds only a mesh becomes a rig driven by controls.")
@click.option("--poses", required=True, type=FILE, help="Poses (JSON) or a motion (BVH, glTF, USD).")
@clip_options
@click.option(
    "--shapes", required=True, help="A quoted pattern of shape files, or one .npy file of (poses, vertices, 3)."
)
@out_option("The example store to write.")
@click.option("--rest/--no-rest", default=True, help="Add the rest shape where no pose is at rest.")
@resume_option
@json_option
def examples(
    rig: Path,
    poses: Path,
    clip: str | None,
    rate: Rate,
    shapes: str,
    out: Path,
    rest: bool,
    resume: bool,
    as_json: bool,
) -> None:
    """Gather a rig, poses and shapes into an example store.

    There is one shape per pose. Shapes are matched to poses by name, or else in order.
    """
    from posespace.formats.gather import gather_examples
    from posespace.report.info import describe

    notes = gather_examples(rig, poses, shapes, out, rest, resume, clip, rate)
    print_one(describe(out) | ({"notes": notes} if notes else {}), as_json)
