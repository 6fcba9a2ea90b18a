// Plays skins by `core` alone. Its arguments are a JSON file with a list of jobs {file, poses}, and where to write what
// comes out: for each job, the coordinates and displacements at each pose.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { load } from "./bundle.mjs";

const [jobs, out] = process.argv.slice(2);
const { play } = await load(join(import.meta.dirname, "play_core.ts"));
const results = [];
for (const { file, poses } of JSON.parse(await readFile(jobs, "utf8"))) {
  const bytes = await readFile(file);
  results.push(await play(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), poses));
}
await writeFile(out, JSON.stringify(results));
