// A snapshot is text, one record per line between a header and a footer. Records are immutable, so taking a snapshot
// copies references; the text is produced while it is read, and entries may be applied meanwhile.

import { ENTRY_VERSION } from "../base/versions.ts";
import { stateHash } from "./hash.ts";
import type { State } from "./state.ts";
import type { Counters } from "./store.ts";
import type { HashText } from "./table.ts";
import type { Tables } from "./tables.ts";
import type { Retention } from "./view.ts";

/** The newest version that this program reads. A snapshot has the version of its newest entry. */
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
  "identity",
  "hooks",
  "deliveries",
  "clearings",
  "grants",
  "enrolments",
  "secrets",
  "audit",
  "auditKeys",
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
  /** Number of lines, including header and footer. */
  readonly lines: number;
}

export const snapshotLines = (state: State, hash: HashText): Iterable<string> => linesOf(state, stateHash(state, hash));

/** Returns the lines of a copy for the same process: without the state hash, which may take seconds to compute. */
export const copyLines = (state: State): Iterable<string> => linesOf(state, "");

function linesOf(state: State, hash: string): Iterable<string> {
  const header: SnapshotHeader = {
    snapshot: state.version,
    index: state.index,
    at: state.at,
    counters: { ...state.counters },
    retention: state.retention,
    stateHash: hash,
  };
  // In order of id, which differs from the table order for group elements.
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
