// A job token is valid only while its allocation has not ended and belongs to the user and tenant of the token,
// regardless of its expiry time.

import { isFinal, parseAllocationId, type View } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Principal } from "../../base/auth/principal.ts";

const SCOPE = "job:";

/** Throws ProblemError `unauthenticated`. Other tokens than those of jobs pass. */
export function checkJobAlive({ scopes, user, tenant }: Principal, view: View): void {
  const scope = scopes.find((one) => one.startsWith(SCOPE));
  if (scope === undefined) return;
  const id = parseAllocationId(scope.slice(SCOPE.length));
  const allocation = id === null ? undefined : view.allocation(id);
  const alive = allocation !== undefined && !isFinal(allocation.phase);
  if (alive && allocation.user === user && allocation.spec.tenant === tenant) return;
  throw new ProblemError("unauthenticated", {
    detail: `The token belongs to job ${(id ?? "?").slice(0, 40)}, which has ended.`,
    hint: "Call from inside a running job, or log in.",
  });
}
