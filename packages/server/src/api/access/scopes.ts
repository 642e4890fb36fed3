// Tokens that may do less than their bearer: a scope that begins with `allocations:` narrows the role of a user to
// the verbs and resources named here, and one that is not named permits nothing. A token with the scope of a role of its own is not
// narrowed by them.

import type { Principal } from "../auth/principal.ts";
import type { Resource, Rule, Verb } from "./rules.ts";

type Permit = readonly [verb: Verb, resource: Resource];

const NARROW: Readonly<Record<string, readonly Permit[]>> = {
  "allocations:read": [
    ["read", "work"],
    ["read", "output"],
  ],
  // Whoever attaches must be able to find what to attach to.
  "allocations:attach": [
    ["read", "work"],
    ["attach", "terminal"],
  ],
};

/** The scopes that narrow this principal; empty: none does. */
export function narrowing({ roles, scopes }: Principal): readonly string[] {
  const plain = roles.length === 1 && roles[0] === "User";
  return plain ? scopes.filter(narrows) : [];
}

/** Whether it takes something away, known or not. */
export const narrows = (scope: string): boolean => scope.startsWith("allocations:");

export function permitted(principal: Principal, { verb, resource }: Rule): boolean {
  const scopes = narrowing(principal);
  if (scopes.length === 0) return true;
  return scopes.some((scope) => permitsOf(scope).some(([v, r]) => v === verb && r === resource));
}

const permitsOf = (scope: string): readonly Permit[] => (Object.hasOwn(NARROW, scope) ? (NARROW[scope] ?? []) : []);
