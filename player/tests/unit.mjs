// Runs the unit tests of the player in Node's own test runner: `npm test`.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "./bundle.mjs";

const source = join(import.meta.dirname, "unit");
const folder = await mkdtemp(join(tmpdir(), "posespace-"));
const names = (await readdir(source)).filter((name) => name.endsWith(".test.mjs"));
await bundle(
  names.map((name) => join(source, name)),
  folder,
);
const files = names.map((name) => join(folder, name));
const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], {
  stdio: "inherit",
  cwd: join(import.meta.dirname, ".."),
});
await rm(folder, { recursive: true });
process.exit(status ?? 1);
