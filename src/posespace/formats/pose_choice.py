"""PoseChoice: which poses of a file a command or a batch takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from posespace.formats import registry
from posespace.formats.frames import Rate
from posespace.formats.motions import clips, load_clips, load_motion
from posespace.formats.registry import CONTENTS, MARKERS
from posespace.motion import Motion
from posespace.skeleton import Skeleton


@dataclass(frozen=True)
class PoseChoice:
    """Which poses of a file are taken; the meaning of each is that of `load_motion`.

    Parameters
    ----------
    clip : which clip; None for the first
    rate : frames per second, "keys" for the clip's own keys alone or "markers" for its pose markers; None: its keys
        where they are dense
    only : patterns of the names of poses, see `Motion.named`; none: all
    partial : skip poses that name joints which the rig lacks
    markers : the file that maps markers to control points; None: they are matched by name
    """

    clip: str | None = None
    rate: Rate = None
    only: tuple[str, ...] = ()
    partial: bool = False
    markers: Path | None = None

    def load(
        self, path: Path, skeleton: Skeleton, whole: bool = False, note: Callable[[str], None] | None = None
    ) -> Motion:
        """Return the chosen poses of a file."""
        return load_motion(path, skeleton, self.clip, whole, self.only, self.partial, self.rate, note, self.markers)

    def load_clips(
        self, path: Path, skeleton: Skeleton, names: Sequence[str], note: Callable[[str], None] | None = None
    ) -> dict[str, Motion]:
        """Return the chosen poses of several clips of a file, by the clips' names; with no `names`, of the first."""
        return load_clips(path, skeleton, names, False, self.only, self.partial, self.rate, note, self.markers)

    def of_sculpts(self, path: Path, note: Callable[[str], None] | None = None) -> PoseChoice:
        """Return the choice for sculpts, which are made at named poses, not at frames: the poses that the clips name.

        A rate that was chosen is kept; `note` is called with one line where none was and pose markers are taken.
        """
        may_hold_clips = registry.reads(path, *CONTENTS) and not registry.reads(path, MARKERS)
        if self.rate is not None or path.is_dir() or not may_hold_clips:
            return self
        by_name = clips(path)
        chosen = [by_name[self.clip]] if self.clip in by_name else list(by_name.values())
        count = sum(len(clip.markers) for clip in chosen)
        if len(chosen) > 1 and all(clip.keys == 1 for clip in chosen):
            count = len(chosen)
        if not count:
            return self
        if note is not None:
            note(f"{path}: the {count} poses that its clips name are taken: choose frames with `rate`")
        return replace(self, rate="markers")
