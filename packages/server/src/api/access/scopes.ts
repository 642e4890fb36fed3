// Tokens with fewer rights than their user: a scope that begins with `allocations:` narrows the role User to the verbs
// and resources listed here; an unknown one permits nothing. Tokens with the scope of another role are not narrowed.

import { isNarrowing } from "../../base/auth/claims.ts";
import type { Principal } from "../../base/auth/principal.ts";
import type { Resource, Rule, Verb } from "./rules.ts";

type Permit = readonly [verb: Verb, resource: Resource];

const NARROW: Readonly<Record<string, readonly Permit[]>> = {
  "allocations:read": [
    ["read", "work"],
    ["read", "output"],
  ],
  // A user who attaches must be able to find the allocation.
  "allocations:attach": [
    ["read", "work"],
    ["attach", "terminal"],
  ],
};

/** Returns the scopes that narrow this principal. */
export function narrowing({ roles, scopes }: Principal): readonly string[] {
  const plain = roles.length === 1 && roles[0] === "User";
  return plain ? scopes.filter(isNarrowing) : [];
}

export function permitted(principal: Principal, { verb, resource }: Rule): boolean {
  const scopes = narrowing(principal);
  if (scopes.length === 0) return true;
  return scopes.some((scope) => permitsOf(scope).some(([v, r]) => v === verb && r === resource));
}

const permitsOf = (scope: string): readonly Permit[] => (Object.hasOwn(NARROW, scope) ? (NARROW[scope] ?? []) : []);
