"""`posespace export`: a skin for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from posespace.cli.checks import open_examples, require_folder, require_motion
from posespace.cli.options import FILE, Command, argument, clips_option, frame_options, json_option, out_option
from posespace.cli.printing import note, print_one, warn
from posespace.errors import InputError

if TYPE_CHECKING:
    from posespace.formats.pose_choice import PoseChoice
    from posespace.motion import Motion
    from posespace.skeleton import Skeleton
    from posespace.skin.skin import Skin

MARKERS_BETA = 0.3
"""How strongly markers draw the surface: they are noisy, and beside their points."""


@click.command(cls=Command, epilog="Example: posespace export hand.skin -o hand.glb --motion clip.bvh")
@argument("skin", "The skin, or examples: their rig alone, with their poses as its motion.")
@out_option("The file to write: .glb or .gltf, or .html for a page that anyone can open.")
@click.option(
    "--motion",
    "motions",
    multiple=True,
    type=FILE,
    help="A motion to play: BVH, glTF, USD, poses, examples, or markers. Several files become a clip each.",
)
@click.option("--markers", type=FILE, help="Which marker of a C3D, TSV or TRC moves which control point: a JSON file.")
@click.option(
    "--rig", type=FILE, help="Rig, or examples, that plays --motion; its skinned vertices drive the control points."
)
@click.option("--beta", type=float, help="How strongly control points draw the surface; by default 0.3 for markers.")
@clips_option
@frame_options
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
    motions: tuple[Path, ...],
    markers: Path | None,
    rig: Path | None,
    beta: float | None,
    clips: tuple[str, ...],
    choice: PoseChoice,
    unit: str | None,
    up: str,
    examples: Path | None,
    compression: str,
    as_json: bool,
) -> None:
    """Write a skin as glTF for other programs, or as a page.

    The file holds the rig with its materials, the displacements as morph targets, and each motion as an animation, in
    metres and with y up.
    """
    from dataclasses import replace

    from posespace.formats.export import export
    from posespace.report.info import describe
    from posespace.skin.skin import Skin

    require_folder(out)
    if skin.is_dir():
        stored = open_examples(skin)
        loaded, own = Skin(stored.rig), {skin.stem: stored.motion}
    else:
        loaded, own = _drawn(Skin.load(skin), motions, beta), {}
    choice = replace(choice, markers=markers)
    if rig is None:
        played = _opened(motions, loaded.rig.skeleton, clips, choice) or own
    else:
        played = _led(loaded, motions, rig, clips, choice)
    truth = None if examples is None else open_examples(examples)
    left_out: list[str] = []
    export(loaded, out, played, left_out.append, _rate(choice), unit, up, truth, compression)
    for line in left_out:
        warn(line)
    page = out.suffix.lower() == ".html"
    # The keys that were written are the frames: other rates would be those of reading them again.
    figures = {"file": str(out), "format": "page", "bytes": out.stat().st_size} if page else describe(out, "keys")
    # People have read the warnings.
    said = {"left_out": left_out} if as_json else {}
    print_one({**figures, "unit of the skin": _unit(loaded, unit), **said}, as_json)


def _opened(
    motions: tuple[Path, ...], skeleton: Skeleton, clips: tuple[str, ...], choice: PoseChoice
) -> dict[str, Motion]:
    """The motions of the files, by the names of their clips."""
    from posespace.formats.contents import unique

    require_motion(motions[0] if motions else None, choice, clips)
    if len(motions) > 1 and clips:
        raise InputError(f"--clip: expected one --motion FILE with it, whose clips it names, got {len(motions)}")
    played = [pair for path in motions for pair in choice.load_clips(path, skeleton, clips, note).items()]
    return dict(zip(unique((name for name, _ in played), "motion"), (motion for _, motion in played), strict=True))


def _drawn(skin: Skin, motions: tuple[Path, ...], beta: float | None) -> Skin:
    """The skin, drawn to its control points as strongly as asked for: weakly, where markers move them."""
    from posespace.formats import registry
    from posespace.skin.edit import drawn

    captured = skin.bones is not None and any(registry.reads(path, registry.MARKERS) for path in motions)
    if beta is None and not captured:
        return skin
    return drawn(skin, MARKERS_BETA if beta is None else beta)


def _led(
    skin: Skin, motions: tuple[Path, ...], rig: Path, clips: tuple[str, ...], choice: PoseChoice
) -> dict[str, Motion]:
    """The motions of control points that a rig drives, which plays the files' motions."""
    from posespace.formats.files import naming
    from posespace.formats.load import load_rig
    from posespace.poses.control_points import motion_from_rig

    if not motions or skin.bones is None:
        raise InputError("--rig: expected --motion FILE with it, and a skin with control points")
    leader = open_examples(rig).rig if rig.is_dir() else load_rig(rig)
    played = _opened(motions, leader.skeleton, clips, choice)
    with naming(rig):
        return {name: motion_from_rig(leader, motion, skin.rig, skin.bones.points) for name, motion in played.items()}


def _unit(skin: Skin, given: str | None) -> str:
    """What the unit of length was taken for, and who said so: files other than these are in metres."""
    from posespace.mesh import UNITS

    metres = skin.rig.mesh.unit if given is None else UNITS[given]
    name = next((name for name, size in UNITS.items() if size == metres), f"{metres:g} m")
    size = f"{name}, so that the skin is {metres * skin.rig.mesh.diagonal:.3g} m across"
    if given is not None:
        return f"{size}, by --unit"
    return f"{size}, by the rig" if metres != 1 else f"{size}, assumed since the rig names no other; choose by --unit"


def _rate(choice: PoseChoice) -> float:
    """How many frames per second are written between distant poses."""
    return choice.rate if isinstance(choice.rate, float) else 30.0
