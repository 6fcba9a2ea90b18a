"""What a sculpt costs from "define" to the skin on the screen: the server and the page, at 14,002 vertices.

Run: uv run python benchmarks/studio.py [--rounds 12]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import posespace as ps

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.browsing import GRAPHICS, opened_chromium
from helpers.studio_client import Client, Process, client, studio
from helpers.studio_page import StudioPage

EXCHANGE = """async () => {
  const { project, stage } = posespace;
  const { arrays } = await project.link.request("skin");
  const start = performance.now();
  await stage.exchange(arrays.glb.slice().buffer);
  stage.draw();
  return performance.now() - start;
}"""


def project(folder: Path) -> Path:
    """Return an example store of an arm with its rest shape and four sculpts."""
    examples, _ = ps.datasets.bending_arm(rings=200, sides=70)
    chosen = [0, *np.linspace(1, len(examples) - 1, 4).astype(int).tolist()]
    path = folder / "arm.examples"
    examples[chosen].save(path)
    return path


def measured(program: Client, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each part of the server's work, sculpt after sculpt."""
    times: dict[str, list[float]] = {"define and solve": [], "write the skin": []}
    name = program.request("project")[0]["sculpts"][-1]["name"]
    pose = program.request("pose_of", name=name)[0]["pose"]
    for index in range(rounds):
        at = {**pose, "joints": [number + 0.002 * (index + 1) for number in pose["joints"]]}
        points = program.request("surface", pose=at)[1]["points"].copy()
        points[: len(points) // 3, 1] += 0.02
        start = time.perf_counter()
        program.request("define", {"points": points}, name=f"sculpt {index}", pose=at)
        times["define and solve"].append(1000 * (time.perf_counter() - start))
        start = time.perf_counter()
        program.request("skin")
        times["write the skin"].append(1000 * (time.perf_counter() - start))
    return times


def page_times(chromium: Any, process: Process, rounds: int) -> list[float]:
    """Return the milliseconds in which the page reads a skin, puts it in the place of the one before, and draws it."""
    page = StudioPage(chromium, process)
    times = [float(page.page.evaluate(EXCHANGE)) for _ in range(rounds)]
    page.page.close()
    return times


def main(rounds: int) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, studio(project(Path(folder))) as process:
        with client(process) as program:
            times = measured(program, rounds)
        if browser:
            with opened_chromium(browser, *GRAPHICS) as chromium:
                times["read and draw it in the page"] = page_times(chromium, process, rounds)
    print("| part | median, ms | worst, ms |\n|---|---|---|")
    for part, values in times.items():
        print(f"| {part} | {np.median(values):.0f} | {max(values):.0f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    main(parser.parse_args().rounds)
