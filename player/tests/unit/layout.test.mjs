import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";

const IMPORTS = /(?:from|import)\s*\(?\s*"([^"]+)"/g;

async function importsOf(folder) {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".ts"));
  const texts = await Promise.all(names.map((name) => readFile(`${folder}/${name}`, "utf8")));
  return texts.flatMap((text) => [...text.matchAll(IMPORTS)].map(([, name]) => name));
}

test("core imports nothing but itself", async () => {
  const imports = await importsOf("core");
  assert.ok(imports.length > 10);
  assert.deepEqual(
    imports.filter((name) => !name.startsWith("./")),
    [],
  );
});

test("three imports nothing of the page", async () => {
  assert.deepEqual(
    (await importsOf("three")).filter((name) => name.includes("page")),
    [],
  );
});
