// How an allocation stands, as one sentence for standard error.

import type { Allocation } from "@lattice/sdk";
import { ABSENT } from "../../output/text.ts";
import { reasonOf } from "./table.ts";

/** "allocation 17 is pending: waiting for 2 more nodes; behind 12" */
export function pendingText({ id, pending_reasons = [] }: Allocation): string {
  const why = pending_reasons.length === 0 ? "" : `: ${pending_reasons.join("; ")}`;
  return `allocation ${id} is pending${why}`;
}

/** "allocation 5 failed: exit code 7"; null for one that has not ended, or ended well. */
export function endText(allocation: Allocation): string | null {
  const { id, state, exit_code } = allocation;
  if (state !== "failed" && state !== "cancelled") return null;
  const did = state === "failed" ? "failed" : "was cancelled";
  const told = reasonOf(allocation);
  const why = exit_code !== undefined && exit_code > 0 && state === "failed" ? `exit code ${exit_code}` : told;
  return why === ABSENT ? `allocation ${id} ${did}` : `allocation ${id} ${did}: ${why}`;
}
