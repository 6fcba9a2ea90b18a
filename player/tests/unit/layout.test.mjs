import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";

const IMPORTS = /(?:from|import)\s*\(?\s*"([^"]+)"/g;

/** What the files of a folder and of those in it import: files as paths, packages by name. */
async function importsOf(folder) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".ts"));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return names.flatMap((name, k) =>
    [...texts[k].matchAll(IMPORTS)].map(([, found]) =>
      found.startsWith(".") ? join(folder, dirname(name), found) : found,
    ),
  );
}

test("core imports nothing but itself", async () => {
  const imports = await importsOf("core");
  assert.ok(imports.some((name) => name.startsWith("core/bones/")));
  assert.deepEqual(
    imports.filter((name) => !name.startsWith("core/")),
    [],
  );
});

test("three imports nothing of the page", async () => {
  assert.deepEqual(
    (await importsOf("three")).filter((name) => name.includes("page")),
    [],
  );
});
