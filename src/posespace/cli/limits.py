"""`posespace limits`: how far the joints of a rig may rotate."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from posespace.cli.checks import require_folder
from posespace.cli.options import FILE, Command, argument, json_option, out_option
from posespace.cli.printing import print_one
from posespace.errors import InputError

if TYPE_CHECKING:
    from posespace.skeleton import Ranges

SET = "Limits in degrees from rest about an axis of a joint, x, y or z: 'elbow.x=0:140'. May be repeated."


@click.command(cls=Command, epilog="Example: posespace limits hand.glb --set 'index_1.x=0:90' -o limited.glb")
@argument("rig", "A rig in glTF, or a skin. With -o FILE.json also any other rig, or an example store.")
@click.option(
    "--from", "source", type=FILE, help="File to take limits from: JSON, or another rig, skin or example store."
)
@click.option("--set", "changes", multiple=True, metavar="JOINT.AXIS=LOW:HIGH", help=SET)
@click.option("--clear", is_flag=True, help="Remove all existing limits first.")
@out_option("Copy of the rig to write, with the same file ending; or a .json file for the limits alone.")
@json_option
def limits(rig: Path, source: Path | None, changes: tuple[str, ...], clear: bool, out: Path, as_json: bool) -> None:
    """Set how far the joints of a rig may rotate.

    `posespace simulate` steps through these ranges, and the sliders of an exported page keep within them. Joints and
    axes that are not named keep their limits.
    """
    from posespace.formats.limits import load_limits, save_limits
    from posespace.formats.limits_json import plain

    require_folder(out)
    ranges: Ranges = {} if clear else load_limits(rig)
    if source is not None:
        ranges = {**ranges, **load_limits(source)}
    for joint, axis, ends in map(_change, changes):
        ranges = {**ranges, joint: {**ranges.get(joint, {}), axis: ends}}
    save_limits(ranges, rig, out)
    print_one({"file": str(out), "limits": plain(load_limits(out))}, as_json)


def _change(text: str) -> tuple[str, str, tuple[float, float]]:
    """The joint, the axis and the range of a change."""
    where, _, ends = text.rpartition("=")
    joint, _, axis = where.rpartition(".")
    low, _, high = ends.partition(":")
    with suppress(ValueError):
        if joint:
            return joint, axis, (float(low), float(high))
    raise InputError(f"--set {text!r}: expected JOINT.AXIS=LOW:HIGH, e.g. forearm.z=0:140")
