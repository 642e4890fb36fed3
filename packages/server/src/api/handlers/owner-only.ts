// Access to terminals for the owner only, whatever roles a caller has. The refusal names the owner only to callers who
// may see the allocation.

import type { Allocation } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import { authorize, reaches } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { writeRefusal } from "./content.ts";
import { ownerOf } from "./work.ts";

/** Throws ProblemError `not_owner` or `forbidden`. */
export function ownerOnly(
  call: Call,
  rpc: "SessionService.Attach" | "SessionService.CreateSession",
  record: Allocation,
): void {
  const { principal } = call;
  const target = ownerOf(record);
  if (!reaches(principal, rpc, target)) writeRefusal(call, rpc, record);
  if (record.user !== principal.user && reaches(principal, "AllocationService.Get", target)) {
    const detail = `Allocation ${record.id} belongs to ${record.user}; only the owner may attach to it.`;
    throw new ProblemError("not_owner", { detail });
  }
  authorize(principal, rpc, target);
}
