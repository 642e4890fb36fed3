// The commands that add work or data. They are refused while the disk of the log is nearly full, so that the space that is
// left serves the reports of running jobs and the calls that free space.

import type { Command } from "@lattice/core";

const ADDS: ReadonlySet<Command["kind"]> = new Set([
  "allocation.submit",
  "group.submit",
  "dag.submit",
  "session.open",
  "cluster.restore_begin",
]);

export const addsWork = ({ kind }: Command): boolean => ADDS.has(kind);
