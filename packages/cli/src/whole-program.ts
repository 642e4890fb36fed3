// The `lattice` program with all of its commands.

import { commandTable } from "./command-table.ts";
import { runCommand } from "./program.ts";

export const runProgram = (argv: readonly string[]): Promise<number> => runCommand(commandTable, argv);
