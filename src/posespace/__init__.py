"""posespace learns how a character's skin bends from a few example shapes and plays it back in real time.

Names are imported when they are first used, so that a program that only plays a skin loads nothing of the rest.
"""

from __future__ import annotations

import importlib
import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from posespace import datasets as datasets
    from posespace.carry import mirror as mirror
    from posespace.carry import mirror_examples as mirror_examples
    from posespace.carry import onto as onto
    from posespace.errors import FileError as FileError
    from posespace.errors import InputError as InputError
    from posespace.examples import Examples as Examples
    from posespace.fit.eigenskin import EigenSkin as EigenSkin
    from posespace.fit.muscles import Muscles as Muscles
    from posespace.fit.optimise_weights import optimise_weights as optimise_weights
    from posespace.fit.psd import PSD as PSD
    from posespace.fit.retarget import retarget as retarget
    from posespace.fit.sculpts import Sculpts as Sculpts
    from posespace.fit.weights import distance_weights as distance_weights
    from posespace.interpolate import RBF as RBF
    from posespace.interpolate import Shepard as Shepard
    from posespace.load import load_mesh as load_mesh
    from posespace.load import load_motion as load_motion
    from posespace.load import load_rig as load_rig
    from posespace.mesh import Mesh as Mesh
    from posespace.pose import Motion as Motion
    from posespace.pose import Pose as Pose
    from posespace.rig import Rig as Rig
    from posespace.score import evaluate as evaluate
    from posespace.skeleton import Skeleton as Skeleton
    from posespace.skin import Detail as Detail
    from posespace.skin import Driver as Driver
    from posespace.skin import Layer as Layer
    from posespace.skin import Skin as Skin
    from posespace.spaces import PoseSpace as PoseSpace
    from posespace.writers import export as export

# Threads that spin while they wait use up their time, and are then not there when there is work: on a machine with
# anything else to do a frame takes a hundred times as long. Read once, when the first loop runs on several cores.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

_HOMES = {
    "posespace.carry": ("mirror", "mirror_examples", "onto"),
    "posespace.errors": ("FileError", "InputError"),
    "posespace.score": ("evaluate",),
    "posespace.examples": ("Examples",),
    "posespace.fit.eigenskin": ("EigenSkin",),
    "posespace.fit.muscles": ("Muscles",),
    "posespace.fit.optimise_weights": ("optimise_weights",),
    "posespace.fit.psd": ("PSD",),
    "posespace.fit.retarget": ("retarget",),
    "posespace.fit.sculpts": ("Sculpts",),
    "posespace.fit.weights": ("distance_weights",),
    "posespace.interpolate": ("RBF", "Shepard"),
    "posespace.load": ("load_mesh", "load_motion", "load_rig"),
    "posespace.mesh": ("Mesh",),
    "posespace.pose": ("Motion", "Pose"),
    "posespace.rig": ("Rig",),
    "posespace.skeleton": ("Skeleton",),
    "posespace.skin": ("Detail", "Driver", "Layer", "Skin"),
    "posespace.spaces": ("PoseSpace",),
    "posespace.writers": ("export",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__version__ = version("posespace")
__all__ = sorted([*_HOME_OF, "datasets"])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return importlib.import_module("posespace.datasets")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'posespace' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
