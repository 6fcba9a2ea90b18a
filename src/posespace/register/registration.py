"""Registration of a template onto a scan: rigid, by landmarks, onto the surface coarse to fine, then its detail."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.formats.landmarks import Spots
from posespace.geometry.gradients import solid
from posespace.geometry.normals import vertex_normals
from posespace.geometry.subdivision import MOST_LEVELS
from posespace.geometry.surface import Surface
from posespace.mesh import Mesh
from posespace.register.align import Alignment, align, require_spread
from posespace.register.bend import FitStep, Pins, bend_by_landmarks, bend_onto
from posespace.register.detail import FineTemplate
from posespace.register.landmark_doubts import wrong_landmarks
from posespace.register.landmarks import landmark_positions, shared
from posespace.register.scan import Target
from posespace.register.template import Template, mixture

_POSED = FitStep(1.0, 0.25, 12, 0.0)
"""By landmarks alone, on the coarse template."""

_ROUGH = (
    FitStep(0.45, 0.12, 4, 0.15),
    FitStep(0.25, 0.12, 4, 0.1),
    FitStep(0.15, 0.12, 4, 0.06),
    FitStep(0.08, 0.12, 4, 0.04),
)
"""Onto closest points, on the coarse template; stiff, so that it slides along the skin as little as can be."""

_STRETCHED = (
    *(FitStep(0.45, 0.25, 4, 0.15), FitStep(0.25, 0.25, 4, 0.1)),
    *(FitStep(0.15, 0.4, 4, 0.06), FitStep(0.08, 0.6, 4, 0.04)),
)
"""The same onto another build, whose parts are longer or wider than the template's."""

_FINE = (FitStep(0.08, 1.5, 1, 0.03), FitStep(0.05, 1.5, 1, 0.02), FitStep(0.03, 1.5, 1, 0.02))
"""The same on the whole template, starting from the coarse one."""

FIGURES = ("landmarks", "scale", "mean_distance", "p95_distance", "largest", "covered")
"""Metrics reported for every registration; distances are fractions of the template's diagonal."""

_LEAST_COVERED = 0.3
"""Least fraction of the template that must have closest points on the scan."""


@dataclass(frozen=True)
class Registration:
    """Settings of a registration.

    Parameters
    ----------
    coarse : triangles of the coarse template that is fitted first, 500 to 100000
    smoothing : Laplacian passes over the retiled scan that the template is fitted to, 0 to 100
    levels : subdivisions of the template on which the scan's detail is kept, 0 to 6; none: no detail
    reach : the greatest height of detail, as a fraction of the template's diagonal, above 0 and at most 0.2
    stretch : whether parts may grow or shrink with little resistance: for another build in about the same pose
    force : register by landmarks that seem to be wrong too, with a note, instead of refusing them
    """

    coarse: int = 5_000
    smoothing: int = 3
    levels: int | None = None
    reach: float = 0.02
    stretch: bool = False
    force: bool = False

    def __post_init__(self) -> None:
        for name, least, most in (("coarse", 500, 100_000), ("smoothing", 0, 100), ("levels", 0, MOST_LEVELS)):
            value = getattr(self, name)
            if value is not None and not least <= check.whole(name, value) <= most:
                raise InputError(f"{name}: expected {least} to {most}, got {value}")
        if not 0 < check.number("reach", self.reach) <= 0.2:
            raise InputError(f"reach: expected above 0 and at most 0.2, got {self.reach}")


@dataclass(frozen=True, eq=False)
class Registered:
    """A template registered onto a scan.

    Parameters
    ----------
    points : (N, 3) the template's vertices there, in the template's space
    alignment : from the scan to that space
    heights : (M,) of the scan's detail over the subdivided points, or None
    figures : distances to the scan as fractions of the diagonal, and other metrics of the fit
    notes : for the user, one line each
    """

    points: Floats
    alignment: Alignment
    heights: Floats | None
    figures: dict[str, Any]
    notes: list[str] = field(default_factory=list)


class Registrar:
    """A template with its landmarks, prepared for any number of scans.

    Parameters
    ----------
    mesh : the template
    landmarks : its landmarks: vertices or positions, by name
    settings : of all its registrations
    size : length that distances are fractions of; None: the template's diagonal
    """

    def __init__(
        self, mesh: Mesh, landmarks: Spots, settings: Registration | None = None, size: float | None = None
    ) -> None:
        self.settings = settings or Registration()
        self.size = mesh.diagonal if size is None else size
        self.template = Template(mesh, self.settings.coarse)
        self.landmarks = landmark_positions(landmarks, mesh.points, self.template.surface, "the template")
        require_spread(np.array(list(self.landmarks.values())).reshape(-1, 3), "on the template")
        levels = self.settings.levels
        self._fine = None if levels is None else FineTemplate(mesh, levels)

    def starting_from(self, points: Floats) -> Registrar:
        """Return the template in another shape (N, 3) that was registered before: a closer start for some scans."""
        spots = {name: tuple(position) for name, position in self.landmarks_on(points).items()}
        return Registrar(self.template.mesh.with_points(points), spots, self.settings, self.size)

    def landmarks_on(self, points: Floats) -> dict[str, Floats]:
        """Return the positions of the template's landmarks for its vertices at `points` (N, 3)."""
        template = self.template
        ours = mixture(template.surface, np.array(list(self.landmarks.values())))
        positions = ours @ np.asarray(points, dtype=np.float64)[template.weld.first]
        return dict(zip(self.landmarks, positions, strict=True))

    def landmarks_on_scan(self, scan: Mesh, landmarks: Spots) -> dict[str, Floats]:
        """Return the positions of the landmarks of a scan."""
        return landmark_positions(landmarks, scan.points, Surface(*_usable(scan)), "the scan")

    def register(self, scan: Mesh, landmarks: Spots) -> Registered:
        """Register the template onto a scan with landmarks of the same names, or some of them."""
        template, size = self.template, self.size
        raw, faces = _usable(scan)
        surface = Surface(raw, faces)
        names, ours, theirs = shared(self.landmarks, landmark_positions(landmarks, scan.points, surface, "the scan"))
        alignment = align(theirs, ours)
        wrong = wrong_landmarks(names, template.low_surface, ours, alignment.scale * theirs)
        if wrong and not self.settings.force:
            raise InputError(f"landmarks: {wrong}; correct them, or keep them with `force`")
        moved, goals = alignment.moved(raw), alignment.moved(theirs)
        pins = Pins(mixture(template.low_surface, ours), goals)
        positions = bend_by_landmarks(template.low, pins, _POSED, size)
        notes = [wrong] if wrong else []
        notes += [_unit_note(alignment.scale)] if alignment.scale != 1 else []
        if _is_inside_out(moved, faces, positions[: len(template.low.points)], template.low.triangles, size):
            faces = faces[:, ::-1]
            notes.append("the scan's triangles face inwards: they were flipped")
        most = max(len(template.triangles), 4 * self.settings.coarse)
        smooth = Target.smooth(moved, faces, most, self.settings.smoothing)
        rough = _STRETCHED if self.settings.stretch else _ROUGH
        positions = bend_onto(template.low, positions, smooth, pins, rough, size)
        fine = template.energy
        start = positions if template.is_coarse else fine.with_normals(template.carry(positions))
        full = Pins(mixture(template.surface, ours), goals)
        points = bend_onto(fine, start, smooth, full, _FINE, size)[: len(template.points)]
        return self._measured(points, Target.of(moved, faces), alignment, full, notes)

    def _measured(self, points: Floats, scan: Target, alignment: Alignment, pins: Pins, notes: list[str]) -> Registered:
        template, size = self.template, self.size
        normals = vertex_normals(points, template.triangles)
        closest, valid = scan.closest(points, normals, 0.1 * size)
        gaps = np.linalg.norm(closest.points - points, axis=1)[valid] / size
        if valid.mean() < _LEAST_COVERED:
            raise InputError(
                f"only {valid.mean():.0%} of the template has closest points on the scan; check its landmarks"
            )
        spread = float(gaps.mean()), float(np.quantile(gaps, 0.95)), float(gaps.max()), float(valid.mean())
        figures: dict[str, Any] = dict(zip(FIGURES, (len(pins.targets), alignment.scale, *spread), strict=True))
        vertices, heights = np.asarray(template.weld.scatter(points)), None
        if self._fine is not None:
            heights, seen = self._fine.heights(vertices, scan, self.settings.reach * size)
            figures |= {"detail": float(np.sqrt((heights[seen] ** 2).mean())) / size, "detail_seen": float(seen.mean())}
        return Registered(vertices, alignment, heights, figures, notes)


def _usable(scan: Mesh) -> tuple[Floats, Ints]:
    """The points and triangles of a scan, welded, without triangles that have no area."""
    weld = scan.weld
    points = np.asarray(scan.points, dtype=np.float64)[weld.first]
    corners = weld.groups[scan.triangles]
    faces = corners[solid(points, corners)] if len(corners) else corners
    if not len(faces):
        raise InputError("the scan has no triangles with an area; expected a surface")
    return points, faces


def _is_inside_out(points: Floats, triangles: Ints, bent: Floats, template_triangles: Ints, size: float) -> bool:
    """Whether a scan faces against the template that was bent to its landmarks."""
    normals = vertex_normals(bent, template_triangles)
    surface = Surface(points, triangles)
    closest = surface.closest(bent)
    near = ((closest.points - bent) ** 2).sum(axis=1) < (0.05 * size) ** 2
    return bool((surface.normals[closest.triangles] * normals).sum(axis=1)[near].sum() < 0)


def _unit_note(scale: float) -> str:
    return f"the scan is in another unit than the template: its numbers were multiplied by {scale:.4g}"
