#!/usr/bin/env node
// The program itself is bundled by `npm run build`; this stub only finds it. `lattice launch`, which a job may call a
// thousand times, is a file of its own: it starts sooner.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const launch = fileURLToPath(new URL("../dist/lattice-launch.cjs", import.meta.url));
const bundle = new URL("../dist/lattice.js", import.meta.url);
if (process.argv[2] === "launch" && existsSync(launch)) {
  createRequire(import.meta.url)(launch);
} else if (existsSync(bundle)) {
  await import(bundle.href);
} else {
  console.error("lattice is not built yet. Run: npm run build");
  process.exit(1);
}
