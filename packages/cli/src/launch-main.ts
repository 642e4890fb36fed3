// `lattice launch` alone, for a bundle of one file.

import type { CommandTable } from "./command-module.ts";
import { define } from "./commands/launch.ts";
import { runCommand } from "./program.ts";

const table: CommandTable = {
  launch: { summary: "Start tasks in a running allocation", load: async () => ({ define }) },
};

// Nothing is left to be done by then: what was printed is with whoever reads it, and a kept connection is of no use.
void runCommand(table, process.argv.slice(2)).then((status) => process.exit(status));
