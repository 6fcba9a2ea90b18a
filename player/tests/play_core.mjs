// Plays skins by `core` alone. Its arguments are a JSON file with a list of jobs {file, poses, posed}, and where to write
// what comes out: for each job, the coordinates and displacements at each pose, or points and normals if it is `posed`.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { load } from "./bundle.mjs";

const [jobs, out] = process.argv.slice(2);
const { play, pose } = await load(join(import.meta.dirname, "play_core.ts"));
const results = [];
for (const { file, poses, posed } of JSON.parse(await readFile(jobs, "utf8"))) {
  const bytes = await readFile(file);
  const content = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  results.push(await (posed ? pose : play)(content, poses));
}
await writeFile(out, JSON.stringify(results));
