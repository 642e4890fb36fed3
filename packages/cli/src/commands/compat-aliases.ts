// `lattice compat-aliases`: shell aliases for the Slurm commands. It writes a file and prints its name, for
// `source $(lattice compat-aliases)`; with --print it prints the aliases, for `eval "$(lattice compat-aliases --print)"`.
// Aliases do not work in scripts; use `lattice compat install` there.

import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { createContext } from "../context.ts";
import { quote, SLURM_COMMANDS, slurmProgram } from "./compat/launcher.ts";

export function define(command: Command): void {
  command
    .option("--print", "print the aliases instead of writing a file")
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
