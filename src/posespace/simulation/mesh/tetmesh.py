"""Tetrahedra between the skin and the bones of a rig, and the embedding of the skin's vertices in them.

Netgen fills the space; the skin it starts from is remeshed at the density that gives the number of elements asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError, require
from posespace.geometry.remesh import remesh
from posespace.geometry.surface import Surface, position_text
from posespace.mesh import Mesh
from posespace.simulation.bodies import capsules
from posespace.simulation.bodies.body import Bone, Cut
from posespace.simulation.bodies.capsules import CrowdedError
from posespace.simulation.mesh.embed import embed
from posespace.simulation.mesh.repair import closed_surface, wrapped
from posespace.simulation.solver.elements import shape_functions, to_quadratic

_TOLERANCE = 0.1
"""Largest relative difference between the number of elements and the one asked for."""

_FAR_OFF = 1.25
"""Beyond this many times the number asked for, the note says that the number was too small."""

_TRIES = 8
_FINER, _REFINEMENTS = 0.75, 4
"""If bones lack room, the mesh is made again with edges shorter by this factor, at most so often."""

_LONGEST = 4.0
"""The longest edges that are considered, as a multiple of the present ones."""

_COARSER_INSIDE = 2.2
"""Edges in the middle of the flesh are longer than those of the skin by this factor."""

_GAP = 0.15
"""The least distance between bones and skin, in edges of the skin; thin bones need less."""


_FAR = 0.005
"""A skin vertex moved farther than this fraction of the box's diagonal is reported."""


@dataclass(frozen=True, eq=False)
class TetMesh:
    """Tetrahedra of four nodes around the bones of a body.

    Parameters
    ----------
    points : (N, 3) float64 nodes in the rest shape
    tets : (T, 4) int32, of positive volume
    bone_of : (N,) int32, the bone that the node moves with, because it lies on it or on a cut fixed to it; -1: free
    element : (V,) int32, the tetrahedron that carries each vertex of the skin
    barycentric : (V, 4) float64, the vertex's barycentric coordinates there; a little below 0 if it lies just outside
    bones : the bones as they are in the mesh; smaller than those given where room was lacking
    notes : what was repaired or changed, one line each
    """

    points: Floats
    tets: Ints
    bone_of: Ints
    element: Ints
    barycentric: Floats
    bones: tuple[Bone, ...]
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        count, elements = len(self.points), len(self.tets)
        put = object.__setattr__
        put(self, "points", check.floats("tetmesh points", self.points, ("N", 3)))
        put(self, "tets", check.indices("tetmesh tets", self.tets, ("T", 4), below=count))
        put(self, "bone_of", check.indices("tetmesh bone_of", self.bone_of, (count,), below=len(self.bones), least=-1))
        put(self, "element", check.indices("tetmesh element", self.element, ("V",), below=elements))
        put(self, "barycentric", check.floats("tetmesh barycentric", self.barycentric, (len(self.element), 4)))

    @property
    def extrapolation(self) -> float:
        """The largest distance of a skin vertex outside its tetrahedron, in heights of that tetrahedron."""
        return max(0.0, -float(self.barycentric.min(initial=0.0)))

    def skin(self, order: int = 1) -> tuple[Ints, Floats]:
        """Return the nodes (V, K) and weights (V, K) whose sum is each skin vertex; the weights of a row sum to 1.

        `order` 1: the four nodes of a tetrahedron, K = 4. 2: the ten nodes that `elements.to_quadratic` makes of
        it, K = 10. Just outside a tetrahedron the shape functions continue linearly, so that they stay small.
        """
        if order == 1:
            return self.tets[self.element], self.barycentric
        if order != 2:
            raise InputError(f"order: expected 1 or 2, got {order}")
        inside = np.clip(self.barycentric, 0, None)
        inside = inside / inside.sum(axis=1, keepdims=True)
        beyond = self.barycentric - inside
        values = shape_functions(10, inside)
        # Exact for quadratics: the slope along a line is the difference of two values about the point.
        slopes = (shape_functions(10, inside + beyond) - shape_functions(10, inside - beyond)) / 2
        _, tets, _ = to_quadratic(self.points, self.tets.astype(np.int64))
        return tets[self.element].astype(np.int32), values + slopes

    def embedding(self, order: int = 1) -> sparse.csr_array[Any]:
        """Return the sparse matrix (V, nodes) that takes node positions to the skin's; see `skin` for `order`."""
        nodes, weights = self.skin(order)
        count = len(self.points) if order == 1 else len(to_quadratic(self.points, self.tets.astype(np.int64))[0])
        rows = np.repeat(np.arange(len(nodes)), nodes.shape[1])
        return sparse.csr_array((weights.ravel(), (rows, nodes.ravel())), shape=(len(nodes), count))


def tetrahedralise(
    surface: Mesh,
    bones: Sequence[Bone],
    elements: int = 11_000,
    names: Sequence[str] | None = None,
    cuts: Sequence[Cut] = (),
) -> TetMesh:
    """Fill the space between a skin and its bones with tetrahedra.

    Parameters
    ----------
    surface : the rest shape. Seams may split it; small holes and one cut end, e.g. a wrist, are capped; a surface that
        crosses itself is wrapped in one that does not
    bones : at least one, inside the surface
    elements : the number of tetrahedra asked for; the result is within a tenth of it, or has a note: where bones are
        many or near the skin it may need more
    names : the joints' names, for messages
    cuts : where the surface was cut off a longer limb: its skin there moves with the nearest bone

    Returns
    -------
    The tetrahedra, with every vertex of `surface` embedded in them; `notes` lists what was repaired.
    """
    require("netgen.meshing", "simulate", "making tetrahedra")
    if not bones:
        raise InputError("bones: expected at least one, got none")
    if not 200 <= elements <= 5_000_000:
        raise InputError(f"elements: expected 200 to 5000000, got {elements}")
    skin, notes = closed_surface(surface, bones)
    name_of: Callable[[int], str] = lambda joint: f"joint {joint}" if names is None else repr(names[joint])  # noqa: E731
    _check_inside(skin, bones, name_of)
    try:
        filled = _steered(skin, bones, elements, name_of)
    except _UnusableSkinError as problem:
        skin = wrapped(skin, _first_edge(skin, elements) / 3)
        notes = [*notes, f"surface {problem}: wrapped in another"]
        _check_inside(skin, bones, name_of)
        try:
            filled = _steered(skin, bones, elements, name_of)
        except _UnusableSkinError:
            raise InputError(f"surface {problem}, and wrapping it did not help; untangle it") from None
    element, barycentric, off = embed(filled.points, filled.tets, np.asarray(surface.points, dtype=np.float64))
    if off > _FAR * surface.diagonal:
        far = f"some vertices lie far outside the tetrahedra; they were moved towards them, by {off:.3g} at most"
        notes = [*notes, far]
    bone_of = _held(filled, cuts)
    return TetMesh(filled.points, filled.tets, bone_of, element, barycentric, filled.bones, (*notes, *filled.notes))


def _held(filled: _Filled, cuts: Sequence[Cut]) -> Ints:
    """The bone that each node moves with, including nodes of cut ends."""
    bone_of = filled.bone_of.copy()
    for cut in cuts:
        nearest = int(np.argmin([capsules.distance(bone, cut.point[None])[0] for bone in filled.bones]))
        bone_of[filled.outer[cut.holds(filled.points[filled.outer])]] = nearest
    return bone_of


class _UnusableSkinError(Exception):
    """No tetrahedra fit this skin; the message continues the word "surface"."""


@dataclass(frozen=True, eq=False)
class _Filled:
    points: Floats
    tets: Ints
    bone_of: Ints
    outer: Ints
    bones: tuple[Bone, ...]
    notes: list[str]


def _check_inside(skin: Surface, bones: Sequence[Bone], name_of: Callable[[int], str]) -> None:
    share = np.linspace(0, 1, 17)[:, None]
    for bone in bones:
        axis = bone.start + share * (bone.end - bone.start)
        outside = skin.winding(axis) < 0.5
        if outside.any():
            where = position_text(axis[outside.argmax()])
            part = "lies" if outside.all() else "reaches"
            raise InputError(f"bone of {name_of(bone.joint)}: it {part} outside the surface at {where}; move it inside")


def _first_edge(skin: Surface, elements: int) -> float:
    """The edge length of the skin that gives about `elements`: some lie along the skin, the rest fill the inside."""
    low, high = 1e-4, 1.0
    scale = skin.volume ** (1 / 3)
    for _ in range(40):
        middle = np.sqrt(low * high)
        count = 4 * skin.area / (middle * scale) ** 2 + 2.5 * skin.volume / (middle * scale) ** 3
        low, high = (middle, high) if count > elements else (low, middle)
    return float(middle * scale)


def _steered(skin: Surface, bones: Sequence[Bone], elements: int, name_of: Callable[[int], str]) -> _Filled:
    """Fill at one density after another until the number of elements is right, or as near as the bones allow.

    Bones that are many or near the skin need small elements: where fewer cannot be had, the finer mesh is taken.
    """
    edge = _first_edge(skin, elements)
    tried: list[tuple[float, int]] = []
    best: _Filled | None = None
    crowded = False
    for attempt in range(_TRIES):
        try:
            filled = _filled(skin, bones, edge, name_of)
        except CrowdedError:
            if best is not None:
                break
            if attempt == _REFINEMENTS:
                raise
            edge, crowded = _FINER * edge, True
            continue
        if _misses(filled, elements) <= _TOLERANCE:
            return filled
        tried.append((edge, len(filled.tets)))
        if best is None or _misses(filled, elements) < _misses(best, elements):
            best = filled
        if crowded or _fewest(skin, bones, edge, len(filled.tets)) > _FAR_OFF * elements:
            break
        edge = _next_edge(tried, elements)
    assert best is not None
    if len(best.tets) > _FAR_OFF * elements:
        best.notes.append(f"{elements} elements are too few for these bones: {len(best.tets)} are used")
    else:
        best.notes.append(f"{elements} cannot be reached with these bones, the nearest was {len(best.tets)}")
    return best


def _fewest(skin: Surface, bones: Sequence[Bone], edge: float, count: int) -> float:
    """About how few elements any edge length gives, where `edge` gave `count`: they go with the triangles around them.

    The triangles of the skin become few with longer edges, those of the bones do not: each has six sides at least.
    """
    return count * _triangles(skin, bones, _LONGEST * edge) / _triangles(skin, bones, edge)


def _triangles(skin: Surface, bones: Sequence[Bone], edge: float) -> float:
    """About how many triangles skin and bones have at this edge length."""
    size = _sizes(skin, bones, edge)[skin.triangles].mean(axis=1)
    sides = skin.corners[:, 1:] - skin.corners[:, :1]
    areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2
    return float((areas / (np.sqrt(3) / 4 * size**2)).sum()) + sum(len(capsules.surface(b, edge)[1]) for b in bones)


def _misses(filled: _Filled, elements: int) -> float:
    return abs(len(filled.tets) / elements - 1)


def _next_edge(tried: Sequence[tuple[float, int]], elements: int) -> float:
    """The edge to try after `tried` edges and the numbers of elements they gave."""
    fine = max((entry for entry in tried if entry[1] > elements), default=None)
    coarse = min((entry for entry in tried if entry[1] < elements), default=None)
    if fine and coarse:
        share = np.log(fine[1] / elements) / np.log(fine[1] / coarse[1])
        return float(fine[0] * (coarse[0] / fine[0]) ** np.clip(share, 0.2, 0.8))
    # The number of elements is taken as a power of the edge: its square if all lie along the skin, at most its cube.
    slope = -2.5
    if len(tried) > 1:
        (edge0, count0), (edge1, count1) = tried[-2:]
        slope = float(np.clip(np.log(count1 / count0) / np.log(edge1 / edge0), -5, -1.2))
    edge, count = tried[-1]
    return float(edge * (elements / count) ** (1 / slope))


def _filled(skin: Surface, bones: Sequence[Bone], edge: float, name_of: Callable[[int], str]) -> _Filled:
    """Remesh the skin with edges of length `edge`, make room around the bones and fill the space between."""
    size = _sizes(skin, bones, edge)
    for _ in range(3):
        points, triangles = remesh(skin, size)
        coarse = Surface(points, triangles)
        crossed = coarse.crossings()
        if not len(crossed):
            break
        centres = coarse.corners[crossed].mean(axis=1)
        near, _ = cKDTree(centres).query(skin.points, distance_upper_bound=3 * edge)
        size = np.where(np.isfinite(near), 0.6 * size, size)
    else:
        raise _UnusableSkinError(f"crosses itself at {position_text(centres[0])}")
    fitted, notes = capsules.with_room(bones, coarse, edge, _GAP * edge, name_of)
    shells = [capsules.surface(bone, edge) for bone in fitted]
    try:
        nodes, tets = _netgen([(points, triangles), *((p, t[:, ::-1]) for p, t in shells)], edge)
    except RuntimeError:
        raise _UnusableSkinError("cannot be filled by Netgen") from None
    bone_of = np.full(len(nodes), -1, dtype=np.int32)
    owner = np.repeat(np.arange(len(shells)), [len(p) for p, _ in shells])
    bone_of[len(points) : len(points) + len(owner)] = owner
    return _Filled(nodes, tets, bone_of, np.arange(len(points), dtype=np.int32), fitted, notes)


def _sizes(skin: Surface, bones: Sequence[Bone], edge: float) -> Floats:
    """The edge length (N,) at each point of the skin: `edge`, but less where a limb is thin or a bone is near."""
    reach = np.array([_axis_distance(bone, skin.points) for bone in bones])
    nearest = reach.argmin(axis=0)
    radius = np.full(len(bones), np.inf)
    for bone in np.unique(nearest).tolist():
        radius[bone] = np.median(reach[bone, nearest == bone])
    room = np.min([capsules.distance(bone, skin.points) for bone in bones], axis=0)
    size: Floats = np.clip(np.minimum(radius[nearest], 2.5 * room), 2.5 * _GAP * edge, edge)
    return size


def _axis_distance(bone: Bone, points: Floats) -> Floats:
    axis = bone.end - bone.start
    share = np.clip((points - bone.start) @ axis / max(float(axis @ axis), 1e-300), 0, 1)
    gap: Floats = np.linalg.norm(points - bone.start - share[:, None] * axis, axis=1)
    return gap


def _netgen(shells: Sequence[tuple[Floats, Ints]], edge: float) -> tuple[Floats, Ints]:
    """Fill the space between closed shells: the first faces out, the others are cavities and face into them.

    Returns nodes (N, 3), those of the shells first and in order, and tets (T, 4).
    """
    meshing: Any = require("netgen.meshing", "simulate", "making tetrahedra")
    mesh = meshing.Mesh(3)
    # Netgen's tolerances are absolute: it works in edges of the skin.
    for k, (points, triangles) in enumerate(shells):
        numbers = [mesh.Add(meshing.MeshPoint(meshing.Pnt(*point))) for point in (points / edge).tolist()]
        face = mesh.Add(meshing.FaceDescriptor(surfnr=k + 1, domin=1, domout=0, bc=k + 1))
        for a, b, c in triangles.tolist():
            mesh.Add(meshing.Element2D(face, [numbers[a], numbers[b], numbers[c]]))
    mesh.GenerateVolumeMesh(mp=meshing.MeshingParameters(maxh=_COARSER_INSIDE, grading=0.35, optsteps3d=3))
    nodes = np.array([tuple(point.p) for point in mesh.Points()]) * edge
    tets = np.array([[vertex.nr - 1 for vertex in tet.vertices] for tet in mesh.Elements3D()], dtype=np.int32)
    if not len(tets):
        raise RuntimeError("netgen made no elements")
    given = np.vstack([points for points, _ in shells])
    nodes[: len(given)] = given
    a, b, c, d = (nodes[tets[:, k]] for k in range(4))
    volume = np.einsum("ti,ti->t", np.cross(b - a, c - a), d - a)
    tets[volume < 0] = tets[volume < 0][:, [0, 2, 1, 3]]
    return nodes, tets
