// Describes the state of an allocation in one sentence, for notes on standard error.

import type { Allocation } from "@lattice/sdk";
import { ABSENT } from "../../output/text.ts";
import { reasonOf } from "./table.ts";

/** Returns "allocation 17 is pending: waiting for 2 more nodes; behind 12". */
export function pendingText({ id, pending_reasons = [] }: Allocation): string {
  const why = pending_reasons.length === 0 ? "" : `: ${pending_reasons.join("; ")}`;
  return `allocation ${id} is pending${why}`;
}

/** Returns "allocation 5 failed: exit code 7", or null unless it failed or was cancelled. */
export function endText(allocation: Allocation): string | null {
  const { id, state, exit_code } = allocation;
  if (state !== "failed" && state !== "cancelled") return null;
  const verb = state === "failed" ? "failed" : "was cancelled";
  const reason = reasonOf(allocation);
  const why = exit_code !== undefined && exit_code > 0 && state === "failed" ? `exit code ${exit_code}` : reason;
  return why === ABSENT ? `allocation ${id} ${verb}` : `allocation ${id} ${verb}: ${why}`;
}
