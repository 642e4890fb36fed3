// The text of one launcher: /bin/sh gives way to Node with the program and the command's name. The
// folder is passed on, so that jobs find the commands where their submitter did. `srun`, which a job may call a
// thousand times, begins as the small program where there was a compiler for it.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const SLURM_COMMANDS = [
  "sbatch",
  "squeue",
  "scancel",
  "salloc",
  "srun",
  "sinfo",
  "sacct",
  "scontrol",
  "sstat",
  "sprio",
  "sshare",
] as const;

/** Beside the bundle of `lattice` itself. */
export const slurmProgram = (): string => fileURLToPath(new URL("./lattice-slurm.js", import.meta.url));

export interface Launcher {
  readonly name: string;
  readonly folder: string;
  readonly program: string;
  readonly mark: string;
}

export function launcherText({ name, folder, program, mark }: Launcher): string {
  const node = quote(process.execPath);
  const whole = `${quote(program)} ${name} "$@"`;
  const small = quote(join(dirname(program), "lattice-launch"));
  return [
    "#!/bin/sh",
    mark,
    `export LATTICE_COMPAT_BIN=${quote(folder)}`,
    ...(name === "srun" ? [`[ -x ${small} ] && LATTICE_LAUNCH_NODE=${node} exec ${small} ${whole}`] : []),
    `exec ${node} ${whole}`,
    "",
  ].join("\n");
}

export const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
