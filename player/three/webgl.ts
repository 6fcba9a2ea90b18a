/** Displacements in the vertex shaders of WebGLRenderer: any built-in material, and any made like one. */

import { MeshDepthMaterial, MeshDistanceMaterial, RGBADepthPacking } from "three";
import type { IUniform, Material, WebGLProgramParametersWithUniforms } from "three";

import { shaderName } from "./shader_words.js";
import { WIDTH } from "./textures.js";
import type { Textures } from "./textures.js";

/** How far the number of a texel is shifted to be that of its row. */
const ROW_BITS = Math.log2(WIDTH);

/** Most slots whose weights are uniforms, which are read faster than a texture; half of what every WebGL 2 has room for. */
const MOST_UNIFORMS = 256;

/** Return a copy of a material that displaces vertices before the bones move them. */
export function patched<M extends Material>(material: M, textures: Textures): M {
  const copy = material.clone();
  copy.name = shaderName(material.name);
  const uniforms: Record<string, IUniform> = {
    poseEntries: { value: textures.entries },
    poseWeights: {
      value: pairs(textures)
        ? (textures.weights.image.data as Float32Array).subarray(0, 4 * pairs(textures))
        : textures.weights,
    },
  };
  copy.onBeforeCompile = (shader, renderer) => {
    material.onBeforeCompile(shader, renderer);
    Object.assign(shader.uniforms, uniforms);
    inject(shader, textures);
  };
  copy.customProgramCacheKey = () =>
    `posespace ${textures.bits} ${textures.normals} ${pairs(textures)} ${material.customProgramCacheKey()}`;
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
  let vertex = code.replace(
    "void main() {",
    `${declarations(textures)}\nvoid main() {\nvec3 poseNormal = vec3(0.0);\nvec3 posePoint = poseDisplacement(poseNormal);`,
  );
  vertex = vertex.replace(normal, `${normal}\nobjectNormal += poseNormal;`);
  vertex = vertex.replace("#include <skinnormal_vertex>", SKINNED_NORMAL);
  shader.vertexShader = vertex.replace(point, `${point}\ntransformed += posePoint;`);
}

/** As three.js does it, but with the cofactors of the blended bones: a blend of rotations shrinks, and normals would lean. */
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

/** How many uniforms hold the weights, those of two slots each; 0 where a texture does. */
function pairs({ slots }: Textures): number {
  return slots <= MOST_UNIFORMS ? Math.max(1, Math.ceil(slots / 2)) : 0;
}

/** How the weights of a slot are read. */
function weighed(textures: Textures): string {
  if (!pairs(textures))
    return `vec2 weight = texelFetch(poseWeights, ivec2(slot & ${WIDTH - 1}, slot >> ${ROW_BITS}), 0).xy;`;
  return "vec4 pair = poseWeights[slot >> 1];\n    vec2 weight = (slot & 1) == 0 ? pair.xy : pair.zw;";
}

/** How entry `i` becomes points, the slots it skips, and normals. */
function unpacked({ bits, normals }: Textures): string {
  const texel = (index: string) => `ivec2((${index}) & ${WIDTH - 1}, (${index}) >> ${ROW_BITS})`;
  const fetched = (index: string) => `texelFetch(poseEntries, ${texel(index)}, 0)`;
  if (bits === 32) {
    const first = normals ? "2 * i" : "i";
    return `
    vec4 pointStep = ${fetched(first)};
    int skipped = int(pointStep.w);
    ${normals ? `vec3 normalStep = ${fetched(`${first} + 1`)}.xyz;` : ""}`;
  }
  // Whole numbers lie side by side in words; shifting a word to the left and back keeps their signs.
  const number = (k: number) => {
    const [word, up] = [`words.${"xyzw"[(k * bits) >> 5]}`, 32 - bits - ((k * bits) & 31)];
    return `(int(${word}${up ? ` << ${up}` : ""}) >> ${32 - bits})`;
  };
  return `
    uvec4 words = ${fetched("i")};
    vec3 pointStep = vec3(${number(0)}, ${number(1)}, ${number(2)});
    int skipped = ${number(3)};
    ${normals ? `vec3 normalStep = vec3(${number(4)}, ${number(5)}, ${number(6)});` : ""}`;
}

function declarations(textures: Textures): string {
  return `
attribute uvec2 poseSpan;
uniform highp ${textures.bits === 32 ? "sampler2D" : "usampler2D"} poseEntries;
${pairs(textures) ? `uniform vec4 poseWeights[${pairs(textures)}];` : "uniform highp sampler2D poseWeights;"}

vec3 poseDisplacement(inout vec3 normal) {
  vec3 point = vec3(0.0);
  int slot = -1;
  int end = int(poseSpan.x + poseSpan.y);
  for (int i = int(poseSpan.x); i < end; i++) {${unpacked(textures)}
    slot += skipped;
    ${weighed(textures)}
    point += weight.x * pointStep.xyz;
    ${textures.normals ? "normal += weight.y * normalStep;" : ""}
  }
  return point;
}
`;
}
