"""USD: rigs, blend shapes and motion against Pixar's own skinning, and hand-made files for each rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import absent
from helpers.usd_files import BOUND, EYE, LEAST_ANGLE, SQUARE, TWICE, UP, WAVE, arm
from scipy.spatial.transform import Rotation

from posespace.errors import FileError
from posespace.formats import usd

try:
    from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, UsdUtils, Vt
except ImportError:
    absent("usd", "usd-core is not installed")


@pytest.fixture(scope="module")
def pixar(data: Path) -> Path:
    return data / "usdskel" / "openusd"


def baked(path: Path, prim: str) -> dict[float, np.ndarray]:
    """Points of a mesh at each of its times, as Pixar's own skinning left them."""
    stage = Usd.Stage.Open(str(path))
    points = UsdGeom.Mesh(stage.GetPrimAtPath(prim)).GetPointsAttr()
    return {time: np.array(points.Get(time)) for time in points.GetTimeSamples()}


def test_hik_has_its_known_vertices_triangles_joints_and_samples(data):
    contents = usd.read(data / "usdskel" / "HIK_Export.usda")
    rig, motion = contents.rigs["Fight_Dummy_Fight"], contents.motions["Animation"]
    assert contents.format == "USD"
    assert len(rig.mesh.points) == 2240
    assert len(rig.mesh.triangles) == 4236
    assert len(rig.skeleton) == 70
    assert rig.skeleton.names[rig.skeleton.parents[rig.skeleton.index("Fight_LeftFoot")]] == "Fight_LeftLeg"
    assert motion.rotations.shape == (101, 70, 4)
    assert np.allclose(motion.times, np.arange(101) / 24)
    assert contents.meshes == {}
    assert contents.skeleton is None
    assert any("own space" in note for note in contents.notes)


def test_hik_moves_as_pixar_moves_it(data):
    path = data / "usdskel" / "HIK_Export.usda"
    contents = usd.read(path)
    rig, motion = contents.rigs["Fight_Dummy_Fight"], contents.motions["Animation"]
    stage = Usd.Stage.Open(str(path))
    UsdSkel.BakeSkinning(UsdSkel.Root(stage.GetPrimAtPath("/Fight_Dummy_Fight")), Gf.Interval(0, 100))
    points = UsdGeom.Mesh(stage.GetPrimAtPath("/Fight_Dummy_Fight/Fight_Dummy_Mesh")).GetPointsAttr()
    for k in range(0, 101, 10):
        # The mesh and the skeleton have the same transform to the world, so the baked points are in its space.
        assert np.abs(rig.skin(motion[k]) - np.array(points.Get(k))).max() < 1e-5 * rig.mesh.diagonal


@pytest.mark.parametrize(("name", "blending"), [("lbs", "linear"), ("dqs", "dual_quaternion")])
def test_skinning_reproduces_pixars_baked_points_of_every_mesh_at_every_sample(pixar, name, blending):
    contents = usd.read(pixar / f"{name}.usda")
    rig, motion = contents.rigs["Root"], contents.motions["Animation"]
    assert rig.blending == blending
    assert len(rig.skeleton) == 3
    assert len(motion) == 30
    posed = [rig.skin(pose) for pose in motion]
    start = 0
    for mesh, count in (("Mesh", 40), ("MeshWithFaceVaryingNormals", 12), ("MeshWithNormals", 12)):
        truth = baked(pixar / f"{name}.baked.usda", f"/Root/{mesh}")
        assert np.allclose(list(truth), motion.times * 24)
        for points, expected in zip(posed, truth.values(), strict=True):
            assert np.abs(points[start : start + count] - expected).max() < 1e-5 * rig.mesh.diagonal
        start += count
    assert start == len(rig.mesh.points)
    assert "4 shapes that are not meshes (curves, spheres, ...) are left out" in contents.notes


def test_blend_shapes_reproduce_pixars_baked_points_where_no_in_between_acts(pixar):
    contents = usd.read(pixar / "blendshapes.usda")
    mesh, motion = contents.meshes["Mesh"], contents.motions["Anim"]
    assert mesh.points.shape == (121, 3)
    assert len(contents.morphs) == 6
    assert motion.controls.shape == (131, 6)
    assert motion.rotations.shape == (131, 1, 4)
    assert contents.skeleton is None
    truth = baked(pixar / "blendshapes.baked.usda", "/TestPlane/Mesh")
    morphs = np.stack([contents.morphs[name] for name in motion.control_names])
    held = 0
    for seconds, weights in zip(motion.times, motion.controls, strict=True):
        of = dict(zip(motion.control_names, weights.round(6).tolist(), strict=True))
        between = of["targetC"] % 1 or of["targetC"] == 2 or of["targetD"] % 1 or of["targetE"] > 1 or of["targetF"] < 0
        if not between:
            shape = mesh.points + np.tensordot(weights, morphs, 1)
            assert np.abs(shape - truth[round(seconds * 24)]).max() < 1e-5 * mesh.diagonal
            held += 1
    assert held == 77
    assert any("in-between shapes are left out: targetC, targetD, targetE, targetF" in note for note in contents.notes)


def row(matrix: np.ndarray) -> Gf.Matrix4d:
    return Gf.Matrix4d(*matrix.T.ravel().tolist())


def random_affine(rng: np.random.Generator, scale: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.random(rng=rng).as_matrix() * rng.uniform(1 - scale, 1 + scale, 3)
    matrix[:3, 3] = rng.normal(size=3)
    return matrix


def random_stage(path: Path, rng: np.random.Generator, method: str, rest_scale: float) -> Usd.Stage:
    """A random mesh on random joints, each part in a place of its own, animated in another order of joints."""
    joints, vertices, width = 6, 50, 4
    stage = Usd.Stage.CreateNew(str(path))
    UsdSkel.Root.Define(stage, "/R")
    skeleton, animation = UsdSkel.Skeleton.Define(stage, "/R/S"), UsdSkel.Animation.Define(stage, "/R/A")
    names = ["j0"]
    for k in range(1, joints):
        names.append(f"{names[rng.integers(k)]}/j{k}")
    local = [random_affine(rng, rest_scale) for _ in names]
    order = rng.permutation(joints)
    skeleton.GetJointsAttr().Set(names)
    skeleton.GetBindTransformsAttr().Set(Vt.Matrix4dArray([row(random_affine(rng, 0.3)) for _ in names]))
    skeleton.GetRestTransformsAttr().Set(Vt.Matrix4dArray([row(matrix) for matrix in local]))
    animation.GetJointsAttr().Set([names[k] for k in order])
    scales = [np.linalg.norm(local[k][:3, :3], axis=0).tolist() for k in order]
    animation.GetScalesAttr().Set(Vt.Vec3hArray([Gf.Vec3h(*scale) for scale in scales]))
    for moment in range(4):
        turn = [Gf.Quatf(w, x, y, z) for x, y, z, w in Rotation.random(joints, rng=rng).as_quat().tolist()]
        animation.GetRotationsAttr().Set(Vt.QuatfArray(turn), moment)
        animation.GetTranslationsAttr().Set(Vt.Vec3fArray.FromNumpy(rng.normal(size=(joints, 3)).astype("f4")), moment)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(["/R/A"])
    mesh = UsdGeom.Mesh.Define(stage, "/R/M")
    mesh.GetPointsAttr().Set(Vt.Vec3fArray.FromNumpy(rng.normal(size=(vertices, 3)).astype("f4")))
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets(["/R/S"])
    binding.CreateSkinningMethodAttr().Set(method)
    binding.CreateGeomBindTransformAttr().Set(row(random_affine(rng, 0.3)))
    weights = rng.dirichlet(np.ones(width), vertices)
    binding.CreateJointIndicesPrimvar(False, width).Set(rng.integers(joints, size=vertices * width).tolist())
    binding.CreateJointWeightsPrimvar(False, width).Set(weights.ravel().tolist())
    for prim in (mesh, skeleton):
        UsdGeom.Xformable(prim).AddTransformOp().Set(row(random_affine(rng, 0.3)))
    stage.GetRootLayer().Save()
    return stage


@pytest.mark.parametrize("method", ["classicLinear", "dualQuaternion"])
@pytest.mark.parametrize("rest_scale", [0.0, 0.3])
def test_random_rigs_move_as_pixar_moves_them(tmp_path, method, rest_scale):
    stage = random_stage(tmp_path / "a.usda", np.random.default_rng(7), method, rest_scale)
    contents = usd.read(tmp_path / "a.usda")
    rig, motion = contents.rigs["R"], contents.motions["A"]
    UsdSkel.BakeSkinning(UsdSkel.Root(stage.GetPrimAtPath("/R")), Gf.Interval(0, 3))
    mesh, places = UsdGeom.Mesh(stage.GetPrimAtPath("/R/M")), UsdGeom.XformCache()
    to_world, skeleton = (np.array(places.GetLocalToWorldTransform(stage.GetPrimAtPath(p))).T for p in ("/R/M", "/R/S"))
    place = np.linalg.solve(skeleton, to_world)
    # Scales are stored with 11 bits.
    tolerance = 1e-3 if rest_scale else 1e-6
    for k, pose in enumerate(motion):
        truth = np.array(mesh.GetPointsAttr().Get(k)) @ place[:3, :3].T + place[:3, 3]
        assert np.abs(rig.skin(pose) - truth).max() < tolerance * np.ptp(truth)
    assert not any("scale" in note for note in contents.notes)


def test_crate_and_package_hold_what_the_text_holds(pixar, tmp_path):
    text = usd.read(pixar / "lbs.usda")
    Sdf.Layer.FindOrOpen(str(pixar / "lbs.usda")).Export(str(tmp_path / "lbs.usdc"))
    UsdUtils.CreateNewUsdzPackage(str(tmp_path / "lbs.usdc"), str(tmp_path / "lbs.usdz"))
    (tmp_path / "lbs.usd").write_bytes((tmp_path / "lbs.usdc").read_bytes())
    for name in ("lbs.usdc", "lbs.usdz", "lbs.usd"):
        other = usd.read(tmp_path / name)
        assert np.array_equal(other.rigs["Root"].mesh.points, text.rigs["Root"].mesh.points)
        assert np.array_equal(other.rigs["Root"].weights, text.rigs["Root"].weights)
        assert np.array_equal(other.motions["Animation"].rotations, text.motions["Animation"].rotations)


def test_joints_that_an_animation_lacks_rest_and_shifts_are_from_rest(parse):
    contents = parse(arm())
    motion, skeleton = contents.motions["Wave"], contents.rigs["Arm"].skeleton
    assert np.allclose(motion.times, [1, 2, 3])
    assert np.array_equal(motion.rotations[:, 0], skeleton.rest_rotations[[0, 0, 0]])
    assert np.allclose(np.abs(motion.rotations[:, 1]), [[0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 0]])
    assert np.allclose(motion.translations[:, 1], [[0, 0, 0], [0.5, 0, 0], [1, 0, 0]])
    assert np.allclose(skeleton.world(motion.rotations, motion.translations)[2, 1, :3, 3], [1, 2, 0])


def test_an_animation_without_time_is_one_pose(parse):
    wave = 'uniform token[] joints = ["a"]\n quatf[] rotations = [(0, 1, 0, 0)]\n'
    motion = parse(arm(wave=wave)).motions["Wave"]
    assert np.allclose(motion.rotations, [[[1, 0, 0, 0], [0, 0, 0, 1]]])


def test_scales_that_leave_the_rest_scale_are_noted(parse):
    contents = parse(arm(wave=WAVE.replace("(1, 1, 1)", "(1, 2, 1)")))
    assert "1 joints change their scale in animation 'Wave': it is left out" in contents.notes


def test_weights_of_blend_shapes_become_controls(parse):
    wave = 'uniform token[] blendShapes = ["smile"]\n float[] blendShapeWeights.timeSamples = { 0: [0], 5: [1] }\n'
    motion = parse(arm(wave=wave)).motions["Wave"]
    assert motion.control_names == ("smile",)
    assert np.allclose(motion.controls, [[0], [1]])
    assert np.allclose(motion.times, [0, 0.5])


def test_rest_and_bind_transforms_stand_in_for_each_other(parse):
    bind = f"[{LEAST_ANGLE}, {UP}]"
    whole = parse(arm(rest=None, bind=bind)).rigs["Arm"]
    assert np.allclose(whole.skeleton.rest_world @ whole.inverse_bind, np.eye(4))
    assert np.allclose(whole.skeleton.rest_world[0, :3, 3], [5, 0, 0])
    other = parse(arm(rest=bind, bind=None)).rigs["Arm"]
    assert np.allclose(other.skeleton.rest_world @ other.inverse_bind, np.eye(4))
    assert np.allclose(other.skeleton.rest_world[1, :3, 3], [3, 0, 0])
    with pytest.raises(FileError, match="expected restTransforms or bindTransforms, got neither"):
        parse(arm(rest=None, bind=None))


def test_a_joint_hangs_on_the_longest_path_above_it_and_names_are_told_apart(parse):
    joints = '["a", "a/b", "a/x/b", "a/b/b/c", "d"]'
    skeleton = parse(arm(joints=joints, rest=f"[{', '.join([EYE] * 5)}]", bind=None)).rigs["Arm"].skeleton
    assert skeleton.names == ("a", "b", "b#2", "c", "d")
    assert skeleton.parents.tolist() == [-1, 0, 0, 1, -1]


def test_a_mesh_bound_as_a_whole_in_its_own_order_of_joints(parse):
    mesh = (
        SQUARE
        + """
        int[] primvars:skel:jointIndices = [0, 1, 0] (elementSize = 3
            interpolation = "constant")
        float[] primvars:skel:jointWeights = [0.25, 0.75, 0] (elementSize = 3
            interpolation = "constant")
        uniform token[] skel:joints = ["a/b", "a"]"""
    )
    rig = parse(arm(mesh=mesh)).rigs["Arm"]
    assert rig.influences.tolist() == [[0, 1]] * 4
    assert np.allclose(rig.weights, [[0.75, 0.25]] * 4)


def test_influences_stand_strongest_first(parse):
    rig = parse(arm()).rigs["Arm"]
    assert rig.influences[:, 0].tolist() == [0, 0, 1, 1]
    assert np.allclose(rig.weights, [[1, 0], [1, 0], [0.75, 0.25], [0.75, 0.25]])


def test_polygons_face_outwards_after_left_hands_and_reflections(parse):
    mirror = "( (-1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1) )"
    move = f'\n matrix4d xformOp:transform = {mirror}\n uniform token[] xformOpOrder = ["xformOp:transform"]'
    left = '\n uniform token orientation = "leftHanded"'
    meshes = {"Right": "", "Left": left, "Mirror": move, "Both": left + move}
    text = "#usda 1.0\n" + "\n".join(f'def Mesh "{name}" {{{SQUARE}{more}\n}}' for name, more in meshes.items())
    found = parse(text).meshes
    assert list(found) == list(meshes)
    assert {name: mesh.triangles[0].tolist() for name, mesh in found.items()} == {
        "Right": [0, 1, 2],
        "Left": [0, 3, 2],
        "Mirror": [0, 3, 2],
        "Both": [0, 1, 2],
    }
    assert {name: mesh.normals()[0, 2] for name, mesh in found.items()} == {
        "Right": 1,
        "Left": -1,
        "Mirror": 1,
        "Both": -1,
    }
    assert found["Left"].face_count == 1


def test_meshes_that_nothing_moves_stand_in_the_world(parse):
    place = f'matrix4d xformOp:transform = {LEAST_ANGLE}\n uniform token[] xformOpOrder = ["xformOp:transform"]'
    other = f'def Xform "Room" {{ {place}\n def Mesh "Table" {{{SQUARE}\n}}\n def Sphere "Ball" {{}}\n}}'
    contents = parse(arm(more=other))
    assert list(contents.rigs) == ["Arm"]
    assert np.allclose(contents.meshes["Table"].points, [[5, 0, 0], [5, 1, 0], [3, 1, 0], [3, 0, 0]])
    assert "1 shapes that are not meshes (curves, spheres, ...) are left out" in contents.notes


def test_a_skeleton_alone_brings_its_motion(parse):
    text = arm()
    text = text[: text.index("    def Mesh")] + text[text.index("    def Skeleton") :]
    contents = parse(text)
    assert contents.rigs == {}
    assert contents.skeleton is not None
    assert contents.skeleton.names == ("a", "b")
    assert contents.motions["Wave"].rotations.shape == (3, 2, 4)


def test_sparse_blend_shapes_move_in_the_skeletons_space(parse):
    shapes = f"""
        matrix4d primvars:skel:geomBindTransform = {TWICE}
        uniform token[] skel:blendShapes = ["smile"]
        rel skel:blendShapeTargets = [</Arm/Skin/smile>]
        def BlendShape "smile" {{
            uniform vector3f[] offsets = [(0, 0, 1), (0, 1, 0)]
            uniform int[] pointIndices = [3, 1]
        }}"""
    contents = parse(arm(mesh=SQUARE + BOUND + shapes))
    assert np.allclose(contents.morphs["smile"], [[0, 0, 0], [0, 2, 0], [0, 0, 0], [0, 0, 2]])
    assert np.allclose(contents.rigs["Arm"].mesh.points[2], [2, 4, 0])
    # Kept with the rig, so that an export has it again.
    rows, moved = contents.rigs["Arm"].mesh.look.morphs["smile"]
    assert rows.tolist() == [1, 3]
    assert np.allclose(moved, [[0, 2, 0], [0, 0, 2]])
    with pytest.raises(FileError, match=r"smile pointIndices: expected indices from 0 to 3, got 4"):
        parse(arm(mesh=SQUARE + BOUND + shapes.replace("[3, 1]", "[3, 4]")))
    with pytest.raises(FileError, match=r"smile offsets: expected shape \(3, 3\), got \(2, 3\)"):
        parse(arm(mesh=SQUARE + BOUND + shapes.replace("[3, 1]", "[3, 1, 0]")))


def test_meshes_have_the_files_unit_and_its_axes_are_named_where_y_is_not_up(parse):
    loose = f"""def Mesh "Box" {{{SQUARE}
    }}"""
    found = parse(arm(more=loose, head='metersPerUnit = 0.01\n upAxis = "Z"'))
    assert found.rigs["Arm"].mesh.unit == found.meshes["Box"].unit == 0.01
    assert "its z axis points up, and is left so: export with `up='z'`" in found.notes
    plain = parse(arm())
    assert plain.rigs["Arm"].mesh.unit == 1
    assert not any("points up" in note for note in plain.notes)


@pytest.mark.parametrize("unit", ["0", "-1", "nan", "inf"])
def test_a_unit_that_is_none_is_refused(parse, unit):
    with pytest.raises(FileError, match=r"scene.usda: mesh unit: expected"):
        parse(arm(head=f"metersPerUnit = {unit}"))
