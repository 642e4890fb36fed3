// The order in which test files are begun: those that take longest first, so that workers end together and none
// is left alone with a long file. Without this the size of a file decides, which says little of how long it takes.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes more than about twenty seconds on two cores, longest first. */
const LONGEST = [
  "acceptance/server-crash",
  "acceptance/python-sdk",
  "acceptance/checkpoint-forced",
  "acceptance/herd",
  "acceptance/membership",
  "acceptance/docs",
  "acceptance/docs-operating-one",
  "acceptance/slurm-corpus",
  "acceptance/srun-small",
  "acceptance/typescript-sdk",
  "acceptance/launch-moves",
  "acceptance/history-sync",
  "acceptance/first-certificate",
  "acceptance/big-output",
  "acceptance/attach-quorum",
  "acceptance/launch",
  "acceptance/walltime",
  "acceptance/quorum-tls",
  "acceptance/slurm",
  "acceptance/identity",
  "acceptance/renewal",
  "acceptance/scaling-lent",
  "acceptance/rolling-update",
  "acceptance/log-store-s3",
  "acceptance/queue",
  "acceptance/quorum",
  "acceptance/backup",
  "acceptance/backup-quorum",
  "acceptance/history",
  "acceptance/telemetry",
  "acceptance/log-store",
  "acceptance/faults",
  "acceptance/workflows",
  "acceptance/docs-operating",
  "acceptance/quick-start",
  "acceptance/versions",
  "acceptance/attach-life",
  "acceptance/silence",
  "acceptance/launch-small",
  "acceptance/restart",
  "acceptance/settings",
  "simulation/simulation",
  "test/api/fuzz/fuzz",
  "test/replica.property",
  "test/history/history",
  "test/history.property",
  "test/flows.property",
  "test/log/etcd-managed",
  "test/api/access-wire",
  "test/software/container",
  "test/process/restart",
  "test/log/etcd-fencing",
  "test/log/etcd-failures",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a.moduleId) - placeOf(b.moduleId));
  }
}

function placeOf(file: string): number {
  const found = LONGEST.findIndex((name) => file.endsWith(`/${name}.test.ts`));
  return found === -1 ? LONGEST.length : found;
}
