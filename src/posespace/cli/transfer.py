"""`posespace transfer`: shapes of one mesh transferred to another."""

from __future__ import annotations

from pathlib import Path

import click

from posespace.cli.checks import require_folder
from posespace.cli.options import FILE, Command, argument, force_option, json_option, out_option
from posespace.cli.printing import note, print_one

EXAMPLE = "Example: posespace transfer horse.examples --onto camel.glb --landmarks marks.json -o camel.examples"


@click.command(cls=Command, epilog=EXAMPLE)
@argument("source", "An example store, or a mesh at rest.")
@argument("posed", "Other shapes of that mesh.", nargs=-1, metavar="[POSED]...")
@click.option("--onto", type=FILE, required=True, help="The mesh or rig to transfer the shapes to.")
@click.option(
    "--landmarks",
    type=FILE,
    help='JSON file of named points on both meshes, those of the source under "template". Default: none; both meshes '
    "must have the same triangles.",
)
@out_option("The example store to write.")
@force_option
@json_option
def transfer(
    source: Path, posed: tuple[Path, ...], onto: Path, landmarks: Path | None, out: Path, force: bool, as_json: bool
) -> None:
    """Transfer the shapes of one mesh to another of any topology.

    This is deformation transfer. Both meshes should be at rest in about the same pose.
    """
    from posespace.register.transfer_files import FOLLOWING, transfer_files

    require_folder(out)
    figures = transfer_files(source, posed, onto, landmarks, out, note, force)
    if not as_json:
        figures[FOLLOWING] = f"{figures[FOLLOWING]:.1%}"
    print_one(figures, as_json)
