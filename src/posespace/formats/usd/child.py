"""The part of the USD reader that calls the USD library, run as a process of its own by `process.py`.

On damaged files the library crashes, hangs or exhausts memory; here that does no harm. It returns arrays and JSON.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from pxr import Ar, Sdf, Tf, Usd, UsdGeom, UsdSkel, Vt

Record = dict[str, Any]

_MEMORY, _MEMORY_PER_BYTE = 400_000_000, 40
_SECONDS, _SECONDS_PER_BYTE = 6.0, 1e-6
"""What reading may take: a fixed amount plus an amount per byte of the files."""
_SPECS, _BYTES_A_SPEC = 30_000, 400
"""How many prims and properties the files may hold: each takes the library far longer than its bytes suggest."""
_BLOCK = 2**20
_PRIM = re.compile(rb"\b(?:def|over|class)\b")


class RefusedError(Exception):
    """Something in the file that will not be read; the message is one line."""


class Arrays:
    """The arrays read so far. A record names each by its key."""

    def __init__(self) -> None:
        self.found: dict[str, NDArray[Any]] = {}

    def put(self, value: Any, where: str, kind: str, tail: tuple[int, ...]) -> str | None:
        """Keep a value of the library and return its key; None if there is none.

        Parameters
        ----------
        value : what an attribute holds
        where : what to call it in messages
        kind : "f" for floating-point or "i" for whole numbers
        tail : shape of one element
        """
        if value is None:
            return None
        self.found[key := str(len(self.found))] = _plain(value, where, kind, tail)
        return key

    def attribute(self, attribute: Any, kind: str, tail: tuple[int, ...]) -> str | None:
        """Keep an attribute's default value, or its first one in time where it has no other."""
        value = attribute.Get()
        if value is None:
            value = attribute.Get(Usd.TimeCode.EarliestTime())
        return self.put(value, str(attribute.GetPath()), kind, tail)

    def samples(self, attribute: Any, times: list[float], tail: tuple[int, ...]) -> str | None:
        """Keep an attribute's values at `times` (T,): (T, n, *tail), or (1, n, *tail) where it does not vary."""
        where = str(attribute.GetPath())
        codes = [Usd.TimeCode(time) for time in times] if attribute.GetNumTimeSamples() else [Usd.TimeCode.Default()]
        values = [attribute.Get(code) for code in codes]
        if values[0] is None:
            return None
        plain = [_plain(value, where, "f", tail) for value in values]
        if len({len(value) for value in plain}) > 1:
            raise RefusedError(
                f"{where}: expected the same number of values at each time, got {len(plain[0])} and others"
            )
        return self.put(np.stack(plain), where, "f", plain[0].shape)


def main(path: Path, out: BinaryIO) -> None:
    """Read a file; write an .npz of its arrays and their description, or of the one line that says what is wrong."""
    arrays = Arrays()
    try:
        stage, missing = open_stage(path)
        description = _stage(stage, arrays) | {"missing": missing}
    except RefusedError as refusal:
        description = {"error": str(refusal)}
    except MemoryError:
        description = {"error": "is damaged or too large (reading it takes too much memory)"}
    except (Tf.ErrorException, RuntimeError, ValueError, OSError) as error:
        description = {"error": _one_line(error)}
    if "error" in description:
        arrays.found.clear()
    text = np.frombuffer(json.dumps(description).encode(), dtype=np.uint8)
    np.savez(out, **(arrays.found | {"description": text}))  # type: ignore[arg-type]


def open_stage(path: Path) -> tuple[Any, list[str]]:
    """Open a stage once all files it refers to are known to be in its folder. Also return the missing ones."""
    folder = Path(os.path.realpath(path.parent))
    # A path that is found nowhere else is looked for in the working folder.
    os.chdir(folder)
    root = str(folder / path.name)
    size, seen, waiting = 0, {root}, [root]
    layers, missing = [], []
    specs = itertools.count(1)
    while waiting:
        name = waiting.pop()
        size += Path(Ar.SplitPackageRelativePathOuter(name)[0]).stat().st_size
        _limit(size)
        most = _SPECS + size // _BYTES_A_SPEC
        _refuse_many(_prims_in_text(name), most)
        layer = _open(name, name == root)
        layer.Traverse(
            Sdf.Path.absoluteRootPath,
            lambda spec, layer=layer, most=most: _look(layer, spec, next(specs), most),
        )
        layers.append(layer)  # a layer in use is not read again for the stage
        for asset in layer.GetCompositionAssetDependencies():
            # An empty path is the layer itself.
            target = _inside(folder, layer, asset) if asset else name
            if target is None:
                missing.append(asset)
            elif target not in seen:
                seen.add(target)
                waiting.append(target)
    return Usd.Stage.Open(root, Usd.Stage.LoadAll), missing


def _prims_in_text(name: str) -> int:
    """Return how many prims a text file seems to hold, which is known long before the library has read it; else 0."""
    path = Path(name)
    if not path.is_file():  # inside a package
        return 0
    with path.open("rb") as text:
        if text.read(5) != b"#usda":
            return 0
        return sum(len(_PRIM.findall(block)) for block in iter(lambda: text.read(_BLOCK), b""))


def _refuse_many(count: int, most: int) -> None:
    if count > most:
        raise RefusedError(f"holds more than {most} prims and properties; export the character alone")


def _open(name: str, is_root: bool) -> Any:
    try:
        layer = Sdf.Layer.FindOrOpen(name)
        problem = "is not USD"
    except Tf.ErrorException as error:
        layer, problem = None, _one_line(error)
    if layer is None:
        raise RefusedError(problem if is_root else f"refers to {Path(name).name!r}, which {problem}")
    return layer


def _inside(folder: Path, layer: Any, asset: str) -> str | None:
    """Return the path of a layer's asset, None if it is missing; raise if it is outside `folder`."""
    plain, _ = Sdf.Layer.SplitIdentifier(asset)
    # Backquotes make an expression, which can become any path.
    if "`" in plain or ":" in plain or plain.startswith(("/", "\\")):
        raise RefusedError(f"refers to {asset!r}; only files in its own folder, by relative paths, are read")
    target = Sdf.ComputeAssetPathRelativeToLayer(layer, plain)
    outer = Path(os.path.realpath(Ar.SplitPackageRelativePathOuter(target)[0]))
    if not outer.is_relative_to(folder):
        raise RefusedError(f"refers to {asset!r}, which is outside its own folder")
    return target if outer.is_file() else None


def _look(layer: Any, path: Any, number: int, most: int) -> None:
    """Refuse too many specs, and value clips: the library opens their files unasked."""
    _refuse_many(number, most)
    prim = layer.GetPrimAtPath(path)
    if prim and prim.HasInfo("clips"):
        raise RefusedError(f"refers to value clips at {path}, which are not read")


def _limit(size: int) -> None:
    """Bound this process's memory and computing time for files of `size` bytes together."""
    try:
        import resource
    except ImportError:  # Windows: the parent's clock is all there is
        return
    seconds = int(_SECONDS + _SECONDS_PER_BYTE * size)
    wanted = {"RLIMIT_DATA": _MEMORY + _MEMORY_PER_BYTE * size, "RLIMIT_CPU": seconds, "RLIMIT_CORE": 0}
    for name, most in wanted.items():
        hard = resource.getrlimit(kind := getattr(resource, name))[1]
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most if hard < 0 else min(most, hard), hard))


def _stage(stage: Any, arrays: Arrays) -> Record:
    with_instances = Usd.TraverseInstanceProxies()
    bound = _bindings(stage, with_instances)
    # What is abstract is not traversed, but may be bound.
    skeletons: dict[Any, Any] = {}
    animations: dict[Any, Any] = {}
    meshes: list[Record] = []
    transforms = UsdGeom.XformCache(Usd.TimeCode.EarliestTime())
    others = 0
    for prim in stage.Traverse(with_instances):
        if prim.IsA(UsdGeom.Mesh):
            record = _mesh(prim, arrays) | {"world": _rows(transforms.GetLocalToWorldTransform(prim))}
            if prim.GetPath() in bound:
                skeleton, query = bound[prim.GetPath()]
                skeletons[skeleton.GetPath()] = skeleton
                record |= _binding(skeleton, query, arrays)
            meshes.append(record)
        elif prim.IsA(UsdSkel.Skeleton):
            skeletons[prim.GetPath()] = prim
        elif prim.IsA(UsdSkel.Animation):
            animations[prim.GetPath()] = prim
        elif prim.IsA(UsdGeom.Gprim) or prim.IsA(UsdGeom.PointInstancer):
            others += 1
    sources = [UsdSkel.BindingAPI(prim).GetInheritedAnimationSource() for prim in skeletons.values()]
    animations |= {source.GetPath(): source for source in sources if source and source.IsA(UsdSkel.Animation)}
    return {
        "meshes": meshes,
        "skeletons": {
            str(path): _skeleton(prim, source, arrays) | {"world": _rows(transforms.GetLocalToWorldTransform(prim))}
            for (path, prim), source in zip(skeletons.items(), sources, strict=True)
        },
        "animations": {str(path): _animation(prim, arrays) for path, prim in animations.items()},
        "others": others,
        "rate": stage.GetTimeCodesPerSecond(),
        # Where a file says nothing the library has centimetres, which such files are not more often than metres.
        "unit": UsdGeom.GetStageMetersPerUnit(stage) if UsdGeom.StageHasAuthoredMetersPerUnit(stage) else 1.0,
        "up": str(UsdGeom.GetStageUpAxis(stage)),
    }


def _bindings(stage: Any, with_instances: Any) -> dict[Any, tuple[Any, Any]]:
    """Return the skeleton and the skinning query of each prim that a skeleton moves, by the prim's path."""
    cache = UsdSkel.Cache()
    bindings: dict[Any, tuple[Any, Any]] = {}
    for prim in stage.Traverse(with_instances):
        if prim.IsA(UsdSkel.Root):
            root = UsdSkel.Root(prim)
            cache.Populate(root, with_instances)
            for binding in cache.ComputeSkelBindings(root, with_instances):
                for query in binding.GetSkinningTargets():
                    bindings[query.GetPrim().GetPath()] = (binding.GetSkeleton().GetPrim(), query)
    return bindings


def _mesh(prim: Any, arrays: Arrays) -> Record:
    mesh = UsdGeom.Mesh(prim)
    return {
        "name": prim.GetName(),
        "path": str(prim.GetPath()),
        "points": arrays.attribute(mesh.GetPointsAttr(), "f", (3,)),
        "sizes": arrays.attribute(mesh.GetFaceVertexCountsAttr(), "i", ()),
        "corners": arrays.attribute(mesh.GetFaceVertexIndicesAttr(), "i", ()),
        "left_handed": mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded,
        "weighted": UsdSkel.BindingAPI(prim).GetJointIndicesAttr().HasAuthoredValue(),
    }


def _binding(skeleton: Any, query: Any, arrays: Arrays) -> Record:
    """Return how a skeleton moves a mesh: by joints, by blend shapes, or both."""
    prim = query.GetPrim()
    record: Record = {"skeleton": str(skeleton.GetPath()), "root": UsdSkel.Root.Find(prim).GetPrim().GetName()}
    if query.HasBlendShapes():
        record["shapes"] = _shapes(query, arrays)
    if not query.HasJointInfluences():
        return record
    where, order = str(prim.GetPath()), query.GetJointOrder()
    indices = query.GetJointIndicesPrimvar().ComputeFlattened()
    weights = query.GetJointWeightsPrimvar().ComputeFlattened()
    if indices is None or weights is None:
        raise RefusedError(f"{where}: its joint indices or joint weights have no value")
    return record | {
        "indices": arrays.put(indices, f"{where} joint indices", "i", ()),
        "weights": arrays.put(weights, f"{where} joint weights", "f", ()),
        "width": query.GetNumInfluencesPerComponent(),
        "constant": query.IsRigidlyDeformed(),
        "joints": None if order is None else _texts(order, where),
        "bind": _rows(query.GetGeomBindTransform()),
        "blending": "dual_quaternion" if query.GetSkinningMethod() == UsdSkel.Tokens.dualQuaternion else "linear",
    }


def _shapes(query: Any, arrays: Arrays) -> list[Record]:
    prim = query.GetPrim()
    names = _texts(query.GetBlendShapeOrder(), str(prim.GetPath()))
    targets = query.GetBlendShapeTargetsRel().GetTargets()
    if len(names) != len(targets):
        raise RefusedError(f"{prim.GetPath()}: expected {len(names)} targets of its blend shapes, got {len(targets)}")
    records: list[Record] = []
    for name, target in zip(names, targets, strict=True):
        target_prim = prim.GetStage().GetPrimAtPath(target)
        if not target_prim or not target_prim.IsA(UsdSkel.BlendShape):
            raise RefusedError(f"{prim.GetPath()}: blend shape {name!r} is missing")
        shape = UsdSkel.BlendShape(target_prim)
        record: Record = {"name": name, "path": str(target), "between": len(shape.GetInbetweens())}
        record["offsets"] = arrays.attribute(shape.GetOffsetsAttr(), "f", (3,))
        record["points"] = arrays.attribute(shape.GetPointIndicesAttr(), "i", ())
        records.append(record)
    return records


def _skeleton(prim: Any, source: Any, arrays: Arrays) -> Record:
    skeleton = UsdSkel.Skeleton(prim)
    return {
        "joints": _texts(skeleton.GetJointsAttr().Get(), str(prim.GetPath())),
        "bind": arrays.attribute(skeleton.GetBindTransformsAttr(), "f", (4, 4)),
        "rest": arrays.attribute(skeleton.GetRestTransformsAttr(), "f", (4, 4)),
        "animation": str(source.GetPath()) if source else None,
    }


def _animation(prim: Any, arrays: Arrays) -> Record:
    animation = UsdSkel.Animation(prim)
    moving = {
        "rotations": (animation.GetRotationsAttr(), (4,)),
        "translations": (animation.GetTranslationsAttr(), (3,)),
        "scales": (animation.GetScalesAttr(), (3,)),
        "weights": (animation.GetBlendShapeWeightsAttr(), ()),
    }
    times = sorted({time for attribute, _ in moving.values() for time in attribute.GetTimeSamples()})
    record: Record = {name: arrays.samples(attribute, times, tail) for name, (attribute, tail) in moving.items()}
    record |= {"name": prim.GetName(), "times": times}
    record["joints"] = _texts(animation.GetJointsAttr().Get(), str(prim.GetPath()))
    record["shapes"] = _texts(animation.GetBlendShapesAttr().Get(), str(prim.GetPath()))
    return record


def _plain(value: Any, where: str, kind: str, tail: tuple[int, ...]) -> NDArray[Any]:
    array = np.array(value)
    if array.dtype.kind != kind or array.ndim != 1 + len(tail) or array.shape[1:] != tail:
        # An empty array of the library has no shape.
        if array.size == 0:
            return np.zeros((0, *tail), np.float32 if kind == "f" else np.int32)
        what = "floating-point" if kind == "f" else "whole"
        raise RefusedError(f"{where}: expected {what} numbers, {'x'.join(map(str, tail)) or 1} per element")
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _texts(value: Any, where: str) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, Vt.TokenArray | Vt.StringArray):
        raise RefusedError(f"{where}: expected a list of names, got {type(value).__name__}")
    return list(value)


def _rows(matrix: Any) -> list[list[float]]:
    """Return a matrix as the library has it: for row vectors."""
    rows: list[list[float]] = np.array(matrix).tolist()
    return rows


def _one_line(error: Exception) -> str:
    """Say in one line what the library found wrong."""
    texts = [entry.commentary for entry in error.args] if isinstance(error, Tf.ErrorException) else [str(error)]
    lines = [line for text in texts if (line := re.search(r":(\d+):\d+: |on line (\d+)", text))]
    if lines:
        return f"is not valid USD text (line {lines[0][1] or lines[0][2]})"
    head = ("\n".join(texts).strip().splitlines() or [type(error).__name__])[0]
    return f"is damaged or not USD ({head[:160]})"


if __name__ == "__main__":
    # The library prints what it finds wrong; standard output is for the arrays alone.
    with os.fdopen(os.dup(1), "wb") as stream:
        os.dup2(2, 1)
        main(Path(sys.argv[1]), stream)
