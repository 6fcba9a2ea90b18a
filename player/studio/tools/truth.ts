/** The shapes of the sculpts as a source of the comparison, beside the skin and plain skinning: at a sculpt's pose, its shape. */

import { BufferAttribute, BufferGeometry, Mesh, MeshStandardMaterial } from "three";

import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import type { Project } from "../project.js";
import type { ProjectErrors } from "../project_errors.js";

const CLAY = "#cdc7be";

export class Truth implements Tool {
  private stage: Stage | null = null;
  private readonly mesh = new Mesh(new BufferGeometry(), new MeshStandardMaterial({ color: CLAY, roughness: 0.72 }));
  /** The points that the mesh has. */
  private points: Float32Array | null = null;

  constructor(
    private readonly project: Project,
    private readonly errors: ProjectErrors,
  ) {}

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    this.mesh.visible = false;
    this.mesh.frustumCulled = false;
    stage.scene.add(this.mesh);
    panel.onDispose(
      stage.comparison.add({
        name: "truth",
        label: "the sculpt",
        show: () => this.show(true),
        hide: () => this.show(false),
      }),
    );
    this.readTriangles(stage);
  }

  changed(): void {
    const source = this.stage?.posing.source;
    const points = source?.kind === "listed" ? (this.errors.at(source.index)?.points ?? null) : null;
    if (points === this.points) return;
    this.points = points;
    if (!points) return;
    this.mesh.geometry.setAttribute("position", new BufferAttribute(points, 3));
    this.mesh.geometry.computeVertexNormals();
    this.stage?.wake();
  }

  dispose(): void {
    this.mesh.removeFromParent();
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }

  /** Where there is no sculpt to show, the skin stays. */
  private show(on: boolean): void {
    const shown = on && this.points !== null;
    this.mesh.visible = shown;
    for (const mesh of this.stage?.meshes ?? []) mesh.visible = !shown;
  }

  private async readTriangles(stage: Stage): Promise<void> {
    const answer = await this.project.do("surface", { pose: stage.posing.pose("rest") });
    if (answer) this.mesh.geometry.setIndex(new BufferAttribute(Uint32Array.from(answer.arrays.triangles), 1));
  }
}
