// Caches users for a short time: a burst of starts by one user reads the node's accounts once.

import { type RunAs, resolveUser, type UserMapping } from "./user.ts";

export interface Users {
  find(mapping: UserMapping, name: string): Promise<RunAs | null>;
}

const FRESH_MS = 30_000;
const MAX_KNOWN = 1_000;

export function rememberUsers(now: () => number): Users {
  const known = new Map<string, { readonly user: RunAs | null; readonly atMs: number }>();
  return {
    async find(mapping, name) {
      if (mapping.kind === "none") return null;
      const before = known.get(name);
      if (before !== undefined && now() - before.atMs < FRESH_MS) return before.user;
      const user = await resolveUser(mapping, name);
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(name, { user, atMs: now() });
      return user;
    },
  };
}
