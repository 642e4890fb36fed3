#!/bin/sh
// 2>/dev/null; [ "$1" = launch ] && f=$(readlink -f "$0") && n=${f%/bin/*}/dist/lattice-launch && [ -x "$n" ] && exec "$n" "$f" "$@"; exec node "$0" "$@"
// The program itself is bundled by `npm run build`; this stub only finds it. `lattice launch`, which a job may call a
// thousand times, is also a small program of its own, where there was a compiler: to a shell this file is a script of the
// line above, which begins that one or Node; to Node the line is a comment.
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
