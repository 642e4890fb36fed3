// `lattice compat install DIR`: installs the Slurm commands as small shell scripts that start `lattice-slurm`. Files
// that Lattice did not install are never replaced without --force.

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { createContext } from "../context.ts";
import { launcherText, SLURM_COMMANDS, slurmProgram } from "./compat/launcher.ts";

export function define(command: Command): void {
  const install = command.command("install").description("Install sbatch, squeue and the other commands");
  install
    .argument("<dir>", "directory for the commands; created if missing")
    .option("--force", "replace programs that Lattice did not install")
    .action(async (dir: string, flags: { readonly force?: boolean }) => {
      const { print, settings } = await createContext(install);
      const folder = resolve(dir);
      installInto(folder, flags.force === true);
      if (print.structured) return print.document({ folder, commands: SLURM_COMMANDS });
      if (settings.quiet) return;
      print.line(`Installed ${SLURM_COMMANDS.join(", ")} in ${folder}`);
      print.note(`Add the directory to your PATH: export PATH=${folder}:$PATH`);
    });
}

const MARK = "# A Slurm command of Lattice.";

function installInto(folder: string, force: boolean): void {
  const program = slurmProgram();
  if (!existsSync(program)) {
    throw new ProblemError("not_found", { detail: `${program} is missing`, hint: "Run: npm run build" });
  }
  const foreign = SLURM_COMMANDS.filter((name) => isForeign(join(folder, name)));
  if (foreign.length > 0 && !force) {
    throw new ProblemError("already_exists", {
      detail: `${folder} already has ${foreign.join(", ")} from another program; nothing was installed`,
      hint: "Choose another directory, or replace the programs with --force.",
    });
  }
  try {
    mkdirSync(folder, { recursive: true });
    for (const name of SLURM_COMMANDS)
      replaceFile(join(folder, name), launcherText({ name, folder, program, mark: MARK }));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ProblemError("invalid_argument", {
      detail: `cannot write to ${folder}: ${why}`,
      hint: "Choose a directory that you may write to, such as ~/bin.",
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

/** Replaces by rename, because a shell may be reading the old file. */
function replaceFile(path: string, text: string): void {
  const partial = `${path}.${process.pid}.partial`;
  writeFileSync(partial, text);
  chmodSync(partial, 0o755);
  renameSync(partial, path);
}
