"""The keys of figures: identifiers, for programs; and the label of each, for people."""

from __future__ import annotations

import re
from typing import Any

from posespace.skin.provenance import CROSS_VALIDATED_ERROR, EXAMPLES_ERROR

LABELS = {
    "bytes_per_frame_ratio": "bytes per frame, ratio",
    "bytes_per_vertex_excluding_rig": "bytes per vertex excluding the rig",
    "change_outside_x1": "fraction of the change outside X1's deformation",
    "cross_validation": "cross-validation",
    "cross_validation_error": "cross-validation error, relative to plain skinning",
    "e_rms": "E_RMS",
    "evaluate": "evaluate it",
    "export": "play it elsewhere",
    "fit": "fit your own",
    "fitted": "fitted on, of one joint, of two, and grasps",
    "left_right_pairs": "left/right pairs",
    "longest_gap_seconds": "longest gap in seconds",
    "max_error": "largest error",
    "max_error_mm": "largest error, mm",
    "numbers_excluding_rig": "numbers excluding the rig",
    "peak_mb": "peak, MB",
    "rel_err": "relative error",
    "rms": "RMS, largest box side = 1",
    "rms_on_examples": "rms on its examples",
    "rotating_joints": "joints that rotate",
    "single_joints": "unseen angles of single joints",
    "several_joints": "unseen poses of all joints at once",
    "grasps": "unseen grasps",
    "template_landmarks": "landmarks of the template",
    "training_error": "training error, relative to plain skinning",
    "triangles_following_source": "triangles that follow the source",
    "unit": "unit of the skin",
}
"""What people read where it is not the key with spaces."""

BY_NAME = frozenset(
    {
        "damped_vertices_by_sculpt",
        "faces_by_corners",
        "failed",
        "grasps",
        "kept",
        "limits",
        "linked_for_pose_spaces",
        "made_with",
        "meshes",
        "motions",
        "not_written",
        "per_joint",
        "per_pose",
        "radius",
        "radius_by_control",
        "radius_by_sculpt",
        "rigs",
        "scale",
        "settings",
        "several_joints",
        "shrunk_to",
        "single_joints",
        "singular_values",
        "written",
    }
)
"""Keys of maps whose own keys are names of joints, poses, files, settings and the like: these stay as they are."""

_STORED = {
    EXAMPLES_ERROR: "training_error",
    CROSS_VALIDATED_ERROR: "cross_validation_error",
    "left out": "cross_validation",
    "rms on its examples": "rms_on_examples",
    "fraction of the change outside X1's deformation": "change_outside_x1",
}
"""Keys of `Skin.about` in files, where they are phrases, whose identifiers are not their words."""


def label(key: str) -> str:
    """Return what people read for a key."""
    return LABELS.get(key, key.replace("_", " "))


def identifier(phrase: str) -> str:
    """Return the key for a phrase: lower-case words joined by underscores."""
    words = re.sub(r"[^a-z0-9]+", "_", phrase.lower()).strip("_")
    return _STORED.get(phrase) or (words if words[:1].isalpha() else f"other_{words}".strip("_"))


def with_identifiers(value: Any, by_name: bool = False) -> Any:
    """Return figures, nested as they may be, with identifiers for keys; those of `by_name` maps stay as they are."""
    if isinstance(value, dict):
        keys = {key: key if by_name else identifier(key) for key in value}
        return {keys[key]: with_identifiers(entry, keys[key] in BY_NAME) for key, entry in value.items()}
    return [with_identifiers(entry) for entry in value] if isinstance(value, list) else value
