// The entry of the `lattice` program. It does as little as possible before it knows the command:
// the version is answered without loading anything, and everything else is imported when needed,
// because start time is part of every command.

import { version } from "./version.ts";

if (process.argv.length === 3 && (process.argv[2] === "--version" || process.argv[2] === "-V")) {
  process.stdout.write(`lattice ${version}\n`);
} else {
  const { runProgram } = await import("./whole-program.ts");
  process.exitCode = await runProgram(process.argv.slice(2));
}
