// `npm run bench -- NAME...`: installs and builds what is missing, then runs benches. Without a name it lists them. Each
// figure is one JSON line on standard output, progress goes to standard error. The exit status is 1 when a figure misses
// its target.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./ensure-installed.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

await ensureInstalled();
// The list of benches needs no build.
if (process.argv.length > 2) {
  const { buildAll } = await import("./build.mjs");
  await buildAll({ quiet: true });
}
const done = spawnSync(process.execPath, ["--import", "tsx", "benches/main.ts", ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
});
process.exit(done.status ?? 1);
