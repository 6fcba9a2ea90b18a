/** Shapes as files: the one that is sculpted, to go on elsewhere, and one that comes back. */

import type { PagePose } from "../page/data.js";
import { download } from "../page/download.js";
import type { Link } from "./link.js";

/** Save the shape (N, 3) at a pose as an OBJ file. */
export async function saveShape(link: Link, pose: PagePose, points: Float32Array, name: string): Promise<void> {
  const { arrays } = await link.request("export", { pose, format: "obj" }, { points });
  download(new Uint8Array(arrays.file), `${name}.obj`, "model/obj");
}

/** The shape (N, 3) of a file, at a pose. */
export async function readShape(link: Link, pose: PagePose, file: File): Promise<Float32Array> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const { arrays } = await link.request("import", { pose, filename: file.name }, { file: bytes });
  return Float32Array.from(arrays.points);
}
