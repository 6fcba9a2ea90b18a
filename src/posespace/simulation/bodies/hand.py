"""A procedural hand: skin at three nested levels, skeleton, weights, and bones for the simulation. Millimetres."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np
from scipy.spatial import cKDTree

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.smoothstep import step_across
from posespace.geometry.subdivision import subdivide
from posespace.mesh import UNITS, Mesh
from posespace.rig import Rig, pack_weights
from posespace.simulation.bodies import hand_bones
from posespace.simulation.bodies.body import Body, Bone, Cut
from posespace.simulation.bodies.distance_field import DistanceField
from posespace.simulation.bodies.field_mesh import relax, triangulate
from posespace.simulation.bodies.hand_bones import FINGERS, NAMES, PLAIN, STUMP, Segment
from posespace.simulation.bodies.hand_clearance import bones_clear
from posespace.simulation.bodies.hand_shape import BOX, hand_field
from posespace.simulation.settings import Settings
from posespace.skeleton import Skeleton

TRIANGLES = 3494
"""Triangles of level 0. Four times as many at each level: 13,976 and 55,904, those of the EigenSkin paper's hand."""
_GRID = 3.0
_CAP = 8.0
"""Millimetres from the end of the forearm at which its skin rounds off into a flat cap, which is fixed."""


def hand(
    level: int = 1,
    side: str = "right",
    size: float = 1.0,
    build: float = 0.0,
    detail: bool = True,
    lengths: Sequence[float] = PLAIN,
) -> Body:
    """Return a hand with slightly bent fingers, pointing along y, its back towards z and its wrist at the origin.

    All hands have the same triangles and joints, vertex by vertex: other sizes, builds and sides are the same hand
    in another shape.

    Parameters
    ----------
    level : 0, 1 or 2 for 3,494, 13,976 or 55,904 triangles; a level's vertices are the first ones of the next
    side : "right" or "left", its mirror image
    size : factor on all lengths, above 0; at 1 the hand is 190 mm long
    build : thickness, from -1 (slim) to 1 (strong)
    detail : nails, creases, wrinkles and tendons; without, the skin is smooth all over
    lengths : factors on the lengths of thumb, index, middle, ring and little finger, 0.8 to 1.25

    Returns
    -------
    A body whose joints rotate about x (flexion, positive to the palm) and, at wrist, thumb_cmc and the mcp joints,
    about z (deviation, positive to the thumb's side, for the thumb itself away from the palm).
    """
    if level not in (0, 1, 2):
        raise InputError(f"hand level: expected 0, 1 or 2, got {level}")
    check.choice("hand side", side, ("right", "left"))
    if not 0 < size < np.inf:
        raise InputError(f"hand size: expected above 0, got {size}")
    if not -1 <= build <= 1:
        raise InputError(f"hand build: expected -1 to 1, got {build}")
    if len(lengths) != len(PLAIN) or not all(0.8 <= factor <= 1.25 for factor in lengths):
        raise InputError(f"hand lengths: expected five factors of 0.8 to 1.25, got {lengths}")
    parts = hand_bones.segments(build, lengths)
    points, triangles = _skin(level, build, detail, lengths)
    influences, weights = hand_weights(points, parts)
    skeleton = hand_bones.skeleton(parts)
    right = size * points, triangles, _scaled(skeleton, size)
    solids = tuple(_scaled_bone(bone, size) for bone in hand_bones.bones(parts))
    if side == "left":
        right = _mirrored(*right)
        solids = tuple(_scaled_bone(bone, np.array([-1.0, 1.0, 1.0])) for bone in solids)
    cut = Cut(size * np.array([0.0, STUMP + _CAP, 0.0]), np.array([0.0, -1.0, 0.0]))
    rig = Rig(Mesh(right[0], right[1], unit=UNITS["mm"]), right[2], influences, weights)
    return Body(rig, solids, (cut,), level, partial(bones_clear, lengths=tuple(lengths)))


def body(settings: Settings) -> Body:
    """Return the body that `simulate("hand", ...)` simulates."""
    return hand(settings.level, settings.side)


def hand_weights(points: Floats, parts: dict[str, Segment]) -> tuple[Ints, Floats]:
    """Return the joints (N, K) that move points (N, 3) of a right hand, at most 4, and their weights (N, K).

    Along a finger, one bone hands over to the next across a smooth step at the joint. Which finger a point belongs to
    changes over a few millimetres in the web between two, and not at all further out.
    """
    dense = np.zeros((len(points), len(NAMES)))
    beyond_wrist = step_across((points - parts["carpus"].start) @ parts["carpus"].frame[:, 1], 18.0)
    dense[:, 0] = 1 - beyond_wrist
    thumb = [parts[name] for name in ("thumb_metacarpal", "thumb_1", "thumb_2")]
    fingers = {name: [parts[f"{name}_{k}"] for k in (1, 2, 3)] for name in FINGERS}
    others = [part for name, part in parts.items() if not name.startswith("thumb") and name != "forearm"]
    lead = _distance(points, others) - _distance(points, thumb)
    left = beyond_wrist.copy()
    shares = {"thumb": step_across(lead, 13.0), **_finger_shares(points, fingers)}
    for name, chain in {"thumb": thumb, **fingers}.items():
        share = beyond_wrist * shares[name] * (1 if name == "thumb" else 1 - shares["thumb"])
        reaches = (15.0, 11.0, 9.0) if name == "thumb" else tuple(1.05 * r for r in FINGERS[name].radii[:3])
        before = parts["carpus"] if name == "thumb" else parts[f"{name}_metacarpal"]
        for part, reach in zip(chain, reaches, strict=True):
            # A plane halfway between the two bones' directions parts them.
            across = part.frame[:, 1] + before.frame[:, 1]
            share = share * step_across((points - part.start) @ across / np.linalg.norm(across), reach)
            dense[:, NAMES.index(part.joint)] += share
            if part is chain[0]:
                left -= share
            else:
                dense[:, NAMES.index(before.joint)] -= share
            before = part
    dense[:, 1] = left
    dense = np.maximum(dense, 0)
    dense[dense < 5e-4] = 0
    influences, weights = pack_weights(dense, 4)
    return influences, weights / weights.sum(axis=1, keepdims=True)


def _finger_shares(points: Floats, fingers: dict[str, list[Segment]]) -> dict[str, Floats]:
    """Weight of each of the four fingers at each point: one finger only, except in the web between two."""
    distance = np.stack([_distance(points, chain) for chain in fingers.values()], axis=1)
    behind = distance - distance.min(axis=1, keepdims=True)
    first = np.stack([(points - chain[0].start) @ chain[0].frame[:, 1] / chain[0].length for chain in fingers.values()])
    along = np.take_along_axis(first.T, distance.argmin(axis=1)[:, None], axis=1)
    # Fades out along the first bone, so that past the web no finger moves with its neighbour.
    width = 14.0 * (1 - step_across(along - 0.52, 0.16))
    raw = np.maximum(1 - behind / np.maximum(width, 1e-9), 0) ** 2
    raw /= raw.sum(axis=1, keepdims=True)
    return dict(zip(fingers, raw.T, strict=True))


def _distance(points: Floats, parts: list[Segment]) -> Floats:
    """Distance (N,) to the nearest of some bones."""
    nearest = np.full(len(points), np.inf)
    for part in parts:
        along = np.clip((points - part.start) @ part.frame[:, 1], 0, part.length)
        away = points - part.start - along[:, None] * part.frame[:, 1]
        nearest = np.minimum(nearest, np.linalg.norm(away, axis=1))
    return nearest


def _sizing(points: Floats) -> Floats:
    """Relative edge lengths: short on the fingers, shortest at their tips and joints, in the webs and along creases."""
    parts = hand_bones.segments()
    chains = [[part for name, part in parts.items() if name.startswith(f"{finger}_")] for finger in (*FINGERS, "thumb")]
    tips = _nearest(points, [chain[-1].at(0.7) for chain in chains])
    first = [parts[f"{finger}_1"].at(0.4) for finger in FINGERS]
    webs = _nearest(points, [(a + b) / 2 for a, b in pairwise(first)])
    inward = np.minimum(step_across(webs - 11, 12.0) * 0.92 - 0.92, step_across(tips - 16, 10.0) * 0.4 - 0.4)
    fingers = _distance(points, [part for chain in chains for part in chain[-2:]])
    smooth = 1.35 - 0.4 * step_across(16 - fingers, 8.0) + inward
    # Gently longer away from the lines, or the triangles between long and short edges would be thin.
    creases = 0.6 + 0.06 * np.maximum(_creases().query(points)[0] - 1, 0)
    joints = _nearest(points, [part.start for chain in chains for part in chain[-2:]])
    return np.asarray(np.minimum(smooth, np.minimum(creases, 0.52 + 0.055 * np.maximum(joints - 11, 0))))


@lru_cache(maxsize=1)
def _creases() -> cKDTree:
    """The points where the skin is carved."""
    lines = hand_field().height_lines
    return cKDTree(lines.points[lines.heights < 0])


def _nearest(points: Floats, centres: list[Floats]) -> Floats:
    """Distance (N,) to the nearest of some points."""
    return np.asarray(np.min([np.linalg.norm(points - centre, axis=1) for centre in centres], axis=0))


@lru_cache(maxsize=1)
def _coarse() -> tuple[Floats, Ints]:
    """The coarsest skin of the plain hand, which every other hand is made from."""
    points, triangles = triangulate(hand_field(detail=False), BOX, TRIANGLES, _GRID, _sizing)
    points.flags.writeable = triangles.flags.writeable = False
    return points, triangles


def _skin(level: int, build: float, detail: bool, lengths: Sequence[float]) -> tuple[Floats, Ints]:
    points, triangles = _coarse()
    everything = np.ones(len(points), dtype=bool)
    steps = int(np.ceil(max(5 * abs(build), *(40 * abs(factor - 1) for factor in lengths))))
    # In small steps, where the bones carry the triangles and these then slide, nothing folds.
    for k in range(1, steps + 1):
        before, after = _part_way(build, lengths, (k - 1) / steps), _part_way(build, lengths, k / steps)
        influences, weights = hand_weights(points, hand_bones.segments(*before))
        points = points + np.einsum("nk,nkc->nc", weights, _translations(before, after)[influences])
        between = hand_field(after[0], False, after[1])
        points = between.project(points)
        for _ in range(4):
            points = relax(between, points, triangles, _sizing(_plain(points, *after)), everything)
    field = hand_field(build, detail, lengths)
    points = field.project(points)
    for _ in range(level):
        points, triangles = _finer(field, points, triangles, _sizing(_plain(points, build, lengths)))
    return points, triangles


_Form = tuple[float, Sequence[float]]
"""Build and lengths of a hand."""


def _part_way(build: float, lengths: Sequence[float], share: float) -> _Form:
    """Build and lengths interpolated by `share` from those of the plain hand."""
    return build * share, tuple(1 + share * (factor - 1) for factor in lengths)


def _translations(before: _Form, after: _Form) -> Floats:
    """Translations (J, 3) of the joints at rest from one hand to another."""
    worlds = [hand_bones.skeleton(hand_bones.segments(*form)).rest_world for form in (before, after)]
    return np.asarray((worlds[1] - worlds[0])[:, :3, 3])


def _plain(points: Floats, build: float, lengths: Sequence[float]) -> Floats:
    """Approximate positions of points (N, 3) of a hand on one with the finger lengths of the plain hand."""
    if tuple(lengths) == PLAIN:
        return points
    influences, weights = hand_weights(points, hand_bones.segments(build, lengths))
    back = _translations((build, lengths), (build, PLAIN))
    return np.asarray(points + np.einsum("nk,nkc->nc", weights, back[influences]))


def _finer(field: DistanceField, points: Floats, triangles: Ints, sizes: Floats) -> tuple[Floats, Ints]:
    """One level finer: the vertices stay, the new ones go to the surface and slide to even distances.

    `sizes` (N,) are the relative edge lengths wanted at the points.
    """
    finer = subdivide(triangles, len(points))
    fine = finer.refine(points)
    free = np.arange(len(fine)) >= len(points)
    fine[free] = field.project(fine[free])
    # Interpolated, as the new vertices can follow no change within one triangle.
    wanted = finer.refine(sizes[:, None])[:, 0]
    for _ in range(4):
        fine = relax(field, fine, finer.triangles, wanted, free)
    return fine, finer.triangles


def _scaled(skeleton: Skeleton, size: float) -> Skeleton:
    world = skeleton.rest_world.copy()
    world[:, :3, 3] *= size
    return Skeleton.from_world(skeleton.names, skeleton.parents, world, skeleton.axes, skeleton.limits)


def _scaled_bone(bone: Bone, scale: float | Floats) -> Bone:
    grow = float(np.abs(scale).max())
    return Bone(bone.joint, scale * bone.start, scale * bone.end, grow * bone.start_radius, grow * bone.end_radius)


def _mirrored(points: Floats, triangles: Ints, skeleton: Skeleton) -> tuple[Floats, Ints, Skeleton]:
    """The left hand. Its joints' x axes stay flexion axes; rotations about z change sign, as in a mirror image."""
    mirror = np.diag([-1.0, 1.0, 1.0])
    world = skeleton.rest_world.copy()
    world[:, :3, :3] = mirror @ world[:, :3, :3] @ mirror
    world[:, :3, 3] = world[:, :3, 3] @ mirror
    axes = None if skeleton.axes is None else skeleton.axes * np.array([1.0, 1.0, -1.0])
    left = Skeleton.from_world(skeleton.names, skeleton.parents, world, axes, skeleton.limits)
    return points @ mirror, triangles[:, ::-1].copy(), left
