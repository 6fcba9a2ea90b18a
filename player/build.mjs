/** Builds the package into dist/ and the page into one HTML file: `node build.mjs [page.html]`. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [target = join(here, "dist", "page.html")] = process.argv.slice(2);

async function buildPackage() {
  // Chunks of earlier builds have other names, and would be packed too.
  rmSync(join(here, "dist"), { recursive: true, force: true });
  await build({
    entryPoints: [join(here, "three", "index.ts"), join(here, "three", "webgpu.ts")],
    outbase: here,
    outdir: join(here, "dist"),
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    external: ["three", "three/*"],
  });
  const compiler = join(here, "node_modules", "typescript", "bin", "tsc");
  execFileSync(process.execPath, [compiler, "--emitDeclarationOnly", "--project", join(here, "tsconfig.build.json")], {
    stdio: "inherit",
  });
}

async function buildPage() {
  const bundle = await build({
    entryPoints: [join(here, "page", "page.ts")],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    legalComments: "eof",
  });
  const part = (name) => readFileSync(join(here, "page", name), "utf8");
  // A script ends at the first closing tag, wherever it stands.
  const script = bundle.outputFiles[0].text.replaceAll("</script", "<\\/script");
  const style = part("page.css");
  const pieces = {
    "/*STYLE*/": style,
    "/*SCRIPT*/": script,
    "/*STYLE-HASH*/": hashed(style),
    "/*SCRIPT-HASH*/": hashed(script),
  };
  const page = part("page.html").replace(/\/\*(STYLE|SCRIPT)(-HASH)?\*\//g, (mark) => pieces[mark]);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, page);
}

/** What the page's policy allows: this text and no other. */
function hashed(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

await buildPackage();
await buildPage();
