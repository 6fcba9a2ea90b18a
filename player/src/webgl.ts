/** Displacements in the vertex shaders of WebGLRenderer: any built-in material, and any made like one. */

import { MeshDepthMaterial, MeshDistanceMaterial, RGBADepthPacking } from "three";
import type { IUniform, Material, WebGLProgramParametersWithUniforms } from "three";

import { WIDTH } from "./textures.js";
import type { Textures } from "./textures.js";

const SHIFT = Math.log2(WIDTH);

/** Return a copy of a material that displaces vertices before the bones move them. */
export function patched<M extends Material>(material: M, textures: Textures): M {
  const copy = material.clone();
  const uniforms: Record<string, IUniform> = {
    posePoints: { value: textures.points },
    poseNormals: { value: textures.normals },
    poseWeights: { value: textures.weights },
  };
  copy.onBeforeCompile = (shader, renderer) => {
    material.onBeforeCompile(shader, renderer);
    Object.assign(shader.uniforms, uniforms);
    inject(shader, textures);
  };
  copy.customProgramCacheKey = () => `posespace ${textures.kind} ${textures.normals !== null} ${material.customProgramCacheKey()}`;
  return copy;
}

/** Materials for the shadows of directional and spot lights, and of point lights. */
export function shadowMaterials(textures: Textures): { depth: MeshDepthMaterial; distance: MeshDistanceMaterial } {
  const depth = new MeshDepthMaterial({ depthPacking: RGBADepthPacking });
  const distance = new MeshDistanceMaterial();
  const pair = { depth: patched(depth, textures), distance: patched(distance, textures) };
  depth.dispose();
  distance.dispose();
  return pair;
}

function inject(shader: WebGLProgramParametersWithUniforms, textures: Textures): void {
  const code = shader.vertexShader;
  const normal = "#include <beginnormal_vertex>";
  const point = "#include <begin_vertex>";
  let vertex = code.replace("void main() {", `${declarations(textures)}\nvoid main() {\nvec3 poseNormal = vec3(0.0);\nvec3 posePoint = poseDisplacement(poseNormal);`);
  vertex = vertex.replace(normal, `${normal}\nobjectNormal += poseNormal;`);
  vertex = vertex.replace("#include <skinnormal_vertex>", SKINNED_NORMAL);
  shader.vertexShader = vertex.replace(point, `${point}\ntransformed += posePoint;`);
}

/** As three.js does it, but with the cofactors of the blended bones: a blend of turns shrinks, and normals would lean. */
const SKINNED_NORMAL = `
#ifdef USE_SKINNING
  mat4 poseBones = skinWeight.x * boneMatX + skinWeight.y * boneMatY + skinWeight.z * boneMatZ + skinWeight.w * boneMatW;
  mat3 poseBlend = mat3(bindMatrixInverse * poseBones * bindMatrix);
  objectNormal = mat3(
    cross(poseBlend[1], poseBlend[2]), cross(poseBlend[2], poseBlend[0]), cross(poseBlend[0], poseBlend[1])
  ) * objectNormal;
  #ifdef USE_TANGENT
    objectTangent = poseBlend * objectTangent;
  #endif
#endif
`;

function declarations(textures: Textures): string {
  const sampler = textures.kind === "float" ? "sampler2D" : "isampler2D";
  const entry = textures.kind === "float" ? "vec4" : "ivec4";
  const normals = textures.normals !== null;
  return `
attribute uvec2 poseSpan;
uniform highp ${sampler} posePoints;
uniform highp sampler2D poseWeights;
${normals ? `uniform highp ${sampler} poseNormals;` : ""}

vec3 poseDisplacement(inout vec3 normal) {
  vec3 point = vec3(0.0);
  int slot = -1;
  int end = int(poseSpan.x + poseSpan.y);
  for (int i = int(poseSpan.x); i < end; i++) {
    ivec2 at = ivec2(i & ${WIDTH - 1}, i >> ${SHIFT});
    ${entry} entry = texelFetch(posePoints, at, 0);
    slot += int(entry.w);
    vec2 weight = texelFetch(poseWeights, ivec2(slot & ${WIDTH - 1}, slot >> ${SHIFT}), 0).xy;
    point += weight.x * vec3(entry.xyz);
    ${normals ? "normal += weight.y * vec3(texelFetch(poseNormals, at, 0).xyz);" : ""}
  }
  return point;
}
`;
}
