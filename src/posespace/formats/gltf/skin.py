"""A skin read back from a glTF file that carries `POSESPACE_drivers`: its rig, bones, layers and detail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from posespace.errors import FileError, InputError
from posespace.formats import files, gltf
from posespace.formats.checked_json import Fields, plain
from posespace.formats.gltf.buffers import Document
from posespace.formats.gltf.detail import read_detail
from posespace.formats.gltf.drivers import read_drivers
from posespace.formats.gltf.extension import EXTENSION, JOINTS_ONLY, VERSIONS
from posespace.formats.gltf.layers import read_layers, read_targets
from posespace.formats.gltf.learned_bones import read_bones
from posespace.formats.gltf.vertex_numbers import require_order
from posespace.formats.gltf.write.conversion import UPS, Conversion
from posespace.formats.joining import keep_morphs
from posespace.rig import Rig
from posespace.skin.bones.skeleton import SkeletonBones
from posespace.skin.bones.stage import BoneStage
from posespace.skin.skin import Skin


def is_skin(path: Path) -> bool:
    """Whether a glTF file carries a skin."""
    with files.naming(path):
        return EXTENSION in Document(path).root.part("extensions", {})


def read(path: Path) -> Skin:
    """Return the skin that a glTF file carries; raises where it carries none."""
    with files.naming(path), np.errstate(over="ignore", invalid="ignore"):
        opened = gltf.Opened.of(path)
        extensions = opened.document.root.part("extensions", {})
        if EXTENSION not in extensions or not opened.bindings:
            raise FileError(path, "holds a rig but no skin; a skin's file ends in .skin, or was exported from one")
        fields = extensions.part(EXTENSION)
        version, conversion = _version(fields), _conversion(fields)
        rig = _rig(opened.rig(opened.bindings[0]), fields, conversion)
        drivers = read_drivers(opened.document, fields, rig.skeleton)
        targets = read_targets(opened)
        layers = read_layers(opened, fields, targets, drivers, conversion)
        bones: BoneStage = SkeletonBones()
        detail = None
        if version != JOINTS_ONLY:
            require_order(opened, fields)
            bones = read_bones(opened, fields, rig, conversion)
            detail = read_detail(opened.document, fields, rig.mesh, drivers, bones.detail_count, conversion)
        rigs = [rig]
        keep_morphs(rigs, [], {name: conversion.offsets(targets.points[name]) for name in targets.blends})
        about = Fields(plain(fields.part("about", {}).values, f"{EXTENSION}: about"), "about")
        return Skin(rigs[0], layers, detail, about.values, bones)


def _version(fields: Fields) -> int:
    version = fields.integer("version")
    if version not in VERSIONS:
        raise InputError(f"{EXTENSION}: expected version {' or '.join(map(str, VERSIONS))}, got {version}")
    return version


def _conversion(fields: Fields) -> Conversion:
    """What brings the file's lengths and axes back to the skin's."""
    unit, up = fields.number("unit"), fields.text("up")
    if not unit > 0 or up not in UPS:
        raise InputError(f"{EXTENSION}: expected a unit above 0 and one of {', '.join(UPS)} up, got {unit} and {up!r}")
    return Conversion(1.0 / unit, UPS[up].T)


def _rig(file_rig: Rig, fields: Fields, conversion: Conversion) -> Rig:
    joints = fields.parts("joints", "joint")
    if len(joints) != len(file_rig.skeleton):
        raise InputError(f"{EXTENSION}: joints: expected {len(file_rig.skeleton)}, got {len(joints)}")
    rig = conversion.rig(file_rig)
    arrays: dict[str, Any] = {}
    if all("axes" in joint for joint in joints):
        arrays["axes"] = np.array([joint.numbers("axes", 9) for joint in joints]).reshape(-1, 3, 3)
    # The nodes' extras have them with names; only files from before these have them here alone.
    if rig.skeleton.limits is None and all("limits" in joint for joint in joints):
        arrays["limits"] = np.array([joint.numbers("limits", 6) for joint in joints]).reshape(-1, 3, 2)
    listed = [joint.reference("link", len(joints)) for joint in joints]
    links = np.array([-1 if link is None else link for link in listed], dtype=np.int32)
    if not np.array_equal(links, rig.skeleton.parents):
        arrays["links"] = links
    mesh = replace(rig.mesh, look=file_rig.mesh.look, unit=1.0 / conversion.scale)
    return replace(rig, mesh=mesh, skeleton=replace(rig.skeleton, **arrays), blending=fields.text("blending"))
