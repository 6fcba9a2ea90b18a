/** posespace for three.js: `loader.register(posespace)`, and loaded meshes drive themselves from their bones. */

import type { GLTFLoaderPlugin, GLTFParser } from "three/addons/loaders/GLTFLoader.js";

import { PosespacePlugin } from "./loader.js";
import { patched, shadowMaterials } from "./webgl.js";

export { clone } from "./clone.js";
export { PoseSkin, skinOf } from "./pose_skin.js";

/** The plugin for WebGLRenderer. */
export function posespace(parser: GLTFParser): GLTFLoaderPlugin {
  return new PosespacePlugin(parser, { material: patched, shadows: shadowMaterials });
}
