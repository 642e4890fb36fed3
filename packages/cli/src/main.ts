// The entry of the `lattice` program. Start time is part of every command, so `--version` loads nothing
// else, and all other code is imported when the command is known.

import { version } from "./version.ts";

if (process.argv.length === 3 && (process.argv[2] === "--version" || process.argv[2] === "-V")) {
  process.stdout.write(`lattice ${version}\n`);
} else {
  const { runProgram } = await import("./whole-program.ts");
  process.exitCode = await runProgram(process.argv.slice(2));
}
