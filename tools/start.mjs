// `npm start`: from a fresh clone to a running cluster. Installs what is missing, builds what has changed, and then runs
// `lattice up --demo` in this process, so that Ctrl-C reaches one program and its exit status is the result. Further
// arguments go to `lattice up`.

import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** An agent that is root changes users' folders only through a native program. */
const COMPILER = [
  { name: "gcc", provides: "cc", reason: "the native programs of an agent that runs as root" },
  { name: "libc6-dev", provides: "gencat", reason: "headers of the C library" },
];

try {
  const { ensureInstalled } = await import("./ensure-installed.mjs");
  await ensureInstalled();
  if (process.getuid?.() === 0) {
    const { requireDebianPackages } = await import("./debian-packages.mjs");
    requireDebianPackages("npm start", COMPILER);
  }
  const { buildAll } = await import("./build.mjs");
  console.log("Building Lattice");
  await buildAll();
} catch (error) {
  console.error(`Error: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

const program = join(root, "packages", "cli", "dist", "lattice.js");
process.argv = [process.execPath, program, "up", "--demo", ...process.argv.slice(2)];
await import(pathToFileURL(program).href);
