/** posespace for WebGPURenderer (which also draws by WebGL 2): the same skins, displaced by node materials. */

import type { GLTFLoaderPlugin, GLTFParser } from "three/addons/loaders/GLTFLoader.js";
import * as tsl from "three/tsl";
import * as THREE from "three/webgpu";
import type { Material, Object3D } from "three";

import { PosespacePlugin } from "./loader.js";
import { WIDTH } from "./textures.js";
import type { Textures } from "./textures.js";

export { clone } from "./clone.js";
export { PoseSkin, skinOf } from "./pose_skin.js";

/** The plugin for WebGPURenderer. */
export function posespace(parser: GLTFParser): GLTFLoaderPlugin {
  return new PosespacePlugin(parser, { material: displacing, shadows: () => null });
}

// Nodes are built at run time; their types say little about what a graph of them may hold.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Node = any;
interface Builder {
  object: Object3D & { isSkinnedMesh?: boolean };
}
type NodeMaterial = Material & { setupPosition(builder: Builder): Node; castShadowPositionNode: Node };

const {
  Fn,
  Loop,
  attribute,
  cross,
  int,
  ivec2,
  mat3,
  normalLocal,
  positionGeometry,
  positionLocal,
  skinning,
  textureLoad,
  uint,
  vec3,
} = tsl as unknown as Record<string, Node>;
/** How far the number of a texel is shifted to be that of its row. */
const ROW_BITS = Math.log2(WIDTH);

/** Return a node material like the given one that displaces vertices before the bones move them. */
function displacing(material: Material, textures: Textures): Material {
  const displaced = nodeMaterial(material);
  const setup = displaced.setupPosition.bind(displaced);
  displaced.setupPosition = (builder: Builder) => {
    const columns = displacement(textures);
    positionLocal.addAssign(columns.element(int(0)).xyz);
    normalLocal.addAssign(columns.element(int(1)).xyz);
    if (!builder.object.isSkinnedMesh) return setup(builder);
    const normal = carriedNormal(builder.object);
    const position = setup(builder);
    normalLocal.assign(normal);
    return position;
  };
  displaced.castShadowPositionNode = castPosition(textures);
  displaced.customProgramCacheKey = () => `posespace ${textures.entries.uuid} ${textures.weights.uuid}`;
  return displaced;
}

/** Where a vertex is for a light: shadows are drawn by a material of the renderer's own, which asks only for this. */
function castPosition(textures: Textures): Node {
  return Fn(({ object }: Builder) => {
    positionLocal.assign(positionGeometry.add(displacement(textures).element(int(0)).xyz));
    if (object.isSkinnedMesh) skinning(object);
    return positionLocal;
  })();
}

/** The normal as the bones carry it: two directions along the surface move with the bones, and it is across both. */
function carriedNormal(mesh: Object3D): Node {
  const point = positionLocal.toVar();
  const normal = normalLocal.toVar();
  const aside = normal.x
    .abs()
    .greaterThan(0.9)
    .select(vec3(0, 1, 0), vec3(1, 0, 0));
  const first = cross(normal, aside).normalize().toVar();
  const second = cross(normal.normalize(), first).toVar();
  const carried = [first, second].map((along) => {
    normalLocal.assign(along);
    skinning(mesh);
    const tangent = normalLocal.toVar();
    positionLocal.assign(point);
    return tangent;
  });
  normalLocal.assign(normal);
  return cross(carried[0], carried[1]).normalize().toVar();
}

/** The displacement of a vertex and of its normal, as the first two columns of a matrix. */
function displacement(textures: Textures): Node {
  return Fn(() => {
    const span = attribute("poseSpan", "uvec2");
    const point = vec3(0).toVar();
    const normal = vec3(0).toVar();
    const slot = int(-1).toVar();
    const start = int(span.x).toVar();
    Loop({ start, end: start.add(int(span.y)), type: "int", condition: "<" }, ({ i }: { i: Node }) => {
      const { pointStep, skipped, normalStep } = unpacked(textures, i);
      slot.addAssign(skipped);
      const weight = textureLoad(textures.weights, texel(slot)).toVar();
      point.addAssign(pointStep.mul(weight.x));
      if (normalStep) normal.addAssign(normalStep.mul(weight.y));
    });
    return mat3(point, normal, vec3(0));
  })();
}

/** Entry `i`: points, the slots it skips, and normals. */
function unpacked(
  { bits, normals, entries }: Textures,
  i: Node,
): { pointStep: Node; skipped: Node; normalStep: Node | null } {
  if (bits === 32) {
    const first = normals ? i.mul(int(2)) : i;
    const content = textureLoad(entries, texel(first)).toVar();
    const normalStep = normals ? textureLoad(entries, texel(first.add(int(1)))).xyz : null;
    return { pointStep: content.xyz, skipped: int(content.w), normalStep };
  }
  const words = textureLoad(entries, texel(i)).toVar();
  // Whole numbers lie side by side in words; shifting a word to the left and back keeps their signs.
  const number = (k: number) => {
    const word = words["xyzw"[(k * bits) >> 5]];
    return int(word.shiftLeft(uint(32 - bits - ((k * bits) & 31)))).shiftRight(uint(32 - bits));
  };
  const vector = (k: number) => vec3(number(k), number(k + 1), number(k + 2));
  return { pointStep: vector(0), skipped: number(3), normalStep: normals ? vector(4) : null };
}

/** Where a texture has its texel of a number. */
function texel(number: Node): Node {
  return ivec2(number.bitAnd(int(WIDTH - 1)), number.shiftRight(uint(ROW_BITS)));
}

/** A node material with the looks of a material; one that is a node material already is copied. */
function nodeMaterial(material: Material): NodeMaterial {
  const { isNodeMaterial } = material as Material & { isNodeMaterial?: boolean };
  if (isNodeMaterial) return material.clone() as unknown as NodeMaterial;
  const name = material.type.replace("Material", "NodeMaterial");
  const NodeClass = (THREE as unknown as Record<string, new () => NodeMaterial>)[name];
  if (!NodeClass) throw new Error(`posespace: ${material.type} has no node material; give the mesh one`);
  const copy = new NodeClass();
  for (const key of Object.keys(material)) {
    if (key in copy && key !== "type" && key !== "uuid") Object.assign(copy, { [key]: Reflect.get(material, key) });
  }
  return copy;
}
