// What posing surfaces takes. Its argument is a JSON file with a list of jobs {file, poses}; prints a list of results.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { load } from "./bundle.mjs";

const { cost } = await load(join(import.meta.dirname, "posed_cost.ts"));
const results = [];
for (const { file, poses } of JSON.parse(await readFile(process.argv[2], "utf8"))) {
  const bytes = await readFile(file);
  results.push(await cost(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), poses));
}
console.log(JSON.stringify(results));
