// A snapshot is text, one record per line between a header and a footer. The records are
// immutable, so taking one is copying references; the text is made while it is being read, and
// entries may be applied meanwhile.

import { ENTRY_VERSION } from "../base/versions.ts";
import { stateHash } from "./hash.ts";
import type { State } from "./state.ts";
import type { Counters } from "./store.ts";
import type { HashText } from "./table.ts";
import type { Tables } from "./tables.ts";
import type { Retention } from "./view.ts";

/** The newest that this program reads. A snapshot has the version of the newest entry folded into it. */
export const SNAPSHOT_VERSION = ENTRY_VERSION;

export type TableName = keyof Tables;

/** In the order of restoring: nodes before allocations, so that claims are counted first. */
export const TABLE_NAMES = [
  "vclusters",
  "tenants",
  "nodes",
  "allocations",
  "requests",
  "finished",
  "staging",
  "ledger",
  "groups",
  "marks",
  "dags",
  "settings",
  "notices",
  "domains",
  "network",
  "limits",
  "hooks",
  "deliveries",
  "clearings",
  "grants",
  "secrets",
  "audit",
] as const;

export interface SnapshotHeader {
  readonly snapshot: number;
  readonly index: number;
  readonly at: number;
  readonly counters: Readonly<Counters>;
  readonly retention: Retention;
  readonly stateHash: string;
}

export interface SnapshotFooter {
  /** Lines of the whole snapshot, header and footer included. */
  readonly lines: number;
}

export function snapshotLines(state: State, hash: HashText): Iterable<string> {
  const header: SnapshotHeader = {
    snapshot: state.version,
    index: state.index,
    at: state.at,
    counters: { ...state.counters },
    retention: state.retention,
    stateHash: stateHash(state, hash),
  };
  // Allocations in order of id, which those of groups do not come in.
  const recordsOf = (name: TableName): Iterable<unknown> =>
    name === "allocations" ? state.allocations() : state.tables[name].values();
  const captured = TABLE_NAMES.map((name) => ({ name, records: [...recordsOf(name)] }));
  return { [Symbol.iterator]: () => serialise(header, captured) };
}

function* serialise(
  header: SnapshotHeader,
  tables: readonly { readonly name: TableName; readonly records: readonly unknown[] }[],
): Iterator<string> {
  yield JSON.stringify(header);
  let lines = 2;
  for (const { name, records } of tables) {
    for (const record of records) {
      lines += 1;
      yield `${name} ${JSON.stringify(record)}`;
    }
  }
  yield JSON.stringify({ lines } satisfies SnapshotFooter);
}
