"""Clips: the motions that a studio plays, from files; of takes also the markers as they were measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from posespace.formats import registry
from posespace.formats.contents import unique
from posespace.formats.motions import load_take
from posespace.formats.pose_choice import PoseChoice
from posespace.formats.registry import MARKERS
from posespace.formats.skin_motions import load_skin_motions
from posespace.markers.markers import Markers
from posespace.motion import Motion
from posespace.skin.skin import Skin


@dataclass(frozen=True, eq=False)
class Clip:
    """A motion that the studio plays.

    Parameters
    ----------
    motion : of the skin's joints or control points
    markers : those that moved the points, where and when they were measured; None: no markers did
    """

    motion: Motion
    markers: Markers | None = None


@dataclass(frozen=True)
class ClipFiles:
    """Which clips of which files are played.

    Parameters
    ----------
    motions : motions, poses, example stores or takes of markers
    markers : the file that maps the markers of takes to control points; None: they are matched by name
    names : which clips of the one file; none: the first of each
    """

    motions: tuple[Path, ...] = ()
    markers: Path | None = None
    names: tuple[str, ...] = ()

    def load(self, skin: Skin, note: Callable[[str], None] | None = None) -> dict[str, Clip]:
        """Return the clips by name, as a skin plays them; `note` is called with a line about what was chosen."""
        pairs = [pair for file in self.motions for pair in self._of(file, skin, note)]
        names = unique((name for name, _ in pairs), "motion")
        return dict(zip(names, (clip for _, clip in pairs), strict=True))

    def _of(self, file: Path, skin: Skin, note: Callable[[str], None] | None) -> Sequence[tuple[str, Clip]]:
        """The names and clips of one file."""
        choice = PoseChoice(markers=self.markers)
        if registry.reads(file, MARKERS) and not self.names:
            mapped = load_take(file, skin.rig.skeleton, self.markers, note=note)
            return [(file.stem, Clip(mapped.motion, mapped.markers))]
        motions = load_skin_motions(skin, [file], choice, self.names, note)
        return [(name, Clip(motion)) for name, motion in motions.items()]
