// When an upgraded cluster begins to charge attempts. Servers of the version before halt on what begins
// it, so it waits until every server that is there has known the ledger for a while: until then the
// upgrade can still be taken back. A new cluster begins with it and never comes here.

import {
  type BeginLedgerCommand,
  type Duration,
  ENTRY_VERSION,
  type Instant,
  LEDGER_VERSION,
  type View,
} from "@lattice/core";
import type { EntryReader } from "../../leader/versions.ts";

export interface LedgerInputs {
  /** On the steady clock. */
  readonly now: Instant;
  readonly readers: readonly EntryReader[];
  /** As returned by the turn before. */
  readonly since: Instant | null;
  readonly settle: Duration;
}

export interface LedgerVerdict {
  /** Since when every server knows the ledger; null: not all of them do. */
  readonly since: Instant | null;
  readonly command: BeginLedgerCommand | null;
}

export function decideLedger(view: View, { now, readers, since, settle }: LedgerInputs): LedgerVerdict {
  if (view.version >= LEDGER_VERSION || !knowLedger(readers)) return { since: null, command: null };
  const from = since ?? now;
  return { since: from, command: now - from >= settle ? { kind: "ledger.begin" } : null };
}

/** This server among them: one that is run as an older version writes nothing that it could not read. */
export const knowLedger = (readers: readonly EntryReader[]): boolean =>
  [ENTRY_VERSION, ...readers.map(({ entryVersion }) => entryVersion)].every((version) => version >= LEDGER_VERSION);
