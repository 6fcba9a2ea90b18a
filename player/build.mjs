/** Builds the package into dist/ and each page into one HTML file: `node build.mjs [page.html studio.html]`. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [page = join(here, "dist", "page.html"), studio = join(here, "dist", "studio.html")] = process.argv.slice(2);

const PAGE = { script: "page/page.ts", styles: ["page/page.css"], html: "page/page.html" };
const STUDIO = {
  script: "studio/studio.ts",
  styles: ["page/page.css", "studio/studio.css", "studio/sculpt.css", "studio/panels.css"],
  html: "studio/studio.html",
};

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

/** Build a page of a script, styles and HTML: one file, whose policy allows its own script and style alone. */
async function buildPage({ script, styles, html }, target) {
  const bundle = await build({
    entryPoints: [join(here, script)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    legalComments: "eof",
  });
  // A script ends at the first closing tag, wherever it stands.
  const code = bundle.outputFiles[0].text.replaceAll("</script", "<\\/script");
  const style = styles.map((name) => readFileSync(join(here, name), "utf8")).join("\n");
  const pieces = {
    "/*STYLE*/": style,
    "/*SCRIPT*/": code,
    "/*STYLE-HASH*/": hashed(style),
    "/*SCRIPT-HASH*/": hashed(code),
  };
  const page = readFileSync(join(here, html), "utf8");
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(
    target,
    page.replace(/\/\*(STYLE|SCRIPT)(-HASH)?\*\//g, (mark) => pieces[mark]),
  );
}

/** What the page's policy allows: this text and no other. */
function hashed(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

await buildPackage();
await buildPage(PAGE, page);
await buildPage(STUDIO, studio);
