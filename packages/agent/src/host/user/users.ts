// Caches users for a short time: a burst of starts by one user reads the node's accounts once. Counts the accounts that
// were refused.

import { AccountRefusedError, type RefusedAccount } from "./check-account.ts";
import { type RunAs, resolveUser, type UserMapping } from "./user.ts";

export interface Users {
  find(mapping: UserMapping, name: string): Promise<RunAs | null>;
  /** Returns how often an account was refused, by reason. */
  refused(): ReadonlyMap<RefusedAccount, number>;
}

const FRESH_MS = 30_000;
const MAX_KNOWN = 1_000;

interface UsersOptions {
  readonly minUid: number;
  /** Jobs of the user root run as the agent, which is root. Default: they are refused. */
  readonly rootJobs?: boolean;
}

export function rememberUsers(now: () => number, { minUid, rootJobs = false }: UsersOptions): Users {
  const known = new Map<string, { readonly user: RunAs | null; readonly atMs: number }>();
  const refused = new Map<RefusedAccount, number>();
  return {
    async find(mapping, name) {
      if (mapping.kind === "none" || (rootJobs && name === "root")) return null;
      const before = known.get(name);
      if (before !== undefined && now() - before.atMs < FRESH_MS) return before.user;
      const user = await resolveUser({ mapping, minUid }, name).catch((error: Error) => {
        if (error instanceof AccountRefusedError) refused.set(error.reason, (refused.get(error.reason) ?? 0) + 1);
        throw error;
      });
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(name, { user, atMs: now() });
      return user;
    },
    refused: () => refused,
  };
}
