// `lattice compat-aliases`: the Slurm commands as aliases, for `eval "$(lattice compat-aliases)"` in a
// shell. Aliases are not there in scripts; those need `lattice compat install`.

import type { Command } from "commander";
import { createContext } from "../context.ts";
import { quote, SLURM_COMMANDS, slurmProgram } from "./compat/launcher.ts";

export function define(command: Command): void {
  command.action(async () => {
    const { print } = await createContext(command);
    const program = slurmProgram();
    for (const name of SLURM_COMMANDS) {
      print.line(`alias ${name}=${quote(`${quote(process.execPath)} ${quote(program)} ${name}`)}`);
    }
  });
}
