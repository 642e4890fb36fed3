// Type-checks every package under its own compiler settings: the pure packages see no DOM and no
// Node types, so that a clock or a socket there is a compile error.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const tsc = join(root, "node_modules", ".bin", "tsc");
const only = process.argv.slice(2);
const projects = readdirSync(join(root, "packages"))
  .filter((name) => only.length === 0 || only.includes(name))
  .flatMap((name) => ["tsconfig.json", "tsconfig.test.json"].map((file) => join("packages", name, file)));
if (only.length === 0) projects.push("tsconfig.json");

let failed = 0;
for (const project of projects) {
  if (!existsSync(join(root, project))) continue;
  const run = spawnSync(tsc, ["-p", project], { cwd: root, stdio: "inherit" });
  if (run.status !== 0) {
    console.error(`typecheck failed: ${project}`);
    failed += 1;
  }
}
process.exit(failed === 0 ? 0 : 1);
