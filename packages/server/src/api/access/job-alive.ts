// A job's token is good for as long as the job: whatever its own end says, it is refused once the allocation has ended, or when
// the allocation is not its bearer's.

import { isFinal, parseAllocationId, type View } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Principal } from "../../base/auth/principal.ts";

const SCOPE = "job:";

/** Throws ProblemError `unauthenticated`. Says nothing about tokens that are no job's. */
export function checkJobAlive({ scopes, user, tenant }: Principal, view: View): void {
  const scope = scopes.find((one) => one.startsWith(SCOPE));
  if (scope === undefined) return;
  const id = parseAllocationId(scope.slice(SCOPE.length));
  const allocation = id === null ? undefined : view.allocation(id);
  const alive = allocation !== undefined && !isFinal(allocation.phase);
  if (alive && allocation.user === user && allocation.spec.tenant === tenant) return;
  throw new ProblemError("unauthenticated", {
    detail: `The token is that of job ${(id ?? "?").slice(0, 40)}, which has ended.`,
    hint: "Call from inside a running job, or log in.",
  });
}
