"""What to simulate, and which extras that needs. Light to import: nothing here loads an extra."""

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

BUILT_IN = ("hand", "slender-hand", "arm")
"""Bodies that need no file."""

_MODULES = {"simulate": ("netgen", "skimage", "ipctk", "threadpoolctl"), "cluster": ("dask", "distributed")}
"""What each extra installs."""


@dataclass(frozen=True)
class Tissue:
    """What fills the space between skin and bones.

    Parameters
    ----------
    order : 1 for 4-node, 2 for 10-node tetrahedra
    law : "stable" or "calculix"; see `material`
    poisson : Poisson's ratio, 0 to 0.499; soft tissue is nearly incompressible
    skin : how stiff a membrane the skin is: its shear modulus over the flesh's, times its thickness as a fraction of
        the box diagonal; 0 for none
    contact : how skin keeps clear of itself; None lets it pass through
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
    """What to simulate.

    Parameters
    ----------
    body : "hand", "slender-hand", "arm" or the path of a rig
    poses : a file of poses; None: every joint's range, and random poses of all joints
    level : how fine the hand's surface is, 0 to 2
    side : of the hand, "right" or "left"
    elements : about how many tetrahedra, 200 to 5,000,000
    step : degrees between the poses of a joint's range, 0.1 to 360
    random : how many random poses, 0 to 100,000
    seed : for the random poses, 0 or more
    tissue : what fills the body
    choice : which poses of the file; without a file, `only` of the joints' ranges and the random poses
    """

    body: str
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
        """What decides the shapes besides the rig and the poses, by name, for the store."""
        contact = self.tissue.contact
        return {
            "body": self.body if self.body in BUILT_IN else "from a file",
            "elements": self.elements,
            "order": self.tissue.order,
            "law": self.tissue.law,
            "poisson": self.tissue.poisson,
            "skin": self.tissue.skin,
            "contact": "off" if contact is None else f"distance {contact.distance:g} stiffness {contact.stiffness:g}",
        }


def require_extras(*files: str | Path | None) -> None:
    """Raise unless all extras are installed that simulating and reading these files need."""
    needed: Mapping[str, tuple[str, ...]] = _MODULES
    formats = [format_of(Path(file)) for file in files if file is not None]
    if any(entry is not None and entry.name == "USD" for entry in formats):
        needed = _MODULES | {"usd": ("pxr",)}
    missing = [extra for extra, modules in needed.items() if not all(map(importlib.util.find_spec, modules))]
    if missing:
        raise MissingExtraError(missing, "simulating")
