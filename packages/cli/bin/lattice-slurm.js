#!/usr/bin/env node
// The program itself is bundled by `npm run build`; this stub only finds it.
import { existsSync } from "node:fs";

const bundle = new URL("../dist/lattice-slurm.js", import.meta.url);
if (!existsSync(bundle)) {
  console.error("lattice-slurm is not built yet. Run: npm run build");
  process.exit(1);
}
await import(bundle.href);
