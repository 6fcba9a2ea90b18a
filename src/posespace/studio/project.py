"""Project: what a studio has open: sculpts or examples on disk, the skin that was solved from them, unsaved strokes."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError, StoreChangedError, one_line
from posespace.evaluation.score import evaluate
from posespace.examples import Examples
from posespace.fit.psd.psd import solved
from posespace.fit.psd.sculpts import Sculpts
from posespace.formats.gltf.write import write as write_glb
from posespace.formats.scene import Scene
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.active import at_rest
from posespace.poses.control_points import motion_from_shapes
from posespace.poses.links import linked_rig
from posespace.report.sculpts import describe_sculpts
from posespace.sculpt import radii_by_label
from posespace.skin.provenance import notes_of
from posespace.skin.skin import Skin
from posespace.studio.clips import Clip
from posespace.studio.draft import Drafts
from posespace.studio.figures import edited
from posespace.studio.fits import Fits
from posespace.studio.space import PageSpace

MOST_SOLVED = 400
"""Sculpts up to which every change is solved at once; more are a fit, which takes its time."""

Json = dict[str, Any]


class Project:
    """What is open.

    Parameters
    ----------
    path : the file or folder that was opened
    skin : what is shown first
    sculpts : the editing session; None where there is nothing to edit
    remedy : why there is nothing to edit, and what to do
    """

    def __init__(self, path: Path, skin: Skin, sculpts: Sculpts | None = None, remedy: str = "") -> None:
        self.path = path
        self.skin = skin
        self.remedy = remedy
        self.clips: dict[str, Clip] = {}
        self.revision = 1
        self.drafts = Drafts(path if sculpts is not None else None)
        self.fits = Fits(path if sculpts is not None else None)
        self.notes: list[str] = notes_of(skin.about)
        self._sculpts = sculpts
        self.fitted = skin
        self.scales: Mapping[str | int, float] = {}
        self._glb: tuple[int, bytes] = (0, b"")

    @property
    def space(self) -> PageSpace:
        """Converts between the page and the rig of the current skin: a fit may have made one of control points."""
        return PageSpace(self.skin.rig)

    @property
    def sculpts(self) -> Sculpts:
        """The editing session; raises where there is nothing to edit."""
        if self._sculpts is None:
            raise InputError(self.remedy)
        return self._sculpts

    @property
    def editable(self) -> bool:
        """Whether there is an editing session."""
        return self._sculpts is not None

    @property
    def motion(self) -> Motion:
        """The poses of the sculpts; without any, the rest pose."""
        if self.editable:
            return self.examples.motion
        return Motion.from_poses([self.skin.rig.rest], ["rest"])

    @property
    def examples(self) -> Examples:
        """All sculpts as examples, muted ones too."""
        session = self.sculpts
        motion = Motion.from_poses([sculpt.pose for sculpt in session.sculpts.values()], session.names)
        return Examples(session.rig, motion, [sculpt.shape for sculpt in session.sculpts.values()])

    def pose_of(self, name: str) -> Pose:
        """Return the pose in which the current skin shows a sculpt: of control points, that of its shape."""
        sculpt, rig, points = self.sculpts[name], self.skin.rig, self.skin.bones.points
        if rig.skeleton.same_as(self.sculpts.rig.skeleton) or not len(points):
            return sculpt.pose
        shape = Examples(self.sculpts.rig, Motion.from_poses([sculpt.pose]), [sculpt.shape])
        return motion_from_shapes(shape, rig, points)[0]

    def begin(self) -> None:
        """Solve what was opened, where that is wanted."""
        if self._sculpts is not None:
            self.solve()

    def sculpt_at(self, pose: Pose) -> str | None:
        """Return the name of the sculpt at a pose, if there is one."""
        return None if self._sculpts is None else self._sculpts.at(pose)

    def change(self, work: Callable[[Sculpts], Any]) -> Any:
        """Change the sculpts by `work`, then solve them; returns what `work` does."""
        try:
            result = work(self.sculpts)
        except StoreChangedError as error:
            self._sculpts = Sculpts.open(self.path, self.sculpts.settings)
            self.solve()
            raise InputError(
                f"{self.path}: was changed by another program and is read again; repeat the change"
            ) from error
        self.solve()
        return result

    def solve(self) -> None:
        """Solve the sculpts, as `ps.PSD` fits the store."""
        session = self.sculpts
        self.fits.current = None
        if len(session) > MOST_SOLVED:
            self.notes = [f"{len(session)} examples: choose a method and fit"]
            return
        if not self._has_corrections(session):
            self.show(Skin(session.rig))
            return
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            skin = solved(session, session.examples())
        self.show(skin)
        self.notes = list(dict.fromkeys(one_line(str(warning.message)) for warning in caught))

    @staticmethod
    def _has_corrections(session: Sculpts) -> bool:
        """Whether any sculpt that is not muted is at another pose than rest."""
        poses = [sculpt.pose for sculpt in session.sculpts.values() if not sculpt.muted]
        if not poses:
            return False
        motion = Motion.from_poses(poses)
        return not at_rest(linked_rig(session.rig, motion), motion).all()

    def edit(self, scales: Mapping[str | int, float], beta: float | None) -> None:
        """Show the skin as it was fitted, with signals or layers scaled and another pull of its control points."""
        self.skin, self.scales = edited(self.fitted, scales, beta), scales
        self.revision += 1

    def show(self, skin: Skin) -> None:
        """Make another skin the current one."""
        self.skin = self.fitted = skin
        self.scales = {}
        self.notes = notes_of(skin.about)
        self.revision += 1

    @property
    def motions(self) -> dict[str, Motion]:
        """The clips that the current skin plays, by name: those for its joints or control points."""
        joints = len(self.skin.rig.skeleton)
        return {name: clip.motion for name, clip in self.clips.items() if clip.motion.rotations.shape[1] == joints}

    def require_sculptable(self) -> None:
        """Raise where the current skin has control points: a sculpt has a pose of the joints."""
        if self.editable and len(self.skin.rig.skeleton) != len(self.sculpts.rig.skeleton):
            raise InputError("sculpt: the skin shown has control points; show the sculpts, solved, to sculpt on them")

    def glb(self) -> bytes:
        """Return the current skin as a GLB with its drivers and clips."""
        if self._glb[0] != self.revision:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / f"{self.path.stem or 'skin'}.glb"
                write_glb(file, Scene(self.skin, self.motions, is_for_all=False))
                self._glb = (self.revision, file.read_bytes())
        return self._glb[1]

    def errors_at(self, name: str) -> tuple[Floats, Floats, Floats]:
        """Return an example's shape (N, 3), and the distances to it of the skin and of plain skinning (N,)."""
        shape, rig, pose = np.asarray(self.sculpts[name].shape), self.skin.rig, self.pose_of(name)
        posed = (self.skin.pose(pose)[0][: len(shape)], rig.skin(pose))
        skin, plain = (np.linalg.norm(points - shape, axis=1) for points in posed)
        return shape, skin, plain

    def scores(self) -> list[Json]:
        """Return the error of the current skin at each sculpt that is not muted, in millimetres, the worst first."""
        examples = self.sculpts.examples()
        score = evaluate(self.skin, examples)
        plain = np.sqrt(np.mean(np.square(score.base, dtype=np.float64), axis=1))
        rows = [
            {"name": name, "error": 1000 * self.space.metres * error, "ratio": error / base if base > 0 else None}
            for (name, error), base in zip(score.per_pose.items(), plain.tolist(), strict=True)
        ]
        return sorted(rows, key=lambda row: -row["error"])

    def describe(self) -> Json:
        """Return the project as the page shows it."""
        rig, session = self.skin.rig, self._sculpts
        return {
            "name": self.path.stem,
            "path": str(self.path),
            "editable": self.editable,
            "remedy": self.remedy,
            "method": str(self.skin.about.get("method", "plain skinning")),
            "vertices": len(rig.mesh.points),
            "diagonal": self.space.metres * rig.mesh.diagonal,
            "joints": list(rig.skeleton.names),
            "layers": [layer.name for layer in self.skin.layers],
            "sculpts": [] if session is None else [_row(row) for row in describe_sculpts(session)],
            "undo": session.steps[-1] if session is not None and session.steps else None,
            "redo": session.undone[-1] if session is not None and session.undone else None,
            "takes": [name for name, clip in self.clips.items() if clip.markers is not None],
            "notes": self.notes,
            "radii": {} if session is None else radii_by_label(session.control_radii),
            "draft": self.drafts.describe(),
            "revision": self.revision,
        }


def _row(row: Json) -> Json:
    """A sculpt's figures as the page shows them."""
    return {
        "name": row["sculpt"],
        "moves": row["moves"],
        "largest": row["largest_correction"],
        "radius": row["radius"],
        "muted": row["muted"],
    }
