"""Settings of a simulation, and the extras it needs. Light to import: nothing here loads an extra."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from posespace import check
from posespace.errors import InputError, MissingExtraError
from posespace.formats.pose_choice import PoseChoice
from posespace.formats.registry import format_of
from posespace.simulation.solver.contact import Contact

_MODULES = {"simulate": ("netgen", "skimage", "ipctk", "threadpoolctl"), "cluster": ("dask", "distributed")}
"""The modules that each extra installs."""


@dataclass(frozen=True)
class Tissue:
    """The soft tissue between skin and bones.

    Parameters
    ----------
    order : 1 for 4-node, 2 for 10-node tetrahedra
    law : material law, "stable" or "calculix"; see `Material`
    poisson : Poisson's ratio, 0 to 0.499; soft tissue is nearly incompressible
    skin : stiffness of the skin as a membrane: (skin/flesh shear modulus) × (thickness/diagonal of the bounding box);
        0: no membrane
    contact : the barrier that keeps skin from passing through skin; None: it may pass through
    """

    order: int = 2
    law: str = "calculix"
    poisson: float = 0.49
    skin: float = 0.1
    contact: Contact | None = field(default_factory=Contact)

    def __post_init__(self) -> None:
        if self.order not in (1, 2):
            raise InputError(f"tissue order: expected 1 or 2, got {self.order}")
        check.choice("tissue law", self.law, ("stable", "calculix"))
        if not 0 <= self.poisson <= 0.499:
            raise InputError(f"tissue poisson: expected 0 to 0.499, got {self.poisson}")
        if not 0 <= self.skin <= 100:
            raise InputError(f"tissue skin: expected 0 to 100, got {self.skin}")


@dataclass(frozen=True)
class Settings:
    """Which poses to simulate, on how fine a mesh, in which tissue.

    Parameters
    ----------
    poses : file of poses; None: the range of every joint, and random poses of all joints
    level : resolution of the built-in hands: 0, 1 or 2 for 3.5k, 14k or 56k triangles
    side : which of the built-in hands, "right" or "left"
    elements : approximate number of tetrahedra, 200 to 5,000,000
    step : degrees between the poses of a joint's range, 0.1 to 360
    random : number of random poses, 0 to 100,000
    seed : seed of the random poses, 0 or more
    tissue : the material of the body, and contact of its skin
    choice : which poses of the file; without a file, its `only` selects among the joint ranges and random poses
    """

    poses: Path | None = None
    level: int = 1
    side: str = "right"
    elements: int = 11_000
    step: float = 18.0
    random: int = 25
    seed: int = 2002
    tissue: Tissue = field(default_factory=Tissue)
    choice: PoseChoice = field(default_factory=PoseChoice)

    def __post_init__(self) -> None:
        check.choice("side", self.side, ("right", "left"))
        ranges = {"level": (0, 2), "elements": (200, 5_000_000), "step": (0.1, 360), "random": (0, 100_000)}
        for name, (low, high) in ranges.items():
            if not low <= getattr(self, name) <= high:
                raise InputError(f"{name}: expected {low} to {high}, got {getattr(self, name)}")
        if self.seed < 0:
            raise InputError(f"seed: expected 0 or more, got {self.seed}")

    @property
    def decisive(self) -> dict[str, str | float]:
        """The settings that decide the shapes besides body and poses, by name, for the store to record."""
        contact = self.tissue.contact
        return {
            "elements": self.elements,
            "order": self.tissue.order,
            "law": self.tissue.law,
            "poisson": self.tissue.poisson,
            "skin": self.tissue.skin,
            "contact": "off" if contact is None else f"distance {contact.distance:g} stiffness {contact.stiffness:g}",
        }


def require_extras(*files: str | Path | None) -> None:
    """Raise unless the extras are installed that the simulation and reading these files need."""
    needed: Mapping[str, tuple[str, ...]] = _MODULES
    formats = [format_of(Path(file)) for file in files if file is not None]
    if any(entry is not None and entry.name == "USD" for entry in formats):
        needed = _MODULES | {"usd": ("pxr",)}
    missing = [extra for extra, modules in needed.items() if not all(map(importlib.util.find_spec, modules))]
    if missing:
        raise MissingExtraError(missing, "simulating")
