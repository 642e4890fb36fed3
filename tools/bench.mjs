// `npm run bench [-- name ...]`: installs and builds what is missing, then measures. One JSON line
// per figure on standard output, progress on standard error. The exit status is 1 when a figure
// misses its target.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./ensure-installed.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

await ensureInstalled();
const { buildAll } = await import("./build.mjs");
await buildAll({ quiet: true });
const done = spawnSync(process.execPath, ["--import", "tsx", "benches/main.ts", ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
});
process.exit(done.status ?? 1);
