"""What EigenSkin costs on the GPU beside plain skinning: the same shader, with and without displacements.

"On the device" is the time of a frame when its result stays there: many frames per submission, then one wait.
"Read back" is a call of the player, from a pose to arrays. Run: uv run python benchmarks/gpu.py [--json]
"""

from __future__ import annotations

from collections.abc import Callable

from timing import Timing, alternate, report, wants_json

import posespace as ps
from posespace.pose import Pose
from posespace.runtime.gpu.player import GPUPlayer

FRAMES = 20


def on_the_device(play: GPUPlayer, pose: Pose) -> Callable[[], None]:
    """What poses a skin some times in one submission and waits."""

    def frames() -> None:
        play.upload(pose)
        encoder = play.device.create_command_encoder()
        for _ in range(FRAMES):
            play.encode(encoder)
        play.device.queue.submit([encoder.finish()])
        play.wait()

    return frames


def a_frame(timings: dict[str, Timing]) -> dict[str, Timing]:
    """Times of one frame from those of a submission."""
    return {
        name: Timing(*(getattr(timing, part) / FRAMES for part in ("median", "low", "high")))
        for name, timing in timings.items()
    }


def main() -> None:
    as_json = wants_json()
    train, unseen = ps.datasets.hand(2)
    pose = unseen.motion[0]
    eigen = ps.EigenSkin(bits=16, budget=10).fit(train)
    skins = {
        "plain skinning": ps.Skin(train.rig),
        "EigenSkin, 16 bits": eigen,
        "EigenSkin, 8 bits": eigen.packed(8),
        "EigenSkin, float32": eigen.packed(32),
    }
    shaded = skins | {"EigenSkin, 16 bits, normal basis": ps.EigenSkin(bits=16, budget=10, normals="shared").fit(train)}
    count = len(train.rig.mesh.points)
    for what, chosen, normals in (("points", skins, False), ("points and normals", shaded, True)):
        players = {name: GPUPlayer(skin, normals=normals) for name, skin in chosen.items()}
        device = a_frame(alternate({name: on_the_device(play, pose) for name, play in players.items()}))
        report(f"{what} of {count} vertices, on the device", device, "plain skinning", as_json)
        back = alternate({name: (lambda play=play: play(pose)) for name, play in players.items()})  # type: ignore[misc]
        report(f"{what} of {count} vertices, read back", back, "plain skinning", as_json)
        for play in players.values():
            play.close()


if __name__ == "__main__":
    main()
