"""posespace learns how a character's skin bends from a few example shapes and plays it back in real time.

Names are imported when they are first used, so that a program that only plays a skin loads nothing of the rest.
The library's own files are opened by class methods, `Examples.open` (stays on disk) and `Skin.load` (read whole); files
of other programs by the functions `load_*`.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from posespace import datasets as datasets
    from posespace.errors import FileError as FileError
    from posespace.errors import InputError as InputError
    from posespace.evaluation.score import Score as Score
    from posespace.evaluation.score import evaluate as evaluate
    from posespace.examples import Examples as Examples
    from posespace.fit.bones.bones import bones as bones
    from posespace.fit.eigenskin.eigenskin import EigenSkin as EigenSkin
    from posespace.fit.muscles.muscles import Muscles as Muscles
    from posespace.fit.points.points import ControlPoints as ControlPoints
    from posespace.fit.psd.psd import PSD as PSD
    from posespace.fit.psd.sculpts import Sculpts as Sculpts
    from posespace.fit.retarget.retarget import retarget as retarget
    from posespace.fit.stream import Resources as Resources
    from posespace.fit.weights.by_distance import distance_weights as distance_weights
    from posespace.fit.weights.optimise import optimise_weights as optimise_weights
    from posespace.formats.export import export as export
    from posespace.formats.limits import load_limits as load_limits
    from posespace.formats.limits import save_limits as save_limits
    from posespace.formats.load import load_markers as load_markers
    from posespace.formats.load import load_mesh as load_mesh
    from posespace.formats.load import load_rig as load_rig
    from posespace.formats.motions import clips as clips
    from posespace.formats.motions import load_clips as load_clips
    from posespace.formats.motions import load_motion as load_motion
    from posespace.formats.save import save_mesh as save_mesh
    from posespace.formats.save import save_poses as save_poses
    from posespace.gathering.conformed_shapes import load_shape as load_shape
    from posespace.gathering.gather import Gathering as Gathering
    from posespace.gathering.gather import gather as gather
    from posespace.gathering.mesh_sequence import load_shapes as load_shapes
    from posespace.gathering.outliers import check_examples as check_examples
    from posespace.interpolate.rbf import RBF as RBF
    from posespace.interpolate.shepard import Shepard as Shepard
    from posespace.markers.control_points import MarkerMapping as MarkerMapping
    from posespace.markers.markers import Markers as Markers
    from posespace.mesh import Mesh as Mesh
    from posespace.motion import Motion as Motion
    from posespace.pose import Pose as Pose
    from posespace.poses.mirror import mirror as mirror
    from posespace.poses.mirror import mirror_examples as mirror_examples
    from posespace.poses.retarget_motion import retarget_motion as retarget_motion
    from posespace.poses.spaces import PoseSpace as PoseSpace
    from posespace.register.correspondence import triangle_correspondence as triangle_correspondence
    from posespace.register.registration import Registered as Registered
    from posespace.register.registration import Registrar as Registrar
    from posespace.register.registration import Registration as Registration
    from posespace.register.transfer import transfer as transfer
    from posespace.report.accuracy import write_report as write_report
    from posespace.rig import Rig as Rig
    from posespace.runtime.player import Player as Player
    from posespace.simulation.run import simulate as simulate
    from posespace.skeleton import Skeleton as Skeleton
    from posespace.skin.detail import Detail as Detail
    from posespace.skin.driver import Driver as Driver
    from posespace.skin.layer import Layer as Layer
    from posespace.skin.skin import Skin as Skin

    __version__: str

# Threads that spin while they wait use up their time, and are then not there when there is work: on a machine with
# anything else to do a frame takes a hundred times as long. Read once, when the first loop runs on several cores.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

_HOMES = {
    "posespace.errors": ("FileError", "InputError"),
    "posespace.evaluation.score": ("Score", "evaluate"),
    "posespace.examples": ("Examples",),
    "posespace.fit.bones.bones": ("bones",),
    "posespace.fit.eigenskin.eigenskin": ("EigenSkin",),
    "posespace.fit.muscles.muscles": ("Muscles",),
    "posespace.fit.points.points": ("ControlPoints",),
    "posespace.fit.psd.psd": ("PSD",),
    "posespace.fit.psd.sculpts": ("Sculpts",),
    "posespace.fit.retarget.retarget": ("retarget",),
    "posespace.fit.stream": ("Resources",),
    "posespace.fit.weights.by_distance": ("distance_weights",),
    "posespace.fit.weights.optimise": ("optimise_weights",),
    "posespace.formats.export": ("export",),
    "posespace.formats.limits": ("load_limits", "save_limits"),
    "posespace.formats.load": ("load_markers", "load_mesh", "load_rig"),
    "posespace.formats.motions": ("clips", "load_clips", "load_motion"),
    "posespace.gathering.conformed_shapes": ("load_shape",),
    "posespace.formats.save": ("save_mesh", "save_poses"),
    "posespace.gathering.gather": ("Gathering", "gather"),
    "posespace.gathering.mesh_sequence": ("load_shapes",),
    "posespace.gathering.outliers": ("check_examples",),
    "posespace.interpolate.rbf": ("RBF",),
    "posespace.interpolate.shepard": ("Shepard",),
    "posespace.markers.control_points": ("MarkerMapping",),
    "posespace.markers.markers": ("Markers",),
    "posespace.mesh": ("Mesh",),
    "posespace.motion": ("Motion",),
    "posespace.pose": ("Pose",),
    "posespace.poses.mirror": ("mirror", "mirror_examples"),
    "posespace.poses.retarget_motion": ("retarget_motion",),
    "posespace.poses.spaces": ("PoseSpace",),
    "posespace.register.correspondence": ("triangle_correspondence",),
    "posespace.register.registration": ("Registered", "Registrar", "Registration"),
    "posespace.register.transfer": ("transfer",),
    "posespace.report.accuracy": ("write_report",),
    "posespace.rig": ("Rig",),
    "posespace.runtime.player": ("Player",),
    "posespace.simulation.run": ("simulate",),
    "posespace.skeleton": ("Skeleton",),
    "posespace.skin.detail": ("Detail",),
    "posespace.skin.driver": ("Driver",),
    "posespace.skin.layer": ("Layer",),
    "posespace.skin.skin": ("Skin",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME_OF, "datasets"])  # noqa: PLE0605


def home_of(name: str) -> str:
    """Return the module that a public name comes from, without importing it."""
    return _HOME_OF[name]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("posespace")
    if name == "datasets":
        return importlib.import_module("posespace.datasets")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'posespace' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
