// The shell script of one Slurm command: it replaces itself by Node with the program and the command's name. The
// directory is exported, so that jobs find the commands where their submitter did. `srun`, which a job may call a
// thousand times, starts as the native launcher if that was built.

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
  "sacctmgr",
  "seff",
  // These name what to use instead.
  "sattach",
  "sreport",
  "sdiag",
  "sbcast",
  "strigger",
  "scrontab",
  "smap",
  "sview",
] as const;

/** The program is next to the bundle of `lattice`. */
export const slurmProgram = (): string => fileURLToPath(new URL("./lattice-slurm.js", import.meta.url));

interface Launcher {
  readonly name: string;
  readonly folder: string;
  readonly program: string;
  readonly mark: string;
}

export function launcherText({ name, folder, program, mark }: Launcher): string {
  const node = quote(process.execPath);
  const nodeArgs = `${quote(program)} ${name} "$@"`;
  const native = quote(join(dirname(program), "lattice-launch"));
  return [
    "#!/bin/sh",
    mark,
    `export LATTICE_COMPAT_BIN=${quote(folder)}`,
    ...(name === "srun" ? [`[ -x ${native} ] && LATTICE_LAUNCH_NODE=${node} exec ${native} ${nodeArgs}`] : []),
    `exec ${node} ${nodeArgs}`,
    "",
  ].join("\n");
}

export const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
