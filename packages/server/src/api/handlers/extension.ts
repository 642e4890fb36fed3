// Extends the walltime of a running allocation. A user's request is refused when it would delay a reservation;
// administrators of the tenant or the cluster may delay reservations.

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
  // Without a leader nothing can be written either, so the missing answer does no harm.
  const delayed = await call.plane.askScheduler({ kind: "extension", id: work.id, walltime }).catch(() => null);
  if (delayed === null) return;
  const { allocationId } = shownTo(call, delayed.allocation);
  const whose = allocationId === "" ? "other work" : `allocation ${allocationId}`;
  throw new ProblemError("conflict", {
    detail: `walltime_seconds: ${whose} has its start on these nodes reserved for ${new Date(delayed.startsAt).toISOString()}, which so long a walltime would delay`,
    hint: "Ask for less, save a checkpoint and submit the rest again, or ask an administrator of the tenant.",
  });
}
