"""The errors of a skin on examples. Evaluate on poses that the fit did not see: the score says how many it saw."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Floats32
from posespace.errors import InputError
from posespace.evaluation.storage import stored_bytes, stored_numbers
from posespace.examples import Examples
from posespace.motion import Motion
from posespace.poses.active import active_in_poses, active_names
from posespace.poses.control_points import are_unposed, motion_at
from posespace.poses.digests import pose_digests
from posespace.rig import Rig
from posespace.skin.skin import Posable, Skin

SEVERAL = "several"

_MOST_HELD = 500_000_000
"""Bytes of errors, one array of three, that are held in memory; more go to a file that ends with the process."""

_MOST_SORTED = 50_000_000

_WORSE = 1.0005
"""A relative error above this counts as worse than plain skinning; in a table it reads as more than 1."""


@dataclass(frozen=True, eq=False)
class Score:
    """Errors of a skin on examples.

    Parameters
    ----------
    names : P pose names
    per_vertex : (P, N) float32 distance of each vertex from the truth, in the mesh's unit
    base : (P, N) float32, the same for plain skinning of the rig
    degrees : (P, N) float32 angle between the skin's normals and those of the true shape
    moved : P entries: the one joint or control that the pose moves, "several", or "" for the rest pose
    size, diagonal : the largest side and the diagonal of the rest shape's box
    stored, numbers : the bytes and the numbers that the skin stores, excluding the rig
    seen : how many of these poses the fit was given; None where the skin does not say
    height_rms : root mean square error of the heights of the skin's detail, in the mesh's unit; None where the skin or
        the examples have none
    """

    names: tuple[str, ...]
    per_vertex: Floats
    base: Floats
    degrees: Floats
    moved: tuple[str, ...]
    size: float
    diagonal: float
    stored: int
    numbers: int
    seen: int | None
    height_rms: float | None = None

    METRICS: ClassVar = ("rel_err", "rms", "e_rms", "max_error", "p95_error", "normal_degrees", "p95_normal_degrees")
    """The properties that are one number over all poses; their names are the keys in JSON."""

    def __repr__(self) -> str:
        figures = f"rel_err {self.rel_err:.4g}, rms {self.rms:.4g}, max_error {self.max_error:.4g}"
        return f"Score({figures}, {len(self.names)} poses)"

    @property
    def rel_err(self) -> float:
        """The error divided by that of plain skinning: 1 is no better, 0 is the truth."""
        return _ratio(_squares(self.per_vertex).sum(), _squares(self.base).sum())

    @property
    def rms(self) -> float:
        """Root mean square of the vertex errors, the largest side of the box being 1."""
        return float(np.sqrt(_squares(self.per_vertex).sum() / self.per_vertex.size)) / self.size

    @property
    def e_rms(self) -> float:
        """1000·‖A - Â‖/√(3NP) over all coordinates, half the diagonal of the box being 1 (Kavan et al. 2010)."""
        mean = _squares(self.per_vertex).sum() / (3 * self.per_vertex.size)
        return 1000 * float(np.sqrt(mean)) / (self.diagonal / 2)

    @property
    def max_error(self) -> float:
        """The largest vertex error, in the mesh's unit."""
        return float(self.per_vertex.max())

    @property
    def p95_error(self) -> float:
        """The vertex error that 95 % stay below, in the mesh's unit."""
        return _percentile(self.per_vertex, 95)

    @property
    def normal_degrees(self) -> float:
        """The mean angle between the skin's normals and those of the true shape."""
        return float(self.degrees.mean(dtype=np.float64))

    @property
    def p95_normal_degrees(self) -> float:
        """The angle that 95 % of the normals stay below."""
        return _percentile(self.degrees, 95)

    @property
    def bytes_per_vertex(self) -> float:
        """Bytes that the skin stores per vertex, excluding the rig."""
        return self.stored / int(self.per_vertex.shape[1])

    @property
    def per_pose(self) -> dict[str, float]:
        """The root mean square of each pose's vertex errors, in the mesh's unit."""
        rms = np.sqrt(_squares(self.per_vertex) / self.per_vertex.shape[1])
        return dict(zip(self.names, rms.tolist(), strict=True))

    @property
    def per_joint(self) -> dict[str, float]:
        """The relative error over the poses that move one joint or control alone, by its name, and over "several"."""
        error, base = _squares(self.per_vertex), _squares(self.base)
        groups = sorted(set(self.moved) - {""}, key=lambda name: (name == SEVERAL, self.moved.index(name)))
        chosen = {name: np.array([entry == name for entry in self.moved]) for name in groups}
        return {name: _ratio(error[rows].sum(), base[rows].sum()) for name, rows in chosen.items()}

    @property
    def is_worse_than_plain(self) -> bool:
        """Whether plain skinning has less error on these examples."""
        return self.rel_err > _WORSE

    def figures(self) -> dict[str, Any]:
        """Return every metric as plain numbers, for JSON."""
        return {
            **{name: getattr(self, name) for name in self.METRICS},
            "worse_than_plain": self.is_worse_than_plain,
            "bytes_per_vertex": self.bytes_per_vertex,
            "numbers": self.numbers,
            "height_rms": self.height_rms,
            "poses": len(self.names),
            "seen": self.seen,
            "per_joint": self.per_joint,
            "per_pose": self.per_pose,
        }


def evaluate(skin: Posable, examples: Examples, advance: Callable[[int, int], None] | None = None) -> Score:
    """Compare what `skin` gives at each example's pose with the observed shape, one shape in memory at a time.

    Where a skin has detail, the surface below it is compared; its heights are, too, where the examples have some.

    Parameters
    ----------
    skin : a `Skin`, or anything with the same `rig` and `pose`
    examples : the truth; its rig's plain skinning is what `rel_err` is relative to
    advance : called with how many of how many poses are done
    """
    (score,) = evaluate_all([skin], examples, advance)
    if isinstance(score, InputError):
        raise score
    return score


def evaluate_all(
    skins: Sequence[Posable], examples: Examples, advance: Callable[[int, int], None] | None = None
) -> list[Score | InputError]:
    """Evaluate several skins in one pass over the examples; one that fails has its error in place of a score."""
    runs = [_Run(skin, examples) for skin in skins]
    if all(run.failed for run in runs):
        return [run.failed for run in runs if run.failed]
    rig = examples.rig
    base = _empty(len(examples), len(rig.mesh.points))
    for index, (pose, shape) in enumerate(examples):
        base[index] = np.linalg.norm(rig.skin(pose) - shape, axis=1)
        normals = rig.mesh.normals(shape)
        for run in runs:
            run.compare(index, shape, normals)
        if advance is not None:
            advance(index + 1, len(examples))
    moves = moved_alone(rig, examples.motion)
    return [run.failed or run.score(examples, base, moves) for run in runs]


class _Run:
    """The errors of one skin so far, pose by pose, or why it failed."""

    def __init__(self, skin: Posable, examples: Examples) -> None:
        self.skin = skin
        self.failed: InputError | None = None
        try:
            _check_kinds(skin, examples)
            check_comparable(skin, examples)
        except InputError as error:
            self.failed = error
            return
        surface = compared(skin, examples)
        levels = getattr(skin, "levels", None)
        if isinstance(skin, Skin) and skin.detail is not None and surface is not skin:
            levels = skin.detail.levels
        has_heights = levels is not None and examples.heights is not None and examples.levels == levels
        self._height_errors: list[float] | None = [] if has_heights else None
        self._heights = examples.heights
        self._motion = motion_of(surface, examples)
        self._posed = posed(surface, self._motion)
        self._errors, self._degrees = (_empty(len(examples), len(examples.rig.mesh.points)) for _ in range(2))

    def compare(self, index: int, shape: Floats, truth: Floats) -> None:
        """Compare the next pose with its true points `shape` (N, 3) and normals `truth` (N, 3)."""
        if self.failed:
            return
        try:
            points, normals = next(self._posed)
        except InputError as error:
            self.failed = error
            return
        self._errors[index] = np.linalg.norm(points - shape, axis=1)
        self._degrees[index] = angles_between(normals, truth)
        if self._height_errors is not None:
            assert self._heights is not None
            detailed: Any = self.skin
            errors = detailed.heights(self._motion[index]) - np.asarray(self._heights[index])
            self._height_errors.append(float(np.square(errors).mean()))

    def score(self, examples: Examples, base: Floats32, moves: tuple[str, ...]) -> Score:
        """The score, once all poses are compared."""
        rig, skin = examples.rig, self.skin
        return Score(
            examples.motion.names,
            self._errors,
            base,
            self._degrees,
            moves,
            float(np.ptp(rig.mesh.points, axis=0).max()),
            rig.mesh.diagonal,
            stored_bytes(skin),
            stored_numbers(skin),
            _seen(skin, self._motion),
            float(np.sqrt(np.mean(self._height_errors))) if self._height_errors else None,
        )


def compared(skin: Posable, examples: Examples) -> Posable:
    """Return what of a skin is compared with examples: the surface below its detail, unless they have the fine one."""
    if not isinstance(skin, Skin) or skin.detail is None or len(skin.mesh.points) == len(examples.rig.mesh.points):
        return skin
    return replace(skin, detail=None)


def motion_of(skin: Posable, examples: Examples) -> Motion:
    """Return the poses to evaluate a skin at: the examples', or for control points taken from their shapes."""
    return motion_at(examples, skin.rig, skin.points)


def posed(skin: Posable, motion: Motion) -> Iterator[tuple[Floats, Floats]]:
    """Yield the posed points (N, 3) and unit normals (N, 3) of each pose."""
    return skin.poses(motion) if isinstance(skin, Skin) else map(skin.pose, motion)


def _empty(poses: int, vertices: int) -> Floats32:
    """An empty array (P, N): in memory, or where it is too large, in a temporary file."""
    if 4 * poses * vertices <= _MOST_HELD:
        return np.empty((poses, vertices), np.float32)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, np.float32, "w+", shape=(poses, vertices))


def _percentile(values: Floats32, part: float) -> float:
    """The number that `part` percent of the values (P, N) stay below; very many values are sampled evenly."""
    flat = values.reshape(-1)
    return float(np.percentile(flat[:: 1 + flat.size // _MOST_SORTED], part))


def _check_kinds(skin: object, examples: object) -> None:
    posable = isinstance(getattr(skin, "rig", None), Rig) and callable(getattr(skin, "pose", None))
    posable = posable and hasattr(skin, "points")
    if not posable or not isinstance(examples, Examples):
        got = f"{type(skin).__name__} and {type(examples).__name__}"
        raise InputError(f"evaluate: expected a skin and the examples to evaluate it on, got {got}")


def check_comparable(skin: Posable, examples: Examples) -> None:
    """Raise unless a skin has the vertices of examples, and their joints or its own control points.

    Of a skin with detail the surface below it is compared, unless the examples have the fine one.
    """
    if not len(examples):
        raise InputError("examples: expected at least one pose to evaluate on, got none")
    rig = examples.rig
    if rig.mesh.diagonal <= 0:
        raise InputError("examples: expected a rest shape of some size, got all vertices at one position")
    surface = compared(skin, examples)
    vertices = len(surface.mesh.points if isinstance(surface, Skin) else surface.rig.mesh.points)
    # Control-point skins take their pose from the shapes of the examples, whatever their joints are.
    from_shapes = are_unposed(examples, surface.rig, surface.points)
    check_same(vertices, rig if from_shapes else surface.rig, rig)


def check_same(vertices: int, rig: Rig, truth: Rig) -> None:
    """Raise unless a rig has as many vertices, and the same joints, as that of the examples."""
    expected = len(truth.mesh.points)
    if vertices != expected:
        raise InputError(
            f"its shapes have {vertices} vertices, the examples {expected}; fit and evaluate on the same mesh"
        )
    if rig.skeleton.names != truth.skeleton.names:
        raise InputError("its joints differ in name or order from the examples'; fit and evaluate on the same skeleton")


def angles_between(a: Floats, b: Floats) -> Floats:
    """Return the angles (N,) in degrees between unit vectors (N, 3)."""
    # The half chord keeps its digits where the arc cosine of the product would lose them.
    return np.asarray(np.degrees(2 * np.arctan2(np.linalg.norm(a - b, axis=1), np.linalg.norm(a + b, axis=1))))


def moved_alone(rig: Rig, motion: Motion) -> tuple[str, ...]:
    """Return of each pose the one joint or control it moves from rest, "several", or "" where it moves none."""
    moved_names = (active_names(movers, rig.skeleton) for movers in active_in_poses(rig, motion))
    return tuple(SEVERAL if len(names) > 1 else "".join(names) for names in moved_names)


def _seen(skin: Posable, motion: Motion) -> int | None:
    digests = skin.about.get("poses") if isinstance(skin, Skin) else getattr(skin, "poses", None)
    if not isinstance(digests, list | tuple):
        return 0 if isinstance(skin, Skin) and not skin.layers else None
    fitted = {str(digest) for digest in digests}
    if isinstance(skin, Skin):
        motion = skin.aligned(motion)[0]
    return sum(digest in fitted for digest in pose_digests(motion, skin.rig.skeleton))


def _squares(errors: Floats) -> NDArray[np.float64]:
    """Sums (P,) of the squares of each pose, in double precision without a double copy of all."""
    return np.array([np.square(row, dtype=np.float64).sum() for row in errors])


def _ratio(error: float, base: float) -> float:
    if base > 0:
        return float(np.sqrt(error / base))
    return 0.0 if error == 0 else float("inf")
