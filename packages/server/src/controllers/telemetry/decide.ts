// Which attempts must be told how closely they are to be measured: those whose allocation says so, those whose time for
// it is over, and those that were told something else before. Everybody else is measured as a rule. Pure.

import {
  type AllocationId,
  type Attempt,
  attemptOn,
  type Instant,
  type NodeId,
  type TelemetryMode,
  telemetryOf,
  type View,
} from "@lattice/core";

export interface TelemetryIntent {
  readonly node: NodeId;
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly mode: TelemetryMode;
}

/** What was told last, by node and attempt; one that is not in it was told nothing. */
export type Told = ReadonlyMap<string, TelemetryMode>;

export const toldKey = ({ node, allocation, attempt }: Omit<TelemetryIntent, "mode">): string =>
  `${node} ${allocation} ${attempt}`;

/** Answers what is to be said, and what will have been told then of those that still run. */
export function decideTelemetry(
  view: View,
  told: Told,
  now: Instant,
): { readonly intents: readonly TelemetryIntent[]; readonly told: Told } {
  const intents: TelemetryIntent[] = [];
  const after = new Map<string, TelemetryMode>();
  for (const record of view.placed()) {
    if (record.phase.kind === "staging" || !("nodes" in record.phase)) continue;
    // Where nobody ever asked for anything there is nothing to take back.
    if (record.spec.telemetry === undefined && told.size === 0) continue;
    const mode = telemetryOf(record.spec, now);
    for (const node of record.phase.nodes) {
      const intent = { node, allocation: record.id, attempt: attemptOn(record, node), mode };
      const before = told.get(toldKey(intent));
      if (before === undefined && record.spec.telemetry === undefined) continue;
      if (before !== mode) intents.push(intent);
      after.set(toldKey(intent), mode);
    }
  }
  return { intents, told: after };
}
