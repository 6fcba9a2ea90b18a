"""`posespace pose`: posed meshes, to look at or to sculpt on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from posespace.cli.checks import require_folder
from posespace.cli.options import FILE, Command, argument, choice_options, json_option, out_option
from posespace.cli.printing import note, print_one
from posespace.formats.registry import CLIPS, MESH, format_names, written_endings

if TYPE_CHECKING:
    from posespace.formats.pose_choice import PoseChoice


@click.command(cls=Command, epilog="Example: posespace pose hand.glb --poses poses.json -o sculpts")
@argument("source", "The rig, or a skin.", metavar="RIG|SKIN")
@click.option("--poses", required=True, type=FILE, help=f"Poses (JSON), a motion ({format_names(CLIPS)}) or examples.")
@choice_options
@click.option(
    "--format",
    "ending",
    type=click.Choice([ending.removeprefix(".") for ending in written_endings(MESH)]),
    default="obj",
    help="Format of the mesh files.",
)
@out_option("The folder to write; it must be new, or empty.")
@json_option
def pose(source: Path, poses: Path, choice: PoseChoice, ending: str, out: Path, as_json: bool) -> None:
    """Write posed meshes, one file per pose, ready to sculpt.

    A rig is posed by plain skinning, a skin also with its corrections. `posespace examples RIG --shapes FOLDER` later
    matches each mesh to its pose.
    """
    from posespace.gathering.posed_meshes import write_posed_meshes
    from posespace.report.info import describe

    require_folder(out)
    write_posed_meshes(source, poses, out, ending, choice, note)
    print_one(describe(out), as_json)
