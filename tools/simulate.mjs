// `npm run simulate -- [options]`: bundles the simulation and runs it. A bundle starts at once and
// runs faster than sources loaded one by one; it lies where installed packages are found.
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
// Nearly everything that is made is forgotten again at once: with more room for the young, little of it is ever copied.
const done = spawnSync(process.execPath, ["--max-semi-space-size=32", program, ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
});
process.exit(done.status ?? 1);

/** Our own packages become part of the bundle; installed ones stay outside. */
function bundleOwnPackages({ onResolve }) {
  onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
    if (kind === "entry-point") return undefined;
    const own = /^@lattice\/([a-z]+)$/.exec(path);
    if (own !== null) return { path: join(root, "packages", own[1], "src", "index.ts") };
    return { path, external: true };
  });
}
