"""The body and the poses of a simulation, from whatever names them: a built-in body, a rig or the file of a rig."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from posespace.errors import FileError, InputError
from posespace.formats import files, load
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.simulation.bodies import BUILT_IN
from posespace.simulation.bodies.body import Body
from posespace.simulation.bodies.rig_bones import bones_of_rig
from posespace.simulation.mesh.repair import cut_ends
from posespace.simulation.poses import poses_to_simulate
from posespace.simulation.settings import Settings

_NAMED = 4
"""Joints that a note names one by one."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A body and its poses, ready to be simulated.

    Parameters
    ----------
    body : what is simulated
    poses : the rest pose is among them
    origin : what the store records as the body: the name of a built-in one, "from a file" or "given"
    file : the rig's file, which errors about the body name; None: it came from none
    notes : one line each
    """

    body: Body
    poses: Motion
    origin: str
    file: Path | None = None
    notes: tuple[str, ...] = ()

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Put the rig's file, if there is one, in front of errors about the body."""
        with _naming(self.file):
            yield


def prepare(body: str | Path | Rig | Body, settings: Settings, note: Callable[[str], None] | None = None) -> Prepared:
    """Make the body and read its poses; `note` is called with one line about how a clip was read.

    Poses are read before bones are made, which takes longer: a fault in a file is reported at once.
    """
    if isinstance(body, str) and body in BUILT_IN:
        made: Body = import_module(BUILT_IN[body]).body(settings)
        return Prepared(made, poses_to_simulate(made.rig, settings, made.accept, note), body)
    if isinstance(body, Body):
        return Prepared(body, poses_to_simulate(body.rig, settings, body.accept, note), "given")
    if not isinstance(body, Rig):
        require_body(body)
    file = None if isinstance(body, Rig) else Path(body)
    rig = body if isinstance(body, Rig) else load.load_rig(Path(body))
    # Poses of a file are not the rig's fault.
    with _naming(file if settings.poses is None else None):
        poses = poses_to_simulate(rig, settings, note=note)
    with _naming(file):
        made = Body(rig, bones_of_rig(rig), cut_ends(rig.mesh))
    return Prepared(made, poses, "given" if file is None else "from a file", file, _boneless(made))


def require_body(body: str | Path) -> None:
    """Raise unless this is the name of a built-in body, or a file that exists."""
    path = Path(body)
    if body in BUILT_IN or path.exists():
        return
    if path.suffix:
        raise FileError(path, "does not exist")
    raise InputError(f"body {str(body)!r}: expected {', '.join(BUILT_IN)}, or the file of a rig")


@contextmanager
def _naming(file: Path | None) -> Iterator[None]:
    if file is None:
        yield
        return
    with files.naming(file):
        yield


def _boneless(body: Body) -> tuple[str, ...]:
    """A note about the joints that move skin but have no bone."""
    rig = body.rig
    with_bone = {bone.joint for bone in body.bones}
    moving = np.unique(rig.influences[rig.weights > 0]).tolist()
    without = [rig.skeleton.names[joint] for joint in moving if joint not in with_bone]
    if not without:
        return ()
    return (f"no bone fits inside the skin for {listed(without)}: the flesh there follows the bones around it",)


def beyond_limits(rig: Rig, poses: Motion, most: int) -> list[str]:
    """Return a note for each pose that rotates joints beyond their limits; those after the first `most` are counted."""
    notes = []
    for pose, name in zip(poses, poses.names, strict=True):
        joints = rig.skeleton.beyond_limits(pose.rotations)
        if joints:
            notes.append(f"pose {name!r} rotates {listed(joints)} beyond the limits; simulated anyway")
    more = len(notes) - most
    return notes if more <= 1 else [*notes[:most], f"{more} more poses go beyond the limits; simulated anyway"]


def listed(joints: Sequence[str]) -> str:
    """Return the names of joints in one line; of many, the first and how many more there are."""
    shown = ", ".join(joints[:_NAMED])
    return shown if len(joints) <= _NAMED else f"{shown} and {len(joints) - _NAMED} more"
