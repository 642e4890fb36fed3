// One hash over everything replicated: the sums of the tables' record hashes, the counters, the
// retention rule, and the position. Replicas on the same entry have the same one. It costs only the
// records that changed since it was last asked for.

import { canonical } from "../canonical.ts";
import type { State } from "./state.ts";
import type { HashText } from "./table.ts";

export function stateHash(state: State, hash: HashText): string {
  const { index, at, version, retention, counters, tables } = state;
  return hash(
    canonical({
      index,
      at,
      retention,
      counters,
      vclusters: tables.vclusters.digest(hash),
      tenants: tables.tenants.digest(hash),
      nodes: tables.nodes.digest(hash),
      allocations: tables.allocations.digest(hash),
      requests: tables.requests.digest(hash),
      finished: tables.finished.digest(hash),
      // Left out while nothing newer was used, so that the hash is the one that servers of version 1 have.
      ...(version === 1 ? {} : { version }),
      ...(tables.staging.size === 0 ? {} : { staging: tables.staging.digest(hash) }),
      // Likewise: a snapshot written before there was a ledger is one with an empty ledger.
      ...(tables.ledger.size === 0 ? {} : { ledger: tables.ledger.digest(hash) }),
      ...(tables.groups.size === 0 ? {} : { groups: tables.groups.digest(hash) }),
      ...(tables.marks.size === 0 ? {} : { marks: tables.marks.digest(hash) }),
      ...(tables.dags.size === 0 ? {} : { dags: tables.dags.digest(hash) }),
      ...(tables.settings.size === 0 ? {} : { settings: tables.settings.digest(hash) }),
      ...(tables.notices.size === 0 ? {} : { notices: tables.notices.digest(hash) }),
      ...(tables.hooks.size === 0 ? {} : { hooks: tables.hooks.digest(hash) }),
      ...(tables.deliveries.size === 0 ? {} : { deliveries: tables.deliveries.digest(hash) }),
      ...(tables.grants.size === 0 ? {} : { grants: tables.grants.digest(hash) }),
      ...(tables.audit.size === 0 ? {} : { audit: tables.audit.digest(hash) }),
    }),
  );
}

/**
 * Does up to `limit` records of that work ahead of time, so that asking later is quick. Fewer than that are
 * left alone: most of them will have changed again by the time somebody asks. True: some is left to do.
 */
export function warmStateHash(state: State, hash: HashText, limit: number): boolean {
  const tables = Object.values(state.tables);
  let dirty = 0;
  for (const table of tables) dirty += table.dirty;
  if (dirty < limit) return false;
  let left = limit;
  for (const table of tables) left -= table.warm(hash, left);
  return dirty - limit >= limit;
}
