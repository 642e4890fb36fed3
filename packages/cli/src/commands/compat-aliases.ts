// `lattice compat-aliases`: the Slurm commands as aliases, written into a file whose name is printed, for
// `source $(lattice compat-aliases)`; with --print the aliases themselves, for `eval "$(lattice compat-aliases --print)"`.
// Aliases are not there in scripts; those need `lattice compat install`.

import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { createContext } from "../context.ts";
import { quote, SLURM_COMMANDS, slurmProgram } from "./compat/launcher.ts";

export function define(command: Command): void {
  command
    .option("--print", "print them instead of the name of a file that holds them")
    .action(async (flags: { readonly print?: boolean }) => {
      const { print } = await createContext(command);
      const program = slurmProgram();
      const aliases = SLURM_COMMANDS.map(
        (name) => `alias ${name}=${quote(`${quote(process.execPath)} ${quote(program)} ${name}`)}`,
      );
      if (flags.print === true) return print.lines(aliases);
      const { mkdir, writeFile } = await import("node:fs/promises");
      const path = join(configDir(process.env), "lattice", "compat-aliases.sh");
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, `${aliases.join("\n")}\n`);
      print.line(path);
    });
}

const configDir = ({ XDG_CONFIG_HOME = "" }: NodeJS.ProcessEnv): string =>
  XDG_CONFIG_HOME === "" ? join(homedir(), ".config") : XDG_CONFIG_HOME;
