// The interface of a Slurm command.

import type { SlurmContext } from "./context.ts";

export interface SlurmCommand {
  /** Returns the exit status. */
  readonly run: (context: SlurmContext, argv: readonly string[]) => Promise<number>;
  readonly help: string;
}
