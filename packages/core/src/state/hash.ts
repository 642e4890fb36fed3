// The state hash: the sums of the tables' record hashes, the counters, the retention rule, and the position. Replicas
// at the same entry have the same hash. It costs only the records that changed since the last hash.

import { canonical } from "../base/canonical.ts";
import type { State } from "./state.ts";
import type { HashText } from "./table.ts";
import type { Tables } from "./tables.ts";

export const stateHash = (state: State, hash: HashText): string =>
  hashOfParts(
    {
      position: state,
      size: (table) => state.tables[table].size,
      digest: (table) => state.tables[table].digest(hash),
    },
    hash,
  );

/** The inputs of a state hash. */
interface HashParts {
  readonly position: Pick<State, "index" | "at" | "version" | "retention" | "counters">;
  size(table: keyof Tables): number;
  digest(table: keyof Tables): string;
}

/** Tables of every hash; other tables are included while they are not empty. */
const ALWAYS = true;
/** Then the hash equals that of servers without the table. */
const WHEN_USED = false;

const TABLES: Readonly<Record<keyof Tables, boolean>> = {
  vclusters: ALWAYS,
  tenants: ALWAYS,
  nodes: ALWAYS,
  allocations: ALWAYS,
  requests: ALWAYS,
  finished: ALWAYS,
  staging: WHEN_USED,
  ledger: WHEN_USED,
  groups: WHEN_USED,
  marks: WHEN_USED,
  dags: WHEN_USED,
  settings: WHEN_USED,
  notices: WHEN_USED,
  domains: WHEN_USED,
  network: WHEN_USED,
  limits: WHEN_USED,
  identity: WHEN_USED,
  hooks: WHEN_USED,
  deliveries: WHEN_USED,
  clearings: WHEN_USED,
  grants: WHEN_USED,
  enrolments: WHEN_USED,
  secrets: WHEN_USED,
  audit: WHEN_USED,
  auditKeys: WHEN_USED,
};

export function hashOfParts({ position, size, digest }: HashParts, hash: HashText): string {
  const { index, at, version, retention, counters } = position;
  const digests: Record<string, string> = {};
  for (const [table, always] of Object.entries(TABLES) as [keyof Tables, boolean][]) {
    if (always || size(table) > 0) digests[table] = digest(table);
  }
  // Omitted while no newer feature was used, as the later tables are.
  const newer = version === 1 ? {} : { version };
  return hash(canonical({ index, at, retention, counters, ...digests, ...newer }));
}

/**
 * Hashes up to `limit` changed records ahead of time, so that the next state hash is quick. Fewer than that are left
 * alone, because most of them change again before the next hash. Returns `true` while some are left.
 */
export function warmStateHash(state: State, hash: HashText, limit: number): boolean {
  const dirty = recordsToHash(state);
  if (dirty < limit) return false;
  let left = limit;
  for (const table of Object.values(state.tables)) left -= table.warm(hash, left);
  return dirty - limit >= limit;
}

/** Returns how many records the next state hash must hash. */
export function recordsToHash(state: State): number {
  let dirty = 0;
  for (const table of Object.values(state.tables)) dirty += table.dirty;
  return dirty;
}
