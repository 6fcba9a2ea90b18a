"""The library's own files: bit-exact, atomic, and whole after a killed writer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from helpers.assets import dembones, write_every_fourth
from helpers.strategies import random_pose, random_rig, random_skin, seeds
from hypothesis import HealthCheck, given, settings

from posespace.errors import FileError, InputError
from posespace.examples import Examples
from posespace.formats import files, records
from posespace.formats.store.example_store import ExampleStore
from posespace.formats.store.zarr_arrays import write_store
from posespace.interpolate.rbf import RBF
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.spaces import PoseSpace
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer
from posespace.skin.skin import Skin

PER_TEST = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])


def arrays_of(thing: object, where: str = "") -> dict[str, object]:
    """Every array and setting inside nested dataclasses, by place."""
    if hasattr(thing, "__dataclass_fields__"):
        found: dict[str, object] = {}
        for name in thing.__dataclass_fields__:
            found |= arrays_of(getattr(thing, name), f"{where}.{name}")
        return found
    if isinstance(thing, tuple) and thing and hasattr(thing[0], "__dataclass_fields__"):
        return {key: value for k, part in enumerate(thing) for key, value in arrays_of(part, f"{where}[{k}]").items()}
    return {where: thing}


def assert_same_bits(one: object, other: object) -> None:
    first, second = arrays_of(one), arrays_of(other)
    assert first.keys() == second.keys()
    for place, value in first.items():
        if isinstance(value, np.ndarray):
            assert value.dtype == second[place].dtype, place  # type: ignore[attr-defined]
            assert value.tobytes() == second[place].tobytes(), place  # type: ignore[attr-defined]
        else:
            assert value == second[place], place


def test_links_and_reach_are_saved_and_those_that_are_not_there_stay_away(tmp_path: Path) -> None:
    skin = random_skin(np.random.default_rng(5))
    skin.save(tmp_path / "a.skin")
    loaded = Skin.load(tmp_path / "a.skin")
    assert skin.rig.skeleton.links is not None
    assert loaded.rig.skeleton.links is not None
    np.testing.assert_array_equal(loaded.rig.skeleton.links, skin.rig.skeleton.links)
    found, wanted = ({layer.name: layer.driver.interpolant.reach for layer in each.layers} for each in (loaded, skin))
    assert found == wanted
    assert 0 < found["near"] < np.inf
    assert found["joint"] == np.inf
    far = Pose(skin.rig.rest.rotations, np.full((5, 3), 100.0))
    np.testing.assert_array_equal(loaded.pose(far)[0], skin.pose(far)[0])
    plain = replace(skin.rig, skeleton=replace(skin.rig.skeleton, links=None))
    Skin(plain).save(tmp_path / "b.skin")
    assert Skin.load(tmp_path / "b.skin").rig.skeleton.links is None


def test_a_space_of_points_in_an_older_file_becomes_one_of_their_controls() -> None:
    rng = np.random.default_rng(2)
    rig, space = random_rig(rng), PoseSpace("controls", ("tip.x", "tip.y", "tip.z"))
    driver = Driver(space, RBF("linear").fit(rng.normal(size=(5, 3)), rng.normal(size=(5, 2)), space.metric))
    skin = Skin(rig, (Layer("tip", driver, np.arange(4), rng.normal(size=(2, 4, 3))),))
    writer = records.Writer()
    described = records.write_skin(skin, writer)
    described["layers"][0]["driver"] |= {"space": "points", "names": ["tip"]}
    loaded = records.read_skin(records.Record(described, writer.arrays, "skin"))
    assert loaded.layers[0].driver.space == space
    pose = replace(rig.rest, controls={"tip.x": 0.5, "tip.z": -1.0})
    np.testing.assert_array_equal(loaded.pose(pose)[0], skin.pose(pose)[0])


@PER_TEST
@given(seeds)
def test_a_skin_is_saved_and_loaded_bit_for_bit(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    skin = random_skin(rng)
    skin.save(tmp_path / "a.skin")
    loaded = Skin.load(tmp_path / "a.skin")
    assert_same_bits(skin, loaded)
    pose = random_pose(rng, skin.rig)
    for one, other in zip(skin.pose(pose), loaded.pose(pose), strict=True):
        assert one.tobytes() == other.tobytes()


def test_a_loaded_skin_is_one_block_of_memory_that_no_one_writes_to(tmp_path: Path) -> None:
    random_skin(np.random.default_rng(1)).save(tmp_path / "a.skin")
    loaded = Skin.load(tmp_path / "a.skin")
    base: object = loaded.layers[0].basis
    while isinstance(base, np.ndarray):
        assert not base.flags.owndata
        assert not base.flags.writeable
        base = base.base
    assert type(getattr(base, "obj", base)) is bytes


def test_a_skin_too_large_to_be_read_again_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 1000)
    with pytest.raises(FileError, match=r"would be [0-9]+ bytes; at most 1000 are read"):
        random_skin(np.random.default_rng(1)).save(tmp_path / "a.skin")
    assert not list(tmp_path.iterdir())


def test_a_skin_file_is_an_ordinary_safetensors_file(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    skin = random_skin(np.random.default_rng(2))
    skin.save(tmp_path / "a.skin")
    assert np.array_equal(load_file(tmp_path / "a.skin")["skin/layers/0/basis"], skin.layers[0].basis)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skin = random_skin(np.random.default_rng(3))
    skin.save(tmp_path / "a.skin")
    before = (tmp_path / "a.skin").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(FileError, match=r"a\.skin: cannot be written .no space left"):
        skin.save(tmp_path / "a.skin")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.skin"]
    assert (tmp_path / "a.skin").read_bytes() == before


def random_examples(rng: np.random.Generator, count: int = 4) -> Examples:
    rig = random_rig(rng)
    motion = Motion.from_poses([random_pose(rng, rig) for _ in range(count)], [f"pose {k}" for k in range(count)])
    return Examples.from_shapes(rig, motion, rng.normal(size=(count, *rig.mesh.points.shape)).astype(np.float32))


@PER_TEST
@given(seeds)
def test_examples_are_saved_and_opened_bit_for_bit(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    examples = random_examples(np.random.default_rng(seed))
    path = tmp_path_factory.mktemp("store") / "a.examples"
    examples.save(path)
    opened = Examples.open(path)
    assert_same_bits(examples.rig, opened.rig)
    assert_same_bits(examples.motion, opened.motion)
    for index in range(len(examples)):
        assert opened.shapes[index].tobytes() == examples.shapes[index].tobytes()


def test_an_example_store_is_an_ordinary_zarr_store(tmp_path: Path) -> None:
    import zarr

    examples = random_examples(np.random.default_rng(5))
    examples.save(tmp_path / "a.examples")
    group = zarr.open_group(tmp_path / "a.examples", mode="r")
    shapes = group["shapes"]
    assert shapes.chunks == (1, *examples.rig.mesh.points.shape)  # type: ignore[union-attr]
    np.testing.assert_array_equal(shapes[...], examples.shapes)  # type: ignore[index]
    assert group.attrs["posespace"]["motion"]["names"] == list(examples.motion.names)  # type: ignore[index,call-overload]
    np.testing.assert_array_equal(group["rig/points"][...], examples.rig.mesh.points)  # type: ignore[index]
    np.testing.assert_array_equal(group["motion/rotations"][...], examples.motion.rotations)  # type: ignore[index]


def test_a_zarr_store_is_what_the_zarr_library_writes(tmp_path: Path) -> None:
    import zarr

    arrays = {"a/b": np.arange(6, dtype=np.int32).reshape(2, 3), "a/none": np.zeros((0, 3), np.float32)}
    attributes = {"posespace": {"names": ["née", "a"], "number": 0.5}}
    write_store(tmp_path / "own", attributes, arrays, {"later": ((4, 2), (1, 2), np.dtype("<u8"))})
    root = zarr.create_group(tmp_path / "theirs", zarr_format=3, attributes=attributes)
    plain = {"compressors": None, "filters": None, "config": {"write_empty_chunks": True}}
    root.create_array("a/b", shape=(2, 3), chunks=(2, 3), dtype="int32", **plain)[...] = arrays["a/b"]  # type: ignore[arg-type]
    root.create_array("a/none", shape=(0, 3), chunks=(1, 3), dtype="float32", **plain)  # type: ignore[arg-type]
    root.create_array("later", shape=(4, 2), chunks=(1, 2), dtype="uint64", **plain)  # type: ignore[arg-type]
    own, theirs = files_of(tmp_path / "own"), files_of(tmp_path / "theirs")
    assert own.keys() == theirs.keys()
    for name, content in theirs.items():
        # Another version of the library may lay out its JSON differently.
        is_json = name.endswith(".json")
        assert json.loads(own[name]) == json.loads(content) if is_json else own[name] == content, name


def test_wrong_examples_name_the_pose(tmp_path: Path) -> None:
    examples = random_examples(np.random.default_rng(6))
    rig, motion = examples.rig, examples.motion
    shapes = [examples.shapes[k] for k in range(4)]
    with pytest.raises(InputError, match="shape of pose 'pose 2': expected shape"):
        Examples.from_shapes(rig, motion, [*shapes[:2], shapes[2][:-1], shapes[3]])
    with pytest.raises(InputError, match="expected 4 shapes, one per pose, got 3"):
        Examples.from_shapes(rig, motion, shapes[:3])
    store = ExampleStore.create(tmp_path / "a.examples", rig, motion)
    broken = shapes[1].copy()
    broken[3, 1] = np.nan
    with pytest.raises(InputError, match="shape of pose 'pose 1': expected finite numbers, got nan"):
        store.write(1, broken)
    with pytest.raises(FileError, match="exists already; remove it, or choose another output"):
        ExampleStore.create(tmp_path / "a.examples", rig, motion)
    with pytest.raises(FileError, match="pose 'pose 0' is not finished"):
        store.shape(0)


def test_a_damaged_shape_is_found_by_its_checksum(tmp_path: Path) -> None:
    random_examples(np.random.default_rng(7)).save(tmp_path / "a.examples")
    chunk = tmp_path / "a.examples" / "shapes" / "c" / "2" / "0" / "0"
    content = bytearray(chunk.read_bytes())
    content[17] ^= 4
    chunk.write_bytes(content)
    opened = Examples.open(tmp_path / "a.examples")
    with pytest.raises(FileError, match="pose 'pose 2' is damaged"):
        opened.shapes[2]


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_four_writers_at_once_give_the_store_of_one(data: Path, tmp_path: Path) -> None:
    examples = dembones(data)
    assert len(examples) == 300
    examples.save(tmp_path / "one.examples")
    ExampleStore.create(tmp_path / "four.examples", examples.rig, examples.motion)
    context = get_context("spawn")
    arguments = [(str(tmp_path / "four.examples"), str(data), first) for first in range(4)]
    writers = [context.Process(target=write_every_fourth, args=entry) for entry in arguments]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 4
    assert files_of(tmp_path / "four.examples") == files_of(tmp_path / "one.examples")


WRITER = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from helpers.assets import dembones, write_every_fourth
from posespace.formats import files
from posespace.formats.example_store import ExampleStore
shapes = dembones(Path({data!r})).shapes
store = ExampleStore.open({path!r})
print("ready", flush=True)
for index in range(len(store)):
    store.write(index, shapes[index])
    print(index, flush=True)
"""


def test_a_killed_writer_loses_only_the_pose_in_its_hands_and_another_goes_on(data: Path, tmp_path: Path) -> None:
    examples = dembones(data)
    path = tmp_path / "killed.examples"
    ExampleStore.create(path, examples.rig, examples.motion)
    script = WRITER.format(tests=str(Path(__file__).parents[1]), data=str(data), path=str(path))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        said = -1
        for line in writer.stdout:
            said = int(line) if line.strip() != "ready" else -1
            if said >= 40:
                break
        time.sleep(0.005)
        os.kill(writer.pid, signal.SIGKILL)
        rest = writer.stdout.read().split()
    written = int(rest[-1]) if rest else said
    store = ExampleStore.open(path)
    finished = np.flatnonzero(store.finished())
    # The last pose may have been marked before it could be told; all that were told are there.
    assert finished.tolist() in ([*range(written + 1)], [*range(written + 2)])
    for index in finished:
        assert store.shape(index).tobytes() == examples.shapes[index].tobytes()
    for index in np.flatnonzero(~store.finished()):
        store.write(int(index), examples.shapes[int(index)])
    examples.save(tmp_path / "whole.examples")
    kept = {name: content for name, content in files_of(path).items() if not name.endswith(".part")}
    assert kept == files_of(tmp_path / "whole.examples")


def test_examples_that_cannot_be_saved_leave_nothing(tmp_path: Path) -> None:
    examples = random_examples(np.random.default_rng(8))
    shapes = np.array(examples.shapes)
    shapes[-1] = np.nan
    with pytest.raises(InputError, match="shape of pose"):
        replace(examples, shapes=shapes).save(tmp_path / "a.examples")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_another_process_is_writing_is_not_removed(tmp_path: Path) -> None:
    with files.atomic_folder(tmp_path / "a") as one:
        with files.atomic_folder(tmp_path / "a") as other:
            assert one.is_dir()
        assert not other.exists()
        (tmp_path / "a").rmdir()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_subset_keeps_its_shapes_lazy(tmp_path: Path) -> None:
    examples = random_examples(np.random.default_rng(8))
    examples.save(tmp_path / "a.examples")
    some = Examples.open(tmp_path / "a.examples")[[3, 1]]
    assert some.motion.names == ("pose 3", "pose 1")
    assert isinstance(some.shapes[0].base, np.memmap) or isinstance(some.shapes[0], np.memmap)
    np.testing.assert_array_equal(some.shapes[1], examples.shapes[1])


def test_wrong_layers_are_named() -> None:
    skin = random_skin(np.random.default_rng(9))
    layer = skin.layers[0]
    with pytest.raises(InputError, match="layer 'x' support: expected ascending vertices"):
        Layer("x", layer.driver, layer.support[::-1], layer.basis)
    with pytest.raises(InputError, match="layer 'x' basis: expected shape"):
        Layer("x", layer.driver, layer.support, layer.basis[:, :-1])
    with pytest.raises(InputError, match="layer 'x': expected vertices below 20"):
        Skin(skin.rig, (Layer("x", layer.driver, layer.support + 20, layer.basis),))
