"""Scene: a skin, its clips and the settings of an export, as every exporter takes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from posespace.examples import Examples
from posespace.motion import Motion
from posespace.skin.skin import Skin


@dataclass(frozen=True, eq=False)
class Scene:
    """What is exported.

    Parameters
    ----------
    skin : the skin
    clips : its motions by name
    rate : frames per second that are written between poses that are farther apart
    unit : metres per unit of length; None: the rig's own
    up : the axis that points up, "y" or "z"
    compression : see `export`
    examples : poses to offer, with the errors there; None: none
    is_for_all : whether programs that know no drivers are to show it too: all that follows from a clip is in the file
    """

    skin: Skin
    clips: Mapping[str, Motion] = field(default_factory=dict)
    rate: float = 30.0
    unit: float | None = None
    up: str = "y"
    compression: str = "none"
    examples: Examples | None = None
    is_for_all: bool = True

    @property
    def metres(self) -> float:
        """Metres per unit of length."""
        return self.skin.rig.mesh.unit if self.unit is None else self.unit
