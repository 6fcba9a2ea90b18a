"""`posespace export`: a skin for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from posespace.cli.checks import open_examples, open_motion, require_folder
from posespace.cli.options import FILE, Command, argument, choice_options, json_option, out_option
from posespace.cli.printing import print_one, warn

if TYPE_CHECKING:
    from posespace.formats.pose_choice import PoseChoice


@click.command(cls=Command, epilog="Example: posespace export hand.skin -o hand.glb --motion clip.bvh")
@argument("skin", "The skin, or examples: their rig alone, with their poses as its motion.")
@out_option("The file to write: .glb or .gltf, or .html for a page that anyone can open.")
@click.option("--motion", type=FILE, help="A motion to play: BVH, glTF, USD, poses or examples.")
@choice_options
@click.option("--unit", metavar="mm|cm|m|in|ft", help="The skin's unit of length; by default the rig's own, else m.")
@click.option("--up", metavar="y|z", default="y", show_default=True, help="The axis that points up in the skin.")
@click.option("--examples", type=FILE, help="Poses that a page offers, with the errors there as colours.")
@click.option(
    "--compression",
    metavar="none|quantized|meshopt",
    default="none",
    show_default=True,
    help="Of glTF: whole numbers of 16 bits; these compressed by meshopt.",
)
@json_option
def export(
    skin: Path,
    out: Path,
    motion: Path | None,
    choice: PoseChoice,
    unit: str | None,
    up: str,
    examples: Path | None,
    compression: str,
    as_json: bool,
) -> None:
    """Write a skin as glTF for other programs, or as a page.

    The file holds the rig with its materials, the displacements as morph targets, and the motion as an animation, in
    metres and with y up.
    """
    from posespace.formats.export import export
    from posespace.report.info import describe
    from posespace.skin import Skin

    require_folder(out)
    if skin.is_dir():
        stored = open_examples(skin)
        loaded, own = Skin(stored.rig), stored.motion
    else:
        loaded, own = Skin.load(skin), None
    played = open_motion(motion, loaded.rig.skeleton, choice) or own
    truth = None if examples is None else open_examples(examples)
    export(loaded, out, played, warn, _rate(choice), unit, up, truth, compression)
    page = out.suffix.lower() == ".html"
    print_one({"page": str(out), "bytes": out.stat().st_size} if page else describe(out), as_json)


def _rate(choice: PoseChoice) -> float:
    """How many frames per second are written between distant poses."""
    return choice.rate if isinstance(choice.rate, float) else 30.0
