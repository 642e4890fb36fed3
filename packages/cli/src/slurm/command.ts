// What the file of a Slurm command offers to the program that runs it.

import type { Desk } from "./desk.ts";

export interface SlurmCommand {
  /** Answers the exit status. */
  readonly run: (desk: Desk, argv: readonly string[]) => Promise<number>;
  readonly help: string;
}
