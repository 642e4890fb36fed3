// The entry of `lattice launch` alone, bundled into one file: jobs call it often, so it must start fast.

import type { CommandTable } from "./command-module.ts";
import { define } from "./commands/launch.ts";
import { runCommand } from "./program.ts";

const table: CommandTable = {
  launch: { summary: "Start tasks in a running allocation", load: async () => ({ define }) },
};

// All output is written by then; without `exit` an idle keep-alive connection would delay the end.
void runCommand(table, process.argv.slice(2)).then((status) => process.exit(status));
