// An error with Slurm's own text: the lines for standard error and the exit status, because scripts read both. Lines
// have no program name where Slurm prints none.

export class SlurmError extends Error {
  readonly lines: readonly string[];
  readonly exit: number;
  constructor(lines: readonly string[], exit = 1) {
    super(lines.join("\n"));
    this.lines = lines;
    this.exit = exit;
  }
}

/** Returns an error of the form `sbatch: error: ...`. */
export const slurmError = (program: string, detail: string, exit = 1): SlurmError =>
  new SlurmError([`${program}: error: ${detail}`], exit);

/** Returns the error for a feature that Slurm has and Lattice does not. `instead` says what to do. */
export const unsupported = (program: string, what: string, instead: string): SlurmError =>
  new SlurmError([`${program}: error: ${what} is not supported by Lattice; ${instead}`]);
