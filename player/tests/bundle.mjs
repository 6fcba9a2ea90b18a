// Makes JavaScript of the player's TypeScript, for scripts that run in Node.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

/** Bundle files into a folder. */
export async function bundle(files, folder) {
  await build({
    entryPoints: files,
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    sourcemap: "inline",
  });
}

/** Import a TypeScript file. */
export async function load(file) {
  const folder = await mkdtemp(join(tmpdir(), "posespace-"));
  try {
    await bundle([file], folder);
    return await import(pathToFileURL(join(folder, `${basename(file, extname(file))}.mjs`)));
  } finally {
    await rm(folder, { recursive: true });
  }
}
