// Plays damaged skins by `core` alone. Its argument is a JSON file with a list of jobs {file, poses}; prints for each
// why it was refused, or whether all numbers were finite.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { load } from "./bundle.mjs";

const { pose } = await load(join(import.meta.dirname, "play_core.ts"));
const results = [];
for (const { file, poses } of JSON.parse(await readFile(process.argv[2], "utf8"))) {
  const bytes = await readFile(file);
  let outcome;
  try {
    const posed = await pose(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), poses);
    outcome = { finite: posed.every(({ points, normals }) => [...points, ...normals].every(Number.isFinite)) };
  } catch (error) {
    outcome = { refused: error.message, kind: error.constructor.name };
  }
  results.push(outcome);
}
console.log(JSON.stringify(results));
