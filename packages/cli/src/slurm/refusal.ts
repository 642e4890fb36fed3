// A refusal in Slurm's own words: the lines for standard error and the exit status, since scripts read
// both. Lines come without the program's name where Slurm prints none.

export class Refusal extends Error {
  readonly lines: readonly string[];
  readonly exit: number;
  constructor(lines: readonly string[], exit = 1) {
    super(lines.join("\n"));
    this.lines = lines;
    this.exit = exit;
  }
}

/** `sbatch: error: ...` */
export const refuse = (program: string, detail: string, exit = 1): Refusal =>
  new Refusal([`${program}: error: ${detail}`], exit);

/** Something that Slurm has and Lattice does not. */
export const notOffered = (program: string, what: string, instead: string): Refusal =>
  new Refusal([`${program}: error: ${what} is not offered by Lattice; ${instead}`]);
