"""`posespace export`: a skin for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from posespace.cli.checks import open_examples, require_folder, require_motion
from posespace.cli.options import (
    FILE,
    Command,
    argument,
    clips_option,
    frame_options,
    json_option,
    markers_option,
    motions_option,
    out_option,
)
from posespace.cli.printing import note, print_one, warn
from posespace.formats.registry import EXPORT, written_endings

if TYPE_CHECKING:
    from posespace.formats.pose_choice import PoseChoice
    from posespace.skin.skin import Skin


@click.command(cls=Command, epilog="Example: posespace export hand.skin -o hand.glb --motion clip.bvh")
@argument("skin", "The skin; or an example store, whose rig and poses are exported.")
@out_option(
    f"The file to write, ending in {', '.join(written_endings(EXPORT))}; .html is a web page that anyone can open."
)
@motions_option
@markers_option
@click.option(
    "--rig",
    type=FILE,
    help="A rig (or example store) to play --motion on. Its vertices then move the skin's control points.",
)
@click.option(
    "--beta",
    type=float,
    help="How strongly control points pull the surface. Default: the skin's own value; 0.3 for markers.",
)
@clips_option
@frame_options
@click.option("--unit", metavar="mm|cm|m|in|ft", help="The skin's unit of length. Default: the rig's, else m.")
@click.option("--up", metavar="y|z", default="y", show_default=True, help="The axis that points up in the skin.")
@click.option(
    "--examples",
    type=FILE,
    help="Examples listed on the web page, with a heat map of the skin's errors; only for .html.",
)
@click.option(
    "--compression",
    metavar="none|quantized|meshopt",
    default="none",
    show_default=True,
    help="Compression of glTF. quantized: 16-bit integers; meshopt: the same, then compressed with meshopt.",
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
    """Write a skin for other programs, or as a web page.

    The file holds the rig with its materials, the displacements as morph targets, and each motion as an animation, in
    metres and with y up.
    """
    from dataclasses import replace

    from posespace.formats.export import export
    from posespace.formats.skin_motions import load_driven_motions, load_skin_motions, with_beta_for
    from posespace.report.info import describe
    from posespace.skin.skin import Skin

    require_folder(out)
    choice = replace(choice, markers=markers)
    require_motion(motions[0] if motions else None, choice, clips)
    if skin.is_dir():
        stored = open_examples(skin)
        exported, poses = Skin(stored.rig), {skin.stem: stored.motion}
    else:
        exported, poses = with_beta_for(Skin.load(skin), motions, beta), {}
    if rig is None:
        played = load_skin_motions(exported, motions, choice, clips, note) or poses
    else:
        played = load_driven_motions(exported, rig, motions, choice, clips, note)
    truth = None if examples is None else open_examples(examples)
    rate = {"rate": choice.rate} if isinstance(choice.rate, float) else {}
    left_out: list[str] = []
    export(exported, out, played, left_out.append, unit=unit, up=up, examples=truth, compression=compression, **rate)
    for line in left_out:
        warn(line)
    page = out.suffix.lower() == ".html"
    # The keys that were written are the frames: other rates would be those of reading them again.
    figures = {"file": str(out), "format": "page", "bytes": out.stat().st_size} if page else describe(out, "keys")
    # People have read the warnings.
    warnings = {"left_out": left_out} if as_json else {}
    print_one({**figures, "unit": _unit(exported, unit), **warnings}, as_json)


def _unit(skin: Skin, chosen: str | None) -> str:
    """The unit of length of the skin, and where it comes from: files for other programs are in metres."""
    from posespace.mesh import UNITS

    metres = skin.rig.mesh.unit if chosen is None else UNITS[chosen]
    name = next((name for name, size in UNITS.items() if size == metres), f"{metres:g} m")
    across = f"the skin is {metres * skin.rig.mesh.diagonal:.3g} m across"
    if chosen is None and metres == 1:
        return f"{name}, assumed as the rig names none: {across}; use --unit to change it"
    return f"{name}, from {'the rig' if chosen is None else '--unit'}; {across}"
