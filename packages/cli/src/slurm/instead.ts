// Slurm commands without a counterpart here: each refuses with what to use. Without these programs a script would call
// those of a Slurm that is installed beside Lattice, which fail with errors about its configuration.

import type { SlurmCommand } from "./command.ts";
import { SlurmError } from "./slurm-error.ts";

const INSTEAD: Readonly<Record<string, string>> = {
  sattach: "use `lattice attach ID`, or `lattice logs ID --follow` for the output",
  sreport: "use `lattice usage`, or `lattice usage --tenant NAME`",
  sdiag: "use `lattice diag`",
  sbcast: "use a shared file system, or --data-mount",
  strigger: "use webhooks (docs/operating/notifications.md)",
  scrontab: "submit with sbatch from cron(8)",
  smap: "use sinfo and squeue",
  sview: "use sinfo and squeue",
};

/** Returns null for a name that is not one of Slurm's. */
export function refusalOf(program: string): SlurmCommand | null {
  if (!Object.hasOwn(INSTEAD, program)) return null;
  const refusal = `${program} is not supported by Lattice; ${INSTEAD[program] ?? ""}`;
  return {
    help: `Usage: ${program}\n${refusal}`,
    run: async () => {
      throw new SlurmError([`${program}: error: ${refusal}`]);
    },
  };
}
