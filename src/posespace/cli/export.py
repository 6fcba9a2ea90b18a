"""`posespace export`: a skin for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from posespace.cli.checks import open_motion, require_folder
from posespace.cli.options import FILE, Command, argument, json_option, only_option, out_option, partial_option
from posespace.cli.printing import print_one, warn


@click.command(cls=Command, epilog="Example: posespace export hand.skin -o hand.glb --motion clip.bvh")
@argument("skin", "The skin.")
@out_option("The file to write: .glb or .gltf.")
@click.option("--motion", type=FILE, help="A motion to play: BVH, glTF, USD, poses or examples.")
@only_option
@partial_option
@json_option
def export(skin: Path, out: Path, motion: Path | None, only: tuple[str, ...], partial: bool, as_json: bool) -> None:
    """Write a skin as glTF, for other programs.

    The file holds the rig, the displacements as morph targets, and the motion as an animation.
    """
    from posespace.formats.export import export
    from posespace.report.info import describe
    from posespace.skin import Skin

    require_folder(out)
    loaded = Skin.load(skin)
    clip = open_motion(motion, loaded.rig.skeleton, only, partial)
    export(loaded, out, clip, warn=warn)
    print_one(describe(out), as_json)
