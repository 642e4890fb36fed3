// Decides which attempts need another telemetry mode: the allocation requests one, its time has ended, or an earlier mode
// must be replaced. All others have the default mode. Pure.

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

interface TelemetryIntent {
  readonly node: NodeId;
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly mode: TelemetryMode;
}

/** The last mode sent, by node and attempt; absent for attempts with the default mode. */
type SentModes = ReadonlyMap<string, TelemetryMode>;

export const attemptKey = ({ node, allocation, attempt }: Omit<TelemetryIntent, "mode">): string =>
  `${node} ${allocation} ${attempt}`;

/** Returns the modes to send, and the modes of all live attempts afterwards. */
export function decideTelemetry(
  view: View,
  sent: SentModes,
  now: Instant,
): { readonly intents: readonly TelemetryIntent[]; readonly sent: SentModes } {
  const intents: TelemetryIntent[] = [];
  const after = new Map<string, TelemetryMode>();
  for (const record of view.placed()) {
    if (record.phase.kind === "staging" || !("nodes" in record.phase)) continue;
    // Without an earlier request there is nothing to reset.
    if (record.spec.telemetry === undefined && sent.size === 0) continue;
    const mode = telemetryOf(record.spec, now);
    for (const node of record.phase.nodes) {
      const intent = { node, allocation: record.id, attempt: attemptOn(record, node), mode };
      const before = sent.get(attemptKey(intent));
      if (before === undefined && record.spec.telemetry === undefined) continue;
      if (before !== mode) intents.push(intent);
      after.set(attemptKey(intent), mode);
    }
  }
  return { intents, sent: after };
}
