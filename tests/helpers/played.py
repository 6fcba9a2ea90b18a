"""Skins as the player's tests give them to a browser, and what comes back from there."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import posespace as ps

FITS: dict[str, Callable[[], Any]] = {
    "PSD": lambda: ps.PSD(normals="shared"),
    "EigenSkin 32": lambda: ps.EigenSkin(normals="shared", bits=32),
    "EigenSkin 16": lambda: ps.EigenSkin(normals="shared"),
    "EigenSkin 8": lambda: ps.EigenSkin(normals="shared", bits=8),
    "Muscles": lambda: ps.Muscles(signals=3, normals="shared"),
    "PSD, points alone": ps.PSD,
    "EigenSkin 8, points alone": lambda: ps.EigenSkin(bits=8),
}


def exported(skin: ps.Skin, folder: Path, **settings: Any) -> str:
    """The file of a skin, as a text."""
    ps.export(skin, folder / "skin.glb", **settings)
    return base64.b64encode((folder / "skin.glb").read_bytes()).decode()


def poses_of(motion: ps.Motion, unit: float) -> list[dict[str, Any]]:
    """Poses with shifts in metres."""
    return [
        {
            "joints": [*pose.rotations.ravel().tolist(), *(unit * pose.translations).ravel().tolist()],
            "controls": dict(pose.controls),
        }
        for pose in motion
    ]


def twenty(motion: ps.Motion) -> ps.Motion:
    """Twenty poses of a motion, some of them twice where it has fewer."""
    return motion[np.resize(np.arange(len(motion)), 20)]


def assert_same(skin: ps.Skin, motion: ps.Motion, found: list[dict[str, Any]], degrees: float = 1.0) -> None:
    """Points are the skin's to 1e-4 of the box, and normals to a degree where the skin corrects them."""
    corrected = all(layer.normal_basis is not None for layer in skin.layers)
    for pose, read in zip(motion, found, strict=True):
        wanted, directions = skin.pose(pose)
        near = 1e-4 * skin.rig.mesh.diagonal
        assert np.abs(rows(read["points"]) / skin.rig.mesh.unit - wanted).max() < near
        if "picked" in read:
            some = [0, len(wanted) // 2, len(wanted) - 1]
            assert np.abs(rows(read["picked"]) / skin.rig.mesh.unit - wanted[some]).max() < near
        if corrected:
            normals = rows(read["normals"])
            normals /= np.linalg.norm(normals, axis=1, keepdims=True)
            assert np.degrees(np.arccos(np.clip((normals * directions).sum(axis=1), -1, 1))).max() < degrees


def rows(values: list[float]) -> Any:
    return np.reshape(values, (-1, 3))
