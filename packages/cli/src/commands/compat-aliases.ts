// `lattice compat-aliases`: the Slurm commands as aliases, for `eval "$(lattice compat-aliases)"` in a
// shell, or with --file for `source $(lattice compat-aliases --file)`. Aliases are not there in scripts; those
// need `lattice compat install`.

import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { createContext } from "../context.ts";
import { quote, SLURM_COMMANDS, slurmProgram } from "./compat/launcher.ts";

export function define(command: Command): void {
  command
    .option("--file", "write them into a file and print its name")
    .action(async (flags: { readonly file?: boolean }) => {
      const { print } = await createContext(command);
      const program = slurmProgram();
      const aliases = SLURM_COMMANDS.map(
        (name) => `alias ${name}=${quote(`${quote(process.execPath)} ${quote(program)} ${name}`)}`,
      );
      if (flags.file !== true) return print.lines(aliases);
      const { mkdir, writeFile } = await import("node:fs/promises");
      const path = join(configDir(process.env), "lattice", "compat-aliases.sh");
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, `${aliases.join("\n")}\n`);
      print.line(path);
    });
}

const configDir = ({ XDG_CONFIG_HOME = "" }: NodeJS.ProcessEnv): string =>
  XDG_CONFIG_HOME === "" ? join(homedir(), ".config") : XDG_CONFIG_HOME;
