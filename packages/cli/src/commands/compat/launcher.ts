// The text of one launcher: /bin/sh gives way to Node with the program and the command's name. The
// folder is passed on, so that jobs find the commands where their submitter did.

import { fileURLToPath } from "node:url";

export const SLURM_COMMANDS = ["sbatch", "squeue", "scancel", "salloc", "srun", "sinfo", "sacct", "scontrol"] as const;

/** Beside the bundle of `lattice` itself. */
export const slurmProgram = (): string => fileURLToPath(new URL("./lattice-slurm.js", import.meta.url));

export interface Launcher {
  readonly name: string;
  readonly folder: string;
  readonly program: string;
  readonly mark: string;
}

export const launcherText = ({ name, folder, program, mark }: Launcher): string =>
  [
    "#!/bin/sh",
    mark,
    `LATTICE_COMPAT_BIN=${quote(folder)} exec ${quote(process.execPath)} ${quote(program)} ${name} "$@"`,
    "",
  ].join("\n");

export const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
