"""`posespace examples`: a rig, poses and shapes gathered into an example store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from posespace.cli.options import FILE, Command, argument, choice_options, json_option, out_option, resume_option
from posespace.cli.printing import print_one

if TYPE_CHECKING:
    from posespace.formats.pose_choice import PoseChoice

EXAMPLE = "Example: posespace examples hand.glb --poses poses.json --shapes 'sculpts/*.obj' -o hand.examples"


@click.command(cls=Command, epilog=EXAMPLE)
@argument("rig", "The rig, or a skin of it. A file that holds only a mesh becomes a rig driven by controls.")
@click.option(
    "--poses",
    type=FILE,
    help="Poses (JSON) or a motion (BVH, glTF, USD). Without it: those that `posespace pose` wrote beside the shapes.",
)
@click.option(
    "--shapes",
    required=True,
    help="A folder that `posespace pose` wrote, a quoted pattern of shape files, or one .npy file of "
    "(poses, vertices, 3).",
)
@choice_options
@out_option("The example store to write.")
@click.option("--rest/--no-rest", default=True, help="Add the rest shape where no pose is at rest.")
@resume_option
@json_option
def examples(
    rig: Path,
    poses: Path | None,
    shapes: str,
    choice: PoseChoice,
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

    notes = gather_examples(rig, poses, shapes, out, rest, resume, choice)
    print_one(describe(out) | ({"notes": notes} if notes else {}), as_json)
