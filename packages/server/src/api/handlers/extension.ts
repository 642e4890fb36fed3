// A longer walltime of work that runs, asked for by its user: refused where it would take a reserved start from somebody
// who waits. Administrators of the tenant or the cluster may, since they answer to those who wait.

import type { Duration } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import { reaches } from "../access/authorize.ts";
import type { Call } from "../call.ts";
import { shownTo } from "./visible.ts";
import type { Work } from "./work.ts";

/** Throws ProblemError `conflict`. */
export async function refuseDelay(call: Call, work: Work, walltime: Duration): Promise<void> {
  const administers = reaches(call.principal, "AllocationService.Update", { tenant: work.spec.tenant, user: null });
  if (administers) return;
  // A leader of the version before does not know the question; where nobody leads, nothing can be written either.
  const delayed = await call.plane.consult({ kind: "extension", id: work.id, walltime }).catch(() => null);
  if (delayed === null) return;
  const { allocationId } = shownTo(call, delayed.allocation);
  const whose = allocationId === "" ? "other work" : `allocation ${allocationId}`;
  throw new ProblemError("conflict", {
    detail: `walltime_seconds: ${whose} has its start on these nodes reserved for ${new Date(delayed.startsAt).toISOString()}, which so long a walltime would delay`,
    hint: "Ask for less, save a checkpoint and submit the rest anew, or ask an administrator of the tenant.",
  });
}
