// `npm run simulate -- [options]`: bundles the simulation and runs it. A bundle starts and runs faster than single
// sources. It is written below node_modules, where its imports resolve.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./ensure-installed.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const program = join(root, "node_modules", ".cache", "lattice", "simulate.mjs");

await ensureInstalled();
const { build } = await import("esbuild");
await build({
  entryPoints: [join(root, "tests", "simulation", "main.ts")],
  outfile: program,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  logLevel: "error",
  plugins: [{ name: "packages", setup: bundleOwnPackages }],
});
// Almost all objects die young: a larger semi-space avoids copying them.
const done = spawnSync(process.execPath, ["--max-semi-space-size=32", program, ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
});
process.exit(done.status ?? 1);

/** Bundles our own packages; installed ones stay external. */
function bundleOwnPackages({ onResolve }) {
  onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
    if (kind === "entry-point") return undefined;
    const own = /^@lattice\/([a-z]+)$/.exec(path);
    if (own !== null) return { path: join(root, "packages", own[1], "src", "index.ts") };
    return { path, external: true };
  });
}
