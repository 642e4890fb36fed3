// `lattice compat install DIR`: puts the Slurm commands into a folder, each a few lines of shell that
// start the one program behind them. What is there already and was not put there by this is left alone.

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { createContext } from "../context.ts";
import { launcherText, SLURM_COMMANDS, slurmProgram } from "./compat/launcher.ts";

export function define(command: Command): void {
  const install = command.command("install").description("Put sbatch, squeue and the others into a folder");
  install
    .argument("<dir>", "folder, to be put on the PATH; it is made when it does not exist")
    .option("--force", "also replace programs that Lattice did not put there")
    .action(async (dir: string, flags: { readonly force?: boolean }) => {
      const { print, settings } = await createContext(install);
      const folder = resolve(dir);
      installInto(folder, flags.force === true);
      if (print.structured) return print.document({ folder, commands: SLURM_COMMANDS });
      if (settings.quiet) return;
      print.line(`Installed ${SLURM_COMMANDS.join(", ")} in ${folder}`);
      print.note(`Put them on your PATH: export PATH=${folder}:$PATH`);
    });
}

const MARK = "# A Slurm command of Lattice.";

export function installInto(folder: string, force: boolean): void {
  const program = slurmProgram();
  if (!existsSync(program)) {
    throw new ProblemError("not_found", { detail: `${program} is missing`, hint: "Run: npm run build" });
  }
  const foreign = SLURM_COMMANDS.filter((name) => isForeign(join(folder, name)));
  if (foreign.length > 0 && !force) {
    throw new ProblemError("already_exists", {
      detail: `${folder} already has ${foreign.join(", ")}, not of Lattice; nothing was installed`,
      hint: "Choose a folder of its own, or replace them with --force.",
    });
  }
  try {
    mkdirSync(folder, { recursive: true });
    for (const name of SLURM_COMMANDS)
      replaceFile(join(folder, name), launcherText({ name, folder, program, mark: MARK }));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ProblemError("invalid_argument", {
      detail: `nothing can be written to ${folder}: ${why}`,
      hint: "Choose a folder of your own, such as ~/bin.",
    });
  }
}

function isForeign(path: string): boolean {
  try {
    return !readFileSync(path, "utf8").includes(MARK);
  } catch {
    return existsSync(path);
  }
}

/** By rename: somebody may be starting the old one. */
function replaceFile(path: string, text: string): void {
  const partial = `${path}.${process.pid}.partial`;
  writeFileSync(partial, text);
  chmodSync(partial, 0o755);
  renameSync(partial, path);
}
