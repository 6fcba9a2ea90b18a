/** Bones over the picture: all of them on demand, else those of the selected joint and of the one below the pointer. */

import {
  BufferGeometry,
  Color,
  Float32BufferAttribute,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  OctahedronGeometry,
  Quaternion,
  Vector3,
} from "three";

import { endsOf } from "../bone_segments.js";
import { element, tick } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

/** A bone is thickest near its joint: there, and by so much, in parts of its length. */
const WAIST = 0.14;
const RADIUS = 0.075;

const COLOURS = { usual: new Color(0xd8dde8), hovered: new Color(0x6ea8ff), selected: new Color(0xff922b) };

const UP = new Vector3(0, 1, 0);
const NONE = new Matrix4().makeScale(0, 0, 0);

export class Bones implements Tool {
  private stage: Stage | null = null;
  private mesh: InstancedMesh | null = null;
  private readonly name = element("span", "joint-name");

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    const material = new MeshBasicMaterial({ vertexColors: true, transparent: true, opacity: 0.85 });
    this.mesh = new InstancedMesh(boneGeometry(), material, stage.joints.segments.length);
    this.mesh.frustumCulled = false;
    stage.overlay.add(this.mesh);
    this.name.setAttribute("aria-hidden", "true");
    stage.renderer.domElement.after(this.name);
    const { row, input } = tick("bones", (on) => {
      stage.joints.allShown = on;
      stage.wake();
    });
    panel.append(row);
    panel.keys("b bones", { b: () => input.click() });
  }

  afterDraw(): void {
    const { stage, mesh } = this;
    if (!stage || !mesh) return;
    const { joints } = stage;
    joints.segments.forEach((segment, k) => {
      const { joint } = segment;
      const colour = joint === joints.selected ? "selected" : joint === joints.hovered ? "hovered" : "usual";
      const isSeen = joints.allShown || colour !== "usual";
      mesh.setMatrixAt(k, isSeen ? between(...endsOf(segment, joints.bones)) : NONE);
      mesh.setColorAt(k, COLOURS[colour]);
    });
    mesh.instanceMatrix.needsUpdate = true;
    if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    this.showName(stage);
  }

  dispose(): void {
    this.name.remove();
    this.mesh?.removeFromParent();
    this.mesh?.geometry.dispose();
    (this.mesh?.material as MeshBasicMaterial | undefined)?.dispose();
    this.mesh?.dispose();
  }

  /** The name of the joint below the pointer, beside the joint. */
  private showName({ joints, picture }: Stage): void {
    const { hovered } = joints;
    this.name.textContent = joints.tree.names[hovered] ?? "";
    if (hovered < 0) return;
    const { x, y } = joints.position(hovered).project(picture.camera);
    this.name.style.left = `${((x + 1) * picture.width) / 2 + 12}px`;
    this.name.style.top = `${((1 - y) * picture.height) / 2 - 10}px`;
  }
}

/** An octahedron from the origin to (0, 1, 0), whose faces have shades of their own, as without lights none has form. */
function boneGeometry(): BufferGeometry {
  const geometry = new OctahedronGeometry(1);
  const positions = geometry.getAttribute("position");
  const normals = geometry.getAttribute("normal");
  const light = new Vector3(0.5, 0.4, 0.75).normalize();
  const shades = Array.from({ length: positions.count }, (_, k) => {
    const shade = 0.72 + 0.28 * new Vector3().fromBufferAttribute(normals, k).dot(light);
    return [shade, shade, shade];
  });
  const corners = Array.from({ length: positions.count }, (_, k) => {
    const y = positions.getY(k);
    return [RADIUS * positions.getX(k), y < -0.5 ? 0 : y > 0.5 ? 1 : WAIST, RADIUS * positions.getZ(k)];
  });
  geometry.dispose();
  return new BufferGeometry()
    .setAttribute("position", new Float32BufferAttribute(corners.flat(), 3))
    .setAttribute("color", new Float32BufferAttribute(shades.flat(), 3));
}

/** What brings an octahedron to between two positions of the world. */
function between(start: Vector3, end: Vector3): Matrix4 {
  const along = end.sub(start);
  const length = along.length();
  const rotation = new Quaternion().setFromUnitVectors(UP, along.normalize());
  return new Matrix4().compose(start, rotation, new Vector3(length, length, length));
}
